"""Register rows as the numbers they stand for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Value = int | float | bool


def decode(row: npt.NDArray[np.int64], dtype: str | None) -> list[Value]:
    """The 32 lanes of a register row (int64 bits) as values of *dtype* (a NumPy type name).

    float64 is its bits; float32 and float16 are their bits in the low part; integers are kept extended to 64
    bits.  Without a dtype (machine code) a lane is its low 32 bits, unsigned.
    """
    if dtype is None:
        return [int(value) & 0xFFFFFFFF for value in row]
    kind = np.dtype(dtype)
    if kind.kind == "f":
        bits = np.ascontiguousarray(row).view(np.uint64).astype(f"u{kind.itemsize}")
        return [float(value) for value in bits.view(kind)]
    if kind.kind == "u":
        return [int(value) for value in np.ascontiguousarray(row).view(np.uint64)]
    return [int(value) for value in row]


def lane_bits(mask: int) -> list[Value]:
    """A predicate mask as 32 booleans."""
    return [bool(mask >> lane & 1) for lane in range(32)]


def value_text(value: Value) -> str:
    """A value as the renderings show it: floats to six significant digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
