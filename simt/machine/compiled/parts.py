"""Parts of micro-ops that are no lane functions: what the interpreter's functions for them are made of, too.

Each takes 64-bit slots a, b, c, d and ``imm``, and gives one: native code puts them together (segment.py, memory.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.types import containers
from numba.extending import intrinsic

from simt.machine import coalescing, converging, memory, splits, warp
from simt.machine.layout import State
from simt.machine.wavefronts import count_wavefronts, is_one_pass
from simt.ops import integer
from simt.ops.arrays import Elements, Record, describe

_I64 = ir.IntType(64)


@intrinsic
def slots_at(typingctx: Any, address: Any) -> Any:
    """32 slots at an address, as an array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = builder.inttoptr(args[0], _I64.as_pointer())
        return describe(context, builder, signature.return_type, data, [ir.Constant(_I64, 32)])

    return Elements(types.int64, 1)(address), codegen


_DTYPES = {
    **dict.fromkeys(("F64", "O64", "MF64"), types.float64),
    **dict.fromkeys(("F32", "O32", "MF32"), types.float32),
    "M8": types.uint8,
    "REACHED": types.uint8,
    "M16": types.uint16,
    "M32": types.uint32,
    "WRITABLE": types.boolean,
}
_TWO_AXES = ("DIMS", "TRACE", "VALUES")

STATE = Record(
    containers.NamedTuple(
        [types.Array(_DTYPES.get(name, types.int64), 1 + (name in _TWO_AXES), "C") for name in State._fields], State
    )
)
"""The type of a State, as the engine's functions have it."""


@intrinsic
def state_at(typingctx: Any, address: Any) -> Any:
    """The State whose descriptors stand at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(STATE))

    return STATE(address), codegen


def outside(a, b, c, d, imm):
    """Whether index a is none of axis b; imm: negative ones count from the end."""
    return np.int64(integer.is_outside(integer.from_start(a, b, imm), b))


def counted(a, b, c, d, imm):
    """Index a of axis b, counted from the start."""
    return integer.from_start(a, b, imm)


def element(a, b, c, d, imm):
    """The address of element b of base a with stride c."""
    return integer.element_at(a, b, c)


def holds(a, b, c, d, imm):
    """Whether the allocation from a to b holds accesses of imm bytes at addresses from c to d."""
    return np.int64(memory.holds(a, b, c, d, imm))


def near_sectors(a, b, c, d, imm):
    """Sectors of accesses of 2**imm bytes side by side, lane 0's at a, of lanes d."""
    return coalescing.sectors_with_gaps(slots_at(a), a, np.int64(1) << imm, imm, a, a, d)


def ideal(a, b, c, d, imm):
    """The fewest sectors for a bytes that touch b."""
    return coalescing.ideal_sectors(a, b)


def unit_bit(a, b, c, d, imm):
    """The bit of the unit of address a among those from b on."""
    return np.int64(coalescing.unit_bit(a, imm, b))


def units(a, b, c, d, imm):
    """Units that 32 lanes touch, whose addresses stand at a, from b to c."""
    return coalescing.count_units(slots_at(a), imm, b, c)


PASSES, LOW = 8, 0xFF
"""From which bit on :func:`wavefronts` gives the passes; the bits of the fewest."""


def wavefronts(a, b, c, d, imm):
    """Passes of lanes d through shared memory, and the fewest passes, of 2**imm bytes whose addresses stand at a."""
    passes, ideal = count_wavefronts(slots_at(a), np.int64(1) << imm, d)
    return passes << PASSES | ideal


def one_pass(a, b, c, d, imm):
    """Whether shared memory serves accesses of imm bytes from a to b in one pass."""
    return np.int64(is_one_pass(a, b, imm))


def last_of_group(a, b, c, d, imm):
    """Lanes, less one, of a group that stores 2**imm bytes each."""
    return memory.last_of_group(imm)


def thread_index_at(a, b, c, d, imm):
    """Where the coordinates imm of the threads of warp a stand."""
    return warp.thread_index_at(a, imm)


def coordinate_at(a, b, c, d, imm):
    """Where special register imm stands, which is the same for a whole block."""
    return np.int64(warp.coordinate_at(imm))


def of_lane(a, b, c, d, imm):
    """Special register imm of lane a."""
    return np.int64(warp.of_lane(a, imm))


def participants_at(a, b, c, d, imm):
    """Where the masks of convergence barrier imm stand, for warp a, with b barriers a warp."""
    return np.int64(splits.participants_at(a, b, imm))


def lanes_told(a, b, c, d, imm):
    """Which lanes a convergence barrier tells of its lanes b, in order a."""
    return np.int64(splits.lanes_told(a, b))


def left_of(a, b, c, d, imm):
    """What lane b's copy a of a convergence barrier's mask is once lanes c have left it, in order d."""
    return splits.left_of(a, b, c, d)


def are_there(a, b, c, d, imm):
    """Whether a warp barrier need not wait for any of lanes a, with b gone and c there."""
    return np.int64(converging.are_there(a, b, c))


def without(a, b, c, d, imm):
    """A set of convergence barriers without barrier imm."""
    return np.int64(splits.without(a, imm))


def goes_through(a, b, c, d, imm):
    """Whether a split of a warp with a splits passes a convergence barrier in order b."""
    return np.int64(splits.goes_through(a, b))


PARTS = {
    part.__name__: part
    for part in (
        outside,
        counted,
        element,
        holds,
        near_sectors,
        ideal,
        unit_bit,
        units,
        wavefronts,
        one_pass,
        last_of_group,
        thread_index_at,
        coordinate_at,
        of_lane,
        participants_at,
        lanes_told,
        left_of,
        are_there,
        without,
        goes_through,
    )
}
"""The parts by name."""
