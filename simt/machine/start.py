"""The state in which a block starts."""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.splits import add_split
from simt.ops.jit import jit

RANDOM_STEP, RANDOM_ADDED = np.int64(6364136223846793005), np.int64(1442695040888963407)
"""Of the linear congruential generator of Knuth's MMIX, modulo 2**64."""


@jit
def _fill(words, first, count, LAUNCH):
    """Fill memory that has not been written yet: with a pattern, or with other random bits for each block."""
    start = np.uint64(first)
    value = LAUNCH[L.LAUNCH_FILL]
    if LAUNCH[L.LAUNCH_RANDOM] == 0:
        for k in range(np.uint64(count)):
            words[start + k] = value
        return
    value += LAUNCH[L.LAUNCH_INDEX] * RANDOM_STEP + first
    for k in range(np.uint64(count)):
        value = value * RANDOM_STEP + RANDOM_ADDED
        words[start + k] = value ^ (value >> 29)


@jit
def sectors_so_far(s):
    """Sectors that all blocks of this worker have touched."""
    total = np.int64(0)
    for pc in range(len(s.COUNTS) // L.N_COUNT):
        total += s.COUNTS[np.uint64(pc * L.N_COUNT) + L.N_SECTORS]
    return total


@jit
def start_block(index, s):
    """Fresh warps for block *index*: uniform rows stay, other registers that are read first and all else are zero."""
    R = s.R
    P = s.P
    WARPS = s.WARPS
    LAUNCH = s.LAUNCH
    threads = LAUNCH[L.LAUNCH_THREADS]
    registers = LAUNCH[L.LAUNCH_REGISTERS]
    predicates = LAUNCH[L.LAUNCH_PREDICATES]
    warps = LAUNCH[L.LAUNCH_WARPS]
    grid_x = LAUNCH[L.LAUNCH_NCTAID]
    grid_y = LAUNCH[L.LAUNCH_NCTAID + 1]
    LAUNCH[L.LAUNCH_INDEX] = index
    LAUNCH[L.LAUNCH_CTAID] = index % grid_x
    LAUNCH[L.LAUNCH_CTAID + 1] = (index // grid_x) % grid_y
    LAUNCH[L.LAUNCH_CTAID + 2] = index // (grid_x * grid_y)
    LAUNCH[L.LAUNCH_LIVE] = threads
    LAUNCH[L.LAUNCH_EXECUTED] = 0
    LAUNCH[L.LAUNCH_STEPS] = 0
    LAUNCH[L.LAUNCH_SECTORS] = sectors_so_far(s) if len(s.WORK) else 0
    LAUNCH[L.LAUNCH_NEXT_WARP] = 0
    LAUNCH[L.LAUNCH_CLOCK] = 0
    for k in range(L.BLOCK_BARRIERS * L.N_BARRIER):
        s.BARRIERS[k] = 0
    local = LAUNCH[L.LAUNCH_LOCAL] >> 3
    _fill(s.SHARED, 0, len(s.SHARED), LAUNCH)
    _fill(s.M64, local, warps * 32 * LAUNCH[L.LAUNCH_LOCAL_STRIDE] >> 3, LAUNCH)
    for w in range(warps):
        for k in range(len(s.ZEROED)):
            start = np.uint64(s.ZEROED[k] + w * registers * 32)
            for l in range(np.uint64(32)):
                R[start + l] = 0
        for p in range(1, predicates):
            P[w * predicates + p] = 0
        present = min(threads - w * 32, 32)
        mask = (np.int64(1) << present) - 1
        WARPS[w * L.N_WARP + L.W_SPLITS] = 0
        WARPS[w * L.N_WARP + L.W_CURRENT] = 0
        WARPS[w * L.N_WARP + L.W_EXITED] = 0
        WARPS[w * L.N_WARP + L.W_ABSENT] = L.FULL & ~mask
        WARPS[w * L.N_WARP + L.W_RANDOM] = (LAUNCH[L.LAUNCH_SEED] * 69069 + index * 7919 + w * 104729) % 0x7FFFFFFE + 1
        WARPS[w * L.N_WARP + L.W_PASSES] = 0
        WARPS[w * L.N_WARP + L.W_QUANTUM] = 0
        WARPS[w * L.N_WARP + L.W_USED] = 0
        WARPS[w * L.N_WARP + L.W_MOVED] = 0
        WARPS[w * L.N_WARP + L.W_BY_MOVE] = 0
        WARPS[w * L.N_WARP + L.W_PICKED] = -1
        WARPS[w * L.N_WARP + L.W_RELEASED] = 0
        WARPS[w * L.N_WARP + L.W_SERVED] = 0
        WARPS[w * L.N_WARP + L.W_RETIRED] = 0
        add_split(s.SPLITS, WARPS, w, 0, mask)
    LAUNCH[L.LAUNCH_STARTED] = 1
