"""Atomics that commute: what blocks in different processes made of one word is put together exactly.

Such an atomic adds integers, or takes the smaller, the larger, or bits, and nobody reads the old value that it gives.
So the order of blocks changes nothing.  Sums of floats depend on it, in their last bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.machine import layout as L
from simt.machine.compiled.liveness import live_rows
from simt.machine.encode import encode
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS
from simt.program import Program

Words = npt.NDArray[Any]

_DTYPES = {"s32": np.int32, "u32": np.uint32, "s64": np.int64, "u64": np.uint64}

_MERGED: dict[str, Callable[[Words, Words, Words], Words]] = {
    "add": lambda here, there, before: here + (there - before),
    "sub": lambda here, there, before: here + (there - before),
    "min": lambda here, there, before: np.minimum(here, there),
    "max": lambda here, there, before: np.maximum(here, there),
    "and": lambda here, there, before: here & there,
    "or": lambda here, there, before: here | there,
    "xor": lambda here, there, before: here ^ there ^ before,
}
"""What a word comes to that is *here* in one process, *there* in another, and was *before* in both."""


def reductions(program: Program) -> npt.NDArray[np.int32]:
    """For each micro-op its kind of atomic (as ``mod`` of it, plus 1) if it commutes; 0 for any other."""
    found = np.zeros(len(program.instructions), np.int32)
    atomics = [pc for pc, each in enumerate(program.instructions) if each.op.startswith("atom.")]
    if not atomics:
        return found
    code, after = encode(program).code, live_rows(program)[1]
    for pc in atomics:
        each = program.instructions[pc]
        operation, type_ = ATOMICS[each.mod >> 4], ATOMIC_TYPES[each.mod & 15]
        row = int(code[pc, L.C_DST]) >> 5
        old = 1 << row if row else 0
        if operation in _MERGED and type_ in _DTYPES and not after[pc] & old:
            found[pc] = each.mod + 1
    return found


def why_in_order(program: Program, pc: int) -> str:
    """Why the order of blocks matters to a micro-op; empty if it is no atomic, or does not."""
    each = program.instructions[pc]
    if not each.op.startswith("atom.") or reductions(program)[pc]:
        return ""
    operation, type_ = ATOMICS[each.mod >> 4], ATOMIC_TYPES[each.mod & 15]
    if operation in _MERGED and type_ not in _DTYPES:
        return "an atomic on floats: its result depends on the order of the blocks"
    return "an atomic whose result depends on the order of the blocks, or whose old value the kernel uses"


def merge(kind: int, here: npt.NDArray[np.uint8], there: npt.NDArray[np.uint8], before: npt.NDArray[np.uint8]) -> None:
    """Put into bytes *here* what atomics of a kind (see :func:`reductions`) have made *there* of those *before*."""
    operation, dtype = ATOMICS[(kind - 1) >> 4], _DTYPES[ATOMIC_TYPES[(kind - 1) & 15]]
    words = here.view(dtype)
    with np.errstate(over="ignore"):  # sums wrap around
        words[:] = _MERGED[operation](words, there.view(dtype), before.view(dtype))
