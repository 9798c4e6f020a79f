"""How the splits of a warp run, wait and join: probes whose counts were recorded on an H200, row by row."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pytest

from simt.program import COUNTERS
from tests.sass.data import COLUMNS, DATA, cubin, launch, per_line, read_table

BLOCKS = 128
LIMITS = {"man": 40, "col": 25, "tri": 127}
"""The argument *n* by the first letters of a kernel's name; the others get a number that nothing reaches."""

RECURSION = "functions that call themselves twice: splits wait for each other through one barrier register"
KNOWN: dict[str, tuple[str, set[int]]] = {
    "rec_0": (RECURSION, set()),
}
"""Kernels whose counts differ, why, and in which rows (empty: many)."""

COUNTS = read_table(DATA / "h200" / "order.csv")
KERNELS = list(dict.fromkeys(row["kernel"] for row in COUNTS))
MEMORY = json.loads((DATA / "h200" / "order_memory.json").read_text())


def paths() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The arrays that decide each lane's path: few or many groups of lanes, even or lopsided ones."""
    random = np.random.RandomState(0)
    first, second = np.zeros((BLOCKS, 32), np.int32), np.zeros((BLOCKS, 32), np.int32)
    for block in range(BLOCKS):
        for array in (first, second):
            groups = [2, 3, 4, 5, 6, 8, 12, 20, 33][random.randint(9)]
            shares = random.dirichlet(np.ones(groups) * random.choice([0.3, 1, 3]))
            array[block] = 1 + random.choice(groups, 32, p=shares)
    return first.ravel(), second.ravel()


@pytest.mark.parametrize("name", KERNELS)
def test_every_row(name: str) -> None:
    kernel = cubin("sm_90/order_O3")[name]
    n = np.int32(LIMITS.get(name[:3], 0x7FFFFFF1))
    args = [*paths(), np.zeros(BLOCKS * 32 * 5, np.uint32), n, np.zeros(64, np.int32)]
    table = per_line(kernel.program, launch(kernel, (BLOCKS, 1, 1), (32, 1, 1), args))
    ours = {line.number: counts for line, counts in zip(kernel.program.listing, table, strict=True) if counts[0]}
    theirs = {int(row["offset"], 16): row for row in COUNTS if row["kernel"] == name}
    assert ours.keys() == theirs.keys()
    differing = {
        offset
        for offset, row in theirs.items()
        for column, counter in COLUMNS.items()
        if row.get(column) and int(row[column]) != ours[offset][COUNTERS.index(counter)]
    }
    _, known = KNOWN.get(name, ("", set()))
    assert differing == known or (name in KNOWN and not known)


@pytest.mark.parametrize("name", MEMORY["bsync_executed"])
def test_memory_instructions_join_waiting_splits(name: str) -> None:
    """Accesses of global, generic, shared and local memory do, those of constant memory and others do not."""
    kernel = cubin("sm_90/order_memory_O3")[name]
    for trips, expected in zip(MEMORY["trips"], MEMORY["bsync_executed"][name], strict=True):
        args = [np.array(trips + [0] * 32, np.int32), np.zeros(64, np.int32), np.int32(40), np.zeros(64, np.int32)]
        table = per_line(kernel.program, launch(kernel, (1, 1, 1), (32, 1, 1), args))
        lines = kernel.program.listing
        waits = [counts[0] for line, counts in zip(lines, table, strict=True) if line.text.startswith("BSYNC")]
        assert waits[-1] == expected
