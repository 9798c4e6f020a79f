"""What every ALU micro-op must compute, in Python integers, fractions and NumPy scalars.

A reference takes the operands a, b, c of one lane (64-bit patterns as Python ints; booleans for predicates)
and ``imm``; it returns a pattern, or a bool for micro-ops that write predicates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from simt.ops.encoding import INTEGER_TYPES, PRMT_MODES, ROUNDED_FORMATS, ROUNDINGS
from tests.machine.patterns import (
    FORMATS,
    M32,
    M64,
    bits,
    exact,
    f32,
    f64,
    fused,
    infinity,
    is_negative,
    product,
    quiet_nan,
    round_fraction,
    round_to_integer,
    signed,
    total,
)

Reference = Callable[[Any, Any, Any, int], Any]


def smaller(x: Any, y: Any) -> Any:
    """minNum: a NaN loses, -0 is below +0."""
    if np.isnan(x) or np.isnan(y):
        return y if np.isnan(x) else x
    return min((x, y), key=lambda v: (v, not np.signbit(v)))


def larger(x: Any, y: Any) -> Any:
    """maxNum."""
    if np.isnan(x) or np.isnan(y):
        return y if np.isnan(x) else x
    return max((x, y), key=lambda v: (v, not np.signbit(v)))


def remainder(x: Any, y: Any) -> Any:
    """The remainder that GPUs compute: |x| - floor(|x| / |y|) |y| with a rounded quotient, sign of x."""
    quotient = np.floor(abs(x) / abs(y))
    form, value = ("f32", f32) if isinstance(x, np.float32) else ("f64", f64)
    rest = value(fused(bits(-quotient), bits(abs(y)), bits(abs(x)), form))
    return -rest if x < 0 else rest


def floor_divide(x: Any, y: Any) -> Any:
    """Numba's float ``//`` with every step in the type of the operands."""
    if y == 0:
        return x / y
    rest = remainder(x, y)
    quotient = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        quotient -= type(x)(1)
    if quotient == 0 or np.isnan(quotient):
        return quotient * quotient * x / y
    floored = np.floor(quotient)
    return floored + type(x)(1) if quotient - floored > type(x)(0.5) else floored


def floor_modulo(x: Any, y: Any) -> Any:
    """Numba's float ``%``."""
    rest = remainder(x, y)
    if y == 0:
        return rest
    if rest == 0:
        return np.copysign(type(x)(0), y)
    return rest + y if (y < 0) != (rest < 0) else rest


LARGEST_EXPONENT = 65536
"""Numba multiplies up to this exponent and calls the floating-point power above it."""


def _saturated_power(base: int, exponent: int, low: int, high: int) -> int:
    try:
        value = math.pow(base, exponent)
    except OverflowError:
        value = -math.inf if base < 0 and float(exponent) % 2 else math.inf
    return int(min(max(value, low), high)) if abs(value) < 2.0**63 else (high if value > 0 else low)


def power(base: int, exponent: int) -> int:
    """Numba's power of a signed integer."""
    if exponent < 0:
        if base == 0:
            return -(2**63)
        if base not in (1, -1):
            return 0
        exponent = -exponent
    if exponent > LARGEST_EXPONENT:
        return _saturated_power(base, exponent, -(2**63), 2**63 - 1)
    return pow(base, exponent, 2**64)


def unsigned_power(base: int, exponent: int) -> int:
    """Numba's power of unsigned integers."""
    if exponent > LARGEST_EXPONENT:
        return _saturated_power(base, exponent, 0, M64)
    return pow(base, exponent, 2**64)


def power_by_squaring(x: Any, exponent: int) -> Any:
    """Numba's float ``**`` with an integer exponent."""
    kind = type(x)
    if abs(exponent) > LARGEST_EXPONENT:
        if kind is np.float64:
            return np.power(x, np.float64(exponent))
        wide = np.power(np.float64(x), np.float64(abs(exponent)))
        return np.float32(1 / wide if exponent < 0 else wide)
    result = kind(1)
    for bit in range(abs(exponent).bit_length()):
        if abs(exponent) >> bit & 1:
            result = result * x
        x = x * x
    return kind(1) / result if exponent < 0 else result


def saturated(x: np.float64, low: int, high: int, nan: int) -> int:
    """A float64 truncated to an integer and limited to a range."""
    if np.isnan(x):
        return nan
    if np.isinf(x):
        return high if x > 0 else low
    return min(max(math.trunc(x), low), high)


def half_from_single(a: int) -> int:
    """float16 pattern of a float32 pattern."""
    x = f32(a)
    return 0x7FFF if np.isnan(x) else int(x.astype(np.float16).view(np.uint16))


def single_from_half(a: int) -> int:
    """float32 pattern of a float16 pattern."""
    return bits(np.uint16(a & 0xFFFF).view(np.float16).astype(np.float32))


def truth(table: int, x: int, y: int, z: int) -> int:
    """Bit 4x + 2y + z of a table."""
    return table >> (4 * x + 2 * y + z) & 1


def lop3(a: int, b: int, c: int, table: int) -> int:
    """Bitwise function of three 32-bit words."""
    return sum(truth(table, a >> k & 1, b >> k & 1, c >> k & 1) << k for k in range(32))


def prmt(a: int, b: int, c: int, mode: int) -> int:
    """PTX prmt, from the table of the PTX ISA: bytes of {c, a}, the most significant first."""
    source = (a & M32).to_bytes(4, "little") + (c & M32).to_bytes(4, "little")
    s = b & 3
    columns = {
        "f4e": [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]],
        "b4e": [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]],
        "rc8": [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]],
        "ecl": [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]],
        "ecr": [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]],
        "rc16": [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]],
    }
    name = PRMT_MODES[mode]
    if name:
        return int.from_bytes(bytes(source[k] for k in columns[name][s]), "big")
    result = 0
    for k in range(4):
        selector = b >> (4 * k) & 15
        byte = source[selector & 7]
        if selector & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * k)
    return result


def dp4a(a: int, b: int, c: int, signs: int) -> int:
    """Dot product of four bytes each, plus c."""

    def byte(x: int, k: int, is_signed: int) -> int:
        value = x >> (8 * k) & 0xFF
        return signed(value, 8) if is_signed else value

    return (c + sum(byte(a, k, signs & 1) * byte(b, k, signs & 2) for k in range(4))) & M32


def rounding_of(imm: int) -> tuple[str, str]:
    """Format and rounding of a ``rnd`` micro-op."""
    return ROUNDED_FORMATS[imm & 3], ROUNDINGS[imm >> 2 & 3]


def from_float64(a: int, imm: int) -> int:
    """A float64 pattern in another format."""
    form, rounding = rounding_of(imm)
    value = exact(a, "f64")
    if isinstance(value, Fraction):
        return round_fraction(value, form, rounding, is_negative(a, "f64"))
    if not math.isnan(value):
        return infinity(form, value < 0)
    if imm & 16 == 0:
        return quiet_nan(form)
    precision = FORMATS[form][0]  # the quiet bit and the upper bits of the payload stay
    return infinity(form, is_negative(a, "f64")) | (a & 2**52 - 1 | 1 << 51) >> (53 - precision)


def to_integer(a: int, imm: int) -> int:
    """A float64 pattern rounded to an integer type, saturated; narrow ones as 32-bit registers."""
    name = INTEGER_TYPES[imm & 7]
    width = int(name[1:])
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if name[0] == "s" else (0, 2**width - 1)
    value = exact(a, "f64")
    if isinstance(value, float) and math.isnan(value):
        return 0 if imm & 32 else 2 ** (width - 1)
    if isinstance(value, float):
        number = high if value > 0 else low
    else:
        number = min(max(round_to_integer(value, ROUNDINGS[imm >> 3 & 3]), low), high)
    return number & (M64 if width == 64 else M32)


def _shift(amount: int, limit: int) -> bool:
    return 0 <= signed(amount) < limit


def _reverse(x: int, width: int) -> int:
    return int(format(x & (2**width - 1), f"0{width}b")[::-1], 2)


INTEGER: dict[str, Reference] = {
    "mov": lambda a, b, c, i: a,
    "add.s64": lambda a, b, c, i: a + b,
    "sub.s64": lambda a, b, c, i: a - b,
    "mul.s64": lambda a, b, c, i: a * b,
    "mad.s64": lambda a, b, c, i: a * b + c,
    "neg.s64": lambda a, b, c, i: -a,
    "abs.s64": lambda a, b, c, i: abs(signed(a)),
    "min.s64": lambda a, b, c, i: min(signed(a), signed(b)),
    "max.s64": lambda a, b, c, i: max(signed(a), signed(b)),
    "min.u64": lambda a, b, c, i: min(a, b),
    "max.u64": lambda a, b, c, i: max(a, b),
    "and.b64": lambda a, b, c, i: a & b,
    "or.b64": lambda a, b, c, i: a | b,
    "xor.b64": lambda a, b, c, i: a ^ b,
    "not.b64": lambda a, b, c, i: ~a,
    "shl.b64": lambda a, b, c, i: a << (b & M32) if b & M32 < 64 else 0,
    "shr.s64": lambda a, b, c, i: signed(a) >> min(b & M32, 63),
    "shr.u64": lambda a, b, c, i: a >> min(b & M32, 64),
    "floordiv.s64": lambda a, b, c, i: signed(a) // signed(b) if b and (a, b) != (1 << 63, M64) else 0,
    "floormod.s64": lambda a, b, c, i: signed(a) % signed(b) if b else 0,
    "div.u64": lambda a, b, c, i: a // b if b else 0,
    "rem.u64": lambda a, b, c, i: a % b if b else 0,
    "pow.s64": lambda a, b, c, i: power(signed(a), signed(b)),
    "pow.s64.u64": lambda a, b, c, i: power(signed(a), b),
    "pow.u64": lambda a, b, c, i: unsigned_power(a, b),
    "mulhi.s64": lambda a, b, c, i: signed(a) * signed(b) >> 64,
    "mulhi.u64": lambda a, b, c, i: a * b >> 64,
    "selp": lambda a, b, c, i: a if c else b,
}

BITS: dict[str, Reference] = {
    "popc.b64": lambda a, b, c, i: a.bit_count(),
    "clz.b64": lambda a, b, c, i: 64 - a.bit_length(),
    "clz.b32": lambda a, b, c, i: 32 - (a & M32).bit_length(),
    "brev.b64": lambda a, b, c, i: _reverse(a, 64),
    "brev.b32": lambda a, b, c, i: _reverse(a, 32),
    "ffs.b64": lambda a, b, c, i: (a & -a).bit_length(),
    "pack.b64": lambda a, b, c, i: a & M32 | (b & M32) << 32,
    "high.b64": lambda a, b, c, i: a >> 32,
    "add.u32": lambda a, b, c, i: (a + b) & M32,
    "add3.u32": lambda a, b, c, i: (a + b + c) & M32,
    "sub.u32": lambda a, b, c, i: (a - b) & M32,
    "mad.u32": lambda a, b, c, i: (a * b + c) & M32,
    "shl.b32": lambda a, b, c, i: a << b & M32 if _shift(b, 32) else 0,
    "shr.s32": lambda a, b, c, i: signed(a, 32) >> (b if _shift(b, 32) else 31) & M32,
    "min.s32": lambda a, b, c, i: min(signed(a, 32), signed(b, 32)) & M32,
    "max.s32": lambda a, b, c, i: max(signed(a, 32), signed(b, 32)) & M32,
    "abs.s32": lambda a, b, c, i: abs(signed(a, 32)) & M32,
    "lop3.b32": lop3,
    "prmt.b32": prmt,
    "dp4a.b32": dp4a,
    "ftz.f32": lambda a, b, c, i: a & 0x80000000 if a >> 23 & 0xFF == 0 else a & M32,
    "sat.f32": lambda a, b, c, i: 0 if not f32(a) > 0 else bits(np.minimum(f32(a), np.float32(1))),
    "add.rnd": lambda a, b, c, i: total(a, b, *rounding_of(i)),
    "mul.rnd": lambda a, b, c, i: product(a, b, *rounding_of(i)),
    "fma.rnd": lambda a, b, c, i: fused(a, b, c, *rounding_of(i)),
    "cvt.rnd.f64": lambda a, b, c, i: from_float64(a, i),
    "cvt.rnd.s64": lambda a, b, c, i: round_fraction(Fraction(signed(a)), *rounding_of(i)),
    "cvt.rnd.u64": lambda a, b, c, i: round_fraction(Fraction(a), *rounding_of(i)),
    "cvt.int.f64": lambda a, b, c, i: to_integer(a, i),
}
"""Add a row here for every new micro-op of the family."""

FLOAT64: dict[str, Reference] = {
    "add.f64": lambda a, b, c, i: bits(f64(a) + f64(b)),
    "sub.f64": lambda a, b, c, i: bits(f64(a) - f64(b)),
    "mul.f64": lambda a, b, c, i: bits(f64(a) * f64(b)),
    "div.f64": lambda a, b, c, i: bits(f64(a) / f64(b)),
    "fma.f64": lambda a, b, c, i: fused(a, b, c, "f64"),
    "neg.f64": lambda a, b, c, i: a ^ 1 << 63,
    "abs.f64": lambda a, b, c, i: a & 2**63 - 1,
    "min.f64": lambda a, b, c, i: bits(smaller(f64(a), f64(b))),
    "max.f64": lambda a, b, c, i: bits(larger(f64(a), f64(b))),
    "floordiv.f64": lambda a, b, c, i: bits(floor_divide(f64(a), f64(b))),
    "floormod.f64": lambda a, b, c, i: bits(floor_modulo(f64(a), f64(b))),
    "powi.f64": lambda a, b, c, i: bits(power_by_squaring(f64(a), signed(b))),
    "copysign.f64": lambda a, b, c, i: a & 2**63 - 1 | b & 1 << 63,
    "floor.f64": lambda a, b, c, i: bits(np.floor(f64(a))),
    "ceil.f64": lambda a, b, c, i: bits(np.ceil(f64(a))),
    "trunc.f64": lambda a, b, c, i: bits(np.trunc(f64(a))),
    "rint.f64": lambda a, b, c, i: bits(np.rint(f64(a))),
    "sqrt.f64": lambda a, b, c, i: bits(np.sqrt(f64(a))),
    "fmod.f64": lambda a, b, c, i: bits(np.fmod(f64(a), f64(b))),
}

FLOAT32: dict[str, Reference] = {
    "add.f32": lambda a, b, c, i: bits(f32(a) + f32(b)),
    "sub.f32": lambda a, b, c, i: bits(f32(a) - f32(b)),
    "mul.f32": lambda a, b, c, i: bits(f32(a) * f32(b)),
    "div.f32": lambda a, b, c, i: bits(f32(a) / f32(b)),
    "fma.f32": lambda a, b, c, i: fused(a, b, c, "f32"),
    "neg.f32": lambda a, b, c, i: (a ^ 1 << 31) & M32,
    "abs.f32": lambda a, b, c, i: a & 2**31 - 1,
    "min.f32": lambda a, b, c, i: bits(smaller(f32(a), f32(b))),
    "max.f32": lambda a, b, c, i: bits(larger(f32(a), f32(b))),
    "floordiv.f32": lambda a, b, c, i: bits(floor_divide(f32(a), f32(b))),
    "floormod.f32": lambda a, b, c, i: bits(floor_modulo(f32(a), f32(b))),
    "powi.f32": lambda a, b, c, i: bits(power_by_squaring(f32(a), signed(b))),
    "sqrt.f32": lambda a, b, c, i: bits(np.sqrt(f32(a))),
}


def _gamma(x: np.float64) -> float:
    """``math.gamma`` with IEEE results where it raises."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _lgamma(x: np.float64) -> float:
    """``math.lgamma`` with IEEE results where it raises."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


TRANSCENDENTAL: dict[str, Callable[..., Any]] = {
    # Arrays: for scalars NumPy takes the square root of -0 instead of its power 0.5.
    "cbrt.f64": np.cbrt,
    "pow.f64": lambda x, y: np.power(np.array([x, x]), np.array([y, y]))[0],
    "atan2.f64": np.arctan2,
    "hypot.f64": np.hypot,
    "exp.f64": np.exp,
    "expm1.f64": np.expm1,
    "log.f64": np.log,
    "log2.f64": np.log2,
    "log10.f64": np.log10,
    "log1p.f64": np.log1p,
    "sin.f64": np.sin,
    "cos.f64": np.cos,
    "tan.f64": np.tan,
    "asin.f64": np.arcsin,
    "acos.f64": np.arccos,
    "atan.f64": np.arctan,
    "sinh.f64": np.sinh,
    "cosh.f64": np.cosh,
    "tanh.f64": np.tanh,
    "asinh.f64": np.arcsinh,
    "acosh.f64": np.arccosh,
    "atanh.f64": np.arctanh,
    "erf.f64": math.erf,
    "erfc.f64": math.erfc,
    "gamma.f64": _gamma,
    "lgamma.f64": _lgamma,
}
"""Correct to a few units in the last place only."""

CONVERT: dict[str, Reference] = {
    "cvt.s8": lambda a, b, c, i: signed(a, 8),
    "cvt.s16": lambda a, b, c, i: signed(a, 16),
    "cvt.s32": lambda a, b, c, i: signed(a, 32),
    "cvt.u8": lambda a, b, c, i: a & 0xFF,
    "cvt.u16": lambda a, b, c, i: a & 0xFFFF,
    "cvt.u32": lambda a, b, c, i: a & M32,
    "cvt.f64.s64": lambda a, b, c, i: round_fraction(Fraction(signed(a)), "f64"),
    "cvt.f64.u64": lambda a, b, c, i: round_fraction(Fraction(a), "f64"),
    "cvt.f32.s64": lambda a, b, c, i: round_fraction(Fraction(signed(a)), "f32"),
    "cvt.f32.u64": lambda a, b, c, i: round_fraction(Fraction(a), "f32"),
    "cvt.f64.f32": lambda a, b, c, i: bits(np.float64(f32(a))),
    "cvt.f32.f64": lambda a, b, c, i: bits(np.float32(f64(a))),
    "cvt.f16.f32": lambda a, b, c, i: half_from_single(a),
    "cvt.f32.f16": lambda a, b, c, i: single_from_half(a),
    "cvt.s64.f64": lambda a, b, c, i: saturated(f64(a), -(2**63), 2**63 - 1, -(2**63)),
    "cvt.u64.f64": lambda a, b, c, i: saturated(f64(a), 0, 2**64 - 1, 2**63),
    "cvt.s32.f64": lambda a, b, c, i: saturated(f64(a), -(2**31), 2**31 - 1, -(2**31)),
    "cvt.u32.f64": lambda a, b, c, i: saturated(f64(a), 0, 2**32 - 1, 0),
}

COMPARE: dict[str, Reference] = {
    "eq.s64": lambda a, b, c, i: a == b,
    "ne.s64": lambda a, b, c, i: a != b,
    "lt.s64": lambda a, b, c, i: signed(a) < signed(b),
    "le.s64": lambda a, b, c, i: signed(a) <= signed(b),
    "lt.u64": lambda a, b, c, i: a < b,
    "lt.s32": lambda a, b, c, i: signed(a, 32) < signed(b, 32),
    "le.s32": lambda a, b, c, i: signed(a, 32) <= signed(b, 32),
    "le.u64": lambda a, b, c, i: a <= b,
    "eq.f64": lambda a, b, c, i: f64(a) == f64(b),
    "ne.f64": lambda a, b, c, i: f64(a) != f64(b),
    "lt.f64": lambda a, b, c, i: f64(a) < f64(b),
    "le.f64": lambda a, b, c, i: f64(a) <= f64(b),
    "isinf.f64": lambda a, b, c, i: np.isinf(f64(a)),
    "eq.f32": lambda a, b, c, i: f32(a) == f32(b),
    "ne.f32": lambda a, b, c, i: f32(a) != f32(b),
    "lt.f32": lambda a, b, c, i: f32(a) < f32(b),
    "le.f32": lambda a, b, c, i: f32(a) <= f32(b),
}

PREDICATE: dict[str, Reference] = {"plop": lambda a, b, c, i: bool(truth(i, a, b, c))}

LANEWISE: dict[str, Reference] = {
    **INTEGER,
    **BITS,
    **FLOAT64,
    **FLOAT32,
    **CONVERT,
    **COMPARE,
    **PREDICATE,
}
