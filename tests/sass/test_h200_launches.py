"""Kernels that cover opcodes and convergence, against an H200: results bit for bit, counts row by row."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sass.data import DATA, cubin, differences, launch, per_line, read_table
from tests.sass.launches import specs

SPECS = specs()
OUTPUTS = np.load(DATA / "h200" / "outputs.npz")

RACE = "two warps contend for one address: how often they retry depends on timing"

KNOWN: dict[str, tuple[str, set[str]]] = {
    # launch: why, and the rows that may differ (empty: any)
    "atom": (RACE, set()),
}
"""What is not equal yet, with the reason; everything else is."""

TABLES = sorted(path.stem for path in (DATA / "h200" / "launches").glob("*/*.csv"))


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple]:
    return {}


def execute(name: str, runs: dict[str, tuple]) -> tuple:
    if name not in runs:
        group, kernel, grid, block, shared, args = SPECS[name]
        sass = cubin(f"sm_90/{group}_O3")[kernel]
        runs[name] = sass.program, launch(sass, grid, block, args, shared), args
    return runs[name]


@pytest.mark.parametrize("name", TABLES)
def test_counts(name: str, runs: dict[str, tuple]) -> None:
    program, result, _ = execute(name, runs)
    rows = read_table(DATA / "h200" / "launches" / SPECS[name][0] / f"{name}.csv")
    found = differences(rows, program, per_line(program, result))
    _, allowed = KNOWN.get(name, ("", {"none"}))
    assert [row for row in found if allowed and row[0] not in allowed] == []


@pytest.mark.parametrize("key", sorted(OUTPUTS.files))
def test_results(key: str, runs: dict[str, tuple]) -> None:
    name, _, argument = key.partition(".")
    ours, theirs = execute(name, runs)[2][int(argument)], OUTPUTS[key]
    as_bits = f"u{ours.itemsize}"
    different = ours.view(as_bits) != theirs.view(as_bits)
    assert not different.any(), np.flatnonzero(different)[:10]
