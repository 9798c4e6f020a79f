"""Launches that never end: who waits for whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import BudgetError
from tests.machine_view import needs_numba_cuda

Array = Any
BUDGET = 4000


def both_locks(locks: Array, x: Array) -> None:
    if cuda.threadIdx.x == 0:
        first = cuda.blockIdx.x % 2
        while cuda.atomic.cas(locks, first, 0, 1) != 0:
            pass
        cuda.nanosleep(1)
        while cuda.atomic.cas(locks, 1 - first, 0, 1) != 0:
            pass
        x[0] += 1
        cuda.atomic.exch(locks, 1 - first, 0)
        cuda.atomic.exch(locks, first, 0)


def flag_of_the_next_block(flag: Array, x: Array) -> None:
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
        else:
            cuda.atomic.exch(flag, 0, 1)
    x[cuda.blockIdx.x] = 1


def works_for_ever(flag: Array, x: Array) -> None:
    k = 0
    while flag[0] == 0:
        x[k % x.size] = k
        k += 1


def stuck(kernel: Any, **options: Any) -> BudgetError:
    flags, x = np.zeros(2, np.int32), np.zeros(64, np.int32)
    with pytest.raises(BudgetError) as caught:
        simt.launch(kernel, 2, 32, flags, x, max_instructions=BUDGET, **options)
    assert not flags.any()
    assert not x.any()
    return caught.value


@pytest.mark.parametrize("view", ["source", pytest.param("sm_90", marks=needs_numba_cuda)])
def test_locks_that_are_taken_crosswise_are_a_circle(view: str) -> None:
    error = stuck(both_locks, schedule="round_robin", view=view)
    text = str(error)
    if view == "source":
        assert (
            "a deadlock: block (0, 0, 0) holds `locks[0]` and waits for `locks[1]`, "
            "block (1, 0, 0) holds `locks[1]` and waits for `locks[0]`"
        ) in text
        assert "polls `locks[1]` at line" in text
        assert "last written by block (1, 0, 0), warp 0, lane 0" in text
    else:
        assert text.count("a deadlock: block (0, 0, 0) holds") == 1


def test_a_flag_that_nobody_has_set_and_what_to_do() -> None:
    error = stuck(flag_of_the_next_block)
    assert "polls `flag[0]`" in str(error)
    assert "which no other thread has written" in str(error)
    assert "schedule='round_robin'" in error.help
    x = np.zeros(64, np.int32)
    simt.launch(flag_of_the_next_block, 2, 32, np.zeros(2, np.int32), x, schedule="round_robin")
    assert x[:2].all()


def test_a_loop_that_works_waits_for_nobody() -> None:
    assert "polls" not in str(stuck(works_for_ever))


def test_launches_of_a_device_are_not_run_again() -> None:
    """What they wrote stays, so a second run would be another one."""
    gpu = simt.Device()
    flags = gpu.array(np.zeros(2, np.int32))
    with pytest.raises(BudgetError) as caught:
        gpu.launch(flag_of_the_next_block, 2, 32, flags, gpu.array(np.zeros(64, np.int32)), max_instructions=BUDGET)
    assert "polls" not in str(caught.value)
