"""Scalar helpers that both the compiled and the plain-Python engine use."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.ops.jit import jit, jit_inline

FULL = np.int64(0xFFFFFFFF)
"""All lanes of a warp; the low 32 bits."""


def _exact_fma(x: Any, y: Any, z: Any, dtype: Any) -> Any:
    """``x * y + z`` with one rounding, in exact rational arithmetic (plain-Python engine)."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return dtype(float(x) * float(y) + float(z))
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        return dtype(float(x) * float(y) + float(z))  # keeps the sign of zero
    return dtype(_round_fraction(exact, *((24, -149) if dtype is np.float32 else (53, -1074))))


def _round_fraction(value: Fraction, precision: int, lowest: int) -> float:
    """The nearest number of *precision* bits and least exponent *lowest*, ties to even."""
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - precision + 1, lowest)
    rounded = round(magnitude / Fraction(2) ** unit)  # Python rounds fractions half to even
    try:
        result = math.ldexp(rounded, unit)
    except OverflowError:
        result = math.inf
    if precision == 24 and result > float(np.finfo(np.float32).max):
        result = math.inf
    return -result if value < 0 else result


def _instruction(kind: Any, name: str) -> Any:
    """LLVM's fused multiply-add of a type."""

    def implementation(typingctx: Any, x: Any, y: Any, z: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.fma(*args)

        return kind(kind, kind, kind), codegen

    implementation.__name__ = name
    return intrinsic(implementation)


_fma64 = _instruction(types.float64, "_fma64")
_fma32 = _instruction(types.float32, "_fma32")


def _fused64(x, y, z):
    return _fma64(x, y, z)


def _fused32(x, y, z):
    return _fma32(x, y, z)


def _exact64(x, y, z):
    return _exact_fma(x, y, z, np.float64)


def _exact32(x, y, z):
    return _exact_fma(x, y, z, np.float32)


fma64 = jit(_fused64, inline=True, plain=_exact64)
"""float64 ``x * y + z`` with one rounding."""
fma32 = jit(_fused32, inline=True, plain=_exact32)
"""float32 ``x * y + z`` with one rounding."""


MIXER = -7046029254386353131
"""2**64 / golden ratio, odd: multiplying by it mixes bits upwards."""


@jit_inline
def unless_nan(operand, result):
    """*result*, which is a NaN where *operand* is one; there it is that one, made quiet."""
    return operand + operand if operand != operand else result


@jit_inline
def any_nan(operand, result):
    """In its place where it does not matter which NaN the result is."""
    return result


@intrinsic
def _ones(typingctx: Any, value: Any) -> Any:
    """LLVM's number of one bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def _zeros(typingctx: Any, value: Any) -> Any:
    """LLVM's number of zero bits below the lowest one bit, of a word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


def _counted(mask):
    return _ones(mask & FULL)


def _plainly_counted(mask):
    return np.int64(bin(mask & FULL).count("1"))


def _found(mask):
    return _zeros(mask)


def _plainly_found(mask):
    return popcount((mask & -mask) - 1)


popcount = jit(_counted, inline=True, plain=_plainly_counted)
"""Number of one bits of a lane mask (int64 below 2**32)."""
lowest = jit(_found, inline=True, plain=_plainly_found)
"""Index of the lowest one bit of a lane mask that is not empty."""


@jit
def multiply_wide(x, y):
    """The 128-bit product of two uint64, high and low half."""
    low = np.uint64(0xFFFFFFFF)
    s = np.uint64(32)
    x0 = x & low
    x1 = x >> s
    y0 = y & low
    y1 = y >> s
    bottom = x0 * y0
    middle = x1 * y0 + (bottom >> s)
    other = x0 * y1 + (middle & low)
    return x1 * y1 + (middle >> s) + (other >> s), (other << s) | (bottom & low)
