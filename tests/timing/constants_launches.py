"""Arguments of the launches of constants.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

ENDS = 1 << 16


def constants_arguments() -> list[list[Any]]:
    """Arguments of the launches of constants.cu, in order.  Memory is as long as it is used."""
    u = np.uint32

    def data(words: int, kind: type = u) -> Any:
        return np.zeros(words, kind)

    def words(n: int) -> tuple[Any, ...]:
        return (data(n), *[u(0)] * 1000)

    launches: list[list[Any]] = []
    for blocks in (1, 132, 264, 1000):
        n = blocks * 256
        launches += [[words(n)] for _ in range(6)]
        launches += [[data(n)] for _ in range(3)]
        launches.append([data(n), data(n), data(n), u(n)])
    launches += [[data(264 * 256), u(count)] for count in (16, 256, 4096)]
    launches += [[data(264 * 256), u(mask)] for mask in (0, 7, 31, 1023)]
    launches += [[words(n)] for n in (132 * 32, 132 * 1024, 264 * 1024)]
    launches.append([data(132 * 1024), data(132 * 1024), data(132 * 1024), u(132 * 1024)])
    launches += [[data(ENDS), u(count), u(1)] for count in (32, 64, 128, 256)]
    launches += [[data(ENDS, np.float64), u(count), u(1)] for count in (16, 32, 64, 128, 256, 1024, 256, 256, 256)]
    launches += [[data(ENDS), u(256), u(apart)] for apart in (2, 4, 8, 32, 64, 256)]
    launches.append([data(ENDS), u(32), u(1)])
    return launches + [[data(ENDS, np.float64), u(ENDS)] for _ in range(2)]
