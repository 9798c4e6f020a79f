"""Floating-point operators as Numba compiles them for GPUs: what float64 and float32 micro-ops share."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit
from simt.ops.scalar import fma32, fma64


@jit
def remainder64(x, y):
    """LLVM's ``frem`` as NVPTX expands it (measured on an H200): inexact where the quotient is large."""
    r = fma64(-np.floor(abs(x) / abs(y)), abs(y), abs(x))
    return -r if x < 0.0 else r


@jit
def remainder32(x, y):
    """The same in float32."""
    r = fma32(-np.floor(abs(x) / abs(y)), abs(y), abs(x))
    return -r if x < np.float32(0) else r


@jit
def floor_quotient(x, y, mod, one):
    """Numba's float ``//`` (``real_divmod_func_body``); *mod* is the remainder, *one* is 1 in the operands' type."""
    zero = one - one
    if y == zero:
        return x / y
    quotient = (x - mod) / y
    if mod != zero and (y < zero) != (mod < zero):
        quotient = quotient - one
    if quotient < zero or quotient > zero:
        floored = np.floor(quotient)
        if quotient - floored > one / (one + one):
            floored = floored + one
        return floored
    return (quotient * quotient) * x / y


@jit
def floor_remainder(y, mod, zero):
    """Numba's float ``%``, from the remainder *mod*."""
    if y == zero:
        return mod
    if mod != zero:
        return mod + y if (y < zero) != (mod < zero) else mod
    return -zero if y < zero else zero


@jit
def power_by_squaring(x, exponent, one):
    """Numba's float ``**`` with an integer exponent: multiplications in the type of *x*, in this order."""
    result = one
    left = exponent if exponent >= 0 else np.int64(0) - exponent
    while left != 0:
        if left & 1:
            result = result * x
        left >>= 1
        x = x * x
    return one / result if exponent < 0 else result


@jit
def smaller(x, y):
    """minNum: a NaN loses, -0 is below +0."""
    if x != x:
        return y
    if y != y:
        return x
    if x == y:
        return x if np.signbit(x) else y
    return x if x < y else y
