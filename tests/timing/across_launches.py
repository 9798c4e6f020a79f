"""Arguments of the launches of across.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

Launches = list[list[Any]]


def _around() -> Launches:
    u = np.uint32
    both = [(1024, 8192), (4096, 8192), (16384, 2048), (65536, 512), (262144, 128), (4096, 1024), (3000, 4096)]
    shapes = [shape for shape in both for _ in range(2)] + [(4096, 8192)] * 3 + [(1024, 8192)]
    launches = []
    for columns, rows in shapes:
        words = np.zeros(columns * rows, u)
        launches.append([words, np.zeros_like(words), u(columns), u(rows)])
    return launches


def _crossed() -> Launches:
    u, one = np.uint32, [(x, 1, 0) for x in (16, 100, 1000, 4000)] + [(x, 20, 500) for x in (100, 1000)]
    launches: Launches = [[np.zeros(x * 1000, np.float64), u(times), u(pause)] for x, times, pause in one]
    words = [(32 * x, times, pause) for x in (4, 32, 128) for times, pause in ((1, 0), (10, 1000))]
    words += [(256 * x, 1, 0) for x in (1, 4, 16, 128)]
    return launches + [[np.zeros(threads * 1024, u), u(times), u(pause)] for threads, times, pause in words]


def _march() -> Launches:
    u = np.uint32
    shapes = [(words, apart) for words in (1 << 18, 1 << 20) for apart in (256, 64, 1024, 256)]
    shapes += [(1 << 23, 256), (1 << 20, 1024), (1 << 20, 256), (1 << 20, 256)]
    launches = [[*(np.zeros(words, u) for _ in range(3)), u(words), u(apart)] for words, apart in shapes]
    return launches + [[*(np.zeros(40000, u) for _ in range(3)), u(40000)] for _ in range(3)]


def across_arguments() -> Launches:
    """Arguments of the launches of across.cu, in order.  Memory is as long as it is used."""
    return [*_around(), *_crossed(), *_march()]
