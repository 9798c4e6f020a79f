"""Micro-ops across the lanes of a warp that have no lane function: each is the function of its name.

Their parameters are named as in :data:`simt.machine.interpreter.PLACES`; they return the mask for their
second destination, -1 if they have none.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.ops.jit import jit, jit_inline
from simt.ops.scalar import FULL, lowest

AXES = 3
COORDINATES = SPECIAL_REGISTERS.index("laneid")
"""Special registers before these are threadIdx, and the same for all threads of a block."""
_LANEID = SPECIAL_REGISTERS.index("laneid")
_WARPID = SPECIAL_REGISTERS.index("warpid")
_NWARPID = SPECIAL_REGISTERS.index("nwarpid")
_SMID = SPECIAL_REGISTERS.index("smid")
_CLOCK = SPECIAL_REGISTERS.index("clock")
_LANEMASK_EQ = SPECIAL_REGISTERS.index("lanemask_eq")
_LANEMASK_LT = SPECIAL_REGISTERS.index("lanemask_lt")
_LANEMASK_LE = SPECIAL_REGISTERS.index("lanemask_le")
_LANEMASK_GT = SPECIAL_REGISTERS.index("lanemask_gt")
_LANEMASK_GE = SPECIAL_REGISTERS.index("lanemask_ge")
OF_LANE = (_LANEID, _LANEMASK_EQ, _LANEMASK_LT, _LANEMASK_LE, _LANEMASK_GT, _LANEMASK_GE)
"""Those that say which lane a lane is."""


@jit_inline
def thread_index_at(w, axis):
    """Where TID has threadIdx.x, y or z of the lanes of a warp."""
    return (w * 3 + axis) * 32


@jit_inline
def coordinate_at(imm):
    """Where LAUNCH has a special register that is the same for all threads of a block."""
    return L.LAUNCH_NTID + imm - 3


@jit_inline
def of_lane(l, imm):
    """A special register that says which lane a lane is."""
    bit = np.int64(1) << l
    if imm == _LANEID:
        return l
    if imm == _LANEMASK_EQ:
        return bit
    if imm == _LANEMASK_LT:
        return bit - 1
    if imm == _LANEMASK_LE:
        return 2 * bit - 1
    if imm == _LANEMASK_GT:
        return FULL & ~(2 * bit - 1)
    return FULL & ~(bit - 1)


@jit_inline
def sreg(O, TID, LAUNCH, w, imm):
    """Special register *imm*.  TID is int64[warps * 3 * 32], LAUNCH holds the block's and grid's coordinates."""
    if imm < AXES:
        start = thread_index_at(w, imm)
        for l in range(32):
            O[l] = TID[start + l]
    elif imm < COORDINATES:
        value = LAUNCH[coordinate_at(imm)]
        for l in range(32):
            O[l] = value
    elif imm in OF_LANE:
        for l in range(32):
            O[l] = of_lane(np.int64(l), imm)
    else:
        for l in range(32):
            if imm == _WARPID:
                O[l] = LAUNCH[L.LAUNCH_FIRST_WARP] + w
            elif imm == _NWARPID:
                O[l] = LAUNCH[L.LAUNCH_WARPS]
            elif imm == _SMID:
                O[l] = LAUNCH[L.LAUNCH_SM]
            elif imm == _CLOCK:
                O[l] = LAUNCH[L.LAUNCH_CLOCK]
            else:  # globaltimer: nanoseconds, in steps of 32 as on an H200
                O[l] = LAUNCH[L.LAUNCH_CLOCK] * 1000 // LAUNCH[L.LAUNCH_MHZ] & ~31
        if imm >= _CLOCK:
            LAUNCH[L.LAUNCH_CLOCK] += LAUNCH[L.LAUNCH_TICK]
    return np.int64(-1)


@jit
def first(R, O, a, executing):
    """The value of the lowest exec lane, to all lanes."""
    value = R[a + np.uint64(lowest(executing))]
    for l in range(32):
        O[l] = value
    return np.int64(-1)


@jit
def match_any(R, O, a, executing):
    """For each lane the exec lanes that hold the same value."""
    for l in range(32):
        equal = np.int64(0)
        for k in range(32):
            if (executing >> k) & 1 and R[a + np.uint64(k)] == R[a + np.uint64(l)]:
                equal |= np.int64(1) << k
        O[l] = equal
    return np.int64(-1)


@jit
def match_all(R, O, a, executing):
    """The exec lanes if all hold the same value, else none; also as the mask of the second destination."""
    value = R[a + np.uint64(lowest(executing))]
    same = executing
    for k in range(32):
        if (executing >> k) & 1 and R[a + np.uint64(k)] != value:
            same = np.int64(0)
    for l in range(32):
        O[l] = same
    return same
