"""Textures: coordinates, texels, filters, as an H200 computes them bit by bit.

The arithmetic was derived from results of an H200 (tests/data/sass/h200/textures.npz).  A coordinate becomes a number
of texels with 8 fractional bits, halves rounded up; a normalised one is first cut to 21 to 23 fractional bits.  The
weights of a linear filter are multiples of 1/256 that add up to one (:func:`_weights`).  Texels of 8 and 16 bits are
summed as integers.  Of floats, the significands of the texels with a weight are cut to four bits below the unit of the
greatest one; the exact sum is rounded once, halves away from zero.
"""

from __future__ import annotations

import math

import numpy as np

from simt.machine import images as I
from simt.ops.jit import jit
from simt.ops.table import MICRO_OPS

TEX = MICRO_OPS["tex"].code
TLD = MICRO_OPS["tld"].code
TLD4 = MICRO_OPS["tld4"].code
U8, S8, U16, S16, U32, S32, F16, F32 = range(len(I.FORMATS))
GREATEST = np.array([255, 127, 65535, 32767, 0, 0, 0, 0])
_WRAP, _CLAMP, _MIRROR, _BORDER = range(4)

TINY = 2.0**-126
FAR = 2.0**40
"""Coordinates beyond are outside, or whole turns of a texture that repeats."""
UNIT = 256
EXTRA_BITS = 4
"""Bits below the unit of the greatest texel that the others keep."""
JOINED_BITS = 2
"""More bits that the sums of two slices keep when they are added."""


@jit
def _index(i, size, mode):
    """The texel that stands at *i* in a dimension of *size* texels; -1: the border."""
    if 0 <= i < size:
        return i
    if mode == _CLAMP:
        return min(max(i, 0), size - 1)
    if mode == _WRAP:
        return i % size
    if mode == _MIRROR:
        i %= 2 * size
        return i if i < size else 2 * size - 1 - i
    return -1


@jit
def _texels(x, size, greatest, mode, normalized):
    """A float32 coordinate in texels (float64): denormals and NaN are zero, whole turns are taken off.

    *greatest*: the texture's greatest size decides how many bits a normalised coordinate has.
    """
    u = np.float64(x)
    if u != u or abs(u) < TINY:
        u = 0.0
    if math.isinf(u):
        return u if mode == _CLAMP or mode == _BORDER else 0.0
    if normalized:
        if abs(u) < FAR:
            steps = 2.0**21 if greatest <= 8192 else 2.0**22 if greatest <= 65536 else 2.0**23
            u = np.floor(u * steps) / steps
        if mode == _WRAP:
            u -= np.floor(u)
        elif mode == _MIRROR:
            u -= 2.0 * np.floor(0.5 * u)
        u *= size
    return u


@jit
def _position(x, offset, size, greatest, mode, normalized, linear):
    """Where a coordinate is, in 1/256 texel if *linear* (from the centre of texel 0), else a texel."""
    u = _texels(x, size, greatest, mode, normalized)
    if linear:
        u = u * UNIT + 0.5
    u = min(max(u, -FAR), FAR)
    position = np.int64(np.floor(u))
    if linear:
        return position - UNIT // 2 + offset * UNIT
    return position + offset


@jit
def _raw(at, x, y, z, layer, channel, s):
    """One component of a texel as it is in memory: integers with their sign, floats as bits.  -1: the border."""
    TEXTURES = s.TEXTURES
    if x < 0 or y < 0 or z < 0:
        return TEXTURES[at + I.X_BORDER + channel]
    address = (
        TEXTURES[at + I.X_BASE]
        + x * TEXTURES[at + I.X_STRIDE_X]
        + y * TEXTURES[at + I.X_STRIDE_Y]
        + z * TEXTURES[at + I.X_STRIDE_Z]
        + layer * TEXTURES[at + I.X_STRIDE_LAYER]
        + channel * TEXTURES[at + I.X_STRIDE_CHANNEL]
    )
    form = TEXTURES[at + I.X_FORMAT]
    if form == U8:
        return np.int64(s.M8[address])
    if form == S8:
        return (np.int64(s.M8[address]) << 56) >> 56
    if form == U16 or form == F16:
        return np.int64(s.M16[address >> 1])
    if form == S16:
        return (np.int64(s.M16[address >> 1]) << 48) >> 48
    return np.int64(s.M32[address >> 2])


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
def _half_to_single(raw):
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
def _weights(a, b, c, WEIGHTS):
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
def _blend_floats(form, WEIGHTS, TEXELS):
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
def _blend_integers(form, WEIGHTS, TEXELS):
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


@jit
def _put_fraction(slot, numerator, denominator, s):
    """Leave a normalised number as a float32."""
    s.O[slot] = 0
    s.O32[2 * slot] = np.float32(max(np.float64(numerator) / np.float64(denominator), -1.0))


@jit
def _put(slot, raw, at, s):
    """Leave one component of a texel as an instruction reads it."""
    form = s.TEXTURES[at + I.X_FORMAT]
    if s.TEXTURES[at + I.X_READ]:
        _put_fraction(slot, raw, GREATEST[form], s)
    elif form == F16:
        s.O[slot] = _half_to_single(raw)
    else:
        s.O[slot] = raw & 0xFFFFFFFF


@jit
def _cell(axis, bits, offset, known, at, linear, CELL, s):
    """Where one coordinate falls: CELL gets its texel, the next one and the fraction between them in 1/256."""
    TEXTURES = s.TEXTURES
    size = TEXTURES[at + I.X_WIDTH + axis]
    mode = TEXTURES[at + I.X_ADDRESS + axis]
    CELL[axis] = 0
    CELL[4 + axis] = 0
    CELL[8 + axis] = 0
    if not known:
        return
    s.O[127] = bits
    greatest = max(TEXTURES[at + I.X_WIDTH], TEXTURES[at + I.X_HEIGHT], TEXTURES[at + I.X_DEPTH])
    position = _position(s.O32[2 * 127], offset, size, greatest, mode, TEXTURES[at + I.X_NORMALIZED], linear)
    fraction = np.int64(0)
    i = position
    if linear:
        i = position >> 8
        fraction = position & (UNIT - 1)
        if mode == _CLAMP and (i < 0 or i >= size - 1):
            fraction = np.int64(0)
    CELL[axis] = _index(i, size, mode)
    CELL[4 + axis] = _index(i + 1, size, mode) if linear else CELL[axis]
    CELL[8 + axis] = fraction


@jit
def sample(lane, op, a, offsets, form, at, s):
    """``tex``, ``tld`` and ``tld4`` of one lane; results in ``s.O``, a row each."""
    TEXTURES = s.TEXTURES
    CELL = s.WORDS  # nothing else uses it meanwhile: cell, then weights, then texels
    WEIGHTS = s.WORDS[16:24]
    TEXELS = s.WORDS[24:32]
    R = s.R
    dims = (form >> 4) & 3
    layers = TEXTURES[at + I.X_LAYERS]
    layer = np.int64(0)
    inside = max(dims, 2) == max(TEXTURES[at + I.X_DIMS], 2)
    if (form >> 6) & 1 and layers > 0:
        layer = R[a + np.uint64(96 + lane)] & 0xFFFFFFFF
        inside &= op != TLD or layer < layers
        layer = min(layer, layers - 1)
    linear = op == TLD4 or (op == TEX and TEXTURES[at + I.X_FILTER] == 1)
    for axis in range(3):
        bits = R[a + np.uint64(32 * axis + lane)] & 0xFFFFFFFF
        if op == TLD:
            i = (bits << 32) >> 32 if axis < dims else np.int64(0)
            inside &= 0 <= i < TEXTURES[at + I.X_WIDTH + axis]
            CELL[axis] = i
        else:
            offset = (offsets << (60 - 4 * axis)) >> 60
            _cell(axis, bits, offset, axis < dims, at, linear, CELL, s)
    row = 0
    channels = TEXTURES[at + I.X_CHANNELS]
    if linear and op == TEX:
        _weights(CELL[8], CELL[9], CELL[10], WEIGHTS)
    for k in range(4):
        if not (form >> k) & 1:
            continue
        slot = 32 * row + lane
        row += 1
        if op == TLD4:
            channel = (form >> 7) & 3
            right = np.int64(k == 1 or k == 2)
            lower = np.int64(k < 2)
            if channel < channels:
                raw = _raw(at, CELL[4 * right], CELL[1 + 4 * lower], CELL[2], layer, channel, s)
                _put(slot, raw, at, s)
            else:
                s.O[slot] = 0
        elif k >= channels or not inside:
            s.O[slot] = 0
        elif linear:
            for corner in range(8):
                x = CELL[4 * (corner & 1)]
                y = CELL[1 + 4 * ((corner >> 1) & 1)]
                z = CELL[2 + 4 * (corner >> 2)]
                TEXELS[corner] = _raw(at, x, y, z, layer, k, s) if WEIGHTS[corner] > 0 else 0
            kind = TEXTURES[at + I.X_FORMAT]
            if kind >= F16:
                s.O[slot] = _blend_floats(kind, WEIGHTS, TEXELS)
            else:
                numerator, denominator = _blend_integers(kind, WEIGHTS, TEXELS)
                _put_fraction(slot, numerator, denominator, s)
        else:
            _put(slot, _raw(at, CELL[0], CELL[1], CELL[2], layer, k, s), at, s)


@jit
def query(lane, form, at, s):
    """``txq``: width, height (or, without, layers), depth (or layers), levels."""
    TEXTURES = s.TEXTURES
    dims = TEXTURES[at + I.X_DIMS]
    layers = TEXTURES[at + I.X_LAYERS]
    row = 0
    for k in range(4):
        if (form >> k) & 1:
            value = np.int64(1)
            if k < 3:
                value = TEXTURES[at + I.X_WIDTH + k] if k < max(dims, 2) else np.int64(0)
                if layers > 0 and k == dims:
                    value = layers
            s.O[32 * row + lane] = value
            row += 1
