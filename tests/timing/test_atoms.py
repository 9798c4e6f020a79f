"""Atomics on few words of global memory, in rounds, against an H200 (atoms.cu)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.timing import TimingResult
from simt.timing.lines import rounds
from tests.machine_view import needs_nvdisasm

IN_TURN = (8, 10, 16, *range(39, 43))
"""32 lanes add to 1 to 100 words in turn, by 1000 blocks of 1000 threads or 1024 of 256."""
ALIKE = (51, 53, 55, 57)
"""Neighbours add to the same word."""
APART = (60, 63, 65, 66, 67, 70)
"""Words two to 32 apart."""
FEW = (71, 74, 77, 79)
"""One to 16 lanes of each warp."""
ANYWHERE = (81, 82, 83, 84, 85, 86, 87, 94)
"""One of 4 to 256 words each."""
FLOATS = (96, 99, 100, 101, 103, 109, 114, 115, 116, 120)
DOUBLES = (121, 122, 123, 127, 128, 129)
LONGS = (130, 131, 133, 136)
ANSWERED = (143, 146, 152, 153, 156)
"""Warps wait for what was there."""
OWN = (159, 160, 163, 165)
"""A line or a KiB of each block."""
RESIDENT = {39: 6, 40: 4, 55: 3, 57: 4, 63: 3, 81: 3, 82: 3, 83: 3, 84: 3, 87: 4, 99: 4, 123: 3, 131: 3}
"""Launches whose occupancy is held, and by how many points it may be off."""


@cache
def _timed(launch: int) -> tuple[dict[str, Any], TimingResult]:
    """A launch of atoms.cu as measured on an H200, and as simulated."""
    from tests.timing.atoms_launches import atoms_arguments
    from tests.timing.held import launched

    return launched("atoms", atoms_arguments(), launch, device="h200", sms="auto")


@needs_nvdisasm
@pytest.mark.parametrize(
    ("launches", "mean", "most"),
    [
        (IN_TURN, 2.5, 8),
        (ALIKE, 1.5, 3),
        (APART, 2, 4),
        (FEW, 2, 4),
        (ANYWHERE, 4.5, 7.3),
        (FLOATS, 3, 10),
        (DOUBLES, 3.5, 10),
        (LONGS, 3, 7),
        (ANSWERED, 3, 7),
        (OWN, 12, 17),
    ],
)
def test_l2_takes_the_rounds_of_lanes_that_meet(launches: tuple[int, ...], mean: float, most: float) -> None:
    from tests.timing.launches import error

    off = np.abs([error(*_timed(launch)) for launch in launches])
    assert off.mean() < mean
    assert off.max() < most


@needs_nvdisasm
@pytest.mark.parametrize("launch", RESIDENT)
def test_warps_stay_until_their_rounds_have_left(launch: int) -> None:
    entry, timed = _timed(launch)
    occupancy = float(timed.metrics["achieved_occupancy_percent"] or 0)
    assert abs(occupancy - entry["counters"]["achieved_occupancy_pct"]) < RESIDENT[launch]


@needs_nvdisasm
@pytest.mark.parametrize(("launch", "sectors"), [(39, 32), (40, 8), (41, 6), (42, 5), (60, 48), (63, 12), (70, 32)])
def test_what_an_sm_sends(launch: int, sectors: int) -> None:
    """Sectors and masks of a warp that adds to 1, 8, 16, 32 words in turn, to words apart: so many cycles of the way.

    An H200 counts them (``l1tex__m_l1tex2xbar_req_cycles_active``: 32.03, 8.03, 6.03, 5.03, 48.03, 12.03, 32.03).
    """
    entry, timed = _timed(launch)
    warps = entry["grid"][0] * entry["block"][0] / 32
    assert timed.totals["sent"] == pytest.approx(sectors * warps * timed.sample.share, rel=0.01)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 63), min_size=1, max_size=32), st.sampled_from([4, 8]))
def test_rounds_are_those_of_lanes_one_by_one(words: list[int], size: int) -> None:
    """Each round takes one lane of each word: sectors, masks, cycles, and the most lanes at a word."""
    first = 1 << 20
    lanes = len(words)
    addresses = np.array([first + size * word for word in (words + words[:1] * 32)[:32]], np.int64)
    for line in {int(address) >> 7 for address in addresses}:
        left = sorted(word for word in words if (first + size * word) >> 7 == line)
        most = max(left.count(word) for word in left)
        sent, busy = 0, 0.0
        while left:
            now = sorted(set(left))
            for word in now:
                left.remove(word)
            sectors = [size * word // 32 for word in now]
            whole = sum(sectors.count(sector) == 32 // size for sector in set(sectors))
            sent += len(set(sectors)) + (len(now) > 1)
            busy += whole * 1.0 + (len(set(sectors)) - whole) * 1.5
        found = rounds(addresses, np.int64(lanes), np.int64(size), np.int64(line), 1.0, 1.5, 0.0, False)
        assert found[:2] == (sent, pytest.approx(busy))
        assert found[2:] == (0.0, most)
