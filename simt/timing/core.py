"""The loop over cycles: SMs that go ahead by themselves, for an epoch at a time, and what they share.

Time is discrete, but cycles in which nothing can happen are skipped.  Nothing that an SM asks L2 for comes back within
an epoch.  So in an epoch each SM goes ahead by itself, on one of several host threads; how many there are changes no
result.  At its end one thread does what SMs share, in the order of cycles and SMs: L2, DRAM, the next blocks.
What depends on the moment at which other SMs do the same (atomics) an SM does not do ahead: it waits for its turn.
"""

from __future__ import annotations

import numpy as np

from simt.machine import door
from simt.timing import layout as L
from simt.timing.answers import answer_until
from simt.timing.blocks import give_blocks, start_blocks
from simt.timing.cycles import ceil
from simt.timing.issue import issue
from simt.timing.jit import jit, jit_inline
from simt.timing.outbox import is_alone, take_answers
from simt.timing.selection import NONE, NOT_YET, select
from simt.timing.sync import counted, member, pause, publish, published

SPINS, RESTS = 1 << 12, 8
"""Looks for something to do before a thread leaves the processor to others, and how often it rests between two:
about a millisecond in all, longer than most epochs take to answer.  To come back takes a nap, and Python's lock."""
MOST_AT_ONCE = 64
"""Requests, and lines of them, that the instructions of one cycle need room for."""


@jit
def _ended(t):
    """The cycle in which the last warp so far has ended."""
    last = 0.0
    for at in range(0, len(t.SMS), L.N_SM):
        last = max(last, t.SMS[at + L.M_ENDED])
    return last


@jit
def _blocks_ended(t):
    blocks = np.int64(0)
    for at in range(0, len(t.FRONTS), L.N_FRONT):
        blocks += t.FRONTS[at + L.F_ENDED]
    return blocks


@jit_inline
def _halt(sm, looked_at, first, following, forced, SMS):
    """Note where SM *sm* waits in the midst of a cycle."""
    at = sm * L.N_SM
    SMS[at + L.M_HALTED] = looked_at + 1
    SMS[at + L.M_HALTED_FIRST] = first
    SMS[at + L.M_HALTED_NEXT] = following
    SMS[at + L.M_HALTED_WARP] = forced + 1


@jit
def _look_at(sm, now, in_turn, capacity, s, t):
    """Simulate a cycle of one SM: DONE, or FAILED, FULL or CALLED as in :func:`run`; F_NEXT says when to look again.

    Not *in_turn*: before it does what depends on the moment at which other SMs do the same it waits: HALTED.
    """
    CONFIG = t.CONFIG
    OPS = t.OPS
    WARPS = t.WARPS
    SCHEDULERS = t.SCHEDULERS
    SMS = t.SMS
    TOTALS = t.TOTALS
    schedulers = CONFIG[L.G_SCHEDULERS]
    own = sm * L.N_SM
    begin = np.int64(0)
    first = np.int64(SMS[own + L.M_TURN])  # schedulers take turns at the load/store unit
    following = np.int64(L.NEVER)
    forced = np.int64(NONE)
    if SMS[own + L.M_HALTED]:
        begin = np.int64(SMS[own + L.M_HALTED]) - 1
        first = np.int64(SMS[own + L.M_HALTED_FIRST])
        following = np.int64(SMS[own + L.M_HALTED_NEXT])
        forced = np.int64(SMS[own + L.M_HALTED_WARP]) - 1
        SMS[own + L.M_HALTED] = 0
    if SMS[own + L.M_EVENT] <= now and is_alone(t):
        give_blocks(sm, now, t)
    if SMS[own + L.M_START] <= now:
        start_blocks(sm, now, s, t)
    for turn in range(begin, schedulers):
        q = sm * schedulers + turn + first
        if q >= (sm + 1) * schedulers:
            q -= schedulers
        while SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT] <= now or forced >= 0:
            wi = forced
            if TOTALS[L.N_EVENTS] == capacity:
                _halt(sm, turn, first, following, forced, SMS)
                return L.FULL
            if forced < 0:
                wi = select(q, sm, now, in_turn, t)
            elif not in_turn and OPS[WARPS[wi * L.N_WARP + L.W_PC] * L.N_OP + L.O_IN_TURN]:
                wi = np.int64(NOT_YET)
            if wi == NOT_YET:
                _halt(sm, turn, first, following, forced, SMS)
                return L.HALTED
            if wi == NONE:
                break
            status, forced = issue(q, sm, wi, now, s, t)
            if status != L.DONE:
                return status
        following = min(following, SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT])
    if is_alone(t):
        following = min(following, ceil(SMS[own + L.M_EVENT]))
    t.FRONTS[sm * L.N_FRONT + L.F_NEXT] = min(following, ceil(SMS[own + L.M_START]))
    return L.DONE


@jit_inline
def _is_crowded(sm, t):
    """Whether an SM may not have room for the requests of one more cycle."""
    front = sm * L.N_FRONT
    lines = t.FRONTS[front + L.F_LINES] > L.REQUEST_LINES - 4 * MOST_AT_ONCE
    return lines or t.FRONTS[front + L.F_ASKED] > L.REQUESTS - MOST_AT_ONCE


@jit
def _go_ahead(sm, now, until, capacity, s, t):
    """Simulate SM *sm* by itself up to cycle *until*, from *now* on; F_STATUS says what that came to."""
    front = sm * L.N_FRONT
    if t.FRONTS[front + L.F_ANSWERED] > t.FRONTS[front + L.F_TAKEN]:
        take_answers(sm, t)
    # The epoch before ended early, for an SM that was crowded.  What waits for a line that has been asked for already
    # may be there less than an epoch after it was asked for: the SM would pass the cycle in which a warp may go on.
    is_ahead = t.FRONTS[front + L.F_ASKED] > t.FRONTS[front + L.F_ANSWERED] and not t.SMS[sm * L.N_SM + L.M_HALTED]
    status = np.int64(L.CROWDED if is_ahead else L.DONE)
    while status == L.DONE and t.FRONTS[front + L.F_NEXT] < until:
        if _is_crowded(sm, t):
            status = np.int64(L.CROWDED)
        else:
            status = _look_at(sm, max(t.FRONTS[front + L.F_NEXT], now), False, capacity, s, t)
    t.FRONTS[front + L.F_STATUS] = status


@jit_inline
def _share(k, of, whole):
    """Part *k* of *whole*, which *of* parts make up: the first of it, and one past the last."""
    return k * whole // of, (k + 1) * whole // of


@jit_inline
def _lay_out(first, end, s, t):
    """Get the places of SMs *first* to *end* - 1 ready for this thread, unless they are."""
    CONFIG = t.CONFIG
    places = CONFIG[L.G_PLACES]
    words = len(t.BLOCKS) // (CONFIG[L.G_SMS] * places)
    if t.BLOCKS[first * places * words] == 0:  # where elements stand is not zero
        door.lay_out(s, first * places, end * places, CONFIG[L.G_R], CONFIG[L.G_P], CONFIG[L.G_PARTICIPANTS], t.BLOCKS)


@jit
def _go_ahead_group(group, s, t):
    """Simulate a group of SMs up to the end of the epoch."""
    now = np.int64(t.CHIP[L.C_NOW])
    first, end = _share(group, t.CONFIG[L.G_GROUPS], t.CONFIG[L.G_SMS])
    _lay_out(first, end, s, t)
    for sm in range(first, end):
        _go_ahead(sm, now, now + np.int64(t.CHIP[L.C_EPOCH]), len(t.EVENTS) // L.N_EVENT, s, t)


@jit_inline
def _begin_epoch(t):
    """Let all threads take groups of SMs."""
    publish(t.SYNC, 0, 0)
    threads = t.CONFIG[L.G_THREADS]
    for thread in range(threads):
        first, _ = _share(thread, threads, t.CONFIG[L.G_GROUPS])
        publish(t.SYNC, (1 + thread) * L.THREAD_ROOM, first)


@jit
def _taken(t):
    """A group of SMs that no thread has taken in this epoch, this thread's own first: it is taken now.  -1: none.

    A thread with but one group leaves those of others alone.
    """
    threads = t.CONFIG[L.G_THREADS]
    for k in range(threads if threads < t.CONFIG[L.G_GROUPS] else 1):
        thread = (t.CONFIG[L.G_THREAD] + k) % threads
        at = (1 + thread) * L.THREAD_ROOM
        _, end = _share(thread, threads, t.CONFIG[L.G_GROUPS])
        if published(t.SYNC, at) < end:
            group = counted(t.SYNC, at)
            if group < end:
                return group
    return np.int64(-1)


@jit
def _go_ahead_one(s, t):
    """Simulate a group of SMs that nobody has taken up to the end of the epoch; whether there was one."""
    group = _taken(t)
    if group < 0:
        return False
    its_s, its_t = member(group, s, t)
    _go_ahead_group(group, its_s, its_t)
    counted(t.SYNC, 0)
    return True


@jit
def _help(s, t):
    """What every host thread but the first does: groups of each epoch that begins, until none has for a while."""
    spins = 0
    while spins < SPINS:
        spins += 1
        if _go_ahead_one(s, t):
            spins = 0
        for _ in range(RESTS):
            pause()


@jit
def _are_through(t):
    """Whether the threads are through with all groups that they have taken in the epoch; waits for a while."""
    for _ in range(SPINS * RESTS):
        if published(t.SYNC, 0) == t.CONFIG[L.G_GROUPS]:
            return True
        pause()
    return False


@jit
def _give_until(until, t):
    """Give the SMs the blocks that are due before cycle *until*."""
    sms = t.CONFIG[L.G_SMS]
    if t.CHIP[L.C_NEXT_BLOCK] >= t.CONFIG[L.G_BLOCKS]:
        return
    for sm in range(sms):
        t.DUE[sm] = t.SMS[sm * L.N_SM + L.M_EVENT]
    while t.CHIP[L.C_NEXT_BLOCK] < t.CONFIG[L.G_BLOCKS]:
        soonest = np.float64(L.NEVER)
        for sm in range(sms):
            soonest = min(soonest, t.DUE[sm])
        now = ceil(soonest)
        if now >= until:
            break
        first = np.int64(t.CHIP[L.C_NEXT_BLOCK]) % sms
        for k in range(sms):
            sm = first + k  # after the one that got the last block: blocks go round
            if sm >= sms:
                sm -= sms
            if t.DUE[sm] <= now:
                give_blocks(sm, now, t)
                t.DUE[sm] = t.SMS[sm * L.N_SM + L.M_EVENT]
                front = sm * L.N_FRONT + L.F_NEXT
                t.FRONTS[front] = min(t.FRONTS[front], ceil(t.SMS[sm * L.N_SM + L.M_START]))


@jit
def _take_turns(capacity, s, t):
    """What SMs have waited for their turn with is done, in the order of cycles; DONE, or else as in :func:`run`."""
    while True:
        next_sm = np.int64(-1)
        soonest = np.int64(L.NEVER)
        for sm in range(t.CONFIG[L.G_SMS]):
            front = sm * L.N_FRONT
            if t.FRONTS[front + L.F_STATUS] == L.HALTED and t.FRONTS[front + L.F_NEXT] < soonest:
                soonest = t.FRONTS[front + L.F_NEXT]
                next_sm = np.int64(sm)
        if next_sm < 0:
            return np.int64(L.DONE)
        status = _look_at(next_sm, soonest, True, capacity, s, t)
        if status != L.DONE:
            return status
        t.FRONTS[next_sm * L.N_FRONT + L.F_STATUS] = L.DONE
        t.TOTALS[L.N_TURNS] += 1


@jit
def _first_status(t):
    """FAILED or FULL if that is what came of an SM, HALTED if one waits for its turn, else DONE."""
    found = np.int64(L.DONE)
    for at in range(0, len(t.FRONTS), L.N_FRONT):
        status = t.FRONTS[at + L.F_STATUS]
        if status in (L.FAILED, L.FULL):
            return status
        if status == L.HALTED:
            found = status
    return found


@jit
def _end_epoch(now, t):
    """L2 answers what was asked before all SMs are; the cycle in which the next epoch begins."""
    until = now + np.int64(t.CHIP[L.C_EPOCH])
    following = np.int64(L.NEVER)
    for sm in range(t.CONFIG[L.G_SMS]):
        at = t.FRONTS[sm * L.N_FRONT + L.F_NEXT]
        if t.FRONTS[sm * L.N_FRONT + L.F_STATUS] == L.CROWDED:
            until = min(until, max(at, now))
        following = min(following, at)
    if answer_until(now, until, t):
        return until
    if t.CHIP[L.C_NEXT_BLOCK] < t.CONFIG[L.G_BLOCKS]:
        for at in range(0, len(t.SMS), L.N_SM):
            following = min(following, ceil(t.SMS[at + L.M_EVENT]))
    return max(until, following)  # nobody waits for an answer: what nothing happens in is skipped


@jit
def _run_alone(until, total_blocks, s, t):
    """Simulate one SM, as :func:`run` does several: L2 answers at once."""
    capacity = len(t.EVENTS) // L.N_EVENT
    now = np.int64(t.CHIP[L.C_NOW])
    while True:
        if t.FRONTS[L.F_ENDED] == total_blocks and now > _ended(t):
            t.CHIP[L.C_NOW] = _ended(t) + 1
            return L.FINISHED
        t.CHIP[L.C_NOW] = now
        if now >= until or s.STOP[0]:
            return L.PAUSED
        status = _look_at(0, now, True, capacity, s, t)
        if status != L.DONE:
            return status
        if t.FRONTS[L.F_NEXT] >= L.NEVER:
            return L.STUCK
        now = max(t.FRONTS[L.F_NEXT], now)


@jit
def run(until, total_blocks, s, t):
    """Simulate up to cycle *until*.

    FINISHED, PAUSED, FAILED (see ERROR), STUCK (no warp can go on), FULL (drain EVENTS), CALLED (serve the call of
    the block in place C_CALLS) or WAITING (other threads are not through).

    ``total_blocks`` is when to stop, *s* the engine's State of all places for blocks, *t* the Clock; both are those of
    the thread that calls.  All but the first help, as long as there is something to do, and are WAITING then.
    """
    if t.CONFIG[L.G_THREAD] > 0:
        _help(s, t)
        return L.WAITING
    _lay_out(np.int64(0), t.CONFIG[L.G_SMS], s, t)
    if is_alone(t):
        return _run_alone(until, total_blocks, s, t)
    capacity = len(t.EVENTS) // L.N_EVENT
    while True:
        now = np.int64(t.CHIP[L.C_NOW])
        if t.CHIP[L.C_PHASE] == L.BETWEEN:
            if _blocks_ended(t) == total_blocks and now > _ended(t):
                t.CHIP[L.C_NOW] = _ended(t) + 1
                return L.FINISHED
            if now >= L.NEVER:
                return L.STUCK
            if now >= until or s.STOP[0]:
                return L.PAUSED
            _give_until(now + np.int64(t.CHIP[L.C_EPOCH]), t)
            t.CHIP[L.C_PHASE] = L.AHEAD
            if t.CONFIG[L.G_THREADS] == 1:
                _go_ahead_group(np.int64(0), s, t)
            else:
                _begin_epoch(t)
                while _go_ahead_one(s, t):
                    pass
        if t.CHIP[L.C_PHASE] == L.AHEAD:
            if t.CONFIG[L.G_THREADS] > 1 and not _are_through(t):
                return L.WAITING
            status = _first_status(t)
            if status in (L.FAILED, L.FULL):
                t.CHIP[L.C_PHASE] = L.BETWEEN
                return status
            t.CHIP[L.C_PHASE] = L.TURNS if status == L.HALTED else L.BETWEEN
        if t.CHIP[L.C_PHASE] == L.TURNS:
            status = _take_turns(capacity, s, t)
            if status != L.DONE:
                return status
            t.CHIP[L.C_PHASE] = L.BETWEEN
        else:
            t.CHIP[L.C_NOW] = _end_epoch(now, t)
