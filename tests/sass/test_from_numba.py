"""Python kernels as machine code: arguments of all kinds, and what is said about kernels that Numba cannot compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, float64, int32

import simt
from simt.check import DeadlockError, KernelError, LaunchError, OutOfBoundsError, UnsupportedError
from tests.machine_view import needs_numba_cuda

pytestmark = needs_numba_cuda
VIEW = "sm_90"


def from_tuples(out, numbers, arrays):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = numbers[0] + arrays[0][i] * numbers[1] - arrays[1][i]


def test_tuples_of_arguments() -> None:
    out, arrays = np.zeros(40), (np.arange(40.0), np.ones(40))
    simt.launch(from_tuples, 2, 32, out, (3, 0.5), arrays, view=VIEW)
    assert out.tolist() == (3 + 0.5 * arrays[0] - 1).tolist()


def squares(out):
    i = cuda.grid(1)
    out[i] = out[i] * out[i]


def swaps_fields(out):
    i = cuda.grid(1)
    out[i].x, out[i].y = out[i].y, out[i].x


def test_complex_numbers_and_records() -> None:
    out = np.arange(32) + 2j
    simt.launch(squares, 1, 32, out, view=VIEW)
    assert out.tolist() == ((np.arange(32) + 2j) ** 2).tolist()
    records = np.zeros(32, [("x", np.float32), ("y", np.int32)])
    records["y"] = np.arange(32)
    simt.launch(swaps_fields, 1, 32, records, view=VIEW)
    assert records["x"].tolist() == list(range(32))
    assert not records["y"].any()


def past_the_end(out):
    i = cuda.grid(1)
    out[i + 1] = i


def waits_apart(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, out[t], 16)


def test_findings_name_the_python_line_and_the_argument() -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        simt.launch(past_the_end, 1, 32, np.zeros(32), view=VIEW)
    location = caught.value.location
    assert location is not None
    assert (location.file, location.function) == (__file__, "past_the_end")
    assert location.source().strip() == "out[i + 1] = i"
    text = str(caught.value)
    assert "STG.E.64" in text
    assert "nearest allocation: `out`, 256 bytes" in text


@pytest.mark.parametrize("options", [{}, {"timing": True}], ids=["untimed", "timed"])
def test_a_deadlock_is_the_same_finding_with_timing(options: dict[str, Any]) -> None:
    with pytest.raises(DeadlockError) as caught:
        simt.launch(waits_apart, 1, 64, np.zeros(64), view=VIEW, **options)
    assert caught.value.location is not None
    assert "cuda.syncthreads()" in caught.value.location.source()
    assert "waits at the block barrier at 0x" in str(caught.value)


def returns_a_value(out):
    return out[0]


def catches(out):
    try:
        out[0] = 1
    except Exception:
        out[0] = 2


def float_index(out):
    out[1.5] = 0


def unknown_name(out):
    out[0] = nowhere  # noqa: F821  # what the message is to name


def too_much_shared(out):
    tile = cuda.shared.array(7000, float64)
    tile[0] = out[0]
    cuda.syncthreads()
    out[1] = tile[0]


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (returns_a_value, "TypeError: CUDA kernel must have void return type."),
        (catches, "AttributeError: 'CUDACallConv' object has no attribute 'set_try_status'"),
        (float_index, "Unsupported array index type float64"),
        (unknown_name, "NameError: name 'nowhere' is not defined"),
    ],
)
def test_kernels_that_numba_does_not_compile(kernel: Any, reason: str) -> None:
    """Whatever Numba raises becomes one short error of simt."""
    with pytest.raises(KernelError, match=f"Numba cannot compile {kernel.__name__}") as caught:
        simt.launch(kernel, 1, 32, np.zeros(32), view=VIEW)
    error = caught.value
    assert reason in " ".join(error.details)
    assert len(error.details) <= 4
    assert error.location is not None
    assert error.location.file == __file__


def test_launches_that_do_not_fit_the_kernel() -> None:
    with pytest.raises(LaunchError, match=r"\d+ bytes of static shared memory; the limit is 49152"):
        simt.launch(too_much_shared, 1, 32, np.zeros(32), view=VIEW)
    with pytest.raises(LaunchError, match="from_tuples takes 3 arguments, not 1"):
        simt.launch(from_tuples, 1, 32, np.zeros(32), view=VIEW)
    with pytest.raises(LaunchError, match="argument 1 has type list"):
        simt.launch(squares, 1, 32, [1.0, 2.0], view=VIEW)
    with pytest.raises(LaunchError, match="argument 1 has type int"):
        simt.launch(squares, 1, 32, 2**70)


@pytest.mark.parametrize("order", ["interleaved", "random:1"])
def test_lanes_take_no_turns_where_they_share_registers(order: str) -> None:
    with pytest.raises(LaunchError, match="uniform registers"):
        simt.launch(squares, 1, 32, np.zeros(32), view=VIEW, order=order)
    simt.launch(squares, 1, 32, np.zeros(32), order=order)


def returns_early(a, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, int32)
    x = a[t]
    s[t] = x
    for _ in range(2):
        for _ in range(2):
            if (x + t) % 5 < 2:
                out[t] = x
                return
            x += t & 7
    cuda.syncthreads()
    s[t] = x % 1000
    cuda.syncthreads()
    out[t] = s[63 - t] + x


def test_lanes_that_return_before_a_barrier_leave_together() -> None:
    """As on an H200 (2026-11-21, numba-cuda 0.30.4, Nsight Compute 2025.3.1): 8 BSYNC and 2 EXIT for 54 lanes."""
    a, out, expected = np.arange(64) * 7 % 50, np.zeros(64, np.int64), np.zeros(64, np.int64)
    simt.launch(returns_early, 1, 64, a, expected)
    lines = simt.launch(returns_early, 1, 64, a, out, view=VIEW).lines
    assert out.tolist() == expected.tolist()
    executed = [
        (line.text.split()[0], line.counters["inst_executed"], line.counters["thread_inst_executed"]) for line in lines
    ]
    assert ("BSYNC", 8, 54) in executed
    assert ("EXIT", 2, 54) in executed


def rotates(x, out):
    i = cuda.grid(1)
    for _ in range(2):
        out[i] = x[(i + 1) % x.size]
        cuda.cg.this_grid().sync()
        x[i] = out[i]
        cuda.cg.this_grid().sync()


def test_the_barrier_of_the_grid() -> None:
    """A function of the device runtime: ptxas leaves the call open, and the system serves it."""
    x = np.arange(64.0)
    simt.launch(rotates, 4, 16, x, np.zeros(64), view=VIEW)
    assert x.tolist() == np.roll(np.arange(64.0), -2).tolist()


def halves(x):
    i = cuda.grid(1)
    x[i] = x[i] * x[i]


def test_functions_that_numba_links_are_named() -> None:
    with pytest.raises(UnsupportedError) as caught:
        simt.launch(halves, 1, 32, np.ones(32, np.float16), view=VIEW)
    assert "halves calls" in caught.value.title
    assert "which Numba compiles from CUDA C and links" in caught.value.title
    assert "simt exec" in (caught.value.help or "")
