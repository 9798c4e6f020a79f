"""Words that all SMs use at once, what the last block finds in L2, and the way to L2, against an H100."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simt.machine.layout import ADDRESS_BASE
from simt.ops.jit import plain
from simt.timing import arrays, slices
from tests.machine_view import needs_nvdisasm

LAST = {99: 4, 100: 2, 101: 2.5, 102: 3, 103: 8, 104: 5}
"""Sums of what other blocks have stored, behind a fence: L2 has it, and loads do not wait for stores of long ago."""
SWAPPED = {150: 8.5, 151: 21, 152: 13, 153: 19, 155: 7, 156: 23.7, 157: 17}
"""Sums of matrices with x along a column: SMs whose stores queue must not hold up the others."""

LOADS = {3: 3, 4: 9, 7: 2.5, 72: 3, 73: 2, 74: 3, 75: 3, 76: 4}
"""Loads of one to four words past L1 by all SMs: those of a line take turns in the two halves of L2."""

ATOMICS = {
    12: 1,
    19: 9,
    20: 2,
    23: 2.1,
    27: 9,
    28: 3,
    30: 3.1,
    31: 4,
    35: 13,
    36: 5.5,
    39: 13,
    55: 2,
    84: 6,
    85: 8,
    87: 4,
    88: 4.5,
    89: 7,
}
"""Additions to a word of all SMs, and loads of it in between."""
WAY = {107: 2, 110: 2, 112: 2, 113: 12, 115: 4, 116: 19, 119: 10, 124: 2, 127: 7}
WAY |= {129: 5, 130: 13, 131: 8, 132: 6, 133: 14, 135: 8.2, 137: 2}
"""Loads past L1 and stores of one SM, and rows of a thread each: both take the way to L2."""


@needs_nvdisasm
@pytest.mark.parametrize(
    "bounds", [LAST, SWAPPED, LOADS, ATOMICS, WAY], ids=["last", "swapped", "loads", "atomics", "way"]
)
def test_crowded(bounds: dict[int, float]) -> None:
    """Launch of crowded.cu, and by how many percent it may be off."""
    from tests.timing.crowded_launches import crowded_arguments
    from tests.timing.held import errors

    found = errors("crowded", crowded_arguments(), bounds)
    assert found.keys() == bounds.keys()
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}


def test_small_allocations_share_a_slice_of_l2() -> None:
    """A driver places them 512 bytes apart, so words of two are in lines 0 and 4 of a KiB, which one slice has.

    An H100 takes as long for additions to words of two allocations as for those 512 bytes apart in one (launch 36).
    """
    starts = ADDRESS_BASE + np.array([0, 1 << 16, 2 << 16, 1 << 21, 3 << 21])
    sizes = np.array([4, 516, 4, 1 << 21, 4])
    memory = SimpleNamespace(starts=starts, ends=starts + sizes, hosts=np.zeros(5, bool))
    t: Any = SimpleNamespace(SMALL=arrays._small(SimpleNamespace(memory=memory)))
    lines = (starts - ADDRESS_BASE) // 128
    assert [plain(slices._placed)(line, t) for line in lines] == [0, 4, 12, lines[3], 16]
    assert plain(slices._placed)(lines[1] + 4, t) == 8
