"""How long warps stay on an SM, and what blocks store and load together, against an H100 (stays.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm
from tests.slow import few

RESIDENT = {14: 5.5, 17: 5, 27: 5, 42: 1, 53: 3, 56: 5, 58: 3, 59: 4, 62: 6, 63: 10.5, 92: 2.5, 93: 5.5, 102: 3.5}
"""Launches of blocks of 128 to 1024 threads, and by how many points the occupancy may be off.

Blocks that do nothing (14, 17) were 9 and 15 points low with warps that are there only from their first instruction on,
those that store their own words (42, 53) 3 and 6 with ends of blocks that are noted at equal intervals, and words a
stride apart (56 to 63) 7 to 16 high with stores that leave in order.
"""
PAIRS = {5: 4, 36: 1.5, 51: 3, 52: 2, 85: 1.5, 90: 1}
"""Launches of blocks of 64 threads, and the same: 7 to 18 points low if their warps count until they have gone."""


def _timed(launch: int, **options: Any) -> tuple[dict[str, Any], TimingResult]:
    """A launch of stays.cu as measured on an H100, and as simulated."""
    from tests.timing.held import launched
    from tests.timing.stays_launches import stays_arguments

    return launched("stays", stays_arguments(), launch, integers=False, **options)


def _points_higher(launch: int) -> float:
    """By how many points the occupancy of a launch is higher than an H100's."""
    entry, timed = _timed(launch, sms="auto")
    return float(timed.metrics["achieved_occupancy_percent"] or 0) - entry["counters"]["achieved_occupancy_pct"]


@needs_nvdisasm
@pytest.mark.parametrize("launch", few(RESIDENT, [14, 42, 56, 63, 102]))
def test_warps_stay_as_long_as_on_hardware(launch: int) -> None:
    assert abs(_points_higher(launch)) < RESIDENT[launch]


@needs_nvdisasm
@pytest.mark.parametrize("launch", few(PAIRS, [36, 85]))
def test_warps_of_blocks_of_two_count_for_longer(launch: int) -> None:
    assert abs(_points_higher(launch)) < PAIRS[launch]


@needs_nvdisasm
def test_blocks_start_at_unequal_intervals() -> None:
    """Of blocks that hardly do anything: 157 cycles apart on an SM, the middle eight tenths of them 81 to 256."""
    _, timed = _timed(42, sms="one")
    apart = np.diff(np.sort(timed.stays[:, 3])[64:])
    assert apart.mean() == pytest.approx(157, rel=0.02)
    assert np.quantile(apart, [0.1, 0.9]).tolist() == pytest.approx([81, 256], rel=0.3)


@needs_nvdisasm
@pytest.mark.parametrize("launch", [121, 123])
def test_what_each_block_stores_is_written_once(launch: int) -> None:
    """4 MB that each of 132 blocks, or of 32, stores: an H100 writes at most 1 MB, by its share one SM 251 and 43."""
    entry, timed = _timed(launch, sms="auto")
    assert entry["counters"]["dram_write_bytes"] < 1.1e6
    assert float(timed.metrics["dram_write_bytes"] or 0) < 1.1e6


@needs_nvdisasm
@pytest.mark.parametrize(("launch", "points"), [(97, 2.5), (104, 3)])
def test_lines_wait_by_two_while_l2_writes(launch: int, points: float) -> None:
    """Copies and sums of arrays larger than L2: the last warp of a block keeps its place from the next block.

    If four lines of a KiB waited together there, they had 4 and 5 points too much, and sums were 4 % fast.
    """
    entry, timed = _timed(launch, sms="auto")
    counters = entry["counters"]
    occupancy = float(timed.metrics["achieved_occupancy_percent"] or 0)
    assert abs(occupancy - counters["achieved_occupancy_pct"]) < points
    assert abs(timed.cycles / counters["cycles"] - 1) < 0.035
