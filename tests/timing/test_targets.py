"""Functions that are called, tables of jumps and recursion: cycles of an H200 (targets.cu)."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import few

CALLED = {0: 5, 1: 5, 5: 5, 7: 8, 9: 10}
"""Launches that call a function by its name, by 1, 8, 16 and 32 warps of an SM, and per cent that they may be off.

They were 28 to 39 % fast when a return took as long as other branches.
"""
CHOSEN = {10: 4, 11: 4, 14: 5, 21: 7, 22: 5, 24: 4, 25: 5, 31: 15, 33: 14, 34: 8, 43: 10}
"""By its address, by a table of jumps and as virtual ones, of which lanes choose 1, 2 or 8.

They were 13 to 75 % fast.
"""
RECURSIVE = {44: 4, 45: 7, 46: 6, 53: 8}
"""Functions that call themselves: -15 to -19 % when returns and moves of barriers took as long as other branches."""


def _off(launch: int) -> float:
    """By how many per cent the model is off."""
    from tests.timing.held import launched
    from tests.timing.launches import error
    from tests.timing.targets_launches import targets_arguments

    return error(*launched("targets", targets_arguments(), launch, device="h200", sms="auto"))


@needs_nvdisasm
@pytest.mark.parametrize("launch", CALLED)
def test_functions_that_are_called(launch: int) -> None:
    assert abs(_off(launch)) < CALLED[launch]


@needs_nvdisasm
@pytest.mark.parametrize("launch", few(CHOSEN, [10, 22, 24]))
def test_branches_to_where_a_register_says(launch: int) -> None:
    assert abs(_off(launch)) < CHOSEN[launch]


@needs_nvdisasm
@pytest.mark.parametrize("launch", RECURSIVE)
def test_functions_that_call_themselves(launch: int) -> None:
    assert abs(_off(launch)) < RECURSIVE[launch]


@needs_nvdisasm
def test_warps_wait_for_where_a_branch_goes() -> None:
    from tests.timing.launches import measured, run
    from tests.timing.targets_launches import targets_arguments

    entry = measured("targets")[10]
    timed = run("targets", "indirect", entry["grid"], entry["block"], targets_arguments()[10], sms="auto")
    assert timed.dominant_stall == "branch_resolving"
    assert timed.stall_reasons["branch_resolving"] == pytest.approx(
        entry["counters"]["stall_branch_resolving"], rel=0.1
    )
