"""Checks of CUDA C: what the dialect of Python does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simt
from simt.check import BudgetError
from simt.sass import SassKernel
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = [needs_nvdisasm, needs_nvrtc]

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name(int *x, int *y, volatile int *flag)
#define T int t = threadIdx.x; __shared__ int s[64];

KERNEL(right_arrives_and_leaves) {
  T
  if (t < 32) { s[t] = x[t]; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
  else { asm volatile("bar.sync 1, 64;" ::: "memory"); y[t] = s[t - 32]; }
}
KERNEL(reads_before_it_waits) {
  T
  if (t < 32) { s[t] = x[t]; asm volatile("bar.arrive 1, 64;" ::: "memory"); }
  else { y[t] = s[t - 32]; asm volatile("bar.sync 1, 64;" ::: "memory"); }
}
KERNEL(counts_apart) {
  T
  s[t] = x[t];
  if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 1, 32;" ::: "memory");
  y[t] = s[t];
}
KERNEL(right_tiles) {
  T
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[t] = x[t];
  tile.sync();
  y[t] = s[t ^ 8];
}
KERNEL(across_tiles) {
  T
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[t] = x[t];
  tile.sync();
  y[t] = s[t ^ 32];
}
KERNEL(right_sum_of_tiles) {
  int t = threadIdx.x;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = x[t];
  for (int d = 4; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) y[t / 8] = v;
}
KERNEL(right_odd_lanes) {
  T
  s[t] = x[t];
  if (t & 1) {
    auto odd = cg::coalesced_threads();
    s[t] += 1;
    odd.sync();
    y[t] = s[t ^ 2];
  }
}
KERNEL(odd_lanes_read_even_ones) {
  T
  if (t & 1) {
    auto odd = cg::coalesced_threads();
    s[t] = x[t];
    odd.sync();
    y[t] = s[t ^ 1];
  } else {
    s[t] = x[t];
  }
}
KERNEL(fences_of_the_block) {
  if (threadIdx.x == 0) {
    y[1 + blockIdx.x] = x[blockIdx.x];
    __threadfence_block();
    if (atomicAdd(&y[0], 1) == 1) y[10] = y[1] + y[2];
  }
}
KERNEL(flag_without_a_fence) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) { y[0] = x[0]; flag[0] = 1; }
    else { while (flag[0] == 0); y[1] = y[0]; }
  }
}
KERNEL(right_flag_of_the_last_block) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 1) { y[0] = x[0]; __threadfence(); flag[0] = 1; }
    else { while (flag[0] == 0); __threadfence(); y[1] = y[0]; }
  }
}
KERNEL(right_early_return) {  // ptxas lets the others meet before the barrier, with an instruction that names all lanes
  T
  if (t >= 50) return;
  if (x[t] > 3) { s[t] = x[t]; for (int k = 0; k < x[t]; k++) s[t] += y[k]; }
  else s[t] = 2;
  __syncthreads();
  y[t] = s[49 - t];
}
KERNEL(locks_in_turn) {
  if (threadIdx.x) return;
  while (atomicCAS(&y[blockIdx.x], 0, 1));
  atomicAdd(&y[2], 1);
  while (atomicAdd(&y[2], 0) < 2);
  while (atomicCAS(&y[1 - blockIdx.x], 0, 1));
}
"""
BUGS = {
    "reads_before_it_waits": "racecheck",
    "counts_apart": "synccheck",
    "across_tiles": "racecheck",
    "odd_lanes_read_even_ones": "racecheck",
    "fences_of_the_block": "racecheck",
    "flag_without_a_fence": "racecheck",
}
RIGHT = (
    "right_arrives_and_leaves",
    "right_tiles",
    "right_sum_of_tiles",
    "right_odd_lanes",
    "right_flag_of_the_last_block",
    "right_early_return",
)


@pytest.fixture(scope="module")
def kernels() -> dict[str, SassKernel]:
    """The kernels of SOURCE."""
    return dict(simt.load_cuda(SOURCE, "sm_90"))


def checked(kernel: SassKernel) -> simt.Profile:
    x, y, flag = np.arange(64, dtype=np.int32), np.zeros(64, np.int32), np.zeros(1, np.int32)
    grid = 2 if "block" in kernel.name or "flag" in kernel.name else 1
    return simt.launch(kernel, grid, 64, x, y, flag, check="all", keep_going=True)


@pytest.mark.parametrize("name", BUGS)
def test_the_bug_is_found(kernels: dict[str, Any], name: str) -> None:
    assert BUGS[name] in {finding.tool for finding in checked(kernels[name]).findings}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_a_right_kernel(kernels: dict[str, Any], name: str) -> None:
    assert checked(kernels[name]).findings == ()


def test_a_circle_of_words_that_have_no_names(kernels: dict[str, Any]) -> None:
    x, y, flag = np.zeros(1, np.int32), np.zeros(3, np.int32), np.zeros(1, np.int32)
    with pytest.raises(BudgetError) as caught:
        simt.launch(kernels["locks_in_turn"], 2, 32, x, y, flag, max_instructions=1 << 17)
    assert "holds `parameter 1`, byte 0 of 12 and waits for `parameter 1`, byte 4 of 12, " in str(caught.value)
