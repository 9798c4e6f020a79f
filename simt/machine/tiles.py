"""Where a GPU keeps the texels of a picture: in tiles, so that what is near in any direction is near in memory."""

from __future__ import annotations

import numpy as np

from simt.machine import images as I
from simt.ops.jit import jit

TILE_BYTES = 512
"""Of a tile: eight rows of 64 bytes (a "group of bytes", GOB, in the headers of Linux's nouveau and Tegra drivers)."""


@jit
def tiled(position, at, TEXTURES):
    """The arena position that stands for a texel's, which the arena has row by row; that of lines stays.

    Within a tile a sector of 32 bytes is 16 bytes of two rows, and four of these sectors are 32 bytes of four rows.
    Tiles beyond the edge share the places of those before.
    """
    row = TEXTURES[at + I.X_STRIDE_Y]
    height = TEXTURES[at + I.X_HEIGHT]
    if TEXTURES[at + I.X_DIMS] < 2 or row <= 0:
        return position
    base = TEXTURES[at + I.X_BASE]
    begin = base + (position - base) // (row * height) * (row * height)
    x = (position - begin) % row
    y = (position - begin) // row
    tile = (y >> 3) * ((row + 63) >> 6) + (x >> 6)
    inside = ((x & 32) << 3) | ((y & 6) << 5) | ((x & 16) << 1) | ((y & 1) << 4) | (x & 15)
    return begin + (tile * TILE_BYTES + inside) % np.int64(row * height)
