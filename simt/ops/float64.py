"""float64 arithmetic.

Of several operands that are NaN one stays, made quiet: the second of a sum, a difference or a product, the first of a
quotient, of ``a * b + c`` that of b, then c, then a, as on an H200 (tests/data/hardware/nan_float64.json).  Processors
have rules of their own, and LLVM may swap the operands: so the functions say which.
"""

from __future__ import annotations

import numpy as np

from simt.ops.numba_float import floor_quotient, floor_remainder, remainder64, smaller
from simt.ops.row import F64, S64, Family, Kind, Table
from simt.ops.scalar import fma64, unless_nan

TABLE = Table("float64", Family.F64, Kind.ROW, 4)

fp64 = TABLE.lanes("fp64")
divide = TABLE.lanes("divide")

SIGN = np.int64(-(2**63))


@fp64
def add_f64(a: F64, b: F64) -> F64:
    """d = a + b"""
    return unless_nan(b, a + b)


@fp64
def sub_f64(a: F64, b: F64) -> F64:
    """d = a - b"""
    return unless_nan(b, a - b)


@fp64
def mul_f64(a: F64, b: F64) -> F64:
    """d = a * b"""
    return unless_nan(b, a * b)


@divide
def div_f64(a: F64, b: F64) -> F64:
    """d = a / b, IEEE (x / 0 is an infinity or NaN)"""
    return unless_nan(a, a / b)


@fp64
def fma_f64(a: F64, b: F64, c: F64) -> F64:
    """d = a * b + c with one rounding"""
    return unless_nan(b, unless_nan(c, fma64(a, b, c)))


@fp64
def neg_f64(a: S64) -> S64:
    """d = -a"""
    return a ^ SIGN


@fp64
def abs_f64(a: S64) -> S64:
    """d = |a|"""
    return a & ~SIGN


@fp64
def min_f64(a: F64, b: F64) -> F64:
    """d = the smaller (a NaN loses)"""
    return smaller(a, b)


@fp64
def max_f64(a: F64, b: F64) -> F64:
    """d = the larger (a NaN loses)"""
    return -smaller(-a, -b)


@divide
def floordiv_f64(a: F64, b: F64) -> F64:
    """d = floor division as Numba does it"""
    return floor_quotient(a, b, remainder64(a, b), 1.0)


@divide
def floormod_f64(a: F64, b: F64) -> F64:
    """d = modulo as Numba does it, sign of b"""
    return floor_remainder(b, remainder64(a, b), 0.0)


@fp64
def copysign_f64(a: S64, b: S64) -> S64:
    """d = |a| with the sign of b"""
    return (a & ~SIGN) | (b & SIGN)


@divide
def floor_f64(a: F64) -> F64:
    """d = floor(a)"""
    return unless_nan(a, np.floor(a))


@divide
def ceil_f64(a: F64) -> F64:
    """d = ceil(a)"""
    return unless_nan(a, np.ceil(a))


@divide
def trunc_f64(a: F64) -> F64:
    """d = a rounded towards zero"""
    return unless_nan(a, np.trunc(a))


@divide
def rint_f64(a: F64) -> F64:
    """d = a rounded to nearest, ties to even"""
    return unless_nan(a, np.rint(a))


@divide
def sqrt_f64(a: F64) -> F64:
    """d = sqrt(a), correctly rounded"""
    return np.sqrt(a)
