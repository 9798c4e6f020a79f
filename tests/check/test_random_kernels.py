"""Random kernels: nothing is found in right ones, and every barrier that is missing is.  Many: tests/check/random."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.check.random.kernels import FENCE, make
from tests.check.random.trials import FOUND, HARMLESS, Trial, alarm, spoilt
from tests.machine_view import needs_numba_cuda

SEEDS = range(40)


@pytest.mark.parametrize("first", SEEDS[::10])
def test_nothing_is_found_in_right_kernels(first: int) -> None:
    assert [found for seed in range(first, first + 10) if (found := alarm(seed))] == []


@needs_numba_cuda
def test_nothing_is_found_in_their_machine_code() -> None:
    assert [found for seed in range(4) if (found := alarm(seed, "sm_90"))] == []


def test_what_is_missing_is_found_where_it_does_harm() -> None:
    outcomes = Counter(spoilt(seed) for seed in SEEDS)
    assert set(outcomes) == {HARMLESS, FOUND}
    assert outcomes[FOUND] >= len(SEEDS) / 5


def test_right_kernels_end_the_same_under_every_schedule() -> None:
    for seed in SEEDS[:10]:
        trial = Trial(make(seed))
        assert trial.outcome("random:7") == trial.outcome("adversarial") == trial.outcome(None)


def test_a_store_that_no_fence_publishes_may_come_late() -> None:
    kernel = next(kernel for seed in SEEDS for kernel in [make(seed)] if "c[0] = cuda.atomic" in kernel.source)
    number = next(number for number, line in enumerate(kernel.lines) if line.needs == FENCE)
    spoilt_kernel, delayed = kernel.spoilt(number), kernel.delayed(number)
    assert sorted(line.text for line in spoilt_kernel.lines) == sorted(line.text for line in delayed.lines)
    texts = [line.text.strip() for line in delayed.lines]
    assert texts.index("g[i] = v") > next(k for k, text in enumerate(texts) if text.startswith("c[0] = cuda.atomic"))
