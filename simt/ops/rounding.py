"""Micro-ops with a rounding or a function in ``imm``: arithmetic in integers (softfloat.py), and the MUFU (mufu.py)."""

from __future__ import annotations

import numpy as np

from simt.ops import mufu, softfloat
from simt.ops.row import IMM, S64, Family, Kind, Table

TABLE = Table("rounding", Family.BITS, Kind.ROW, 3)

alu = TABLE.lanes("alu")


@alu
def mufu_b32(a: S64, imm: IMM) -> S64:
    """d = function MUFU_FUNCTIONS[imm] of a as the multi-function unit gives it"""
    return mufu.approximation(imm, a)


@alu
def add_rnd(a: S64, b: S64, imm: IMM) -> S64:
    """d = a + b in format and rounding imm (ROUNDED_FORMATS, ROUNDINGS)"""
    return softfloat.total(a, b, imm)


@alu
def mul_rnd(a: S64, b: S64, imm: IMM) -> S64:
    """d = a * b likewise"""
    return softfloat.product(a, b, imm)


@alu
def fma_rnd(a: S64, b: S64, c: S64, imm: IMM) -> S64:
    """d = a * b + c likewise, with one rounding"""
    return softfloat.fused(a, b, c, imm)


@alu
def cvt_rnd_f64(a: S64, imm: IMM) -> S64:
    """d = float64 a in format and rounding imm"""
    return softfloat.from_float64(a, imm)


@alu
def cvt_rnd_s64(a: S64, imm: IMM) -> S64:
    """d = signed integer a in format and rounding imm"""
    sign = np.int64(1) if a < 0 else np.int64(0)
    return softfloat.from_magnitude(sign, np.uint64(np.int64(0) - a if a < 0 else a), imm)


@alu
def cvt_rnd_u64(a: S64, imm: IMM) -> S64:
    """d = unsigned integer a in format and rounding imm"""
    return softfloat.from_magnitude(np.int64(0), np.uint64(a), imm)


@alu
def cvt_int_f64(a: S64, imm: IMM) -> S64:
    """d = float64 a rounded to an integer, saturated; imm: see integer_conversion"""
    return softfloat.to_integer(a, imm)
