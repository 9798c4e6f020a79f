"""How long a warm launch of two small blocks takes: in the source view, of machine code, and on a simt.Device."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import cuda

import simt

CUBIN = Path(__file__).parent.parent / "data" / "sass" / "sm_90" / "kernels_O3.cubin"
TIMES = 300


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def measure(launch: Callable[[], object]) -> tuple[float, float]:
    """Median and least milliseconds of a call, after some to warm up."""
    for _ in range(10):
        launch()
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        launch()
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds), 1e3 * min(seconds)


def main() -> None:
    a = np.arange(64, dtype=np.float32)
    out = np.zeros_like(a)
    compiled = simt.load_cubin(CUBIN)["vecAdd"]
    gpu = simt.Device()
    there = gpu.array(a), gpu.empty(64, np.float32)
    for what, launch in (
        ("source view", lambda: simt.launch(add, 2, 32, a, a, out)),
        ("machine view", lambda: simt.launch(compiled, 2, 32, a, a, out, np.int32(64))),
        ("Device", lambda: gpu.launch(add, 2, 32, there[0], there[0], there[1])),
    ):
        median, least = measure(launch)
        print(f"{what:14}{median:7.3f} ms median{least:7.3f} ms least")


if __name__ == "__main__":
    main()
