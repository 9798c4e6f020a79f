"""64-bit integer micro-ops."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit_inline
from simt.ops.row import PREDICATE, S64, U64, Effect, Family, Kind, Table
from simt.ops.scalar import multiply_wide

TABLE = Table("integer", Family.INT, Kind.ROW, 0, inline=True)
SELECT = Table("select", Family.INT, Kind.ROW, 12, inline=True)
ELEMENT = Table("element", Family.INT, Kind.ELEMENT, 0, effects=Effect.FAILS)

alu = TABLE.lanes("alu")
shift = TABLE.lanes("shift")
multiply = TABLE.lanes("imad")
wide_multiply = TABLE.lanes("imad_wide")

ELEMENT.declare(
    """
    index  rrr  imad  -  d = a + i * stride, i = b (b + size if b < 0 and mod = 1); imm = dimension slot
    within rrr  alu   -  d = i = a (a + b if a < 0 and mod = 1), which has to be below b; imm = number of the array
    """
)
INDEX, WITHIN = range(2)


@jit_inline
def from_start(i, size, wraps):
    """Index *i* of an axis of *size* counted from its start, where negative ones count from the end (*wraps*)."""
    return i + size if wraps and i < 0 else i


@jit_inline
def is_outside(i, size):
    """Whether an index counted from the start is none of an axis of *size*."""
    return (i < 0) | (i >= size)


@jit_inline
def element_at(base, i, stride):
    """Address of element *i* of an axis that begins at *base*."""
    return base + i * stride


@alu
def mov(a: S64) -> S64:
    """d = a"""
    return a


@alu
def add_s64(a: S64, b: S64) -> S64:
    """d = a + b, modulo 2**64"""
    return a + b


@alu
def sub_s64(a: S64, b: S64) -> S64:
    """d = a - b, modulo 2**64"""
    return a - b


@multiply
def mul_s64(a: S64, b: S64) -> S64:
    """d = a * b, modulo 2**64"""
    return a * b


@multiply
def mad_s64(a: S64, b: S64, c: S64) -> S64:
    """d = a * b + c, modulo 2**64"""
    return a * b + c


@alu
def neg_s64(a: S64) -> S64:
    """d = -a"""
    return np.int64(0) - a


@alu
def abs_s64(a: S64) -> S64:
    """d = |a|"""
    return a if a >= 0 else np.int64(0) - a


@shift
def min_s64(a: S64, b: S64) -> S64:
    """d = the smaller of a and b, signed"""
    return min(a, b)


@shift
def max_s64(a: S64, b: S64) -> S64:
    """d = the larger of a and b, signed"""
    return max(a, b)


@shift
def min_u64(a: U64, b: U64) -> U64:
    """d = the smaller of a and b, unsigned"""
    return a if a < b else b


@shift
def max_u64(a: U64, b: U64) -> U64:
    """d = the larger of a and b, unsigned"""
    return a if a > b else b


@alu
def and_b64(a: S64, b: S64) -> S64:
    """d = a & b"""
    return a & b


@alu
def or_b64(a: S64, b: S64) -> S64:
    """d = a | b"""
    return a | b


@alu
def xor_b64(a: S64, b: S64) -> S64:
    """d = a ^ b"""
    return a ^ b


@alu
def not_b64(a: S64) -> S64:
    """d = ~a"""
    return ~a


@shift
def shl_b64(a: S64, b: S64) -> S64:
    """d = a << (low 32 bits of b); 64 or more gives 0"""
    s = b & 0xFFFFFFFF
    return a << (s & 63) if s < 64 else np.int64(0)


@shift
def shr_s64(a: S64, b: S64) -> S64:
    """d = a >> (low 32 bits of b), arithmetic; 64 or more gives the sign"""
    s = b & 0xFFFFFFFF
    return a >> (s if s < 64 else np.int64(63))


@shift
def shr_u64(a: U64, b: S64) -> U64:
    """d = a >> (low 32 bits of b), logical; 64 or more gives 0"""
    s = b & 0xFFFFFFFF
    return a >> np.uint64(s & 63) if s < 64 else np.uint64(0)


@wide_multiply
def mulhi_s64(a: S64, b: S64) -> S64:
    """d = high 64 bits of the signed 128-bit product"""
    high = np.int64(multiply_wide(np.uint64(a), np.uint64(b))[0])
    return high - (b if a < 0 else np.int64(0)) - (a if b < 0 else np.int64(0))


@wide_multiply
def mulhi_u64(a: U64, b: U64) -> U64:
    """d = high 64 bits of the unsigned 128-bit product"""
    return multiply_wide(a, b)[0]


@SELECT.lanes("alu")
def selp(a: S64, b: S64, c: PREDICATE) -> S64:
    """d = a where predicate c, else b"""
    return a if c else b
