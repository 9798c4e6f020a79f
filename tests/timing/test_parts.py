"""Lines that several stores fill, transposes, stored lines beside shared data: bytes of an H100 (parts.cu)."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import slow

TENTH = 0.1
SOME = 1e6
"""Bytes of which fewer may be more or less than measured."""


def _off(launch: int) -> tuple[float, float]:
    """By how much of what an H100 read, or wrote, the model reads and writes more."""
    from tests.timing.launches import measured, run
    from tests.timing.parts_launches import parts_launches

    entry = measured("parts", "h100")[launch]
    name, arguments = parts_launches()[launch]
    timed = run("parts", name, entry["grid"], entry["block"], arguments, device="h100", sms="auto")
    off = []
    for way in ("read", "write"):
        there = entry["counters"][f"dram_{way}_bytes"]
        off.append((float(timed.metrics[f"dram_{way}_bytes"] or 0) - there) / max(there, SOME))
    return off[0], off[1]


@needs_nvdisasm
@pytest.mark.parametrize("launch", [0, *slow(2, 3, 7, 8, 13, 14)])
def test_blocks_side_by_side_fill_lines_in_several_stores(launch: int) -> None:
    """Pixels of 2 to 4 bytes, one byte at a time: 4 to 17 MB stay in L2, whatever the time between.

    If an SM answers for all lines that it stores a part of, 4 to 9 MB are written.
    """
    read, written = _off(launch)
    assert abs(read) < 0.3
    assert abs(written) < 0.8


@needs_nvdisasm
@pytest.mark.parametrize("launch", [9, 11, *slow(17, 27, 28, 30, 36, 38, 40, 42)])
def test_l2_writes_sectors_that_it_completes(launch: int) -> None:
    """Bytes that stores leave out for good (9 to 17) or for some time: as much is read as written, two of a set wait.

    With three lines and without writing the completed sectors launch 9 read 6.1 and wrote 1.1 MB, not 7.9 each.
    """
    bound = 0.18 if launch == 27 else 0.126
    read, written = _off(launch)
    assert abs(read) < bound
    assert abs(written) < bound


@needs_nvdisasm
@pytest.mark.parametrize("launch", [47, *slow(50, 53, 60, 63)])
def test_transposes(launch: int) -> None:
    """Words of 2048 to 8192 lines that a warp stores, by blocks of 32 x 32 and 8 x 32 threads."""
    read, written = _off(launch)
    assert abs(read) < TENTH
    assert abs(written) < (TENTH if launch > 47 else 1.0)


@needs_nvdisasm
@pytest.mark.parametrize("launch", slow(69, 86))
def test_stored_lines_leave_for_data_that_all_sms_read(launch: int) -> None:
    """17 MB stored while all SMs read 8 or 16 MB: without second copies nothing is written, for 1.1 and 4 MB."""
    read, written = _off(launch)
    assert abs(read) < 0.02
    assert abs(written) < 0.4
