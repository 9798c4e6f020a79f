"""The loop over cycles: SMs one after the other, their schedulers in turn.

Time is discrete, but cycles in which nothing can happen are skipped.
"""

from __future__ import annotations

import numpy as np

from simt.machine import door
from simt.timing import layout as L
from simt.timing.blocks import start_blocks
from simt.timing.cycles import ceil
from simt.timing.issue import issue
from simt.timing.jit import jit, jit_inline
from simt.timing.selection import NONE, NOT_YET, select


@jit
def _ended(SMS):
    """The cycle in which the last warp so far has ended."""
    last = 0.0
    for at in range(0, len(SMS), L.N_SM):
        last = max(last, SMS[at + L.M_ENDED])
    return last


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
    """Simulate a cycle of one SM: DONE, or FAILED, FULL or CALLED as in :func:`run`; NEXT says when to look again.

    Not *in_turn*: others are not as far as this one.  Before it reads or changes what all share it waits: HALTED.
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
    if SMS[own + L.M_EVENT] <= now:
        if not in_turn:
            _halt(sm, begin, first, following, forced, SMS)
            return L.HALTED
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
            elif not in_turn and OPS[WARPS[wi * L.N_WARP + L.W_PC] * L.N_OP + L.O_SHARES]:
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
    t.NEXT[sm] = min(following, ceil(SMS[own + L.M_EVENT]))
    return L.DONE


@jit
def run(until, total_blocks, s, t):
    """Simulate up to cycle *until*.

    FINISHED, PAUSED, FAILED (see ERROR), STUCK (no warp can go on), FULL (drain EVENTS) or CALLED (serve the call of
    the block in place C_CALLS).

    ``total_blocks`` is when to stop, *s* the engine's State of all places for blocks, *t* the Clock.

    What SMs share is read and changed cycle by cycle, in their order.  In between each SM runs ahead by itself, as far
    as it can: that changes nothing, and its state stays in the host's caches.
    """
    CONFIG = t.CONFIG
    NEXT = t.NEXT
    SMS = t.SMS
    TOTALS = t.TOTALS
    capacity = len(t.EVENTS) // L.N_EVENT
    places = CONFIG[L.G_SMS] * CONFIG[L.G_PLACES]
    door.lay_out(s, np.int64(0), places, CONFIG[L.G_R], CONFIG[L.G_P], CONFIG[L.G_PARTICIPANTS], t.BLOCKS)
    now = np.int64(t.CHIP[L.C_NOW])
    ahead = CONFIG[L.G_SMS] > 1  # as far as an SM goes before its turn; for how many SMs that is still to be done
    while True:
        if TOTALS[L.N_BLOCKS] == total_blocks and now > _ended(SMS):
            t.CHIP[L.C_NOW] = _ended(SMS) + 1
            return L.FINISHED
        if now >= until or s.STOP[0]:
            return L.PAUSED
        following = np.int64(L.NEVER)
        first = np.int64(t.CHIP[L.C_NEXT_BLOCK]) % CONFIG[L.G_SMS]
        for k in range(CONFIG[L.G_SMS]):
            sm = first + k  # after the one that got the last block: blocks go round
            if sm >= CONFIG[L.G_SMS]:
                sm -= CONFIG[L.G_SMS]
            at = NEXT[sm]
            if at <= now or (ahead and SMS[sm * L.N_SM + L.M_HALTED] == 0):
                while at <= now or (CONFIG[L.G_SMS] > 1 and at < until):
                    status = _look_at(sm, max(at, now), at <= now, capacity, s, t)
                    if status == L.HALTED:
                        break
                    if status != L.DONE:
                        t.CHIP[L.C_NOW] = now
                        return status
                    at = NEXT[sm]
            following = min(following, at)
        ahead = False
        if following >= L.NEVER:
            return L.STUCK
        now = max(following, now)
        t.CHIP[L.C_NOW] = now
