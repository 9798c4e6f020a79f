"""The parts of a comparison of two profiles: sides, lines and metrics beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

from simt.metrics.formula import Number
from simt.metrics.table import SOURCE

COMPARED = (
    "inst_executed",
    "thread_inst_executed",
    "pred_on_thread_inst_executed",
    "divergent_branches",
    "global_sectors",
    "global_sectors_ideal",
)
"""The counters of a line that are compared: those that the simulator and the hardware's profiler both have."""

By = Literal["listing", "line", "opcode"]
"""What stands beside each other: rows of the listings in their order, sums by source line, or sums by opcode."""
WAYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True)
class Line:
    """A line of one side: of its listing, or the sums of a source line or of an opcode."""

    position: str
    text: str
    counters: Mapping[str, int]
    source: tuple[str, int] | None = None
    stalls: Mapping[str, int] = field(default_factory=dict)
    file: str = ""
    function: str = ""
    accesses: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"position": self.position, "text": self.text, "counters": compared(self)}


MEASURED = "measured on "
"""How the origin of a profile of the hardware begins."""


@dataclass(frozen=True)
class Side:
    """One of the two profiles."""

    kernel: str
    view: str
    origin: str
    """Who counted: the toolchain of the code that was simulated, or the device and its profiler."""
    grid: tuple[int, ...]
    block: tuple[int, ...]
    metrics: Mapping[str, Number | None]
    lines: tuple[Line, ...]
    counters: Mapping[str, int] = field(default_factory=dict)
    """Totals; empty where the profile has none."""
    file: str = ""
    """Where the code is from: the Python file, or the cubin."""
    sources: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Texts of source lines that came with the profile."""

    @property
    def is_measured(self) -> bool:
        """Whether hardware counted."""
        return self.origin.startswith(MEASURED)

    @property
    def is_source(self) -> bool:
        """Whether its instructions are operations of the Python source."""
        return self.view == SOURCE

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kernel": self.kernel,
            "view": self.view,
            "origin": self.origin,
            "grid": list(self.grid),
            "block": list(self.block),
        }


@dataclass(frozen=True)
class MetricRow:
    """A metric of both sides; not ``comparable`` where the views count different things under its name."""

    metric: str
    unit: str
    a: Number | None
    b: Number | None
    comparable: bool

    @property
    def ratio(self) -> float | None:
        """b / a; None where one has no value, a is zero, or the two cannot be compared."""
        return self.b / self.a if self.comparable and self.a and self.b is not None else None

    @property
    def equal(self) -> bool:
        """Whether both have the same value; profilers print ratios rounded to about six digits."""
        if self.a is None or self.b is None:
            return self.a is self.b
        if isinstance(self.a, int) and isinstance(self.b, int):
            return self.a == self.b
        return abs(self.a - self.b) <= 1e-5 * abs(self.b)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.metric,
            "unit": self.unit,
            "a": self.a,
            "b": self.b,
            "ratio": self.ratio,
            "comparable": self.comparable,
        }


@dataclass(frozen=True)
class LineRow:
    """Two lines that belong together; None where one side has nothing like it."""

    a: Line | None
    b: Line | None

    @cached_property
    def differing(self) -> tuple[str, ...]:
        """The counters of :data:`COMPARED` that differ; a missing line counts zero."""
        ours, theirs = compared(self.a), compared(self.b)
        return tuple(name for name in COMPARED if ours[name] != theirs[name])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "a": self.a and self.a.to_dict(),
            "b": self.b and self.b.to_dict(),
            "differing": list(self.differing),
        }


def compared(line: Line | None) -> dict[str, int]:
    return {name: line.counters.get(name, 0) if line else 0 for name in COMPARED}


class Compared(Protocol):
    """What is drawn of a :class:`~simt.profile.compare.Difference`."""

    @property
    def a(self) -> Side:
        """One side."""

    @property
    def b(self) -> Side:
        """The other side."""

    @property
    def by(self) -> By:
        """What stands beside what."""

    @property
    def metrics(self) -> tuple[MetricRow, ...]:
        """The metrics of both."""

    @property
    def lines(self) -> tuple[LineRow, ...]:
        """The lines of both."""

    @property
    def differing(self) -> tuple[LineRow, ...]:
        """The rows in which some counter differs."""

    @property
    def same_counts(self) -> bool:
        """Whether the instruction counts of both sides count the same thing."""

    @property
    def equal(self) -> bool:
        """Whether every counter of every line is the same on both sides."""
