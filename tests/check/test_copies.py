"""Asynchronous copies that are waited for or not, and atomics whose scope is too narrow: CUDA C with known truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simt
from simt.sass import SassKernel
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = [needs_nvdisasm, needs_nvrtc]

SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
#define KERNEL(name) extern "C" __global__ void name(int *x, int *y)
#define T int t = threadIdx.x; __shared__ alignas(128) int s[128];
#define COPY(to, from) __pipeline_memcpy_async(&s[to], &x[from], 4)

KERNEL(right_wait_for_all) {
  T
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((int)__cvta_generic_to_shared(s + t)), "l"(x + t));
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[t] = s[63 - t];
}
KERNEL(right_groups) {
  T
  COPY(t, t); __pipeline_commit();
  COPY(64 + t, 64 + t); __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  y[t] = s[63 - t];
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] += s[127 - t];
}
KERNEL(right_double_buffer) {
  T
  int sum = 0;
  COPY(t, t); __pipeline_commit();
  for (int k = 1; k < 6; k++) {
    COPY(64 * (k & 1) + t, 64 * (k & 1) + t); __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[64 * (~k & 1) + 63 - t];
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = sum + s[64 + 63 - t];
}
KERNEL(right_own_element) { T COPY(t, t); __pipeline_commit(); __pipeline_wait_prior(0); y[t] = s[t]; }
KERNEL(right_copies_of_some) {
  T
  if (t < 32) { COPY(2 * t, t); COPY(2 * t + 1, 32 + t); __pipeline_commit(); __pipeline_wait_prior(0); }
  __syncthreads();
  y[t] = s[63 - t];
}
KERNEL(right_barrier_of_the_copy) {
  T
  __shared__ block_barrier b;
  if (t == 0) init(&b, 64);
  __syncthreads();
  for (int k = 0; k < 2; k++) {
    cuda::memcpy_async(&s[t], &x[64 * k + t], 4, b);
    b.arrive_and_wait();
    y[t] = s[63 - t];
    __syncthreads();
  }
}
KERNEL(right_bulk) {
  T
  __shared__ block_barrier b;
  if (t == 0) { init(&b, 64); cuda::device::experimental::fence_proxy_async_shared_cta(); }
  __syncthreads();
  if (t == 0) {
    cuda::device::memcpy_async_tx(s, x, cuda::aligned_size_t<16>(512), b);
    (void)cuda::device::barrier_arrive_tx(b, 1, 512);
  } else (void)b.arrive();
  b.wait_parity(false);
  y[t] = s[127 - t];
}
KERNEL(right_group_copy) {
  T
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, 512);
  cg::wait(block);
  y[t] = s[127 - t];
}
KERNEL(right_producer_and_consumer) {
  T
  __shared__ block_barrier full, empty;
  if (t == 0) { init(&full, 64); init(&empty, 64); }
  __syncthreads();
  for (int k = 0; k < 3; k++)
    if (t < 32) { if (k) empty.arrive_and_wait(); s[t] = x[t] + k; (void)full.arrive(); }
    else { full.arrive_and_wait(); y[t] += s[63 - t]; if (k < 2) (void)empty.arrive(); }
}
KERNEL(producer_does_not_wait_for_the_consumer) {  // who is at the next phase already has read
  T
  __shared__ block_barrier full;
  if (t == 0) init(&full, 64);
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    if (t < 32) s[t] = x[t] + k;
    full.arrive_and_wait();
    if (t >= 32) y[t] += s[63 - t];
  }
}
KERNEL(nobody_waits) { T COPY(t, t); __pipeline_commit(); __syncthreads(); y[t] = s[63 - t]; }
KERNEL(not_even_for_its_own) { T COPY(t, t); __pipeline_commit(); y[t] = s[t]; }
KERNEL(nothing_is_committed) {
  T
  COPY(t, t);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  y[t] = s[63 - t];
}
KERNEL(waits_for_one_too_few) {
  T
  COPY(t, t); __pipeline_commit();
  COPY(64 + t, 64 + t); __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  y[t] = s[127 - t];
}
KERNEL(waits_behind_the_barrier) {
  T COPY(t, t); __pipeline_commit(); __syncthreads(); __pipeline_wait_prior(0); y[t] = s[63 - t];
}
KERNEL(one_warp_does_not_wait) {
  T COPY(t, t); __pipeline_commit(); if (t < 32) __pipeline_wait_prior(0); __syncthreads(); y[t] = s[63 - t];
}
KERNEL(writes_where_a_copy_is_under_way) {
  T COPY(t, t); __pipeline_commit(); s[t ^ 1] = t; __pipeline_wait_prior(0); __syncthreads(); y[t] = s[63 - t];
}
KERNEL(fills_a_buffer_that_others_read) {
  T
  COPY(t, t); __pipeline_commit(); __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = s[63 - t];
  COPY(t, 64 + t); __pipeline_commit(); __pipeline_wait_prior(0);
  __syncthreads();
  y[t] += s[63 - t];
}
KERNEL(arrives_and_does_not_wait) {
  T
  __shared__ block_barrier b;
  if (t == 0) init(&b, 64);
  __syncthreads();
  cuda::memcpy_async(&s[t], &x[t], 4, b);
  (void)b.arrive();
  __syncthreads();
  y[t] = s[63 - t];
}
KERNEL(bulk_that_nobody_waits_for) {
  T
  __shared__ block_barrier b;
  if (t == 0) { init(&b, 1); cuda::device::experimental::fence_proxy_async_shared_cta(); }
  __syncthreads();
  if (t == 0) {
    cuda::device::memcpy_async_tx(s, x, cuda::aligned_size_t<16>(512), b);
    (void)cuda::device::barrier_arrive_tx(b, 1, 512);
  }
  __syncthreads();
  y[t] = s[127 - t];
}
KERNEL(group_copy_without_wait) {
  T
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, 512);
  block.sync();
  y[t] = s[127 - t];
}
KERNEL(right_atomics_of_each_block) {
  atomicAdd_block(&y[blockIdx.x], x[threadIdx.x]);
  cuda::atomic_ref<int, cuda::thread_scope_block>(y[8 + blockIdx.x]).fetch_max(x[threadIdx.x]);
}
KERNEL(right_atomics_of_the_device) { atomicAdd(&y[0], x[threadIdx.x]); atomicMax_system(&y[1], x[threadIdx.x]); }
KERNEL(right_flag_within_a_block) {
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(y[64 + blockIdx.x]);
  if (threadIdx.x == 32) { y[blockIdx.x] = x[5]; flag.store(1, cuda::memory_order_release); }
  if (threadIdx.x == 0) { while (!flag.load(cuda::memory_order_acquire)); y[8 + blockIdx.x] = y[blockIdx.x]; }
}
KERNEL(atomics_of_the_block) { atomicAdd_block(&y[0], 1); }
KERNEL(one_of_the_block_one_of_the_device) {
  if (blockIdx.x) atomicAdd(&y[0], 1); else atomicAdd_block(&y[0], 1);
}
KERNEL(references_of_the_block) {
  cuda::atomic_ref<int, cuda::thread_scope_block>(y[0]).fetch_add(1, cuda::memory_order_relaxed);
}
KERNEL(flag_of_the_block_between_blocks) {
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(y[64]);
  if (threadIdx.x) return;
  if (blockIdx.x) { y[0] = x[5]; flag.store(1, cuda::memory_order_release); }
  else { while (!flag.load(cuda::memory_order_acquire)); y[8] = y[0]; }
}
KERNEL(lock_of_the_block_between_blocks) {
  if (threadIdx.x) return;
  while (atomicCAS_block(&y[64], 0, 1));
  __threadfence();
  y[0] += x[1];
  __threadfence();
  atomicExch_block(&y[64], 0);
}
"""
NAMES = [line.split("(")[1].split(")")[0] for line in SOURCE.splitlines() if line.startswith("KERNEL(")]
RIGHT = [name for name in NAMES if name.startswith("right")]
WRONG = [name for name in NAMES if not name.startswith("right")]


@pytest.fixture(scope="module")
def kernels() -> dict[str, SassKernel]:
    """The kernels of SOURCE."""
    return dict(simt.load_cuda(SOURCE, "sm_90"))


def checked(kernel: SassKernel, check: str = "all") -> tuple[simt.Finding, ...]:
    x, y = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    grid = 2 if "block" in kernel.name or "device" in kernel.name else 1
    return tuple(simt.launch(kernel, grid, 64, x, y, check=check, keep_going=True).findings)


@pytest.mark.parametrize("name", WRONG)
def test_the_bug_is_found(kernels: dict[str, Any], name: str) -> None:
    assert {finding.tool for finding in checked(kernels[name], "racecheck")} == {"racecheck"}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_a_right_kernel(kernels: dict[str, Any], name: str) -> None:
    assert checked(kernels[name]) == ()


def test_a_copy_that_nobody_waits_for_is_said_to_be_one(kernels: dict[str, Any]) -> None:
    (finding,) = checked(kernels["nobody_waits"])
    assert finding.kind == "copy under way"
    assert [side.what for side in finding.sides] == ["read", "asynchronous copy before"]
    assert "LDGSTS" in finding.sides[1].instruction
    assert finding.count == 2  # warps


def test_the_scope_is_named(kernels: dict[str, Any]) -> None:
    for name in ("atomics_of_the_block", "one_of_the_block_one_of_the_device", "references_of_the_block"):
        (finding,) = checked(kernels[name])
        assert "scope of the device" in finding.help
