"""float64 and float32 micro-ops (see ops_int.py for the shape of these functions)."""

from __future__ import annotations

import math

import numpy as np

from simt.machine.jit import jit
from simt.machine.ops_int import LARGEST_EXPONENT
from simt.machine.scalar import fma32, fma64
from simt.program import MICRO_OPS

ADD_F64 = MICRO_OPS["add.f64"].code
SUB_F64 = MICRO_OPS["sub.f64"].code
MUL_F64 = MICRO_OPS["mul.f64"].code
DIV_F64 = MICRO_OPS["div.f64"].code
FMA_F64 = MICRO_OPS["fma.f64"].code
NEG_F64 = MICRO_OPS["neg.f64"].code
ABS_F64 = MICRO_OPS["abs.f64"].code
MIN_F64 = MICRO_OPS["min.f64"].code
MAX_F64 = MICRO_OPS["max.f64"].code
FLOORDIV_F64 = MICRO_OPS["floordiv.f64"].code
FLOORMOD_F64 = MICRO_OPS["floormod.f64"].code
POWI_F64 = MICRO_OPS["powi.f64"].code
POW_F64 = MICRO_OPS["pow.f64"].code
ATAN2_F64 = MICRO_OPS["atan2.f64"].code
HYPOT_F64 = MICRO_OPS["hypot.f64"].code
FMOD_F64 = MICRO_OPS["fmod.f64"].code
COPYSIGN_F64 = MICRO_OPS["copysign.f64"].code
FLOOR_F64 = MICRO_OPS["floor.f64"].code
CEIL_F64 = MICRO_OPS["ceil.f64"].code
TRUNC_F64 = MICRO_OPS["trunc.f64"].code
RINT_F64 = MICRO_OPS["rint.f64"].code
SQRT_F64 = MICRO_OPS["sqrt.f64"].code
EXP_F64 = MICRO_OPS["exp.f64"].code
EXPM1_F64 = MICRO_OPS["expm1.f64"].code
LOG_F64 = MICRO_OPS["log.f64"].code
LOG2_F64 = MICRO_OPS["log2.f64"].code
LOG10_F64 = MICRO_OPS["log10.f64"].code
LOG1P_F64 = MICRO_OPS["log1p.f64"].code
SIN_F64 = MICRO_OPS["sin.f64"].code
COS_F64 = MICRO_OPS["cos.f64"].code
TAN_F64 = MICRO_OPS["tan.f64"].code
ASIN_F64 = MICRO_OPS["asin.f64"].code
ACOS_F64 = MICRO_OPS["acos.f64"].code
ATAN_F64 = MICRO_OPS["atan.f64"].code
SINH_F64 = MICRO_OPS["sinh.f64"].code
COSH_F64 = MICRO_OPS["cosh.f64"].code
TANH_F64 = MICRO_OPS["tanh.f64"].code
ASINH_F64 = MICRO_OPS["asinh.f64"].code
ACOSH_F64 = MICRO_OPS["acosh.f64"].code
ATANH_F64 = MICRO_OPS["atanh.f64"].code
ERF_F64 = MICRO_OPS["erf.f64"].code
ERFC_F64 = MICRO_OPS["erfc.f64"].code
GAMMA_F64 = MICRO_OPS["gamma.f64"].code
LGAMMA_F64 = MICRO_OPS["lgamma.f64"].code

ADD_F32 = MICRO_OPS["add.f32"].code
SUB_F32 = MICRO_OPS["sub.f32"].code
MUL_F32 = MICRO_OPS["mul.f32"].code
DIV_F32 = MICRO_OPS["div.f32"].code
FMA_F32 = MICRO_OPS["fma.f32"].code
NEG_F32 = MICRO_OPS["neg.f32"].code
ABS_F32 = MICRO_OPS["abs.f32"].code
MIN_F32 = MICRO_OPS["min.f32"].code
MAX_F32 = MICRO_OPS["max.f32"].code
FLOORDIV_F32 = MICRO_OPS["floordiv.f32"].code
FLOORMOD_F32 = MICRO_OPS["floormod.f32"].code
POWI_F32 = MICRO_OPS["powi.f32"].code
SQRT_F32 = MICRO_OPS["sqrt.f32"].code

SIGN_64 = np.int64(-(2**63))


@jit
def _remainder64(x, y):
    """LLVM's ``frem`` as NVPTX expands it (measured on an H200): inexact where the quotient is large."""
    r = fma64(-np.floor(abs(x) / abs(y)), abs(y), abs(x))
    return -r if x < 0.0 else r


@jit
def _remainder32(x, y):
    r = fma32(-np.floor(abs(x) / abs(y)), abs(y), abs(x))
    return -r if x < np.float32(0) else r


@jit
def _floordiv(x, y, mod, one):
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
def _floormod(y, mod, zero):
    """Numba's float ``%``, from the remainder *mod*."""
    if y == zero:
        return mod
    if mod != zero:
        return mod + y if (y < zero) != (mod < zero) else mod
    return -zero if y < zero else zero


@jit
def _power_by_squaring(x, exponent, one):
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
def _smaller(x, y):
    if x != x:
        return y
    if y != y:
        return x
    if x == y:  # -0 is below +0
        return x if np.signbit(x) else y
    return x if x < y else y


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
def float64(op, R, O, F, G, a, b, c):
    """float64 arithmetic.  R, O: int64 rows and result; F, G: the same memory as float64."""
    n = np.uint64(32)
    if op == ADD_F64:
        for l in range(n):
            G[l] = F[a + l] + F[b + l]
    elif op == SUB_F64:
        for l in range(n):
            G[l] = F[a + l] - F[b + l]
    elif op == MUL_F64:
        for l in range(n):
            G[l] = F[a + l] * F[b + l]
    elif op == DIV_F64:
        for l in range(n):
            G[l] = F[a + l] / F[b + l]
    elif op == FMA_F64:
        for l in range(n):
            G[l] = fma64(F[a + l], F[b + l], F[c + l])
    elif op == NEG_F64:
        for l in range(n):
            O[l] = R[a + l] ^ SIGN_64
    elif op == ABS_F64:
        for l in range(n):
            O[l] = R[a + l] & ~SIGN_64
    elif op == MIN_F64:
        for l in range(n):
            G[l] = _smaller(F[a + l], F[b + l])
    elif op == MAX_F64:
        for l in range(n):
            G[l] = -_smaller(-F[a + l], -F[b + l])
    elif op == FLOORDIV_F64:
        for l in range(n):
            G[l] = _floordiv(F[a + l], F[b + l], _remainder64(F[a + l], F[b + l]), 1.0)
    elif op == FLOORMOD_F64:
        for l in range(n):
            G[l] = _floormod(F[b + l], _remainder64(F[a + l], F[b + l]), 0.0)
    elif op == POWI_F64:
        for l in range(n):
            if R[b + l] > LARGEST_EXPONENT or R[b + l] < -LARGEST_EXPONENT:  # |-2**63| would be negative
                G[l] = np.power(F[a + l], np.float64(R[b + l]))
            else:
                G[l] = _power_by_squaring(F[a + l], R[b + l], 1.0)
    elif op == COPYSIGN_F64:
        for l in range(n):
            O[l] = (R[a + l] & ~SIGN_64) | (R[b + l] & SIGN_64)
    elif op == FLOOR_F64:
        for l in range(n):
            G[l] = np.floor(F[a + l])
    elif op == CEIL_F64:
        for l in range(n):
            G[l] = np.ceil(F[a + l])
    elif op == TRUNC_F64:
        for l in range(n):
            G[l] = np.trunc(F[a + l])
    elif op == RINT_F64:
        for l in range(n):
            G[l] = np.rint(F[a + l])
    elif op == SQRT_F64:
        for l in range(n):
            G[l] = np.sqrt(F[a + l])


@jit
def math64(op, F, G, a, b):
    """Transcendental functions: the host's, which may differ from libdevice's in the last bits."""
    n = np.uint64(32)
    if op == POW_F64:
        for l in range(n):
            G[l] = np.power(F[a + l], F[b + l])
    elif op == ATAN2_F64:
        for l in range(n):
            G[l] = np.arctan2(F[a + l], F[b + l])
    elif op == HYPOT_F64:
        for l in range(n):
            G[l] = np.hypot(F[a + l], F[b + l])
    elif op == FMOD_F64:
        for l in range(n):
            G[l] = np.fmod(F[a + l], F[b + l])
    elif op == EXP_F64:
        for l in range(n):
            G[l] = np.exp(F[a + l])
    elif op == EXPM1_F64:
        for l in range(n):
            G[l] = np.expm1(F[a + l])
    elif op == LOG_F64:
        for l in range(n):
            G[l] = np.log(F[a + l])
    elif op == LOG2_F64:
        for l in range(n):
            G[l] = np.log2(F[a + l])
    elif op == LOG10_F64:
        for l in range(n):
            G[l] = np.log10(F[a + l])
    elif op == LOG1P_F64:
        for l in range(n):
            G[l] = np.log1p(F[a + l])
    elif op == SIN_F64:
        for l in range(n):
            G[l] = np.sin(F[a + l])
    elif op == COS_F64:
        for l in range(n):
            G[l] = np.cos(F[a + l])
    elif op == TAN_F64:
        for l in range(n):
            G[l] = np.tan(F[a + l])
    elif op == ASIN_F64:
        for l in range(n):
            G[l] = np.arcsin(F[a + l])
    elif op == ACOS_F64:
        for l in range(n):
            G[l] = np.arccos(F[a + l])
    elif op == ATAN_F64:
        for l in range(n):
            G[l] = np.arctan(F[a + l])
    elif op == SINH_F64:
        for l in range(n):
            G[l] = np.sinh(F[a + l])
    elif op == COSH_F64:
        for l in range(n):
            G[l] = np.cosh(F[a + l])
    elif op == TANH_F64:
        for l in range(n):
            G[l] = np.tanh(F[a + l])
    elif op == ASINH_F64:
        for l in range(n):
            G[l] = np.arcsinh(F[a + l])
    elif op == ACOSH_F64:
        for l in range(n):
            G[l] = np.arccosh(F[a + l])
    elif op == ATANH_F64:
        for l in range(n):
            G[l] = np.arctanh(F[a + l])
    elif op == ERF_F64:
        for l in range(n):
            G[l] = math.erf(F[a + l])
    elif op == ERFC_F64:
        for l in range(n):
            G[l] = math.erfc(F[a + l])
    elif op == GAMMA_F64:
        for l in range(n):
            G[l] = _gamma(F[a + l])
    elif op == LGAMMA_F64:
        for l in range(n):
            G[l] = _lgamma(F[a + l])


@jit
def float32(op, R, O, F, G, a, b, c):
    """float32 arithmetic.  R, O: int64 rows and result; F, G: the same memory as float32 (low half at 2 * lane)."""
    n = np.uint64(32)
    two = np.uint64(2)
    for l in range(n):
        O[l] = 0  # the high half of a float32 slot is zero
    if op == ADD_F32:
        for l in range(n):
            G[two * l] = F[two * (a + l)] + F[two * (b + l)]
    elif op == SUB_F32:
        for l in range(n):
            G[two * l] = F[two * (a + l)] - F[two * (b + l)]
    elif op == MUL_F32:
        for l in range(n):
            G[two * l] = F[two * (a + l)] * F[two * (b + l)]
    elif op == DIV_F32:
        for l in range(n):
            G[two * l] = F[two * (a + l)] / F[two * (b + l)]
    elif op == FMA_F32:
        for l in range(n):
            G[two * l] = fma32(F[two * (a + l)], F[two * (b + l)], F[two * (c + l)])
    elif op == NEG_F32:
        for l in range(n):
            O[l] = R[a + l] ^ 0x80000000
    elif op == ABS_F32:
        for l in range(n):
            O[l] = R[a + l] & 0x7FFFFFFF
    elif op == MIN_F32:
        for l in range(n):
            G[two * l] = _smaller(F[two * (a + l)], F[two * (b + l)])
    elif op == MAX_F32:
        for l in range(n):
            G[two * l] = -_smaller(-F[two * (a + l)], -F[two * (b + l)])
    elif op == FLOORDIV_F32:
        for l in range(n):
            x = F[two * (a + l)]
            y = F[two * (b + l)]
            G[two * l] = _floordiv(x, y, _remainder32(x, y), np.float32(1))
    elif op == FLOORMOD_F32:
        for l in range(n):
            y = F[two * (b + l)]
            G[two * l] = _floormod(y, _remainder32(F[two * (a + l)], y), np.float32(0))
    elif op == POWI_F32:
        for l in range(n):
            if R[b + l] > LARGEST_EXPONENT or R[b + l] < -LARGEST_EXPONENT:  # |-2**63| would be negative
                wide = np.power(np.float64(F[two * (a + l)]), abs(np.float64(R[b + l])))
                G[two * l] = np.float32(1.0 / wide if R[b + l] < 0 else wide)
            else:
                G[two * l] = _power_by_squaring(F[two * (a + l)], R[b + l], np.float32(1))
    elif op == SQRT_F32:
        for l in range(n):
            G[two * l] = np.sqrt(F[two * (a + l)])
    if op != NEG_F32 and op != ABS_F32:
        for l in range(n):  # arithmetic gives the one NaN that NVIDIA GPUs give (measured on an H200)
            O[l] = np.int64(0x7FFFFFFF) if G[two * l] != G[two * l] else O[l]
