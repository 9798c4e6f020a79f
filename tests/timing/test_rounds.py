"""Rounds of a block through global memory, with stores to lines that two warps share, against an H200 (rounds.cu)."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm

ALONE = {1: 4, 5: 4, 6: 4, 7: 4, 8: 4, 9: 4, 13: 4, 16: 4}
"""Lines that one warp stores to, or few warps, whose stores leave as one."""
SHARED = {0: 14, 2: 16, 3: 16, 4: 13, 10: 7, 11: 22, 14: 5, 15: 9.5, 18: 11, 20: 11}
"""Lines that two warps store to a moment after each other: without what L1 loses -21 to -56 %, 11 and 20 -26."""
WORDS = {21: 7, 22: 7, 23: 7}
"""Sectors whose words are stored one by one, and loaded meanwhile: +16 to +26 % if L1 has whole sectors only."""
ROUNDS = [ALONE, SHARED, WORDS]


@needs_nvdisasm
@pytest.mark.parametrize("bounds", ROUNDS, ids=["alone", "shared", "words"])
def test_rounds_of_a_block(bounds: dict[int, float]) -> None:
    """Launch of rounds.cu, and by how many percent it may be off."""
    from tests.timing.held import errors
    from tests.timing.rounds_launches import rounds_arguments

    found = errors("rounds", rounds_arguments(), bounds, device="h200")
    assert found.keys() == bounds.keys()
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}
