"""Arguments of the launches of strided.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS, WAVES = (2, 4, 8, 16, 32), (528, 1056, 2112, 4224)
STRUCTS = (3, 5, 7, 9)
"""Words of a struct."""
PITCHES = (2048, 2080, 2304, 4096, 4128, 8192, 10272)
"""Words from one row to the next."""


def _arrays(words: int) -> list[Any]:
    return [np.zeros(words, np.float32), np.zeros(words, np.float32)]


def strided_shapes() -> list[tuple[int, tuple[int, ...]]]:
    """Words of each of the two arrays, as far as they are used, and what follows them, of each launch in order."""
    shapes: list[tuple[int, tuple[int, ...]]] = []
    for _ in ("copy", "load", "store", "scale"):
        shapes += [(blocks * 256 * step, (step,)) for step in STEPS for blocks in WAVES]
    for words in STRUCTS:
        shapes += [(blocks * 256 * words, ()) for blocks in WAVES[:3] for _ in range(5)]
    for _ in ("copy", "load", "store", "scale"):
        shapes += [(n**3, (n,)) for n in (64, 128) for _ in range(5)]
    for _ in ("word", "column", "row", "cross", "inner", "transpose"):
        shapes += [(n * n, (n,)) for n in (1024, 2048) for _ in range(4)]
    shapes += [(2048 * pitch, (2048, pitch)) for pitch in PITCHES for _ in range(4)]
    return shapes


def strided_arguments(launch: int) -> list[Any]:
    """Arguments of launch number *launch* of strided.cu."""
    words, others = strided_shapes()[launch]
    return [*_arrays(words), *[np.uint32(n) for n in others]]
