"""Launches of the kernels of tests/data/sass/practice.cu that were recorded on an H200: arguments from fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass
class Launch:
    """One launch; *name* is unique."""

    name: str
    kernel: str
    grid: int
    block: int
    args: list[Any]


def _ints(seed: int, n: int, low: int, high: int, dtype: str = "i4") -> Array:
    return np.random.RandomState(seed).randint(low, high, n).astype(dtype)


def _floats(seed: int, n: int, dtype: str = "f4") -> Array:
    return np.random.RandomState(seed).rand(n).astype(dtype)


def _expressions(count: int, length: int) -> Array:
    """Random bracketed sums and products of digits, filled up with dots; some have brackets that do not match."""
    random = np.random.RandomState(11)
    text = np.full((count, length), ord("."), "i1")
    for row in text:
        symbols, depth = [], 0
        while len(symbols) + depth + 3 < random.randint(6, length):
            if random.rand() < 0.3:
                symbols.append("(")
                depth += 1
            symbols.append(str(random.randint(1, 5)))
            if depth and random.rand() < 0.4:
                symbols.append(")")
                depth -= 1
            symbols.append("+*"[random.randint(2)])
        symbols += ["2", *")" * (depth if random.rand() < 0.9 else 0)]
        row[: len(symbols)] = [ord(symbol) for symbol in symbols]
    return text.ravel()


def patterns() -> dict[str, Array]:
    """Places of 32 lanes by which many or few of them meet, in one or many sectors; -1: the lane does nothing."""
    lanes = np.arange(32)
    random = np.random.RandomState(12)
    return {
        "all apart": lanes,
        "all at one": lanes * 0,
        "pairs": lanes // 2,
        "eight places": lanes % 8,
        "two sectors, one of them crowded": np.where(lanes < 20, 3, 8 + lanes % 8),
        "scattered": lanes * 8,
        "scattered pairs": lanes // 2 * 8,
        "random": random.randint(0, 40, 32),
        "some lanes": np.where(random.rand(32) < 0.4, random.randint(0, 12, 32), -1),
    }


OPERATIONS = (
    "add", "add with result", "add u64", "add f32", "add f64", "exch", "cas", "add f32x2", "add f32x4", "max",
    "add u64 with result", "add f16x2", "or",
)  # fmt: skip
"""What kernel ``meet`` does by its number."""


def launches() -> list[Launch]:
    """The launches with fresh arguments."""
    zeros, n = np.zeros, np.int32
    found = [
        Launch(
            "gemv_int8", "gemv_int8", 5, 128,
            [_ints(1, 1088, -(2**31), 2**31), _ints(2, 64, -(2**31), 2**31), zeros(17, "i4"), n(17)],
        ),
        Launch(
            "half2_dot", "half2_dot", 3, 128,
            [_ints(3, 1400, -8, 8, "f2"), _ints(4, 1400, -8, 8, "f2"), zeros(3, "f4"), n(700)],
        ),
        Launch("async_tiles", "async_tiles", 2, 64, [_ints(5, 2 * 5 * 256, 0, 1000), zeros(128, "i4"), n(5)]),
        Launch("tile_sums", "tile_sums", 2, 96, [_ints(6, 192, 0, 100), zeros(192, "i4")]),
        Launch(
            "vector_atomics", "vector_atomics", 2, 64,
            [_ints(7, 512, 0, 16, "f4"), zeros(12, "f4"), zeros(16, "f4"), zeros(512, "f4")],
        ),
        Launch(
            "atomics_64", "atomics_64", 2, 64,
            [_ints(8, 256, -(2**31), 2**31).view("u8"), zeros(160, "u8"), zeros(2, "f8"), np.full(42, -1, "i4")],
        ),
        Launch("producers", "producers", 2, 128, [_ints(9, 256, 0, 100), zeros(128, "i4"), n(9)]),
        Launch("tree_search", "tree_search", 3, 64, [_floats(10, 128), _floats(11, 384), zeros(192, "i4")]),
        Launch("recurse", "recurse", 3, 64, [_ints(12, 192, 0, 3), _ints(13, 192, 0, 4), zeros(192, "i4")]),
        Launch(
            "shapes", "shapes", 3, 64,
            [_ints(14, 192, 0, 3), _floats(15, 192), _ints(16, 192, 0, 9, "f4"), zeros(192, "f4")],
        ),
        Launch("parse", "parse", 3, 64, [_expressions(192, 24), zeros(192, "i4"), n(24)]),
        Launch(
            "montgomery", "montgomery", 2, 64,
            [
                _ints(17, 512, -(2**31), 2**31).view("u4"), zeros(512, "u4"),
                *(np.uint32(m) for m in (0x12345677, 0x9ABCDEF0, 0x0FEDCBA9, 0x76543210)),
                np.uint32(-pow(0x12345677, -1, 2**32) % 2**32),
            ],
        ),
        Launch(
            "run_lengths", "run_lengths", 1, 32,
            [_ints(18, 256, 0, 3, "u1"), zeros(256, "i4"), zeros(256, "i4"), zeros(1, "i4")],
        ),
        Launch("halves", "halves", 3, 64, [_ints(19, 192, 0, 100), zeros(192, "i4")]),
        Launch("copy_shared", "copy_shared", 1, 128, [_ints(20, 512, 0, 99), zeros(128, "i4"), n(1)]),
    ]  # fmt: skip
    for which, operation in enumerate(OPERATIONS):
        for name, places in patterns().items():
            args = [places.astype("i4"), zeros(8192, "i4"), n(which)]
            found.append(Launch(f"{operation}: {name}", "meet", 1, 32, args))
    for name, places in patterns().items():
        args = [places.astype("i4"), zeros(2048, "f4"), zeros(128, "f4")]
        found.append(Launch(f"add f32x4 with result: {name}", "meet_f4", 1, 32, args))
    return found
