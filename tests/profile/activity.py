"""What a program did, made by hand: no compiler, no engine."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from simt import devices
from simt.machine.result import RunResult
from simt.metrics import STALLS, TIMING_INPUTS
from simt.profile import Activities, Copied, Launched, Profile
from simt.program import COUNTERS
from simt.timing import TimingResult
from tests.profile.handmade import machine_code

NEIGHBORED, UNROLL = "_Z10neighboredPiS_j", "_Z15complete_unrollILj512EEvPiS0_j"


def launched(
    symbol: str, start: float, executed: int, seconds: float | None = None, by_device: bool = False, grid: int = 8
) -> Launched:
    """A launch of *grid* blocks of 64 threads, whose first instruction executed so often."""
    program = replace(machine_code(), symbol=symbol, name=symbol, shared_bytes=1024)
    counters = np.zeros((len(program.instructions), len(COUNTERS)), np.int64)
    counters[0, COUNTERS.index("inst_executed")] = executed
    counters[0, COUNTERS.index("branches")] = 12
    counters[0, COUNTERS.index("divergent_branches")] = 2
    result = RunResult(counters, (grid, 1, 1), (64, 1, 1), 3072, 0.0, 1)
    timing: Any = None
    if seconds is not None:
        inputs = dict.fromkeys(TIMING_INPUTS, 0) | {"seconds": seconds, "load_sectors": 1000, "grid_share": 1.0}
        inputs |= {"active_cycles": 100, "max_warps": 64, "warp_cycles": 3200, "schedulers": 4}
        timing = SimpleNamespace(
            seconds=seconds, inputs=inputs, reasons=list(STALLS), lines=np.zeros((3, len(STALLS))),
            ACCESSES=TimingResult.ACCESSES, line_accesses=np.zeros((3, 4), np.int64),
        )  # fmt: skip
    return Launched(Profile(program, result, device="h200", timing=timing), start, by_device=by_device)


def timed() -> Activities:
    """Two kernels, one of which a kernel launches, too, between two copies."""
    return Activities(
        devices.get("h200"),
        [
            launched(NEIGHBORED, 1e-5, 4000, 54.355e-6),
            launched(UNROLL, 7e-5, 1000, 1.344e-6),
            launched(UNROLL, 8e-5, 3000, 26.194e-6, by_device=True),
        ],
        [Copied("HtoD", 4096, 0.0, 1.184e-6), Copied("memset", 64, 5e-6, 6.4e-7), Copied("DtoH", 80_000_000, 2e-4)],
    )


def untimed() -> Activities:
    """The same without times."""
    found = timed()
    plain = [launched(NEIGHBORED, 1.0, 4000), launched(UNROLL, 3.0, 1000), launched(UNROLL, 4.0, 3000, by_device=True)]
    return Activities(found.device, plain, [replace(each, seconds=None) for each in found.copied])
