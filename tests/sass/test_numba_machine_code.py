"""Numba's own machine code, recorded on an H200: results bit for bit, counts row by row.

``tests/data/hardware/numba`` holds, for every kernel of ``simt.kernels`` and many more, the cubin that Numba made, the
arguments before and after the launch, and Nsight Compute's counts per instruction (launches.json says where and when).
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.profile.compare import COMPARED
from simt.sass import flatten

DATA = Path(__file__).parent.parent / "data" / "hardware" / "numba"
LAUNCHES = {launch["name"]: launch for launch in json.loads((DATA / "launches.json").read_text())["launches"]}


def arguments(launch: dict[str, Any], stored: Any) -> list[Any]:
    """The launch's arguments, arrays fresh."""
    found: dict[int, Any] = {int(name[2:]): stored[name].copy() for name in stored.files if name.startswith("in")}
    for number, value in launch["scalars"].items():
        found[int(number)] = np.dtype(value["dtype"]).type(value["value"]) if isinstance(value, dict) else value
    return [found[number] for number in sorted(found)]


def simulated(name: str, order: str | None = None) -> tuple[simt.Profile, list[Any], Any]:
    """The launch's profile, its arguments afterwards, and what was recorded of them."""
    launch = LAUNCHES[name]
    stored = np.load(DATA / name / "arrays.npz")
    args = arguments(launch, stored)
    kernel = simt.load_cubin(DATA / name / "kernel.cubin")[launch["symbol"]]
    scalars = {int: np.int64, float: np.float64}
    flat = [scalars[type(value)](value) if type(value) in scalars else value for value in flatten(args)]
    grid, block = tuple(launch["grid"]), tuple(launch["block"])
    return simt.launch(kernel, grid, block, *flat, shared_bytes=launch["shared_bytes"], order=order), args, stored


def recorded_rows(name: str) -> list[dict[str, str]]:
    """The profiler's counts per instruction."""
    with (DATA / name / "rows.csv").open() as file:
        return list(csv.DictReader(file))


OTHER_TOTALS = [
    name
    for name, launch in LAUNCHES.items()
    if sum(int(row["inst_executed"]) for row in recorded_rows(name)) != launch["counters"]["inst_executed"]
]
"""Launches whose total is another one than the sum of the profiler's rows."""


@pytest.mark.parametrize("name", OTHER_TOTALS)
def test_totals_equal_the_hardware_counter(name: str) -> None:
    profile, _, _ = simulated(name, "hardware")
    assert profile.metrics["inst_executed"] == LAUNCHES[name]["counters"]["inst_executed"]


@pytest.mark.parametrize("name", LAUNCHES)
def test_results_and_counts_equal_the_hardware(name: str) -> None:
    launch = LAUNCHES[name]
    profile, args, stored = simulated(name)
    for number, value in enumerate(args):
        if f"out{number}" not in stored.files:
            continue
        assert value.tobytes() == stored[f"out{number}"].tobytes(), f"argument {number}"
    rows = recorded_rows(name)
    differing = {
        row["offset"]: (row["sass"], column, int(row[column]), line.counters[column])
        for row, line in zip(rows, profile.lines, strict=False)
        for column in COMPARED
        if int(row[column]) != line.counters[column]
    }
    assert not differing
    for counter in ("global_atomic_requests", "global_atomic_sectors"):
        assert profile.counters[counter] == launch["counters"][counter]
    assert len(profile.lines) >= len(rows)
