"""Steps (one per executed source line, set of lanes and pass) and passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from simt.program import WARP_SIZE, ListingLine, Program
from simt.trace.values import Value

ACTIVE = "active"
LANE_STATES = (ACTIVE, "other_path", "predicated_off", "exited", "no_thread")
"""What a lane can be doing while its warp executes a step."""


@dataclass(frozen=True)
class Step:
    """Consecutive micro-ops of one line, executed by the same lanes in the same pass.

    Masks: bit *l* is lane *l*.  ``active`` are the lanes of the split that runs, ``executed`` those of them
    whose predicate is true.  ``pass_number`` is 0 while all lanes that have not exited run together; while
    the warp is diverged its stretches are numbered 1, 2, ...  ``values`` gives, per variable that the step
    assigns, the 32 lanes (those outside of ``executed`` hold what they held before).  ``divergent``: a branch
    of this step sent its lanes more than one way.  ``ends_kernel``: it is nothing but the exit after the last
    line.
    """

    line: int
    entry: ListingLine
    pass_number: int
    stretch: int
    active: int
    executed: int
    exited: int
    absent: int
    instructions: int
    divergent: bool
    ends_kernel: bool
    values: Mapping[str, list[Value]]

    def position(self, in_source: bool) -> str:
        """Number of its source line, or offset of its instruction."""
        return str(self.entry.number) if in_source else f"{self.entry.number:#06x}"

    def is_end(self, in_source: bool) -> bool:
        """Whether it has no code to show: the end of the source is no line of it."""
        return in_source and self.ends_kernel

    def code(self, in_source: bool) -> str:
        """Its line, or what stands in its place."""
        return "(end of the kernel)" if self.is_end(in_source) else self.entry.text.rstrip()

    def lane_states(self) -> list[str]:
        """The state of each lane, of :data:`LANE_STATES`."""
        states = []
        for lane in range(WARP_SIZE):
            bit = 1 << lane
            if self.executed & bit:
                states.append(ACTIVE)
            elif self.active & bit:
                states.append("predicated_off")
            elif self.absent & bit:
                states.append("no_thread")
            else:
                states.append("exited" if self.exited & bit else "other_path")
        return states

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        states = self.lane_states()
        return {
            "line": self.entry.number,
            "source": list(self.entry.source) if self.entry.source else None,
            "text": self.entry.text,
            "file": self.entry.file,
            "function": self.entry.function,
            "pass": self.pass_number,
            "active_mask": self.active,
            "exec_mask": self.executed,
            "lanes": states,
            "active_lanes": self.active.bit_count(),
            "idle_lanes": {state: states.count(state) for state in LANE_STATES if state != ACTIVE},
            "instructions": self.instructions,
            "divergent": self.divergent,
            "ends_kernel": self.ends_kernel,
            "values": {name: list(lanes) for name, lanes in self.values.items()},
        }


@dataclass(frozen=True)
class Pass:
    """A stretch that one set of lanes runs without interruption; ``number`` as in :class:`Step`."""

    number: int
    active: int
    steps: tuple[Step, ...]

    @property
    def lanes(self) -> int:
        """Number of active lanes."""
        return self.active.bit_count()

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the steps."""
        return {
            "pass": self.number,
            "active_mask": self.active,
            "active_lanes": self.lanes,
            "lines": list(dict.fromkeys(step.entry.number for step in self.steps)),
        }


class Stepped(Protocol):
    """What is drawn of a :class:`~simt.trace.Trace`."""

    program: Program

    def walk(self, block: int = 0, warp: int = 0) -> Iterator[Step]:
        """The steps of one warp in order of execution."""

    def step_count(self, block: int = 0, warp: int = 0) -> int:
        """How many that are."""
