"""64-bit integer micro-ops.

Shape of every ALU file: one function that computes all 32 lanes of one micro-op into the result buffer ``O``;
the engine writes ``O`` to the destination row under the exec mask.  Lane indices are unsigned, because for
signed ones Numba tests for negative indices and LLVM then does not vectorise the loop.
"""

from __future__ import annotations

import numpy as np

from simt.machine.jit import jit, jit_inline
from simt.machine.scalar import multiply_wide
from simt.program import MICRO_OPS

MOV = MICRO_OPS["mov"].code
ADD = MICRO_OPS["add.s64"].code
SUB = MICRO_OPS["sub.s64"].code
MUL = MICRO_OPS["mul.s64"].code
MAD = MICRO_OPS["mad.s64"].code
NEG = MICRO_OPS["neg.s64"].code
ABS = MICRO_OPS["abs.s64"].code
MIN_S64 = MICRO_OPS["min.s64"].code
MAX_S64 = MICRO_OPS["max.s64"].code
MIN_U64 = MICRO_OPS["min.u64"].code
MAX_U64 = MICRO_OPS["max.u64"].code
AND = MICRO_OPS["and.b64"].code
OR = MICRO_OPS["or.b64"].code
XOR = MICRO_OPS["xor.b64"].code
NOT = MICRO_OPS["not.b64"].code
SHL = MICRO_OPS["shl.b64"].code
SHR_S64 = MICRO_OPS["shr.s64"].code
SHR_U64 = MICRO_OPS["shr.u64"].code
FLOORDIV_S64 = MICRO_OPS["floordiv.s64"].code
FLOORMOD_S64 = MICRO_OPS["floormod.s64"].code
DIV_U64 = MICRO_OPS["div.u64"].code
REM_U64 = MICRO_OPS["rem.u64"].code
POW_S64 = MICRO_OPS["pow.s64"].code
POW_S64_U64 = MICRO_OPS["pow.s64.u64"].code
POW_U64 = MICRO_OPS["pow.u64"].code
MULHI_S64 = MICRO_OPS["mulhi.s64"].code
MULHI_U64 = MICRO_OPS["mulhi.u64"].code


S64_MIN = np.int64(-(2**63))
LARGEST_EXPONENT = 0x10000
"""Numba multiplies up to this exponent; above it calls the floating-point power (numba.cpython.numbers)."""


@jit
def _small(R, a, b):
    """Whether all lanes of both rows fit in 32 bits: then float64 quotients are exact after flooring."""
    fits = True
    for l in range(np.uint64(32)):
        x = R[a + l]
        y = R[b + l]
        fits &= (x == np.int64(np.int32(x & 0xFFFFFFFF))) & (y == np.int64(np.int32(y & 0xFFFFFFFF)))
    return fits


@jit
def _floor_divide(R, O, a, b, modulo):
    """Floor division or modulo; division by zero gives 0, and so does -2**63 // -1 (Numba, measured on an H200).

    Quotients of 32-bit values are computed in float64, where they vectorise: |x / y - floor(x / y)| is 0 or at
    least 1 / |y| > 2**-32 relative to a quotient below 2**31, so rounding never reaches the next integer.
    """
    n = np.uint64(32)
    if _small(R, a, b):
        for l in range(n):
            x = R[a + l]
            y = R[b + l]
            safe = y if y != 0 else np.int64(1)
            q = np.int64(np.floor(np.float64(x) / np.float64(safe)))
            value = x - q * safe if modulo else q
            O[l] = value if y != 0 else np.int64(0)
    else:
        for l in range(n):
            x = R[a + l]
            y = R[b + l]
            if y == 0:
                O[l] = 0
            elif y == -1:  # the one quotient that overflows gives 0 in Numba (the host's divide would trap)
                O[l] = np.int64(0) if modulo or x == S64_MIN else np.int64(0) - x
            elif modulo:
                O[l] = x % y
            else:
                O[l] = x // y


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


@jit_inline
def integer(op, R, O, a, b, c):
    """Compute micro-op *op* of the family into ``O``.  R: int64 rows; a, b, c: offsets of lane 0 (uint64)."""
    n = np.uint64(32)
    if op == MOV:
        for l in range(n):
            O[l] = R[a + l]
    elif op == ADD:
        for l in range(n):
            O[l] = R[a + l] + R[b + l]
    elif op == SUB:
        for l in range(n):
            O[l] = R[a + l] - R[b + l]
    elif op == MUL:
        for l in range(n):
            O[l] = R[a + l] * R[b + l]
    elif op == MAD:
        for l in range(n):
            O[l] = R[a + l] * R[b + l] + R[c + l]
    elif op == NEG:
        for l in range(n):
            O[l] = np.int64(0) - R[a + l]
    elif op == ABS:
        for l in range(n):
            x = R[a + l]
            O[l] = x if x >= 0 else np.int64(0) - x
    elif op == MIN_S64:
        for l in range(n):
            O[l] = min(R[a + l], R[b + l])
    elif op == MAX_S64:
        for l in range(n):
            O[l] = max(R[a + l], R[b + l])
    elif op == MIN_U64:
        for l in range(n):
            O[l] = R[a + l] if np.uint64(R[a + l]) < np.uint64(R[b + l]) else R[b + l]
    elif op == MAX_U64:
        for l in range(n):
            O[l] = R[a + l] if np.uint64(R[a + l]) > np.uint64(R[b + l]) else R[b + l]
    elif op == AND:
        for l in range(n):
            O[l] = R[a + l] & R[b + l]
    elif op == OR:
        for l in range(n):
            O[l] = R[a + l] | R[b + l]
    elif op == XOR:
        for l in range(n):
            O[l] = R[a + l] ^ R[b + l]
    elif op == NOT:
        for l in range(n):
            O[l] = ~R[a + l]
    elif op == SHL:
        for l in range(n):
            s = R[b + l] & 0xFFFFFFFF
            O[l] = R[a + l] << (s & 63) if s < 64 else np.int64(0)
    elif op == SHR_S64:
        for l in range(n):
            s = R[b + l] & 0xFFFFFFFF
            O[l] = R[a + l] >> (s if s < 64 else np.int64(63))
    elif op == SHR_U64:
        for l in range(n):
            s = R[b + l] & 0xFFFFFFFF
            O[l] = np.int64(np.uint64(R[a + l]) >> np.uint64(s & 63)) if s < 64 else np.int64(0)
    elif op == FLOORDIV_S64:
        _floor_divide(R, O, a, b, False)
    elif op == FLOORMOD_S64:
        _floor_divide(R, O, a, b, True)
    elif op == DIV_U64:
        for l in range(n):
            y = np.uint64(R[b + l])
            O[l] = np.int64(np.uint64(R[a + l]) // y) if y != 0 else np.int64(0)
    elif op == REM_U64:
        for l in range(n):
            y = np.uint64(R[b + l])
            O[l] = np.int64(np.uint64(R[a + l]) % y) if y != 0 else np.int64(0)
    elif op == POW_S64:
        for l in range(n):
            O[l] = _power(R[a + l], R[b + l], True, True)
    elif op == POW_S64_U64:
        for l in range(n):
            O[l] = _power(R[a + l], R[b + l], True, False)
    elif op == POW_U64:
        for l in range(n):
            O[l] = _power(R[a + l], R[b + l], False, False)
    elif op == MULHI_S64:
        for l in range(n):
            x = R[a + l]
            y = R[b + l]
            high = np.int64(multiply_wide(np.uint64(x), np.uint64(y))[0])
            O[l] = high - (y if x < 0 else np.int64(0)) - (x if y < 0 else np.int64(0))
    elif op == MULHI_U64:
        for l in range(n):
            O[l] = np.int64(multiply_wide(np.uint64(R[a + l]), np.uint64(R[b + l]))[0])
