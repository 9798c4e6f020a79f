"""The whole family of simt.kernels on the GPU and on the simulator, kernel by kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import simt
from gpu import jobs, profiling
from gpu.accesses import LineAccess
from gpu.comparison import DIFFERENT, Output, Row, compare_outputs, compare_profiles
from gpu.errors import ProfilerError
from gpu.launching import Run, launch
from gpu.profiling import HardwareProfile
from simt import kernels

ROUNDED: dict[str, dict[int, float]] = {"picture_guard": {1: 1.0}}
"""Arguments that hold integers cut from floats: the compiler contracts 0.21 r + 0.71 g + 0.07 b to fused
multiply-adds, so a gray that is a whole number up to rounding may come out one less or more."""

REPEATS = 20
"""Timed runs per kernel."""


@dataclass(frozen=True)
class Options:
    """What to run.  ``size`` (elements) and ``block`` concern reductions; divergence kernels have their own."""

    size: int = 2**20
    block: int = 512
    dtype: str = "int32"
    op: str = "sum"
    seed: int = 0
    view: str = "source"
    device: int = 0
    counters: bool = True


@dataclass(frozen=True)
class Result:
    """One kernel on both sides.

    ``total`` (GPU), ``simulated`` (simulator) and ``expected`` (NumPy) are the reduction's result, None for the
    divergence kernels; ``outputs`` and ``rows`` compare arrays and metrics, ``accesses`` are those of a
    :class:`~gpu.comparison.Comparison`.
    """

    kernel: str
    run: Run
    outputs: tuple[Output, ...]
    rows: tuple[Row, ...]
    accesses: tuple[LineAccess, ...] = ()
    total: Any = None
    simulated: Any = None
    expected: Any = None
    correct: bool = True

    @property
    def agrees(self) -> bool:
        """Whether the result is NumPy's and nothing that can agree differs."""
        verdicts = [output.verdict for output in self.outputs] + [row.verdict for row in self.rows]
        return self.correct and DIFFERENT not in verdicts

    def row(self, metric: str) -> Row | None:
        """The row of a metric, if both sides have it."""
        return next((row for row in self.rows if row.metric == metric), None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kernel": self.kernel,
            "group": kernels.get(self.kernel).group,
            "grid": list(self.run.grid),
            "block": list(self.run.block),
            "milliseconds": self.run.milliseconds,
            "registers": self.run.registers,
            "sum": _plain(self.total),
            "simulated": _plain(self.simulated),
            "expected": _plain(self.expected),
            "correct": self.correct,
            "agrees": self.agrees,
            "outputs": [output.to_dict() for output in self.outputs],
            "metrics": [row.to_dict() for row in self.rows],
            "accesses": [line.to_dict() for line in self.accesses],
        }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def names(op: str) -> list[str]:
    """Every kernel that can be checked: the reductions that can do *op*, and the divergence kernels."""
    reductions = [name for name in kernels.names("reduction") if op in kernels.get_reduction(name).ops]
    return reductions + kernels.names("divergence")


def check(chosen: Sequence[str], options: Options, note: Callable[[str], None]) -> Iterator[Result]:
    """Run the kernels *chosen* on both sides; *note* is told why there are no counters, if there are none.

    Raises as :func:`gpu.launch` and :func:`simt.launch`.
    """
    plans = [_plan(name, options) for name in chosen]
    profiles = _profiles(plans, options, note)
    for name, plan, hardware in zip(chosen, plans, profiles, strict=True):
        yield _check(name, plan, hardware, options)


def _plan(name: str, options: Options) -> kernels.LaunchPlan:
    entry = kernels.get(name)
    if isinstance(entry, kernels.ReductionKernel):
        return entry.plan(options.size, options.block, dtype=options.dtype, op=options.op, seed=options.seed)
    return entry.plan(seed=options.seed)


def _profiles(
    plans: Sequence[kernels.LaunchPlan], options: Options, note: Callable[[str], None]
) -> list[HardwareProfile | None]:
    if not options.counters:
        return [None] * len(plans)
    try:
        return list(profiling.profile_all([jobs.Job(p.kernel, p.grid, p.block, p.args) for p in plans]))
    except ProfilerError as error:
        note(error.title)
        return [None] * len(plans)


def _check(name: str, plan: kernels.LaunchPlan, hardware: HardwareProfile | None, options: Options) -> Result:
    theirs = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in plan.args)
    data = plan.args[0].copy()
    run = launch(
        plan.kernel, plan.grid, plan.block, *theirs,
        device_index=options.device, repeats=REPEATS, allow_unstable=True,
    )  # fmt: skip
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, view=options.view)
    outputs = tuple(compare_outputs(plan.args, theirs, run.unstable, ROUNDED.get(name)))
    rows, fewer = compare_profiles(profile, hardware)
    if not isinstance(plan, kernels.ReductionPlan):
        return Result(name, run, outputs, rows, fewer)
    fold = kernels.operation(options.op).reduce
    total, simulated = fold(theirs[1]), plan.finish()
    expected, right = kernels.agrees(total, data, options.op)
    also = kernels.agrees(simulated, data, options.op)[1]
    return Result(name, run, outputs, rows, fewer, total, simulated, expected, right and also)
