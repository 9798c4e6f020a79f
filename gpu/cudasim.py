"""Without a GPU: the same kernel on Numba's own CUDA simulator, in a process of its own.

It runs every CUDA thread as a host thread of Python and counts nothing, but it shares no code with simt, so it
is a third opinion on results beside NumPy.  Slow: use a few thousand threads at most.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

import numpy as np

from gpu import jobs
from gpu.errors import GpuError
from simt import machine

TIMEOUT = 300.0
"""Seconds after which a launch on Numba's simulator is given up."""


def launch(
    kernel: Any,
    grid: jobs.Dim,
    block: jobs.Dim,
    *args: Any,
    shared_bytes: int = 0,
    timeout: float = TIMEOUT,
) -> None:
    """Run *kernel* on Numba's CUDA simulator and change the NumPy arrays in *args* in place.

    GpuError if that simulator does not support the kernel (it knows no syncwarp, shuffles or votes), or takes
    longer than *timeout* seconds; the arrays are then as they were.
    """
    machine.dimensions(grid, "grid")
    machine.dimensions(block, "block")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    job = jobs.Job(kernel, grid, block, args, shared_bytes)
    try:
        outcomes, process = jobs.run("plain", [job], environment=environment, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise GpuError(f"Numba's CUDA simulator took more than {timeout:g} s", help="use fewer threads") from None
    if not outcomes:
        lines = tuple(process.stderr.strip().splitlines()[-3:])
        raise GpuError("Numba's CUDA simulator ended without a result", details=lines)
    (outcome,) = outcomes
    if outcome.error:
        raise GpuError(
            "Numba's CUDA simulator cannot run this kernel",
            details=tuple(outcome.error.splitlines()[:6]),
            help="it knows neither syncwarp nor shuffles, votes and matches; simt.launch does",
        )
    for given, after in zip(args, outcome.args, strict=True):
        if isinstance(given, np.ndarray):
            given[...] = after
