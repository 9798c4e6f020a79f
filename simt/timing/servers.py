"""Servers with a bandwidth: the time at which each is free."""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.jit import jit_inline

SECTOR = 32.0
"""Bytes."""
ASKED, ASKED_AT = 1, 2
"""Columns behind that of a server: work that others are still to bring, and when it was brought up to date."""
OUT_OF_STEP = 0.05
"""Cycles by which SMs get out of step, for each cycle of the launch, ..."""
MOST_OUT_OF_STEP = 1500.0
"""... and at most.  Both are chosen so that one SM takes the reductions as long as the average SM of an H200 does."""


@jit_inline
def serve(CHIP, server, arrival, cycles):
    """Occupy a server; returns when the transfer is through.

    Several SMs' requests come here in the order in which they were made, not in that of their arrival: what waits long
    to leave its SM must not hold up what others send meanwhile.  So it has the work from C_DUE on at the latest.
    """
    CHIP[server] = max(CHIP[server], min(CHIP[L.C_DUE], arrival)) + cycles
    return max(CHIP[server], arrival + cycles)


@jit_inline
def serve_others(server, arrival, cycles, t):
    """As serve, where SMs that are not simulated bring as much, but not when the simulated ones do.

    SMs begin in step, and are the more out of step the longer a launch takes.  So what the simulated ones bring at
    once the server gets from all of them over some time, by an exponential law: a burst does not wait for itself.  As
    the time grows, so does what is still to come, at the same rate: what comes later would be lost else.
    """
    CHIP = t.CHIP
    if t.CONFIG[L.G_SMS] == t.CONFIG[L.G_CHIP]:
        return serve(CHIP, server, arrival, cycles)
    since = max(arrival - CHIP[server + ASKED_AT], 0.0)
    apart = min(OUT_OF_STEP * max(CHIP[server + ASKED_AT], 1.0), MOST_OUT_OF_STEP)
    due = CHIP[server + ASKED] * (1.0 - np.exp(-since / apart))
    CHIP[server + ASKED_AT] += since
    later = min(OUT_OF_STEP * max(CHIP[server + ASKED_AT], 1.0), MOST_OUT_OF_STEP)
    CHIP[server + ASKED] = (CHIP[server + ASKED] - due) * later / apart + cycles
    CHIP[server] = max(CHIP[server], min(CHIP[L.C_DUE], arrival) - since) + due
    return max(CHIP[server], arrival) + cycles
