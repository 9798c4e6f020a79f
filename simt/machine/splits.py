"""The splits of a warp: how they divide and take turns, and what a convergence barrier tells them.

A split is a row of SPLITS, the oldest first; the order in which splits run is the launch's policy (ARCHITECTURE.md,
"Order").  All functions take the flat arrays of layout.py and the warp's number.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.ops.jit import jit, jit_inline, jit_part, jit_rare
from simt.ops.scalar import popcount


@jit
def remove_split(SPLITS, WARPS, w, i):
    """Drop split *i*; the later ones move down, so that the order of their creation is kept.

    The current split stays current; if it is the one that is dropped, another one is, as long as there is any.
    """
    last = WARPS[w * L.N_WARP + L.W_SPLITS] - 1
    for j in range(i, last):
        to = (w * 32 + j) * L.N_SPLIT
        for k in range(L.N_SPLIT):
            SPLITS[to + k] = SPLITS[to + L.N_SPLIT + k]
    WARPS[w * L.N_WARP + L.W_SPLITS] = last
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    if current > i or current == last > 0:
        WARPS[w * L.N_WARP + L.W_CURRENT] = current - 1


@jit
def remove_splits(SPLITS, WARPS, w, gone):
    """Drop the splits whose bits *gone* has, as :func:`remove_split` would one after the other, the newest first."""
    n = WARPS[w * L.N_WARP + L.W_SPLITS]
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    last = n - 1
    for i in range(n - 1, -1, -1):
        if (gone >> i) & 1:
            current -= np.int64(current > i or current == last > 0)
            last -= 1
    kept = 0
    for i in range(n):
        if (gone >> i) & 1:
            continue
        if kept < i:
            to = (w * 32 + kept) * L.N_SPLIT
            at = (w * 32 + i) * L.N_SPLIT
            for k in range(L.N_SPLIT):
                SPLITS[to + k] = SPLITS[at + k]
        kept += 1
    WARPS[w * L.N_WARP + L.W_SPLITS] = kept
    WARPS[w * L.N_WARP + L.W_CURRENT] = current


@jit
def add_split(SPLITS, WARPS, w, pc, mask):
    i = WARPS[w * L.N_WARP + L.W_SPLITS]
    at = (w * 32 + i) * L.N_SPLIT
    SPLITS[at + L.S_PC] = pc
    SPLITS[at + L.S_MASK] = mask
    SPLITS[at + L.S_STATE] = L.READY
    SPLITS[at + L.S_ARG] = 0
    SPLITS[at + L.S_PASS] = 0
    SPLITS[at + L.S_WAY] = L.ELSEWHERE
    SPLITS[at + L.S_FRESH] = 0
    SPLITS[at + L.S_YIELDED] = 0
    WARPS[w * L.N_WARP + L.W_SPLITS] = i + 1


@jit_inline
def _swap(SPLITS, at, other):
    for k in range(L.N_SPLIT):
        swap = SPLITS[at + k]
        SPLITS[at + k] = SPLITS[other + k]
        SPLITS[other + k] = swap


@jit
def to_end(SPLITS, WARPS, w, i):
    """Make split *i* the newest."""
    last = WARPS[w * L.N_WARP + L.W_SPLITS] - 1
    for j in range(i, last):
        at = (w * 32 + j) * L.N_SPLIT
        _swap(SPLITS, at, at + L.N_SPLIT)
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    if current == i:
        WARPS[w * L.N_WARP + L.W_CURRENT] = last
    elif current > i:
        WARPS[w * L.N_WARP + L.W_CURRENT] = current - 1


@jit
def to_start(SPLITS, WARPS, w, i):
    """Make split *i* the oldest."""
    for j in range(i, 0, -1):
        at = (w * 32 + j) * L.N_SPLIT
        _swap(SPLITS, at, at - L.N_SPLIT)
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    if current == i:
        WARPS[w * L.N_WARP + L.W_CURRENT] = 0
    elif current < i:
        WARPS[w * L.N_WARP + L.W_CURRENT] = current + 1


@jit_rare
def join_fresh(SPLITS, WARPS, w, order):
    """Before another split is put back: the one put back last joins one that waits at its place.

    A GPU does so: a split that was put back only just, or resumed meanwhile, joins none.  Under a profiler they must
    have come the same way, too.
    """
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    n = WARPS[w * L.N_WARP + L.W_SPLITS]
    for i in range(n - 1, -1, -1):
        at = (w * 32 + i) * L.N_SPLIT
        if SPLITS[at + L.S_FRESH] == 0:
            continue
        SPLITS[at + L.S_FRESH] = 0
        for j in range(n):
            other = (w * 32 + j) * L.N_SPLIT
            if (
                j != i
                and j != current
                and (order == L.HARDWARE or SPLITS[at + L.S_WAY] != L.ELSEWHERE)
                and (order == L.HARDWARE or SPLITS[other + L.S_WAY] == SPLITS[at + L.S_WAY])
                and SPLITS[other + L.S_PC] == SPLITS[at + L.S_PC]
                and SPLITS[other + L.S_STATE] == L.READY
            ):
                SPLITS[at + L.S_MASK] |= SPLITS[other + L.S_MASK]
                SPLITS[at + L.S_PASS] = 0
                remove_split(SPLITS, WARPS, w, j)
                return
        return


@jit_part
def follows_gpu(order):
    """Whether an order is that of a GPU, with or without its profiler."""
    return L.HARDWARE <= order <= L.PROFILER


@jit
def diverge(SPLITS, WARPS, w, order, pc, target, taken):
    """Split the current split at a branch: lanes *taken* go to *target*, the others fall through; one side goes on."""
    if follows_gpu(order):
        join_fresh(SPLITS, WARPS, w, order)
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    at = (w * 32 + current) * L.N_SPLIT
    fell = SPLITS[at + L.S_MASK] & ~taken
    taken_first = order == L.ELSE_FIRST or (follows_gpu(order) and popcount(taken) < popcount(fell))
    SPLITS[at + L.S_MASK] = taken if taken_first else fell
    SPLITS[at + L.S_PC] = target if taken_first else pc + 1
    SPLITS[at + L.S_PASS] = 0
    last = WARPS[w * L.N_WARP + L.W_SPLITS]
    add_split(SPLITS, WARPS, w, pc + 1 if taken_first else target, fell if taken_first else taken)
    other = (w * 32 + last) * L.N_SPLIT
    if follows_gpu(order):
        SPLITS[other + L.S_WAY] = L.FELL if taken_first else L.TAKEN
        SPLITS[other + L.S_FRESH] = 1
        to_end(SPLITS, WARPS, w, current)
        return
    # The split that goes on stands last, so that the newest one runs first.
    _swap(SPLITS, at, other)
    WARPS[w * L.N_WARP + L.W_CURRENT] = last


@jit
def meet_released(SPLITS, WARPS, w, order):
    """Orders of a GPU: the newest split was released while the current one goes on; the smaller of both runs first."""
    last = WARPS[w * L.N_WARP + L.W_SPLITS] - 1
    released = (w * 32 + last) * L.N_SPLIT
    SPLITS[released + L.S_FRESH] = 0
    join_fresh(SPLITS, WARPS, w, order)
    last = WARPS[w * L.N_WARP + L.W_SPLITS] - 1
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    at = (w * 32 + current) * L.N_SPLIT
    released = (w * 32 + last) * L.N_SPLIT
    if popcount(SPLITS[released + L.S_MASK]) < popcount(SPLITS[at + L.S_MASK]):
        SPLITS[at + L.S_WAY] = L.ELSEWHERE
        SPLITS[at + L.S_FRESH] = 1
        to_end(SPLITS, WARPS, w, current)
        WARPS[w * L.N_WARP + L.W_CURRENT] = last - 1
        to_end(SPLITS, WARPS, w, last - 1)
    else:
        SPLITS[released + L.S_FRESH] = 1
        to_end(SPLITS, WARPS, w, current)


@jit_inline
def participants_at(w, n_barriers, barrier):
    """Where the lanes of warp *w* have their copies of a convergence barrier's mask."""
    return (w * n_barriers + barrier) * 32


@jit_inline
def lanes_told(order, executing):
    """Which lanes' copies a BSSY writes: on a GPU there is one for all."""
    return L.FULL if follows_gpu(order) else executing


@jit_inline
def left_of(mask, lane, executing, order):
    """What a lane's copy of a convergence barrier's mask is once *executing* have left it: their own copies are empty.

    On a GPU there is one copy for all.
    """
    own = (executing >> lane) & np.int64(not follows_gpu(order))
    return mask & ~(executing | -own)


@jit_inline
def without(barriers, barrier):
    """A set of convergence barriers (bits) without one."""
    return barriers & ~(np.int64(1) << barrier)


@jit_inline
def goes_through(n_splits, order):
    """Whether a split of a warp with so many passes a convergence barrier, and nothing else happens."""
    return (n_splits == 1) & (order != L.HARDWARE)


@jit
def join_all(SPLITS, WARPS, w, state, pc):
    """Join into the current split all others in *state* at micro-op *pc*; returns their lanes.

    Those that wait at the convergence barrier there: a GPU picks an instruction for a split that waited for its turn;
    the lanes that wait there come with it, whichever lanes their barrier named, and issue it once more.  Ready ones:
    splits that gave way (YIELD) there meet so.
    """
    lanes = np.int64(0)
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS] - 1, -1, -1):
        at = (w * 32 + i) * L.N_SPLIT
        is_other = i != WARPS[w * L.N_WARP + L.W_CURRENT]
        if is_other and SPLITS[at + L.S_STATE] == state and SPLITS[at + L.S_PC] == pc:
            lanes |= SPLITS[at + L.S_MASK]
            remove_split(SPLITS, WARPS, w, i)
    at = (w * 32 + WARPS[w * L.N_WARP + L.W_CURRENT]) * L.N_SPLIT
    SPLITS[at + L.S_MASK] |= lanes
    SPLITS[at + L.S_PASS] *= np.int64(lanes == 0)
    return lanes


@jit
def newest_other(SPLITS, WARPS, w):
    """The newest ready split but the current one; -1 if there is none."""
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS] - 1, -1, -1):
        if i != WARPS[w * L.N_WARP + L.W_CURRENT] and SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.READY:
            return i
    return -1


@jit
def give_way(SPLITS, WARPS, w):
    """Let the newest other ready split run, if there is one; the current one comes after all others."""
    i = newest_other(SPLITS, WARPS, w)
    if i < 0:
        return
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_FRESH] = 0
    SPLITS[(w * 32 + current) * L.N_SPLIT + L.S_WAY] = L.ELSEWHERE
    SPLITS[(w * 32 + current) * L.N_SPLIT + L.S_FRESH] = 1
    WARPS[w * L.N_WARP + L.W_CURRENT] = i
    to_start(SPLITS, WARPS, w, current)
    to_end(SPLITS, WARPS, w, WARPS[w * L.N_WARP + L.W_CURRENT])


@jit_rare
def next_random(WARPS, w):
    """The next number of the warp's own xorshift generator, 0 to 2**31 - 1."""
    x = WARPS[w * L.N_WARP + L.W_RANDOM]
    x ^= (x << 13) & 0x7FFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0x7FFFFFFF
    WARPS[w * L.N_WARP + L.W_RANDOM] = x
    return x


@jit
def choose(SPLITS, WARPS, w, order):
    """Make the next ready split current: the newest, or by turns, or at random.  False if none is ready."""
    n = WARPS[w * L.N_WARP + L.W_SPLITS]
    current = WARPS[w * L.N_WARP + L.W_CURRENT]
    if order == L.INTERLEAVED:
        for k in range(1, n + 1):
            i = (current + k) % n
            if SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.READY:
                WARPS[w * L.N_WARP + L.W_CURRENT] = i
                return True
        return False
    if order == L.RANDOM and n > 0:
        ready = 0
        for i in range(n):
            ready += SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.READY
        if ready == 0:
            return False
        pick = next_random(WARPS, w) % ready
        for i in range(n):
            if SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.READY:
                if pick == 0:
                    WARPS[w * L.N_WARP + L.W_CURRENT] = i
                    return True
                pick -= 1
    for i in range(n - 1, -1, -1):
        if SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.READY:
            WARPS[w * L.N_WARP + L.W_CURRENT] = i
            at = (w * 32 + i) * L.N_SPLIT
            WARPS[w * L.N_WARP + L.W_PICKED] = -1 if SPLITS[at + L.S_FRESH] else SPLITS[at + L.S_PC]
            return True
    return False
