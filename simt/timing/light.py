"""How near a launch comes to what the device can do at most, its speed of light, and of what kind that makes it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from simt.devices import Gpu
from simt.devices.device import TIMING
from simt.timing import layout as L
from simt.timing.classes import PIPES
from simt.timing.kinds import IMBALANCE, LATENCY, LIMITS
from simt.timing.sample import Sample

NEAR = 40.0
"""Percent from which a limit counts as near, below that latency is what limits a launch.

Nsight Compute's rule for its bottleneck says 60; the figures here leave out some of what keeps its units busy.
"""


ISSUE = "issue"
"""The name of the issue slots among the ports."""
LSU, ADU = "lsu", "adu"
"""The SM's pipe for loads, stores, shuffles and thread numbers, and that for constants, barriers and block numbers."""
LSU_CYCLES, ADU_CYCLES = 4, 8
"""Of the cycles of an SM's schedulers together that one instruction takes there: one and two cycles of the SM.

So Nsight Compute counts sm__inst_executed_pipe_lsu and _adu: on an H100 the listings of a vector addition, a bitonic
sort and a tiled matrix product agree with it.
"""


def ports(ops: npt.NDArray[np.int64], executed: npt.NDArray[np.int64]) -> dict[str, int]:
    """Cycles that each issue port of the schedulers is busy: the issue slots themselves, and the pipes.

    Parameters:
        ops: int64 [micro-ops, columns], the schedule's table.
        executed: int64 [micro-ops], how often each was executed.
    FFMA and its like take either half of the FMA pipe, IMAD the heavy one, HFMA2 both; an interval is that of a half.
    """
    issues = ops[:, L.O_ISSUES] != 0
    pipes, cycles = ops[issues, L.O_PIPE], (executed * ops[:, L.O_INTERVAL])[issues]
    busy = {name: int(cycles[pipes == k].sum()) for k, name in enumerate(PIPES)}
    counts = {name: int(executed[issues][pipes == k].sum()) for k, name in enumerate(PIPES)}
    either, heavy, both = busy.pop("fma"), busy.pop("fma_heavy"), busy.pop("fma_both")
    light = busy.pop("fma_light")
    for elsewhere in ("none", "branch", "barrier", "sreg", "const"):
        del busy[elsewhere]
    busy[LSU] = int(LSU_CYCLES * (counts["lsu"] + counts["sreg"]))
    busy[ADU] = int(ADU_CYCLES * (counts["const"] + counts["barrier"]))
    heavy += both
    found = {name: cycles for name, cycles in busy.items() if cycles}
    return {ISSUE: int(executed[issues].sum()), "fma": max(heavy, (either + heavy + light + both) // 2), **found}


def most_dram_bytes(gpu: Gpu) -> float:
    """Bytes that the device's memory moves at most in a cycle of its SMs; else what the timing model lets it read."""
    most = gpu.memory_bytes_per_cycle
    return float(gpu.sections[TIMING]["dram_read_bytes_per_cycle"].value) if most is None else most


def kind_of(metrics: Mapping[str, float | None], sample: Sample) -> str:
    """One of :data:`simt.timing.kinds.KINDS`: by what the blocks execute, and by the metrics of a timed launch."""
    if not sample.is_alike:
        return IMBALANCE
    nearest = max(LIMITS, key=lambda name: metrics[LIMITS[name]] or 0.0)
    return nearest if (metrics[LIMITS[nearest]] or 0.0) >= NEAR else LATENCY
