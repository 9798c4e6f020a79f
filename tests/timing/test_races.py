"""Kernels whose SMs race for plain accesses: they are found out, and take the same time on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.timing import TimingResult

pytestmark = pytest.mark.usefixtures("compiled_at_once")
SMS = 8


def passed_on(x: Any, out: Any) -> None:
    """Each thread counts up to what it finds at its neighbour's in another block, which changes that meanwhile."""
    i = cuda.grid(1)
    total = 0
    for k in range(20):
        x[i] = k + i % 7
        for j in range(x[(i + 64) % x.size]):
            total += j
    out[i] = total


def halves(x: Any, out: Any) -> None:
    """Two blocks use each line, but not the same bytes."""
    i = cuda.grid(1)
    total = 0
    for k in range(20):
        x[i] += k
        for j in range(x[i] % 5):
            total += j
    out[i] = total


def counted(x: Any, out: Any) -> None:
    """Atomics wait for their turns: they do not race."""
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(x, i % 7, 1)


def timed(kernel: Any, threads: int | None, sms: Any = SMS, block: int = 32) -> tuple[TimingResult, simt.Profile]:
    x, out = np.zeros(32 * block, np.int16), np.zeros(32 * block, np.int64)
    if kernel is counted:
        x = x.astype(np.int32)
    profile = simt.launch(kernel, 32, block, x, out, device="h200", timing=True, sms=sms, threads=threads)
    assert profile.timing is not None
    return profile.timing, profile


def same(one: TimingResult, other: TimingResult) -> bool:
    arrays = ("stalls", "counters", "stays", "accesses")
    return one.totals == other.totals and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)


def test_a_race_is_said_and_repeats_on_any_number_of_threads() -> None:
    found, profile = timed(passed_on, 1)
    texts = [found.program.listing[line].text for line in found.racing]
    assert texts
    assert all("x[i] = k" in text or "range(x[" in text for text in texts), texts
    assert "SMs load what others store at the same time (at " in str(profile)
    assert "): races may decide the time" in str(profile)
    numbers = [found.program.listing[line].number for line in found.racing]
    assert profile.to_dict()["timing"]["racing_lines"] == numbers
    for threads in (1, 2, 3, 2, 3):
        again, _ = timed(passed_on, threads)
        assert same(found, again)
        assert again.racing == found.racing


@pytest.mark.parametrize("kernel", [halves, counted])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_does_not_race(kernel: Any, threads: int) -> None:
    """Not one SM that uses a line of others, and not atomics."""
    found, profile = timed(kernel, threads)
    assert found.racing == ()
    assert "race" not in str(profile)
    assert same(found, timed(kernel, 2)[0])


def test_one_sm_does_not_race() -> None:
    assert timed(passed_on, 2, "one")[0].racing == ()
