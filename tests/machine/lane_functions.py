"""Lane functions of no micro-op, for the tests of the interpreter."""

from __future__ import annotations

import numpy as np

from simt.ops.row import F32, F64, MASK, PREDICATE, S32, S64, U32, U64, Family, Kind, Table

INTEGERS = Table("test_integers", Family.INT, Kind.ROW, 0)
SINGLES = Table("test_singles", Family.F32, Kind.ROW, 1)
TESTS = Table("test_tests", Family.COMPARE, Kind.MASK, 2)
CHOICES = Table("test_choices", Family.COMPARE, Kind.MASK, 3)
MASKS = Table("masks", Family.PREDICATE, Kind.MASK, 4)


@INTEGERS.lanes("alu")
def mixed_s64(a: S32, b: U32, c: S64) -> S64:
    """d = a + 2b - c"""
    return a + 2 * b - c


@INTEGERS.lanes("alu")
def local_s64(a: S64, b: S64) -> S64:
    """d = (a - b) ** 2, with names of its own"""
    x = a - b
    y = x * x
    return y


@INTEGERS.lanes("alu")
def local_u64(a: U64) -> U64:
    """d = a / 2, unsigned, with a name that another row has for something else"""
    x = a >> np.uint64(1)
    return x


@INTEGERS.lanes("alu")
def local_f64(a: F64) -> F64:
    """d = a / 2"""
    x = a / 2.0
    return x


def is_small(a: U64) -> PREDICATE:
    """a < 16"""
    return a < np.uint64(16)


def square_of_small(a: U64) -> U32:
    """a * a + 2**16: not the same, so that a test can tell"""
    return (a * a + np.uint64(1 << 16)).astype(np.int64)


@INTEGERS.lanes("alu", all_lanes=(is_small, square_of_small))
def square_u32(a: U64) -> U32:
    """d = a * a, of 32 bits"""
    return (a * a).astype(np.int64)


@SINGLES.lanes("fma")
def divided_f32(a: F32, b: F32) -> F32:
    """d = a / b"""
    quotient = a / b
    return quotient


@TESTS.lanes("alu")
def above_s32(a: S32, b: S32) -> PREDICATE:
    """d = a > b"""
    return a > b


@CHOICES.lanes("alu")
def chosen(a: PREDICATE, b: S64) -> PREDICATE:
    """d = a and b < 0"""
    return a & (b < 0)


@MASKS.lanes("alu")
def both(a: MASK, b: MASK) -> MASK:
    """d = a and b"""
    return a & b
