"""What an instruction asks of the scheduler that selects it: which gate lets it pass, and when.

A gate of a scheduler lets instructions pass from some cycle on (``Clock.GATES``, int64[schedulers * N_GATE]): the pipes
by their numbers, the queue before each of them, and others.
"""

from __future__ import annotations

from simt.metrics.stalls import Reason
from simt.timing.classes import PIPES, Unit

LSU = PIPES.index("lsu")
QUEUE = len(PIPES)
LSU_GATE = QUEUE + LSU  # of this and the next GATES knows nothing: they are the SM's
BARRIER_GATE = 2 * QUEUE
OPEN_GATE = BARRIER_GATE + 1  # never closed
STORE_GATE = OPEN_GATE + 1  # the load/store unit's for stores to memory that is not shared, and atomics there
N_GATE = STORE_GATE + 1

BYTE, REASON = 0xFF, 8
"""Of what is asked: the gate, in the bits of a byte; from bit REASON on, in as many, why a warp waits at it; flags."""
TO_GLOBAL = 1 << 16  # it goes to the load/store unit for memory that is not shared
KEEPS = 1 << 17  # the scheduler stays with the warp if it issued last

GROUP = 32
"""Warps of a scheduler that are looked at together: mostly all of them."""
IS_AHEAD, IS_KEYED, IS_STALLED, IS_BUSY = range(N_GATE, N_GATE + 4)
N_STANDING = IS_BUSY + 1
"""Masks of a group of warps (``Clock.STANDING``): who stands at each gate, who goes before all others, who by its key.

Those that do not go by their key go in turn, before those that do.  IS_STALLED: all that wait for a fixed number of
cycles (W_FIXED), and some that did.  IS_BUSY: those whose pipe was busy when the group was last looked at.
"""


def asks(unit: Unit, pipe: int) -> int:
    """What an instruction asks; whether the scheduler stays with its warp depends on the one before it, too."""
    if unit is Unit.FIXED:
        return pipe | Reason.MATH_PIPE_THROTTLE << REASON
    if unit in (Unit.QUEUED, Unit.SHARED, Unit.GLOBAL, Unit.FENCE):
        return (QUEUE + pipe) | Reason.MIO_THROTTLE << REASON | (unit is Unit.GLOBAL and TO_GLOBAL)
    if unit is Unit.BARRIER:
        return BARRIER_GATE | Reason.BARRIER << REASON
    return OPEN_GATE
