"""Words anywhere in arrays of 64 KiB to 64 MiB, loaded, stored and added to, against an H200 (anywhere.cu)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from simt.timing.result import TimingResult
from tests.machine_view import needs_nvdisasm

KI, MI = 1 << 10, 1 << 20


@cache
def _launched(kind: str, words: int, blocks: int) -> tuple[dict[str, Any], TimingResult]:
    from tests.timing.anywhere_launches import anywhere_arguments, number
    from tests.timing.launches import measured, run

    entry = measured("anywhere")[number(kind, words, blocks)]
    name = f"{len(kind)}{kind}P"
    arguments = anywhere_arguments(kind, words, blocks)
    return entry, run("anywhere", name, entry["grid"], entry["block"], arguments, sms="auto")


LAUNCHES = [
    *(("gather", 128 * KI, 1024, 9), ("gather", MI, 4096, 5)),
    *(("gather", 4 * MI, 1024, 9), ("gather", 16 * MI, 4096, 9)),
    *(("gathers", MI, 1024, 9), ("gathers", 16 * MI, 1024, 16)),
    *(("scatter", 16 * KI, 1024, 4), ("scatter", 128 * KI, 1024, 7), ("scatter", MI, 4096, 10)),
    *(("scatter", 4 * MI, 1024, 5), ("scatter", 4 * MI, 4096, 11), ("scatter", 16 * MI, 4096, 14)),
    *(("add", 16 * KI, 1024, 12), ("add", 4 * MI, 4096, 7), ("rows", MI, 1024, 8), ("rows", 16 * MI, 1024, 9)),
]


@needs_nvdisasm
@pytest.mark.parametrize(("kind", "words", "blocks", "most"), LAUNCHES)
def test_words_anywhere(kind: str, words: int, blocks: int, most: float) -> None:
    """What all SMs reach counts, not what one does: with the lines of one SM scattered words took 10 to 70 % more."""
    from tests.timing.held import moved
    from tests.timing.launches import error

    entry, timed = _launched(kind, words, blocks)
    assert abs(error(entry, timed)) < most
    there, here = moved(entry, timed)
    assert here == pytest.approx(there, rel=0.19)


@needs_nvdisasm
def test_the_rest_of_an_allocation_does_not_matter() -> None:
    """Of 64 MiB the first 4 are loaded: as if there were no more (DRAM moved six times as much)."""
    import numpy as np

    from tests.timing.anywhere_launches import anywhere_arguments
    from tests.timing.launches import run

    _, alone = _launched("gather", MI, 4096)
    places, _, to = anywhere_arguments("gather", MI, 4096)
    shape = [4096, 1, 1], [256, 1, 1]
    timed = run("anywhere", "6gatherP", *shape, [places, np.zeros(16 * MI, np.float32), to], sms="auto")
    assert timed.metrics["dram_read_bytes"] == pytest.approx(alone.metrics["dram_read_bytes"], rel=0.02)
    assert timed.cycles == pytest.approx(alone.cycles, rel=0.03)
