"""The machine view against an H200: 36 per-instruction tables and the counters of their launches."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from simt.program import COUNTERS
from tests.sass.data import DATA, cubin, differences, launch, per_line, read_table

LAUNCHES: list[dict[str, Any]] = json.loads((DATA / "h200" / "counters.json").read_text())["launches"][:36]


def values(n: int) -> np.ndarray:
    """The data of the launches: (s >> 16) & 255 of a linear congruential generator, 2**32 steps at a time."""
    multiplier, increment, modulus = 1664525, 1013904223, 2**32
    block = 4096
    factors, terms = np.empty(block, np.uint64), np.empty(block, np.uint64)
    factor, term = 1, 0
    for k in range(block):
        factor, term = factor * multiplier % modulus, (term * multiplier + increment) % modulus
        factors[k], terms[k] = factor, term
    state, parts = 12345, []
    for _ in range(-(-n // block)):
        states = (factors * np.uint64(state) + terms) & np.uint64(modulus - 1)
        parts.append(states)
        state = int(states[-1])
    return ((np.concatenate(parts)[:n] >> np.uint64(16)) & np.uint64(255)).astype(np.int32)


def arguments(kernel: str, size: int, grid: list[int]) -> list[Any]:
    """The arguments that each kernel was launched with."""
    if kernel.startswith("reduce"):
        return [values(size), np.zeros(grid[0], np.int32), np.uint32(size)]
    if kernel == "vecAdd":
        n = 1003 if grid[0] == 16 else 100
        return [np.ones(n, np.float32), np.ones(n, np.float32), np.zeros(n, np.float32), np.int32(n)]
    if kernel == "grayscale":
        w, h = (76, 62) if grid[0] == 5 else (200, 150)
        picture = np.arange(3 * w * h).astype(np.uint8)
        return [np.zeros(w * h, np.uint8), picture, np.int32(w), np.int32(h)]
    if kernel == "loopDiv":
        trips = 4 + 7919 * np.arange(4096) % 5
        return [trips.astype(np.int32), np.zeros(4096, np.float32), np.int32(4096)]
    return [np.zeros(64, np.float32)]


def cases() -> list[Any]:
    found = []
    seen: dict[tuple[str, str], int] = {}
    for entry in LAUNCHES:
        build = "G" if "-G" in entry["build"] else "O3"
        kernel = entry["kernel"].split("<")[0]
        number = seen[build, kernel] = seen.get((build, kernel), 0) + 1
        table = kernel if number == 1 else f"{kernel}_{number}"
        found.append(pytest.param(build, kernel, table, entry, id=f"{build}-{table}"))
    return found


@pytest.mark.parametrize(("build", "kernel", "table", "entry"), cases())
def test_every_row_equals_the_hardware(build: str, kernel: str, table: str, entry: dict[str, Any]) -> None:
    folder, size = ("G_n20_b512", 2**20) if build == "G" else ("O3_n22_b512", 2**22)
    sass = cubin(f"sm_90/kernels_{build}")[kernel]
    args = arguments(kernel, size, entry["grid"])
    total = args[0].sum(dtype=np.int64)
    result = launch(sass, tuple(entry["grid"]), tuple(entry["block"]), args)
    counts = per_line(sass.program, result)
    rows = read_table(DATA / "h200" / "tables" / folder / f"{table}.csv")
    assert differences(rows, sass.program, counts) == []
    if kernel.startswith("reduce"):
        assert args[1].sum(dtype=np.int64) == total

    counters = entry["counters"]
    names = [line.text.removeprefix("@").split() for line in sass.program.listing]
    opcodes = [(words[1] if words[0][0] in "!PU" and len(words) > 1 else words[0]).split(".")[0] for words in names]
    executed = counts[:, COUNTERS.index("inst_executed")]
    arrivals = sum(int(n) for n, opcode in zip(executed, opcodes, strict=True) if opcode == "WARPSYNC")
    syncs = sum(int(n) for n, opcode in zip(executed, opcodes, strict=True) if opcode == "BAR")
    # Of the splits that meet at a WARPSYNC, all but the last wait; the hardware counters, unlike the tables, have
    # them twice.  Only the -G builds have such meetings, each just before a barrier.
    again = max(arrivals - syncs, 0) if build == "G" else 0
    assert executed.sum() + again == counters["inst_executed"]
    assert counts[:, COUNTERS.index("divergent_branches")].sum() == counters["divergent_branch_targets"]
    branches = {"BRA", "EXIT", "BSYNC", "BREAK", "WARPSYNC"}
    assert (
        sum(int(n) for n, opcode in zip(executed, opcodes, strict=True) if opcode in branches) + again
        == counters["branch_instructions"]
    )
