"""Which registers the judges watch: those that may hold what no path has set, or what a shuffle read from nobody.

An unset variable of Python is wrong where it is used, so it is followed through copies.  What a shuffle gets from a
lane that does not take part is not defined, but computing with it is common (the upper lanes of a tree), so it is
followed through everything until it is stored or decides a branch.  So is what machine code loads from local memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.machine.rows import reads, writes
from simt.ops.row import Family
from simt.ops.table import MICRO_OPS
from simt.program import Instruction, Program
from simt.sanitizer import layout as Z

Rows = frozenset[int]
_CROSS = ("vote.", "match.", "redux.")


@dataclass(frozen=True)
class Watched:
    """Numbers of the registers and predicates that are watched, and what each micro-op does with them.

    ``uses`` is int64 [micro-ops, N_USE].
    """

    count: int
    uses: npt.NDArray[np.int64]

    def micro_ops(self) -> npt.NDArray[np.int64]:
        """The micro-ops that read or write one of them."""
        return np.flatnonzero((self.uses[:, Z.U_READS : Z.N_USE] >= 0).any(axis=1))


def watched(program: Program, variables: bool, shuffles: bool) -> Watched:
    """What is to be watched for unset *variables* and for *shuffles*."""
    code, first = program.instructions, program.n_registers
    table = [(frozenset(reads(i, first)), frozenset(writes(i, first))) for i in code]
    rows: set[int] = set()
    if variables:
        rows |= _reached(code, table, lambda i: i.unset is not None, lambda i: not i.retires)
        if program.view != "source":
            generic = {i.line for i in code if i.op == "ld.global"}  # such loads may be of any space
            rows |= _reached(code, table, lambda i: i.op == "ld.local" and i.line not in generic, lambda i: True)
    if shuffles:
        rows |= _reached(code, table, lambda i: i.op.startswith("shfl."), lambda i: True)
    numbers = {row: number for number, row in enumerate(sorted(rows))}
    uses = np.full((len(code), Z.N_USE), -1, np.int64)
    for pc, (i, (read, written)) in enumerate(zip(code, table, strict=True)):
        uses[pc, Z.U_HOW] = _how(i)
        uses[pc, Z.U_FIRST] = numbers.get(i.a, -1) if MICRO_OPS[i.op].operands[1] == "r" else -1
        _fill(uses[pc, Z.U_READS : Z.U_SETS], read, numbers)
        _fill(uses[pc, Z.U_SETS :], written, numbers)
    return Watched(len(numbers), uses)


def _reached(
    code: Sequence[Instruction],
    table: Sequence[tuple[Rows, Rows]],
    begins: Callable[[Instruction], bool],
    passes_on: Callable[[Instruction], bool],
) -> set[int]:
    """Rows that may hold what a micro-op that *begins* gives, passed on by others."""
    rows: set[int] = set()
    for i, (_, written) in zip(code, table, strict=True):
        if begins(i):
            rows |= written
    before = -1
    while rows and len(rows) != before:
        before = len(rows)
        for i, (read, written) in zip(code, table, strict=True):
            if not rows.isdisjoint(read) and passes_on(i):
                rows |= written
    return rows


def _fill(columns: npt.NDArray[np.int64], rows: Rows, numbers: Mapping[int, int]) -> None:
    found = sorted(numbers[row] for row in rows if row in numbers)
    columns[: len(found)] = found


def _how(i: Instruction) -> int:
    """How a micro-op passes on what is not defined."""
    how = Z.PASSES
    if i.op.startswith("shfl."):
        how = Z.SHUFFLES
    elif i.op == "selp":
        how = Z.CHOOSES
    elif i.op.startswith(_CROSS) or i.op == "ballot":
        how = Z.TO_ALL
    elif i.op.startswith(("st.", "atom.", "sust", "suatom")) or i.op in ("bra", "brx"):
        how = Z.ENDS
    elif MICRO_OPS[i.op].family is Family.MEMORY:
        how = Z.DEFINES
    return how | Z.IS_UNSET * (i.unset is not None) | Z.IS_USE * i.retires | Z.IS_UNIFORM * i.uniform
