"""Store machine code, results and counts per instruction of every machine launch; needs a GPU with Nsight Compute.

``python -m tests.gpu.record_machine FOLDER`` fills FOLDER as ``tests/data/hardware/numba`` is filled:
a folder for each launch with ``kernel.cubin``, ``arrays.npz`` (arguments before and after) and ``rows.csv`` (counts),
and ``launches.json``.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpu import jobs, profiling
from gpu.hardware import device
from gpu.launching import dispatcher, launch
from simt import machine
from simt.profile.compare import COMPARED
from tests.gpu.machine_launches import MachineLaunch, launches
from tests.gpu.provenance import provenance


def record(each: MachineLaunch, folder: Path) -> dict[str, Any]:
    """Run one launch; write its cubin and its arrays; return its entry of ``launches.json``."""
    before, after = each.args(), each.args()
    run = launch(each.kernel, each.grid, each.block, *after, shared_bytes=each.shared_bytes, repeats=1)
    (compiled,) = dispatcher(each.kernel).overloads.values()
    cubin = compiled.library.get_cubin()
    own = folder / each.name
    own.mkdir(exist_ok=True)
    (own / "kernel.cubin").write_bytes(bytes(getattr(cubin, "code", cubin)))
    arrays = {}
    for k, (old, new) in enumerate(zip(before, after, strict=True)):
        if isinstance(old, np.ndarray):
            arrays[f"in{k}"] = old
            if not np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
                arrays[f"out{k}"] = new
    np.savez_compressed(own / "arrays.npz", **arrays)
    return {
        "name": each.name,
        "symbol": compiled.entry_name,
        "signature": str(compiled.signature),
        "grid": machine.dimensions(each.grid, "grid"),
        "block": machine.dimensions(each.block, "block"),
        "shared_bytes": each.shared_bytes,
        "registers": run.registers,
        "scalars": {k: value for k, value in enumerate(before) if not isinstance(value, np.ndarray)},
    }


def main(folder: Path) -> None:
    """Record everything; a launch that fails is named and left out."""
    folder.mkdir(parents=True, exist_ok=True)
    entries, todo = [], []
    for each in launches():
        try:
            entries.append(record(each, folder))
        except Exception as error:
            print(f"left out: {each.name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        todo.append(jobs.Job(each.kernel, each.grid, each.block, each.args(), each.shared_bytes, lineinfo=False))
    for entry, profile in zip(entries, profiling.profile_all(todo), strict=True):
        entry["counters"] = profile.counters
        with (folder / entry["name"] / "rows.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["offset", "sass", *COMPARED])
            for line in profile.lines:
                writer.writerow([hex(line.offset), line.text, *(line.counters[name] for name in COMPARED)])
    text = {**provenance("tests.gpu.record_machine"), "device": device(0).name, "launches": entries}
    (folder / "launches.json").write_text(json.dumps(text, indent=1, default=int), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
