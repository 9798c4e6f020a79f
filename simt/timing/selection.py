"""Which of its warps a scheduler issues from, by the policy of the device."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.codes import LG
from simt.timing.cycles import ceil
from simt.timing.gates import BARRIER_GATE, BYTE, KEEPS, LSU_GATE, N_GATE, QUEUES, REASON, TO_GLOBAL
from simt.timing.jit import jit, jit_inline

POLICY = L.PLACE["scheduler_policy"]
BARRIER_QUEUE = L.PLACE["barrier_queue"]
MIO_QUEUE = L.PLACE["mio_queue"]

NONE, NOT_YET = -1, -2
GROUP = 32
"""Warps of a scheduler that are looked at together: mostly all of them."""
FIRST = -(np.int64(1) << 62)
"""Before all of KEYS."""


@jit_inline
def _reason(asks, begins, free):
    """Why a gate keeps an instruction: the load/store unit, from *begins* on, or what else it needs, from *free* on."""
    if asks & TO_GLOBAL and begins > free:
        return np.int64(LG)
    return (asks >> REASON) & BYTE


@jit
def select(q, sm, now, in_turn, t):
    """The warp that scheduler *q* of *sm* issues from in this cycle, or NONE; Q_NEXT says when to look again.

    Q_OTHERS: when, if the one that issues did not ask to be looked at.  NOT_YET: its instruction needs what SMs share,
    and it is not the SM's turn (*in_turn*); then nothing has changed.
    """
    CONFIG = t.CONFIG
    NUMBERS = t.NUMBERS
    SCHEDULERS = t.SCHEDULERS
    READY = t.READY
    PASSED = t.PASSED
    ASKS = t.ASKS
    KEYS = t.KEYS
    OWN_FREE = t.OWN_FREE
    GATES = t.GATES
    first = q * CONFIG[L.G_MEMBERS]
    end = first + CONFIG[L.G_MEMBERS]
    row = q * L.N_SCHEDULER
    last = SCHEDULERS[row + L.Q_LAST]
    in_order = np.int64(NUMBERS[POLICY]) != L.OLDEST
    mio_free = SCHEDULERS[row + L.Q_MIO_FREE]
    gates = q * N_GATE
    lsu_free = ceil(t.SMS[sm * L.N_SM + L.M_LSU_FREE] - NUMBERS[MIO_QUEUE])
    GATES[gates + LSU_GATE] = lsu_free
    GATES[gates + BARRIER_GATE] = ceil(t.SMS[sm * L.N_SM + L.M_BARRIER_FREE] - NUMBERS[BARRIER_QUEUE])
    following = np.int64(L.NEVER)
    best = np.int64(NONE)
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
            asks = ASKS[member]
            others = max(mio_free, now) if asks & QUEUES else np.int64(now)
            free = max(max(GATES[gates + (asks & BYTE)], OWN_FREE[member]), others)
            if free > now:
                following = min(following, free)
                t.THROTTLE[member] = _reason(asks, max(lsu_free, OWN_FREE[member]), others)
                continue
            eligible += 1
            key = KEYS[member]
            if in_order:  # each in its turn, after the one that issued last
                key += member - last - 1 + (np.int64(member <= last) << L.KEY_TURN)
            if member == last and asks & KEEPS:
                key = FIRST
            if key < best_key:
                best_key = key
                best = member
    if best < 0:
        SCHEDULERS[row + L.Q_NEXT] = following
        return np.int64(NONE)
    wi = t.MEMBERS[best]
    if not in_turn and t.OPS[t.WARPS[wi * L.N_WARP + L.W_PC] * L.N_OP + L.O_IN_TURN]:
        return np.int64(NOT_YET)
    t.TOTALS[L.N_ELIGIBLE] += eligible
    if eligible > 1:
        for member in range(first, end):
            PASSED[member] += np.int64(READY[member] <= now)
        PASSED[best] -= 1
    SCHEDULERS[row + L.Q_NEXT] = now + 1
    SCHEDULERS[row + L.Q_OTHERS] = now + 1 if looked_at > 1 else following
    return wi
