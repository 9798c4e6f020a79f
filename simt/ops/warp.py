"""Micro-ops that look across the lanes of a warp: special registers, shuffles, masks, matches, reductions.

A shuffle's lane function says which lane a lane reads from, and whether that one is in range; a reduction's, how two
values become one.  What is neither is executed by the function of its name in :mod:`simt.machine.warp`.
"""

from __future__ import annotations

from simt.ops.row import LANE, MASK, S32, S64, U32, Effect, Family, Kind, Table

SHUFFLES = Table("shuffle", Family.WARP, Kind.ROW, 8, effects=Effect.CROSSES_LANES)
REDUCTIONS = Table("reduction", Family.WARP, Kind.ROW, 9, effects=Effect.CROSSES_LANES)
MASKS = Table("masks", Family.WARP, Kind.ROW, 10, effects=Effect.CROSSES_LANES, inline=True)
OTHERS = Table("across", Family.WARP, Kind.ROW, 11, inline=True)

shuffle = SHUFFLES.lanes("shuffle", operands="rrrr")
reduction = REDUCTIONS.lanes("redux", operands="rr")
mask = MASKS.lanes("alu")

OTHERS.declare(
    """
    sreg       r   sreg  -              d = special register imm (SPECIAL_REGISTERS)
    first      rr  alu   crosses_lanes  d = a of the lowest exec lane
    match.any  rr  alu   crosses_lanes  d = mask of exec lanes that hold the same a
    match.all  rr  alu   crosses_lanes  d = exec mask if all hold the same a, else 0; mod = predicate that says so
    """
)


@shuffle
def shfl_idx(lane: LANE, b: LANE, segment: LANE, bound: LANE) -> LANE:
    """d = a of lane b; c = PTX clamp operand; mod = predicate that says in range"""
    source = (lane & segment) | (b & ~segment)
    return source, source <= bound


@shuffle
def shfl_up(lane: LANE, b: LANE, bound: LANE) -> LANE:
    """d = a of lane (own - b)"""
    source = lane - b
    return source, source >= bound


@shuffle
def shfl_down(lane: LANE, b: LANE, bound: LANE) -> LANE:
    """d = a of lane (own + b)"""
    source = lane + b
    return source, source <= bound


@shuffle
def shfl_bfly(lane: LANE, b: LANE, bound: LANE) -> LANE:
    """d = a of lane (own ^ b)"""
    source = lane ^ b
    return source, source <= bound


@mask
def ballot(a: MASK, executing: MASK) -> S64:
    """d = mask of exec lanes whose a is true"""
    return a & executing


@mask
def activemask(active: MASK) -> S64:
    """d = mask of active lanes"""
    return active


@mask
def livemask(live: MASK) -> S64:
    """d = mask of the lanes that exist and have not exited"""
    return live


@reduction
def redux_add(x: U32, y: U32) -> U32:
    """d = sum of a over exec lanes, modulo 2**32"""
    return x + y


@reduction
def redux_min_s32(x: S32, y: S32) -> U32:
    """d = minimum over exec lanes, low 32 bits signed"""
    return min(x, y)


@reduction
def redux_max_s32(x: S32, y: S32) -> U32:
    """d = maximum over exec lanes, low 32 bits signed"""
    return max(x, y)


@reduction
def redux_min_u32(x: U32, y: U32) -> U32:
    """d = minimum over exec lanes, low 32 bits unsigned"""
    return min(x, y)


@reduction
def redux_max_u32(x: U32, y: U32) -> U32:
    """d = maximum over exec lanes, low 32 bits unsigned"""
    return max(x, y)


@reduction
def redux_and(x: U32, y: U32) -> U32:
    """d = bitwise and over exec lanes"""
    return x & y


@reduction
def redux_or(x: U32, y: U32) -> U32:
    """d = bitwise or over exec lanes"""
    return x | y


@reduction
def redux_xor(x: U32, y: U32) -> U32:
    """d = bitwise exclusive or over exec lanes"""
    return x ^ y
