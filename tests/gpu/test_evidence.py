"""What an H200 computed and counted, stored; the simulator has to reproduce it without a GPU."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from gpu.comparison import DIFFERENT, compare_metrics, compare_outputs
from gpu.family import ROUNDED
from simt import kernels
from simt.profile import METRICS
from tests.gpu.machine_launches import MachineLaunch, launches

DATA = Path(__file__).parent.parent / "data" / "hardware"

SMALL, LARGE = 2**16, (2**22, 2**24)

NOT_IN_SOURCE_VIEW = {
    "float16_arithmetic": "the source view has no float16",
    "float32_arithmetic": "a - x * y is contracted, and on huge and infinite values that is no rounding matter",
    "float64_arithmetic": "likewise",
}


@cache
def read(name: str) -> Any:
    """A JSON file of the evidence."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def reductions(size: int) -> list[Any]:
    """The stored reductions of one size."""
    return [entry for entry in read("reductions.json")["reductions"] if entry["size"] == size]


@cache
def simulated(name: str) -> tuple[int, simt.Profile]:
    """The simulator's sum and profile of a reduction of the small size."""
    total, profile = simt.reduce(kernels.sample(SMALL), kernel=name, block=512)
    return int(total), profile


@pytest.mark.parametrize(
    "name", ["numba_rules.json", "reductions.json", "two_gpus.json", "numba/launches.json", "accesses.json"]
)
def test_evidence_says_where_it_comes_from(name: str) -> None:
    found = read(name)
    for key in ("date", "command", "devices", "versions", "profiler"):
        assert key in found, key
    assert found["versions"]["driver"]
    assert found["versions"]["numba-cuda"]


@pytest.mark.parametrize("name", kernels.names("reduction"))
def test_reductions_as_the_hardware_counted(name: str) -> None:
    (entry,) = [entry for entry in reductions(SMALL) if entry["kernel"] == name]
    total, profile = simulated(name)
    assert total == entry["sum"] == entry["expected"]
    rows = compare_metrics(profile.metrics, entry["metrics"], "source")
    assert {row.metric for row in rows} >= {"gld_transactions", "global_load_requests", "global_sectors"}
    assert not [row for row in rows if row.verdict == DIFFERENT]


@pytest.mark.parametrize("name", kernels.names("reduction"))
@pytest.mark.parametrize("size", LARGE)
def test_counts_per_warp_do_not_depend_on_the_size(name: str, size: int) -> None:
    """All blocks are full at these sizes, so 2**22 and 2**24 elements follow from 2**16."""
    (entry,) = [entry for entry in reductions(size) if entry["kernel"] == name]
    assert entry["sum"] == entry["expected"]
    ours, theirs = simulated(name)[1].counters, entry["counters"]
    for counter in ("global_load_requests", "global_load_sectors", "global_store_requests", "global_sectors"):
        per_warp = ours[counter] / ours["warps_launched"]
        assert theirs[counter] == per_warp * theirs["warps_launched"], counter


@pytest.mark.parametrize("name", kernels.names("divergence"))
def test_divergence_kernels_as_the_hardware_counted(name: str) -> None:
    (entry,) = [entry for entry in read("reductions.json")["divergence"] if entry["kernel"] == name]
    plan = kernels.get(name).plan()
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    rows = compare_metrics(profile.metrics, entry["metrics"], "source")
    assert not [row for row in rows if row.verdict == DIFFERENT]


def test_every_stored_metric_is_known_and_most_are_held_to_the_hardware() -> None:
    stored = set(reductions(SMALL)[0]["metrics"])
    assert stored <= set(METRICS)
    assert sum(METRICS[name].same_in_every_view for name in stored) >= 12


SOURCE_VIEW = [launch for launch in launches() if launch.name not in NOT_IN_SOURCE_VIEW]


@pytest.mark.parametrize("launch", SOURCE_VIEW, ids=lambda launch: launch.name)
def test_source_view_computes_what_the_gpu_did(launch: MachineLaunch) -> None:
    with np.load(DATA / "numba" / launch.name / "arrays.npz") as arrays:
        before = {name: arrays[name] for name in arrays.files}
    args = list(launch.args())
    theirs = list(args)
    for k, value in enumerate(args):
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, before[f"in{k}"], err_msg="the launch's arguments have changed")
            theirs[k] = before.get(f"out{k}", before[f"in{k}"])
    simt.launch(launch.kernel, launch.grid, launch.block, *args, shared_bytes=launch.shared_bytes)
    outputs = compare_outputs(tuple(args), tuple(theirs), rounded=ROUNDED.get(launch.name))
    assert outputs
    assert not [output for output in outputs if output.verdict == DIFFERENT]


COUNTED_MORE = {
    "newton": 220, "kmp": 37, "quick": 102, "machine_state": 3, "rays": 4, "escape": 13, "poly64": 1,
    "find_words": -33, "queens": 2, "collide": 68,
}  # fmt: skip
"""Executed instructions that Nsight Compute's hardware counter has more (or fewer) than the rows of its other run.

In loops with several exits, which splits of a warp meet before a BSYNC depends on the instrumentation.
"""


def test_counts_per_instruction_add_up() -> None:
    found = read("numba/launches.json")["launches"]
    assert {entry["name"] for entry in found} == {launch.name for launch in launches()}
    for entry in found:
        assert (DATA / "numba" / entry["name"] / "kernel.cubin").read_bytes()[:4] == b"\x7fELF"
        with (DATA / "numba" / entry["name"] / "rows.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for counter in ("inst_executed", "divergent_branches", "thread_inst_executed"):
            more = COUNTED_MORE.get(entry["name"], 0) if counter == "inst_executed" else 0
            assert sum(int(row[counter]) for row in rows) + more == entry["counters"][counter], entry["name"]


def test_two_gpus_give_the_same_sums() -> None:
    found = read("two_gpus.json")["results"]
    sizes = {entry["size"] for entry in found}
    for size in sorted(sizes)[:2]:
        total = int(kernels.operation("sum").reduce(kernels.sample(size)))
        assert {entry["expected"] for entry in found if entry["size"] == size} == {total}
    for entry in found:
        assert entry["one_device"]["sum"] == entry["all_devices"]["sum"] == entry["expected"]
        assert [part["device"] for part in entry["all_devices"]["parts"]] == [0, 1]
    large = [entry for entry in found if entry["size"] == max(sizes)]
    ratios = [entry["one_device"]["milliseconds"] / entry["all_devices"]["milliseconds"] for entry in large]
    assert min(ratios) > 1.8
