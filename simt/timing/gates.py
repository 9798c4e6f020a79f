"""What an instruction asks of the scheduler that selects it: which gate lets it pass, and when.

A gate of a scheduler lets instructions pass from some cycle on (``Clock.GATES``, int64[schedulers * N_GATE]): the pipes
by their numbers, the queue before each of them, and others.
"""

from __future__ import annotations

from simt.metrics.stalls import Reason
from simt.timing.classes import PIPES, Unit
from simt.timing.layout import AHEAD_UNTIL_YIELD, OLDEST, OLDEST_BLOCK

LSU = PIPES.index("lsu")
QUEUE = len(PIPES)
LSU_GATE = QUEUE + LSU  # of this and the next GATES knows nothing: they are the SM's
BARRIER_GATE = 2 * QUEUE
OPEN_GATE = BARRIER_GATE + 1  # never closed
N_GATE = OPEN_GATE + 1

BYTE, REASON = 0xFF, 8
"""Of what is asked: the gate, in the bits of a byte; from bit REASON on, in as many, why a warp waits at it; flags."""
TO_GLOBAL = 1 << 16  # it goes to the load/store unit for memory that is not shared
KEEPS = 1 << 17  # the scheduler stays with the warp if it issued last
GOES_AHEAD = 1 << 18  # its warp goes before those of which this is not asked
BY_AGE = 1 << 19  # in the order of W_KEY; others go before

GROUP = 32
"""Warps of a scheduler that are looked at together, mostly all of them; and gates."""
PIPE_GATES = (1 << QUEUE) - 1
"""Bits of those of pipes, which are less than a GROUP."""
IS_AHEAD, IS_KEYED, IS_STALLED, IS_BUSY = range(N_GATE, N_GATE + 4)
N_STANDING = IS_BUSY + 1
"""Masks of a group of warps (``Clock.STANDING``): who stands at each gate, who goes before all others, who by its key.

Those that do not go by their key go in turn, before those that do.  IS_STALLED: all that wait for a fixed number of
cycles (W_FIXED), and some that did.  IS_BUSY: those whose pipe was busy when the group was last looked at.
"""


def asks(unit: Unit, pipe: int, loads: bool, policy: int, yielded: bool, *, of_block: bool = False) -> int:
    """What an instruction asks of a scheduler of some policy.

    *yielded*: the warp's instruction before it has; *of_block*: it reads where its block is.
    """
    found = OPEN_GATE
    if unit is Unit.FIXED:
        found = pipe | Reason.MATH_PIPE_THROTTLE << REASON
    elif unit in (Unit.QUEUED, Unit.SHARED, Unit.GLOBAL, Unit.FENCE):
        found = QUEUE + pipe | Reason.MIO_THROTTLE << REASON | (unit is Unit.GLOBAL and TO_GLOBAL)
    elif unit is Unit.BARRIER:
        found = BARRIER_GATE | Reason.BARRIER << REASON
    waits_behind = (loads and unit is Unit.SHARED) or of_block
    ahead = policy == AHEAD_UNTIL_YIELD and not yielded and not waits_behind
    if policy == OLDEST or ahead:
        found |= KEEPS
    if ahead:
        found |= GOES_AHEAD
    by_age = unit is Unit.BARRIER if ahead else loads or unit is not Unit.GLOBAL
    return found | (BY_AGE if policy == OLDEST or (policy >= OLDEST_BLOCK and by_age) else 0)
