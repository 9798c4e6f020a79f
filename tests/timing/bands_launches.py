"""Kernels and arguments of the launches of bands.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

SIDE = 256
"""Points of a side of the cube of stencils."""
Launches = list[tuple[str, list[Any]]]


def _products() -> Launches:
    f, u = np.float32, np.uint32
    shapes: list[tuple[str, type, int, int, int]] = []
    for n in (2048, 2560, 2880, 3584, 4096):
        shapes += [("5tiledIfLi32E", f, 512, n, n), ("5tiledIfLi16E", f, 512, n, n)]
    shapes += [("5tiledIfLi32E", f, 1024, 4096, 4096), ("5tiledIfLi16E", f, 1024, 4096, 4096)]
    shapes += [("5tiledIfLi16E", f, 512, n, k) for n, k in ((2048, 8192), (8192, 2048), *[(4096, 4096)] * 3)]
    shapes += [("5tiledIdLi16E", np.float64, n, n, n) for n in (1024, 1536, 2048)]
    shapes += [("7blocked", f, m, n, n) for m, n in ((2048, 2048), (2048, 2880), (1024, 4096), (2048, 4096))]
    shapes += [("5plain", f, 512, n, n) for n in (2560, 2880, 4096) for _ in range(2)]
    shapes += [("5plain", f, 1024, 4096, 2048), ("5plain", f, 2048, 2048, 2048)]
    return [
        (name, [np.zeros(m * k, kind), np.zeros(k * n, kind), np.zeros(m * n, kind), u(n), u(k)])
        for name, kind, m, n, k in shapes
    ]


def _stencils() -> Launches:
    cube, out = np.zeros(SIDE**3, np.float32), np.zeros(SIDE**3, np.float32)
    return [(f"7stencilILb{reads}E", [cube, out, np.uint32(SIDE)]) for _ in range(12) for reads in (1, 0)]


def _pictures() -> Launches:
    u8, u = np.uint8, np.uint32
    sizes: list[tuple[type, int, int]] = [(u8, 1920, 1080), (u8, 4096, 1080), (u8, 4096, 4096), (u8, 4096, 1080)]
    sizes += [(u, 1024, 1024), (u, 1920, 1080), (u, 2048, 2048), (u, 1000, 1000), (u, 1920, 1080)]
    return [
        (
            f"5innerI{'h' if kind is u8 else 'j'}E",
            [np.zeros(width * height, kind), np.zeros(width * height, kind), u(width), u(height), u(edge)],
        )
        for edge in (0, 1)
        for kind, width, height in sizes
    ]


def bands_launches() -> Launches:
    """Part of the kernel's name and the arguments of each launch, in order.  Memory is as long as it is used.

    Launches 14 to 16 have 100, 50 and 25 kB of shared memory for each block besides.
    """
    return [*_products(), *_stencils(), *_pictures()]
