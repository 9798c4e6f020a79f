"""What the judges know of each micro-op of a Program."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.ops.encoding import FENCE, MEMORY_TYPES
from simt.program import Instruction, Program
from simt.sanitizer import layout as Z

_SHUFFLES = {
    "shfl.idx": Z.SHUFFLE_IDX,
    "shfl.up": Z.SHUFFLE_UP,
    "shfl.down": Z.SHUFFLE_DOWN,
    "shfl.bfly": Z.SHUFFLE_BFLY,
}
_SIZES = dict(MEMORY_TYPES.values())
_SMALL = ("ld.global", "ld.shared", "ld.generic", "st.global", "st.shared", "st.generic")


def _kind(instruction: Instruction) -> int:
    op = instruction.op
    if op.startswith("bar."):
        return Z.ARRIVES if op == "bar.arrive" else Z.BARRIER
    if op == "nop":
        return Z.FENCE if instruction.mod == FENCE else Z.NOTHING
    if op.startswith(("vote.", "match.", "redux.")) or op == "ballot":
        return Z.TOGETHER
    return {"warpsync": Z.WARP_BARRIER, "exit": Z.EXIT, **_SHUFFLES}.get(op, Z.NOTHING)


def metadata(program: Program) -> npt.NDArray[np.int64]:
    """A row for each micro-op: int64 [micro-ops, N_META]."""
    table = np.full((len(program.instructions), Z.N_META), -1, np.int64)
    places: dict[object, int] = {}
    for pc, instruction in enumerate(program.instructions):
        line = program.listing[instruction.line]
        place = line.source if line.source is not None else instruction.line
        table[pc, Z.M_KIND] = _kind(instruction) | Z.IS_STRONG * instruction.strong
        table[pc, Z.M_LINE] = places.setdefault(place, len(places))
    return table


def granule(program: Program) -> int:
    """log2 of the smallest access to global or shared memory, in bytes: the unit of what racecheck remembers."""
    sizes = [_SIZES[each.mod] for each in program.instructions if each.op.startswith(_SMALL)]
    return min([4, *sizes]).bit_length() - 1


def is_fenced(program: Program) -> bool:
    """Whether threads can publish what they wrote: the program has a memory fence."""
    return any(_kind(instruction) == Z.FENCE for instruction in program.instructions)
