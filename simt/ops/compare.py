"""Comparisons: registers to a predicate."""

from __future__ import annotations

import numpy as np

from simt.ops.row import F32, F64, PREDICATE, S32, S64, U64, Family, Kind, Table

TABLE = Table("compare", Family.COMPARE, Kind.MASK, 0, inline=True)

compare = TABLE.lanes("shift")


@compare
def eq_s64(a: S64, b: S64) -> PREDICATE:
    """d = a == b"""
    return a == b


@compare
def ne_s64(a: S64, b: S64) -> PREDICATE:
    """d = a != b"""
    return a != b


@compare
def lt_s64(a: S64, b: S64) -> PREDICATE:
    """d = a < b, signed"""
    return a < b


@compare
def le_s64(a: S64, b: S64) -> PREDICATE:
    """d = a <= b, signed"""
    return a <= b


@compare
def lt_s32(a: S32, b: S32) -> PREDICATE:
    """d = a < b, low 32 bits signed"""
    return a < b


@compare
def le_s32(a: S32, b: S32) -> PREDICATE:
    """d = a <= b, low 32 bits signed"""
    return a <= b


@compare
def lt_u64(a: U64, b: U64) -> PREDICATE:
    """d = a < b, unsigned"""
    return a < b


@compare
def le_u64(a: U64, b: U64) -> PREDICATE:
    """d = a <= b, unsigned"""
    return a <= b


@compare
def eq_f64(a: F64, b: F64) -> PREDICATE:
    """d = a == b, ordered"""
    return a == b


@compare
def ne_f64(a: F64, b: F64) -> PREDICATE:
    """d = a != b, true for NaN"""
    return a != b


@compare
def lt_f64(a: F64, b: F64) -> PREDICATE:
    """d = a < b, ordered"""
    return a < b


@compare
def le_f64(a: F64, b: F64) -> PREDICATE:
    """d = a <= b, ordered"""
    return a <= b


@compare
def isinf_f64(a: F64) -> PREDICATE:
    """d = a is an infinity"""
    return np.isinf(a)


@compare
def eq_f32(a: F32, b: F32) -> PREDICATE:
    """d = a == b, ordered"""
    return a == b


@compare
def ne_f32(a: F32, b: F32) -> PREDICATE:
    """d = a != b, true for NaN"""
    return a != b


@compare
def lt_f32(a: F32, b: F32) -> PREDICATE:
    """d = a < b, ordered"""
    return a < b


@compare
def le_f32(a: F32, b: F32) -> PREDICATE:
    """d = a <= b, ordered"""
    return a <= b
