"""Arguments of the launches of columns.cu and turns.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

SQUARE, WIDE, TALL, FULL = (16, 16), (32, 8), (8, 32), (32, 32)
NOTHING, ACROSS, SUM = range(3)
FILLED = [
    *[(1000, 10000, 10000)] * 8,
    *[(1000, 10000, pitch) for pitch in (10001, 10016, 10004)],
    *[(1024, 8192, 8192)] * 4,
    *[(4096, 4096, 4096)] * 2,
    *[(1000, height, height) for height in (160, 1000, 2500, 40000)],
    *[(10000, 1000, 1000)] * 3,
    *[(16, 16, 10000), (16, 2112, 10000), (2112, 16, 10000), (528, 512, 10000), (8, 32, 10000)],
    (1000, 5000, 5000),
]
"""Rows, words of each that are stored, and words from one to the next, of launches that load nothing."""
SIDES = [*[n for n in (512, 1024, 2048) for _ in range(3)], 4096, 4096, 4096]
"""Of the matrices of those behind them: nine sums and three transposes."""


def _matrices(reads: int, rows: int, words: int, pitch: int, kind: type) -> list[Any]:
    u = np.uint32
    to: Any = np.zeros((rows - 1) * pitch + words + 64, kind)
    loaded = {NOTHING: 4, ACROSS: rows * words, SUM: len(to)}[reads]
    loads: list[Any] = [np.zeros(loaded, kind), np.zeros(loaded if reads == SUM else 4, kind)]
    return [to, *loads, u(pitch), u(rows), u(words)]


def columns_arguments() -> list[list[Any]]:
    """Arguments of the launches of columns.cu, in order.  Memory is as long as it is used."""
    u, u64, f, d = np.uint32, np.uint64, np.float32, np.float64
    launches = [_matrices(NOTHING, *shape, d if shape[1] == 5000 else u) for shape in FILLED]
    launches += [_matrices(SUM if n < 4096 else ACROSS, n, n, n, u) for n in SIDES]
    for kind, n in ((d, 4096), (d, 4096), (f, 4096), (f, 4096), (d, 2048)):
        launches.append([np.zeros(n * n, kind), np.zeros(n * n, kind), u(n)])
    for across, pause in ((187, 0), (187, 2000), (192, 2000), (40, 2000)):
        launches.append([np.zeros(187 * 64 * across, u64), u(pause)])
    for n in (10000, 1000, 100):
        launches.append([np.zeros(1 << 20, u), np.ones(1 << 20, u), np.ones(10000, u), u(n), u(1 << 20)])
    return launches


def turns_shapes() -> list[tuple[int, int, int, int]]:
    """Lines, times, blocks and warps of a block of the launches of turns.cu, in order."""
    return [
        (lines, times, blocks, warps)
        for lines in (1, 2, 4, 8, 16, 32)
        for times in (1, 16)
        for blocks in (1, 132, 1056)
        for warps in (1, 2, 4, 8, 32)
        if blocks < 1056 or warps in (4, 8)
    ]
