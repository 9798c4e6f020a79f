"""Where a GPU keeps texels: every texel has its own place, and what is near stays near."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simt.machine import images as I
from simt.machine.tiles import TILE_BYTES, tiled


def places(width: int, height: int, slices: int, base: int) -> list[int]:
    """Places of the words of a picture of *width* x *height* tiles."""
    row = np.zeros(I.N_IMAGE, np.int64)
    row[[I.X_BASE, I.X_HEIGHT, I.X_STRIDE_Y, I.X_DIMS]] = base, 8 * height, 64 * width, 2 + (slices > 1)
    return [int(tiled(np.int64(base + 4 * k), np.int64(0), row)) for k in range(slices * width * height * 128)]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 8))
def test_tiles_hold_each_texel_once(width: int, height: int, slices: int, base: int) -> None:
    found = places(width, height, slices, 512 * base)
    size = slices * width * height * TILE_BYTES
    assert sorted(found) == list(range(512 * base, 512 * base + size, 4))


@given(st.integers(1, 4), st.integers(1, 4))
def test_a_sector_is_four_texels_of_two_rows(width: int, height: int) -> None:
    found = np.array(places(width, height, 1, 0)).reshape(8 * height, 16 * width) // 32
    squares = found.reshape(4 * height, 2, 4 * width, 4).transpose(0, 2, 1, 3).reshape(-1, 8)
    assert all(len(set(square)) == 1 for square in squares.tolist())
    assert len(set(squares[:, 0].tolist())) == len(squares)


def test_lines_stay_as_they_are() -> None:
    row = np.zeros(I.N_IMAGE, np.int64)
    row[[I.X_BASE, I.X_HEIGHT, I.X_DIMS]] = 256, 1, 1
    assert tiled(np.int64(1000), np.int64(0), row) == 1000
