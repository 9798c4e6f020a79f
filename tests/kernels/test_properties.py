"""Kernels of the registry against NumPy on drawn launches: every check, and several schedules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt import kernels
from simt.kernels import divergence
from simt.testing import arrays, assert_kernel, elements, launches, length, outputs, sizes

Array = Any
BLOCK = 64


def test_vector_add() -> None:
    finite = elements("float32", finite=True)
    cases = launches(arrays("float32", elements=finite), arrays("float32"), outputs("float32"))
    assert_kernel(divergence.vector_add, lambda a, b, c: a + b, cases, schedules=3, examples=30)


def test_picture_guard() -> None:
    def gray(picture: Array, gray: Array) -> Array:
        red, green, blue = (picture[..., k] for k in range(3))
        return (0.21 * red + 0.71 * green + 0.07 * blue).astype(np.uint8)

    pictures = arrays("uint8", lambda launch: (*launch.n[::-1], 3))
    assert_kernel(divergence.picture_guard, gray, launches(pictures, outputs("uint8"), axes=2), examples=20)


@pytest.mark.parametrize("op", ["sum", "max"])
@pytest.mark.parametrize("name", ["shared", "shuffle"])
def test_reductions(name: str, op: str) -> None:
    """Sums wrap around; no schedule changes what the values of the blocks come to."""
    fold = kernels.operation(op).reduce
    entry = kernels.get_reduction(name)
    span = BLOCK * entry.elements_per_thread

    def reference(g_idata: Array, g_odata: Array, n: int) -> Array:
        return [fold(g_idata[start : start + span]) for start in range(0, n, span)]

    cases = launches(
        arrays("int32"),
        outputs("int32", lambda launch: launch.blocks),
        length(),
        n=sizes(1, 3 * span),
        block=sizes(BLOCK, BLOCK),
        grid=lambda n, block: entry.grid(n, block),
    )
    assert_kernel(
        entry.make(BLOCK, op), reference, cases, agrees=lambda a, b: bool(fold(a) == fold(b)), schedules=3, examples=15
    )
