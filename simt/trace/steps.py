"""From trace records (one per micro-op) to steps (one per executed source line, set of lanes and pass)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.ops.table import MICRO_OPS
from simt.program import FULL_MASK, WARP_SIZE, ListingLine
from simt.trace.replay import BRANCHES, replay_counters
from simt.trace.values import Value, decode, lane_bits

if TYPE_CHECKING:
    import numpy.typing as npt

    from simt.machine.result import TraceRecords
    from simt.program import Program

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


class Trace:
    """What the traced warps of a launch did.  ``records`` are the machine's, one row per retired micro-op."""

    def __init__(self, records: TraceRecords, program: Program) -> None:
        self.records = records
        self.program = program
        self._steps: dict[tuple[int, int], tuple[Step, ...]] = {}

    def __len__(self) -> int:
        return len(self.records.pc)

    @cached_property
    def warps(self) -> tuple[tuple[int, int], ...]:
        """The traced (block, warp) pairs, in order."""
        pairs = np.unique(np.column_stack([self.records.block, self.records.warp]), axis=0)
        return tuple((int(block), int(warp)) for block, warp in pairs)

    def steps(self, block: int = 0, warp: int = 0) -> tuple[Step, ...]:
        """The steps of one warp in order of execution.  Raises ``LookupError`` if it was not traced."""
        key = (block, warp)
        if key not in self.warps:
            raise LookupError(f"block {block}, warp {warp} was not traced; traced are {self.warps[:8]}")
        if key not in self._steps:
            self._steps[key] = tuple(self._group(*key))
        return self._steps[key]

    def passes(self, block: int = 0, warp: int = 0) -> tuple[Pass, ...]:
        """The stretches of one warp: 24 lanes, then 8, then 32 again for an if/else that splits it so."""
        stretches: dict[int, list[Step]] = {}
        for step in self.steps(block, warp):
            stretches.setdefault(step.stretch, []).append(step)
        return tuple(Pass(group[0].pass_number, group[0].active, tuple(group)) for group in stretches.values())

    def executions(self, number: int, block: int = 0, warp: int = 0) -> tuple[Step, ...]:
        """The steps of one warp at the line with this number: how often, and with which lanes, it ran."""
        return tuple(step for step in self.steps(block, warp) if step.entry.number == number)

    def replay_counters(self) -> npt.NDArray[np.int64]:
        """See :func:`simt.trace.replay.replay_counters`."""
        return replay_counters(self.records, self.program)

    def render(self, block: int = 0, warp: int = 0, *, values: bool = False, color: bool | None = None) -> str:
        """One warp drawn lane by lane; with ``values`` the lanes of each assigned variable too.

        ``color``: ANSI colours; by default only if standard output is a terminal and NO_COLOR is not set.
        """
        from simt.profile.text import to_text
        from simt.trace.render import render

        return to_text(render(self, block, warp, values), color)

    def to_dict(self, block: int = 0, warp: int = 0, *, values: bool = True) -> dict[str, Any]:
        """One warp as plain dicts and lists: its passes and its steps."""
        steps = [step.to_dict() for step in self.steps(block, warp)]
        if not values:
            for step in steps:
                del step["values"]
        return {
            "block_index": block,
            "warp": warp,
            "passes": [each.to_dict() for each in self.passes(block, warp)],
            "steps": steps,
        }

    def __str__(self) -> str:
        warps = f"{len(self.warps)} warp" + ("" if len(self.warps) == 1 else "s")
        return f"trace of {self.program.name}: {len(self)} instructions of {warps}"

    def _group(self, block: int, warp: int) -> Iterator[Step]:
        records = self.records
        rows = np.flatnonzero((records.block == block) & (records.warp == warp))
        lines = np.array([instruction.line for instruction in self.program.instructions], dtype=np.int64)
        keys = np.column_stack(
            [lines[records.pc[rows]], records.split_pass[rows], records.active[rows], records.executed[rows]]
        )
        starts = np.flatnonzero(np.any(np.diff(keys, axis=0), axis=1)) + 1
        bounds = [0, *starts.tolist(), len(rows)]
        numbering = _PassNumbers()
        for start, end in itertools.pairwise(bounds):
            yield self._step(rows[start:end], numbering)

    def _step(self, rows: npt.NDArray[np.int64], numbering: _PassNumbers) -> Step:
        records, first = self.records, int(rows[0])
        active, exited, absent = (int(column[first]) for column in (records.active, records.exited, records.absent))
        pass_number, stretch = numbering.advance(int(records.split_pass[first]), active, exited | absent)
        line = self.program.instructions[int(records.pc[first])].line
        last = len(self.program.instructions) - 1
        return Step(
            line=line,
            entry=self.program.listing[line],
            pass_number=pass_number,
            stretch=stretch,
            active=active,
            executed=int(records.executed[first]),
            exited=exited,
            absent=absent,
            instructions=len(rows),
            divergent=bool((records.diverged[rows] & self._is_branch[records.pc[rows]]).any()),
            ends_kernel=len(rows) == 1 and int(records.pc[first]) == last,
            values=self._values(rows),
        )

    @cached_property
    def _is_branch(self) -> npt.NDArray[np.bool_]:
        """Per micro-op; others note in ``diverged`` that they waited."""
        return np.array([instruction.op in BRANCHES for instruction in self.program.instructions], dtype=bool)

    def _values(self, rows: npt.NDArray[np.int64]) -> dict[str, list[Value]]:
        found = {}
        for row in rows:
            instruction = self.program.instructions[int(self.records.pc[row])]
            if instruction.variable is None:
                continue
            if MICRO_OPS[instruction.op].operands[0] == "p":
                found[instruction.variable] = lane_bits(int(self.records.taken[row]))
            else:
                found[instruction.variable] = decode(self.records.values[row], instruction.dtype)
        return found


class _PassNumbers:
    """Numbers the stretches of a diverged warp from 1, and starts again when its lanes are back together."""

    def __init__(self) -> None:
        self._split_pass: int | None = None
        self._active = 0
        self._number = 0
        self._stretch = 0

    def advance(self, split_pass: int, active: int, gone: int) -> tuple[int, int]:
        """(pass number, running number of the stretch) of the next step; ``gone``: lanes exited or absent."""
        together = active == FULL_MASK & ~gone
        changed = self._split_pass is not None and (split_pass, active) != (self._split_pass, self._active)
        if changed:
            self._stretch += 1
        if together:
            self._number = 0
        elif changed or self._number == 0:
            self._number += 1
        self._split_pass, self._active = split_pass, active
        return self._number, self._stretch
