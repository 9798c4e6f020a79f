"""Arithmetic of the reference executor: what each micro-op gives, in plain Python."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from simt.ops.encoding import INTEGER_TYPES

LANES = range(32)
FULL = 0xFFFFFFFF
M64 = (1 << 64) - 1


def signed(value: int, bits: int = 64) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def f64(bits: int) -> float:
    return float(np.uint64(bits & M64).view(np.float64))


def f64_bits(value: float) -> int:
    return int(np.float64(value).view(np.uint64))


def f32(bits: int) -> np.float32:
    return np.uint32(bits & FULL).view(np.float32)


def f32_bits(value: Any) -> int:
    return int(np.float32(value).view(np.uint32))


def _div(a: Any, b: Any) -> Any:
    return np.divide(a, b)


def _floordiv(a: int, b: int) -> int:
    return a // b if b else 0


def _mod(a: int, b: int) -> int:
    return a - b * (a // b) if b else 0


def _pow(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 1 << 64)
    return {0: -(1 << 63), 1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def powi(a: Any, b: int) -> Any:
    """Numba's float power by squaring, every step in the type of *a*."""
    result, left = type(a)(1), abs(b)
    while left:
        result = result * a if left & 1 else result
        left >>= 1
        a = a * a
    return type(a)(1) / result if b < 0 else result


def _shift(a: int, b: int, function: Callable[[int, int], int], beyond: int) -> int:
    return function(a, b & FULL) if b & FULL < 64 else beyond


def saturate(value: float, bits: int, is_signed: bool) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isnan(value):
        return low if is_signed else 0
    return max(low, min(high, int(value))) if math.isfinite(value) else (high if value > 0 else low)


def to_integer(value: float, imm: int) -> int:
    """``cvt.int.f64`` towards zero: narrow integers zero-extended from 32 bits."""
    name = INTEGER_TYPES[imm & 7]
    bits = int(name[1:])
    if math.isnan(value):
        return 0 if imm & 32 else 1 << (bits - 1)
    return saturate(value, bits, name[0] == "s") & (M64 if bits == 64 else FULL)


SIGNED = {
    "mov": lambda a: a,
    "add.s64": operator.add,
    "sub.s64": operator.sub,
    "mul.s64": operator.mul,
    "mad.s64": lambda a, b, c: a * b + c,
    "neg.s64": operator.neg,
    "abs.s64": abs,
    "min.s64": min,
    "max.s64": max,
    "and.b64": operator.and_,
    "or.b64": operator.or_,
    "xor.b64": operator.xor,
    "not.b64": operator.invert,
    "shl.b64": lambda a, b: _shift(a, b, operator.lshift, 0),
    "shr.s64": lambda a, b: _shift(a, b, operator.rshift, -1 if a < 0 else 0),
    "floordiv.s64": _floordiv,
    "floormod.s64": _mod,
    "pow.s64": _pow,
    "cvt.s8": lambda a: signed(a, 8),
    "cvt.s16": lambda a: signed(a, 16),
    "cvt.s32": lambda a: signed(a, 32),
    "cvt.u8": lambda a: a & 0xFF,
    "cvt.u16": lambda a: a & 0xFFFF,
    "cvt.u32": lambda a: a & FULL,
    "clz.b32": lambda a: 32 - (a & FULL).bit_length(),
    "popc.b64": lambda a: (a & M64).bit_count(),
    "ffs.b64": lambda a: (a & -a & M64).bit_length(),
    "brev.b32": lambda a: int(f"{a & FULL:032b}"[::-1], 2),
}
UNSIGNED = {
    "min.u64": min,
    "max.u64": max,
    "shr.u64": lambda a, b: _shift(a, b, operator.rshift, 0),
    "div.u64": _floordiv,
    "rem.u64": _mod,
    "pow.u64": _pow,
    "pow.s64.u64": _pow,
}
FLOAT = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _div,
    "neg": operator.neg,
    "abs": abs,
    "min": np.fmin,
    "max": np.fmax,
    "sqrt": np.sqrt,
    "floordiv": np.floor_divide,
    "floormod": np.mod,
    "pow": np.power,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "exp": np.exp,
    "copysign": np.copysign,
}
COMPARE = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le}
