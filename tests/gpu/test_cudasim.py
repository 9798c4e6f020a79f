"""A third opinion beside NumPy: Numba's own CUDA simulator, for the kernels that it supports."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

import gpu
import simt
from gpu import cudasim, jobs
from simt import kernels

REDUCTIONS = ("neighbored", "neighbored_less", "interleaved", "unrolling2", "unrolling4", "unrolling8", "shared")
N, BLOCK = 333, 48


def test_reductions_and_divergence_kernels() -> None:
    """All in one process, which is what takes the time."""
    import os

    data = kernels.sample(N)
    plans = {name: kernels.get_reduction(name).plan_for(data, BLOCK) for name in REDUCTIONS}
    others = {name: kernels.get(name).plan() for name in ("if_else", "loop_trips", "vector_add", "even_odd", "collatz")}
    todo = [jobs.Job(plan.kernel, plan.grid, plan.block, plan.args) for plan in (*plans.values(), *others.values())]
    outcomes, process = jobs.run("plain", todo, environment={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"})
    assert len(outcomes) == len(todo), process.stderr
    for (name, plan), outcome in zip({**plans, **others}.items(), outcomes, strict=True):
        assert not outcome.error, f"{name}: {outcome.error}"
        simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
        for ours, theirs in zip(plan.args, outcome.args, strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
        if name in plans:
            assert plans[name].finish() == data.sum(dtype=np.int32)


def tenfold(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 10


def test_arrays_change_in_place() -> None:
    values = np.arange(6)[::-1]
    cudasim.launch(tenfold, 1, 8, values)
    np.testing.assert_array_equal(values, [50, 40, 30, 20, 10, 0])


def balloting(a):
    a[0] = cuda.ballot_sync(0xFFFFFFFF, True)


def test_what_it_does_not_support() -> None:
    values = np.zeros(1, np.int64)
    with pytest.raises(gpu.GpuError, match="cannot run this kernel"):
        cudasim.launch(balloting, 1, 32, values)
    assert values[0] == 0


def endless(a):
    while a[0] == 0:
        pass


def test_time_limit() -> None:
    with pytest.raises(gpu.GpuError, match="took more than 5 s"):
        cudasim.launch(endless, 1, 1, np.zeros(1), timeout=5)
