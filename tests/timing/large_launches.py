"""Kernels and arguments of the products of large.cu, and the streams behind them."""

from __future__ import annotations

from typing import Any

import numpy as np

PRODUCTS = 27
STREAMS, BEHIND = (2, 3, 4), (4, 8, 12, 16, 20, 24, 28, 32, 40)
"""Streams that follow each other, and MiB between two of them; one more launch, of one stream, comes first."""
SLACK = 16 / 1024
"""MiB of each block of a stream by which it may be farther behind the one before: a part, on average."""


def large_launches() -> list[tuple[str, list[Any]]]:
    """Part of the kernel's name and the arguments of each product, in order."""
    f, d = np.float32, np.float64
    shapes: list[tuple[str, type, int]] = [("5plainIfE", f, n) for n in (2048, 2560, 2816, 3072, 3584, 4096)]
    shapes += [("5plainIfE", f, n) for _ in range(2) for n in (2560, 3072, 4096)]
    shapes += [("4downIfE", f, n) for _ in range(2) for n in (2560, 3072)]
    shapes += [(f"5tiledIfLi{tile}E", f, n) for tile in (16, 32) for n in (2560, 3072, 4096)]
    shapes += [("5plainIdE", d, n) for n in (1536, 2048, 3072, 2048, 3072)]
    return [
        (name, [*(np.zeros(n * n, kind) for _ in range(3)), np.uint32(n), np.uint32(n)]) for name, kind, n in shapes
    ]


def streams() -> list[tuple[int, float]]:
    """How many streams each launch behind the products has, and MiB between two of them."""
    return [(n, mib + SLACK * (132 // n)) for n in STREAMS for mib in BEHIND]
