"""How the splits of a warp wait and meet: at convergence barriers and at warp barriers.

All functions take the flat arrays of layout.py and the warp's number.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.splits import follows_gpu, participants_at, remove_splits, to_end
from simt.ops.encoding import COLLECTIVE
from simt.ops.jit import jit
from simt.ops.scalar import lowest, popcount


@jit
def _merge(SPLITS, WARPS, w, i, arrived, state, argument, pc):
    """Join into split *i* all splits in *state* with *argument* at *pc* that hold arrived lanes.

    Returns where the split stands then.
    """
    at = (w * 32 + i) * L.N_SPLIT
    mask = SPLITS[at + L.S_MASK]
    joined = np.int64(0)
    for j in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        other = (w * 32 + j) * L.N_SPLIT
        if (
            j != i
            and SPLITS[other + L.S_STATE] == state
            and SPLITS[other + L.S_ARG] == argument
            and SPLITS[other + L.S_MASK] & arrived
            and SPLITS[other + L.S_PC] == pc
        ):
            mask |= SPLITS[other + L.S_MASK]
            joined |= np.int64(1) << j
    remove_splits(SPLITS, WARPS, w, joined)
    i -= popcount(joined & ((np.int64(1) << i) - 1))
    at = (w * 32 + i) * L.N_SPLIT
    if mask != SPLITS[at + L.S_MASK]:
        SPLITS[at + L.S_PASS] = 0
    SPLITS[at + L.S_MASK] = mask
    SPLITS[at + L.S_PC] += 1
    SPLITS[at + L.S_STATE] = L.READY
    SPLITS[at + L.S_WAY] = L.ELSEWHERE
    return i


@jit
def gave_way(SPLITS, WARPS, w, order):
    """Lanes that gave way to others and have not run since; only in orders of a GPU there are any."""
    lanes = np.int64(0)
    if not follows_gpu(order):
        return lanes
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        at = (w * 32 + i) * L.N_SPLIT
        if SPLITS[at + L.S_YIELDED]:
            lanes |= SPLITS[at + L.S_MASK]
    return lanes


@jit
def clear(PARTICIPANTS, barrier):
    """Empty a convergence barrier that some go on from without those that gave way: it waits for these no more."""
    for lane in range(32):
        PARTICIPANTS[barrier * 32 + lane] = 0


@jit
def _arrived(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, state, argument, named):
    """Lanes of the splits in *state* with *argument*: those of a convergence barrier whose mask is *named*.

    Those at a warpsync if their place is *named*, or if places do not matter.
    """
    arrived = np.int64(0)
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        at = (w * 32 + i) * L.N_SPLIT
        if SPLITS[at + L.S_STATE] != state or SPLITS[at + L.S_ARG] != argument:
            continue
        mask = SPLITS[at + L.S_MASK]
        if state == L.WAIT_WARPSYNC and named != _place(SPLITS, at):
            continue
        # Lanes deeper in a recursion wait at the same barrier with another mask: they have not arrived.
        if state == L.WAIT_WARPSYNC or named == PARTICIPANTS[participants_at(w, n_barriers, argument) + lowest(mask)]:
            arrived |= mask
    return arrived


@jit
def all_wait_on(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order, i, needed):
    """After split *i* has arrived at a convergence barrier, where it waits for lanes *needed*: whether all wait on.

    So they do if one of these has not arrived: at other barriers nothing has changed since the last settling.  Orders
    of a GPU settle all: there a split that sets a barrier changes the mask of others.
    """
    if follows_gpu(order):
        return False
    at = (w * 32 + i) * L.N_SPLIT
    barrier = SPLITS[at + L.S_ARG]
    named = PARTICIPANTS[participants_at(w, n_barriers, barrier) + lowest(SPLITS[at + L.S_MASK])]
    return needed & ~_arrived(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, L.WAIT_BSYNC, barrier, named) != 0


@jit
def settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order):
    """Release every convergence barrier and warpsync of warp *w* whose lanes have all arrived or exited.

    Convergence barriers do not wait for lanes that gave way; these do not wait there for those that went on without
    them.  Returns the lanes that were released from such.
    """
    gone = WARPS[w * L.N_WARP + L.W_EXITED] | WARPS[w * L.N_WARP + L.W_ABSENT]
    yielded = gave_way(SPLITS, WARPS, w, order)
    released = np.int64(0)
    again = True
    while again:
        again = False
        n = WARPS[w * L.N_WARP + L.W_SPLITS]
        waits, barred, lacked = np.int64(-1), np.int64(0), np.int64(0)
        for i in range(n):
            at = (w * 32 + i) * L.N_SPLIT
            state = SPLITS[at + L.S_STATE]
            if state != L.WAIT_BSYNC and state != L.WAIT_WARPSYNC:
                continue
            argument = SPLITS[at + L.S_ARG]
            named = np.int64(0)
            if state == L.WAIT_BSYNC:
                named = PARTICIPANTS[participants_at(w, n_barriers, argument) + lowest(SPLITS[at + L.S_MASK])]
                if named & SPLITS[at + L.S_MASK] == 0:
                    continue
                needed = named & ~(gone | yielded)
            else:
                needed = argument & L.FULL & ~gone
                named = _place(SPLITS, at)
            if state == waits and argument == barred and named == lacked:
                continue  # with the split before, which has to wait
            waits, barred, lacked = state, argument, named
            arrived = _arrived(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, state, argument, named)
            if needed & ~arrived == 0:
                if state == L.WAIT_BSYNC:
                    if yielded != 0:
                        clear(PARTICIPANTS, w * n_barriers + argument)
                    _release_bsync(SPLITS, WARPS, w, i, needed, order)
                    released |= needed & arrived
                else:
                    _release_warpsync(SPLITS, WARPS, w, argument, named)
                again = True
                break
    return released


@jit
def _release_bsync(SPLITS, WARPS, w, i, needed, order):
    """All lanes of the barrier at which split *i* waits are there: those at one place, normally all, join and go on."""
    argument = SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_ARG]
    while i >= 0:
        joined = _merge(SPLITS, WARPS, w, i, needed, L.WAIT_BSYNC, argument, SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_PC])
        if follows_gpu(order):
            to_end(SPLITS, WARPS, w, joined)
        i = -1
        for j in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
            at = (w * 32 + j) * L.N_SPLIT
            waits = SPLITS[at + L.S_STATE] == L.WAIT_BSYNC and SPLITS[at + L.S_ARG] == argument
            if waits and SPLITS[at + L.S_MASK] & needed:
                i = j
                break
    if order == L.HARDWARE:  # it goes on before any other: it is not picked from those that wait for their turn
        SPLITS[(w * 32 + WARPS[w * L.N_WARP + L.W_SPLITS] - 1) * L.N_SPLIT + L.S_FRESH] = 1


@jit
def _place(SPLITS, at):
    """Where those wait that the split at *at*, which waits at a warpsync, can meet; -1: at any place."""
    return SPLITS[at + L.S_PC] if SPLITS[at + L.S_ARG] >> 32 == 0 else np.int64(-1)


@jit
def _release_warpsync(SPLITS, WARPS, w, argument, named):
    """All lanes of a warpsync are there: those at the same instruction go on as one split.

    If it is a collective one, all of them do, at the instruction of the last to come: the current one or the newest.
    """
    if argument >> 32 == COLLECTIVE:
        place = -1
        for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
            at = (w * 32 + i) * L.N_SPLIT
            waits = SPLITS[at + L.S_STATE] == L.WAIT_WARPSYNC and SPLITS[at + L.S_ARG] == argument
            if waits and place != WARPS[w * L.N_WARP + L.W_CURRENT]:
                place = i
        for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
            at = (w * 32 + i) * L.N_SPLIT
            if SPLITS[at + L.S_STATE] == L.WAIT_WARPSYNC and SPLITS[at + L.S_ARG] == argument:
                SPLITS[at + L.S_PC] = SPLITS[(w * 32 + place) * L.N_SPLIT + L.S_PC]
    i = 0
    while i < WARPS[w * L.N_WARP + L.W_SPLITS]:
        at = (w * 32 + i) * L.N_SPLIT
        waits = SPLITS[at + L.S_STATE] == L.WAIT_WARPSYNC and SPLITS[at + L.S_ARG] == argument
        if waits and named == _place(SPLITS, at):
            _merge(SPLITS, WARPS, w, i, L.FULL, L.WAIT_WARPSYNC, argument, SPLITS[at + L.S_PC])
        i += 1


@jit
def waits_at_warpsync(SPLITS, WARPS, w, lanes):
    """Whether a split with any of *lanes* waits at a warpsync."""
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        at = (w * 32 + i) * L.N_SPLIT
        if SPLITS[at + L.S_STATE] == L.WAIT_WARPSYNC and SPLITS[at + L.S_MASK] & lanes:
            return True
    return False
