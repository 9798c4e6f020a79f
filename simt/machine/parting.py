"""Lanes that execute together, and wait at one convergence barrier for different others."""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.splits import add_split
from simt.ops.jit import jit


@jit
def part_lanes(SPLITS, WARPS, PARTICIPANTS, w, pc, barrier, active, needed):
    """Part lanes at a BSYNC that wait for others than the lowest one does, which waits for *needed*: whether there are.

    They set the barrier at different times, and a warp barrier has joined them since.  *barrier*: of participants_at.
    """
    apart = np.int64(0)
    for l in range(32):
        named = PARTICIPANTS[barrier + l]
        if (active & named) >> l & 1 and named != needed:
            apart |= np.int64(1) << l
    if apart == 0:
        return False
    at = (w * 32 + WARPS[w * L.N_WARP + L.W_CURRENT]) * L.N_SPLIT
    SPLITS[at + L.S_PC] = pc
    SPLITS[at + L.S_MASK] = active & ~apart
    SPLITS[at + L.S_PASS] = 0
    add_split(SPLITS, WARPS, w, pc, apart)
    return True
