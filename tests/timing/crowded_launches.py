"""Arguments of the launches of crowded.cu."""

from __future__ import annotations

from typing import Any

import numpy as np


def crowded_arguments() -> list[list[Any]]:
    """Arguments of the launches of crowded.cu, in order.  Memory is as long as it is used."""
    u = np.uint32
    words, table = np.zeros(1 << 14, u), np.zeros(1 << 23, np.float32)

    def crowd(other: int = 0, trips: int = 16, count: int = 4, apart: int = 1) -> list[Any]:
        return [words, u(count), u(apart), u(other), u(trips)]

    launches = []
    for other in (0, 0, 0, 128, 128, 0, 0, 0, 0):
        launches += [crowd(other, trips, count=1) for trips in (1, 1, 1, 1, 1, 16, 16, 16)]
    for other in (0, 0, 512):
        launches += [crowd(other, apart=apart) for apart in (1, 8, 32, 64, 256)]
    launches += [crowd(other, trips=1, count=1) for other in (1, 8, 64)]
    launches += [[words]] * 7
    launches += [[table[: 1 << 22], np.zeros(1 << 22, np.float32), u(1 << 22)]] * 2
    launches += [[words[:8192], words[8192:8320], words[8320:]]] * 6
    for kind in [u] * 5 + [np.float64] * 3:
        launches += [[np.zeros(32 * 4 * 3 * 32 * lane, kind), u(lane), u(32)] for lane in (1, 8, 32)]
    for _ in range(3):
        for kind, loads in ((np.float64, 2), (np.float32, 2), (np.float32, 1)):
            data = np.zeros(3 << 20, kind)
            launches.append([data[: loads << 20], data[loads << 20 :], u(50), u(1 << 20)])
    out = np.zeros(1 << 20, np.float32)

    def lone(stride: int, first: int = 0, bits: int = 22) -> list[Any]:
        return [np.zeros((1 << bits) + first, np.float32), out, u(stride), u(first), u((1 << bits) - 1)]

    launches += [lone(stride) for stride in (8, 16, 32, 33, 40, 64, 128)]
    launches += [lone(32, first) for first in (8, 16)]
    launches += [lone(stride, bits=18) for stride in (8, 32, 33)]
    for n in (512, 700, 704, 1000):
        launches += [[*(np.zeros(n * n, np.float32) for _ in range(3)), u(n)]] * 2
    return launches
