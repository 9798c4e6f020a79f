"""Which SMs stand for a launch: cases by hand, and laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.timing.sample import OTHERS_IDLE, TOLERANCE, Sample, choose, fixed

EVERYTHING: dict[str, Any] = {"most_instructions": np.inf, "most_sms": 1 << 20, "writes": False}
WRITING = EVERYTHING | {"writes": True}


def work(executed: Any, sectors: Any = 0, longest: Any = 1) -> npt.NDArray[np.int64]:
    """Blocks by what they executed, moved, and what their longest warp executed."""
    return np.stack(np.broadcast_arrays(executed, sectors, longest), axis=1).astype(np.int64)


def test_blocks_that_are_alike_need_one_sm() -> None:
    found = choose(work(np.full(1000, 50), 8, 20), chip=4, places=2, **EVERYTHING)
    assert found == Sample(n_sms=1, chip=4, n_blocks=250, uncertainty=0.0, share=0.25)
    assert found.reason == "what blocks execute is alike"


def test_two_sms_stand_for_others_where_each_has_one_block_that_writes() -> None:
    """Not where an SM has several, which show it, nor where there is no room for two."""
    alike = work(np.full(100, 50), 8, 20)
    pair = choose(alike, chip=100, places=1, **WRITING)
    assert pair == Sample(n_sms=2, chip=100, n_blocks=2, uncertainty=0.0, share=0.02, paired=True)
    assert pair.is_alike
    assert pair.reason == "what blocks execute is alike"
    assert pair.blocks_of(100).sum() == 2
    assert choose(alike, chip=100, places=1, **EVERYTHING).n_sms == 1
    assert choose(alike, chip=99, places=2, **WRITING).n_sms == 1
    assert choose(alike, chip=100, places=1, **WRITING | {"most_sms": 1}).n_sms == 1
    assert choose(alike, chip=100, places=1, **WRITING | {"most_instructions": 99}).n_sms == 1
    assert choose(alike[:1], chip=1, places=1, **WRITING).n_sms == 1


def test_one_sm_whose_blocks_are_like_the_whole_is_enough() -> None:
    """Two SMs, blocks of 10, 30, 30, 10: the SM that is free at 10 takes the third, both end at 40.

    The first SM's blocks, 10 and 30, end at 40, too, and have the mean of all.
    """
    found = choose(work([10, 30, 30, 10]), chip=2, places=1, **EVERYTHING)
    assert found == Sample(n_sms=1, chip=2, n_blocks=2, uncertainty=0.0, share=0.5)


def test_blocks_that_differ_have_several_sms_if_not_all_were_executed() -> None:
    """Two neighbours have what the average has; there are no more SMs than memory has room for."""
    differ = work(np.tile([10, 30], 160), 8, 20)
    assert choose(differ, chip=17, places=1, **EVERYTHING).n_sms == 2
    found = choose(differ, chip=17, places=1, least_sms=8, **EVERYTHING | {"most_instructions": 0})
    assert (found.n_sms, found.limited) == (8, False)
    few = choose(differ, chip=17, places=1, least_sms=8, **EVERYTHING | {"most_sms": 5})
    assert few.n_sms == 4
    assert choose(work(np.full(320, 10), 8, 20), chip=16, places=1, least_sms=8, **EVERYTHING).n_sms == 1


def test_one_long_block_needs_all_sms() -> None:
    """Three short blocks and one that is ten times as long: one SM has either all of it or nothing of it."""
    found = choose(work([10, 10, 10, 100]), chip=4, places=1, **EVERYTHING)
    assert found.is_whole
    assert found.n_blocks == 4
    assert found.uncertainty == 0
    assert found.reason == "what blocks execute differs"


def test_too_little_time_for_all() -> None:
    """Two SMs may run: the pair with the long block ends as all do, and has 55 a block where all have 32.5.

    The long block alone would end with them, too, but is farther from their mean.
    """
    long = work([10, 10, 10, 100])
    found = choose(long, chip=4, places=1, most_instructions=110, most_sms=4, writes=False)
    assert (found.n_sms, found.first, found.limited, found.uncertainty) == (2, 2, True, TOLERANCE)
    assert not found.is_alike
    assert found.reason.startswith("what blocks execute differs, and no time or memory for more SMs (max_host_seconds)")
    assert choose(long, chip=4, places=1, most_instructions=1e9, most_sms=2, writes=False) == found
    assert choose(long, chip=4, places=1, most_instructions=109, most_sms=4, writes=False).n_sms == 1


def test_one_sm_that_ends_last_stands_for_a_launch_rather_than_one_that_is_like_the_average() -> None:
    """Blocks of 10, 11, ..., 20 and 100 on twelve SMs: the mean is 22, but the launch takes 100.

    Blocks that load half a sector an instruction have others beside them that are idle by then: nobody knows how much.
    """
    for sectors, uncertainty in ((0, TOLERANCE), (5, OTHERS_IDLE)):
        uneven = work([*range(10, 21), 100], sectors)
        found = choose(uneven, chip=12, places=1, most_instructions=0, most_sms=1, writes=False)
        assert (found.n_sms, found.first, found.limited) == (1, 11, True)
        assert not found.is_alike
        assert found.uncertainty == uncertainty


def test_memory_counts_as_much_as_instructions() -> None:
    """All execute the same, but the last block moves ten times the sectors."""
    assert choose(work([10, 10, 10, 10], [1, 1, 1, 10]), chip=4, places=1, **EVERYTHING).is_whole


def test_a_long_warp_in_few_blocks() -> None:
    """All execute the same, but in the last block one warp executes half of it."""
    assert choose(work([80, 80, 80, 80], 1, [10, 10, 10, 40]), chip=4, places=1, **EVERYTHING).is_whole


def test_a_number_of_sms_that_was_asked_for() -> None:
    assert fixed(1000, 132, 1) == Sample(1, 132, 8, share=8 / 1000)  # the busiest SM's blocks
    assert fixed(1000, 132, 132) == Sample(132, 132, 1000)
    assert fixed(1000, 132, 4).n_blocks == 30
    assert fixed(1000, 132, 4).reason == ""


BLOCKS = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=60)


@given(BLOCKS, st.integers(1, 9), st.integers(1, 4), st.floats(0, 3000), st.integers(1, 9), st.booleans())
def test_a_sample_keeps_to_its_limits_and_says_how_far_off_it_is(
    blocks: list[tuple[int, int, int]], sms: int, places: int, instructions: float, most_sms: int, writes: bool
) -> None:
    given_work = np.array(blocks, np.int64)
    chip = min(sms, len(blocks))
    found = choose(given_work, chip, places, instructions, most_sms, writes)
    assert 1 <= found.n_sms <= max(1, min(chip, most_sms))
    assert found.n_sms == 1 or given_work[found.blocks_of(len(blocks)), 0].sum() <= instructions
    assert 0 <= found.first <= chip - found.n_sms
    assert 0 < found.n_blocks <= len(blocks)
    assert 0 < found.share <= 1
    assert found.uncertainty is not None
    if found.is_whole:
        assert (found.uncertainty, found.n_blocks, found.share) == (pytest.approx(0), len(blocks), 1)
    if not found.limited:
        assert found.uncertainty <= TOLERANCE
    every = choose(given_work, chip, places, np.inf, chip, writes)
    assert every.uncertainty is not None
    assert every.uncertainty <= max(found.uncertainty, TOLERANCE)


@given(st.integers(1, 500), st.integers(1, 132), st.integers(1, 8), st.integers(1, 1000))
def test_equal_blocks_are_alike_however_many(blocks: int, sms: int, places: int, executed: int) -> None:
    found = choose(work(np.full(blocks, executed), executed), min(sms, blocks), places, 0, 1, writes=True)
    assert found == Sample(1, min(sms, blocks), -(-blocks // min(sms, blocks)), 0, 0.0, False, found.share)


@cuda.jit
def trips(count, out):
    i = cuda.grid(1)
    total = 0
    for k in range(count[cuda.blockIdx.x]):
        total += k * k
    out[i] = total


def timed(counts: npt.NDArray[np.int64], **options: Any) -> simt.Profile:
    return simt.launch(trips, len(counts), 64, counts, np.zeros(64 * len(counts), np.int64), timing=True, **options)


def test_the_slowest_block_decides_a_launch_of_unlike_blocks() -> None:
    """The last of 132 blocks loops 50 times as long: one SM does not know it, what auto chooses does."""
    counts = np.full(132, 10)
    counts[131] = 500
    profile = timed(counts)
    one, every = (timed(counts, sms=sms).timing for sms in ("one", "all"))
    found = profile.timing
    assert found is not None
    assert one is not None
    assert every is not None
    assert found.cycles == every.cycles > 2 * one.cycles
    assert found.sample.is_whole
    assert "all 132 SMs with blocks, of 132, as what blocks execute differs" in str(profile)
    assert profile.to_dict()["timing"]["sample"] == {
        "sms": 132, "first_sm": 0, "blocks": 132, "blocks_simulated": 132, "blocks_executed_before": None,
        "uncertainty_percent": 0.0, "unknown_percent": 0.0,
        "chosen_because": "what blocks execute differs",
    }  # fmt: skip


def test_auto_is_one_sm_where_blocks_are_alike() -> None:
    counts = np.full(500, 20)
    found, one = timed(counts).timing, timed(counts, sms="one").timing
    assert found is not None
    assert one is not None
    assert found.cycles == one.cycles
    assert found.sample.n_sms == 1
    assert "what blocks execute is alike" in found.scope
    assert one.sample.uncertainty is None


RAMP, RECURSION = np.arange(264) * 3, np.round(1.618 ** np.arange(20) / 10).astype(np.int64)
LONE, SEVERAL = np.where(np.arange(264) == 100, 1000, 10), np.where(np.arange(264) % 53 == 0, 500, 10)


@pytest.mark.parametrize("counts", [RAMP, RECURSION, LONE, SEVERAL], ids=["ramp", "recursion", "lone", "several"])
def test_a_budget_leaves_all_but_the_last_sm_out_and_says_so(counts: npt.NDArray[np.int64]) -> None:
    """It takes as long as all SMs; an SM near the average, which was taken before, does not."""
    found, every = timed(counts, max_host_seconds=1e-3).timing, timed(counts, sms="all").timing
    assert found is not None
    assert every is not None
    assert (found.sample.n_sms, found.sample.limited) == (1, True)
    assert "no time or memory for more SMs (max_host_seconds)" in found.scope
    assert found.cycles == pytest.approx(every.cycles, rel=0.03)


def racy(counts: Any, out: Any) -> None:
    n = counts[0]
    total = 0
    for k in range(n):
        total += k
    out[cuda.grid(1)] = total
    if cuda.grid(1) == 0:
        counts[0] = 200


def test_races_that_decide_how_long_blocks_are_are_said() -> None:
    """Blocks run one after the other without timing, and all but the first see the store; at once none does."""
    out = np.zeros(256, np.int64)
    profile = simt.launch(racy, 8, 32, np.zeros(1, np.int64), out, timing=True)
    assert out[-1] == sum(range(200))
    assert profile.timing is not None
    assert profile.timing.depends_on_order < -0.5
    assert "; no error known, races between threads decide how much is executed; blocks executed" in str(profile)
    assert "fewer instructions than in the functional run" in str(profile)
    saved = profile.to_dict()["timing"]["expected_error"]
    assert (saved["kind"], saved["percent"]) == ("races", None)
    assert "±" not in str(profile)
    calm = simt.launch(racy, 8, 32, np.full(1, 200, np.int64), out, timing=True)
    assert calm.timing is not None
    assert calm.timing.depends_on_order == 0
    assert calm.timing.expected_error.kind != "races"
    assert "races" not in str(calm)
