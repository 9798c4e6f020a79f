"""Arguments of the launches of short.cu."""

from __future__ import annotations

from typing import Any

import numpy as np


def short_arguments() -> list[list[Any]]:
    """Arguments of the launches of short.cu, in order.  Memory is as long as it is used."""
    u = np.uint32

    def data(words: int, arrays: int = 3) -> list[Any]:
        return [np.zeros(words, u) for _ in range(arrays)]

    launches: list[list[Any]] = []
    for threads in (256, 1024):
        for power in range(14, 23):
            launches += [[*data(1 << power), u(1 << power)] for _ in range(4 if threads == 256 else 2)]
    for side in (128, 350, 512, 700, 704, 1024):
        launches += [[*data(side * side), u(side)] for _ in range(5)]
    aparts = (1, 8, 32, 256, 260)
    launches += [
        [*data(16384 * apart, 2), u(first), u(apart), u(16384)]
        for first in (0, 1)
        for apart in aparts
        for _ in range(3)
    ]
    for lanes in (0, 1, 32, 128):
        aparts = (0, 1, 32, 256, 1024) if lanes else (0,)
        launches += [[*data(4096 * apart + 256, 2), u(lanes), u(apart)] for apart in aparts for _ in range(3)]
    for blocks in (1, 49, 132):
        for step in (8, 16, 32, 64, 100, 256, 1024):
            aparts = (0, 1 << 16) if blocks > 1 else (0,)
            launches += [
                [np.zeros(63 * step + blocks * apart + 32, u), np.zeros(1, u), u(64), u(step), u(apart)]
                for apart in aparts
            ]
    launches += [[*data(n * n), u(n)] for n in (64, 96, 100, 128, 160)]
    launches += [data(1024 * tiles * tiles, 2) for tiles in (8, 16, 32) for _ in range(2)]
    return launches + [data(256 * blocks, 1) for blocks in (512, 1024, 4096)]
