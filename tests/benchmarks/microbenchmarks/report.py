"""Print the model's error on every measured launch: python tests/benchmarks/microbenchmarks/report.py [PROGRAM ...].

Constants are fitted to ``cold`` and ``loops``; nothing is fitted to ``validation`` and ``reductions``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.timing.launches import error, plain, simulate_all


def main(programs: list[str]) -> None:
    """One line a launch, and the mean absolute error of each program."""
    for program in programs:
        errors = []
        for entry, result in simulate_all(program, most_threads=1 << 24):
            c, m = entry["counters"], result.metrics
            errors.append(error(entry, result))
            measured = {k.removeprefix("stall_"): v for k, v in c.items() if k.startswith("stall_")}
            waits = {k: v for k, v in measured.items() if k not in ("selected", "not_selected")}
            print(
                f"{plain(entry['kernel']):27s} {entry['grid'][0]:6d} x {entry['block'][0]:4d}"
                f"  cycles {result.cycles:8.0f} / {c['cycles']:8.0f} {errors[-1]:+6.1f} %"
                f"  occupancy {100 * m['achieved_occupancy']:5.1f} / {c['achieved_occupancy_pct']:5.1f}"
                f"  ipc {m['ipc']:.2f} / {c['ipc']:.2f}  l1 {m['l1_hit_rate']:3.0f} / {c['l1_hit_pct']:3.0f}"
                f"  {result.dominant_stall} / {max(waits, key=lambda name: waits[name])}"
            )
        print(f"{program}: mean absolute error {np.mean(np.abs(errors)):.1f} %, largest {np.max(np.abs(errors)):.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:] or ["cold", "loops", "validation", "reductions"])
