"""Asynchronous copies to shared memory: until its thread has waited for one, nobody may touch what it writes.

The machine copies at once.  The cells of a copy say that it is under way, and are a list of their warp.  The copy ends

* where its thread waits for it: in groups of copies, of which the last few need not have come (cp.async.wait_group);
* where a thread sees the phase of the mbarrier end at which the copy arrives.

From then on it is a store of its thread: of the time when that waited, or that it had when it arrived at the mbarrier,
by which those who wait there learn of it.
"""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.sanitizer import layout as Z
from simt.sanitizer.clocks import thread_at, warp_at
from simt.sanitizer.jit import jit
from simt.sanitizer.places import found
from simt.sanitizer.readers import PC, THREAD

_GROUP = Z.OF_BULK - 1
_WRITE_PART = (1 << Z.READ_SHIFT) - 1


@jit
def is_under_way(EVENTS, at, l, cell, offset, HEAD, CELLS, FOUND):
    """Whether a copy to a cell is under way: then an access by lane *l* is too early."""
    more = CELLS[cell + Z.C_MORE]
    if not more & Z.UNDER_WAY:
        return False
    pc, block, w, what = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP], EVENTS[at + V.V_WHAT]
    who = CELLS[cell + Z.C_WRITE] >> Z.TIME_BITS
    found(
        Z.NOT_AWAITED, pc, block, w, l, more & PC, who >> Z.THREAD_BITS, who & THREAD, offset, what >> 8,
        (what >> 4) & 15, 0, HEAD, FOUND,
    )  # fmt: skip
    return True


@jit
def begin_copy(cell, told, place, thread, HEAD, WARPS, THREADS, CELLS):
    """What a thread has just stored in a cell comes from a copy."""
    warp = warp_at(HEAD, place, thread >> 5)
    which = np.int64(Z.OF_BULK | Z.NOT_TOLD << Z.MBARRIER)
    if told & Z.IS_COPY:
        which = THREADS[thread_at(HEAD, place, thread) + Z.T_GROUPS] & _GROUP
    CELLS[cell + Z.C_READ] = WARPS[warp + Z.W_COPIES]
    CELLS[cell + Z.C_MORE] = CELLS[cell + Z.C_MORE] & _WRITE_PART | which << Z.NUMBER_SHIFT | Z.UNDER_WAY
    WARPS[warp + Z.W_COPIES] = cell + 1


@jit
def commit(place, w, lanes, HEAD, THREADS):
    """The copies of some lanes since their last group are one."""
    for l in range(32):
        if (lanes >> l) & 1:
            THREADS[thread_at(HEAD, place, w * 32 + l) + Z.T_GROUPS] += 1


@jit
def _which(cell, CELLS):
    """Group and mbarrier of a copy."""
    return (CELLS[cell + Z.C_MORE] >> Z.NUMBER_SHIFT) & ((1 << Z.NUMBER_BITS) - 1)


@jit
def _lane(cell, CELLS):
    """Of the thread that copies."""
    return (CELLS[cell + Z.C_WRITE] >> Z.TIME_BITS) & 31


@jit
def _end(cell, before, warp, WARPS, CELLS):
    """A copy ends: *before* is the cell that names this one in the list of the warp, or -1.  Returns the next one."""
    after = CELLS[cell + Z.C_READ]
    if before < 0:
        WARPS[warp + Z.W_COPIES] = after
    else:
        CELLS[before + Z.C_READ] = after
    CELLS[cell + Z.C_READ] = 0
    CELLS[cell + Z.C_MORE] &= _WRITE_PART
    return after - 1


@jit
def await_copies(place, w, lanes, left, HEAD, WARPS, THREADS, CELLS):
    """Lanes of a warp have waited for their groups of copies, except for the last ones, *left* in number."""
    warp = warp_at(HEAD, place, w)
    before = np.int64(-1)
    cell = WARPS[warp + Z.W_COPIES] - 1
    while cell >= 0:
        which, l = _which(cell, CELLS), _lane(cell, CELLS)
        later = (THREADS[thread_at(HEAD, place, w * 32 + l) + Z.T_GROUPS] - which) & _GROUP
        if (lanes >> l) & 1 and later > left and not which & Z.OF_BULK:
            CELLS[cell + Z.C_WRITE] = CELLS[cell + Z.C_WRITE] >> Z.TIME_BITS << Z.TIME_BITS | HEAD[Z.H_TIME]
            cell = _end(cell, before, warp, WARPS, CELLS)
        else:
            before = cell
            cell = CELLS[cell + Z.C_READ] - 1


@jit
def note_mbarrier(EVENTS, at, told, place, HEAD, WARPS, CELLS):
    """Lanes arrive at mbarriers when their copies have come, or look whether a phase has ended."""
    lanes = EVENTS[at + V.V_LANES]
    last = np.int64(0)
    for l in range(32):
        if not (lanes >> l) & 1:
            continue
        mbarrier = ((EVENTS[at + V.V_VALUES + l] & (V.MATCHES - 1)) - EVENTS[at + V.V_MORE] >> 3) + 1
        if not told & Z.ASKS_PHASE:
            no_mbarrier = np.int64(Z.NOT_TOLD if told & Z.TAKES_BULK else 0)
            _arrive(warp_at(HEAD, place, EVENTS[at + V.V_WARP]), l, no_mbarrier, mbarrier, WARPS, CELLS)
        elif mbarrier != last:
            for w in range(HEAD[Z.H_WARPS]):
                _end_phase(warp_at(HEAD, place, w), mbarrier, WARPS, CELLS)
            last = mbarrier


@jit
def _arrive(warp, lane, no_mbarrier, mbarrier, WARPS, CELLS):
    """The copies of a lane that have no mbarrier yet (0, or NOT_TOLD for bulk copies) are to arrive at one."""
    cell = WARPS[warp + Z.W_COPIES] - 1
    while cell >= 0:
        if _lane(cell, CELLS) == lane and _which(cell, CELLS) >> Z.MBARRIER == no_mbarrier:
            CELLS[cell + Z.C_MORE] += (mbarrier - no_mbarrier) << (Z.NUMBER_SHIFT + Z.MBARRIER)
        cell = CELLS[cell + Z.C_READ] - 1


@jit
def _end_phase(warp, mbarrier, WARPS, CELLS):
    """The copies of a warp that arrive at an mbarrier have come."""
    before = np.int64(-1)
    cell = WARPS[warp + Z.W_COPIES] - 1
    while cell >= 0:
        if _which(cell, CELLS) >> Z.MBARRIER == mbarrier:
            cell = _end(cell, before, warp, WARPS, CELLS)
        else:
            before = cell
            cell = CELLS[cell + Z.C_READ] - 1
