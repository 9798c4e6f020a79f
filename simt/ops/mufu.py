"""The multi-function unit (MUFU), bit by bit as in an H200.

The unit is the interpolator that Oberman and Siu describe ("A High-Performance Area-Efficient Multifunction
Interpolator", ARITH 2005): the upper bits of the argument select three coefficients, the lower bits *x* (17 of them;
16 for RCP) give ``c0 + c1 * x + c2 * square(x)``, which is cut, not rounded, to the result.  ``square`` is a folded
array of partial products without its 19 lowest columns.  The published description leaves the coefficients and the
cuts open.  They were found from the results of an H200: for each segment just one pair of integers c1, c2 gives all of
its results; mufu.csv holds these and the least c0, in units of 2**-40.

All 2**32 operands of all ten functions give the H200's bits (tests/data/hardware/mufu.json; compute capability 9.0,
the only one measured: other GPUs may have other tables).
"""

from __future__ import annotations

import csv
from importlib import resources

import numpy as np

from simt.ops.encoding import MUFU_FUNCTIONS
from simt.ops.jit import jit
from simt.ops.softfloat import leading_zeros

_NUMBERS = {name: number for number, name in enumerate(MUFU_FUNCTIONS)}
RCP = _NUMBERS["rcp"]
RSQ = _NUMBERS["rsq"]
SQRT = _NUMBERS["sqrt"]
EX2 = _NUMBERS["ex2"]
LG2 = _NUMBERS["lg2"]
SIN = _NUMBERS["sin"]
COS = _NUMBERS["cos"]
TANH = _NUMBERS["tanh"]
RCP64H = _NUMBERS["rcp64h"]

NAN = np.int64(0x7FFFFFFF)
INFINITY = np.int64(0x7F800000)
ONE = np.int64(0x3F800000)
SIGN = np.int64(0x80000000)
INFINITY_64H = np.int64(0x7FF00000)
FRACTION = np.int64(0x7FFFFF)
LOW = np.int64(0x1FFFF)
UNIT = np.int64(1 << 40)
LG2_UNIT = np.int64(1 << 4)  # the logarithm is a multiple of 2**-36

# tanh has a uniform grid in each binade: 2**_TANH_SEGMENTS segments of 2**17 steps.
_TANH_FIRST_EXPONENT = 119  # |x| < 2**-8: the result is x
_TANH_END_EXPONENT = 130  # |x| >= 8: the result is 1
_TANH_SEGMENTS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3])
_TANH_START = np.concatenate([[0], np.cumsum(1 << _TANH_SEGMENTS)[:-1]])


def _tables() -> tuple[np.ndarray, dict[str, int]]:
    """Coefficients of all segments, int64 of shape (segments, 3), and the first segment of each table."""
    text = resources.files(__package__).joinpath("mufu.csv").read_text(encoding="ascii")
    rows = list(csv.DictReader(text.splitlines()))
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        first.setdefault(row["table"], number)
    return np.array([[int(row[name]) for name in ("c0", "c1", "c2")] for row in rows], np.int64), first


_COEFFICIENTS, _FIRST = _tables()
_RCP = _FIRST["rcp"]
_RSQ = _FIRST["rsq"]
_RSQ_EVEN = _FIRST["rsq.even"]
_SQRT = _FIRST["sqrt"]
_SQRT_EVEN = _FIRST["sqrt.even"]
_EX2 = _FIRST["ex2"]
_LG2 = _FIRST["lg2"]
_SIN = _FIRST["sin"]
_TANH = _FIRST["tanh"]


@jit
def square(x):
    """The unit's square of a 17-bit number, in units of 2**19."""
    total = np.int64(0)
    for i in range(2, 17):
        lowest = max(i + 1, 18 - i)
        row = ((x >> lowest) << (lowest + i + 1)) + (np.int64(1) << (2 * i) if i >= 10 else np.int64(0))
        total += row * ((x >> i) & 1)
    return total >> 19


@jit
def _interpolate(table, index):
    """The value, in units of 2**-40, at *index* of a table with segments of 2**17 points."""
    segment = table + (index >> 17)
    x = index & LOW
    return _COEFFICIENTS[segment, 0] + _COEFFICIENTS[segment, 1] * x + _COEFFICIENTS[segment, 2] * square(x)


@jit
def _reciprocal(fraction):
    """1 / (1 + fraction * 2**-23) in units of 2**-40; 128 segments, so x has 16 bits, aligned left."""
    segment = _RCP + (fraction >> 16)
    x = fraction & 0xFFFF
    return _COEFFICIENTS[segment, 0] + _COEFFICIENTS[segment, 1] * x + _COEFFICIENTS[segment, 2] * square(x << 1)


@jit
def _reciprocal_root(odd, fraction):
    """1 / sqrt((1 or 2) * (1 + fraction * 2**-23)): 1 for an odd biased exponent, and exact powers stay exact."""
    if odd == 0:
        return _interpolate(_RSQ_EVEN, fraction)
    return UNIT if fraction == 0 else _interpolate(_RSQ, fraction)


@jit
def _half(x):
    """x / 2 rounded up: the exponent of a square root's argument."""
    return (x + 1) >> 1


@jit
def _float32(value, exponent):
    """``value * 2**(exponent - 40)``, not negative, cut to float32; what would be denormal is zero."""
    if value <= 0:
        return np.int64(0)
    highest = 63 - leading_zeros(np.uint64(value))
    biased = highest - 40 + exponent + 127
    if biased <= 0:
        return np.int64(0)
    if biased >= 255:
        return INFINITY
    fraction = value >> (highest - 23) if highest >= 23 else value << (23 - highest)
    return (biased << 23) | (fraction & FRACTION)


@jit
def _upper_word(value, exponent):
    """The upper word of the float64 ``value * 2**(exponent - 40)``, 0.5 <= value * 2**-40 < 2, cut; no denormals."""
    highest = 40 if value >= UNIT else 39
    biased = highest - 40 + exponent + 1023
    return np.int64(0) if biased <= 0 else (biased << 20) | ((value >> (highest - 20)) & 0xFFFFF)


@jit
def _fixed(magnitude, scale):
    """The integer part of ``|x| * 2**scale`` for a float32 that fits; a denormal counts as zero."""
    exponent = magnitude >> 23
    shift = exponent - 150 + scale
    if exponent == 0 or shift <= -24:
        return np.int64(0)
    significand = (magnitude & FRACTION) | (FRACTION + 1)
    return significand << shift if shift >= 0 else significand >> -shift


@jit
def _power_of_two(sign, magnitude):
    """2 ** x.  x becomes a multiple of 2**-23 towards zero; a negative fraction is the complement of its bits."""
    if magnitude >= 0x43000000:  # 128
        return np.int64(0) if sign else INFINITY
    x = _fixed(magnitude, 23)
    if sign:
        x = ~x if x & FRACTION else -x
    return _float32(_interpolate(_EX2, x & FRACTION), x >> 23)


@jit
def _logarithm(sign, magnitude):
    """log2(x): a multiple of 2**-36; a negative one is the complement of its bits."""
    exponent = magnitude >> 23
    if exponent == 0:
        return SIGN | INFINITY
    if sign:
        return NAN
    if magnitude == INFINITY:
        return INFINITY
    if magnitude == ONE:
        return np.int64(0)
    value = ((exponent - 127) << 40) + (_interpolate(_LG2, magnitude & FRACTION) & -LG2_UNIT)
    return _float32(value, 0) if value >= 0 else SIGN | _float32(-value - LG2_UNIT, 0)


@jit
def _sine(sign, magnitude, quarters):
    """sin of x turns plus *quarters* of one.  |x| becomes a multiple of 2**-25; odd quarters complement its bits."""
    if magnitude == INFINITY:
        return NAN
    x = _fixed(magnitude, 25) if magnitude < 0x4B000000 else np.int64(0)  # 2**23: whole turns
    quarter = (x >> 23) + quarters
    index = x & FRACTION
    if quarter & 1:
        index ^= FRACTION
    return _float32(_interpolate(_SIN, index), 0) | (sign ^ ((quarter & 2) << 30))


@jit
def _hyperbolic_tangent(magnitude):
    """tanh(x), x >= 0."""
    exponent = magnitude >> 23
    if exponent < _TANH_FIRST_EXPONENT:
        return magnitude
    if exponent >= _TANH_END_EXPONENT:
        return ONE
    binade = exponent - _TANH_FIRST_EXPONENT
    index = (magnitude & FRACTION) >> (6 - _TANH_SEGMENTS[binade])
    return _float32(_interpolate(_TANH + _TANH_START[binade], index), 0)


@jit
def _upper(function, sign, magnitude):
    """RCP64H and RSQ64H: the upper word of a float64 from the upper word of its operand."""
    if magnitude > INFINITY_64H:
        return NAN
    exponent = magnitude >> 20
    if exponent == 0:
        return sign | INFINITY_64H
    fraction = (magnitude & 0xFFFFF) << 3
    if function == RCP64H:
        return sign if magnitude == INFINITY_64H else sign | _upper_word(_reciprocal(fraction), 1023 - exponent)
    if sign:
        return NAN
    if magnitude == INFINITY_64H:
        return np.int64(0)
    return _upper_word(_reciprocal_root(exponent & 1, fraction), _half(1023 - exponent))


@jit
def approximation(function, bits):
    """Function number *function* (MUFU_FUNCTIONS) of a 32-bit register, both zero-extended to int64."""
    sign = bits & SIGN
    magnitude = bits & ~SIGN
    if function >= RCP64H:
        return _upper(function, sign, magnitude)
    if magnitude > INFINITY:
        return NAN
    exponent = magnitude >> 23
    fraction = magnitude & FRACTION
    if function == RCP:
        if exponent == 0:
            return sign | INFINITY
        return sign if magnitude == INFINITY else sign | _float32(_reciprocal(fraction), 127 - exponent)
    if function == RSQ or function == SQRT:
        if exponent == 0:
            return sign | INFINITY if function == RSQ else sign
        if sign:
            return NAN
        if magnitude == INFINITY:
            return np.int64(0) if function == RSQ else INFINITY
        odd = exponent & 1
        if function == RSQ:
            return _float32(_reciprocal_root(odd, fraction), _half(127 - exponent))
        return _float32(_interpolate(_SQRT if odd else _SQRT_EVEN, fraction), (exponent - 127) >> 1)
    if function == EX2:
        return _power_of_two(sign, magnitude)
    if function == LG2:
        return _logarithm(sign, magnitude)
    if function == SIN:
        return _sine(sign, magnitude, 0)
    if function == COS:
        return _sine(np.int64(0), magnitude, 1)
    return sign | _hyperbolic_tangent(magnitude)
