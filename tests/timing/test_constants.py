"""What the first warps wait for constants, against an H100 (constants.cu)."""

from __future__ import annotations

from typing import Any

import pytest

from simt.metrics.stalls import Reason
from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm

CYCLES = {7: 2, 11: 2, 16: 6, 20: 2, 21: 3, 25: 3, 26: 3, 28: 7}
"""Launches, and by how many percent their cycles may be off.

Those that read ``__constant__`` variables were 10 (16, 26), 43 (7) and 60 % fast (28) without misses.
"""
MET = {54: 10, 58: 12, 59: 7, 62: 11.5, 63: 15.5, 64: 10.5}
"""Launches of which all blocks store to the same 8 to 16 lines, by percent: L2 is at it when all warps have ended.

They were 17 to 28 % fast when the first block of an SM that came to a line did not stand for those of others.
"""
WAITS = {11: 15, 15: 20, 16: 10, 21: 20, 51: 15, 55: 15, 56: 10, 57: 10, 59: 20}
"""Launches, and by how many percent the cycles of a warp that waits for constants (imc_miss) may be off."""


def _timed(launch: int, **options: Any) -> tuple[dict[str, Any], TimingResult]:
    """A launch of constants.cu as measured on an H100, and as simulated."""
    from tests.timing.constants_launches import constants_arguments
    from tests.timing.held import launched

    return launched("constants", constants_arguments(), launch, sms="auto", **options)


@needs_nvdisasm
@pytest.mark.parametrize("launch", CYCLES)
def test_launches_that_begin_with_constants(launch: int) -> None:
    from tests.timing.launches import error

    assert abs(error(*_timed(launch))) < CYCLES[launch]


@needs_nvdisasm
@pytest.mark.parametrize("launch", MET)
def test_all_blocks_store_to_the_same_lines(launch: int) -> None:
    from tests.timing.launches import error

    assert abs(error(*_timed(launch))) < MET[launch]


@needs_nvdisasm
@pytest.mark.parametrize("launch", WAITS)
def test_warps_wait_for_constants_as_long_as_on_hardware(launch: int) -> None:
    entry, timed = _timed(launch)
    assert timed.stall_reasons["imc_miss"] == pytest.approx(
        entry["counters"]["stall_imc_miss"], rel=WAITS[launch] / 100
    )


@needs_nvdisasm
def test_constants_are_what_short_kernels_wait_for_most() -> None:
    """As on the H100, where it is 202 cycles of a warp, beside 175 for instructions and 24 for numbers of threads."""
    entry, timed = _timed(56)
    assert entry["counters"]["stall_imc_miss"] > entry["counters"]["stall_no_instruction"]
    assert timed.dominant_stall == "imc_miss"


@needs_nvdisasm
def test_each_scheduler_fetches_a_line_once() -> None:
    """A line that 8 warps alone on the chip want: the first of each scheduler waits, the second almost as long."""
    _, timed = _timed(0)
    assert timed.stalls[:, Reason.IMC_MISS].sum() == pytest.approx(8 * 59, rel=0.1)
    _, without = _timed(0, overrides={"constant_latency": 0})
    assert timed.cycles - without.cycles > 59
