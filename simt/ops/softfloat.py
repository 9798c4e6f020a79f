"""IEEE arithmetic in integers, for what the host's floating-point unit cannot do: directed roundings, 16-bit formats.

A number is taken apart into ``m * 2**e`` with *m* a uint64; sums and products are exact in 128 bits, except for
bits that can only matter as "not zero" (the sticky bit), and one function rounds and packs.  NaN results are
those of NVIDIA GPUs: 0x7fffffff (float32), 0x7fff (float16, bfloat16); float64 keeps the payload of its first NaN
operand.
"""

from __future__ import annotations

import numpy as np

from simt.ops.encoding import INTEGER_TYPES, ROUNDED_FORMATS, ROUNDINGS
from simt.ops.jit import jit
from simt.ops.scalar import multiply_wide

F16 = ROUNDED_FORMATS.index("f16")
F32 = ROUNDED_FORMATS.index("f32")
F64 = ROUNDED_FORMATS.index("f64")
RN = ROUNDINGS.index("rn")
RM = ROUNDINGS.index("rm")
RP = ROUNDINGS.index("rp")

ZERO, FINITE, INFINITE, NAN = range(4)

_PRECISION = np.array([11, 24, 53, 8])  # bits of the significand, the hidden one included
_LEAST = np.array([-14, -126, -1022, -126])  # exponent of the smallest normal number
_BITS = np.array([16, 32, 64, 16])
_NAN = np.array([0x7FFF, 0x7FFFFFFF, -(2**51), 0x7FFF])
_INTEGER_BITS = np.array([int(name[1:]) for name in INTEGER_TYPES])
_INTEGER_SIGNED = np.array([name[0] == "s" for name in INTEGER_TYPES])

_TOP = np.uint64(1 << 63)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@jit
def leading_zeros(x):
    """Zero bits above the highest one bit of a uint64; 64 for 0."""
    if x == _ZERO:
        return np.int64(64)
    count = np.int64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if x >> np.uint64(64 - step) == _ZERO:
            x = x << np.uint64(step)
            count += step
    return count


@jit
def _shift_right(high, low, n):
    """128-bit shift to the right; lost one bits leave the lowest bit set (sticky)."""
    if n == 0:
        return high, low
    if n >= 128:
        return _ZERO, _ONE if (high | low) != _ZERO else _ZERO
    if n >= 64:
        low, lost = high, low
        high = _ZERO
        n -= 64
        sticky = lost != _ZERO
        if n == 0:
            return high, low | _ONE if sticky else low
    else:
        sticky = False
    k = np.uint64(n)
    back = np.uint64(64 - n)
    sticky = sticky or (low << back) != _ZERO
    low = (low >> k) | (high << back)
    return high >> k, low | _ONE if sticky else low


@jit
def unpack(bits, form):
    """Kind, sign (0 or 1), *e* and *m* of a number; m has its highest one at bit 62 unless it is zero."""
    precision = _PRECISION[form]
    width = _BITS[form]
    x = np.uint64(bits)
    fraction = x & ((_ONE << np.uint64(precision - 1)) - _ONE)
    exponent = np.int64((x >> np.uint64(precision - 1)) & ((_ONE << np.uint64(width - precision)) - _ONE))
    sign = np.int64((x >> np.uint64(width - 1)) & _ONE)
    if exponent == (np.int64(1) << (width - precision)) - 1:
        return (INFINITE if fraction == _ZERO else NAN), sign, np.int64(0), fraction
    if exponent == 0:
        if fraction == _ZERO:
            return ZERO, sign, np.int64(0), fraction
        exponent = np.int64(1)
    else:
        fraction |= _ONE << np.uint64(precision - 1)
    shift = leading_zeros(fraction) - 1
    e = _LEAST[form] + exponent - 1 - (precision - 1) - shift
    return FINITE, sign, e, fraction << np.uint64(shift)


@jit
def pack(form, sign, exponent, significand, rounding):
    """The number of a format nearest (as *rounding* says) to 1.xxx * 2**exponent, as its bits.

    ``significand``: uint64 with its highest bit set, the lowest one sticky.
    """
    precision = _PRECISION[form]
    width = _BITS[form]
    least = _LEAST[form]
    drop = 64 - precision
    tiny = exponent < least
    if tiny:
        drop += least - exponent
    if drop > 64:
        kept = _ZERO
        rest = _ONE
        half = np.uint64(2)
    elif drop == 64:
        kept = _ZERO
        rest = significand
        half = _TOP
    else:
        kept = significand >> np.uint64(drop)
        rest = significand & ((_ONE << np.uint64(drop)) - _ONE)
        half = _ONE << np.uint64(drop - 1)
    if rounding == RN:
        up = rest > half or (rest == half and (kept & _ONE) != _ZERO)
    elif rounding == RM:
        up = sign == 1 and rest != _ZERO
    elif rounding == RP:
        up = sign == 0 and rest != _ZERO
    else:
        up = False
    if up:
        kept += _ONE
    top = np.uint64(sign) << np.uint64(width - 1)
    if tiny:  # rounding up to the smallest normal number gives its bits, too
        return np.int64(top | kept)
    if kept >> np.uint64(precision) != _ZERO:
        kept = kept >> _ONE
        exponent += 1
    infinity = ((_ONE << np.uint64(width - precision)) - _ONE) << np.uint64(precision - 1)
    if exponent > 1 - least:
        away = rounding == RN or (rounding == RM and sign == 1) or (rounding == RP and sign == 0)
        return np.int64(top | (infinity if away else infinity - _ONE))
    biased = np.uint64(exponent - least + 1) << np.uint64(precision - 1)
    return np.int64(top | biased | (kept & ((_ONE << np.uint64(precision - 1)) - _ONE)))


@jit
def _special(form, sign, kind):
    """Zero or infinity of a format."""
    top = np.uint64(sign) << np.uint64(_BITS[form] - 1)
    if kind == ZERO:
        return np.int64(top)
    ones = (_ONE << np.uint64(_BITS[form] - _PRECISION[form])) - _ONE
    return np.int64(top | (ones << np.uint64(_PRECISION[form] - 1)))


@jit
def _nan(form, a, b, c):
    """The NaN that an operation on a, b and c gives."""
    if form == F64:
        for x in (a, b, c):
            if unpack(x, form)[0] == NAN:
                return x | np.int64(1 << 51)
    return _NAN[form]


@jit
def fused(a, b, c, imm):
    """``a * b + c`` with one rounding, on bits."""
    form = imm & 3
    rounding = (imm >> 2) & 3
    kind_a, sign_a, ea, ma = unpack(a, form)
    kind_b, sign_b, eb, mb = unpack(b, form)
    kind_c, sign_c, ec, mc = unpack(c, form)
    sign = sign_a ^ sign_b
    if kind_a == NAN or kind_b == NAN or kind_c == NAN:
        return _nan(form, a, b, c)
    if kind_a == INFINITE or kind_b == INFINITE:
        if kind_a == ZERO or kind_b == ZERO or (kind_c == INFINITE and sign != sign_c):
            return _NAN[form]
        return _special(form, sign, INFINITE)
    if kind_c == INFINITE:
        return _special(form, sign_c, INFINITE)
    if kind_a == ZERO or kind_b == ZERO:
        if kind_c == ZERO:
            if sign != sign_c:
                sign = np.int64(1) if rounding == RM else np.int64(0)
            return _special(form, sign, ZERO)
        return pack(form, sign_c, ec + 62, mc << _ONE, rounding)
    high, low = multiply_wide(ma, mb)
    e = ea + eb
    if kind_c != ZERO:
        c_high = mc >> _ONE
        c_low = mc << np.uint64(63)
        ec -= 63
        if e >= ec:
            c_high, c_low = _shift_right(c_high, c_low, e - ec)
        else:
            high, low = _shift_right(high, low, ec - e)
            e = ec
        if sign == sign_c:
            total = low + c_low
            high = high + c_high + (_ONE if total < low else _ZERO)
            low = total
        elif high > c_high or (high == c_high and low >= c_low):
            high = high - c_high - (_ONE if low < c_low else _ZERO)
            low = low - c_low
        else:
            high = c_high - high - (_ONE if c_low < low else _ZERO)
            low = c_low - low
            sign = sign_c
        if (high | low) == _ZERO:
            return _special(form, np.int64(1) if rounding == RM else np.int64(0), ZERO)
    return _round_wide(form, sign, e, high, low, rounding)


@jit
def _round_wide(form, sign, e, high, low, rounding):
    """Round ``(high * 2**64 + low) * 2**e``, which is not zero."""
    if high == _ZERO:
        high = low
        low = _ZERO
        e -= 64
    shift = leading_zeros(high)
    if shift > 0:
        high = (high << np.uint64(shift)) | (low >> np.uint64(64 - shift))
        low = low << np.uint64(shift)
    if low != _ZERO:
        high |= _ONE
    return pack(form, sign, e + 127 - shift, high, rounding)


@jit
def product(a, b, imm):
    """``a * b`` on bits."""
    form = imm & 3
    kind_a, sign_a, ea, ma = unpack(a, form)
    kind_b, sign_b, eb, mb = unpack(b, form)
    sign = sign_a ^ sign_b
    if kind_a == NAN or kind_b == NAN:
        return _nan(form, a, b, b)
    if kind_a == INFINITE or kind_b == INFINITE:
        return _NAN[form] if kind_a == ZERO or kind_b == ZERO else _special(form, sign, INFINITE)
    if kind_a == ZERO or kind_b == ZERO:
        return _special(form, sign, ZERO)
    high, low = multiply_wide(ma, mb)
    return _round_wide(form, sign, ea + eb, high, low, (imm >> 2) & 3)


@jit
def total(a, b, imm):
    """``a + b`` on bits."""
    form = imm & 3
    one = (np.int64(1) << (_BITS[form] - 2)) - (np.int64(1) << (_PRECISION[form] - 1))
    return fused(a, one, b, imm)


@jit
def from_float64(a, imm):
    """A float64 in another format."""
    form = imm & 3
    kind, sign, e, m = unpack(a, F64)
    if kind == NAN:
        if imm & 16 == 0:
            return _nan(form, a, a, a)
        quiet = m | (_ONE << np.uint64(51))
        payload = quiet >> np.uint64(53 - _PRECISION[form])
        return _special(form, sign, INFINITE) | np.int64(payload)
    if kind != FINITE:
        return _special(form, sign, kind)
    return pack(form, sign, e + 62, m << _ONE, (imm >> 2) & 3)


@jit
def from_magnitude(sign, magnitude, imm):
    """An integer, given as sign and uint64 magnitude, in a format."""
    form = imm & 3
    if magnitude == _ZERO:
        return np.int64(0)
    shift = leading_zeros(magnitude)
    return pack(form, sign, 63 - shift, magnitude << np.uint64(shift), (imm >> 2) & 3)


@jit
def to_integer(a, imm):
    """A float64 rounded to an integer type and saturated: a 64-bit slot, narrower ones as a 32-bit register."""
    typ = imm & 7
    rounding = (imm >> 3) & 3
    width = _INTEGER_BITS[typ]
    signed = _INTEGER_SIGNED[typ]
    kind, sign, e, m = unpack(a, F64)
    if kind == NAN:
        return np.int64(0) if imm & 32 else np.int64(_ONE << np.uint64(width - 1))
    if kind == ZERO:
        return np.int64(0)
    limit = _ONE << np.uint64(width - 1)  # largest magnitudes: 2**(w-1) - 1 or, negative, 2**(w-1); 2**w - 1
    if signed:
        limit = limit if sign == 1 else limit - _ONE
    else:
        limit = _ZERO if sign == 1 else limit + (limit - _ONE)
    if kind == INFINITE or e + 62 >= 64:
        magnitude = limit
    else:
        if e >= 0:
            magnitude = m << np.uint64(e)
        else:
            # The integer part in the upper half, the fraction (with sticky bit) in the lower one.
            high, low = _shift_right(m, _ZERO, -e)
            if rounding == RN:
                up = low > _TOP or (low == _TOP and (high & _ONE) != _ZERO)
            elif rounding == RM:
                up = sign == 1 and low != _ZERO
            elif rounding == RP:
                up = sign == 0 and low != _ZERO
            else:
                up = False
            magnitude = high + _ONE if up else high
        magnitude = min(magnitude, limit)
    value = np.int64(_ZERO - magnitude if sign == 1 else magnitude)
    return value if width == 64 else value & np.int64(0xFFFFFFFF)
