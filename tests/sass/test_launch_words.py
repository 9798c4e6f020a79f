"""What a launch tells its kernel besides grid, block and arguments, and what the kernel says of its launches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from simt.check import LaunchError, UnsupportedError
from simt.sass import SassKernel
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

pytestmark = [needs_nvdisasm, needs_nvrtc]

SOURCE = """
extern "C" __global__ void dynamic(unsigned *out) {
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[threadIdx.x]));
}
extern "C" __global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = threadIdx.x; }
#define READ(name, k) asm("mov.u32 %0, %%" name ";" : "=r"(out[k]))
extern "C" __global__ void cluster(unsigned *out) {
  out += 15 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  READ("clusterid.x", 0); READ("clusterid.y", 1); READ("clusterid.z", 2);
  READ("nclusterid.x", 3); READ("nclusterid.y", 4); READ("nclusterid.z", 5);
  READ("cluster_ctaid.x", 6); READ("cluster_ctaid.y", 7); READ("cluster_ctaid.z", 8);
  READ("cluster_nctaid.x", 9); READ("cluster_nctaid.y", 10); READ("cluster_nctaid.z", 11);
  READ("cluster_ctarank", 12); READ("cluster_nctarank", 13);
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(out[14]));
}
extern "C" __global__ void __cluster_dims__(2, 2, 1) clusters(int *out) { *out = 1; }
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


@given(st.tuples(st.integers(1, 7), st.integers(1, 5), st.integers(1, 3)))
def test_without_clusters_each_block_is_one(kernels: dict[str, SassKernel], grid: tuple[int, int, int]) -> None:
    """As an H200 answered (2026-11-22, driver 580.159.04): clusters count as blocks do, and have one block."""
    out = np.full((grid[2], grid[1], grid[0], 15), -1, np.int32)
    simt.launch(kernels["cluster"], grid, 1, out)
    for z, y, x in np.ndindex(grid[::-1]):
        assert out[z, y, x].tolist() == [x, y, z, *grid, 0, 0, 0, 1, 1, 1, 0, 1, 0]


def test_a_kernel_for_clusters_is_refused(kernels: dict[str, SassKernel]) -> None:
    with pytest.raises(UnsupportedError, match="clusters was compiled for clusters of 4 blocks"):
        simt.launch(kernels["clusters"], 4, 1, np.zeros(1, np.int32))
