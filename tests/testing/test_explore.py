"""explore: kernels whose results depend on the schedule, and those whose do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import BudgetError, LaunchError
from simt.machine.schedule import Turns, parse_schedule
from simt.testing import exploring
from simt.testing.exploring import names
from tests.machine_view import needs_numba_cuda

Array = Any


def lost_update(x: Array) -> None:
    if cuda.threadIdx.x == 0:
        value = x[0]
        x[0] = value + 1


def added(x: Array) -> None:
    cuda.atomic.add(x, 0, 1)


def last_block(x: Array) -> None:
    if cuda.threadIdx.x == 0:
        x[0] = cuda.blockIdx.x


def waits_if_block_0_is_first(x: Array) -> None:
    if cuda.threadIdx.x == 0:
        first = cuda.atomic.cas(x, 0, 0, cuda.blockIdx.x + 1)
        while first == 0 and cuda.blockIdx.x == 0:
            pass
        x[0] = 1


def waits_for_block_1(x: Array) -> None:
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            while cuda.atomic.add(x, 0, 0) == 0:
                pass
        if cuda.blockIdx.x == 1:
            cuda.atomic.add(x, 0, 1)


def waits_for_ever(x: Array) -> None:
    while cuda.atomic.add(x, 0, 0) == 0:
        pass


def launching(kernel: Callable[..., None], **options: Any) -> Callable[[], Array]:
    def launch() -> Array:
        x = np.zeros(1, np.int64)
        simt.launch(kernel, 4, 32, x, **options)
        return x

    return launch


def test_atomics_give_the_same_under_every_schedule() -> None:
    found = simt.explore(launching(added), schedules=20)
    assert not found.differs
    assert found.outcomes[0].result == 128
    assert str(found) == "the same result under 20 schedules"


def test_a_lost_update_is_found_with_the_fewest_preemptions() -> None:
    found = simt.explore(launching(lost_update), schedules=60)
    assert found.differs
    assert found.outcomes[0].result == 4
    shortest = found.shortest
    assert shortest is not None
    assert shortest.preemptions == 1
    (schedule,) = shortest.schedules[:1]
    x = np.zeros(1, np.int64)
    simt.launch(lost_update, 4, 32, x, schedule=schedule)
    assert x == shortest.result
    text = str(found)
    assert f"schedule={schedule!r} (1 preemption)" in text
    assert "value = x[0]" in text.partition("first difference:")[2]


@needs_numba_cuda
def test_the_first_difference_in_machine_code_is_an_instruction() -> None:
    found = simt.explore(launching(lost_update, view="sm_90"), schedules=60)
    assert re.search(r"^block \S+ \S+ \S+, warp 0, lane 0 (at|came to) 0x[0-9a-f]{4}  \S", found.difference)


def test_the_order_of_blocks_is_found_without_a_preemption() -> None:
    found = simt.explore(launching(last_block), schedules=10)
    assert found.shortest is not None
    assert found.shortest.preemptions == 0


def test_blocks_may_wait_for_each_other() -> None:
    for schedule in names(12):
        x = np.zeros(1, np.int64)
        simt.launch(waits_for_block_1, 2, 32, x, schedule=schedule, max_instructions=2**19)
        assert x == 1


def test_a_kernel_that_goes_wrong_under_some_schedules_is_another_outcome() -> None:
    found = simt.explore(launching(waits_if_block_0_is_first, max_instructions=2000), schedules=3)
    assert isinstance(found.outcomes[0].error, BudgetError)
    assert found.outcomes[1].result == 1


def test_a_kernel_that_never_ends_is_not_tried_under_every_schedule() -> None:
    tried = []

    def launch() -> None:
        tried.append(None)
        launching(waits_for_ever, max_instructions=500)()

    with pytest.raises(BudgetError, match="more than 500 warp instructions"):
        simt.explore(launch, schedules=100)
    assert len(tried) == 3


def test_an_endless_kernel_needs_no_budget_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for budget in ("PLAIN_BUDGET", "STEP_BUDGET", "TURN_BUDGET"):
        monkeypatch.setattr(exploring, budget, 500)
    with pytest.raises(BudgetError, match="more than 500 warp instructions"):
        simt.explore(launching(waits_for_ever))


def lost_among_many(x: Array) -> None:
    if cuda.threadIdx.x == 0:
        for _ in range(20):
            value = x[0]
            x[0] = value + 1


def test_fewer_preemptions_than_those_tried_are_looked_for() -> None:
    usual = simt.explore(launching(lost_among_many), schedules=2, preemptions=1000).shortest
    found = simt.explore(launching(lost_among_many), schedules=4, preemptions=0).shortest
    assert usual is not None
    assert found is not None
    assert usual.preemptions is not None
    assert found.preemptions is not None
    assert found.preemptions <= usual.preemptions // 2


@pytest.mark.parametrize("schedule", ["round_robin", "adversarial", "random:3", "random:3:1"])
def test_a_schedule_runs_the_same_way_twice(schedule: str) -> None:
    runs = [simt.launch(lost_update, 4, 64, np.zeros(1, np.int64), schedule=schedule, trace=True) for _ in range(2)]
    traces = [run.result.trace for run in runs]
    assert all(trace is not None for trace in traces)
    np.testing.assert_array_equal(*(trace.step for trace in traces if trace is not None))
    np.testing.assert_array_equal(*(trace.values for trace in traces if trace is not None))


@pytest.mark.parametrize("bound", [0, 1, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_preemptions_are_bounded(seed: int, bound: int) -> None:
    ready = np.ones((3, 2), np.bool_)
    turns = Turns(parse_schedule(f"random:{seed}:{bound}"))
    places = {turns.next(ready)[0] for _ in range(40)}
    assert turns.preemptions <= bound
    assert len(places) > 1  # a warp that never waits gives way after FAIR micro-ops
    simt.launch(lost_update, 4, 64, np.zeros(1, np.int64), schedule=f"random:{seed}:{bound}")


def test_a_warp_that_spins_rests_until_the_others_have_run() -> None:
    turns = Turns(parse_schedule("adversarial"))
    ready = np.ones((1, 3), np.bool_)
    assert [turns.next(ready)[0] for _ in range(2)] == [(0, 2), (0, 1)]
    ready[0, 1] = False  # it waits for warp 0, which warp 2 is not to keep from running
    assert turns.next(ready)[0] == (0, 0)
    ready[0, 0] = False
    assert turns.next(ready)[0] == (0, 2)


def test_counts_do_not_depend_on_the_schedule() -> None:
    def barrier(x: Array) -> None:
        shared = cuda.shared.array(64, np.int64)
        t = cuda.threadIdx.x
        shared[t] = t
        cuda.syncthreads()
        x[cuda.grid(1)] = shared[63 - t]

    plain = simt.launch(barrier, 5, 64, np.zeros(320, np.int64))
    for schedule in names(8)[1:]:
        x = np.zeros(320, np.int64)
        profile = simt.launch(barrier, 5, 64, x, schedule=schedule)
        assert (x.reshape(5, 64) == np.arange(63, -1, -1)).all()
        assert profile.counters == plain.counters


def test_errors_are_found_under_a_schedule() -> None:
    def beyond(x: Array) -> None:
        x[cuda.grid(1)] = 1

    with pytest.raises(simt.KernelError, match="out of bounds"):
        simt.launch(beyond, 2, 32, np.zeros(63), schedule="adversarial")
    with pytest.raises(simt.KernelError, match="race"):
        simt.launch(lost_update, 4, 32, np.zeros(1, np.int64), schedule="random:1", check="racecheck")


@pytest.mark.parametrize("schedule", ["", "random", "random:x", "random:1:2:3", "adversarial:1", "fair", 7])
def test_schedules_that_there_are_not(schedule: Any) -> None:
    with pytest.raises(LaunchError, match=r"unknown schedule(?s:.*)round_robin"):
        simt.launch(added, 1, 32, np.zeros(1, np.int64), schedule=schedule)


def test_a_timed_launch_has_no_schedule() -> None:
    with pytest.raises(LaunchError, match="no schedule"):
        simt.launch(added, 1, 32, np.zeros(1, np.int64), schedule="round_robin", timing=True)


def test_what_explore_cannot_compare() -> None:
    with pytest.raises(LaunchError, match="nothing to compare"):
        simt.explore(launching(added), schedules=1)
    with pytest.raises(LaunchError, match="returns nothing to compare"):
        simt.explore(lambda: simt.launch(added, 1, 32, np.zeros(1, np.int64)) and None)
    with pytest.raises(LaunchError, match="launches nothing"):
        simt.explore(lambda: np.zeros(3))
    with pytest.raises(LaunchError, match="must not be negative"):
        simt.explore(launching(added), preemptions=-1)
