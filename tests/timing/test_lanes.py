"""Lanes that each go along a row of their own, loading and storing, against an H100 (lanes.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.machine_view import needs_nvdisasm

KERNELS = ("most", "stored", "placed", "turned", "line", "stores")
SHAPES = [
    (blocks, threads, apart, words)
    for blocks in (1, 8, 64)
    for threads in (32, 128)
    for apart in (1056, 2048, 10240)
    for words in (256, 1024, 10240)
    if words <= apart and (words < 10240 or blocks == 8)
    if blocks * threads * apart <= 1 << 25 and (threads == 128 or blocks == 1)
]
"""Blocks, threads of each, words from row to row, and words of each row that are used; each by all kernels."""


def _arguments(shape: tuple[int, int, int, int]) -> list[Any]:
    blocks, threads, apart, words = shape
    rows = np.zeros(blocks * threads * apart, np.float32)
    return [rows, np.zeros_like(rows), np.uint32(apart), np.int32(words)]


@needs_nvdisasm
@pytest.mark.parametrize(
    ("shape", "kernel", "bound"),
    [
        ((1, 128, 1056, 256), "most", 4),
        ((1, 128, 1056, 256), "stored", 7.5),
        ((1, 128, 1056, 256), "turned", 6.5),
        ((1, 128, 1056, 256), "line", 12.5),
        ((1, 128, 2048, 256), "stored", 8.5),
        ((1, 128, 2048, 256), "turned", 3),
        ((1, 128, 10240, 256), "line", 6.5),
        ((8, 128, 10240, 256), "stored", 17),
        ((8, 128, 1056, 256), "stores", 2.5),
    ],
)
def test_loads_wait_for_stores_to_many_lines(shape: tuple[int, int, int, int], kernel: str, bound: float) -> None:
    """Each store of a warp to 32 lines keeps the load/store unit, and loads of words of one bank wait.

    If it keeps it for a cycle a line only, those of rows 1056 and 10240 words apart are 25 to 38 % fast.  If it does
    for two wherever the lines are, those of rows 2048 words apart are 20 to 25 % slow.
    """
    from tests.timing.held import launched

    launch = SHAPES.index(shape) * len(KERNELS) + KERNELS.index(kernel)
    arguments = [[]] * launch + [_arguments(shape)]
    entry, timed = launched("lanes", arguments, launch, sms="auto")
    assert (entry["grid"][0], entry["block"][0]) == shape[:2]
    assert entry["kernel"].startswith(kernel)
    assert abs(timed.cycles / entry["counters"]["cycles"] - 1) * 100 < bound
