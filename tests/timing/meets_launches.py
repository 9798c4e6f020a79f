"""Arguments of the launches of meets.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

MI = 1 << 20
SHARED = (*(4 * n for n in (128, 256, 512, 1024)), 2048, 24000, 1024, 4096, *(4 * n for n in (128, 256, 512, 1024)))
SHARED_BYTES = (*SHARED, *[1024] * 6, *(4 * n for n in (128, 256, 512, 1024)), 0, 0)
"""Dynamic shared memory of each launch."""


def meets_arguments() -> list[list[Any]]:
    """Arguments of the launches of meets.cu, in order.  Memory is as long as it is used."""

    def data(words: int, kind: type = np.float32) -> Any:
        return np.zeros(words, kind)

    launches: list[list[Any]] = [[data(16 * MI), data(16 * MI)] for _ in range(4)]
    launches.append([data(16 * MI, np.float64), data(16 * MI, np.float64)])
    launches += [[data(MI * millions), data(MI * millions)] for millions in (4, 1, 1)]
    for n in (128, 256, 512, 1024):
        launches.append([data(10240000), data(10240000), data(80000), np.int32(n)])
    launches.append([data(10240000), data(10240000), data(80000), np.int32(64)])
    launches.append([data(MI), data(MI), data(4096), np.int32(256)])
    launches += [[data(10240000), data(10240000), data(1), np.int32(n)] for n in (256, 64)]
    launches += [[data(16 * MI), data(16 * MI)], [data(MI), data(MI)]]
    launches += [[data(8 * MI), data(65536)] for _ in range(4)]
    return launches + [[data(10240000, np.float64)] for _ in range(2)]
