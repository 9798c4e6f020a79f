"""Arguments of the launches of naive.cu."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def naive_arguments() -> list[list[Any]]:
    """Arguments of the launches of naive.cu, in order.  Memory is as long as it is used."""
    u, f = np.uint32, np.float32
    launches: list[list[Any]] = []

    def zeros(*counts: int, kind: type = f) -> list[npt.NDArray[Any]]:
        return [np.zeros(count, kind) for count in counts]

    def multiply(n: int, kind: type = f) -> None:
        launches.append([*zeros(n * n, n * n, n * n, kind=kind), u(n), u(n), u(n)])

    def factors(rows: int, columns: int, k: int, lda: int, ldb: int) -> None:
        words = (rows - 1) * lda + k, (k - 1) * ldb + columns, rows * columns
        launches.append([*zeros(*words), u(k), u(lda), u(ldb)])

    for n in (64, 112, 128, 256, 512, 64, 128, 256, 512, 64, 128, 128):
        multiply(n)
    for kind in (np.float64, u):
        multiply(128, kind)
    for lda, ldb in ((0, 0), (0, 128), (128, 0)):
        factors(128, 128, 128, lda, ldb)
    for lda in (0, 2048):
        for ldb in (0, 4096):
            factors(64, 4096, 2048, lda, ldb)
            factors(64, 4096, 1024, lda, ldb)
    factors(256, 4096, 2048, 2048, 4096)
    factors(256, 4096, 1024, 1024, 4096)
    for lda, ldb in ((2048, 4128), (2080, 4096)):
        factors(64, 4096, 2048, lda, ldb)
    factors(16, 4096, 2048, 2048, 4096)
    for rows in (4, 8, 16, 32, 64):
        for lda, ldb in ((2048, 0), (0, 4224), (2048, 4224), (0, 0)):
            factors(rows, 4224, 1024, lda, ldb)
    shapes = [(1, 0, 64), (1, 0, 512), (1, 0, 2048), (16, 0, 64), (16, 0, 512), (16, 0, 2048)]
    for blocks, apart, ld in [*shapes, (16, 32, 512), (16, 32, 2048)]:
        for each, trips in ((1, 64), (4, 32), (4, 32)):
            words = (each * trips - 1) * ld + (blocks - 1) * apart + 32
            launches.append([*zeros(words, 1), u(trips), u(ld), u(apart)])
    for power in (20, 22, 23, 24, 25, 26):
        n = 1 << power
        launches += [[*zeros(n, n, n), u(n)] for _ in range(2)]
        if power >= 24:
            launches.append([*zeros(n), u(n)])
        if power in (24, 25):
            launches += [[*zeros(n, n, n, kind=kind), u(n)] for kind in (f, np.float64, np.float64)]
    for n in (100, 700, 1024):
        launches += [[*zeros(n * n, n * n, n * n), u(n)] for _ in range(4)]
    for n in (256, 1024):
        launches += [[*zeros(n * n, n * n, n * n), u(n)] for _ in range(2)]
    for rows in (1, 32):
        words = 1024 * rows
        launches += [[*zeros(words, words), u(1024)] for _ in range(2)]
        launches.append([*zeros(words, words), u(rows), u(1024)])
        launches.append([*zeros(16 * words, 16 * words), u(128 * rows), u(128)])
        launches.append([*zeros(words, words), u(1024)])
        launches.append([*zeros(8 * words, 8 * words), u(1024)])
    for each in (1, 8):
        launches.append([*zeros(each << 20, each << 20), u(1024)])
    for blocks in (1, 32, 128, 1024):
        launches.append([*zeros(256 * blocks, 256 * blocks, kind=u), u(256 * blocks)])
    for n in (16, 32, 64):
        launches.append([*zeros(n**3, 27, n**3), np.int32(n)])
    return launches
