"""Arguments of the launches of locals.cu and behind.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.timing.launches import values


def locals_arguments() -> list[list[Any]]:
    """Arguments of the launches of locals.cu, in order."""
    u = np.uint32
    out, data = np.zeros(1 << 12, u), values(1 << 20).astype(u)
    launches: list[list[Any]] = []
    for _ in (32, 64, 256):
        launches += [[out, u(spread), u(1), u(1024)] for spread in (0, 1, 2, 4) for _ in range(3)]
    launches += [[out, u(spread), u(0), u(1024)] for spread in (1, 0)]
    for _ in (32, 64):
        launches += [[data, out, u(words)] for words in (1024, 1024, 1024, 1024, 4096, 4096)]
    return launches


def behind_arguments() -> list[list[Any]]:
    """Arguments of the launches of behind.cu, in order."""
    u = np.uint32
    out = np.zeros(1 << 16, u)
    launches: list[list[Any]] = []
    for step in (0, 1, 8):
        launches += [[out, u(32), u(step), u(gap), u(1024)] for gap in (0, 1, 2, 4, 8, 16)]
    for step in (0, 1, 8):
        launches += [[out, u(lanes), u(step), u(0), u(1024)] for lanes in range(4, 29, 4)]
    launches += [[out, u(32), u(step), u(gap), u(1024)] for step in (0, 1, 8) for gap in (0, 2)]
    return launches + [[out, u(32), u(1), u(0), u(1024)] for _ in (64, 96, 128)]
