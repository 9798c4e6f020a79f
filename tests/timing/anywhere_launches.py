"""Arguments of the launches of anywhere.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.timing.hashes import hashed

KINDS = ("gather", "gathers", "scatter", "add", "rows")
WORDS = (1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24)
BLOCKS = (128, 1024, 4096)
EACH = 16


def number(kind: str, words: int, blocks: int) -> int:
    """Which launch has an array of so many *words*, and so many *blocks*."""
    return (KINDS.index(kind) * len(WORDS) + WORDS.index(words)) * len(BLOCKS) + BLOCKS.index(blocks)


def anywhere_arguments(kind: str, words: int, blocks: int) -> list[Any]:
    """Arguments of one launch.  Memory is as long as it is used."""
    f, threads = np.float32, 256 * blocks
    many = EACH * threads if kind in ("gathers", "rows") else threads
    places = (hashed(7, many) % np.uint32(words)).astype(np.int32)
    if kind == "rows":
        begins = np.concatenate([[0], np.cumsum(hashed(3, threads) % 16)]).astype(np.int32)
        return [begins, places, np.zeros(many, f), np.zeros(words, f), np.zeros(threads, f)]
    if kind in ("scatter", "add"):
        return [places, np.zeros(threads, f), np.zeros(words, f)]
    last = [np.int32(EACH)] if kind == "gathers" else []
    return [places, np.zeros(words, f), np.zeros(threads, f), *last]
