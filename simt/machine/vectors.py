"""Vectors of the 32 lanes of a warp, for the few functions of the engine whose instructions LLVM is told."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from simt.ops.arrays import address

I32, I64 = ir.IntType(32), ir.IntType(64)
SLOTS, UNITS = (ir.VectorType(scalar, 32) for scalar in (I64, I32))


def lanes_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The slots of the array that is the first argument."""
    place = address(context, builder, signature.args[0], args[0])
    return builder.load(builder.bitcast(place, SLOTS.as_pointer()), align=8)


def in_all_lanes(builder: Any, value: Any) -> Any:
    """A slot's value in all lanes."""
    one = builder.insert_element(ir.Constant(SLOTS, ir.Undefined), value, I32(0))
    return builder.shuffle_vector(one, one, ir.Constant(UNITS, [0] * 32))


def turned(builder: Any, lanes: Any, order: list[int]) -> Any:
    """Lanes in another order."""
    return builder.shuffle_vector(lanes, lanes, ir.Constant(UNITS, order))


def mask_of(builder: Any, bits: Any) -> Any:
    """The lanes in which a comparison holds."""
    return builder.zext(builder.bitcast(bits, I32), I64)
