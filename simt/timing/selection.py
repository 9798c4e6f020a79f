"""Which of its warps a scheduler issues from, by the policy of the device."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.classes import PIPES
from simt.timing.codes import BARRIER, FENCE, FIXED, GLOBAL, LG, LSU, MATH, MIO, SHARED, STALLED_BARRIER
from simt.timing.jit import jit
from simt.timing.pipes import pipe_free
from simt.timing.waits import ceil

POLICY = L.PLACE["scheduler_policy"]
BARRIER_QUEUE = L.PLACE["barrier_queue"]
MIO_QUEUE = L.PLACE["mio_queue"]
WARP_QUEUE = L.PLACE["warp_queue"]
XU_QUEUE = L.PLACE["xu_queue"]

NONE, NOT_YET = -1, -2
GROUP = 32
"""Warps of a scheduler that are looked at together: mostly all of them."""
AHEAD_OF_ALL, AHEAD = np.int64(1) << 61, np.int64(1) << 60
"""What the last warp, and others that have not yielded, are ahead by when a scheduler selects; ages are below 2^60."""


@jit
def select(q, sm, now, in_turn, t):
    """The warp that scheduler *q* of *sm* issues from in this cycle, or NONE; Q_NEXT says when to look again.

    Q_OTHERS: when, if the one that issues did not ask to be looked at.  NOT_YET: its instruction needs what SMs share,
    and it is not the SM's turn (*in_turn*); then nothing has changed.
    """
    CONFIG = t.CONFIG
    NUMBERS = t.NUMBERS
    WARPS = t.WARPS
    SMS = t.SMS
    SCHEDULERS = t.SCHEDULERS
    READY = t.READY
    PASSED = t.PASSED
    first = q * CONFIG[L.G_MEMBERS]
    end = first + CONFIG[L.G_MEMBERS]
    last = SCHEDULERS[q * L.N_SCHEDULER + L.Q_LAST]
    policy = np.int64(NUMBERS[POLICY])
    mio_free = SCHEDULERS[q * L.N_SCHEDULER + L.Q_MIO_FREE]
    lsu_free = ceil(SMS[sm * L.N_SM + L.M_LSU_FREE] - NUMBERS[MIO_QUEUE])
    following = np.int64(L.NEVER)
    best = np.int64(NONE)
    best_member = np.int64(-1)
    best_key = np.int64(L.NEVER)
    looked_at = 0
    eligible = 0
    for group in range(first, end, GROUP):
        waiting = np.int64(0)  # a bit for each
        for member in range(group, min(group + GROUP, end)):  # without a branch: LLVM makes vectors of it
            ready = READY[member]
            following = min(following, ready if ready > now else np.int64(L.NEVER))
            waiting |= np.int64(ready <= now) << (member - group)
        looked_at += popcount(waiting)
        while waiting:
            member = group + popcount((waiting & -waiting) - 1)
            waiting &= waiting - 1
            wi = t.MEMBERS[member]
            row = wi * L.N_WARP
            asks = t.ASKS[member]
            unit = asks & L.ASKS_BYTE
            free = now
            why = MATH
            if FIXED <= unit <= GLOBAL or unit == FENCE:
                pipe = (asks >> L.ASKS_PIPE) & L.ASKS_BYTE
                if unit == FIXED:
                    free = max(free, pipe_free(q, pipe, now, t.PIPES))
                else:
                    why = MIO
                    if pipe != LSU:
                        free = max(free, t.PIPES[q * len(PIPES) + pipe] - np.int64(NUMBERS[XU_QUEUE]))
                    free = max(free, mio_free)
                    if pipe == LSU:
                        begins = max(lsu_free, WARPS[row + L.W_SHARED_FREE] - np.int64(NUMBERS[WARP_QUEUE]))
                        if begins > free:
                            free = begins
                            why = LG if unit == GLOBAL else MIO
            elif unit == BARRIER:
                free = max(free, ceil(SMS[sm * L.N_SM + L.M_BARRIER_FREE] - NUMBERS[BARRIER_QUEUE]))
                why = STALLED_BARRIER
            if free > now:
                following = min(following, free)
                WARPS[row + L.W_THROTTLE] = why
                continue
            eligible += 1
            if policy == 1:
                key = np.int64(-1) if wi == last else WARPS[row + L.W_AGE]
            else:
                key = wi - last - 1 if wi > last else wi - last - 1 + (np.int64(1) << 24)
                loads = asks & L.ASKS_LOADS != 0
                ahead = policy == 3 and not asks & L.ASKS_YIELDS and not (loads and unit == SHARED)
                by_age = unit == BARRIER if ahead else loads or unit != GLOBAL
                if policy >= 2 and by_age:
                    key += WARPS[row + L.W_BLOCK_AGE] << 25
                if ahead:
                    key -= AHEAD_OF_ALL if wi == last else AHEAD
            if key < best_key:
                best_key = key
                best = wi
                best_member = member
    if best >= 0 and not in_turn and t.OPS[WARPS[best * L.N_WARP + L.W_PC] * L.N_OP + L.O_IN_TURN]:
        return np.int64(NOT_YET)
    t.TOTALS[L.N_ELIGIBLE] += eligible
    if eligible > 1:
        for member in range(first, end):
            PASSED[member] += np.int64(READY[member] <= now)
        PASSED[best_member] -= 1
    SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT] = now + 1 if best >= 0 else following
    SCHEDULERS[q * L.N_SCHEDULER + L.Q_OTHERS] = now + 1 if looked_at > 1 else following
    return best
