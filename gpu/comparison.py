"""The simulator beside the hardware: outputs, and every counter that both have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import simt
from gpu import driver
from gpu.accesses import LineAccess, accesses, compare_accesses, explained
from gpu.errors import ProfilerError
from gpu.launching import Dim, Run, kernel_name, launch
from gpu.profiling import HardwareProfile, profile
from simt.metrics.formula import Number
from simt.metrics.table import SOURCE
from simt.profile import METRICS, TIMING, Profile
from simt.text import number_text

EQUAL, CLOSE, DIFFERENT, OTHER_CODE, PREDICTED = "equal", "close", "DIFFERENT", "other code", "predicted"
FEWER = "fewer accesses"
"""The machine code accesses memory less often than the source says; :attr:`Comparison.accesses` names the lines."""

TOLERANCES = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-11}
"""Relative difference of floating-point outputs, of the array's largest magnitude.  The compiler contracts a
multiplication and an addition to one fused operation, CUDA's math functions are not the host's (up to a few units
in the last place each), and atomics add in any order."""

NOISY = {
    "gst_transactions": 0.02,
    "gst_transactions_per_request": 0.02,
    "gst_efficiency": 0.02,
    "shared_load_transactions": 0.02,
    "shared_store_transactions": 0.02,
}
"""Metrics that the hardware does not count exactly, and by how much they may differ, relatively: 16.0001 store
sectors for 16, and 414 to 425 for 418 where lanes store single bytes; shared-memory wavefronts of arbitration.
Measured on an H200; its exact counters of the same things, ``global_sectors`` and ``shared_wavefronts``, must be
equal."""

ROUNDED = frozenset({"active_threads_per_instruction", "pred_on_threads_per_instruction", "branch_efficiency"})
"""Metrics that ncu prints with two decimals (Nsight Compute 2025.3.1)."""

WHY_OTHER_CODE = (
    "instruction and branch counts of the source view count Python operations, not instructions of this compiler, "
    "which also predicates, unrolls and merges; the machine view counts the same instructions as the hardware"
)


@dataclass(frozen=True)
class Row:
    """One metric on both sides; ``ratio`` is simulator / hardware, None if the hardware has 0."""

    metric: str
    simulator: Number
    hardware: Number
    verdict: str

    @property
    def ratio(self) -> float | None:
        """Simulator / hardware."""
        return self.simulator / self.hardware if self.hardware else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.metric,
            "simulator": self.simulator,
            "hardware": self.hardware,
            "ratio": self.ratio,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Output:
    """One array argument after both launches: the largest difference, and whether it is within the tolerance."""

    argument: int
    dtype: str
    verdict: str
    differing: int
    largest: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Comparison:
    """A kernel on the simulator and on the hardware.

    ``accesses`` (source view) are the lines that access memory differently often in the machine code: values kept in
    a register, accesses merged, or moved out of a loop, to another line.  ``unprofiled`` says why there are no
    counters of the hardware; empty if there are.
    """

    kernel: str
    view: str
    run: Run
    simulated: Any
    hardware: HardwareProfile | None
    outputs: tuple[Output, ...]
    rows: tuple[Row, ...]
    accesses: tuple[LineAccess, ...] = ()
    unprofiled: str = ""

    @property
    def agrees(self) -> bool:
        """Whether nothing that can agree differs."""
        verdicts = [output.verdict for output in self.outputs] + [row.verdict for row in self.rows]
        return DIFFERENT not in verdicts

    def to_dict(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and texts."""
        return {
            "kernel": self.kernel,
            "view": self.view,
            "agrees": self.agrees,
            "run": self.run.to_dict(),
            "outputs": [output.to_dict() for output in self.outputs],
            "metrics": [row.to_dict() for row in self.rows],
            "accesses": [line.to_dict() for line in self.accesses],
            "unprofiled": self.unprofiled,
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        time = self.run.milliseconds
        heading = f"{self.kernel}: {self.view} view beside {self.run.device.name}"
        lines = [heading + ("" if time is None else f", {time:.4f} ms")]
        for output in self.outputs:
            extent = "" if output.verdict == EQUAL else f": {output.differing} elements, by {output.largest:g} at most"
            lines.append(f"  argument {output.argument + 1} ({output.dtype}) {output.verdict}{extent}")
        table = [("metric", "simulator", "hardware", "ratio", "verdict")]
        for row in self.rows:
            ratio = "" if row.ratio is None else f"{row.ratio:.4f}"
            table.append((row.metric, number_text(row.simulator), number_text(row.hardware), ratio, row.verdict))
        widths = [max(len(cells[k]) for cells in table) for k in range(5)]
        for name, *numbers, verdict in table:
            cells = [
                name.ljust(widths[0]),
                *(n.rjust(w) for n, w in zip(numbers, widths[1:4], strict=True)),
                verdict,
            ]
            lines.append("  " + "  ".join(cells).rstrip())
        if any(row.verdict == OTHER_CODE for row in self.rows):
            lines.append(f"  {OTHER_CODE}: {WHY_OTHER_CODE}")
        if any(row.verdict == FEWER for row in self.rows):
            lines += [f"  {FEWER}: {line}" for line in self.accesses]
        if self.unprofiled:
            lines.append(f"  no counters: {self.unprofiled}")
        return "\n".join(lines)


def compare(
    kernel: Any,
    grid: Dim,
    block: Dim,
    *args: Any,
    view: str = "source",
    counters: bool = True,
    shared_bytes: int = 0,
    repeats: int = 5,
    rounded: Mapping[int, float] | None = None,
    **options: Any,
) -> Comparison:
    """Run *kernel* on the simulator and on the GPU, each on copies of *args*, and hold them side by side.

    Parameters:
        view: of the simulator: ``"source"``, or an architecture for its machine code.
        counters: profile with Nsight Compute; where it is missing or forbidden the comparison says so.
        rounded: by position of the argument, how much integers may differ that were computed in floating point and
            then cut, where the last place of the float decides.
        options: passed on to :func:`simt.launch`.

    Other integers have to be equal, floats within :data:`TOLERANCES`.  Raises as :func:`simt.launch` and
    :func:`gpu.launch`; *args* are not changed.
    """
    driver.need()
    ours, theirs = copies(args), copies(args)
    simulated = simt.launch(kernel, grid, block, *ours, view=view, shared_bytes=shared_bytes, **options)
    run = launch(kernel, grid, block, *theirs, shared_bytes=shared_bytes, repeats=repeats, allow_unstable=True)
    hardware, unprofiled = None, "not asked for"
    if counters:
        try:
            hardware = profile(kernel, grid, block, *copies(args), shared_bytes=shared_bytes)
            unprofiled = ""
        except ProfilerError as error:
            unprofiled = error.title
    totals = None
    if hardware is not None and simulated.view != SOURCE and "order" not in options:
        in_order = {**options, "order": "hardware", "timing": False}
        totals = simt.launch(kernel, grid, block, *copies(args), view=view, shared_bytes=shared_bytes, **in_order)
    rows, fewer = compare_profiles(simulated, hardware, totals)
    return Comparison(
        kernel=kernel_name(kernel),
        view=view,
        run=run,
        simulated=simulated,
        hardware=hardware,
        outputs=tuple(compare_outputs(ours, theirs, run.unstable, rounded)),
        rows=rows,
        accesses=fewer,
        unprofiled=unprofiled,
    )


def copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with every array copied (those on the device to the host)."""
    module = driver.cuda()
    return tuple(
        value.copy()
        if isinstance(value, np.ndarray)
        else module.as_cuda_array(value).copy_to_host()
        if hasattr(value, "__cuda_array_interface__")
        else value
        for value in args
    )


def compare_outputs(
    ours: tuple[Any, ...],
    theirs: tuple[Any, ...],
    unstable: tuple[str, ...] = (),
    rounded: Mapping[int, float] | None = None,
) -> list[Output]:
    """Each array after both launches; integers whose contents changed from run to run on the GPU are DIFFERENT."""
    outputs = []
    for position, (mine, real) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(mine, np.ndarray):
            output = _output(position, mine, real, (rounded or {}).get(position, 0.0))
            if f"argument {position + 1}" in unstable and mine.dtype.kind not in "fc":
                output = replace(output, verdict=DIFFERENT)
            outputs.append(output)
    return outputs


def _output(position: int, mine: npt.NDArray[Any], real: npt.NDArray[Any], rounded: float) -> Output:
    floating = mine.dtype.kind in "fc"
    same = (mine == real) | (np.isnan(mine) & np.isnan(real)) if floating else mine == real
    differing = int(mine.size - np.count_nonzero(same))
    if differing == 0:
        return Output(position, mine.dtype.name, EQUAL, 0, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(mine[~same].astype(np.float64) - real[~same].astype(np.float64))
    largest = float(np.max(gap))
    allowed = rounded
    if floating:
        scale = float(np.max(np.abs(real[np.isfinite(real)]), initial=0.0))
        allowed = TOLERANCES.get(mine.dtype.name, 0.0) * scale
    verdict = CLOSE if largest <= allowed else DIFFERENT
    return Output(position, mine.dtype.name, verdict, differing, largest)


def compare_profiles(
    simulated: Profile, hardware: HardwareProfile | Profile | None, totals: Profile | None = None
) -> tuple[tuple[Row, ...], tuple[LineAccess, ...]]:
    """The rows of the metrics, and for the source view the lines that access memory differently often in machine code.

    *hardware* may also be a profile of the machine view, in place of a GPU.  *totals* is the simulated launch in
    the order ``hardware``, for the metrics that the hardware counts by itself; *simulated* is beside those that its
    profiler counts with instrumented code.
    """
    if hardware is None:
        return (), ()
    source = simulated.view == SOURCE
    lines = compare_accesses(accesses(simulated), accesses(hardware)) if source else ()
    ours: dict[str, Number | None] = dict(simulated.metrics)
    if totals is not None:
        ours |= {
            name: value
            for name, value in totals.metrics.items()
            if METRICS[name].group != TIMING and not METRICS[name].instrumented
        }
    rows = compare_metrics(ours, hardware.metrics, simulated.view, lines)
    return rows, tuple(line for line in lines if line.differs)


def compare_metrics(
    simulated: Mapping[str, Number | None],
    hardware: Mapping[str, Number | None],
    view: str,
    lines: Sequence[LineAccess] = (),
) -> tuple[Row, ...]:
    """A row for each metric that both sides have a value of.

    A difference that *lines* explain is :data:`FEWER` accesses.
    """
    rows = []
    for name in hardware:
        real = hardware[name]
        ours = simulated.get(name)
        if real is not None and ours is not None:
            verdict = _verdict(name, ours, real, view)
            if verdict == DIFFERENT and view == SOURCE and explained(METRICS[name].formula.names, lines):
                verdict = FEWER
            rows.append(Row(name, ours, real, verdict))
    return tuple(rows)


def _verdict(name: str, ours: Number, real: Number, view: str) -> str:
    metric = METRICS[name]
    if metric.group == TIMING:
        return PREDICTED
    if view == SOURCE and not metric.same_in_every_view:
        return OTHER_CODE
    if name in ROUNDED and abs(ours - real) <= 0.005001:
        return EQUAL
    # ncu prints other ratios rounded to about six digits.
    whole = isinstance(ours, int) and isinstance(real, int)
    if ours == real or (not whole and abs(ours - real) <= 1e-5 * abs(real)):
        return EQUAL
    if abs(ours - real) <= NOISY.get(name, 0.0) * abs(real):
        return CLOSE
    return DIFFERENT
