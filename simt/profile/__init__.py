"""From counts to what a reader sees: metrics, the profile of a launch, the annotated listing."""

from simt.metrics.stalls import STALLS
from simt.metrics.table import METRICS, Metric, UnknownMetricError
from simt.metrics.timing import TIMING
from simt.profile.activity import Activities, Called, Copied, Launched
from simt.profile.compare import Difference, UnusableProfileError, compare
from simt.profile.counters import COUNTER_NAMES, IDLE_CAUSES
from simt.profile.lines import LineProfile
from simt.profile.profile import MetricValues, Profile

__all__ = [
    "COUNTER_NAMES",
    "IDLE_CAUSES",
    "METRICS",
    "STALLS",
    "TIMING",
    "Activities",
    "Called",
    "Copied",
    "Difference",
    "Launched",
    "LineProfile",
    "Metric",
    "MetricValues",
    "Profile",
    "UnknownMetricError",
    "UnusableProfileError",
    "compare",
]
