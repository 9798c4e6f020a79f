"""The trace of a launch: from records (one per micro-op) to steps, passes, and their drawing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.ops.table import MICRO_OPS
from simt.program import FULL_MASK
from simt.text import to_html, to_svg, to_text
from simt.trace.render import render
from simt.trace.replay import BRANCHES, replay_counters
from simt.trace.steps import Pass, Step
from simt.trace.values import Value, decode, lane_bits

if TYPE_CHECKING:
    import numpy.typing as npt

    from simt.machine.result import TraceRecords
    from simt.program import Program


NOTEBOOK_STEPS = 200
"""Steps that a notebook shows of a trace; ``render()`` has all."""


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
        if key not in self._steps:
            self._steps[key] = tuple(self.walk(block, warp))
        return self._steps[key]

    def walk(self, block: int = 0, warp: int = 0) -> Iterator[Step]:
        """The same one by one, for a warp of which only the first are wanted.  Raises ``LookupError``, too."""
        rows, bounds = self._bounds(block, warp)
        numbering = _PassNumbers()
        for start, end in itertools.pairwise(bounds):
            yield self._step(rows[start:end], numbering)

    def step_count(self, block: int = 0, warp: int = 0) -> int:
        """How many steps a warp has.  Raises ``LookupError`` if it was not traced."""
        return len(self._bounds(block, warp)[1]) - 1

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

    def render(
        self,
        block: int = 0,
        warp: int = 0,
        *,
        values: bool = False,
        width: int | None = None,
        color: bool | None = None,
    ) -> str:
        """One warp drawn lane by lane; with ``values`` the lanes of each assigned variable too.

        ``width``: columns to fit into, as far as lines of code can be cut off; None: as wide as it is.
        ``color``: ANSI colours; by default only if standard output is a terminal and NO_COLOR is not set.
        """
        return to_text(render(self, block, warp, values, width), color)

    def to_svg(self, block: int = 0, warp: int = 0, *, values: bool = False, width: int | None = None) -> str:
        """The same as a picture."""
        return to_svg(render(self, block, warp, values, width), self.program.name)

    def _repr_html_(self) -> str:
        from rich.text import Text

        shown = render(self, *self.warps[0], values=False, most=NOTEBOOK_STEPS) if self.warps else Text(str(self))
        return to_html(shown)

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

    def _bounds(self, block: int, warp: int) -> tuple[npt.NDArray[np.int64], list[int]]:
        """The records of a warp, and where in them steps begin; last the end."""
        records = self.records
        rows = np.flatnonzero((records.block == block) & (records.warp == warp))
        if not len(rows):
            raise LookupError(f"block {block}, warp {warp} was not traced; the trace has {self.warps[:8]}")
        lines = np.array([instruction.line for instruction in self.program.instructions], dtype=np.int64)
        keys = np.column_stack(
            [lines[records.pc[rows]], records.split_pass[rows], records.active[rows], records.executed[rows]]
        )
        starts = np.flatnonzero(np.any(np.diff(keys, axis=0), axis=1)) + 1
        return rows, [0, *starts.tolist(), len(rows)]

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
