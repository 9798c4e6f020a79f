"""Micro-ops on the bits of registers: bit counting, and the 32-bit registers of machine code.

32-bit results are zero-extended in their 64-bit slots.
"""

from __future__ import annotations

import numpy as np

from simt.ops.encoding import PRMT_MODES
from simt.ops.jit import jit
from simt.ops.row import IMM, S32, S64, U32, Family, Kind, Table
from simt.ops.softfloat import leading_zeros

TABLE = Table("bits", Family.BITS, Kind.ROW, 2)

alu = TABLE.lanes("alu")
mufu = TABLE.lanes("mufu")
fma = TABLE.lanes("fma", family=Family.F32)

F4E = PRMT_MODES.index("f4e")
B4E = PRMT_MODES.index("b4e")
RC8 = PRMT_MODES.index("rc8")
ECL = PRMT_MODES.index("ecl")
ECR = PRMT_MODES.index("ecr")

ONE_F32 = np.int64(0x3F800000)
INFINITY_F32 = np.int64(0x7F800000)


@jit
def _count(x):
    x = np.uint64(x)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit
def _reversed(x):
    x = np.uint64(x)
    x = ((x >> np.uint64(1)) & np.uint64(0x5555555555555555)) | ((x & np.uint64(0x5555555555555555)) << np.uint64(1))
    x = ((x >> np.uint64(2)) & np.uint64(0x3333333333333333)) | ((x & np.uint64(0x3333333333333333)) << np.uint64(2))
    x = ((x >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)) | ((x & np.uint64(0x0F0F0F0F0F0F0F0F)) << np.uint64(4))
    x = ((x >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)) | ((x & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8))
    x = ((x >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)) | ((x & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16))
    return np.int64((x >> np.uint64(32)) | (x << np.uint64(32)))


@jit
def _truth_table(a, b, c, table):
    """All 32 bits at once: OR of the minterms that the table holds."""
    result = np.int64(0)
    if table & 1:
        result |= ~a & ~b & ~c
    if table & 2:
        result |= ~a & ~b & c
    if table & 4:
        result |= ~a & b & ~c
    if table & 8:
        result |= ~a & b & c
    if table & 16:
        result |= a & ~b & ~c
    if table & 32:
        result |= a & ~b & c
    if table & 64:
        result |= a & b & ~c
    if table & 128:
        result |= a & b & c
    return result


@jit
def _selector(mode, selector, k):
    """Which byte of the eight goes to byte *k* (PTX ISA, prmt); bit 3 of a selector copies its sign instead."""
    if mode == 0:
        return (selector >> (4 * k)) & 15
    s = selector & 3
    if mode == F4E:
        return s + k
    if mode == B4E:
        return (s - k) & 7
    if mode == RC8:
        return s
    if mode == ECL:
        return max(s, k)
    if mode == ECR:
        return min(s, k)
    return 2 * (s & 1) + (k & 1)


@jit
def _permute(a, selector, c, mode):
    result = np.int64(0)
    for k in range(4):
        pick = _selector(mode, selector, k)
        word = a if pick & 4 == 0 else c
        byte = (word >> (8 * (pick & 3))) & 0xFF
        if pick & 8:
            byte = np.int64(0xFF) if byte & 0x80 else np.int64(0)
        result |= byte << (8 * k)
    return result


@jit
def _dot(a, b, signs):
    result = np.int64(0)
    for k in range(4):
        x = (a >> (8 * k)) & 0xFF
        y = (b >> (8 * k)) & 0xFF
        if signs & 1:
            x = (x ^ 0x80) - 0x80
        if signs & 2:
            y = (y ^ 0x80) - 0x80
        result += x * y
    return result


@mufu
def popc_b64(a: S64) -> S64:
    """d = number of one bits"""
    return _count(a)


@mufu
def clz_b64(a: S64) -> S64:
    """d = leading zero bits of 64"""
    return leading_zeros(np.uint64(a))


@mufu
def clz_b32(a: U32) -> S64:
    """d = leading zero bits of the low 32"""
    return leading_zeros(np.uint64(a)) - 32


@mufu
def brev_b64(a: S64) -> S64:
    """d = bits reversed"""
    return _reversed(a)


@mufu
def brev_b32(a: S64) -> U32:
    """d = low 32 bits reversed"""
    return _reversed(a) >> 32


@mufu
def ffs_b64(a: S64) -> S64:
    """d = 1 + index of the lowest one bit, 0 if none"""
    return np.int64(0) if a == 0 else _count((a & (np.int64(0) - a)) - 1) + 1


@alu
def pack_b64(a: U32, b: S64) -> S64:
    """d = low 32 bits of a, low 32 bits of b above them"""
    return a | (b << 32)


@alu
def high_b64(a: S64) -> U32:
    """d = high 32 bits of a, zero-extended; mod = WHOLE: a trace shows all of a"""
    return a >> 32


@alu
def add_u32(a: S64, b: S64) -> U32:
    """d = a + b, modulo 2**32"""
    return a + b


@alu
def add3_u32(a: S64, b: S64, c: S64) -> U32:
    """d = a + b + c, modulo 2**32"""
    return a + b + c


@alu
def sub_u32(a: S64, b: S64) -> U32:
    """d = a - b, modulo 2**32"""
    return a - b


@alu
def mad_u32(a: S64, b: S64, c: S64) -> U32:
    """d = a * b + c, modulo 2**32"""
    return a * b + c


@alu
def shl_b32(a: S64, b: S64) -> U32:
    """d = low 32 bits of a << b; a shift of 32 or more gives 0"""
    return a << (b & 31) if (b >= 0) & (b < 32) else np.int64(0)


@alu
def shr_s32(a: S32, b: S64) -> U32:
    """d = low 32 bits of a >> b, arithmetic; a shift of 32 or more gives the sign"""
    return a >> (b if (b >= 0) & (b < 32) else np.int64(31))


@alu
def min_s32(a: S32, b: S32) -> U32:
    """d = the smaller of the low 32 bits of a and b, signed"""
    return min(a, b)


@alu
def max_s32(a: S32, b: S32) -> U32:
    """d = the larger of the low 32 bits of a and b, signed"""
    return max(a, b)


@alu
def abs_s32(a: S32) -> U32:
    """d = |low 32 bits of a|, modulo 2**32"""
    return a if a >= 0 else np.int64(0) - a


@alu
def lop3_b32(a: S64, b: S64, c: S64, imm: IMM) -> U32:
    """d = truth table imm over the low 32 bits: bit 4a + 2b + c of imm"""
    return _truth_table(a, b, c, imm)


@alu
def prmt_b32(a: S64, b: S64, c: S64, imm: IMM) -> S64:
    """d = bytes of c:a picked by selector b; imm = PRMT_MODES"""
    return _permute(a, b, c, imm)


@alu
def dp4a_b32(a: S64, b: S64, c: S64, imm: IMM) -> U32:
    """d = c + dot product of bytes, modulo 2**32; imm = 1 if a is signed + 2 if b is"""
    return _dot(a, b, imm) + c


@alu
def ftz_f32(a: S64) -> S64:
    """d = a, a denormal float32 replaced by zero of its sign"""
    return a & 0x80000000 if a & INFINITY_F32 == 0 else a


@alu
def sat_f32(a: S64) -> S64:
    """d = a limited to 0 ... 1, NaN gives +0"""
    return np.int64(0) if (a & 0x80000000) | (a > INFINITY_F32) else min(a, ONE_F32)


@fma
def neg_f32(a: S64) -> S64:
    """d = -a, a NaN's payload kept"""
    return a ^ 0x80000000


@fma
def abs_f32(a: S64) -> S64:
    """d = |a|, a NaN's payload kept"""
    return a & 0x7FFFFFFF
