"""float32 arithmetic.  All results but NaN are IEEE's; NaN is the one that NVIDIA GPUs give."""

from __future__ import annotations

import numpy as np

from simt.ops.division import LARGEST_EXPONENT
from simt.ops.jit import jit
from simt.ops.numba_float import floor_quotient, floor_remainder, power_by_squaring, remainder32, smaller
from simt.ops.row import F32, S64, Family, Kind, Table
from simt.ops.scalar import fma32

TABLE = Table("float32", Family.F32, Kind.ROW, 6)

fma = TABLE.lanes("fma")
divide = TABLE.lanes("divide")


@fma
def add_f32(a: F32, b: F32) -> F32:
    """d = a + b"""
    return a + b


@fma
def sub_f32(a: F32, b: F32) -> F32:
    """d = a - b"""
    return a - b


@fma
def mul_f32(a: F32, b: F32) -> F32:
    """d = a * b"""
    return a * b


@divide
def div_f32(a: F32, b: F32) -> F32:
    """d = a / b, IEEE"""
    return a / b


@fma
def fma_f32(a: F32, b: F32, c: F32) -> F32:
    """d = a * b + c with one rounding"""
    return fma32(a, b, c)


@fma
def min_f32(a: F32, b: F32) -> F32:
    """d = the smaller (a NaN loses)"""
    return smaller(a, b)


@fma
def max_f32(a: F32, b: F32) -> F32:
    """d = the larger (a NaN loses)"""
    return -smaller(-a, -b)


@divide
def floordiv_f32(a: F32, b: F32) -> F32:
    """d = floor division as Numba does it"""
    return floor_quotient(a, b, remainder32(a, b), np.float32(1))


@divide
def floormod_f32(a: F32, b: F32) -> F32:
    """d = modulo as Numba does it, sign of b"""
    return floor_remainder(b, remainder32(a, b), np.float32(0))


@jit
def _integer_power(x, exponent):
    if exponent > LARGEST_EXPONENT or exponent < -LARGEST_EXPONENT:  # |-2**63| would be negative
        wide = np.power(np.float64(x), abs(np.float64(exponent)))
        return np.float32(1.0 / wide if exponent < 0 else wide)
    return power_by_squaring(x, exponent, np.float32(1))


@fma
def powi_f32(a: F32, b: S64) -> F32:
    """d = a ** b for a signed integer b, by squaring as Numba does it"""
    return _integer_power(a, b)


@divide
def sqrt_f32(a: F32) -> F32:
    """d = sqrt(a), correctly rounded"""
    return np.sqrt(a)
