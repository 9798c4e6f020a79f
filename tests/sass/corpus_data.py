"""What a launch of the corpus is, and numbers for its arguments from fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
N = 256


@dataclass
class Launch:
    """One launch.  ``tolerance``: relative error that the compiler's freedom to fuse and reorder allows floats."""

    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: list[Any]
    expected: dict[int, Array] = field(default_factory=dict)
    shared: int = 0
    tolerance: float = 0
    since: int = 75


def random(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed)


def ints(seed: int, n: int = N, low: int = 0, high: int = 256, dtype: str = "i4") -> Array:
    return random(seed).randint(low, high, n).astype(dtype)


def floats(seed: int, n: int, dtype: str = "f4") -> Array:
    return random(seed).rand(n).astype(dtype)


def zeros(n: int, dtype: str = "i4") -> Array:
    return np.zeros(n, dtype)
