"""Arguments of the launches of rounds.cu."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.timing.hashes import hashed

MEANS = (
    (256, 1, 2047, -1, 1),
    (256, 0, 2048, 0, 0),
    (256, 1, 2047, 0, 0),
    (256, 4, 2048, 0, 0),
    (256, 8, 2048, 0, 0),
    (256, 0, 2048, 1, 2),
    (256, 0, 2048, 1, 1),
    (32, 1, 257, -1, 1),
    (64, 1, 513, -1, 1),
    (128, 1, 1025, -1, 1),
    (512, 1, 4095, -1, 1),
    (1024, 1, 4095, -1, 1),
    (256, 1, 257, -1, 1),
    (256, 0, 256, 0, 0),
    (1024, 1, 1025, -1, 1),
)
"""Threads, the words that are stored, and which two of the other array they are means of."""


def rounds_arguments() -> list[list[Any]]:
    """Arguments of the launches of rounds.cu, in order."""
    i = np.int32

    def floats() -> npt.NDArray[np.float32]:
        return np.zeros(1 << 13, np.float32)

    launches: list[list[Any]] = [[floats(), floats(), *map(i, shape[1:]), i(50)] for shape in MEANS]
    launches += [[floats(), i(1), i(2047), i(50)], [floats(), i(0), i(2048), i(50)]]
    launches += [[floats(), floats(), i(1), i(2047), i(-1), i(1), i(10)]]
    launches += [[(hashed(3, 1 << 16) & 0xFFFF).astype(np.int32), i(n)] for n in (1024, 128, 1024)]
    letters = (hashed(4, 1 << 12) & 255).astype(np.uint8)
    launches += [[letters, letters[1024:].copy(), np.zeros(1 << 17, np.int32), i(n)] for n in (300, 60, 200)]
    for bits in (20, 16, 24):
        at = np.arange(1 << bits, dtype=np.uint32)
        ring = ((at * np.uint32(40503) + np.uint32(12345)) & np.uint32((1 << bits) - 1)).astype(np.int32)
        for steps, lanes in ((64, 32), (256, 32), (64, 1), (64, 32), (256, 1), (64, 32)):
            launches.append([ring, np.zeros(1 << 16, np.int32), i(steps), np.uint32(lanes)])
    lengths = (hashed(0, 1 << 16) % np.uint32(31)).astype(np.int32)
    rows = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)])
    columns = (hashed(9, 1 << 20) & 65535).astype(np.int32)
    for blocks in (256, 64):
        level = (hashed(5, 1 << 16) & 7).astype(np.int32)
        for _ in range(4):
            launches.append([rows, columns, level.copy(), i(1), i(blocks * 256), np.zeros(64, np.int32)])
    return launches
