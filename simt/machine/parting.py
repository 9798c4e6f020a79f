"""Lanes that execute together, and wait at one convergence barrier for different others."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.machine import layout as L
from simt.machine.splits import add_split
from simt.ops.arrays import address
from simt.ops.jit import jit


def _others_named(PARTICIPANTS, barrier, needed):
    """Lanes whose copies of a barrier's mask (at *barrier*) name themselves, but other lanes than *needed*."""
    lanes = np.int64(0)
    for l in range(32):
        named = PARTICIPANTS[barrier + l]
        lanes |= ((named >> l) & np.int64(named != needed)) << l
    return lanes


def _vector_others_named(PARTICIPANTS, barrier, needed):
    return _compared_at_once(PARTICIPANTS, barrier, needed)


@intrinsic
def _compared_at_once(typingctx: Any, participants: Any, barrier: Any, needed: Any) -> Any:
    """:func:`_others_named`, of which LLVM makes few instructions so."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slots = ir.VectorType(ir.IntType(64), 32)
        place = builder.gep(address(context, builder, participants, args[0]), [args[1]])
        named = builder.load(builder.bitcast(place, slots.as_pointer()), align=8)
        one = builder.insert_element(ir.Constant(slots, ir.Undefined), args[2], ir.Constant(ir.IntType(32), 0))
        wanted = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32))
        own = builder.and_(named, ir.Constant(slots, [1 << lane for lane in range(32)]))
        apart = builder.and_(
            builder.icmp_signed("!=", own, ir.Constant(slots, [0] * 32)), builder.icmp_signed("!=", named, wanted)
        )
        return builder.zext(builder.bitcast(apart, ir.IntType(32)), ir.IntType(64))

    return types.int64(participants, barrier, needed), codegen


_others = jit(_vector_others_named, plain=_others_named)


@jit
def part_lanes(SPLITS, WARPS, PARTICIPANTS, w, pc, barrier, active, needed):
    """Part lanes at a BSYNC that wait for others than the lowest one does, which waits for *needed*: whether there are.

    They set the barrier at different times, and a warp barrier has joined them since.  *barrier*: of participants_at.
    """
    apart = active & _others(PARTICIPANTS, barrier, needed)
    if apart == 0:
        return False
    at = (w * 32 + WARPS[w * L.N_WARP + L.W_CURRENT]) * L.N_SPLIT
    SPLITS[at + L.S_PC] = pc
    SPLITS[at + L.S_MASK] = active & ~apart
    SPLITS[at + L.S_PASS] = 0
    add_split(SPLITS, WARPS, w, pc, apart)
    return True
