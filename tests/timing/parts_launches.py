"""Kernels and arguments of the launches of parts.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

MIB = 1 << 20
WIDE, FULL, SQUARE, TALL = (32, 8), (32, 32), (16, 16), (8, 32)
"""Blocks of transposes."""


def _pixels() -> list[tuple[str, list[Any]]]:
    u = np.uint32
    kinds = {np.uint8: "h", np.uint16: "t", u: "j"}
    stored = [(np.uint8, 2048, 3, 3, pause) for pause in (0, 0, 1000, 1000, 10000, 10000, 1000, 1000, 1000)]
    stored += [(np.uint8, 2048, 3, stores, 1000) for stores in (1, 1, 2, 2)]
    stored += [(np.uint8, 2048, step, step, 1000) for step in (4, 2, 8)]
    stored += [(np.uint16, 2048, 3, 3, 1000), (np.uint16, 2048, 2, 1, 1000)]
    stored += [(u, 1024, 3, stores, 1000) for stores in (3, 1, 3)]
    return [
        (
            f"6pixelsI{kinds[kind]}E",
            [np.zeros(width * step * 2048, kind), u(width * step), u(step), u(stores), u(pause)],
        )
        for kind, width, step, stores, pause in stored
    ]


def _lines() -> list[tuple[str, list[Any]]]:
    u = np.uint32
    places = [(132 * each, 1 << 20, 1, spread) for each in (1, 2, 3, 4, 5, 6, 8) for spread in (0, 1)]
    places += [
        (128 * each, 2048 if apart == 1024 else 4096, apart, 0) for apart in (64, 255, 256, 1024) for each in (1, 2)
    ]
    launches = []
    for blocks, rows, apart, spread in places:
        threads = blocks * 256
        last = (min(threads, rows) - 1) * apart + (threads - 1) // rows
        launches.append((f"5linesILb{spread}E", [np.zeros(32 * (last + 1), u), u(rows), u(apart), u(1000)]))
    return launches


def _transposes() -> list[tuple[str, list[Any]]]:
    u = np.uint32
    shapes = [(1, n, tile) for n in (1024, 2048, 4096, 8192) for tile in (32, 32, 16)]
    shapes += [(1, pitch, 32) for pitch in (8160, 8168, 8128)]
    shapes += [(reads, n, tile) for n in (4096, 8192) for reads, tile in ((1, 8), (0, 32), (1, 32))]
    launches = []
    for reads, pitch, tile in shapes:
        words = np.zeros(min(pitch, 8128 if pitch % 1024 else pitch) * pitch, u)
        launches.append((f"9transposeILb{reads}E", [words, np.zeros_like(words), u(pitch), u(tile)]))
    return launches


def _beside() -> list[tuple[str, list[Any]]]:
    u = np.uint32
    mixed = [(mib, 3, 0, stores) for mib in (4, 8, 12, 16, 20) for stores in (2, 4, 8)]
    for once in (8, 16, 32):
        mixed += [(4, 12, once, 4), (8, 6, once, 4)]
    mixed += [(8, 1, 0, 8), (16, 1, 0, 8), (32, 1, 0, 4)]
    launches = []
    for mib, passes, once, stores in mixed:
        again, other = np.zeros(mib * MIB // 4, u), np.zeros(max(once * MIB // 4, 4), u)
        stored = np.zeros(stores * 132 * 4096, u)
        launches.append(("6beside", [again, u(mib * 64), u(passes), other, u(once * 64), stored, u(stores)]))
    return launches


def _products() -> list[tuple[str, list[Any]]]:
    f, u = np.float32, np.uint32
    shapes = [(n, n, n) for n in (1024, 1280, 1440, 1600, 1760, 2048)] + [(1024, 4096, k) for k in (1024, 2048)]
    return [
        ("7product", [np.zeros(m * k, f), np.zeros(k * n, f), np.zeros(m * n, f), u(n), u(k)]) for m, n, k in shapes
    ]


def parts_launches() -> list[tuple[str, list[Any]]]:
    """Part of the kernel's name and the arguments of each launch, in order.  Memory is as long as it is used."""
    return [*_pixels(), *_lines(), *_transposes(), *_beside(), *_products()]


def parts_arguments() -> list[list[Any]]:
    """The arguments alone."""
    return [arguments for _, arguments in parts_launches()]
