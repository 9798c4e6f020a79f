"""Words and structs a stride apart, and volumes in small blocks, against an H200 (strided.cu)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm


@cache
def _timed(launch: int) -> tuple[dict[str, Any], TimingResult]:
    """A launch of strided.cu as measured, and as simulated."""
    from tests.timing.launches import mangled, measured, run
    from tests.timing.strided_launches import strided_arguments

    entry = measured("strided")[launch]
    name = mangled(entry["kernel"], integers="volume" not in entry["kernel"])
    timed = run("strided", name, entry["grid"], entry["block"], strided_arguments(launch), sms="auto")
    return entry, timed


def _moved(launch: int) -> tuple[float, float]:
    """Bytes that DRAM moves there, and here."""
    from tests.timing.held import moved

    return moved(*_timed(launch))


@needs_nvdisasm
@pytest.mark.parametrize("launch", [10, 17])
def test_what_l2_completes_beside_loads_is_written_at_once(launch: int) -> None:
    """Copies of lone words: DRAM writes what it reads to complete them.

    If L2 kept it whenever DRAM is busy, launch 10 would write 1.5 MB, not 9.8.
    """
    there, here = _moved(launch)
    assert abs(here / there - 1) < 0.05


@needs_nvdisasm
@pytest.mark.parametrize(("launch", "bound"), [(17, 13.5), (54, 17)])
def test_a_lone_sector_takes_as_long_as_two(launch: int, bound: float) -> None:
    """One sector a line (17) or two (54), of different halves, that L2 completes: another row of DRAM each.

    If DRAM's time were that of units of 64 bytes, 17 would be 18 % fast and 54 57 % slow.
    """
    entry, timed = _timed(launch)
    assert abs(timed.cycles / entry["counters"]["cycles"] - 1) * 100 < bound


@needs_nvdisasm
def test_stores_to_seven_lines_do_not_join_while_l2_is_behind() -> None:
    """Structs of 28 bytes, changed in place: each store of a word goes by itself (31 % fast if they join)."""
    entry, timed = _timed(124)
    assert abs(timed.cycles / entry["counters"]["cycles"] - 1) * 100 < 10


@needs_nvdisasm
@pytest.mark.parametrize("launch", [147, 167])
def test_layers_of_blocks_fill_lines(launch: int) -> None:
    """Volumes whose last index is z, in blocks of four layers: those behind fill the sectors, of which L2 loses none.

    Unless that is known, DRAM moves 32 MB in launch 167, not half a megabyte.
    """
    there, here = _moved(launch)
    assert abs(here - there) < 2e6
