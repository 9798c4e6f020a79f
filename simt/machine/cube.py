"""Cube maps: the face that a direction meets, the place on it, and the texels beyond its edges, as on an H200.

The face is that of the greatest component (z before y before x where they are equal; NaN is the least).  The compiler
has divided the direction by that component, so the place on the face is (s + 1) / 2, and goes on as the normalised
coordinate of a two-dimensional texture.  A seamless filter takes the texels next to an edge from the next face; at a
corner, where three faces meet, the weight of the missing fourth texel goes to the other three by thirds.  Found in
28 recordings of an H200 (tests/data/sass/h200/cubes.npz).
"""

from __future__ import annotations

import math

import numpy as np

from simt.ops.jit import jit

TINY = 2.0**-126
_S_AXIS = np.array([2, 2, 0, 0, 0, 0])
_S_SIGN = np.array([-1, 1, 1, 1, 1, -1])
_T_AXIS = np.array([1, 1, 2, 2, 1, 1])
_T_SIGN = np.array([-1, -1, 1, -1, -1, -1])
"""Of each face (x, -x, y, -y, z, -z): which component of a direction runs along its x and y, and which way."""


@jit
def _component(x):
    """A component and its size: denormals are zero, and so is NaN, which is less than any."""
    u = np.float64(x)
    if math.isnan(u):
        return 0.0, -1.0
    if abs(u) < TINY:
        u = 0.0
    return u, abs(u)


@jit
def face_of(x, y, z):
    """The face of a direction (float32), and the coordinates on it (float64, from -1 to 1)."""
    x, size_x = _component(x)
    y, size_y = _component(y)
    z, size_z = _component(z)
    if size_z >= size_x and size_z >= size_y:
        return (5, -x, -y) if z < 0.0 else (4, x, -y)
    if size_y >= size_x:
        return (3, x, -z) if y < 0.0 else (2, x, z)
    return (1, z, -y) if x < 0.0 else (0, -z, -y)


@jit
def texel_of(face, i, j, size, P):
    """The texel at column *i* and row *j* of a face, or of the next one: (face * size + row) * size + column.

    -1 if both are beyond the edge: a corner.  P (int64) is room for three numbers.
    """
    outside_i = i < 0 or i >= size
    outside_j = j < 0 or j >= size
    if outside_i and outside_j:
        return np.int64(-1)
    if outside_i or outside_j:
        # Twice the texel's centre, from the middle of the cube; what left the face is on the next one's outermost row.
        major = face >> 1
        P[major] = (size - 1) * (1 - 2 * (face & 1))
        P[_S_AXIS[face]] = _S_SIGN[face] * (2 * i + 1 - size)
        P[_T_AXIS[face]] = _T_SIGN[face] * (2 * j + 1 - size)
        major = _S_AXIS[face] if outside_i else _T_AXIS[face]
        face = 2 * major + np.int64(P[major] < 0)
        i = (_S_SIGN[face] * P[_S_AXIS[face]] + size - 1) >> 1
        j = (_T_SIGN[face] * P[_T_AXIS[face]] + size - 1) >> 1
    return (face * size + j) * size + i


@jit
def share_corner(WEIGHTS, missing):
    """Give the weight of texel *missing* (2 * row + column) to the other three: thirds, the rest to the inner one."""
    weight = WEIGHTS[missing]
    third = (weight + 1) // 3
    WEIGHTS[missing] = 0
    WEIGHTS[missing ^ 1] += third
    WEIGHTS[missing ^ 2] += third
    WEIGHTS[missing ^ 3] += weight - 2 * third
