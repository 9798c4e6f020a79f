"""Conversions and comparisons (see ops_int.py for the shape of these functions)."""

from __future__ import annotations

import numpy as np

from simt.machine.jit import jit, jit_inline
from simt.program import MICRO_OPS

CVT_S8 = MICRO_OPS["cvt.s8"].code
CVT_S16 = MICRO_OPS["cvt.s16"].code
CVT_S32 = MICRO_OPS["cvt.s32"].code
CVT_U8 = MICRO_OPS["cvt.u8"].code
CVT_U16 = MICRO_OPS["cvt.u16"].code
CVT_U32 = MICRO_OPS["cvt.u32"].code
CVT_F64_S64 = MICRO_OPS["cvt.f64.s64"].code
CVT_F64_U64 = MICRO_OPS["cvt.f64.u64"].code
CVT_F32_S64 = MICRO_OPS["cvt.f32.s64"].code
CVT_F32_U64 = MICRO_OPS["cvt.f32.u64"].code
CVT_F64_F32 = MICRO_OPS["cvt.f64.f32"].code
CVT_F32_F64 = MICRO_OPS["cvt.f32.f64"].code
CVT_F16_F32 = MICRO_OPS["cvt.f16.f32"].code
CVT_F32_F16 = MICRO_OPS["cvt.f32.f16"].code
CVT_S64_F64 = MICRO_OPS["cvt.s64.f64"].code
CVT_U64_F64 = MICRO_OPS["cvt.u64.f64"].code
CVT_S32_F64 = MICRO_OPS["cvt.s32.f64"].code
CVT_U32_F64 = MICRO_OPS["cvt.u32.f64"].code

EQ_S64 = MICRO_OPS["eq.s64"].code
NE_S64 = MICRO_OPS["ne.s64"].code
LT_S64 = MICRO_OPS["lt.s64"].code
LE_S64 = MICRO_OPS["le.s64"].code
LT_S32 = MICRO_OPS["lt.s32"].code
LE_S32 = MICRO_OPS["le.s32"].code
LT_U64 = MICRO_OPS["lt.u64"].code
LE_U64 = MICRO_OPS["le.u64"].code
EQ_F64 = MICRO_OPS["eq.f64"].code
NE_F64 = MICRO_OPS["ne.f64"].code
LT_F64 = MICRO_OPS["lt.f64"].code
LE_F64 = MICRO_OPS["le.f64"].code
ISINF_F64 = MICRO_OPS["isinf.f64"].code
EQ_F32 = MICRO_OPS["eq.f32"].code
NE_F32 = MICRO_OPS["ne.f32"].code
LT_F32 = MICRO_OPS["lt.f32"].code
LE_F32 = MICRO_OPS["le.f32"].code

S64_MIN = np.int64(-(2**63))
S64_MAX = np.int64(2**63 - 1)


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


@jit
def convert(op, R, O, F, G, H, K, a):
    """Conversions.  R, O: int64; F, G: the same memory as float64; H, K: as float32."""
    n = np.uint64(32)
    two = np.uint64(2)
    if op == CVT_S8:
        for l in range(n):
            O[l] = (R[a + l] << 56) >> 56
    elif op == CVT_S16:
        for l in range(n):
            O[l] = (R[a + l] << 48) >> 48
    elif op == CVT_S32:
        for l in range(n):
            O[l] = (R[a + l] << 32) >> 32
    elif op == CVT_U8:
        for l in range(n):
            O[l] = R[a + l] & 0xFF
    elif op == CVT_U16:
        for l in range(n):
            O[l] = R[a + l] & 0xFFFF
    elif op == CVT_U32:
        for l in range(n):
            O[l] = R[a + l] & 0xFFFFFFFF
    elif op == CVT_F64_S64:
        for l in range(n):
            G[l] = np.float64(R[a + l])
    elif op == CVT_F64_U64:
        for l in range(n):
            G[l] = np.float64(np.uint64(R[a + l]))
    elif op == CVT_F32_S64:
        for l in range(n):
            O[l] = 0
            K[two * l] = np.float32(R[a + l])
    elif op == CVT_F32_U64:
        for l in range(n):
            O[l] = 0
            K[two * l] = np.float32(np.uint64(R[a + l]))
    elif op == CVT_F64_F32:
        for l in range(n):
            G[l] = np.float64(H[two * (a + l)])
    elif op == CVT_F32_F64:
        for l in range(n):
            O[l] = 0
            K[two * l] = np.float32(F[a + l])
    elif op == CVT_F16_F32:
        for l in range(n):
            O[l] = _half_from_single(R[a + l])
    elif op == CVT_F32_F16:
        for l in range(n):
            O[l] = _single_from_half(R[a + l])
    elif op == CVT_S64_F64:
        for l in range(n):
            O[l] = _to_signed(F[a + l], -9223372036854775808.0, 9223372036854775808.0, S64_MIN, S64_MAX, S64_MIN)
    elif op == CVT_U64_F64:
        for l in range(n):
            O[l] = _to_unsigned(F[a + l])
    elif op == CVT_S32_F64:
        for l in range(n):
            O[l] = _to_signed(
                F[a + l],
                -2147483648.0,
                2147483648.0,
                np.int64(-(2**31)),
                np.int64(2**31 - 1),
                np.int64(-(2**31)),
            )
    elif op == CVT_U32_F64:
        for l in range(n):
            O[l] = _to_signed(F[a + l], 0.0, 4294967296.0, np.int64(0), np.int64(0xFFFFFFFF), np.int64(0))


@jit_inline
def compare(op, R, F, H, a, b):
    """Comparisons: the mask of lanes where it holds (int64).  F: R's memory as float64; H: as float32."""
    n = np.uint64(32)
    two = np.uint64(2)
    mask = np.uint64(0)
    if op == EQ_S64:
        for l in range(n):
            mask |= np.uint64(R[a + l] == R[b + l]) << np.uint64(l)
    elif op == NE_S64:
        for l in range(n):
            mask |= np.uint64(R[a + l] != R[b + l]) << np.uint64(l)
    elif op == LT_S64:
        for l in range(n):
            mask |= np.uint64(R[a + l] < R[b + l]) << np.uint64(l)
    elif op == LE_S64:
        for l in range(n):
            mask |= np.uint64(R[a + l] <= R[b + l]) << np.uint64(l)
    elif op == LT_S32:
        for l in range(n):
            mask |= np.uint64((R[a + l] << 32) < (R[b + l] << 32)) << np.uint64(l)
    elif op == LE_S32:
        for l in range(n):
            mask |= np.uint64((R[a + l] << 32) <= (R[b + l] << 32)) << np.uint64(l)
    elif op == LT_U64:
        for l in range(n):
            mask |= np.uint64(np.uint64(R[a + l]) < np.uint64(R[b + l])) << np.uint64(l)
    elif op == LE_U64:
        for l in range(n):
            mask |= np.uint64(np.uint64(R[a + l]) <= np.uint64(R[b + l])) << np.uint64(l)
    elif op == EQ_F64:
        for l in range(n):
            mask |= np.uint64(F[a + l] == F[b + l]) << np.uint64(l)
    elif op == NE_F64:
        for l in range(n):
            mask |= np.uint64(F[a + l] != F[b + l]) << np.uint64(l)
    elif op == LT_F64:
        for l in range(n):
            mask |= np.uint64(F[a + l] < F[b + l]) << np.uint64(l)
    elif op == LE_F64:
        for l in range(n):
            mask |= np.uint64(F[a + l] <= F[b + l]) << np.uint64(l)
    elif op == ISINF_F64:
        for l in range(n):
            mask |= np.uint64(np.isinf(F[a + l])) << np.uint64(l)
    elif op == EQ_F32:
        for l in range(n):
            mask |= np.uint64(H[two * (a + l)] == H[two * (b + l)]) << np.uint64(l)
    elif op == NE_F32:
        for l in range(n):
            mask |= np.uint64(H[two * (a + l)] != H[two * (b + l)]) << np.uint64(l)
    elif op == LT_F32:
        for l in range(n):
            mask |= np.uint64(H[two * (a + l)] < H[two * (b + l)]) << np.uint64(l)
    elif op == LE_F32:
        for l in range(n):
            mask |= np.uint64(H[two * (a + l)] <= H[two * (b + l)]) << np.uint64(l)
    return np.int64(mask)
