"""Arguments of the launches of starts.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

MI = 1 << 20


def starts_arguments() -> list[list[Any]]:
    """Arguments of the launches of starts.cu, in order.  Memory is as long as it is used."""

    def data(words: int, kind: type = np.float32) -> Any:
        return np.zeros(words, kind)

    launches: list[list[Any]] = []

    def stream(threads: int, kind: type = np.float32) -> None:
        launches.append([data(threads, kind) for _ in range(3)])

    for threads in [1024 * blocks for blocks in (32, 64, 98, 128, 264)]:
        launches.append([data(threads), data(threads)])
        stream(threads)
    for blocks in (98, 196):
        stream(1024 * blocks, np.float64)
    for threads in (264 * 256, 1056 * 256):
        launches.append([data(threads), data(threads)])
        stream(threads)
    stream(16 * MI)
    stream(8 * MI, np.float64)
    for threads in (128, 256, 1024):
        launches += [[data(8 * MI), data(1)], [data(8 * MI, np.int32), data(1, np.int32)], [data(threads)]]
    return launches
