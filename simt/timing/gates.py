"""What an instruction asks of the scheduler that selects it: which gate lets it pass, and when.

A gate of a scheduler lets instructions pass from some cycle on (``Clock.GATES``, int64[schedulers * N_GATE]): the pipes
by their numbers, the queue before each of them, and others.
"""

from __future__ import annotations

from simt.metrics.stalls import Reason
from simt.timing.classes import PIPES, Unit

LSU = PIPES.index("lsu")
QUEUE = len(PIPES)
LSU_GATE = QUEUE + LSU  # this and the next: as of the scheduler's last look
BARRIER_GATE = 2 * QUEUE
OPEN_GATE = BARRIER_GATE + 1  # never closed
N_GATE = OPEN_GATE + 1

BYTE, REASON = 0xFF, 8
"""Of what is asked: the gate, in the bits of a byte; from bit REASON on, in as many, why a warp waits at it; flags."""
QUEUES = 1 << 16  # it goes through the queue of memory input/output
TO_LSU = 1 << 17  # ... to the load/store unit
TO_GLOBAL = 1 << 18  # ... for memory that is not shared
KEEPS = 1 << 19  # the scheduler stays with the warp if it issued last


def asks(unit: Unit, pipe: int) -> int:
    """What an instruction asks; whether the scheduler stays with its warp depends on the one before it, too."""
    if unit is Unit.FIXED:
        return pipe | Reason.MATH_PIPE_THROTTLE << REASON
    if unit in (Unit.QUEUED, Unit.SHARED, Unit.GLOBAL, Unit.FENCE):
        flags = QUEUES | (pipe == LSU and TO_LSU) | (unit is Unit.GLOBAL and TO_GLOBAL)
        return (QUEUE + pipe) | Reason.MIO_THROTTLE << REASON | flags
    if unit is Unit.BARRIER:
        return BARRIER_GATE | Reason.BARRIER << REASON
    return OPEN_GATE
