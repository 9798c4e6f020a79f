"""Launches that take long: what is told of them by some of their blocks, and that nothing else changes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import cuda

import simt
from simt.machine import Launch, RunResult
from simt.machine.outlook import LATEST, WINDOW, Outlook
from simt.machine.team import Team
from simt.program import Program
from simt.runtime import context, preview
from simt.timing import extended, layout
from simt.timing.quotas import _of_all
from simt.timing.sample import SEVERAL

BLOCKS, THREADS = 4000, 64


def scale(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    y[i] = 2 * x[i]


def again(x: Any, y: Any) -> None:
    """Loads the same lines in all blocks."""
    total = 0.0
    for k in range(20):
        total += x[cuda.threadIdx.x + k * 64]
    y[cuda.grid(1)] = total


def long(x: Any, y: Any) -> None:
    """The same for a long time."""
    total = 0.0
    for k in range(600):
        total += x[cuda.threadIdx.x + k % 20 * 64]
    y[cuda.grid(1)] = total


def until_told(x: Any, y: Any) -> None:
    """Reads again and again whether it may end."""
    i = cuda.grid(1)
    while y[i] < x[600]:
        y[i] += 1


def ramp(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    total = 0.0
    for _ in range(cuda.blockIdx.x // 100):
        total += x[i]
    y[i] = total


def last_block_sums(x: Any, y: Any) -> None:
    """The block that takes the last ticket does more."""
    if cuda.threadIdx.x == 0 and cuda.atomic.add(y, 0, 1.0) == cuda.gridDim.x - 1:
        for k in range(64):
            y[1] += x[k]


def spins(x: Any, y: Any) -> None:
    """A quarter of the blocks wait for one; the first of them runs on the same SM."""
    if cuda.blockIdx.x == 132:
        y[0] = 1.0
    if cuda.blockIdx.x < 66:
        while y[0] == 0.0:
            pass


def long_block(x: Any, y: Any) -> None:
    """Reads beyond its array in the last block only."""
    i = cuda.grid(1)
    y[i] = x[i + (cuda.blockIdx.x == BLOCKS - 1) * 1_000_000]


@pytest.fixture
def hopeless(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """All launches look as if so many blocks ended a second, and as if that were too few, once some have ended."""

    def says(blocks_per_second: float) -> None:
        looked = threading.Event()
        take = Team.take

        def is_hopeless(outlook: Outlook, seconds: float, ended: int, settled: bool) -> bool:
            outlook.blocks_per_second = blocks_per_second
            if ended >= preview.LOOKED_AT:
                looked.set()
            return looked.is_set()

        def waits(team: Team, most: int = 64) -> tuple[int, int]:
            if team.prepared.launch.most_seconds is not None and np.count_nonzero(team.work) >= 3 * preview.LOOKED_AT:
                looked.wait(60)
            return take(team, most)

        monkeypatch.setattr(Outlook, "is_hopeless", is_hopeless)
        monkeypatch.setattr(Team, "take", waits)

    return says


def timed(kernel: Any, blocks: int = BLOCKS, **options: Any) -> tuple[simt.Profile, list[simt.Profile], Any]:
    """The profile of a launch, its previews, and what it wrote."""
    seen: list[simt.Profile] = []
    x, y = np.arange(blocks * THREADS, dtype=np.float32), np.zeros(blocks * THREADS, np.float32)
    options = {"device": "h200", "timing": True, "preview": seen.append, "max_host_seconds": 10.0, **options}
    return simt.launch(kernel, blocks, THREADS, x, y, **options), seen, y


def test_a_launch_is_told_of_by_some_blocks_and_goes_on(hopeless: Callable[[float], None]) -> None:
    plain, none, wanted = timed(scale)
    hopeless(100.0)
    whole, (part,), y = timed(scale)
    assert none == []
    assert np.array_equal(y, wanted)
    assert (whole.counters, whole.metrics["cycles"]) == (plain.counters, plain.metrics["cycles"])
    assert whole.result.executed is None
    assert part.result.executed == 250  # 100 blocks a second, a quarter of 10 seconds
    assert part.counters == whole.counters
    for name in ("cycles", "dram_read_bytes", "dram_write_bytes", "achieved_occupancy_percent"):
        assert part.metrics[name] == pytest.approx(whole.metrics[name], rel=0.02), name
    assert (
        part.in_part
        == "predicted from 250 of 4,000 blocks, the counts of which are scaled: the others were not executed"
    )
    assert part.in_part in part.notes
    assert part.to_dict()["executed_blocks"] == 250
    assert part.timing is not None
    assert "by 250 blocks that were executed before" in part.timing.scope
    assert part.timing.sample.to_dict()["blocks_executed_before"] == 250


@pytest.mark.parametrize("kernel", [scale, again])
def test_an_sm_that_would_take_too_long_is_simulated_in_part(
    hopeless: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, kernel: Any
) -> None:
    """Of 304 blocks of an SM with 32 places the first 192: the others follow."""
    hopeless(2e5)
    monkeypatch.setattr(sys.modules["simt.timing.simulate"], "STEP", 1 << 10)
    whole, (part,), _ = timed(kernel, 40_000, max_host_seconds=5e-3)
    assert part.result.executed == 250
    assert part.timing is not None
    assert (part.timing.sample.simulated, part.timing.sample.n_blocks) == (192, 304)
    assert "the first 192 of 304 of 40000 blocks" in part.timing.scope
    for name in ("cycles", "dram_read_bytes", "dram_write_bytes", "achieved_occupancy_percent", "ipc"):
        assert part.metrics[name] == pytest.approx(whole.metrics[name], rel=0.03), name
    for reason, cycles in part.timing.stall_reasons.items():
        assert whole.timing is not None
        assert cycles == pytest.approx(whole.timing.stall_reasons[reason], rel=0.2, abs=0.5), reason


def test_blocks_so_long_that_none_of_them_ends(
    hopeless: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 31 blocks of an SM with 32 places, each of 20,000 warp instructions, what two of them are is simulated."""
    hopeless(2e5)
    monkeypatch.setattr(sys.modules["simt.timing.simulate"], "STEP", 1 << 10)
    monkeypatch.setattr(extended, "LONG", 40_000)
    whole, (part,), _ = timed(long, max_host_seconds=1e-2)
    assert part.timing is not None
    assert whole.timing is not None
    assert part.timing.sample.n_blocks == 31
    assert part.timing.sample.simulated in (2, 3)
    assert min(part.timing.stays[:, layout.Y_TO]) == max(part.timing.stays[:, layout.Y_TO])  # none has ended
    for name in ("cycles", "achieved_occupancy_percent", "ipc", "inst_executed", "l1_hit_rate"):
        assert part.metrics[name] == pytest.approx(whole.metrics[name], rel=0.05), name
    assert part.timing.dominant_stall == whole.timing.dominant_stall


def test_blocks_that_take_turns_count_before_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 blocks on one thread, which are all under way before the first of them ends."""
    seen: list[tuple[int, float]] = []  # blocks that have ended, and as how many all of them count

    class Recorded(Outlook):
        def is_hopeless(self, _: float, ended: float, __: bool) -> bool:
            seen.append((team.finished, ended))
            return False

    outlook = Recorded(200, 1.0)
    run_told = Team.run_told
    team: Any = None

    def looked_at(self: Team, *args: Any) -> tuple[int, int]:
        nonlocal team
        team = self
        found = run_told(self, *args)
        self._look_ahead(outlook, 1.0)
        return found

    monkeypatch.setattr(Team, "run_told", looked_at)
    monkeypatch.setattr("simt.machine.team.longest_turn", lambda _: 1 << 10)
    monkeypatch.setattr("simt.machine.rotation.longest_turn", lambda _: 1 << 10)
    timed(until_told, 200, threads=1)
    first = next(ended for _, ended in seen if ended)
    assert 150 < first < 200
    assert seen[-1][1] == 200
    assert max(seen, key=lambda one: one[1]) == seen[-1]


def test_blocks_that_differ_are_found_all_over_the_grid(hopeless: Callable[[float], None]) -> None:
    plain, _, wanted = timed(ramp)
    hopeless(100.0)
    whole, (part,), y = timed(ramp)
    assert np.array_equal(y, wanted)
    assert part.counters["inst_executed"] == pytest.approx(plain.counters["inst_executed"], rel=0.01)
    assert part.metrics["cycles"] == pytest.approx(whole.metrics["cycles"], rel=0.05)
    assert part.timing is not None
    assert part.timing.n_sms >= SEVERAL
    assert part.timing.sample.unknown > 0.03  # an SM has 31 blocks, which differ by 0.58 of their mean
    assert part.timing.expected_error.sampling > 100 * part.timing.sample.unknown - 1e-9


def test_tickets_that_the_last_block_takes(hopeless: Callable[[float], None]) -> None:
    hopeless(100.0)
    _, (part,), y = timed(last_block_sums)
    assert y[0] == BLOCKS
    assert y[1] == np.arange(64).sum()
    assert part.result.executed == 250


@pytest.mark.parametrize(
    ("kernel", "options"),
    [(scale, {"timing": False, "max_host_seconds": None}), (scale, {"sms": "all"}), (scale, {"check": "racecheck"})],
)
def test_launches_of_which_nothing_is_told(
    hopeless: Callable[[float], None], kernel: Any, options: dict[str, Any]
) -> None:
    hopeless(1e9)
    assert timed(kernel, 200, **options)[1] == []


def test_blocks_that_wait_for_others(hopeless: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up after so many instructions as no block before came to."""
    hopeless(20.0)  # 50 blocks, of which 132 is none
    limits: list[int] = []

    def in_part(program: Program, launch: Launch, *others: Any) -> RunResult | None:
        limits.append(launch.max_instructions)
        return preview.in_part(program, launch, *others)

    monkeypatch.setattr(context, "in_part", in_part)
    _, seen, y = timed(spins, 264, sms="one")
    assert seen == []
    assert limits[0] < 10_000
    assert y[0] == 1.0


def test_too_little_time_for_enough_blocks(hopeless: Callable[[float], None]) -> None:
    hopeless(2.0)  # 5 blocks in a quarter of 10 seconds
    profile, seen, _ = timed(scale)
    assert seen == []
    assert profile.timing is not None


def test_an_error_is_that_of_the_launch(hopeless: Callable[[float], None]) -> None:
    hopeless(1e9)
    with pytest.raises(simt.KernelError, match="index") as found:
        timed(long_block)
    assert "block (3999, 0, 0)" in str(found.value)


def test_the_outlook() -> None:
    """100 blocks, one each second, of which 50 seconds are too few and 200 are not."""
    for most, hopeless_ in ((50.0, True), (200.0, False)):
        outlook = Outlook(100, most)
        assert not outlook.is_hopeless(LATEST - 0.1, 0, settled=False)
        found = [outlook.is_hopeless(t, round(t), settled=True) for t in np.arange(1.0, 5.0, 0.5).tolist()]
        assert found == [False] * round(WINDOW / 0.5) + [hopeless_] * (8 - round(WINDOW / 0.5))
    assert outlook.blocks_per_second == pytest.approx(1.0)
    assert Outlook(100, 1.0).is_hopeless(LATEST, 1, settled=False) is False  # the first look
    ended = Outlook(100, 1.0)
    assert [ended.is_hopeless(t, 100, settled=True) for t in (1.0, 5.0)] == [False, False]
    stuck = Outlook(100, 1.0)
    assert [stuck.is_hopeless(t, 0, settled=True) for t in (1.0, 50.0)] == [False, False]


def reached(*places: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """What two halves reached, of 10,000 places."""
    made = np.zeros(10_000, np.uint8)
    for bit, half in zip((1, 2), places, strict=True):
        made[np.asarray(half)] |= bit
    return made


def test_what_all_blocks_reach() -> None:
    """Places of each block alone, the same places for all, and tiles of which each overlaps the next."""
    assert _of_all(reached(np.arange(100), np.arange(100, 200)), 100, 1000) == 2000
    assert _of_all(reached(np.arange(100), np.arange(100)), 100, 1000) == 100
    assert _of_all(reached(np.arange(0), np.arange(0)), 100, 1000) == 0
    tiles = np.arange(1600)[:, None] * 6 + np.arange(10)
    chosen = preview._chosen(1600, np.full((1600, 3), preview.INSTRUCTIONS // 400), 1e9)
    assert len(chosen) == 400
    found = _of_all(reached(tiles[chosen[::2]], tiles[chosen[1::2]]), 400, 1600)
    assert found == pytest.approx(len(np.unique(tiles)), rel=0.15)


@pytest.mark.parametrize("blocks", [600, 4096, 65536, 99991])
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_blocks_are_spread_over_the_grid(blocks: int, share: float) -> None:
    """There are about as many in each quarter of the grid, and each is there once."""
    work = np.full((blocks, 3), preview.INSTRUCTIONS // 8)
    chosen = preview._chosen(blocks, work, blocks * share)
    assert len(chosen) == int(min(blocks * share, preview.BLOCKS)) // 2 * 2
    assert len(np.unique(chosen)) == len(chosen)
    quarters = np.bincount(chosen * 4 // blocks, minlength=4)
    assert abs(quarters - len(chosen) / 4).max() <= 3 * (len(chosen) * 3 / 16) ** 0.5
