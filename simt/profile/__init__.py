"""From counts to what a reader sees: metrics, the profile of a launch, the annotated listing."""

from simt.profile.compare import Difference, UnusableProfileError, compare
from simt.profile.counters import COUNTER_NAMES, IDLE_CAUSES
from simt.profile.metrics import METRICS, Metric, UnknownMetricError
from simt.profile.profile import LineProfile, MetricValues, Profile
from simt.profile.timing import STALLS, TIMING

__all__ = [
    "COUNTER_NAMES",
    "IDLE_CAUSES",
    "METRICS",
    "STALLS",
    "TIMING",
    "Difference",
    "LineProfile",
    "Metric",
    "MetricValues",
    "Profile",
    "UnknownMetricError",
    "UnusableProfileError",
    "compare",
]
