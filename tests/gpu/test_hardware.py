"""simulator == GPU == NumPy, on whatever GPU this machine has; skipped, with the reason, where there is none."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import gpu
import simt
from gpu.comparison import DIFFERENT
from gpu.family import ROUNDED
from simt import kernels
from simt.check import LaunchError
from tests.gpu.machine_launches import kernel_module

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not gpu.available(), reason=f"needs a GPU: {getattr(gpu.why_not(), 'title', '')}"),
]

INTEGERS = ("int32", "int64")
EXAMPLES = 4
"""Per kernel and type: every new block size may be a kernel to compile."""


@st.composite
def problems(draw: st.DrawFn, dtypes: tuple[str, ...]) -> tuple[np.ndarray, int]:
    """Data (integers over the whole range, so that sums wrap around) and a block size."""
    dtype = draw(st.sampled_from(dtypes))
    n = draw(st.one_of(st.integers(1, 300), st.integers(300, 20000), st.sampled_from([1024, 4096, 16384])))
    block = draw(st.sampled_from([1, 31, 32, 33, 64, 96, 128, 200, 256, 512, 1000, 1024]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(n).astype(dtype), block
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True), block


@pytest.mark.parametrize("name", kernels.names("reduction"))
@settings(max_examples=EXAMPLES)
@given(problem=problems(INTEGERS), op=st.sampled_from(["sum", "max", "min", "product"]))
def test_integer_reductions(name: str, problem: tuple[np.ndarray, int], op: str) -> None:
    data, block = problem
    if op not in kernels.get_reduction(name).ops:
        op = "sum"
    real, _ = gpu.reduce(data, kernel=name, block=block, op=op, repeats=1)
    ours, _ = simt.reduce(data, kernel=name, block=block, op=op)
    assert real == ours == kernels.operation(op).reduce(data)


@pytest.mark.parametrize("name", kernels.names("reduction"))
@settings(max_examples=EXAMPLES)
@given(problem=problems(("float32", "float64")))
def test_float_reductions(name: str, problem: tuple[np.ndarray, int]) -> None:
    data, block = problem
    real, _ = gpu.reduce(data, kernel=name, block=block, repeats=0)
    ours, _ = simt.reduce(data, kernel=name, block=block)
    assert kernels.agrees(real, data)[1]
    if not kernels.get_reduction(name).single_result:
        # Additions alone, in the same order: nothing for the compiler to contract.
        assert real == ours


@pytest.mark.parametrize("name", kernels.names("divergence"))
@settings(max_examples=EXAMPLES)
@given(size=st.integers(1, 3000), seed=st.integers(0, 1000))
def test_divergence(name: str, size: int, seed: int) -> None:
    plan = kernels.get(name).plan(size, seed=seed)
    found = gpu.compare(
        plan.kernel, plan.grid, plan.block, *plan.args,
        counters=False, repeats=1, rounded=ROUNDED.get(name),
    )  # fmt: skip
    assert all(output.verdict != DIFFERENT for output in found.outputs), str(found)


NOT_IN_SOURCE_VIEW = {
    "float16_arithmetic": "the source view has no float16",
    "float32_arithmetic": "a - x * y is contracted, and on huge and infinite values that is no rounding matter",
    "float64_arithmetic": "likewise",
}
SOURCE_VIEW = [launch for launch in kernel_module().LAUNCHES if launch.name not in NOT_IN_SOURCE_VIEW]


@pytest.mark.parametrize("launch", SOURCE_VIEW, ids=lambda launch: launch.name)
def test_further_kernels(launch: Any) -> None:
    found = gpu.compare(
        launch.kernel, launch.grid, launch.block, *launch.args(),
        counters=False, shared_bytes=launch.shared_bytes, repeats=1,
    )  # fmt: skip
    assert all(output.verdict != DIFFERENT for output in found.outputs), str(found)


def warp_exchange(values, masks, out):
    i = cuda.grid(1)
    lane = cuda.laneid
    v = values[i]
    down = cuda.shfl_down_sync(0xFFFFFFFF, v, masks[i] & 15)
    swapped = cuda.shfl_xor_sync(0xFFFFFFFF, v, 7)
    ballot = cuda.ballot_sync(0xFFFFFFFF, v > masks[i])
    matched = cuda.match_any_sync(0xFFFFFFFF, v & 3)
    out[i] = down + 3 * swapped + cuda.popc(ballot) + (matched & 255) + lane


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), warps=st.integers(1, 8), blocks=st.integers(1, 5))
def test_shuffles_and_votes(seed: int, warps: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    n = 32 * warps * blocks
    values = rng.integers(-(2**31), 2**31, n).astype(np.int32)
    masks = np.repeat(rng.integers(0, 100, n // 32), 32).astype(np.int32)
    found = gpu.compare(
        warp_exchange, blocks, 32 * warps, values, masks, np.zeros(n, np.int64), counters=False, repeats=1
    )
    assert found.agrees, str(found)


def count_values(values, bins, largest):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i] % bins.size, 1)
        cuda.atomic.max(largest, values[i] & 3, values[i])


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 5000), block=st.sampled_from([32, 100, 256]))
def test_atomics(seed: int, n: int, block: int) -> None:
    values = np.random.default_rng(seed).integers(0, 2**31, n).astype(np.int64)
    args = values, np.zeros(17, np.int64), np.zeros(4, np.int64)
    found = gpu.compare(count_values, math.ceil(n / block), block, *args, counters=False, repeats=2)
    assert found.agrees, str(found)


def everyone_writes(out):
    out[0] = cuda.grid(1)


def test_a_race_is_reported() -> None:
    """Thousands of threads store different values to one place: sooner or later two runs differ."""
    with pytest.raises(gpu.UnstableResultError, match="argument 1"):
        _launch_many_times(50)


def _launch_many_times(times: int) -> None:
    for _ in range(times):
        gpu.launch(everyone_writes, 5000, 64, np.zeros(1, np.int64), repeats=4)


def spin(a):
    a[cuda.grid(1)] += 1.0


def test_times_device_arrays_and_layouts() -> None:
    host = np.zeros((64, 2), np.float64)[:, 0]
    run = gpu.launch(spin, 2, 32, host, repeats=3)
    assert host.sum() == 64
    assert len(run.times) == 3
    assert run.milliseconds > 0
    there = cuda.to_device(np.zeros(64))
    gpu.launch(spin, 2, 32, there)
    assert there.copy_to_host().sum() == 64


def test_bad_launches() -> None:
    with pytest.raises(LaunchError):
        gpu.launch(spin, 1, 2048, np.zeros(4))
    with pytest.raises(LaunchError):
        gpu.launch(spin, 0, 32, np.zeros(4))
    with pytest.raises(LaunchError):
        gpu.launch(spin, 1, 32, np.zeros(32), device_index=99)
    frozen = np.zeros(32)
    frozen.flags.writeable = False
    with pytest.raises((LaunchError, gpu.CompilationError)):
        gpu.launch(spin, 1, 32, frozen)


def untypable(a):
    a[0] = {}


def test_what_numba_cannot_compile() -> None:
    with pytest.raises(gpu.CompilationError):
        gpu.launch(untypable, 1, 1, np.zeros(1))


def test_out_of_memory() -> None:
    """The process goes on after it."""
    half = gpu.devices()[0].memory_bytes // 16
    held = cuda.device_array(half, np.float64)
    more = cuda.device_array(half // 4, np.float64)
    with pytest.raises(gpu.DeviceMemoryError):
        gpu.launch(spin, 1, 32, more, held)
    del held, more
    gpu.launch(spin, 1, 32, np.zeros(32))


FAULT = """
import numpy as np, gpu
from numba import cuda
def wild(a):
    a[2**40] = 1.0
try:
    gpu.launch(wild, 1, 32, np.zeros(4))
except gpu.DeviceFaultError as error:
    print(error)
try:
    gpu.launch(wild, 1, 32, np.zeros(4))
except gpu.DeviceFaultError as error:
    print("again:", error)
"""


def test_a_fault_loses_the_context(tmp_path: Any) -> None:
    script = tmp_path / "fault.py"
    script.write_text(FAULT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, check=False)
    assert "context is lost" in done.stdout, done.stdout + done.stderr
    assert "again:" in done.stdout


@pytest.mark.skipif(len(gpu.devices()) < 2, reason="needs two GPUs")
def test_all_devices() -> None:
    data = kernels.sample(1_000_003)
    for name in ("interleaved", "shuffle", "atomic"):
        total, run = gpu.reduce(data, kernel=name, devices="all", repeats=2)
        assert total == data.sum(dtype=np.int32)
        assert [part.device.index for part in run.parts] == list(range(len(gpu.devices())))


def test_counters_agree_with_the_source_view() -> None:
    try:
        gpu.profile(spin, 1, 32, np.zeros(32))
    except gpu.ProfilerError as error:
        pytest.skip(f"no counters: {error.title}")
    plan = kernels.get_reduction("interleaved").plan(2**16, 512)
    found = gpu.compare(plan.kernel, plan.grid, plan.block, *plan.args, repeats=1)
    assert found.agrees, str(found)
    assert found.hardware is not None
    executed = sum(line.counters["inst_executed"] for line in found.hardware.lines)
    assert executed == found.hardware.counters["inst_executed"]
    assert any(line.source for line in found.hardware.lines)
