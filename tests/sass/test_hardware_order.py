"""Both orders of a GPU: its own totals (``hardware``) and its profiler's rows (``profiler``), recorded on an H200."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sass.data import DATA, PROFILED, cubin, executed_rows, launch, per_line, read_table, totals_of
from tests.sass.test_split_order import BLOCKS, LIMITS, paths

TOTALS = {(row["cubin"], row["kernel"]): row for row in read_table(DATA / "h200/order_totals.csv")}
MOVED = "a function that saves a barrier register at which lanes of its caller wait: 6 of 128 warps"
RECURSION = "recursion: not settled"
KNOWN = {
    ("shapes_O3", "c_lp3"): MOVED,
    ("syncs_and_calls_O3", "ca_f3"): MOVED,
    ("order_O3", "rec_0"): RECURSION,
    **{("shapes_O3", f"r_{name}"): RECURSION for name in "12345l"},
    **{("recursion_O3", f"r_{name}"): RECURSION for name in (*"12345l", "ack", "fib", "han", "mut", "qs", "two")},
}
"""Kernels whose totals differ, and why."""
MOST_OFF = 0.03
"""The greatest share by which a known total is off."""


def _rows() -> dict[tuple[str, str], list[dict[str, str]]]:
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    for name in ("shapes", "orders"):
        for row in read_table(DATA / "h200" / f"{name}.csv.xz"):
            found.setdefault((row.get("cubin", "shapes_O3"), row["kernel"]), []).append(row)
    return found


ROWS = _rows()
KNOWN_ROWS = {
    **{("shapes_O3", f"r_{name}"): RECURSION for name in "2345l"},
    **{("recursion_O3", f"r_{name}"): RECURSION for name in (*"2345l", "mut", "qs", "two")},
    ("syncs_and_calls_O3", "ws_in"): "two splits of one size come to a collective region: which of them is the last",
    ("unseen_O3", "b_bfs"): "warps race for the distances",
}
"""Kernels of which some rows differ under the profiler, and why."""


def arguments(file: str, name: str) -> list[Any]:
    """The recorded launch's: one warp in each block, or four in each of four blocks."""
    if file == "order_O3":
        n = np.int32(LIMITS.get(name[:3], 0x7FFFFFF1))
        return [*paths(), np.zeros(BLOCKS * 32 * 5, np.uint32), n, np.zeros(64, np.int32)]
    n = np.int32(9 if name.startswith("w") else 40 if name == "a_man" else 0x7FFFFFF1)
    z = np.zeros(128, np.int32)
    if not name.startswith("w"):
        z[:32] = [(i * 11 + 3) % 29 if i % 5 else 0 for i in range(32)]
    return [*paths(), np.zeros(BLOCKS * 32, np.uint32), n, z, np.zeros(BLOCKS * 64 * 32, np.uint32)]


def counts(file: str, name: str, order: str) -> Any:
    """Counts per listing line."""
    kernel = cubin(f"sm_90/{file}")[name]
    shape = ((4, 1, 1), (128, 1, 1)) if file == "unseen_O3" else ((BLOCKS, 1, 1), (32, 1, 1))
    result = launch(kernel, *shape, arguments(file, name), order=order)
    return kernel.program, per_line(kernel.program, result)


@pytest.mark.parametrize(("file", "name"), TOTALS)
def test_totals_of_the_hardware_counters(file: str, name: str) -> None:
    _, table = counts(file, name, "hardware")
    recorded = TOTALS[file, name]
    for counter, total in totals_of(table).items():
        assert (total == int(recorded[counter])) != ((file, name) in KNOWN), counter
        assert abs(total / int(recorded[counter]) - 1) < MOST_OFF, counter


@pytest.mark.parametrize(("file", "name"), ROWS)
def test_rows_of_the_profiler(file: str, name: str) -> None:
    ours = executed_rows(*counts(file, name, "profiler"))
    theirs = {int(row["offset"], 16): tuple(int(row[c]) for c in PROFILED) for row in ROWS[file, name]}
    assert (ours == theirs) != ((file, name) in KNOWN_ROWS)
