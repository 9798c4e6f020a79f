"""Launches that never end: who waits for whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import BudgetError
from simt.runtime.context import FEW_BYTES
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


def both_locks_taken(locks: Array, x: Array) -> None:
    """The same, but each block waits until the other one has its first lock."""
    if cuda.threadIdx.x == 0:
        first = cuda.blockIdx.x % 2
        while cuda.atomic.cas(locks, first, 0, 1) != 0:
            pass
        while cuda.atomic.add(locks, 1 - first, 0) == 0:
            pass
        while cuda.atomic.cas(locks, 1 - first, 0, 1) != 0:
            pass
        x[0] += 1


def flag_that_nobody_sets(flag: Array, x: Array) -> None:
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
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
@pytest.mark.parametrize("schedule", [None, "round_robin"])
def test_locks_that_are_taken_crosswise_are_a_circle(schedule: str | None, view: str) -> None:
    error = stuck(both_locks if schedule else both_locks_taken, schedule=schedule, view=view)
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


def test_a_flag_that_nobody_has_set() -> None:
    error = stuck(flag_that_nobody_sets)
    assert "polls `flag[0]`" in str(error)
    assert "which no other thread has written" in str(error)


def test_a_loop_that_works_waits_for_nobody() -> None:
    assert "polls" not in str(stuck(works_for_ever))


@pytest.mark.parametrize("bytes_more", [0, FEW_BYTES])
def test_a_launch_of_a_device_is_explained_and_leaves_what_it_wrote(bytes_more: int) -> None:
    """The second run begins with the locks free, unless there is too much memory to copy it before every launch."""
    gpu = simt.Device()
    gpu.empty(bytes_more, np.uint8)
    locks, x = gpu.array(np.zeros(2, np.int32)), gpu.array(np.zeros(64, np.int32))
    with pytest.raises(BudgetError) as caught:
        gpu.launch(both_locks, 2, 32, locks, x, max_instructions=BUDGET, schedule="round_robin")
    assert ("a deadlock: block (0, 0, 0) holds" in str(caught.value)) == (bytes_more == 0)
    assert "polls `locks[1]`" in str(caught.value)
    assert locks.numpy().tolist() == [1, 1]


def prints_and_waits(flag: Array, x: Array) -> None:
    if cuda.threadIdx.x == 0:
        print(cuda.blockIdx.x)
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass


def test_what_a_launch_that_is_explained_prints_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert "polls `flag[0]`" in str(stuck(prints_and_waits))
    assert capsys.readouterr().out == "0\n"
