"""Which of its warps a scheduler issues from, by the policy of the device."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import lowest, popcount
from simt.timing import layout as L
from simt.timing.codes import FMA, FMA_BOTH, FMA_HEAVY, LG, NOT_SELECTED
from simt.timing.cycles import ceil
from simt.timing.gates import (
    BARRIER_GATE,
    BYTE,
    GROUP,
    IS_AHEAD,
    IS_BUSY,
    IS_KEYED,
    KEEPS,
    LSU_GATE,
    N_GATE,
    N_STANDING,
    OPEN_GATE,
    PIPE_GATES,
    QUEUE,
    REASON,
    TO_GLOBAL,
)
from simt.timing.jit import jit_apart, jit_inline, jit_rare
from simt.timing.ready import count, foremost, joined, no_later, soonest

BARRIER_QUEUE = L.PLACE["barrier_queue"]
MIO_QUEUE = L.PLACE["mio_queue"]
KEPT = L.PLACE["lsu_kept"]

LG_KEPT = 8
"""Instructions for memory that is not shared in the queue of a scheduler from which on these are what it is full of.

So many wait there on an H100 if all warps load words that L1 has: each then has its result 32 cycles later, eight
times the four in which one is sent, and loads of shared memory are issued at once.
"""
NONE, NOT_YET = -1, -2
FIRST = -(np.int64(1) << 62)
"""Before all of KEYS."""


@jit_inline
def _lsu_free(q, sm, t):
    """From when on the load/store unit takes an instruction of scheduler *q*: if little work waits there, or few

    instructions of the scheduler.
    """
    number = t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_QUEUED]
    first = q * L.QUEUE_ROOM
    begun = t.QUEUED[first + (number - np.int64(t.NUMBERS[KEPT])) % L.QUEUE_ROOM]
    last = np.float64(t.QUEUED[first + (number - 1) % L.QUEUE_ROOM])
    return min(ceil(max(t.SMS[sm * L.N_SM + L.M_LSU_FREE], last) - t.NUMBERS[MIO_QUEUE]), begun)


@jit_apart
def _tell_why(group, asking, by_others, t):
    """Tell the warps of *asking* why they may not issue to the load/store unit: by what they go there for.

    *by_others*: the queue of their scheduler is full of what does not go to global memory.

    On an H100 the loads of busy.cu and naive.cu wait for lg_throttle only, those of shared memory for mio_throttle; and
    so do those of global memory that find it full of those: samples of others' products and convolutions by tiles have
    their global loads (3 and 6 % of all) at mio_throttle, none at lg_throttle.
    """
    while asking:
        member = group + lowest(asking)
        asks = t.ASKS[member]
        t.THROTTLE[member] = LG if asks & TO_GLOBAL and not by_others else (asks >> REASON) & BYTE
        asking &= asking - 1


@jit_inline
def _opened(group, standing, waiting, gates, sm, mio_free, now, t):
    """Which of the *waiting* warps of a group may issue *now*, which are at a pipe that is busy, and when the next may.

    Those that may not are told why.  Warps at one gate are dealt with together.  Nobody takes the turn of those at a
    busy pipe: they were not passed over.
    """
    idle = no_later(t.GATES, gates, now) & PIPE_GATES
    opened = waiting & (joined(t.STANDING, standing, idle) | t.STANDING[standing + OPEN_GATE])
    waiting &= ~opened
    busy = np.int64(0)
    following = np.int64(L.NEVER)
    while waiting:
        asks = t.ASKS[group + lowest(waiting)]
        gate = asks & BYTE
        asking = waiting & t.STANDING[standing + gate]
        waiting &= ~asking
        if gate == LSU_GATE:
            q = gates // N_GATE
            unit_free = _lsu_free(q, sm, t)
            free = max(unit_free, mio_free)
            if free <= now:
                opened |= asking
            else:
                number = t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_QUEUED_GLOBAL] - LG_KEPT
                is_of_global = t.QUEUED_GLOBAL[q * L.QUEUE_ROOM + number % L.QUEUE_ROOM] > now
                _tell_why(group, asking, unit_free > now and not is_of_global, t)
                following = min(following, free)
            continue
        free = t.GATES[gates + gate]
        if gate == BARRIER_GATE:
            free = ceil(t.SMS[sm * L.N_SM + L.M_BARRIER_FREE] - t.NUMBERS[BARRIER_QUEUE])
        elif QUEUE <= gate < BARRIER_GATE:
            free = max(free, mio_free)
        if free <= now:
            opened |= asking
            continue
        following = min(following, free)
        busy |= asking if gate < QUEUE else np.int64(0)
        why = np.int64((asks >> REASON) & BYTE)
        is_fma = gate in (FMA, FMA_HEAVY, FMA_BOTH)
        if is_fma and free <= t.SCHEDULERS[gates // N_GATE * L.N_SCHEDULER + L.Q_KEPT_FROM_FMA]:
            why = np.int64(NOT_SELECTED)  # dispatch stalls, on hardware
        while asking:
            t.THROTTLE[group + lowest(asking)] = why
            asking &= asking - 1
    return opened, busy, following


@jit_inline
def _key(member, last, t):
    """The smallest goes first; of several alike each in its turn, after the one that issued last."""
    turn = member - last - 1 + (np.int64(member <= last) << L.KEY_TURN)
    return t.KEYS[member] + turn


@jit_inline
def _first(group, standing, opened, last, t):
    """Which of the *opened* warps of a group goes first, and its key; *last*: the one that issued last."""
    if group <= last < group + GROUP and (opened >> (last - group)) & 1 and t.ASKS[last] & KEEPS:
        return last, FIRST
    some = opened & t.STANDING[standing + IS_AHEAD]
    if some == 0:
        some = opened
    alike = some & ~t.STANDING[standing + IS_KEYED]
    if alike:
        later = min(max(last + 1 - group, 0), GROUP)
        behind = (alike >> later) << later
        best = group + lowest(behind if behind else alike)
        return best, _key(best, last, t)
    if some & (some - 1):
        some = foremost(t.KEYS, group, some, group - last - 1)
    best = group + lowest(some)
    return best, _key(best, last, t)


@jit_rare
def _look_at_many(first, end, last, gates, sm, mio_free, now, t):
    """Of a scheduler with more than a GROUP of warps, *first* to *end* - 1: how many are ready, how many of them may

    issue, the best one, NONE, and when another one may.
    """
    ready = eligible = np.int64(0)
    following = np.int64(L.NEVER)
    best = np.int64(NONE)
    best_key = np.int64(L.NEVER)
    for group in range(first, end, GROUP):
        standing = group // GROUP * N_STANDING
        waiting = no_later(t.READY, group, now)
        opened, busy, free = _opened(group, standing, waiting, gates, sm, mio_free, now, t)
        t.STANDING[standing + IS_BUSY] = busy
        following = min(following, min(free, soonest(t.READY, group, waiting)))
        ready += popcount(waiting)
        eligible += popcount(opened)
        if opened:
            member, key = _first(group, standing, opened, last, t)
            if key < best_key:
                best = member
                best_key = key
    return ready, eligible, best, following


@jit_rare
def _pass_over_many(first, end, now, t):
    """Note that warps that are ready *now*, but for those whose pipe was busy, were passed over."""
    for group in range(first, end, GROUP):
        busy = t.STANDING[group // GROUP * N_STANDING + IS_BUSY]
        count(t.PASSED, group, no_later(t.READY, group, now) & ~busy)


@jit_apart
def select(q, sm, now, in_turn, t):
    """The warp that scheduler *q* of *sm* issues from in this cycle, or NONE; Q_NEXT says when to look again.

    Q_OTHERS: when, if the one that issues did not ask to be looked at.  NOT_YET: its instruction needs what SMs share,
    and it is not the SM's turn (*in_turn*); then nothing has changed.
    """
    first = q * t.CONFIG[L.G_MEMBERS]
    end = first + t.CONFIG[L.G_MEMBERS]
    row = q * L.N_SCHEDULER
    last = t.SCHEDULERS[row + L.Q_LAST]
    mio_free = max(t.SCHEDULERS[row + L.Q_MIO_FREE], now)
    are_many = end > first + GROUP
    passed = best = np.int64(NONE)
    if are_many:
        ready, eligible, best, following = _look_at_many(first, end, last, q * N_GATE, sm, mio_free, now, t)
    else:
        standing = first // GROUP * N_STANDING
        waiting = no_later(t.READY, first, now)  # a bit for each
        opened, busy, following = _opened(first, standing, waiting, q * N_GATE, sm, mio_free, now, t)
        passed = waiting & ~busy
        ready = popcount(waiting)
        eligible = popcount(opened)
        if opened:
            best, _ = _first(first, standing, opened, last, t)
        if ready <= 1 or opened == 0:
            following = min(following, soonest(t.READY, first, waiting))
    if best < 0:
        t.SCHEDULERS[row + L.Q_NEXT] = following
        return np.int64(NONE)
    wi = t.MEMBERS[best]
    if not in_turn and t.OPS[t.WARPS[wi * L.N_WARP + L.W_PC] * L.N_OP + L.O_IN_TURN]:
        return np.int64(NOT_YET)
    t.TOTALS[L.N_ELIGIBLE] += eligible
    if eligible > 1:  # on an H200 a busy pipe counts, whoever issues meanwhile
        if are_many:
            _pass_over_many(first, end, now, t)
        else:
            count(t.PASSED, first, passed)
        t.PASSED[best] -= 1
    t.SCHEDULERS[row + L.Q_NEXT] = now + 1
    t.SCHEDULERS[row + L.Q_OTHERS] = now + 1 if ready > 1 else following
    return wi
