"""Servers with a bandwidth: the time at which each is free."""

from __future__ import annotations

from simt.timing.jit import jit_inline

SECTOR = 32.0
"""Bytes."""


@jit_inline
def serve(CHIP, server, arrival, cycles):
    """Occupy a server; returns when the transfer is through."""
    CHIP[server] = max(CHIP[server], arrival) + cycles
    return CHIP[server]
