"""Global loads of the family: a hand-made model, the published figures and the simulator agree."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt import kernels
from tests.kernels import access_model as model

# Block of 512, 2**24 int32 elements.  gld_efficiency: published for nvprof on a Quadro P2000.  Sectors per
# warp: measured by Nsight Compute on an H200, CUDA C at -O3.
PUBLISHED = {
    "neighbored": (25.02, 31.9375),
    "neighbored_less": (25.02, 31.9375),
    "interleaved": (96.15, 8.3125),
    "unrolling2": (98.04, 16.3125),
    "unrolling4": (98.68, 24.3125),
    "unrolling8": (99.21, 40.3125),
    "unroll_warps8": (99.43, 42.25),
    "complete_unroll_warps8": (99.43, 42.25),
    "complete_unroll": (99.43, 42.25),
}


@pytest.mark.parametrize("kernel", PUBLISHED)
def test_the_model_gives_the_published_figures(kernel: str) -> None:
    efficiency, sectors_per_warp = PUBLISHED[kernel]
    sectors = model.sectors(kernel)
    assert sectors / 16 == sectors_per_warp
    assert round(100 * model.requested_bytes(kernel) / (32 * sectors), 2) == efficiency


@pytest.mark.parametrize("kernel", PUBLISHED)
def test_the_simulator_gives_the_published_figures(kernel: str) -> None:
    """Every full block loads alike, so 2**15 elements give the ratios of 2**24."""
    efficiency, sectors_per_warp = PUBLISHED[kernel]
    _, profile = simt.reduce(kernels.sample(2**15), kernel=kernel, block=512)
    assert round(profile.metrics["gld_efficiency"], 2) == efficiency
    assert profile.metrics["gld_transactions"] / profile.counters["warps_launched"] == sectors_per_warp


@pytest.mark.parametrize("block", [64, 128, 256, 1024])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("kernel", [*PUBLISHED, "unroll_warps4", "complete_unroll_warps4"])
def test_every_power_of_two_block_loads_as_the_model_says(kernel: str, dtype: str, block: int) -> None:
    itemsize = np.dtype(dtype).itemsize
    blocks = 3
    elements = blocks * block * kernels.get_reduction(kernel).elements_per_thread
    _, profile = simt.reduce(kernels.sample(elements, dtype), kernel=kernel, block=block)
    assert profile.metrics["gld_transactions"] == blocks * model.sectors(kernel, block, itemsize)
    assert profile.metrics["global_load_requests"] == blocks * len(model.loads(kernel, block))
    assert profile.counters["global_load_bytes"] == blocks * model.requested_bytes(kernel, block, itemsize)
