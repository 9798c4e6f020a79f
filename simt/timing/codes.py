"""Units, pipes and reasons as the integers that compiled code compares."""

from __future__ import annotations

from simt.metrics.stalls import Reason
from simt.timing.classes import NUMBER, PIPES, Unit

FIXED = int(Unit.FIXED)
QUEUED = int(Unit.QUEUED)
SHARED = int(Unit.SHARED)
GLOBAL = int(Unit.GLOBAL)
BARRIER = int(Unit.BARRIER)
EXIT = int(Unit.EXIT)
FENCE = int(Unit.FENCE)
LSU = PIPES.index("lsu")
SREG = PIPES.index("sreg")
CONST = PIPES.index("const")
LDC = NUMBER["const"]
TEX = PIPES.index("tex")
UNIFORM = PIPES.index("uniform")
FMA = PIPES.index("fma")
FMA_LIGHT = PIPES.index("fma_light")
FMA_HEAVY = PIPES.index("fma_heavy")
FMA_BOTH = PIPES.index("fma_both")

SELECTED = int(Reason.SELECTED)
NOT_SELECTED = int(Reason.NOT_SELECTED)
WAIT = int(Reason.WAIT)
LONG = int(Reason.LONG_SCOREBOARD)
SHORT = int(Reason.SHORT_SCOREBOARD)
STALLED_BARRIER = int(Reason.BARRIER)
BRANCHING = int(Reason.BRANCH_RESOLVING)
MIO = int(Reason.MIO_THROTTLE)
LG = int(Reason.LG_THROTTLE)
FETCHING = int(Reason.NO_INSTRUCTION)
MEMBAR = int(Reason.MEMBAR)
DRAIN = int(Reason.DRAIN)
IMC_MISS = int(Reason.IMC_MISS)
