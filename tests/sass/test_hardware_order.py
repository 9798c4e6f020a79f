"""Both orders of a GPU: its own totals (``hardware``) and its profiler's rows (``profiler``), recorded on an H200."""

from __future__ import annotations

import csv
import lzma
from typing import Any

import numpy as np
import pytest

from simt.program import COUNTERS
from tests.sass.data import DATA, cubin, launch, per_line, read_table
from tests.sass.test_split_order import BLOCKS, LIMITS, paths

TOTALS = {
    (row["cubin"], row["kernel"]): int(row["inst_executed"]) for row in read_table(DATA / "h200/order_totals.csv")
}
RECURSION = "recursion: splits wait for each other through one barrier register"
MOVED = "a function that saves a barrier register at which lanes of its caller wait: 6 of 128 warps"
OVERWRITTEN = "BSYNC of a barrier that a second split set before the first one came there is issued twice on an H200"
KNOWN = {
    **dict.fromkeys([("shapes_O3", f"r_{name}") for name in "12345l"], RECURSION),
    ("order_O3", "rec_0"): RECURSION,
    ("shapes_O3", "w_tail"): OVERWRITTEN,
    ("shapes_O3", "w_swin"): OVERWRITTEN,
    ("shapes_O3", "c_lp3"): MOVED,
}
"""Kernels whose total differs, and why."""

with lzma.open(DATA / "h200" / "shapes.csv.xz", "rt", newline="") as _file:
    ROWS = list(csv.DictReader(_file))
SHAPES = list(dict.fromkeys(row["kernel"] for row in ROWS))
KNOWN_ROWS = {f"r_{name}": RECURSION for name in "2345l"}
"""Kernels of shapes.cu of which some rows differ under the profiler, and why."""


def arguments(file: str, name: str) -> list[Any]:
    """The recorded launch's: one warp in each block."""
    if file == "order_O3":
        n = np.int32(LIMITS.get(name[:3], 0x7FFFFFF1))
        return [*paths(), np.zeros(BLOCKS * 32 * 5, np.uint32), n, np.zeros(64, np.int32)]
    n = np.int32(9 if name.startswith("w_") else 40 if name == "a_man" else 0x7FFFFFF1)
    z = np.zeros(128, np.int32)
    if not name.startswith("w_"):
        z[:32] = [(i * 11 + 3) % 29 if i % 5 else 0 for i in range(32)]
    return [*paths(), np.zeros(BLOCKS * 32, np.uint32), n, z, np.zeros(BLOCKS * 64 * 32, np.uint32)]


def counts(file: str, name: str, order: str) -> Any:
    """Counts per listing line."""
    kernel = cubin(f"sm_90/{file}")[name]
    result = launch(kernel, (BLOCKS, 1, 1), (32, 1, 1), arguments(file, name), order=order)
    return kernel.program, per_line(kernel.program, result)


@pytest.mark.parametrize(("file", "name"), TOTALS)
def test_total_of_the_hardware_counter(file: str, name: str) -> None:
    _, table = counts(file, name, "hardware")
    total = int(table[:, COUNTERS.index("inst_executed")].sum() + table[:, COUNTERS.index("replays")].sum())
    assert (total == TOTALS[file, name]) != ((file, name) in KNOWN)


@pytest.mark.parametrize("name", SHAPES)
def test_rows_of_the_profiler(name: str) -> None:
    columns = ("inst_executed", "thread_inst_executed", "pred_on_thread_inst_executed", "divergent_branches")
    program, table = counts("shapes_O3", name, "profiler")
    ours = {
        line.number: tuple(int(row[COUNTERS.index(column)]) for column in columns)
        for line, row in zip(program.listing, table, strict=True)
        if row[0]
    }
    theirs = {int(row["offset"], 16): tuple(int(row[c]) for c in columns) for row in ROWS if row["kernel"] == name}
    assert (ours == theirs) != (name in KNOWN_ROWS)
