"""The published nvprof table of a Quadro P2000 (sm_61), from the machine code of the same kernels.

Blocks are alike, so 2**18 elements give the figures of 2**24.
"""

from __future__ import annotations

import numpy as np
import pytest

from examples.published_profile import BLOCK, PUBLISHED
from simt.program import COUNTERS
from tests.sass.data import cubin, launch, per_line

ELEMENTS = 2**18


@pytest.mark.parametrize("name", PUBLISHED)
def test_figures(name: str) -> None:
    chunks, inst_per_warp, efficiency = PUBLISHED[name]
    kernel = cubin("sm_61/kernels")[name]
    data = np.random.RandomState(1).randint(-(2**31), 2**31, ELEMENTS).astype(np.int32)
    total = data.sum(dtype=np.int32)
    blocks = ELEMENTS // BLOCK // chunks
    args = [data, np.zeros(blocks, np.int32), np.uint32(ELEMENTS)]
    result = launch(kernel, (blocks, 1, 1), (BLOCK, 1, 1), args)
    program = kernel.program
    executed = per_line(program, result)[:, COUNTERS.index("inst_executed")].sum()
    assert executed / result.warps_launched == inst_per_warp
    loads = [pc for pc, instruction in enumerate(program.instructions) if instruction.op == "ld.global"]
    asked = result.counters[loads, COUNTERS.index("bytes")].sum()
    moved = 32 * result.counters[loads, COUNTERS.index("sectors")].sum()
    assert round(100 * asked / moved, 2) == efficiency
    assert args[1].sum(dtype=np.int32) == total


def test_loops_that_break_out_of_nested_regions() -> None:
    """loopDiv has PBK and BRK around SSY and SYNC; collatz a divergent loop, grayscale conversions."""
    kernels = cubin("sm_61/kernels")
    trips = (4 + 7919 * np.arange(1000) % 29).astype(np.int32)
    out = np.ones(1000, np.float32)
    launch(kernels["loopDiv"], (8, 1, 1), (128, 1, 1), [trips, out, np.int32(1000)])
    expected = []
    for trip in trips:
        a = np.float32(1)
        for _ in range(trip):
            a = np.float32(a * np.float32(1.5) + np.float32(1))
            if a > 1e6:
                a -= np.float32(1e6)
        expected.append(a)
    np.testing.assert_allclose(out, expected, rtol=1e-5)

    values = np.arange(1, 301, dtype=np.int32)
    steps = np.zeros(300, np.int32)
    launch(kernels["collatz"], (3, 1, 1), (128, 1, 1), [values, steps, np.int32(300)])

    def collatz(v: int) -> int:
        n = 0
        while v != 1:
            v, n = (3 * v + 1 if v & 1 else v >> 1), n + 1
        return n

    assert steps.tolist() == [collatz(v) for v in values.tolist()]

    picture = np.random.RandomState(2).randint(0, 256, 3 * 20 * 10).astype(np.uint8)
    gray = np.zeros(200, np.uint8)
    launch(kernels["grayscale"], (2, 1, 1), (16, 16, 1), [gray, picture, np.int32(20), np.int32(10)])
    r, g, b = (picture[k::3].astype(np.float32) for k in range(3))
    mixed = np.float32(0.21) * r + np.float32(0.71) * g + np.float32(0.07) * b
    assert np.abs(gray.astype(int) - mixed.astype(int)).max() <= 1
