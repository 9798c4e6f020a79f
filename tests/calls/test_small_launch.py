"""What a warm launch of a small kernel does on the host: little, and nothing that an earlier launch has done."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest
from numba import cuda
from numba.core import config

import simt
from tests.machine_view import DATA, needs_nvdisasm

CUBIN = DATA / "sm_90" / "kernels_O3.cubin"
MOST_CALLS = 400
"""Of Python functions, in one launch: about 0.3 ms.  tests/benchmarks/small_launch.py measures the time."""


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def calls_of(launch: Callable[[], object]) -> int:
    """How many Python functions a launch calls once it is warm."""
    for _ in range(3):
        launch()
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        launch()
    finally:
        sys.setprofile(None)
    return count


def source() -> Callable[[], object]:
    a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    return lambda: simt.launch(add, 2, 32, a, a, out)


def machine() -> Callable[[], object]:
    kernel = simt.load_cubin(CUBIN)["vecAdd"]
    a, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    return lambda: simt.launch(kernel, 2, 32, a, a, out, np.int32(64))


def device() -> Callable[[], object]:
    gpu = simt.Device()
    a, out = gpu.array(np.arange(64, dtype=np.float32)), gpu.empty(64, np.float32)
    return lambda: gpu.launch(add, 2, 32, a, a, out)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="the engine itself is Python")
@pytest.mark.parametrize("kind", [source, pytest.param(machine, marks=needs_nvdisasm), device])
def test_a_warm_small_launch_is_little_work(kind: Callable[[], Callable[[], object]]) -> None:
    before = threading.active_count()
    count = calls_of(kind())
    assert count <= MOST_CALLS
    assert threading.active_count() == before
