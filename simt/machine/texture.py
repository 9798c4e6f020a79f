"""Textures: coordinates, texels, filters, as an H200 computes them bit by bit.

The arithmetic was derived from results of an H200 (tests/data/sass/h200/textures.npz).  A coordinate becomes a number
of texels with 8 fractional bits, halves rounded up; a normalised one is first cut to 21 to 23 fractional bits.
"""

from __future__ import annotations

import math

import numpy as np

from simt.machine import images as I
from simt.machine.cube import TINY, face_of, share_corner, texel_of
from simt.machine.texture_filter import (
    F16,
    S8,
    S16,
    U8,
    U16,
    UNIT,
    blend_floats,
    blend_integers,
    half_to_single,
    weights,
)
from simt.ops.encoding import CUBE
from simt.ops.jit import jit
from simt.ops.table import MICRO_OPS

TEX = MICRO_OPS["tex"].code
TLD = MICRO_OPS["tld"].code
TLD4 = MICRO_OPS["tld4"].code
GREATEST = np.array([255, 127, 65535, 32767, 0, 0, 0, 0])
_WRAP, _CLAMP, _MIRROR, _BORDER = range(4)

# Columns of CELL, by axis (x, y, z): the texel that a coordinate falls into, the next one, the fraction in 1/256.
TEXEL, NEXT, FRACTION = 0, 4, 8
X, Y, Z = 0, 1, 2

_SPARE = 127
"""A place in O that no result takes: for bits that are read as a float32."""

FAR = 2.0**40
"""Coordinates beyond are outside, or whole turns of a texture that repeats."""


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
    """A coordinate, a float32 (as float64), in texels: denormals and NaN are zero, whole turns are taken off.

    *greatest*: the texture's greatest size decides how many bits a normalised coordinate has.
    """
    u = x
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
def _texel(at, x, y, z, layer, s):
    """Arena position of a texel."""
    return (
        s.TEXTURES[at + I.X_BASE]
        + x * s.TEXTURES[at + I.X_STRIDE_X]
        + y * s.TEXTURES[at + I.X_STRIDE_Y]
        + z * s.TEXTURES[at + I.X_STRIDE_Z]
        + layer * s.TEXTURES[at + I.X_STRIDE_LAYER]
    )


@jit
def _raw(at, x, y, z, layer, channel, s):
    """One component of a texel as it is in memory: integers with their sign, floats as bits.  -1: the border."""
    TEXTURES = s.TEXTURES
    if x < 0 or y < 0 or z < 0:
        return TEXTURES[at + I.X_BORDER + channel]
    address = _texel(at, x, y, z, layer, s) + channel * TEXTURES[at + I.X_STRIDE_CHANNEL]
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
        s.O[slot] = half_to_single(raw)
    else:
        s.O[slot] = raw & 0xFFFFFFFF


@jit
def _put_blend(slot, at, WEIGHTS, TEXELS, s):
    """Leave what a linear filter makes of eight texels, as a float32."""
    kind = s.TEXTURES[at + I.X_FORMAT]
    if kind >= F16:
        s.O[slot] = blend_floats(kind, WEIGHTS, TEXELS)
    else:
        numerator, denominator = blend_integers(kind, WEIGHTS, TEXELS)
        _put_fraction(slot, numerator, denominator, s)


@jit
def _cell(axis, bits, offset, known, at, linear, CELL, s):
    """Where one coordinate falls: CELL gets its texel, the next one and the fraction between them in 1/256."""
    TEXTURES = s.TEXTURES
    size = TEXTURES[at + I.X_WIDTH + axis]
    mode = TEXTURES[at + I.X_ADDRESS + axis]
    CELL[TEXEL + axis] = 0
    CELL[NEXT + axis] = 0
    CELL[FRACTION + axis] = 0
    if not known:
        return
    s.O[_SPARE] = bits
    greatest = max(TEXTURES[at + I.X_WIDTH], TEXTURES[at + I.X_HEIGHT], TEXTURES[at + I.X_DEPTH])
    position = _position(
        np.float64(s.O32[2 * _SPARE]), offset, size, greatest, mode, TEXTURES[at + I.X_NORMALIZED], linear
    )
    fraction = np.int64(0)
    i = position
    if linear:
        i = position >> 8
        fraction = position & (UNIT - 1)
        if mode == _CLAMP and (i < 0 or i >= size - 1):
            fraction = np.int64(0)
    CELL[TEXEL + axis] = _index(i, size, mode)
    CELL[NEXT + axis] = _index(i + 1, size, mode) if linear else CELL[TEXEL + axis]
    CELL[FRACTION + axis] = fraction


@jit
def _coordinate(lane, a, axis, s):
    """A float32 coordinate, as float64."""
    s.O[_SPARE] = s.R[a + np.uint64(32 * axis + lane)] & 0xFFFFFFFF
    return np.float64(s.O32[2 * _SPARE])


@jit
def _cube_cell(lane, a, at, linear, CELL, s):
    """Cells of a direction on the face that it meets."""
    TEXTURES = s.TEXTURES
    x = _coordinate(lane, a, 0, s)
    y = _coordinate(lane, a, 1, s)
    face, x, y = face_of(x, y, _coordinate(lane, a, 2, s))
    size = TEXTURES[at + I.X_WIDTH]
    seamless = linear and TEXTURES[at + I.X_CUBE] == 2 and TEXTURES[at + I.X_FILTER] == 1
    for axis in range(2):
        mode = np.int64(_CLAMP) if seamless else TEXTURES[at + I.X_ADDRESS + axis]
        u = 0.5 * ((x if axis == 0 else y) + 1.0)
        position = _position(u, np.int64(0), size, size, mode, np.int64(1), linear)
        fraction = np.int64(0)
        i = position
        if linear:
            if seamless:
                position = min(max(position, -(UNIT // 2)), size * UNIT - UNIT // 2)
            i = position >> 8
            fraction = position & (UNIT - 1)
            if not seamless and mode == _CLAMP and (i < 0 or i >= size - 1):
                fraction = np.int64(0)
        CELL[TEXEL + axis] = i if seamless else _index(i, size, mode)
        CELL[NEXT + axis] = CELL[TEXEL + axis]
        if linear:
            CELL[NEXT + axis] = i + 1 if seamless else _index(i + 1, size, mode)
        CELL[FRACTION + axis] = fraction
    CELL[TEXEL + Z] = face
    CELL[NEXT + Z] = face
    CELL[FRACTION + Z] = 0


@jit
def _unpack(place, at, s):
    """Column, row and face of a texel of a cube map."""
    size = s.TEXTURES[at + I.X_WIDTH]
    return place % size, place // size % size, place // (size * size)


@jit
def _cross_edges(at, CELL, WEIGHTS, PLACES, s):
    """A seamless cell: PLACES gets its four texels, maybe of other faces; the weight beyond a corner is shared out."""
    size = s.TEXTURES[at + I.X_WIDTH]
    for corner in range(4):
        x = CELL[X + NEXT * (corner & 1)]
        y = CELL[Y + NEXT * (corner >> 1)]
        PLACES[corner] = texel_of(CELL[TEXEL + Z], x, y, size, PLACES[4:7])
        if PLACES[corner] < 0:
            share_corner(WEIGHTS, corner)


@jit
def sample(lane, op, a, offsets, form, at, s):
    """``tex``, ``tld`` and ``tld4`` of one lane; results in ``s.O``, a row each.

    Returns the arena position of the first texel of its cell, -1 if that is outside.
    """
    TEXTURES = s.TEXTURES
    CELL = s.WORDS  # nothing else uses it meanwhile: cell, then weights, then texels
    WEIGHTS = s.WORDS[16:24]
    TEXELS = s.WORDS[24:32]
    PLACES = s.WORDS[32:39]
    R = s.R
    dims = (form >> 4) & 3
    layers = TEXTURES[at + I.X_LAYERS]
    layer = np.int64(0)
    inside = max(dims, 2) == max(TEXTURES[at + I.X_DIMS], 2)
    if dims == CUBE:
        inside = TEXTURES[at + I.X_CUBE] != 0
    if (form >> 6) & 1 and layers > 0:
        layer = R[a + np.uint64(96 + lane)] & 0xFFFFFFFF
        inside &= op != TLD or layer < layers
        layer = min(layer, layers - 1)
    linear = op == TLD4 or (op == TEX and TEXTURES[at + I.X_FILTER] == 1)
    if dims == CUBE:
        _cube_cell(lane, a, at, linear, CELL, s)
    for axis in range(3 if dims != CUBE else 0):
        bits = R[a + np.uint64(32 * axis + lane)] & 0xFFFFFFFF
        if op == TLD:
            i = (bits << 32) >> 32 if axis < dims else np.int64(0)
            inside &= 0 <= i < TEXTURES[at + I.X_WIDTH + axis]
            CELL[TEXEL + axis] = i
        else:
            offset = (offsets << (60 - 4 * axis)) >> 60
            _cell(axis, bits, offset, axis < dims, at, linear, CELL, s)
    row = 0
    channels = TEXTURES[at + I.X_CHANNELS]
    if linear:
        weights(CELL[FRACTION + X], CELL[FRACTION + Y], CELL[FRACTION + Z], WEIGHTS)
    crossing = linear and dims == CUBE and TEXTURES[at + I.X_CUBE] == 2 and TEXTURES[at + I.X_FILTER] == 1
    if crossing:
        _cross_edges(at, CELL, WEIGHTS, PLACES, s)
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
                x, y, z = CELL[X + NEXT * right], CELL[Y + NEXT * lower], CELL[TEXEL + Z]
                place = right + 2 * lower
                if crossing and PLACES[place] < 0:
                    for corner in range(8):
                        WEIGHTS[corner] = UNIT if corner == place else 0
                    share_corner(WEIGHTS, place)
                    for corner in range(4):
                        x, y, z = _unpack(PLACES[corner], at, s)
                        TEXELS[corner] = _raw(at, x, y, z, layer, channel, s) if WEIGHTS[corner] > 0 else 0
                    _put_blend(slot, at, WEIGHTS, TEXELS, s)
                    continue
                if crossing:
                    x, y, z = _unpack(PLACES[place], at, s)
                _put(slot, _raw(at, x, y, z, layer, channel, s), at, s)
            else:
                s.O[slot] = 0
        elif k >= channels or not inside:
            s.O[slot] = 0
        elif linear:
            for corner in range(8):
                x = CELL[X + NEXT * (corner & 1)]
                y = CELL[Y + NEXT * ((corner >> 1) & 1)]
                z = CELL[Z + NEXT * (corner >> 2)]
                if crossing:
                    x, y, z = _unpack(PLACES[corner & 3], at, s)
                TEXELS[corner] = _raw(at, x, y, z, layer, k, s) if WEIGHTS[corner] > 0 else 0
            _put_blend(slot, at, WEIGHTS, TEXELS, s)
        else:
            _put(slot, _raw(at, CELL[X], CELL[Y], CELL[Z], layer, k, s), at, s)
    x, y, z = CELL[X], CELL[Y], CELL[Z]
    return _texel(at, x, y, z, layer, s) if inside and min(x, y, z) >= 0 else np.int64(-1)


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
