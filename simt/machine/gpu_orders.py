"""What the splits of a warp do on a GPU by its own counters (order HARDWARE) or under its profiler (order PROFILER).

The rules, and how they were found, are in docs/order.md.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.splits import join_fresh, to_end
from simt.ops.jit import jit
from simt.ops.scalar import lowest, popcount


@jit
def _holder(SPLITS, WARPS, w, lane):
    """The split that holds *lane*."""
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        if SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_MASK] >> lane & 1:
            return i
    return -1


@jit
def _leaver(SPLITS, WARPS, w, lanes, number):
    """The split that leaves an indirect branch as the *number*-th, of those that *lanes* were parted into."""
    left = lanes
    while True:
        i = _holder(SPLITS, WARPS, w, lowest(left))
        mask = SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_MASK]
        if popcount(mask) > popcount(left & ~mask) > 0:
            i = _holder(SPLITS, WARPS, w, lowest(left & ~mask))
            mask = SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_MASK]
        if number == 0:
            return i
        number -= 1
        left &= ~mask


@jit
def leaders_first(SPLITS, WARPS, w, lanes, groups):
    """Order HARDWARE: an indirect branch parted *lanes* into *groups*, of which one goes on and the others wait.

    It is issued once for each: the lanes of its lowest lane's target leave, unless they are more than all others;
    then those of the lowest lane among these do.  Returns how many lanes the further issues have together.
    """
    issued = np.int64(0)
    for number in range(groups - 1, -1, -1):
        if 0 < number < groups - 1:
            join_fresh(SPLITS, WARPS, w, L.HARDWARE)
        i = _leaver(SPLITS, WARPS, w, lanes, number)
        SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_FRESH] = np.int64(number > 0)
        issued += number * popcount(SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_MASK])
        WARPS[w * L.N_WARP + L.W_CURRENT] = i
        to_end(SPLITS, WARPS, w, i)
    return issued


@jit
def smallest_first(SPLITS, WARPS, w, lanes, groups):
    """Order PROFILER: an indirect branch split *lanes* into *groups*: put back by size, but the smallest goes on."""
    for placed in range(groups):
        if placed > 0 and placed < groups - 1:
            join_fresh(SPLITS, WARPS, w, L.PROFILER)
        largest = -1
        best = 0
        for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
            mask = SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_MASK]
            if mask & lanes != 0 and popcount(mask) >= best:
                largest = i
                best = popcount(mask)
        at = (w * 32 + largest) * L.N_SPLIT
        lanes &= ~SPLITS[at + L.S_MASK]
        SPLITS[at + L.S_WAY] = L.TAKEN
        SPLITS[at + L.S_FRESH] = np.int64(placed < groups - 1)
        to_end(SPLITS, WARPS, w, largest)
    WARPS[w * L.N_WARP + L.W_CURRENT] = WARPS[w * L.N_WARP + L.W_SPLITS] - 1


@jit
def take_turns(SPLITS, WARPS, w, lanes):
    """Order PROFILER, at the branch after a BREAK that released *lanes*: they go on first if they are fewer.

    If not, the split put back last joins, unless it gave its turn away itself: that waits for the next put back.
    """
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    most = popcount(SPLITS[(w * 32 + current) * L.N_SPLIT + L.S_MASK])
    turned = False
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        at = (w * 32 + i) * L.N_SPLIT
        turned |= SPLITS[at + L.S_FRESH] != 0 and SPLITS[at + L.S_WAY] == L.TURNED
        if i != current and SPLITS[at + L.S_MASK] == lanes and popcount(lanes) < most:
            WARPS[w * L.N_WARP + L.W_CURRENT] = i
            to_end(SPLITS, WARPS, w, current)
            to_end(SPLITS, WARPS, w, WARPS[w * L.N_WARP + L.W_CURRENT])
            join_fresh(SPLITS, WARPS, w, L.PROFILER)
            last = WARPS[w * L.N_WARP + L.W_SPLITS] - 1
            SPLITS[(w * 32 + last - 1) * L.N_SPLIT + L.S_WAY] = L.TURNED
            SPLITS[(w * 32 + last - 1) * L.N_SPLIT + L.S_FRESH] = 1
            return
    if not turned:
        join_fresh(SPLITS, WARPS, w, L.PROFILER)


@jit
def share_barriers(WARPS, PARTICIPANTS, w, n_barriers, lanes, others):
    """Order HARDWARE, *lanes* leave a collective region, *others* of them for places where they came first.

    A barrier that the last to come set, but not for the others, was theirs before: it is as one that a move set.
    """
    for barrier in range(n_barriers):
        named = PARTICIPANTS[(w * n_barriers + barrier) * 32]
        if named & lanes != 0 and named & others == 0:
            WARPS[w * L.N_WARP + L.W_BY_MOVE] |= 1 << barrier
