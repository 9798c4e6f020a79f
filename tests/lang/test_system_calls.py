"""What kernels of the source view ask of the system: print(), and the barrier of the grid."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.check import DeadlockError, KernelError, LaunchError, UnsupportedError

# print()


def numbers(i8, u8, f4, f8, pair):
    print(i8, u8, f4, f8, i8 > 0, pair)


def printed(value: Any) -> str:
    """A value as Numba's format for its type prints it."""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(printed, value)) + ("," if len(value) == 1 else "") + ")"
    return f"{value:f}" if isinstance(value, float | np.floating) else f"{value}"


@settings(max_examples=20)
@given(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**64 - 1),
    st.floats(width=32, allow_nan=False),
    st.floats(allow_nan=False),
    st.one_of(st.tuples(st.integers(0, 9)), st.tuples(st.integers(0, 9), st.tuples(st.floats(0, 9), st.booleans()))),
)
def test_print_of_numbers(i8: int, u8: int, f4: float, f8: float, pair: Any) -> None:
    with redirect_stdout(StringIO()) as output:
        simt.launch(numbers, 1, 1, np.int64(i8), np.uint64(u8), np.float32(f4), f8, pair)
    words = [printed(i8), printed(u8), printed(np.float32(f4)), printed(f8), str(i8 > 0), printed(pair)]
    assert output.getvalue() == " ".join(words) + "\n"


def in_order(a):
    i = cuda.grid(1)
    if a[i] > 1:
        print("big:", a[i])
    print(cuda.threadIdx, i)


def test_lanes_print_one_after_the_other_and_texts_are_constants(capsys: pytest.CaptureFixture[str]) -> None:
    simt.launch(in_order, 2, 2, np.array([1, 2, 3, 0]))
    first = ["big: 2", "(0, 0, 0) 0", "(1, 0, 0) 1"]
    assert capsys.readouterr().out.splitlines() == [*first, "big: 3", "(0, 0, 0) 2", "(1, 0, 0) 3"]


def empty_and_full(a):
    print()
    print("%d", a[0], *(a[1], a[2]))
    print(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[0], a[1], a[2], a[3], a[4], a[5], a[6],
        a[7], a[8], a[9], a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[0], a[1], a[2],
    )  # fmt: skip


def test_more_than_32_arguments_print_the_format_as_with_cuda(capsys: pytest.CaptureFixture[str]) -> None:
    simt.launch(empty_and_full, 1, 1, np.arange(10))
    assert capsys.readouterr().out == "\n%d 0 1 2\n" + " ".join(["%lld"] * 33) + "\n"


def counted(a):
    i = cuda.grid(1)
    print(i, i)
    a[i] = 0


def test_a_print_counts_one_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    profile = simt.launch(counted, 1, 32, np.zeros(32))
    lines = {line.text.strip(): line.counters["inst_executed"] for line in profile.lines}
    assert lines["print(i, i)"] == 1


def of_an_array(a):
    print(a)


def test_what_numba_does_not_print_is_an_error() -> None:
    with pytest.raises(KernelError, match=r"print\(\) of 1-d array a of float64"):
        simt.launch(of_an_array, 1, 1, np.zeros(1))


# The barrier of the grid


def rows_in_turn(m):
    column = cuda.grid(1)
    group = cuda.cg.this_grid()
    shared = cuda.shared.array(1, np.int64)
    for row in range(1, m.shape[0]):
        if cuda.threadIdx.x == 0:
            shared[0] = row
        cuda.syncthreads()
        m[row, column] = m[row - 1, m.shape[1] - column - 1] + shared[0]
        group.sync()


@settings(max_examples=10)
@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 6))
def test_after_a_barrier_of_the_grid_all_blocks_see_what_all_wrote(blocks: int, threads: int, rows: int) -> None:
    m = np.zeros((rows, blocks * threads), np.int64)
    simt.launch(rows_in_turn, blocks, threads, m)
    np.testing.assert_array_equal(m, np.repeat(np.cumsum(np.arange(rows))[:, None], blocks * threads, 1))


def leaves_early(a):
    if cuda.blockIdx.x == 1:
        return
    cuda.cg.this_grid().sync()
    a[cuda.blockIdx.x] = 1


def test_a_block_that_ends_before_the_barrier_is_a_deadlock() -> None:
    with pytest.raises(DeadlockError, match=r"block \(1, 0, 0\) ended without reaching the barrier of the grid") as got:
        simt.launch(leaves_early, 3, 33, np.zeros(3))
    assert "cuda.cg.this_grid().sync()" in str(got.value)


def syncs(a):
    cuda.cg.this_grid().sync()


def test_a_grid_that_does_not_fit_on_the_gpu_is_refused() -> None:
    simt.launch(syncs, 132, 1024, np.zeros(1), device="h200")
    with pytest.raises(LaunchError, match=r"a grid of 265 blocks waits for all of its blocks, .* holds 264 at a time"):
        simt.launch(syncs, 265, 1024, np.zeros(1), device="h200")


def test_what_runs_blocks_one_by_one_refuses_a_barrier_of_the_grid() -> None:
    with pytest.raises(UnsupportedError, match="timing of a kernel whose blocks wait for each other"):
        simt.launch(syncs, 1, 1, np.zeros(1), timing=True)
