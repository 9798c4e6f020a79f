"""Functions of the host's mathematical library, which may differ from libdevice's in the last bits."""

from __future__ import annotations

import math

import numpy as np

from simt.ops.division import LARGEST_EXPONENT
from simt.ops.jit import jit
from simt.ops.numba_float import power_by_squaring
from simt.ops.row import F64, S64, Family, Kind, Table

TABLE = Table("mathematics", Family.F64, Kind.ROW, 5, by_library=True)

divide = TABLE.lanes("divide")


@jit
def _gamma(x):
    """Gamma with IEEE results at the poles and where it overflows: there ``math.gamma`` raises in Python."""
    if abs(x) < 5.56268464626801e-309:
        return 1.0 / x
    if x == -np.inf or (x < 0.0 and np.floor(x) == x):
        return np.nan
    if x > 171.6243769563027:
        return np.inf
    return math.gamma(x)


@jit
def _lgamma(x):
    """log |gamma| with infinity at the poles and where it overflows: there ``math.lgamma`` raises in Python."""
    if np.isinf(x) or x > 2.5599833278516383e305 or (x <= 0.0 and np.floor(x) == x):
        return np.inf
    return math.lgamma(x)


@jit
def _integer_power(x, exponent):
    if exponent > LARGEST_EXPONENT or exponent < -LARGEST_EXPONENT:  # |-2**63| would be negative
        return np.power(x, np.float64(exponent))
    return power_by_squaring(x, exponent, 1.0)


@jit
def _cube_root(x):
    """The cube root: a power, and one step of Newton's."""
    if x == 0.0 or not np.isfinite(x):
        return x
    scale = 1.0
    if abs(x) < 2.0**-960:  # the cube of the root would lose bits
        x, scale = x * 2.0**108, 2.0**-36
    root = np.copysign(np.power(abs(x), 1.0 / 3.0), x)
    return (root - (root * root * root - x) / (3.0 * root * root)) * scale


@divide
def cbrt_f64(a: F64) -> F64:
    """d = cube root"""
    return _cube_root(a)


@divide
def powi_f64(a: F64, b: S64) -> F64:
    """d = a ** b for a signed integer b, by squaring as Numba does it"""
    return _integer_power(a, b)


@divide
def pow_f64(a: F64, b: F64) -> F64:
    """d = a ** b"""
    return np.power(a, b)


@divide
def atan2_f64(a: F64, b: F64) -> F64:
    """d = atan2(a, b)"""
    return np.arctan2(a, b)


@divide
def hypot_f64(a: F64, b: F64) -> F64:
    """d = hypot(a, b)"""
    return np.hypot(a, b)


@divide
def fmod_f64(a: F64, b: F64) -> F64:
    """d = C fmod(a, b), sign of a"""
    return np.fmod(a, b)


@divide
def exp_f64(a: F64) -> F64:
    """d = e ** a"""
    return np.exp(a)


@divide
def expm1_f64(a: F64) -> F64:
    """d = e ** a - 1"""
    return np.expm1(a)


@divide
def log_f64(a: F64) -> F64:
    """d = natural logarithm"""
    return np.log(a)


@divide
def log2_f64(a: F64) -> F64:
    """d = base-2 logarithm"""
    return np.log2(a)


@divide
def log10_f64(a: F64) -> F64:
    """d = base-10 logarithm"""
    return np.log10(a)


@divide
def log1p_f64(a: F64) -> F64:
    """d = log(1 + a)"""
    return np.log1p(a)


@divide
def sin_f64(a: F64) -> F64:
    """d = sin(a)"""
    return np.sin(a)


@divide
def cos_f64(a: F64) -> F64:
    """d = cos(a)"""
    return np.cos(a)


@divide
def tan_f64(a: F64) -> F64:
    """d = tan(a)"""
    return np.tan(a)


@divide
def asin_f64(a: F64) -> F64:
    """d = asin(a)"""
    return np.arcsin(a)


@divide
def acos_f64(a: F64) -> F64:
    """d = acos(a)"""
    return np.arccos(a)


@divide
def atan_f64(a: F64) -> F64:
    """d = atan(a)"""
    return np.arctan(a)


@divide
def sinh_f64(a: F64) -> F64:
    """d = sinh(a)"""
    return np.sinh(a)


@divide
def cosh_f64(a: F64) -> F64:
    """d = cosh(a)"""
    return np.cosh(a)


@divide
def tanh_f64(a: F64) -> F64:
    """d = tanh(a)"""
    return np.tanh(a)


@divide
def asinh_f64(a: F64) -> F64:
    """d = asinh(a)"""
    return np.arcsinh(a)


@divide
def acosh_f64(a: F64) -> F64:
    """d = acosh(a)"""
    return np.arccosh(a)


@divide
def atanh_f64(a: F64) -> F64:
    """d = atanh(a)"""
    return np.arctanh(a)


@divide
def erf_f64(a: F64) -> F64:
    """d = error function"""
    return math.erf(a)


@divide
def erfc_f64(a: F64) -> F64:
    """d = complementary error function"""
    return math.erfc(a)


@divide
def gamma_f64(a: F64) -> F64:
    """d = gamma function"""
    return _gamma(a)


@divide
def lgamma_f64(a: F64) -> F64:
    """d = log |gamma|"""
    return _lgamma(a)
