"""What a launch tells its kernel besides grid, block and arguments, and what the kernel says of its launches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from simt.check import LaunchError
from simt.sass import SassKernel
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = [needs_nvdisasm, needs_nvrtc]

SOURCE = """
extern "C" __global__ void dynamic(unsigned *out) {
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[threadIdx.x]));
}
extern "C" __global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = threadIdx.x; }
struct Large { int values[8000]; };
extern "C" __global__ void large(__grid_constant__ const Large p, int first, int *out) {
  int sum = first;
  for (int i = 0; i < 8000; i += 100) sum += p.values[i];
  *out = sum;
}
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, SassKernel]:
    """The kernels of SOURCE."""
    return dict(simt.load_cuda(SOURCE, "sm_90"))


@given(st.integers(0, 4096))
def test_bytes_of_dynamic_shared_memory(kernels: dict[str, SassKernel], size: int) -> None:
    out = np.full(2, -1, np.int32)
    simt.launch(kernels["dynamic"], 1, 2, out, shared_bytes=size)
    assert out.tolist() == [size, size]


def test_launch_bounds(kernels: dict[str, SassKernel]) -> None:
    out = np.zeros(128, np.int32)
    simt.launch(kernels["bounded"], 1, (8, 8), out)
    with pytest.raises(LaunchError, match="bounded was compiled for blocks of at most 64 threads, not 65"):
        simt.launch(kernels["bounded"], 1, 65, out)


def test_more_than_4_kib_of_parameters(kernels: dict[str, SassKernel]) -> None:
    values, out = np.arange(8000, dtype=np.int32), np.zeros(1, np.int32)
    simt.launch(kernels["large"], 1, 1, values.tobytes(), np.int32(5), out)
    assert out[0] == 5 + values[::100].sum()
