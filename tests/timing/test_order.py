"""Which split of a diverged warp runs first: timing executes machine code in the order of the functional run."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt import devices
from simt.machine import Launch
from simt.program import COUNTERS
from simt.runtime import run
from simt.sass import bank_image
from tests.machine_view import needs_nvdisasm
from tests.sass.data import cubin
from tests.sass.launches import CONVERGENCE, specs
from tests.timing.simulated import simulate

KERNELS = ("mandel", "loopk", "switchk", "callk", "indirk", "warpk", "boolk", *CONVERGENCE)
EXECUTED = COUNTERS.index("inst_executed")


def prepared(name: str, order: str) -> tuple[Any, Launch]:
    group, kernel, grid, block, shared, args = specs()[name]
    sass = cubin(f"sm_90/{group}_O3")[kernel]
    image = partial(bank_image, sass, grid, block, args)
    return sass, Launch(grid, block, args, shared_bytes=shared, order=order, threads=1, bank_image=image)


@needs_nvdisasm
@pytest.mark.parametrize("order", ["hardware", "profiler", "then_first", "else_first"])
@pytest.mark.parametrize("name", KERNELS)
def test_counts_of_diverged_warps(name: str, order: str) -> None:
    """Each counter of each instruction, on all SMs; one SM has those of its blocks."""
    sass, launch = prepared(name, order)
    device = devices.get("h200")
    options = {"code": sass.code.instructions, "context": sass.module.memory.context}
    everywhere = simulate(sass.program, launch, device, **options, sms="all").counters
    n = launch.blocks
    alone = simulate(sass.program, launch, device, **options, sms=1).counters
    rest = simulate(sass.program, launch, device, **options, sms=n).counters
    expected = run(sass.program, prepared(name, order)[1], options["context"]).counters
    assert np.array_equal(everywhere, expected)
    assert np.array_equal(rest, everywhere)
    assert (alone <= everywhere).all()
    assert alone[:, EXECUTED].sum() > 0


@cuda.jit
def handed_over(flag, out):
    if cuda.threadIdx.x == 0:
        while flag[0] == 0:
            pass
        out[0] = 1
    else:
        flag[0] = 1


def test_a_split_that_spins_takes_turns_with_the_others_as_in_the_functional_run() -> None:
    profile = simt.launch(
        handed_over, 1, 32, np.zeros(1, np.int32), np.zeros(1, np.int32), device="h200", timing=True, sms="all"
    )
    assert profile.timing is not None
    assert profile.counters["inst_executed"] > 10_000  # it spun
    assert profile.timing.totals["issued"] == profile.counters["inst_executed"]
