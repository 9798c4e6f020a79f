"""Conversions between integers and floats."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit
from simt.ops.row import F32, F32_BITS, F64, S32, S64, U32, U64, Family, Kind, Table

TABLE = Table("convert", Family.CONVERT, Kind.ROW, 7)

alu = TABLE.lanes("alu")
convert = TABLE.lanes("convert")

S64_MIN = np.int64(-(2**63))
S64_MAX = np.int64(2**63 - 1)
S32_MIN = np.int64(-(2**31))
S32_MAX = np.int64(2**31 - 1)


@jit
def _to_signed(x, low, high, least, greatest, nan):
    """Truncate towards zero with saturation to [least, greatest] = [low, high) as floats; NaN gives *nan*."""
    if x != x:
        return nan
    if x >= high:
        return greatest
    if x < low:
        return least
    return np.int64(x)


@jit
def _to_unsigned(x):
    if x != x:
        return S64_MIN
    if x >= 18446744073709551616.0:
        return np.int64(-1)
    if x <= 0.0:
        return np.int64(0)
    if x >= 9223372036854775808.0:
        return np.int64(x - 9223372036854775808.0) ^ S64_MIN
    return np.int64(x)


@jit
def _half_from_single(bits):
    """float16 bits of float32 bits, ties to even; NaN becomes the quiet NaN 0x7fff as on NVIDIA GPUs."""
    sign = (bits >> 16) & 0x8000
    magnitude = bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return np.int64(0x7FFF)
    if magnitude >= 0x477FF000:  # rounds to 65536 or more
        return sign | 0x7C00
    if magnitude < 0x38800000:  # below the least normal float16
        exponent = magnitude >> 23
        shift = 126 - exponent
        if shift > 24:
            return sign
        mantissa = (magnitude & 0x7FFFFF) | 0x800000
        result = mantissa >> shift
        rest = mantissa & ((np.int64(1) << shift) - 1)
        half = np.int64(1) << (shift - 1)
    else:
        result = (magnitude - 0x38000000) >> 13
        rest = magnitude & 0x1FFF
        half = np.int64(0x1000)
    if rest > half or (rest == half and result & 1):
        result += 1
    return sign | result


@jit
def _single_from_half(bits):
    sign = (bits & 0x8000) << 16
    exponent = (bits >> 10) & 31
    mantissa = bits & 0x3FF
    if exponent == 31:
        return sign | 0x7F800000 | (mantissa << 13)
    if exponent == 0:
        if mantissa == 0:
            return sign
        exponent = np.int64(1)
        while mantissa < 0x400:
            mantissa <<= 1
            exponent -= 1
        mantissa &= 0x3FF
    return sign | ((exponent + 112) << 23) | (mantissa << 13)


@alu
def cvt_s8(a: S64) -> S64:
    """d = low 8 bits, sign-extended"""
    return (a << 56) >> 56


@alu
def cvt_s16(a: S64) -> S64:
    """d = low 16 bits, sign-extended"""
    return (a << 48) >> 48


@alu
def cvt_s32(a: S32) -> S64:
    """d = low 32 bits, sign-extended"""
    return a


@alu
def cvt_u8(a: S64) -> S64:
    """d = low 8 bits"""
    return a & 0xFF


@alu
def cvt_u16(a: S64) -> S64:
    """d = low 16 bits"""
    return a & 0xFFFF


@alu
def cvt_u32(a: U32) -> S64:
    """d = low 32 bits"""
    return a


@convert
def cvt_f64_s64(a: S64) -> F64:
    """d = float64 of a signed integer"""
    return np.float64(a)


@convert
def cvt_f64_u64(a: U64) -> F64:
    """d = float64 of an unsigned integer"""
    return np.float64(a)


@convert
def cvt_f32_s64(a: S64) -> F32_BITS:
    """d = float32 of a signed integer"""
    return np.float32(a)


@convert
def cvt_f32_u64(a: U64) -> F32_BITS:
    """d = float32 of an unsigned integer"""
    return np.float32(a)


@convert
def cvt_f64_f32(a: F32) -> F64:
    """d = float64 of a float32"""
    return np.float64(a)


@convert
def cvt_f32_f64(a: F64) -> F32_BITS:
    """d = float32 of a float64, ties to even"""
    return np.float32(a)


@convert
def cvt_f16_f32(a: S64) -> S64:
    """d = float16 of a float32, ties to even"""
    return _half_from_single(a)


@convert
def cvt_f32_f16(a: S64) -> S64:
    """d = float32 of a float16"""
    return _single_from_half(a)


@convert
def cvt_s64_f64(a: F64) -> S64:
    """d = a truncated, saturated to int64; NaN gives -2**63"""
    return _to_signed(a, -9223372036854775808.0, 9223372036854775808.0, S64_MIN, S64_MAX, S64_MIN)


@convert
def cvt_u64_f64(a: F64) -> S64:
    """d = a truncated, saturated to uint64; NaN gives 2**63"""
    return _to_unsigned(a)


@convert
def cvt_s32_f64(a: F64) -> S64:
    """d = a truncated, saturated to int32; NaN gives -2**31"""
    return _to_signed(a, -2147483648.0, 2147483648.0, S32_MIN, S32_MAX, S32_MIN)


@convert
def cvt_u32_f64(a: F64) -> S64:
    """d = a truncated, saturated to uint32; NaN gives 0"""
    return _to_signed(a, 0.0, 4294967296.0, np.int64(0), np.int64(0xFFFFFFFF), np.int64(0))
