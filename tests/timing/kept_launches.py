"""Arguments of the launches of kept.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

MIB = 1 << 20
READ = (8, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128)
"""MiB that launches 0, 2, 4, ... read, and those after them write."""


def kept_arguments() -> list[list[Any]]:
    """Arguments of the launches of kept.cu, in order.  Memory is as long as it is used."""
    u, one = np.uint32, np.zeros(4, np.uint32)
    launches: list[list[Any]] = []
    for mib in READ:
        words = np.zeros(mib * MIB // 4, u)
        launches += [[words, one], [words]]
    for mib in (8, 16, 24, 32, 40):
        launches += [[np.zeros(mib * MIB // 4, u), u(mib * 64), u(passes), one] for passes in (1, 2)]
    for mib in (4, 16, 32):
        launches += [[np.zeros(mib * MIB // 4, u), u(mib // 4), np.int64(10**power)] for power in (5, 6, 7, 8)]
    for power in (7, 8):
        launches += [[np.zeros(threads * 32, u), np.int64(10**power)] for threads in (32, 1024, 132 * 256)]
    for width in (512, 1920, 2048, 8192):
        launches += [[np.zeros(width * 1024, np.uint8), u(width)]] * 4
    for width in (512, 2048):
        launches += [[np.zeros(width * 1024, u), u(width)]] * 4
    shapes = [(u, reads, writes) for writes in (0, 1) for reads in (1, 2, 3)]
    shapes += [(np.uint64, reads, writes) for writes in (0, 1) for reads in (1, 2)]
    for kind, reads, writes in shapes * 4 + [(u, 1, 0), (u, 2, 0), (u, 1, 1), (u, 2, 1), (u, 3, 1)] * 2:
        n = 64 * MIB // np.dtype(kind).itemsize
        launches.append([np.zeros(reads * n, kind), np.zeros(n if writes else 1, kind), np.uint64(n)])
    return launches


SHARED = {**dict.fromkeys(range(118, 123), 26 << 10), **dict.fromkeys(range(123, 128), 54 << 10)}
"""Bytes of shared memory of the launches that have any."""
