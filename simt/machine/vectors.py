"""Vectors of the 32 lanes of a warp, or fewer, for the few functions of the engine whose instructions LLVM is told."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from simt.ops.arrays import address

I32, I64 = ir.IntType(32), ir.IntType(64)
UNITS = ir.VectorType(I32, 32)


def slots(lanes: int) -> Any:
    """The type of a slot for each of so many lanes."""
    return ir.VectorType(I64, lanes)


def lanes_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The slots of the array that is the first argument."""
    place = address(context, builder, signature.args[0], args[0])
    return builder.load(builder.bitcast(place, slots(32).as_pointer()), align=8)


def in_all_lanes(builder: Any, value: Any, lanes: int = 32) -> Any:
    """A slot's value in all lanes."""
    one = builder.insert_element(ir.Constant(slots(lanes), ir.Undefined), value, I32(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))


def turned(builder: Any, lanes: Any, order: list[int]) -> Any:
    """Lanes in another order."""
    return builder.shuffle_vector(lanes, lanes, ir.Constant(UNITS, order))


def mask_of(builder: Any, bits: Any, lanes: int = 32) -> Any:
    """The lanes in which a comparison holds."""
    return builder.zext(builder.bitcast(bits, ir.IntType(lanes)), I64)
