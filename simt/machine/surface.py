"""Surfaces: where an access goes, and the bytes that it reads or writes, as on an H200."""

from __future__ import annotations

import numpy as np

from simt.machine import images as I
from simt.machine.texture import GREATEST
from simt.machine.texture_filter import F16, F32, S8, S16, U8, U16, half_to_single, parts
from simt.ops.encoding import MEMORY_TYPES, Boundary
from simt.ops.jit import jit

BYTES = np.array([np.dtype(name).itemsize for name in I.FORMATS])
SIZES = np.array([size for _, size in MEMORY_TYPES.values()])
V2, V4 = MEMORY_TYPES["v2"][0], MEMORY_TYPES["v4"][0]
_TO_EDGE = Boundary.CLAMP.value
_SIGNED_8, _SIGNED_16 = MEMORY_TYPES["s8"][0], MEMORY_TYPES["s16"][0]


@jit
def place(a, lane, size, form, at, s):
    """Arena position of one lane's access of a surface; -1: outside, -2: x is not a multiple of the access."""
    TEXTURES = s.TEXTURES
    R = s.R
    dims = form & 3
    clamps = (form >> 3) & 3 == _TO_EDGE
    texel = TEXTURES[at + I.X_CHANNELS] * BYTES[TEXTURES[at + I.X_FORMAT]]
    x = (R[a + np.uint64(lane)] << 32) >> 32
    if not (form >> 5) & 1:
        x *= texel
    elif x & (size - 1):
        return np.int64(-2)
    last = (TEXTURES[at + I.X_WIDTH] * texel - size) // size * size
    if x < 0 or x > last:
        if not clamps or last < 0:
            return np.int64(-1)
        x = min(max(x, 0), last)
    position = TEXTURES[at + I.X_BASE] + x
    for k in range(1, dims + ((form >> 2) & 1)):
        axis = 3 if k == dims else k
        i = R[a + np.uint64(32 * k + lane)]
        i = i & 0xFFFF if axis == 3 else (i << 32) >> 32
        limit = max(TEXTURES[at + I.X_WIDTH + axis], 1)
        if i < 0 or i >= limit:
            if not clamps:
                return np.int64(-1)
            i = min(max(i, 0), limit - 1)
        position += i * TEXTURES[at + I.X_STRIDE_X + axis]
    return position


@jit
def load(mod, lane, position, s):
    """``suld`` of one lane."""
    if mod == V2 or mod == V4:
        for part in range(2 if mod == V2 else 4):
            s.O[32 * part + lane] = np.int64(s.M32[(position >> 2) + part])
        return
    value = np.int64(0)
    size = SIZES[mod]
    for k in range(size):
        value |= np.int64(s.M8[position + k]) << (8 * k)
    if mod == _SIGNED_8:
        value = ((value << 56) >> 56) & 0xFFFFFFFF
    elif mod == _SIGNED_16:
        value = ((value << 48) >> 48) & 0xFFFFFFFF
    s.O[lane] = value


@jit
def load_formatted(lane, position, at, s):
    """``suld`` of four components as a texture's elements read; those that the surface lacks are zero."""
    kind = s.TEXTURES[at + I.X_FORMAT]
    for channel in range(4):
        value = np.int64(0)
        if channel < s.TEXTURES[at + I.X_CHANNELS]:
            for k in range(BYTES[kind]):
                value |= np.int64(s.M8[position + channel * BYTES[kind] + k]) << (8 * k)
            if kind == F16:
                value = half_to_single(value)
            elif kind == S8 or kind == S16:
                shift = 64 - 8 * BYTES[kind]
                value = ((value << shift) >> shift) & 0xFFFFFFFF
        s.O[32 * channel + lane] = value


@jit
def _cut_half(bits):
    """Bits of the float16 below a float32 in magnitude (rounded towards zero); a NaN keeps its upper payload."""
    significand, exponent, sign = parts(bits, F32)
    if (bits >> 23) & 255 == 255:
        return (sign << 15) | 0x7C00 | ((bits & 0x7FFFFF) >> 13)
    if exponent + 23 > 15:
        return (sign << 15) | 0x7BFF
    if exponent + 23 < -14:
        return (sign << 15) | (significand >> min(-24 - exponent, 62))
    return (sign << 15) | ((exponent + 38) << 10) | ((significand >> 13) & 1023)


@jit
def _converted(bits, form):
    """One component of a formatted store: integers saturated."""
    if form == F16:
        return _cut_half(bits)
    if form == U8 or form == U16:
        return min(bits, GREATEST[form])
    if form == S8 or form == S16:
        return min(max((bits << 32) >> 32, -GREATEST[form] - 1), GREATEST[form])
    return bits


@jit
def store(mod, lane, c, position, form, at, s):
    """``sust`` of one lane; byte by byte, since texels have any size."""
    TEXTURES = s.TEXTURES
    if (form >> 6) & 1:
        kind = TEXTURES[at + I.X_FORMAT]
        for channel in range(TEXTURES[at + I.X_CHANNELS]):
            value = _converted(s.R[c + np.uint64(32 * channel + lane)] & 0xFFFFFFFF, kind)
            for k in range(BYTES[kind]):
                s.M8[position + channel * BYTES[kind] + k] = np.uint8((value >> (8 * k)) & 0xFF)
        return
    size = SIZES[mod]
    for k in range(size):
        value = s.R[c + np.uint64(32 * (k >> 2) + lane)]
        s.M8[position + k] = np.uint8((value >> (8 * (k & 3))) & 0xFF)
