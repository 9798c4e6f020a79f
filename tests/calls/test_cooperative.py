"""Cooperative launches of machine code: blocks that wait for each other at ``grid.sync()`` of CUDA C."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simt
from simt.check import LaunchError, UnsupportedError
from simt.check.errors import TrapError
from simt.sass import SassKernel
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = [needs_nvdisasm, needs_nvrtc]

SOURCE = """
#include <cooperative_groups.h>
// Each element of a row is that of its mirror image in the row before, plus the number of the row.
extern "C" __global__ void rows_in_turn(long long *m, int rows, int columns) {
  auto grid = cooperative_groups::this_grid();
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  for (int row = 1; row < rows; row++) {
    m[row * columns + column] = m[(row - 1) * columns + columns - column - 1] + row;
    grid.sync();
  }
}
// The second round begins when the slowest block has ended its first.
extern "C" __global__ void uneven(int *counts) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int k = 0; k < blockIdx.x * 500; k++) atomicAdd(&sum, k & 1);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) counts[gridDim.x + blockIdx.x] = counts[gridDim.x - 1 - blockIdx.x];
}
"""


@pytest.fixture(scope="module", params=["sm_80", "sm_90"])
def kernels(request: pytest.FixtureRequest) -> dict[str, SassKernel]:
    """The kernels of SOURCE for an architecture."""
    return dict(simt.load_cuda(SOURCE, request.param))


@settings(max_examples=8, deadline=None)
@given(blocks=st.integers(1, 6), threads=st.integers(1, 70), rows=st.integers(1, 5))
def test_after_grid_sync_all_blocks_see_what_all_wrote(
    kernels: dict[str, SassKernel], blocks: int, threads: int, rows: int
) -> None:
    columns = blocks * threads
    m = np.zeros((rows, columns), np.int64)
    sizes = np.int32(rows), np.int32(columns)
    simt.launch(kernels["rows_in_turn"], blocks, threads, m, *sizes, cooperative=True)
    np.testing.assert_array_equal(m, np.repeat(np.cumsum(np.arange(rows))[:, None], columns, 1))


def test_blocks_wait_for_the_slowest(kernels: dict[str, SassKernel]) -> None:
    blocks, threads = 5, 64
    counts = np.zeros(2 * blocks, np.int32)
    simt.launch(kernels["uneven"], blocks, threads, counts, cooperative=True)
    first = np.arange(blocks) * 250 * threads
    np.testing.assert_array_equal(counts, [*first, *first[::-1]])


def test_counts_are_the_same_each_time(kernels: dict[str, SassKernel]) -> None:
    counters = [
        simt.launch(kernels["uneven"], 4, 64, np.zeros(8, np.int32), cooperative=True).result.counters for _ in range(2)
    ]
    np.testing.assert_array_equal(*counters)


def test_without_a_cooperative_launch_grid_sync_is_a_trap_as_on_hardware(kernels: dict[str, SassKernel]) -> None:
    with pytest.raises(TrapError):
        simt.launch(kernels["uneven"], 2, 32, np.zeros(4, np.int32))


def test_what_does_not_fit_or_takes_blocks_one_by_one_is_refused(kernels: dict[str, SassKernel]) -> None:
    counts = np.zeros(2**12, np.int32)
    with pytest.raises(LaunchError, match="waits for all of its blocks"):
        simt.launch(kernels["uneven"], 2000, 1024, counts, cooperative=True)
    with pytest.raises(UnsupportedError, match="timing of a kernel whose blocks wait for each other"):
        simt.launch(kernels["uneven"], 2, 32, counts, cooperative=True, timing=True)
