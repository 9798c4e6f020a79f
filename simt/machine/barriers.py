"""Block barriers: which threads have arrived, and their release."""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.ops.jit import jit, jit_inline
from simt.ops.scalar import popcount
from simt.ops.table import MICRO_OPS

BAR_SYNC = MICRO_OPS["bar.sync"].code
BAR_RED_POPC = MICRO_OPS["bar.red.popc"].code
BAR_RED_AND = MICRO_OPS["bar.red.and"].code


@jit_inline
def is_complete(BARS, live, barrier):
    """Whether all threads that a block barrier waits for have arrived (and there is one)."""
    at = barrier * L.N_BARRIER
    arrived = BARS[at + L.B_ARRIVED]
    expected = BARS[at + L.B_EXPECTED]
    return arrived > 0 and arrived >= (min(live, expected) if expected > 0 else live)


@jit
def release(CODE, R, P, SPLITS, WARPS, BARS, LAUNCH, barrier):
    """Release every split that waits at block barrier *barrier*."""
    at = barrier * L.N_BARRIER
    for w in range(LAUNCH[L.LAUNCH_WARPS]):
        for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
            split = (w * 32 + i) * L.N_SPLIT
            if SPLITS[split + L.S_STATE] == L.WAIT_BARRIER and SPLITS[split + L.S_ARG] == barrier:
                pc = SPLITS[split + L.S_PC]
                mask = SPLITS[split + L.S_MASK]
                code = np.uint64(pc * L.N_CODE)
                op = CODE[code + L.C_OP] & L.OP_MASK
                if op == BAR_RED_POPC:
                    row = w * LAUNCH[L.LAUNCH_REGISTERS] * 32 + CODE[code + L.C_DST]
                    for l in range(32):
                        if (mask >> l) & 1 and CODE[code + L.C_DST] > 0:
                            R[row + l] = BARS[at + L.B_COUNT]
                elif op != BAR_SYNC and CODE[code + L.C_DST] > 0:
                    holds = BARS[at + L.B_AND] if op == BAR_RED_AND else BARS[at + L.B_OR]
                    p = w * LAUNCH[L.LAUNCH_PREDICATES] + CODE[code + L.C_DST]
                    P[p] = (P[p] | mask) if holds else (P[p] & ~mask)
                SPLITS[split + L.S_PC] = pc + 1
                SPLITS[split + L.S_STATE] = L.READY
    for k in range(L.N_BARRIER):
        BARS[at + k] = 0


@jit
def arrive(BARS, barrier, lanes, expected, operand, mask):
    """Note the arrival of a split at a block barrier, with its part of the reduction."""
    at = barrier * L.N_BARRIER
    if BARS[at + L.B_ARRIVED] == 0:
        BARS[at + L.B_AND] = 1
    BARS[at + L.B_ARRIVED] += lanes
    BARS[at + L.B_EXPECTED] = expected
    BARS[at + L.B_COUNT] += popcount(operand & mask)
    BARS[at + L.B_AND] &= np.int64(operand & mask == mask)
    BARS[at + L.B_OR] |= np.int64(operand & mask != 0)
