"""Arguments of the launches of stays.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

MI = 1 << 20
ALL = 0xFFFFFFFF
THREADS = (32, 64, 128, 256, 512, 1024)


def stays_arguments() -> list[list[Any]]:
    """Arguments of the launches of stays.cu, in order.  Memory is as long as it is used."""
    u = np.uint32

    def data(words: int, kind: type = u) -> Any:
        return np.zeros(words, kind)

    launches: list[list[Any]] = [[]] * 18
    launches += [[data(1, np.float32), u(work)] for _ in range(5) for work in (16, 64, 256)]
    for threads in THREADS:
        launches += [[data(33792 * threads), u(ALL)], [data(128), u(127)], [data(65536), u(65535)]]
    launches += [[data(width * rows), u(width)] for width, rows in ((131072, 16), (2048, 2048), (2048, 2048))]
    launches += [[data(width * rows), u(width)] for width, rows in ((2048, 2048), (2000, 2016), (2048, 1024))]
    launches += [[data(2 * MI * stride), u(stride)] for _ in range(3) for stride in (2, 4, 8, 16)]
    launches += [[data(1, kind), u(lanes)] for _ in range(4) for kind in (u, np.float32) for lanes in (32, 1)]
    for mi in (1, 4, 16):
        launches += [[data(mi * MI, np.float32), data(mi * MI, np.float32)] for _ in range(5)]
    sizes = [mi * MI for mi in (1, 4, 16) for _ in range(2)]
    sizes += [n for n in (1 << 16, 1 << 17, 320000, 1 << 19) for _ in range(3)]
    launches += [[data(n, np.float32) for _ in range(3)] for n in sizes]
    launches += [[data(n), u(n)] for n in (1 << 16, 1 << 20, 1 << 23) for _ in range(3)]
    launches += [
        [data(n, np.float32), data(4 * MI, np.float32), data(4 * MI, np.float32), u(n)]
        for n in (1 << 10, 1 << 12, 1 << 14)
    ]
    return launches + [[data(128), u(many)] for many in (1, 10, 100) for _ in range(4)]
