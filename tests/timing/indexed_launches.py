"""Arguments of the launches of indexed.cu."""

from __future__ import annotations

from typing import Any

import numpy as np


def indexed_arguments() -> list[list[Any]]:
    """Arguments of the launches of indexed.cu, in order.  Memory is as long as it is used."""
    to, source = np.zeros(1 << 18, np.uint32), np.zeros(1 << 20, np.uint32)
    launches: list[list[Any]] = []

    def chains(different: int, apart: int, count: int) -> None:
        launches.append([to, np.uint32(different), np.uint32(apart), np.int32(count)])

    def free_ones(different: int, count: int) -> None:
        launches.append([to, source, np.uint32(different), np.uint32(4), np.int32(count)])

    for different in (1, 2, 3, 4, 8, 16, 32):
        chains(different, 4, 96)
    for apart in (8, 16, 32, 64, 256):
        chains(32, apart, 48)
    for apart in (64, 256):
        chains(4, apart, 96)
    for different in (8, 2):
        chains(different, 4, 96)
    for _ in (4, 8, 32):
        for different in (1, 2, 8, 32):
            chains(different, 4, 48)
    chains(32, 64, 24)
    for _ in (1, 4, 8, 32):
        for different in (1, 2, 8, 32):
            free_ones(different, 48)
    for _ in (8, 32):
        free_ones(1, 96)
        free_ones(1, 96)
        for different in (1, 8, 32):
            for _ in range(3):
                free_ones(different, 48)
    return launches + [[to, source.view(np.uint8), np.int32(24)] for _ in (1, 8, 32)]
