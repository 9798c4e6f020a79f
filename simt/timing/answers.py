"""The end of an epoch: L2 answers what the SMs asked for, in the order of cycles and SMs."""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.dirty import set_of
from simt.timing.jit import jit, jit_inline
from simt.timing.l2 import L2_WAYS
from simt.timing.outbox import answer
from simt.timing.sync import wanted

EARLY = 4
"""So many requests before L2 answers one, what it needs for that is fetched from the host's memory."""
MOST_EARLY = 4
"""Lines of a request for which that is done."""


@jit
def _sort(now, until, t):
    """Put the requests of cycles *now* to before *until* in the order of cycles and SMs, in SORTED: how many they are.

    All have been made within these cycles, so they are counted, and each is put where its cycle begins.
    """
    FIRSTS = t.ORDER
    FRONTS = t.FRONTS
    for k in range(until - now):
        FIRSTS[k] = 0
    for sm in range(t.CONFIG[L.G_SMS]):
        front = sm * L.N_FRONT
        first = sm * L.REQUESTS
        for number in range(first + FRONTS[front + L.F_ANSWERED], first + FRONTS[front + L.F_ASKED]):
            cycle = t.REQUESTED[number * L.N_REQUEST + L.R_CYCLE]
            if cycle >= until:
                break
            FIRSTS[cycle - now] += 1
    total = np.int64(0)
    for k in range(until - now):
        n = FIRSTS[k]
        FIRSTS[k] = total
        total += n
    for sm in range(t.CONFIG[L.G_SMS]):
        front = sm * L.N_FRONT
        number = sm * L.REQUESTS + FRONTS[front + L.F_ANSWERED]
        end = sm * L.REQUESTS + FRONTS[front + L.F_ASKED]
        while number < end and t.REQUESTED[number * L.N_REQUEST + L.R_CYCLE] < until:
            k = t.REQUESTED[number * L.N_REQUEST + L.R_CYCLE] - now
            t.SORTED[FIRSTS[k]] = number
            FIRSTS[k] += 1
            number += 1
        FRONTS[front + L.F_ANSWERED] = number - sm * L.REQUESTS
    return total


@jit_inline
def _first_line(number, t):
    """Where ASKED has the first line of a request, as a number of lines."""
    return number // L.REQUESTS * L.REQUEST_LINES + t.REQUESTED[number * L.N_REQUEST + L.R_FIRST]


@jit_inline
def _look_forward(number, t):
    """Have what a request says fetched: the SM that wrote it may be another thread's."""
    line = _first_line(number, t)
    wanted(t.REQUESTED_AT, number * L.N_REQUEST_AT)
    wanted(t.ASKED, line * L.N_LINE)
    wanted(t.ASKED_AT, line * L.N_LINE_AT)


@jit
def _look_up_early(number, t):
    """Have what L2 knows of the lines of a request fetched: most of an answer's time went to waiting for that."""
    first = _first_line(number, t)
    ways = np.int64(t.NUMBERS[L2_WAYS])
    for a in range(first, first + min(t.REQUESTED[number * L.N_REQUEST + L.R_LINES], MOST_EARLY)):
        do = t.ASKED[a * L.N_LINE + L.A_DO]
        if do == L.D_HIT:
            continue
        start = set_of(t.ASKED[a * L.N_LINE + L.A_LINE], t.CONFIG[L.G_L2_SETS]) * ways
        for way in range(start, start + ways, 8):
            wanted(t.L2_TAGS, way)
            wanted(t.L2_USED, way)
            wanted(t.L2_SECTORS, way)
            if do == L.D_READ:
                wanted(t.L2_COMING, way)
                wanted(t.L2_READY, way)
            else:
                wanted(t.L2_DIRTY, way)
                wanted(t.L2_PARTIAL, way)


@jit
def answer_until(now, until, t):
    """L2 answers the requests of cycles *now* to before *until*, in the order of cycles and SMs."""
    SORTED = t.SORTED
    total = _sort(now, until, t)
    for k in range(total):
        if k + 2 * EARLY < total:
            _look_forward(SORTED[k + 2 * EARLY], t)
        if k + EARLY < total:
            _look_up_early(SORTED[k + EARLY], t)
        answer(SORTED[k] // L.REQUESTS, SORTED[k] % L.REQUESTS, t)
    return total > 0
