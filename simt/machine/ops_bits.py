"""Micro-ops on the bits of registers: bit counting, and the 32-bit registers of machine code.

See ops_int.py for the shape of these functions.  32-bit results are zero-extended in their 64-bit slots.
"""

from __future__ import annotations

import numpy as np

from simt.machine import mufu, softfloat
from simt.machine.jit import jit
from simt.machine.softfloat import leading_zeros
from simt.program import MICRO_OPS, PRMT_MODES

POPC_B64 = MICRO_OPS["popc.b64"].code
CLZ_B64 = MICRO_OPS["clz.b64"].code
CLZ_B32 = MICRO_OPS["clz.b32"].code
BREV_B64 = MICRO_OPS["brev.b64"].code
BREV_B32 = MICRO_OPS["brev.b32"].code
FFS_B64 = MICRO_OPS["ffs.b64"].code
PACK_B64 = MICRO_OPS["pack.b64"].code
HIGH_B64 = MICRO_OPS["high.b64"].code
ADD_U32 = MICRO_OPS["add.u32"].code
ADD3_U32 = MICRO_OPS["add3.u32"].code
SUB_U32 = MICRO_OPS["sub.u32"].code
MAD_U32 = MICRO_OPS["mad.u32"].code
SHL_B32 = MICRO_OPS["shl.b32"].code
SHR_S32 = MICRO_OPS["shr.s32"].code
MIN_S32 = MICRO_OPS["min.s32"].code
MAX_S32 = MICRO_OPS["max.s32"].code
ABS_S32 = MICRO_OPS["abs.s32"].code
LOP3_B32 = MICRO_OPS["lop3.b32"].code
PRMT_B32 = MICRO_OPS["prmt.b32"].code
DP4A_B32 = MICRO_OPS["dp4a.b32"].code
MUFU_B32 = MICRO_OPS["mufu.b32"].code
FTZ_F32 = MICRO_OPS["ftz.f32"].code
SAT_F32 = MICRO_OPS["sat.f32"].code
ADD_RND = MICRO_OPS["add.rnd"].code
MUL_RND = MICRO_OPS["mul.rnd"].code
FMA_RND = MICRO_OPS["fma.rnd"].code
CVT_RND_F64 = MICRO_OPS["cvt.rnd.f64"].code
CVT_RND_S64 = MICRO_OPS["cvt.rnd.s64"].code
CVT_RND_U64 = MICRO_OPS["cvt.rnd.u64"].code
CVT_INT_F64 = MICRO_OPS["cvt.int.f64"].code

F4E = PRMT_MODES.index("f4e")
B4E = PRMT_MODES.index("b4e")
RC8 = PRMT_MODES.index("rc8")
ECL = PRMT_MODES.index("ecl")
ECR = PRMT_MODES.index("ecr")
RC16 = PRMT_MODES.index("rc16")

LOW = np.int64(0xFFFFFFFF)
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
    return result & LOW


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


@jit
def _signed(x):
    return (x << 32) >> 32


@jit
def _rounded(op, R, O, a, b, c, imm):
    """The micro-ops with a rounding in ``imm``."""
    n = np.uint64(32)
    if op == ADD_RND:
        for l in range(n):
            O[l] = softfloat.total(R[a + l], R[b + l], imm)
    elif op == MUL_RND:
        for l in range(n):
            O[l] = softfloat.product(R[a + l], R[b + l], imm)
    elif op == FMA_RND:
        for l in range(n):
            O[l] = softfloat.fused(R[a + l], R[b + l], R[c + l], imm)
    elif op == CVT_RND_F64:
        for l in range(n):
            O[l] = softfloat.from_float64(R[a + l], imm)
    elif op == CVT_RND_S64:
        for l in range(n):
            x = R[a + l]
            sign = np.int64(1) if x < 0 else np.int64(0)
            O[l] = softfloat.from_magnitude(sign, np.uint64(np.int64(0) - x if x < 0 else x), imm)
    elif op == CVT_RND_U64:
        for l in range(n):
            O[l] = softfloat.from_magnitude(np.int64(0), np.uint64(R[a + l]), imm)
    elif op == CVT_INT_F64:
        for l in range(n):
            O[l] = softfloat.to_integer(R[a + l], imm)
    elif op == MUFU_B32:
        for l in range(n):
            O[l] = mufu.approximation(imm, R[a + l])


@jit
def bits(op, R, O, a, b, c, imm):
    """Compute micro-op *op* of the family into ``O``."""
    n = np.uint64(32)
    if op == POPC_B64:
        for l in range(n):
            O[l] = _count(R[a + l])
    elif op == CLZ_B64:
        for l in range(n):
            O[l] = leading_zeros(np.uint64(R[a + l]))
    elif op == CLZ_B32:
        for l in range(n):
            O[l] = leading_zeros(np.uint64(R[a + l] & LOW)) - 32
    elif op == BREV_B64:
        for l in range(n):
            O[l] = _reversed(R[a + l])
    elif op == BREV_B32:
        for l in range(n):
            O[l] = (_reversed(R[a + l]) >> 32) & LOW
    elif op == FFS_B64:
        for l in range(n):
            x = R[a + l]
            O[l] = np.int64(0) if x == 0 else _count((x & (np.int64(0) - x)) - 1) + 1
    elif op == PACK_B64:
        for l in range(n):
            O[l] = (R[a + l] & LOW) | (R[b + l] << 32)
    elif op == HIGH_B64:
        for l in range(n):
            O[l] = (R[a + l] >> 32) & LOW
    elif op == ADD_U32:
        for l in range(n):
            O[l] = (R[a + l] + R[b + l]) & LOW
    elif op == ADD3_U32:
        for l in range(n):
            O[l] = (R[a + l] + R[b + l] + R[c + l]) & LOW
    elif op == SUB_U32:
        for l in range(n):
            O[l] = (R[a + l] - R[b + l]) & LOW
    elif op == MAD_U32:
        for l in range(n):
            O[l] = (R[a + l] * R[b + l] + R[c + l]) & LOW
    elif op == SHL_B32:
        for l in range(n):
            s = R[b + l]
            O[l] = (R[a + l] << (s & 31)) & LOW if (s >= 0) & (s < 32) else np.int64(0)
    elif op == SHR_S32:
        for l in range(n):
            s = R[b + l]
            O[l] = (_signed(R[a + l]) >> (s if (s >= 0) & (s < 32) else np.int64(31))) & LOW
    elif op == MIN_S32:
        for l in range(n):
            O[l] = min(_signed(R[a + l]), _signed(R[b + l])) & LOW
    elif op == MAX_S32:
        for l in range(n):
            O[l] = max(_signed(R[a + l]), _signed(R[b + l])) & LOW
    elif op == ABS_S32:
        for l in range(n):
            x = _signed(R[a + l])
            O[l] = (x if x >= 0 else np.int64(0) - x) & LOW
    elif op == LOP3_B32:
        for l in range(n):
            O[l] = _truth_table(R[a + l], R[b + l], R[c + l], imm)
    elif op == PRMT_B32:
        for l in range(n):
            O[l] = _permute(R[a + l], R[b + l], R[c + l], imm)
    elif op == DP4A_B32:
        for l in range(n):
            O[l] = (_dot(R[a + l], R[b + l], imm) + R[c + l]) & LOW
    elif op == FTZ_F32:
        for l in range(n):
            x = R[a + l]
            O[l] = x & 0x80000000 if x & INFINITY_F32 == 0 else x
    elif op == SAT_F32:
        for l in range(n):
            x = R[a + l]
            limited = np.int64(0) if (x & 0x80000000) | (x > INFINITY_F32) else min(x, ONE_F32)
            O[l] = limited
    else:
        _rounded(op, R, O, a, b, c, imm)
