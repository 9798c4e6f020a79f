"""Reduce an array on one GPU, or on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu.hardware import select
from gpu.launching import Run, launch
from simt import kernels
from simt.check import LaunchError


def reduce(
    data: Any,
    kernel: str = "neighbored",
    block: int = 512,
    op: str = "sum",
    devices: int | str | Sequence[int] | None = None,
    repeats: int = 5,
) -> tuple[np.generic, Run]:
    """Reduce an array with one kernel of the family, as :func:`simt.reduce` does, on real hardware.

    Parameters:
        data: 1-d array of int32, int64, float32 or float64, at least one element; it is not changed.
        kernel, block, op: as for ``simt.reduce``.
        devices: a device number, several, or ``"all"``: each device reduces one contiguous part, at the same time,
            and the host combines what they give.  Default: the first device.
        repeats: timed runs per device.

    Returns the result as a scalar of the array's dtype and the Run; with several devices the slowest device's run,
    whose ``parts`` are all of them.  Raises as :func:`gpu.launch`.
    """
    array = np.asarray(data)
    if array.ndim != 1:
        raise LaunchError(f"the data has {array.ndim} dimensions; a reduction takes one", help="pass data.ravel()")
    if array.size == 0:
        raise LaunchError("the array is empty: there is nothing to reduce")
    entry = kernels.get_reduction(kernel)
    numbers = select(devices)[: array.size]
    parts = np.array_split(array, len(numbers))
    if len(numbers) == 1:
        return _one(entry, parts[0], block, op, numbers[0], repeats)
    with ThreadPoolExecutor(len(numbers)) as pool:
        work = [
            pool.submit(_one, entry, part, block, op, number, repeats)
            for part, number in zip(parts, numbers, strict=True)
        ]
        results = [job.result() for job in work]
    runs = tuple(run for _, run in results)
    slowest = max(runs, key=lambda run: run.milliseconds or 0.0)
    totals = np.array([total for total, _ in results], dtype=array.dtype)
    return kernels.operation(op).reduce(totals), replace(slowest, parts=runs)


def _one(
    entry: kernels.ReductionKernel, part: npt.NDArray[Any], block: int, op: str, number: int, repeats: int
) -> tuple[np.generic, Run]:
    plan = entry.plan_for(part, block, op)
    # Floating-point atomics add in an order that changes from run to run, within kernels.agrees' tolerance.
    inexact = entry.single_result and part.dtype.kind == "f" and op == "sum"
    run = launch(
        plan.kernel, plan.grid, plan.block, *plan.args,
        device_index=number, repeats=repeats, allow_unstable=inexact,
    )  # fmt: skip
    return plan.finish(), run
