"""Time of a launch, shared out among lines by what their warps waited for."""

from __future__ import annotations

from fractions import Fraction

from simt.metrics.formula import Formula
from simt.metrics.linear import ratio_of
from simt.metrics.stalls import STATES
from simt.metrics.table import METRICS
from simt.reasons.causes import STALLED
from simt.reasons.subject import Subject
from simt.reasons.terms import Recipe, Shares

METRIC_NAMES = ("cycles", "duration")
OVERHEAD = "launch overhead"

_WARP_CYCLES = Formula(" + ".join(STALLED + state.name for state in STATES.values()))


def shares_of(name: str, subject: Subject) -> Shares | None:
    """Cycles (or nanoseconds) in proportion to the warp-cycles of every line and reason; None without timing.

    What driver and front end need is a part of its own.
    """
    timing = None if subject.profile is None else subject.profile.timing
    value = subject.side.metrics.get(name)
    if timing is None or value is None or not timing.stalls.any():
        return None
    whole = Fraction(value)
    overhead = whole * Fraction(timing.numbers["launch_overhead"]) / Fraction(timing.cycles)
    ratio = ratio_of(_WARP_CYCLES)
    recipe = Recipe(METRICS[name], ratio, ratio.numerator, Fraction(0), Fraction(0))
    below = int(timing.stalls.sum()) / (whole - overhead)
    return Shares(recipe, subject, below, ((OVERHEAD, overhead),) if overhead else ())
