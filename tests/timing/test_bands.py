"""Small blocks that store parts of lines, and tiles that leave out their edges: bytes of an H100 (bands.cu)."""

from __future__ import annotations

import numpy as np
import pytest

from simt.ops.jit import plain
from simt.timing import l2, others
from tests.machine_view import needs_nvdisasm


def _off(launch: int) -> tuple[float, float]:
    """Error of the cycles in %, and by which share DRAM moves more than an H100 moved."""
    from tests.timing.bands_launches import bands_launches
    from tests.timing.held import moved
    from tests.timing.launches import error, measured, run

    entry = measured("bands", "h100")[launch]
    name, arguments = bands_launches()[launch]
    timed = run("bands", name, entry["grid"], entry["block"], arguments, device="h100", sms="auto")
    there, here = moved(entry, timed)
    return error(entry, timed), here / there - 1


@needs_nvdisasm
@pytest.mark.parametrize("launch", [32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54])
def test_stencils_by_small_blocks(launch: int) -> None:
    """Blocks of 3 to 10 threads in each direction, whose warps are parts of several rows and layers.

    If their lines are taken for lines anywhere, and each SM answers for all of which it writes a part, a block of
    6 x 6 x 6 threads moves 83 MB for 23, and takes 39 % too long.
    """
    off, more = _off(launch)
    assert abs(off) < (15.3 if launch == 46 else 13.5)
    assert abs(more) < (0.175 if launch == 44 else 0.105)


@needs_nvdisasm
@pytest.mark.parametrize("launch", [65, 66, 67, 69, 70, 71, 72, 73])
def test_tiles_that_leave_out_their_edges(launch: int) -> None:
    """Lines that lack some bytes for good: two of each set of L2 wait, which lie side by side.

    If each block answers for all of its lines, in sets anywhere, 7.4 MB are moved for the 1.9 of launch 65.
    """
    assert abs(_off(launch)[1]) < (0.096 if launch == 73 else 0.09)


def test_rows_of_small_blocks_are_no_lines_anywhere() -> None:
    """The last warp of 5 x 5 x 5 threads, in rows of 8 lines and layers of 2048; and lines at random."""
    rows = np.array([0, 2048 - 32, 2048 - 24, 2048 - 16, 2048 - 8, 2048])
    assert plain(others._are_rows)(len(rows), rows)
    assert plain(others._are_rows)(6, np.array([0, 1, 8, 9, 16, 17]))
    assert not plain(others._are_rows)(6, np.array([0, 700, 90, 4000, 13, 2500]))


def test_a_line_is_as_each_of_its_parts_is() -> None:
    """Tiles of 16 words and of 16 bytes of which one is left out: 28 of 32 bytes in each second sector, 30 in each."""
    assert plain(l2._repeated)(0b11, 28, 2.0) == (15, 28 | 28 << 16)
    assert plain(l2._repeated)(0b1, 15, 8.0) == (15, 30 * 0x01010101)
