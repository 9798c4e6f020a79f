"""Divisions and powers of 64-bit integers, as Numba has them."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit
from simt.ops.row import PREDICATE, S64, U64, Family, Kind, Table

TABLE = Table("division", Family.INT, Kind.ROW, 1)

S64_MIN = np.int64(-(2**63))
LARGEST_EXPONENT = 0x10000
"""Numba multiplies up to this exponent; above it calls the floating-point power (numba.cpython.numbers)."""


@jit
def _floor_quotient(x, y):
    """The one quotient that overflows, -2**63 // -1, gives 0 in Numba (measured on an H200); the host would trap."""
    if y == 0:
        return np.int64(0)
    if y == -1:
        return np.int64(0) if x == S64_MIN else np.int64(0) - x
    return x // y


@jit
def _floor_remainder(x, y):
    if y == 0 or y == -1:
        return np.int64(0)
    return x % y


def _both_in_32_bits(a: S64, b: S64) -> PREDICATE:
    return (a == np.int64(np.int32(a & 0xFFFFFFFF))) & (b == np.int64(np.int32(b & 0xFFFFFFFF)))


def _short_quotient(a: S64, b: S64) -> S64:
    """The quotient of 32-bit values in float64, where it vectorises, and floored it is exact.

    |a / b - floor(a / b)| is 0 or at least 1 / |b| > 2**-32 relative to a quotient below 2**31, so rounding never
    reaches the next integer.
    """
    safe = b if b != 0 else np.int64(1)
    q = np.int64(np.floor(np.float64(a) / np.float64(safe)))
    return q if b != 0 else np.int64(0)


def _short_remainder(a: S64, b: S64) -> S64:
    safe = b if b != 0 else np.int64(1)
    q = np.int64(np.floor(np.float64(a) / np.float64(safe)))
    return a - q * safe if b != 0 else np.int64(0)


@TABLE.lanes("divide", all_lanes=(_both_in_32_bits, _short_quotient))
def floordiv_s64(a: S64, b: S64) -> S64:
    """d = floor(a / b), signed; b = 0 and -2**63 / -1 give 0"""
    return _floor_quotient(a, b)


@TABLE.lanes("divide", all_lanes=(_both_in_32_bits, _short_remainder))
def floormod_s64(a: S64, b: S64) -> S64:
    """d = a - b * floor(a / b), signed; b = 0 gives 0"""
    return _floor_remainder(a, b)


@TABLE.lanes("divide")
def div_u64(a: U64, b: U64) -> U64:
    """d = a / b, unsigned; b = 0 gives 0"""
    return a // b if b != 0 else np.uint64(0)


@TABLE.lanes("divide")
def rem_u64(a: U64, b: U64) -> U64:
    """d = a mod b, unsigned; b = 0 gives 0"""
    return a % b if b != 0 else np.uint64(0)


@jit
def _power(base, exponent, signed, signed_exponent):
    """Numba's integer power: modulo 2**64 by squaring; exponents beyond 65536 through float64, saturating."""
    if exponent < 0 and signed_exponent:
        if base == 0:
            return S64_MIN
        if base != 1 and base != -1:
            return np.int64(0)
        exponent = np.int64(0) - exponent
    if exponent > LARGEST_EXPONENT or exponent < 0:  # below 0 now: an unsigned exponent of 2**63 or more
        wide = np.float64(np.uint64(exponent))
        if signed:
            return _saturate(np.power(np.float64(base), wide))
        return _saturate_unsigned(np.power(np.float64(np.uint64(base)), wide))
    result = np.int64(1)
    while exponent != 0:
        if exponent & 1:
            result = result * base
        base = base * base
        exponent >>= 1
    return result


@jit
def _saturate(x):
    if x >= 9223372036854775808.0:
        return np.int64(2**63 - 1)
    if x <= -9223372036854775808.0:
        return S64_MIN
    return np.int64(x)


@jit
def _saturate_unsigned(x):
    if x >= 18446744073709551616.0:
        return np.int64(-1)
    if x >= 9223372036854775808.0:
        return np.int64(x - 9223372036854775808.0) ^ S64_MIN
    return np.int64(x)


@TABLE.lanes("divide")
def pow_s64(a: S64, b: S64) -> S64:
    """d = a ** b as Numba does it on signed integers"""
    return _power(a, b, True, True)


@TABLE.lanes("alu")
def pow_s64_u64(a: S64, b: S64) -> S64:
    """d = a ** b as Numba does it on a signed integer and an unsigned exponent"""
    return _power(a, b, True, False)


@TABLE.lanes("alu")
def pow_u64(a: S64, b: S64) -> S64:
    """d = a ** b as Numba does it on unsigned integers"""
    return _power(a, b, False, False)
