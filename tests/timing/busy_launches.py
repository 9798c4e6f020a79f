"""Arguments of the launches of busy.cu and of same.cu."""

from __future__ import annotations

from typing import Any

import numpy as np


def busy_arguments() -> list[list[Any]]:
    """Arguments of the launches of busy.cu, in order.  Memory is as long as it is used."""
    f, i = np.float32, np.int32

    def pairs(first: int, second: int) -> list[Any]:
        return [*(np.zeros(1 << 12, f) for _ in range(3)), i(first), i(second), i(0), i(64)]

    def product(rows: int, columns: int, k: int, lda: int, ldb: int, kind: type = f) -> list[Any]:
        words = (rows - 1) * lda + k, (k - 1) * ldb + columns, rows * columns
        return [*(np.zeros(n, kind) for n in words), i(k), i(lda), i(ldb)]

    shapes = [(first, 1) for _ in range(3) for first in (0, 1)] + [(0, 1), (0, 0), (1, 1)]
    launches = [pairs(*shape) for _ in range(5) for shape in shapes]
    for lda in (0, 2048):
        for ldb in (0, 4096):
            launches += [product(64, 4096, 1024, lda, ldb)] * 2
    for _ in range(2):
        launches += [product(n, n, n, n, n) for n in (256, 512, 1024)]
        launches.append(product(512, 512, 512, 512, 512, i))
    return launches + [product(1024, 1024, 1024, 1024, 1024)] * 3


def same_arguments() -> list[list[Any]]:
    """Arguments of the launches of same.cu, in order.  Memory is as long as it is used."""
    f, i = np.float32, np.int32

    def whole(n: int, apart: int) -> list[Any]:
        return [*(np.zeros(n, f) for _ in range(3)), i(n), i(apart)]

    launches = []
    for _ in range(3):
        launches += [whole(1 << 18, apart) for apart in (0, 256) for _ in range(5)]
        launches += [whole(1 << 16, 0), whole(1 << 18, 0)]
    launches.append(whole(1 << 20, 256))
    launches += [whole(1 << 18, 0) for _ in range(3)]
    for threads in (64, 256, 1024):
        launches += [[np.zeros(n, f), np.zeros(n // threads, f)] for n in (1 << 18, 1 << 22, 1 << 24)]
    launches += [[np.zeros(n, f), np.zeros(n // 256, f)] for n in (1 << 22, 1 << 24)]
    launches += [[np.zeros(1 << 21, f), i(64)] for _ in range(9)]
    return launches + [[np.zeros(1 << 12, np.uint32)] for _ in range(10)]
