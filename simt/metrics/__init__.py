"""What can be counted and timed, each declared once: formulas, the table of metrics, the reasons to wait."""

from collections.abc import Iterable

from simt.metrics.formula import Formula, Number
from simt.metrics.stalls import STALLS, Reason, Stall, main_stall
from simt.metrics.table import MACHINE, METRICS, SOURCE, Metric, MetricTable, UnknownMetricError, declare
from simt.metrics.timing import TIMING, TIMING_INPUTS

__all__ = [
    "MACHINE",
    "METRICS",
    "SOURCE",
    "STALLS",
    "TIMING",
    "TIMING_INPUTS",
    "Formula",
    "Metric",
    "MetricTable",
    "Number",
    "Reason",
    "Stall",
    "UnknownMetricError",
    "declare",
    "main_stall",
    "needs_timing",
]


def needs_timing(names: Iterable[str]) -> bool:
    """Whether one of the metrics is known of timed launches only.  Raises UnknownMetricError for one that is none."""
    return any(METRICS[name].group == TIMING for name in names)
