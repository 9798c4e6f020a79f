"""Counters of the hardware, under the names of the simulator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gpu import driver, jobs, ncu
from gpu.hardware import Device, device
from gpu.launching import Dim, kernel_name
from simt import machine
from simt.profile import METRICS
from simt.profile.hardware import HardwareLine, HardwareMetrics, counters_of, lines_of
from simt.profile.ncu_pages import Report
from simt.text import number_text


class HardwareProfile:
    """What the GPU counted in one launch.  ``report`` is everything that Nsight Compute said."""

    def __init__(
        self,
        kernel: str,
        report: Report,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        device: Device,
        versions: Mapping[str, str],
    ) -> None:
        self.kernel = kernel
        self.report = report
        self.grid = grid
        self.block = block
        self.device = device
        self.versions = versions

    @property
    def view(self) -> str:
        """The architecture: ``"sm_90"``."""
        return self.device.architecture

    @property
    def view_kind(self) -> str:
        """``"machine"``: instructions are SASS."""
        return "machine"

    @property
    def view_text(self) -> str:
        """What the counts count, in words."""
        return f"hardware: {self.device.name}, {self.report.version}"

    @cached_property
    def counters(self) -> dict[str, int]:
        """Totals under the simulator's names, those that the hardware has."""
        return counters_of(self.report.metrics, self.grid, self.block)

    @cached_property
    def metrics(self) -> HardwareMetrics:
        """Metrics by nvprof or ncu name."""
        return HardwareMetrics(self.report.metrics, self.counters)

    @cached_property
    def lines(self) -> tuple[HardwareLine, ...]:
        """One entry per SASS instruction, in address order."""
        return lines_of(self.report)

    @property
    def milliseconds(self) -> float | None:
        """Duration of the launch under the profiler, which is not that of :func:`gpu.launch`."""
        nanoseconds = self.report.metrics.get("gpu__time_duration.sum")
        return None if nanoseconds is None else nanoseconds / 1e6

    def to_dict(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and texts."""
        return {
            "kernel": self.kernel,
            "view": self.view,
            "device": self.device.to_dict(),
            "profiler": self.report.version,
            "versions": dict(self.versions),
            "grid": list(self.grid),
            "block": list(self.block),
            "counters": self.counters,
            "metrics": dict(self.metrics),
            "lines": [line.to_dict() for line in self.lines],
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def annotate(self) -> str:
        """The SASS beside its counts, with the source line where known."""
        heading = ("executed", "lanes", "divergent", "sectors", "offset", "line", "instruction")
        rows = [heading]
        for line in self.lines:
            executed = line.counters["inst_executed"]
            lanes = f"{line.counters['thread_inst_executed'] / executed:.1f}" if executed else ""
            rows.append(
                (
                    number_text(executed),
                    lanes,
                    number_text(line.counters["divergent_branches"] or None).replace("n/a", ""),
                    number_text(line.counters["global_sectors"] or None).replace("n/a", ""),
                    f"{line.offset:#06x}",
                    str(line.source[1]) if line.source else "",
                    line.text,
                )
            )
        widths = [max(len(row[k]) for row in rows) for k in range(len(heading) - 1)]
        body = [
            "  ".join([*(cell.rjust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
            for row in rows
        ]
        return "\n".join([f"{self.kernel}: {self.view_text}", *body])

    def __str__(self) -> str:
        values = {name: self.metrics[name] for name in self.metrics}
        width = max(map(len, values), default=0)
        body = [f"  {name:<{width}}  {number_text(value):>16}  {METRICS[name].unit}" for name, value in values.items()]
        return "\n".join([f"{self.kernel}, grid {self.grid}, block {self.block} ({self.view_text})", *body])

    def __repr__(self) -> str:
        return f"<HardwareProfile of {self.kernel}, {self.view_text}, grid {self.grid}, block {self.block}>"


def profile(
    kernel: Any,
    grid: Dim,
    block: Dim,
    *args: Any,
    shared_bytes: int = 0,
    timeout: float = ncu.TIMEOUT,
) -> HardwareProfile:
    """Counters of one launch from the hardware, through Nsight Compute in a process of its own.

    *args* are NumPy arrays and scalars; the arrays are **not** changed, because the launch happens elsewhere (on
    the first device).  Raises as :func:`gpu.launch`, and ProfilerError: ncu missing, forbidden to read counters,
    too old or too new for the driver, or out of time.
    """
    driver.need()
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    return profile_all([jobs.Job(kernel, shape[0], shape[1], _host(args), shared_bytes)], timeout)[0]


def profile_all(todo: list[jobs.Job], timeout: float = ncu.TIMEOUT) -> list[HardwareProfile]:
    """:func:`profile` for several launches in one process, which saves its start and the driver's."""
    driver.need()
    reports, _ = ncu.collect(todo, timeout)
    where, versions = device(0), driver.versions()
    return [
        HardwareProfile(
            kernel_name(job.kernel),
            report,
            machine.dimensions(job.grid, "grid"),
            machine.dimensions(job.block, "block"),
            where,
            versions,
        )
        for job, report in zip(todo, reports, strict=True)
    ]


def _host(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments that can travel: arrays on the device are copied to the host."""
    return tuple(
        driver.cuda().as_cuda_array(value).copy_to_host()
        if not isinstance(value, np.ndarray) and hasattr(value, "__cuda_array_interface__")
        else value
        for value in args
    )
