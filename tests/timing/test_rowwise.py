"""Threads that go along rows, and SMs that load and store words in turn, against an H100."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import slow

LINES = dict.fromkeys(range(15), 6)
"""One lane on a line of its own at each step: a store while the line is on its way, and others."""
SUMS = {79: 3.5, 86: 9, 87: 4, 89: 11, 94: 9, 95: 4, 96: 5, 97: 11, 110: 4, 111: 6, 117: 9, 122: 50, 124: 26.5}
"""Sums that are stored at each step, to words of one warp to all SMs; the last is the mean of rows."""
TURNS = {127: 8, 131: 6, 137: 9, 139: 7, 140: 6, 145: 6, 149: 5}
"""Loads past L1 and stores in turn, of a word of all SMs, of eight words, of a line of each warp."""


@needs_nvdisasm
@pytest.mark.parametrize("bounds", [LINES, *slow(SUMS), TURNS], ids=["lines", "sums", "turns"])
def test_rows_of_a_thread_each(bounds: dict[int, float]) -> None:
    """Launch of rowwise.cu, and by how many percent it may be off."""
    from tests.timing.held import errors
    from tests.timing.rowwise_launches import rowwise_arguments

    found = errors("rowwise", rowwise_arguments(), bounds)
    assert found.keys() == bounds.keys()
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}
