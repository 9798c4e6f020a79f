"""Kernels with known truth: every bug is found by its check, and nothing is found in those that are right."""

from __future__ import annotations

import pytest

from simt.check import BarrierError, DeadlockError, OutOfBoundsError, RaceError, UninitializedError
from tests.check.truth import barriers, blocks, buffers, idioms, lanes, memory, samples, tiles
from tests.check.truth.known import INIT, MEM, RACE, SYNC, Case
from tests.machine_view import needs_numba_cuda

CASES = [
    case for file in (tiles, buffers, lanes, blocks, memory, barriers, samples, idioms) for case in file.SUITE.cases
]
BUGS = [case for case in CASES if case.bug]
RIGHT = [case for case in CASES if not case.bug]
ERRORS = {RACE: RaceError, INIT: UninitializedError, SYNC: (BarrierError, DeadlockError), MEM: OutOfBoundsError}
BUDGET = 1 << 19
"""Warp instructions: more than a turn of a warp that spins (65536 micro-ops)."""

NOT_ON_THE_MACHINE = {"barrier_of_the_grid", "no_barrier_of_the_grid", "plain_read_among_atomics"}
"""What numba-cuda does not compile without a GPU: cooperative groups, and one that NVVM refuses."""


def name(case: Case) -> str:
    """For pytest."""
    return case.name


@pytest.mark.parametrize("case", BUGS, ids=name)
def test_a_bug_is_found(case: Case) -> None:
    with pytest.raises(ERRORS[case.bug]):
        case.launch(check=case.bug, max_instructions=BUDGET)


@pytest.mark.parametrize("case", RIGHT, ids=name)
def test_nothing_is_found_in_what_is_right(case: Case) -> None:
    assert case.launch(check="all", keep_going=True, max_instructions=BUDGET, fill="random:3").findings == ()


@needs_numba_cuda
@pytest.mark.parametrize("case", [case for case in BUGS if case.machine], ids=name)
def test_a_bug_is_found_in_machine_code(case: Case) -> None:
    if case.name in NOT_ON_THE_MACHINE:
        pytest.skip("numba-cuda does not compile it")
    with pytest.raises(ERRORS[case.bug]):
        case.launch(check=case.bug, max_instructions=BUDGET, view="sm_90")


@needs_numba_cuda
@pytest.mark.parametrize("case", [case for case in RIGHT if case.machine], ids=name)
def test_nothing_is_found_in_right_machine_code(case: Case) -> None:
    if case.name in NOT_ON_THE_MACHINE:
        pytest.skip("numba-cuda does not compile it")
    assert case.launch(check="all", keep_going=True, max_instructions=BUDGET, view="sm_90").findings == ()


def test_half_of_the_kernels_are_right() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 150
    assert len(RIGHT) >= 0.4 * len(CASES)
