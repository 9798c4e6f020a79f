"""Arguments of the launches of wraps.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

MIB = 1 << 20
VOLUMES = (
    *((100, 100, 800), (100, 100, 200), (128, 100, 400), (128, 128, 256), (100, 100, 400), (100, 100, 400)),
    *((256, 128, 128), (100, 100, 400), (1000, 4000, 1), (1000, 4000, 1)),
)


def wraps_arguments() -> list[list[Any]]:
    """Arguments of the launches of wraps.cu, in order.  Memory is as long as it is used."""
    u, one = np.uint32, np.zeros(4, np.uint32)

    def wrap(stride: int, n: int, stored: int = 0) -> list[Any]:
        return [np.zeros(n, u), np.zeros(stored, u) if stored else one, u(stride), u(n)]

    launches = [wrap(32, mib * MIB // 4) for mib in (8, 16, 20, 24, 28, 32, 36, 40, 48, 64)]
    for mib in (16, 24, 32, 40, 48):
        launches += [wrap(stride, mib * MIB // 4) for stride in (8, 16, 64)]
    launches += [wrap(32, mib * MIB // 4, 8 * mib * 32 * 256) for mib in (16, 24, 32, 40)]
    launches += [wrap(32, 10_000_000, 39063 * 256), wrap(32, 1 << 22, 1 << 22)]
    launches += [wrap(stride, 1 << 20) for stride in (8, 16, 24, 32, 33, 40, 48, 64, 96, 128, 136, 256, 1024)]
    launches += [wrap(stride, 1 << 18) for stride in (8, 32, 33, 64, 128)]
    for mib in (8, 16, 24, 28, 32, 36, 40, 48):
        launches += [[np.zeros(mib * MIB // 4, u), u(mib * MIB // 16), u(3), one]] * 2
    for x, y, z in VOLUMES:
        arrays = [np.zeros(x * y * z, np.float32) for _ in range(3)]
        launches.append([*arrays, u(x), u(y), u(z)])
    for kind in (np.float32, np.float64):
        for n in (1 << 16, 1 << 17, 320000, 1 << 19, 1000000, 1 << 21):
            launches += [[*(np.zeros(n, kind) for _ in range(3)), u(n)]] * 4
    return launches
