"""114 launches of many kinds as an H200 runs them, and as the model does: python tests/benchmarks/survey.py [DEVICE].

Builds survey/survey.cu with nvcc and runs it under simt exec (a few minutes).  They show which kinds of kernels the
model does not know; what is wrong with these is measured by the microbenchmarks.  Needs nvcc and nvdisasm.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
from typing import Any

HERE = Path(__file__).parent
MEASURED = HERE.parent / "data" / "timing" / "h200" / "survey.json"
OTHERS = ("stall_selected", "stall_not_selected")


def predicted(device: str) -> list[dict[str, Any]]:
    """The launches of survey.cu as simt exec reports them, in order."""
    with tempfile.TemporaryDirectory() as folder:
        program, report = Path(folder, "survey"), Path(folder, "report.json")
        build = ["nvcc", "-O3", "-arch=sm_90", "-cudart", "shared", "-o", str(program)]
        subprocess.run([*build, str(HERE / "survey" / "survey.cu")], check=True, stderr=subprocess.DEVNULL)
        options = ["--device", device, "--timing", "--json", "--log-file", str(report)]
        subprocess.run([sys.executable, "-m", "simt", "exec", *options, str(program)], check=True)
        return list(json.loads(report.read_text())["launches"])


def main(device: str = "h200") -> None:
    """Print each launch, the furthest off first, and what all of them come to."""
    rows = []
    for there, here in zip(json.loads(MEASURED.read_text())["launches"], predicted(device), strict=True):
        counters, metrics = there["counters"], here["metrics"]
        moved = [sum(of[f"dram_{way}_bytes"] for way in ("read", "write")) / 1e6 for of in (metrics, counters)]
        stalls = {name: x for name, x in counters.items() if name.startswith("stall_") and name not in OTHERS}
        largest = max(stalls, key=stalls.__getitem__).removeprefix("stall_")
        occupancy = metrics["achieved_occupancy_percent"], counters["achieved_occupancy_pct"]
        off = 100 * (metrics["cycles"] / counters["cycles"] - 1)
        rows.append((off, here, counters["cycles"], moved, occupancy, here["timing"]["dominant_stall"], largest))
    for off, here, cycles, moved, occupancy, stall, largest in sorted(rows, key=lambda row: -abs(row[0])):
        print(
            f"{off:+6.1f} % of {cycles:7.0f}  {here['kernel']} {here['grid']} x {here['block']}, DRAM {moved[0]:.2f} /"
            f" {moved[1]:.2f} MB, occupancy {occupancy[0]:.0f} / {occupancy[1]:.0f} %, {stall} / {largest}"
        )
    errors = [row[0] for row in rows]
    large = [here / there - 1 for here, there in (row[3] for row in rows) if there > 1]
    print(
        f"mean {mean(map(abs, errors)):.1f} %, median {median(map(abs, errors)):.1f}, bias {mean(errors):+.1f},"
        f" beyond 25 %: {sum(abs(x) > 25 for x in errors)};"
        f" DRAM within 10 % in {sum(abs(x) <= 0.1 for x in large)} of {len(large)},"
        f" occupancy within 5 points in {sum(abs(row[4][0] - row[4][1]) <= 5 for row in rows)},"
        f" largest stall right in {sum(row[5] == row[6] for row in rows)} of {len(rows)}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
