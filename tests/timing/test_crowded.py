"""Words that all SMs use at once, what the last block finds in L2, and the way to L2, against an H100."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm

LAST = {99: 4, 100: 6, 101: 2, 102: 2, 103: 8, 104: 5}
"""Sums of what other blocks have stored, behind a fence: L2 has it."""
SWAPPED = {150: 6, 151: 11, 152: 12, 153: 19, 155: 6, 156: 9, 157: 17}
"""Sums of matrices with x along a column: SMs whose stores queue must not hold up the others."""

ATOMICS = {12: 1, 20: 36, 23: 10, 30: 2, 31: 3, 35: 12, 36: 2, 39: 5, 55: 2, 84: 6, 85: 8, 87: 3, 88: 2, 89: 3}
"""Additions to a word of all SMs, and loads of it in between."""
WAY = {107: 2, 110: 2, 112: 2, 113: 14, 115: 6, 116: 22, 119: 10, 124: 2, 127: 11}
WAY |= {129: 18, 130: 9, 131: 6, 132: 15, 133: 9, 135: 8, 137: 2}
"""Loads past L1 and stores of one SM, and rows of a thread each: both take the way to L2."""


@needs_nvdisasm
@pytest.mark.parametrize("bounds", [LAST, SWAPPED, ATOMICS, WAY], ids=["last", "swapped", "atomics", "way"])
def test_crowded(bounds: dict[int, int]) -> None:
    """Launch of crowded.cu, and by how many percent it may be off."""
    from tests.timing.crowded_launches import crowded_arguments
    from tests.timing.held import errors

    found = errors("crowded", crowded_arguments(), bounds)
    assert found.keys() == bounds.keys()
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}
