"""The global loads of the reduction family, worked out by hand for one full block.

A load is the array of element numbers that the active lanes of one warp read.  This is a second derivation,
from the description of each algorithm and not from its kernel, to compare both with the published figures.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Load = np.ndarray
"""int64, one element number per active lane of one warp."""


def by_warp(block: int, active: np.ndarray, elements: np.ndarray) -> Iterator[Load]:
    """Split the loads of a block's threads into warps; a warp without an active lane loads nothing."""
    for start in range(0, block, 32):
        lanes = slice(start, start + 32)
        if active[lanes].any():
            yield elements[lanes][active[lanes]]


def _pair(block: int, active: np.ndarray, elements: np.ndarray, distance: int) -> Iterator[Load]:
    yield from by_warp(block, active, elements)
    yield from by_warp(block, active, elements + distance)


def neighbored(block: int) -> Iterator[Load]:
    """Threads that are multiples of twice the stride read their own element and the one a stride away."""
    tid = np.arange(block)
    stride = 1
    while stride < block:
        yield from _pair(block, tid % (2 * stride) == 0, tid, stride)
        stride *= 2


def neighbored_less(block: int) -> Iterator[Load]:
    """The same pairs in the first threads."""
    tid = np.arange(block)
    stride = 1
    while stride < block:
        index = 2 * stride * tid
        yield from _pair(block, index < block, index, stride)
        stride *= 2


def rounds(block: int, last: int) -> Iterator[Load]:
    """Interleaved rounds of stride block / 2 down to *last*."""
    tid = np.arange(block)
    stride = block // 2
    while stride >= last:
        yield from _pair(block, tid < stride, tid, stride)
        stride //= 2


def chunks(block: int, count: int) -> Iterator[Load]:
    """Every thread reads one element of each chunk."""
    tid = np.arange(block)
    for chunk in range(count):
        yield from by_warp(block, tid >= 0, tid + chunk * block)


def warp_tail() -> Iterator[Load]:
    """All 32 lanes of the first warp read their own element and the one 32, 16, 8, 4, 2, 1 further on."""
    lane = np.arange(32)
    for distance in (32, 16, 8, 4, 2, 1):
        yield from _pair(32, lane >= 0, lane, distance)


def loads(kernel: str, block: int = 512) -> list[Load]:
    """All global loads of one full block; the last is thread 0 reading the block's result."""
    first = np.zeros(1, dtype=np.int64)
    if kernel in ("neighbored", "neighbored_less"):
        return [*{"neighbored": neighbored, "neighbored_less": neighbored_less}[kernel](block), first]
    if kernel == "interleaved":
        return [*rounds(block, 1), first]
    if kernel.startswith("unrolling"):
        return [*chunks(block, int(kernel[-1])), *rounds(block, 1), first]
    count = 4 if kernel.endswith("4") else 8
    return [*chunks(block, count), *rounds(block, 64), *warp_tail(), first]


def sectors(kernel: str, block: int = 512, itemsize: int = 4) -> int:
    """Distinct 32-byte sectors per load, summed over the block's loads."""
    return sum(np.unique(load * itemsize // 32).size for load in loads(kernel, block))


def requested_bytes(kernel: str, block: int = 512, itemsize: int = 4) -> int:
    """Bytes that the active lanes ask for."""
    return sum(load.size for load in loads(kernel, block)) * itemsize
