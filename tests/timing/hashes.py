"""The hash of the microbenchmarks (common.cuh)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def hashed(first: int, n: int) -> npt.NDArray[np.uint32]:
    """uint32[n]: the hashes of *first* and the numbers behind it."""
    x = np.arange(first, first + n, dtype=np.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ x >> np.uint32(shift)) * np.uint32(factor)
    return x ^ x >> np.uint32(16)
