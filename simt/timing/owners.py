"""Data of which each block loads a part for itself before all blocks go through all of it.

So are bodies that attract each other: each thread loads its own, and then those of all.  What another block has loaded
for itself is in L2 (bodies.cu on an H100: of blocks whose threads have all bodies or half of them, four bodies take 769
and 881 cycles, in two loads, where one waits 625 for DRAM and 295 for L2).

And so are sums or differences with the element before, which the block before has: who asks for it after a barrier
finds it in L2 (meets.cu on an H200: of blocks of 256 threads the warp that does ends 440 cycles after the others).
"""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.jit import jit

DRAM_LATENCY = L.PLACE["dram_latency"]


@jit
def note_owner(pc, wi, block, word, pitch, now, t):
    """Note at which *word* warp *wi* of *block* begins to load at *pc* at *now*, lanes so many bytes apart.

    If two blocks are as far apart as the elements of their threads, each has its own.
    """
    at = L.N_OWNER * pc
    if t.WARPS[wi * L.N_WARP + L.W_INDEX] or t.OWNERS[at + L.V_KNOWN] or t.OWNERS[at + L.V_BLOCK] == block + 1:
        return
    if t.OWNERS[at + L.V_BLOCK] == 0:
        t.OWNERS[at + L.V_BLOCK] = block + 1
        t.OWNERS[at + L.V_WORD] = word
        t.OWNERS[at + L.V_SINCE] = np.int64(now)
        return
    t.OWNERS[at + L.V_KNOWN] = 1
    before = t.OWNERS[at + L.V_BLOCK] - 1
    apart = word - t.OWNERS[at + L.V_WORD]
    step = apart // (block - before)
    of_warp = 8 * pitch  # words
    fewer = t.CONFIG[L.G_WARPS] * of_warp - step  # the last warp may be part of one
    if step * (block - before) == apart and 0 <= fewer < of_warp:
        for part in range(0, L.OWN_PARTS * L.N_OWN_PART, L.N_OWN_PART):
            if t.OWN_PARTS[part + L.X_STEP] == 0:
                t.OWN_PARTS[part + L.X_FIRST] = word - step * block
                t.OWN_PARTS[part + L.X_STEP] = step
                t.OWN_PARTS[part + L.X_SINCE] = t.OWNERS[at + L.V_SINCE]
                return


@jit
def is_owned(line, now, t):
    """Whether a block has loaded *line* for itself, so long before *now* that L2 has it."""
    started = t.CONFIG[L.G_LAUNCHED] * t.CHIP[L.C_NEXT_BLOCK] / t.CONFIG[L.G_BLOCKS]
    for part in range(0, L.OWN_PARTS * L.N_OWN_PART, L.N_OWN_PART):
        behind = 32 * line - t.OWN_PARTS[part + L.X_FIRST]
        if 0 <= behind < t.OWN_PARTS[part + L.X_STEP] * started:
            return now > t.OWN_PARTS[part + L.X_SINCE] + t.NUMBERS[DRAM_LATENCY]
    return False


@jit
def is_neighbours(line, wi, block, now, t):
    """Whether *line* is part of what another block has loaded for itself before warp *wi* of *block* asks for it *now*.

    A block before it, or the next one: it started no later, and what it asked DRAM for has come.
    """
    if now <= t.WARPS[wi * L.N_WARP + L.W_START] + t.NUMBERS[DRAM_LATENCY]:
        return False
    for part in range(0, L.OWN_PARTS * L.N_OWN_PART, L.N_OWN_PART):
        behind = 32 * line - t.OWN_PARTS[part + L.X_FIRST]
        step = t.OWN_PARTS[part + L.X_STEP]
        if step > 0 and 0 <= behind < step * (block + 2):
            return behind // step != block
    return False
