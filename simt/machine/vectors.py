"""Vectors of the 32 lanes of a warp, or fewer, for the few functions of the engine whose instructions LLVM is told."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from simt.ops.arrays import address
from simt.ops.scalar import FULL

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


def spread(builder: Any, bits: Any, lanes: int = 32) -> Any:
    """A truth value for each of the bits of a slot."""
    return builder.bitcast(builder.trunc(bits, ir.IntType(lanes)), ir.VectorType(ir.IntType(1), lanes))


def repeated(builder: Any, units: Any, width: int = 32) -> Any:
    """The lanes, as bits of 32, whose unit one behind them has, too, of the *width* lanes around them.

    Behind the last of these comes their first; only lanes up to half of the width behind are looked at.
    """
    found = I32(0)
    for apart in range(1, width // 2 + 1):
        behind = turned(builder, units, [lane - lane % width + (lane + apart) % width for lane in range(32)])
        bits = builder.bitcast(builder.icmp_signed("==", units, behind), I32)
        before = sum(1 << lane for lane in range(32) if lane % width < width - apart)
        around = builder.lshr(builder.and_(bits, I32(~before & FULL)), I32(width - apart))
        found = builder.or_(found, builder.or_(builder.and_(bits, I32(before)), around))
    return found
