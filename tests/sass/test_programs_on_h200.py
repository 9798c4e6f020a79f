"""The reductions of examples/cuda count what Nsight Compute counted on an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.demangle import NCU, signature
from tests.machine_view import needs_nvdisasm

DATA = Path(__file__).parents[1] / "data" / "hardware" / "programs"
RECORDED = {row["Kernel Name"]: row for row in csv.DictReader((DATA / "reduce.csv").open(encoding="utf-8"))}
SIZE, BLOCK = 2**24, 512
SMALLER = 256
"""Blocks do the same whatever the size, as long as they are full: the grid is so much smaller here."""

pytestmark = needs_nvdisasm


@pytest.mark.parametrize("name", RECORDED)
def test_counts_of_an_h200(name: str) -> None:
    recorded = RECORDED[name]
    kernels = simt.load_cubin(DATA / "reduce.cubin")
    (kernel,) = (each for each in kernels.values() if signature(each.name, NCU) == name)
    grid = int(recorded["Grid Size"].strip("()").split(",")[0]) // SMALLER
    data = np.random.default_rng(0).integers(-128, 128, SIZE // SMALLER).astype(np.int32)
    sums = np.zeros(grid, np.int32)
    metrics = simt.launch(kernel, grid, BLOCK, data.copy(), sums, np.uint32(data.size), shared_bytes=4 * BLOCK).metrics
    assert sums.sum() == data.sum()
    for metric in (
        "smsp__average_inst_executed_per_warp.ratio",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
        "smsp__sass_average_branch_targets_threads_uniform.pct",
    ):
        assert metrics[metric] == pytest.approx(float(recorded[metric]), abs=0.0051), metric
