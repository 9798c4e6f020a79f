"""Words a stride apart that go round a table, volumes in blocks, and short sums, against an H100 (wraps.cu)."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import slow

ROUNDS = {
    0: 7,
    1: 2,
    3: 3,
    7: 3,
    9: 10,
    10: 6,
    11: 8,
    13: 3,
    16: 3,
    18: 2,
    20: 9,
    21: 6,
    22: 6,
    24: 6,
    28: 17,
    29: 11,
}
ROUNDS |= {30: 2, 31: 5, 32: 5, 33: 6, 36: 6, 41: 4, 42: 10, 46: 8}
"""Rounds of 8 to 64 MiB that L2 holds, holds in part and does not hold, and of 1 and 4 MiB that it delivers.

With lines that all are in L2 once, launch 29 is 58 % fast; with all of a table larger than L2 lost, 39 % slow.
"""
VOLUMES = {65: 9, 66: 6, 67: 5, 68: 11, 71: 8}
"""Blocks of a grid of three dimensions that write parts of lines; 65 was 16 % slow when each SM completed them."""
SUMS = {80: 6, 83: 6, 85: 5, 88: 5, 89: 5, 92: 2, 93: 6, 96: 3, 97: 3, 109: 5, 112: 6.5, 117: 3, 120: 5, 121: 3}
"""Sums of two arrays of 320,000 to 2,097,152 elements by blocks of 128 to 1024 threads; nothing is fitted to them."""


@needs_nvdisasm
@pytest.mark.parametrize("bounds", [*slow(ROUNDS), VOLUMES, SUMS], ids=["rounds", "volumes", "sums"])
def test_wraps(bounds: dict[int, int]) -> None:
    """Launch of wraps.cu, and by how many percent it may be off."""
    from tests.timing.held import errors
    from tests.timing.wraps_launches import wraps_arguments

    found = errors("wraps", wraps_arguments(), bounds, integers=False)
    assert found.keys() == bounds.keys()
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}


@needs_nvdisasm
@pytest.mark.parametrize("launch", [1, 9, 22, 29, *slow(7, 8, 10, 11, 13, 14, 20, 23, 28, 30, 65)])
def test_what_dram_moves_of_rounds(launch: int) -> None:
    """Of 16 to 64 MiB, a part of each line or all of it, stored or not: half of the rounds of 40 MiB is lost."""
    from tests.timing.held import launched, moved
    from tests.timing.wraps_launches import wraps_arguments

    entry, timed = launched("wraps", wraps_arguments(), launch, integers=False, sms="auto")
    there, here = moved(entry, timed)
    assert here == pytest.approx(there, rel=0.13 if launch == 65 else 0.1)
