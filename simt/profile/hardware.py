"""Counters of the hardware under the names of the simulator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from simt.metrics.formula import Number
from simt.metrics.table import METRICS
from simt.metrics.timing import TIMING
from simt.profile.ncu_pages import Report
from simt.program import WARP_SIZE

_TOTALS = {
    "inst_executed": ("smsp__inst_executed.sum", "inst_executed"),
    "thread_inst_executed": ("thread_inst_executed",),
    "pred_on_thread_inst_executed": ("thread_inst_executed_true",),
}
"""Counters whose name at ncu no metric of the simulator gives alone; the page ``details`` has another than others."""

COLUMNS = {
    "inst_executed": "Instructions Executed",
    "thread_inst_executed": "Thread Instructions Executed",
    "pred_on_thread_inst_executed": "Predicated-On Thread Instructions Executed",
    "divergent_branches": "Divergent Branches",
    "global_sectors": "L2 Theoretical Sectors Global",
    "global_sectors_ideal": "L2 Theoretical Sectors Global Ideal",
}
"""Counters per instruction: ncu's column of the source page."""


def _counter_names() -> dict[str, str]:
    """Counter to ncu's name, for every metric that is nothing but a counter."""
    names: dict[str, str] = {}
    for metric in METRICS.values():
        if metric.ncu and metric.group != TIMING and str(metric.formula) in metric.formula.names:
            names.setdefault(str(metric.formula), metric.ncu[0])
    return names


@dataclass(frozen=True)
class HardwareLine:
    """One SASS instruction as the hardware counted it; the same fields as simt's LineProfile, where measured.

    ``counters`` has ``inst_executed``, ``thread_inst_executed``, ``pred_on_thread_inst_executed``,
    ``divergent_branches``, ``global_sectors`` and ``global_sectors_ideal``.  ``source`` is (file, line).
    """

    text: str
    offset: int
    source: tuple[str, int] | None
    counters: Mapping[str, int]

    @property
    def number(self) -> int:
        """The byte offset, as in the simulator's machine view."""
        return self.offset

    def to_dict(self) -> dict[str, Any]:
        """For JSON; counters that are zero are left out."""
        entry: dict[str, Any] = {"offset": self.offset, "text": self.text}
        if self.source is not None:
            entry["source"] = list(self.source)
        entry["counters"] = {name: value for name, value in self.counters.items() if value}
        return entry


class HardwareMetrics(Mapping[str, "Number | None"]):
    """Metrics by nvprof or ncu name: what ncu says, else the simulator's formula over the hardware's counters.

    Iterates over the metrics that have a value.  ``None`` where nothing was measured; an unknown name raises the
    simulator's UnknownMetricError (a ``KeyError``).
    """

    def __init__(self, measured: Mapping[str, float], counters: Mapping[str, Number]) -> None:
        self._measured = measured
        self._counters = counters

    def __getitem__(self, name: str) -> Number | None:
        metric = METRICS[name]
        for known in metric.ncu:
            value = _sum(self._measured, known)
            if value is not None:
                return value
        # Nsight Compute's instruction counts contain the replays that the simulator counts apart.
        return metric.value({"replays": 0, **self._counters})

    def __iter__(self) -> Iterator[str]:
        return (name for name in METRICS if self[name] is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _sum(measured: Mapping[str, float], name: str) -> Number | None:
    """ncu's value of *name*, which may be a sum of two metrics; whole numbers as int."""
    parts = [measured.get(part) for part in name.split(" + ")]
    if any(part is None for part in parts):
        return None
    total = math.fsum(part for part in parts if part is not None)
    return int(total) if total.is_integer() else total


def counters_of(metrics: Mapping[str, float], grid: tuple[int, ...], block: tuple[int, ...]) -> dict[str, int]:
    """Totals under the simulator's names, those that the hardware has."""
    found: dict[str, int] = {}
    for name, known in _counter_names().items():
        value = _sum(metrics, known)
        if value is not None:
            found[name] = int(value)
    for name, names in _TOTALS.items():
        values = [int(metrics[known]) for known in names if known in metrics]
        if values:
            found[name] = values[0]
    blocks = math.prod(grid)
    found["warps_launched"] = blocks * -(-math.prod(block) // WARP_SIZE)
    found["blocks_launched"] = blocks
    return found


def lines_of(report: Report) -> tuple[HardwareLine, ...]:
    """One entry per SASS instruction, in address order."""
    return tuple(
        HardwareLine(
            row.text,
            row.offset,
            row.source,
            MappingProxyType({name: row.values.get(column, 0) for name, column in COLUMNS.items()}),
        )
        for row in report.instructions
    )
