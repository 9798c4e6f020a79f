"""Which rows a micro-op reads and writes: registers, and predicates behind them."""

from __future__ import annotations

from collections.abc import Iterator

from simt.machine.encode import rows_of
from simt.ops.table import MICRO_OPS
from simt.program import RZ, Instruction


def reads(i: Instruction, predicates: int) -> Iterator[int]:
    """Rows that a micro-op reads; predicate p is row *predicates* + p."""
    letters = MICRO_OPS[i.op].operands
    for k, (letter, value) in enumerate(zip(letters[1:], (i.a, i.b, i.c), strict=True), 1):
        if letter == "r" and value != RZ:
            yield from range(value, value + rows_of(i, k))
        elif letter == "p" and value >> 1:
            yield predicates + (value >> 1)
    if i.guard >> 1:
        yield predicates + (i.guard >> 1)


def writes(i: Instruction, predicates: int) -> Iterator[int]:
    """Rows that a micro-op writes."""
    letter = MICRO_OPS[i.op].operands[0]
    if letter == "r" and i.dst != RZ:
        yield from range(i.dst, i.dst + rows_of(i, 0))
    elif letter == "p" and i.dst:
        yield predicates + i.dst
    if (i.op.startswith("shfl.") or i.op == "match.all") and i.mod:
        yield predicates + i.mod
