"""Store sums, times and counters of the whole family of ``simt.kernels``; needs a GPU with Nsight Compute.

``python -m tests.gpu.record_family FILE [SIZE]…`` (default: 2^16, 2^22 and 2^24 elements, blocks of 512).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gpu
from gpu import jobs, profiling
from simt import kernels
from tests.gpu.provenance import provenance

BLOCK = 512
SIZES = (2**16, 2**22, 2**24)


def reductions(size: int) -> list[dict[str, Any]]:
    """One entry per reduction of the family, profiled."""
    data = kernels.sample(size)
    todo, entries = [], []
    for name in kernels.names("reduction"):
        total, run = gpu.reduce(data, kernel=name, block=BLOCK, repeats=20)
        plan = kernels.get_reduction(name).plan_for(data, BLOCK)
        todo.append(jobs.Job(plan.kernel, plan.grid, plan.block, plan.args))
        entries.append(
            {
                "kernel": name,
                "size": size,
                "grid": plan.grid,
                "block": BLOCK,
                "sum": int(total),
                "expected": int(kernels.operation("sum").reduce(data)),
                "milliseconds": run.milliseconds,
                "fastest": min(run.times),
                "registers": run.registers,
            }
        )
    return _with_counters(entries, todo)


def divergence() -> list[dict[str, Any]]:
    """One entry per divergence kernel, at its default size."""
    todo, entries = [], []
    for name in kernels.names("divergence"):
        plan = kernels.get(name).plan()
        run = gpu.launch(plan.kernel, plan.grid, plan.block, *plan.args)
        todo.append(jobs.Job(plan.kernel, plan.grid, plan.block, kernels.get(name).plan().args))
        entries.append({"kernel": name, "grid": run.grid, "block": run.block, "milliseconds": run.milliseconds})
    return _with_counters(entries, todo)


def _with_counters(entries: list[dict[str, Any]], todo: list[jobs.Job]) -> list[dict[str, Any]]:
    for entry, profile in zip(entries, profiling.profile_all(todo), strict=True):
        entry["counters"] = profile.counters
        entry["metrics"] = dict(profile.metrics)
        entry["profiled_milliseconds"] = profile.milliseconds
    return entries


def main(file: Path, sizes: tuple[int, ...]) -> None:
    """Record everything into *file*."""
    found = {
        **provenance("tests.gpu.record_family"),
        "reductions": [entry for size in sizes for entry in reductions(size)],
        "divergence": divergence(),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(int(size) for size in sys.argv[2:]) or SIZES)
