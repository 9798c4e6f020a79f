"""Servers with a bandwidth: the time at which each is free."""

from __future__ import annotations

from simt.timing import layout as L
from simt.timing.jit import jit_inline

SECTOR = 32.0
"""Bytes."""


@jit_inline
def serve(CHIP, server, arrival, cycles):
    """Occupy a server; returns when the transfer is through.

    Several SMs' requests come here in the order in which they were made, not in that of their arrival: what waits long
    to leave its SM must not hold up what others send meanwhile.  So it has the work from C_DUE on at the latest.
    """
    CHIP[server] = max(CHIP[server], min(CHIP[L.C_DUE], arrival)) + cycles
    return max(CHIP[server], arrival + cycles)
