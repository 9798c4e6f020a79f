"""Ordinary CUDA C kernels on every architecture: results against NumPy and an H200, counts against the H200.

The H200 ran the sm_90 code.  Other architectures' code has to give the same bits, except where it says otherwise below.
"""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.profile.compare import COMPARED
from simt.sass import Kernels, load_cubin
from tests.sass.corpus import FILES, Launch, launches
from tests.sass.data import DATA, read_table
from tests.slow import few

CORPUS = DATA / "corpus"
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)

OTHER_CODE = {
    "warp_votes": "REDUX and what depends on it are compiled from sm_80 on",
    "atomics_packed": "vector atomics are compiled from sm_90 on",
    "groups": "which lanes are together where coalesced_threads() is called is not defined",
    "half_operations": "the compiler fuses x * y + z for some architectures only",
    "bfloat16_operations": "the compiler fuses x * y + z, or converts over float32, for some architectures only",
}
"""Kernels whose results differ between architectures, and why."""

TIMING = "how often lanes or warps contend depends on timing"
KNOWN_COUNTS = {
    "hash_insert": TIMING,
    "bfs_frontier": TIMING,
    "atomics_shared": TIMING,
    "atomics_packed": TIMING,
}
"""Launches whose counts are not all equal, and why."""


@cache
def kernels(architecture: int, folder: Path) -> dict[str, Kernels]:
    """The corpus for an architecture by file."""
    with zipfile.ZipFile(CORPUS / f"sm_{architecture}.zip") as archive:
        archive.extractall(folder)
    return {file: load_cubin(folder / f"{file}.cubin") for file in FILES}


def named() -> dict[str, Launch]:
    """The launches as ``kernel.0``, ``kernel.1``, ..."""
    found: dict[str, Launch] = {}
    for launch in launches():
        number = sum(name.rpartition(".")[0] == launch.kernel for name in found)
        found[f"{launch.kernel}.{number}"] = launch
    return found


def run(launch: Launch, files: dict[str, Kernels]) -> Any:
    return simt.launch(
        files[launch.file][launch.kernel],
        launch.grid,
        launch.block,
        *launch.args,
        shared_bytes=launch.shared,
        max_instructions=3_000_000,
    )


@pytest.mark.parametrize("architecture", few(ARCHITECTURES, [75, 90]))
def test_results(architecture: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    files = kernels(architecture, tmp_path_factory.mktemp("corpus"))
    recorded = np.load(CORPUS / "h200_outputs.npz")
    for name, launch in named().items():
        if architecture < launch.since:
            continue
        run(launch, files)
        for number, expected in launch.expected.items():
            given = launch.args[number].ravel()
            close = {"rtol": launch.tolerance, "atol": launch.tolerance}
            np.testing.assert_allclose(given, expected.ravel(), **close, err_msg=f"{name}, argument {number}")
        if architecture != 90 and launch.kernel in OTHER_CODE:
            continue
        for number, given in enumerate(launch.args):
            if f"{name}.{number}" not in recorded.files:
                continue
            theirs = recorded[f"{name}.{number}"]
            assert given.tobytes() == theirs.tobytes(), f"{name}, argument {number}"


def test_counts_equal_the_hardware(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = kernels(90, tmp_path_factory.mktemp("corpus"))
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_table(CORPUS / "h200_counts.csv.xz"):
        tables.setdefault(row["launch"], {})[row["offset"]] = row
    differing = set()
    for name, launch in named().items():
        if name not in tables:
            continue
        lines = {hex(line.offset): line for line in run(launch, files).lines}
        for offset, row in tables[name].items():
            ours = {column: lines[offset].counters[column] for column in COMPARED}
            if ours != {column: int(row[column]) for column in COMPARED}:
                differing.add(launch.kernel)
    assert differing == KNOWN_COUNTS.keys()
