"""How fast the timing model's loop over cycles runs: warp instructions a second of CPU time, the loop alone.

One SM, or as many as the first argument says: ``python -m tests.benchmarks.timed_loop 64``.

The reductions at 2^22 and the kernels of validation.cu and unseen.cu, machine view (needs nvdisasm): launches that are
short on instructions are as long on memory, cycle by cycle.  Medians of RUNS in one process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import geometric_mean, median
from unittest.mock import patch

import numpy as np

from simt.timing import TimingResult
from simt.timing.simulate import _Run
from tests.timing import launches

RUNS = 7
SIZE = 1 << 22


def rate(simulate: Callable[[], TimingResult]) -> float:
    """Millions of warp instructions a second."""
    seconds: list[float] = []
    plain = _Run.go

    def timed(run: _Run, blocks: int, progress: Callable[[int, int], None] | None) -> None:
        begin = time.process_time()
        plain(run, blocks, progress)
        seconds.append(time.process_time() - begin)

    with patch.object(_Run, "go", timed):
        results = [simulate() for _ in range(1 + RUNS)]  # the first may compile
    return float(results[0].totals["issued"]) / median(seconds[1:]) / 1e6


def main(sms: int) -> None:
    found = {}
    data = launches.values(SIZE)
    for number, (name, chunks) in enumerate(launches.REDUCTIONS):
        grid = [SIZE // 512 // chunks, 1, 1]
        args = [data, np.zeros(grid[0], np.int32), np.uint32(SIZE)]
        full = name if number else name + "P"  # reduceNeighbored, not reduceNeighboredLess
        found[name] = rate(partial(launches.run, "reductions", full, grid, [512, 1, 1], args, sms=sms))
    for program, arguments in (("validation", launches.validation_arguments), ("unseen", launches.unseen_arguments)):
        for entry, args in zip(launches.measured(program), arguments(), strict=True):
            name, shape = launches.plain(entry["kernel"]), (entry["grid"], entry["block"])
            found[f"{program} {name}"] = rate(partial(launches.run, program, name, *shape, args, sms=sms))
    for name, millions in found.items():
        print(f"{name:32} {millions:6.2f} M/s")
    print(f"median {median(found.values()):.2f}, geometric mean {geometric_mean(found.values()):.2f} M/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1)
