"""Turn the output folder of measure.sh into the committed data: python collect.py FOLDER DATE DEVICE [NAME ...].

Writes DEVICE/<name>.json (h200/<name>.json) and cubins/<name>.cubin in tests/data/timing.  ``collect.py --metrics``
prints what Nsight Compute has to measure.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data" / "timing"
CLOCKED = ("latency", "pipes", "memory", "mixed", "slots", "spread", "together", "beside", "phases", "fans")
PROFILED = (
    "reductions",
    "validation",
    "unseen",
    "cold",
    "loops",
    "stores",
    "loaded",
    "shared",
    "ends",
    "again",
    "counted",
    "short",
    "naive",
    "rowwise",
    "kept",
    "crowded",
    "wraps",
    "stays",
    "busy",
    "same",
    "parts",
    "constants",
    "across",
    "starts",
    "bands",
    "lanes",
    "columns",
    "turns",
    "bodies",
    "sent",
    "calls",
    "large",
    "anywhere",
    "atoms",
    "meets",
    "indexed",
    "targets",
    "rounds",
    "strided",
    "locals",
    "behind",
)
COMMAND = "tests/benchmarks/microbenchmarks/measure.sh OUTPUT_FOLDER"
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
REASONS = (
    *("barrier", "long_scoreboard", "short_scoreboard", "wait", "not_selected", "selected", "branch_resolving"),
    *("math_pipe_throttle", "mio_throttle", "lg_throttle", "drain", "membar", "no_instruction", "dispatch_stall"),
    *("misc", "imc_miss", "sleeping", "tex_throttle"),
)
METRICS = {
    "cycles": "sm__cycles_elapsed.max",
    "duration_ns": "gpu__time_duration.sum",
    "active_cycles": "sm__cycles_active.avg",
    "active_cycles_min": "sm__cycles_active.min",
    "active_cycles_max": "sm__cycles_active.max",
    "inst_executed": "smsp__inst_executed.sum",
    "achieved_occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "ipc": "sm__inst_executed.avg.per_cycle_active",
    "eligible_warps": "smsp__warps_eligible.avg.per_cycle_active",
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "sm_throughput_pct": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory_throughput_pct": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_throughput_pct": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_throughput_pct": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l2_throughput_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "registers": "launch__registers_per_thread",
    **{f"stall_{reason}": STALL.format(reason) for reason in REASONS},
}


def _dimensions(text: str) -> list[int]:
    return [int(part) for part in text.strip("() ").split(",")]


def launches(path: Path) -> list[dict[str, Any]]:
    """The launches of one CSV file of Nsight Compute (raw page)."""
    with path.open(newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("==")))
    header = rows[0]
    found = []
    for row in rows[2:]:
        entry = dict(zip(header, row, strict=True))
        counters = {name: float(entry[metric].replace(",", "")) for name, metric in METRICS.items() if metric in entry}
        found.append(
            {
                "kernel": entry["Kernel Name"],
                "grid": _dimensions(entry["Grid Size"]),
                "block": _dimensions(entry["Block Size"]),
                "counters": counters,
            }
        )
    return found


def _add_repeats(folder: Path, entries: list[dict[str, Any]]) -> None:
    """The cycles of further runs of the same launches, for the hardware's own spread."""
    for path in sorted(folder.glob("repeat*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("==")))
        at = rows[0].index(METRICS["cycles"])
        which = rows[0].index("Kernel Name"), rows[0].index("Grid Size")
        for row in rows[2:]:
            kernel, grid = row[which[0]], _dimensions(row[which[1]])
            entry = next(e for e in entries if e["kernel"] == kernel and e["grid"] == grid)
            entry.setdefault("repeated_cycles", []).append(float(row[at].replace(",", "")))


def _add_runs(folder: Path, name: str, entries: list[dict[str, Any]]) -> None:
    """The cycles of further runs of the whole program, whose launches are in the same order."""
    for path in sorted(folder.glob(f"{name}.again*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("==")))
        at = rows[0].index(METRICS["cycles"])
        for entry, row in zip(entries, rows[2:], strict=True):
            entry.setdefault("repeated_cycles", []).append(float(row[at].replace(",", "")))


def _write(path: Path, data: dict[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def main(folder: Path, date: str, key: str, names: list[str]) -> None:
    """Convert the figures of the programs *names*, measured on *date* on the device with this key."""
    for kind in (key, "cubins"):
        (DATA / kind).mkdir(parents=True, exist_ok=True)
    device, nvcc, _, profiler = (folder / "device.txt").read_text().strip().splitlines()
    origin = {"date": date, "device": device, "nvcc": nvcc, "profiler": profiler, "command": COMMAND}
    for name in names:
        path = DATA / key / f"{name}.json"
        if name in CLOCKED:
            figures = json.loads((folder / f"{name}.json").read_text())
            _write(path, {**origin, "unit": "SM cycles, or as the name says", "figures": figures})
            shutil.copy(folder / f"{name}.cubin", DATA / "cubins" / f"{name}.cubin")
        else:
            entries = launches(folder / f"{name}.csv")
            if name == "reductions":
                _add_repeats(folder, entries)
            _add_runs(folder, name, entries)
            _write(path, {**origin, "metric_names": METRICS, "launches": entries})
            if name != "reductions":  # their cubin is with the other SASS data
                shutil.copy(folder / f"{name}.cubin", DATA / "cubins" / f"{name}.cubin")


if __name__ == "__main__":
    if sys.argv[1:] == ["--metrics"]:
        print(",".join(METRICS.values()))
    else:
        main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:] or [*CLOCKED, *PROFILED])
