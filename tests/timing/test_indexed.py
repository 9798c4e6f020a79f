"""Constants at places that a register says, of which lanes want several at a time: cycles of an H200 (indexed.cu)."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm

CHAINS = {0: 4, 1: 4, 3: 4, 6: 3, 14: 3, 18: 4, 19: 3, 22: 4, 23: 3, 25: 4, 26: 3, 27: 3}
"""Launches in which each place depends on the word before, and by how many per cent their cycles may be off.

By 1, 4, 8 and 32 warps of an SM that want 1 to 32 words at a time.  With all words at once they are up to 96 % fast.
"""
BESIDE = {36: 10, 44: 5, 50: 15, 64: 11, 66: 17, 69: 7}
"""Eight words that do not depend on each other, two beside loads of shared memory and special functions; checksums.

What a table takes when it is read first is not modelled.
"""


def _off(launch: int) -> float:
    """By how many per cent the model is off."""
    from tests.timing.indexed_launches import indexed_arguments
    from tests.timing.launches import error, mangled, measured, run

    entry = measured("indexed")[launch]
    chain = f"7chainedILb{int(launch in (14, 15))}E"
    name = chain if "chained" in entry["kernel"] else mangled(entry["kernel"], integers=True)
    return error(entry, run("indexed", name, entry["grid"], entry["block"], indexed_arguments()[launch], sms="auto"))


@needs_nvdisasm
@pytest.mark.parametrize("launch", CHAINS)
def test_words_that_a_warp_wants_come_one_after_the_other(launch: int) -> None:
    assert abs(_off(launch)) < CHAINS[launch]


@needs_nvdisasm
@pytest.mark.parametrize("launch", BESIDE)
def test_words_beside_others(launch: int) -> None:
    assert abs(_off(launch)) < BESIDE[launch]
