"""Profile: what a launch counted, as totals, as metrics, and beside each line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.devices import Gpu, Occupancy, default_for, occupancy
from simt.devices import get as get_device
from simt.metrics.formula import Number
from simt.metrics.stalls import STALLS
from simt.metrics.table import MACHINE, METRICS, SOURCE, Metric, UnknownMetricError
from simt.metrics.timing import TIMING, TIMING_INPUTS
from simt.profile.annotate import annotate
from simt.profile.counters import as_mapping, idle_of, line_table
from simt.profile.html import to_html
from simt.profile.lines import LaunchShape, LineProfile
from simt.profile.summary import summary
from simt.text import to_text
from simt.trace import Trace

if TYPE_CHECKING:
    from simt.check import Finding
    from simt.machine.result import RunResult
    from simt.program import Program
    from simt.timing import Timeline, TimingResult


class MetricValues(Mapping[str, Number | None]):
    """Metrics of a launch by nvprof or ncu name; ``None`` where a metric is not defined (nothing to divide
    by).

    Iterates over nvprof's names (simt's own where nvprof has none) of the metrics that the view knows; those of
    the group ``timing`` belong to timed launches only.  An unknown name raises
    :class:`~simt.metrics.table.UnknownMetricError`, a ``KeyError`` that names close matches.
    """

    def __init__(self, inputs: Mapping[str, Number], view_kind: str) -> None:
        self._inputs = inputs
        timed = inputs.keys() >= set(TIMING_INPUTS)
        self._metrics = {
            name: metric
            for name, metric in METRICS.items()
            if view_kind in metric.views and (timed or metric.group != TIMING)
        }
        self._view_kind = view_kind

    def metric(self, name: str) -> Metric:
        """The declaration: unit, formula, explanation."""
        metric = METRICS[name]
        if metric.name not in self._metrics:
            if metric.group == TIMING:
                raise UnknownMetricError(name, (), "metric without timing called", "launch with timing=True")
            raise UnknownMetricError(name, self._metrics, f"metric of the {self._view_kind} view called")
        return metric

    def __getitem__(self, name: str) -> Number | None:
        return self.metric(name).value(self._inputs)

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    def __contains__(self, name: object) -> bool:
        return name in METRICS and METRICS[str(name)].name in self._metrics

    def __repr__(self) -> str:
        return repr(dict(self))


class Profile:
    """What one launch (or, after :meth:`merge`, several) executed and counted.

    ``device`` (a key of :func:`simt.devices.names`) is the GPU of the occupancy and the timing; by default one
    that runs the program's architecture, else an H200.  The counts do not depend on it.  ``timing`` is what the
    cycle-level model says, None for a launch without it.  ``notes`` are sentences about the launch that a reader should
    know before the figures.
    """

    def __init__(
        self,
        program: Program,
        result: RunResult,
        *,
        device: str | None = None,
        timing: TimingResult | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.program = program
        self.result = result
        self.notes = tuple(dict.fromkeys([*notes, *filter(None, [self.in_part])]))
        self.timing = timing
        self.device: Gpu = get_device(device) if device else default_for(program.view)
        self.launches: tuple[LaunchShape, ...] = (LaunchShape(result.grid, result.block),)
        self.launched: tuple[Profile, ...] = ()
        """The grids that the kernel, and those that it launched, launched on the device, in the order they ran."""

    @property
    def in_part(self) -> str:
        """That only some of the blocks were executed, in words; nothing if all were."""
        if self.result.executed is None:
            return ""
        of = f"{self.result.executed:,} of {self.result.blocks:,} blocks"
        return f"predicted from {of}, the counts of which are scaled: the others were not executed"

    @property
    def kernel(self) -> str:
        """Name of the kernel."""
        return self.program.name

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the checks of the launch found, each place once (``keep_going``: else the first one was raised)."""
        return tuple(self.result.findings)

    @property
    def view(self) -> str:
        """``"source"``, or the architecture whose machine code was executed (``"sm_90"``)."""
        return self.program.view

    @property
    def view_kind(self) -> str:
        """``"source"`` or ``"machine"``."""
        return SOURCE if self.view == SOURCE else MACHINE

    @property
    def view_text(self) -> str:
        """What the counts count, in words; names the compiler of machine code."""
        if self.view == SOURCE:
            return "source view: operations of the Python source"
        compiler = f", {self.program.toolchain}" if self.program.toolchain else ""
        return f"machine view: {self.view} instructions{compiler}"

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks in x, y, z (of the first launch)."""
        return self.launches[0].grid

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block in x, y, z."""
        return self.launches[0].block

    @property
    def seconds(self) -> float:
        """Time that the simulation took on this machine; says nothing about a GPU."""
        return self.result.seconds

    @cached_property
    def _table(self) -> np.ndarray:
        return line_table(self.program, self.result.counters)

    @cached_property
    def counters(self) -> dict[str, int]:
        """Totals of the launch, by the names of :data:`simt.profile.counters.COUNTER_NAMES`.

        ``warps_launched`` and ``blocks_launched`` as well.
        """
        return {
            **as_mapping(self._table.sum(axis=0)),
            "warps_launched": sum(launch.warps for launch in self.launches),
            "blocks_launched": sum(launch.blocks for launch in self.launches),
        }

    @cached_property
    def lines(self) -> tuple[LineProfile, ...]:
        """One entry per listing line, in listing order."""
        machine = self.view_kind == MACHINE
        lines = []
        parts = zip(self.program.listing, self._table, self._accesses(), self._stalls(), strict=True)
        for entry, row, accesses, stalls in parts:
            counters = as_mapping(row)
            offset = entry.number if machine else None
            lines.append(
                LineProfile(
                    entry.text, entry.number, offset, entry.file, entry.function, entry.source,
                    counters, idle_of(counters), stalls, accesses,
                )
            )  # fmt: skip
        return tuple(lines)

    def _stalls(self) -> list[dict[str, int]]:
        """Warp-cycles by reason for each listing line; nothing where the launch was not timed."""
        if self.timing is None:
            return [{} for _ in self.program.listing]
        columns = [(reason, self.timing.reasons.index(reason)) for reason in STALLS]
        return [{reason: int(row[k]) for reason, k in columns} for row in self.timing.lines]

    def _accesses(self) -> list[dict[str, int]]:
        """Sectors that each listing line asked the caches for, and found; nothing where the launch was not timed."""
        if self.timing is None:
            return [{} for _ in self.program.listing]
        names = self.timing.ACCESSES
        return [dict(zip(names, map(int, row), strict=True)) if row.any() else {} for row in self.timing.line_accesses]

    @cached_property
    def idle(self) -> dict[str, int]:
        """Idle lane-slots of the launch by cause."""
        return idle_of(self.counters)

    @cached_property
    def occupancy(self) -> Occupancy:
        """How many blocks fit on a multiprocessor of :attr:`device`, and what limits them."""
        return occupancy(self.device, self.result.threads_per_block, self.program.registers, self.result.shared_bytes)

    @cached_property
    def metrics(self) -> MetricValues:
        """Metrics by nvprof or ncu name."""
        inputs: dict[str, Number] = {
            **self.counters,
            "resident_warps": self.occupancy.warps_per_sm,
            "max_warps": self.occupancy.max_warps_per_sm,
            **({} if self.timing is None else self.timing.inputs),
        }
        return MetricValues(inputs, self.view_kind)

    @cached_property
    def trace(self) -> Trace | None:
        """Lane by lane what ran, if the launch was traced."""
        return None if self.result.trace is None else Trace(self.result.trace, self.program)

    def merge(self, *others: Profile) -> Profile:
        """The sum of this and other launches of the same program; traces and times are not kept.

        Raises ``ValueError`` if a program, a block size or a device differs.
        """
        profiles = (self, *others)
        for other in others:
            same = (
                other.view == self.view
                and other.program.listing == self.program.listing
                and other.program.instructions == self.program.instructions
            )
            if not same:
                raise ValueError(f"launches of {self.kernel} and {other.kernel} are not of the same program")
            if other.block != self.block or other.device != self.device:
                raise ValueError(f"launches of {self.kernel} differ in block size or device")
        results = [profile.result for profile in profiles]
        total = replace(
            self.result,
            counters=np.sum([result.counters for result in results], axis=0),
            seconds=sum(result.seconds for result in results),
            executed=None,
            trace=None,
            findings=tuple(finding for result in results for finding in result.findings),
        )
        notes = dict.fromkeys(note for profile in profiles for note in profile.notes)
        merged = Profile(self.program, total, device=self.device.key, notes=tuple(notes))
        merged.launches = tuple(shape for profile in profiles for shape in profile.launches)
        return merged

    def to_dict(self) -> dict[str, Any]:
        """Everything but the trace, as plain dicts, lists, numbers and texts."""
        return {
            "kernel": self.kernel,
            "view": self.view,
            "toolchain": self.program.toolchain,
            "device": self.device.key,
            "grid": list(self.grid),
            "block": list(self.block),
            "launches": [{"grid": list(each.grid), "block": list(each.block)} for each in self.launches],
            "notes": list(self.notes),
            "findings": [finding.to_dict() for finding in self.findings],
            "seconds": self.seconds,
            "executed_blocks": self.result.executed or self.counters["blocks_launched"],
            "counters": self.counters,
            "metrics": dict(self.metrics),
            "idle_lane_slots": self.idle,
            "timing": None if self.timing is None else self.timing.about,
            "lines": [line.to_dict() for line in self.lines],
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def annotate(
        self,
        columns: Sequence[str] | None = None,
        *,
        fold: bool | None = None,
        width: int | None = None,
        color: bool | None = None,
    ) -> str:
        """The listing beside its counts, the costliest lines marked ``>``: those that execute most instructions, in
        a timed launch those that warps wait for longest.

        Machine code that knows its source lines is folded: every source line with the sums of its
        instructions, and those below it; ``fold=False`` lists the instructions in address order instead.

        ``columns`` are counter names, ``"share"`` (of the executed instructions, in %), ``"lanes"`` (active
        lanes of an average instruction), and for a timed launch ``"waited"`` (warp-cycles before the line's
        instructions issued, of the simulated SMs), ``"for"`` (their main reason) and
        :data:`simt.profile.STALLS` by name; by default those that say something about this launch.  ``width``:
        columns to fit into, as far as code can be cut off; None: as wide as it is.  ``color``: ANSI colours; by
        default only if standard output is a terminal and NO_COLOR is not set.
        """
        return to_text(annotate(self, columns, fold, width), color)

    def timeline(self, sm: int = 0, width: int = 100) -> Timeline:
        """What each warp of a simulated SM did cycle by cycle, in the window of the launch: *width* cycles of it.

        Print it, or look at it in a notebook.  Raises ``ValueError`` for a launch that recorded none.
        """
        if self.timing is None or not len(self.timing.events):
            raise ValueError("no cycles were recorded; launch with timing=True and window=(first, one past the last)")
        from simt.timing import Timeline

        return Timeline(self.timing, sm, width)

    def report(self, path: str | Path, other: Any = None, **options: Any) -> Path:
        """Write one self-contained HTML page: source and code beside counts and stalls, the trace to step through,
        memory accesses, charts, timeline, and why the metrics are what they are.

        *other*: a second profile (or what one saved), side by side with this one.  *options* are those of
        :func:`simt.page.write_page`, which says what can go wrong.  Needs the extra ``report``.  Returns the path.
        """
        write: Callable[..., Path] = import_module("simt.page").write_page  # by name: it is a layer above profiles
        return write(path, self, other, **options)

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return f"<Profile of {self.kernel}, {self.view_text}, grid {self.grid}, block {self.block}>"

    def _repr_html_(self) -> str:
        return to_html(self)
