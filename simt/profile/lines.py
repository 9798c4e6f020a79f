"""The parts of a profile: its lines, its launches, and what its renderings read of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from simt.check import Finding
from simt.devices import Gpu
from simt.metrics.formula import Number
from simt.metrics.stalls import main_stall
from simt.program import WARP_SIZE

if TYPE_CHECKING:
    from simt.timing import TimingResult


class Listed(Protocol):
    """A line of a listing as tables show it: of a :class:`LineProfile`, or of a profile that was saved or recorded."""

    @property
    def position(self) -> str:
        """Number of the source line, or offset of the instruction."""

    @property
    def text(self) -> str:
        """Its code."""

    @property
    def file(self) -> str:
        """The file that the listing is of; empty where unknown."""

    @property
    def function(self) -> str:
        """The function that it belongs to; empty where unknown."""

    @property
    def source(self) -> tuple[str, int] | None:
        """The (file, line) behind a SASS instruction, where known."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Counts by name; a name that is missing counts 0."""

    @property
    def stalls(self) -> Mapping[str, int]:
        """Warp-cycles by reason; empty without timing."""

    @property
    def accesses(self) -> Mapping[str, int]:
        """Sectors that it asked L1 and L2 for, and found there; empty without timing."""


@dataclass(frozen=True)
class LineProfile:
    """One listing line: a Python source line, or one SASS instruction.

    ``number`` is the source line number; for SASS it is the byte ``offset`` of the instruction (``None`` in
    the source view).  ``counters`` are those of :data:`simt.profile.counters.COUNTER_NAMES`, ``idle`` the
    idle lane-slots by cause.  ``source`` is the (file, line) behind a SASS instruction where line information
    exists.  ``stalls`` (timed launches) are the warp-cycles that the simulated SMs' warps waited before they issued
    it, by reason (:data:`simt.profile.STALLS`); ``accesses`` the sectors of global memory that it asked L1 and L2 for
    in the simulated blocks, and those that it found there (``l1_sectors``, ``l1_hits``, ...).
    """

    text: str
    number: int
    offset: int | None
    file: str
    function: str
    source: tuple[str, int] | None
    counters: Mapping[str, int]
    idle: Mapping[str, int]
    stalls: Mapping[str, int] = field(default_factory=dict)
    accesses: Mapping[str, int] = field(default_factory=dict)

    @property
    def position(self) -> str:
        """As listings show it."""
        return str(self.number) if self.offset is None else f"{self.offset:#06x}"

    @property
    def waited(self) -> int:
        """Warp-cycles of all reasons together."""
        return sum(self.stalls.values())

    @property
    def main_stall(self) -> str:
        """What most of them were waited for; empty if nothing was."""
        return main_stall(self.stalls)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; counters that are zero are left out."""
        entry: dict[str, Any] = {"number": self.number, "text": self.text}
        if self.offset is not None:
            entry["offset"] = self.offset
        if self.source is not None:
            entry["source"] = list(self.source)
        entry |= {"file": self.file, "function": self.function}
        entry["counters"] = {name: value for name, value in self.counters.items() if value}
        entry["idle_lane_slots"] = dict(self.idle)
        if self.stalls:
            entry["stalls"] = {reason: cycles for reason, cycles in self.stalls.items() if cycles}
        if self.accesses:
            entry["accesses"] = dict(self.accesses)
        return entry


@dataclass(frozen=True)
class LaunchShape:
    """Grid and block of a launch, (x, y, z) each."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.grid)

    @property
    def warps(self) -> int:
        """Warps of the grid, partial ones included."""
        return self.blocks * -(-math.prod(self.block) // WARP_SIZE)


class Rendered(Protocol):
    """What is drawn of a :class:`~simt.profile.Profile`, which imports the drawings and not the other way round."""

    @property
    def kernel(self) -> str:
        """Name of the kernel."""

    @property
    def view_kind(self) -> str:
        """``"source"`` or ``"machine"``."""

    @property
    def view_text(self) -> str:
        """What the counts count, in words."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks in x, y, z."""

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block in x, y, z."""

    @property
    def launches(self) -> tuple[LaunchShape, ...]:
        """Every launch that is in it."""

    @property
    def lines(self) -> tuple[LineProfile, ...]:
        """One entry per listing line."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Totals by name."""

    @property
    def idle(self) -> Mapping[str, int]:
        """Idle lane-slots by cause."""

    @property
    def metrics(self) -> Mapping[str, Number | None]:
        """Metrics by nvprof or ncu name."""

    @property
    def device(self) -> Gpu:
        """The modelled GPU."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the launch."""

    @property
    def findings(self) -> Sequence[Finding]:
        """What the checks of the launch found."""

    @property
    def timing(self) -> TimingResult | None:
        """What the cycle-level model says."""
