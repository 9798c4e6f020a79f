"""Which warps of a scheduler are ready: many are compared at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.ops.arrays import address
from simt.ops.jit import jit
from simt.timing.jit import FOLDER

AT_ONCE = 8


def _one_by_one(TIMES, first, now):
    mask = 0
    for k in range(AT_ONCE):
        mask |= int(TIMES[first + k] <= now) << k
    return mask


@intrinsic
def _compared(typingctx: Any, times: Any, first: Any, now: Any) -> Any:
    """:func:`_one_by_one` as the host's vectors have it, which LLVM does not find by itself."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), AT_ONCE)
        place = builder.gep(address(context, builder, times, args[0]), [args[1]])
        found = builder.load(builder.bitcast(place, vector.as_pointer()), align=8)
        one = builder.insert_element(ir.Constant(vector, ir.Undefined), args[2], ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), AT_ONCE), [0] * AT_ONCE)
        there = builder.icmp_signed("<=", found, builder.shuffle_vector(one, one, lanes))
        return builder.zext(builder.bitcast(there, ir.IntType(AT_ONCE)), word)

    return types.int64(times, types.int64, types.int64), codegen


def _together(TIMES, first, now):
    return _compared(TIMES, first, now)


no_later = jit(_together, inline=True, folder=FOLDER, plain=_one_by_one)
"""``no_later(TIMES, first, now)``: which of AT_ONCE times from number *first* on are no later than *now*: bits."""
