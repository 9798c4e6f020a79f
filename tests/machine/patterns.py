"""Bit patterns of registers, and the numbers that they stand for, exactly; roundings, sums and products of these."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

M64 = 2**64 - 1
M32 = 2**32 - 1
NAN64 = 0x7FF8000000000000
NAN32 = 0x7FC00000


def signed(x: int, bits: int = 64) -> int:
    """The low *bits* of a pattern as a two's complement number."""
    x &= 2**bits - 1
    return x - 2**bits if x >> (bits - 1) else x


def f64(x: int) -> np.float64:
    """The float64 of a pattern."""
    return np.uint64(x).view(np.float64)


def f32(x: int) -> np.float32:
    """The float32 of the low half of a pattern."""
    return np.uint32(x & M32).view(np.float32)


def bits(x: np.floating[Any]) -> int:
    """The pattern of a float32 or float64."""
    return int(x.view(np.uint32 if isinstance(x, np.float32) else np.uint64))


# Formats: bits of the significand with the hidden one, least normal exponent, width.
FORMATS = {"f16": (11, -14, 16), "f32": (24, -126, 32), "f64": (53, -1022, 64), "bf16": (8, -126, 16)}


def exact(pattern: int, form: str) -> Fraction | float:
    """The value of a pattern: a Fraction, or an infinity or NaN as a float."""
    precision, least, width = FORMATS[form]
    pattern &= 2**width - 1
    sign = -1 if pattern >> (width - 1) else 1
    exponent = pattern >> (precision - 1) & (2 ** (width - precision) - 1)
    fraction = pattern & (2 ** (precision - 1) - 1)
    if exponent == 2 ** (width - precision) - 1:
        return math.nan if fraction else sign * math.inf
    if exponent:
        fraction += 2 ** (precision - 1)
    return sign * fraction * Fraction(2) ** (max(exponent, 1) - 1 + least - precision + 1)


def is_negative(pattern: int, form: str) -> bool:
    """The sign bit."""
    return bool(pattern >> (FORMATS[form][2] - 1) & 1)


def infinity(form: str, negative: bool = False) -> int:
    """The pattern of an infinity."""
    precision, _, width = FORMATS[form]
    ones = (2 ** (width - precision) - 1) << (precision - 1)
    return ones | negative << (width - 1)


def quiet_nan(form: str) -> int:
    """The NaN pattern of NVIDIA GPUs (float64: any)."""
    return {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": NAN64}[form]


def round_to_integer(value: Fraction, rounding: str) -> int:
    """A rational rounded to an integer."""
    if rounding == "rn":
        return round(value)  # Python rounds halves to even
    if rounding == "rz":
        return math.trunc(value)
    return math.floor(value) if rounding == "rm" else math.ceil(value)


def round_fraction(value: Fraction, form: str, rounding: str = "rn", negative_zero: bool = False) -> int:
    """The pattern of the number of a format that *rounding* picks for a rational value."""
    precision, least, width = FORMATS[form]
    if value == 0:
        return int(negative_zero) << (width - 1)
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > abs(value):
        exponent -= 1
    exponent = max(exponent, least)
    unit = Fraction(2) ** (exponent - precision + 1)
    count = abs(round_to_integer(value / unit, rounding))
    top = (value < 0) << (width - 1)
    if count == 2**precision:
        count //= 2
        exponent += 1
    if exponent > 1 - least:
        to_infinity = rounding == "rn" or (rounding == "rm" and value < 0) or (rounding == "rp" and value > 0)
        return top | (infinity(form) if to_infinity else infinity(form) - 1)
    if count < 2 ** (precision - 1):
        return top | count
    return top | (exponent - least + 1) << (precision - 1) | count - 2 ** (precision - 1)


def fused(a: int, b: int, c: int, form: str, rounding: str = "rn") -> int:
    """``a * b + c`` with one rounding."""
    x, y, z = exact(a, form), exact(b, form), exact(c, form)
    if not all(isinstance(v, Fraction) for v in (x, y, z)):
        with np.errstate(all="ignore"):
            special = np.float64(_tame(x)) * np.float64(_tame(y)) + np.float64(_tame(z))
        return quiet_nan(form) if np.isnan(special) else infinity(form, bool(special < 0))
    assert isinstance(x, Fraction)
    value = x * y + z
    product_negative = is_negative(a, form) != is_negative(b, form)
    if x * y == 0 and z == 0:
        both = product_negative == is_negative(c, form)
        return round_fraction(Fraction(0), form, rounding, product_negative if both else rounding == "rm")
    return round_fraction(Fraction(value), form, rounding, rounding == "rm")


def _tame(x: Fraction | float) -> float:
    """A number of the same kind (zero, finite, infinite, NaN) and sign, small enough for any product."""
    return x if isinstance(x, float) else float((x > 0) - (x < 0))


def total(a: int, b: int, form: str, rounding: str) -> int:
    """``a + b``."""
    return fused(a, round_fraction(Fraction(1), form), b, form, rounding)


def product(a: int, b: int, form: str, rounding: str) -> int:
    """``a * b``; unlike ``a * b + 0`` it keeps the sign of a zero."""
    x, y = exact(a, form), exact(b, form)
    negative = is_negative(a, form) != is_negative(b, form)
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return round_fraction(x * y, form, rounding, negative)
    return fused(a, b, 0, form, rounding)
