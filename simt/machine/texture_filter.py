"""The linear filter of textures, as an H200 computes it bit by bit.

The weights are multiples of 1/256 that add up to one (:func:`weights`).  Texels of 8 and 16 bits are summed as
integers.  Of floats, the significands of the texels with a weight are cut to four bits below the unit of the greatest
one; the exact sum is rounded once, halves away from zero.
"""

from __future__ import annotations

import numpy as np

from simt.machine import images as I
from simt.ops.jit import jit

U8, S8, U16, S16, U32, S32, F16, F32 = range(len(I.FORMATS))
UNIT = 256
EXTRA_BITS = 4
"""Bits below the unit of the greatest texel that the others keep."""
JOINED_BITS = 2
"""More bits that the sums of two slices keep when they are added."""


@jit
def parts(raw, form):
    """Significand, exponent (of its unit) and sign of a float16 or float32; a denormal float32 is zero."""
    if form == F16:
        exponent = (raw >> 10) & 31
        significand = raw & 1023
        if exponent > 0:
            significand |= 1024
        return significand, max(exponent, 1) - 25, raw >> 15
    exponent = (raw >> 23) & 255
    significand = raw & 0x7FFFFF
    if exponent == 0:
        significand = np.int64(0)
    else:
        significand |= 0x800000
    return significand, max(exponent, 1) - 150, (raw >> 31) & 1


@jit
def half_to_single(raw):
    """Bits of the float32 of a float16, payloads of NaN kept."""
    significand, exponent, sign = parts(raw, F16)
    if (raw >> 10) & 31 == 31:
        return (sign << 31) | 0x7F800000 | ((raw & 1023) << 13)
    if significand == 0:
        return sign << 31
    while significand < 1 << 23:
        significand <<= 1
        exponent -= 1
    return (sign << 31) | ((exponent + 150) << 23) | (significand & 0x7FFFFF)


@jit
def _round(total, exponent, form):
    """Bits of the float32 or, for float16, of its float32, of total * 2**exponent: halves away from zero."""
    sign = np.int64(total < 0)
    rest = abs(total)
    if rest == 0:
        return sign << 31
    length = 0
    while rest >> length:
        length += 1
    precision = 11 if form == F16 else 24
    cut = max(length - precision, 0)
    if form == F16:
        cut = max(cut, -24 - exponent)
    if cut > 0:
        rest = (rest + (np.int64(1) << (cut - 1))) >> min(cut, 62)
        exponent += cut
        length = 0
        while rest >> length:
            length += 1
    if rest == 0 or length + exponent < -125:
        return sign << 31
    if length + exponent > (16 if form == F16 else 128):
        return (sign << 31) | 0x7F800000
    return (sign << 31) | ((length + exponent + 126) << 23) | ((rest << (24 - length)) & 0x7FFFFF)


@jit
def weights(a, b, c, WEIGHTS):
    """Weights in 1/256 of the texels (z, y, x) of a cell at fractions a, b, c of x, y, z: index 4z + 2y + x.

    They are split along z, then x, then y; the corner next to (0, 0) or (1, 1) is rounded, its partner gets the rest.
    """
    for z in range(2):
        whole = c if z else UNIT - c
        right = (a * whole + UNIT // 2) >> 8
        left = whole - right
        WEIGHTS[4 * z + 3] = (b * right + UNIT // 2) >> 8
        WEIGHTS[4 * z + 1] = right - WEIGHTS[4 * z + 3]
        WEIGHTS[4 * z] = ((UNIT - b) * left + UNIT // 2) >> 8
        WEIGHTS[4 * z + 2] = left - WEIGHTS[4 * z]


@jit
def blend_floats(form, WEIGHTS, TEXELS):
    """Bits of the float32 that a linear filter makes of eight float texels."""
    nan = False
    infinite = np.int64(0)  # 1: a positive one, 2: a negative one
    top = 31 if form == F16 else 255
    shift = 10 if form == F16 else 23
    negative = True
    totals_0 = np.int64(0)
    totals_1 = np.int64(0)
    greatest_0 = np.int64(-1000)
    greatest_1 = np.int64(-1000)
    for z in range(2):
        greatest = np.int64(-1000)
        for k in range(4 * z, 4 * z + 4):
            if WEIGHTS[k] > 0:
                significand, exponent, sign = parts(TEXELS[k], form)
                if (TEXELS[k] >> shift) & top == top:
                    if TEXELS[k] & ((np.int64(1) << shift) - 1):
                        nan = True
                    infinite |= 2 if sign else 1
                negative &= sign == 1
                if significand > 0:
                    greatest = max(greatest, exponent)
        total = np.int64(0)
        for k in range(4 * z, 4 * z + 4):
            if WEIGHTS[k] > 0:
                significand, exponent, sign = parts(TEXELS[k], form)
                if significand > 0:
                    kept = (significand << EXTRA_BITS) >> min(greatest - exponent, 62)
                    total += -kept * WEIGHTS[k] if sign else kept * WEIGHTS[k]
        if z == 0:
            totals_0, greatest_0 = total, greatest
        else:
            totals_1, greatest_1 = total, greatest
    if nan or infinite == 3:
        return np.int64(0x7FFFE000 if form == F16 else 0x7FFFFFFF)
    if infinite:
        return np.int64(0x7F800000 if infinite == 1 else 0xFF800000)
    greatest = max(greatest_0 if totals_0 != 0 else -1000, greatest_1 if totals_1 != 0 else -1000)
    if greatest == -1000:
        return np.int64(0x80000000 if negative else 0)
    total = (totals_0 << JOINED_BITS) >> min(max(greatest - greatest_0, 0), 62)
    total += (totals_1 << JOINED_BITS) >> min(max(greatest - greatest_1, 0), 62)
    return _round(total, greatest - EXTRA_BITS - 8 - JOINED_BITS, form)


@jit
def blend_integers(form, WEIGHTS, TEXELS):
    """Numerator and denominator of the fraction that a linear filter makes of eight integer texels."""
    total = np.int64(0)
    for k in range(8):
        total += WEIGHTS[k] * TEXELS[k]
    half = UNIT // 2
    if form == U8:
        return (total * 257 + half) >> 8, 65535
    if form == U16:
        return (total + half) >> 8, 65535
    if form == S8:  # 16 bits of it: the upper ones once more, below
        return (total * 258 + ((total >> 12) << 5) + half) >> 8, 32767
    return (total + half) >> 8, 32767
