"""What atomics leave in memory."""

from __future__ import annotations

import numpy as np

from simt.ops import softfloat
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS, rounded
from simt.ops.jit import jit
from simt.ops.scalar import unless_nan

ADD = ATOMICS.index("add")
MIN = ATOMICS.index("min")
MAX = ATOMICS.index("max")
AND = ATOMICS.index("and")
OR = ATOMICS.index("or")
XOR = ATOMICS.index("xor")
EXCH = ATOMICS.index("exch")
CAS = ATOMICS.index("cas")
INC = ATOMICS.index("inc")
DEC = ATOMICS.index("dec")
SUB = ATOMICS.index("sub")
NANMIN = ATOMICS.index("nanmin")
NANMAX = ATOMICS.index("nanmax")
S32_ATOMIC = ATOMIC_TYPES.index("s32")
S64_ATOMIC = ATOMIC_TYPES.index("s64")
U64_ATOMIC = ATOMIC_TYPES.index("u64")
F32_ATOMIC = ATOMIC_TYPES.index("f32")
F64_ATOMIC = ATOMIC_TYPES.index("f64")
F16X2_ATOMIC = ATOMIC_TYPES.index("f16x2")
BF16X2_ATOMIC = ATOMIC_TYPES.index("bf16x2")
F32X2_ATOMIC = ATOMIC_TYPES.index("f32x2")
F32X4_ATOMIC = ATOMIC_TYPES.index("f32x4")
NEAREST_F16 = rounded("f16", "rn")
NEAREST_BF16 = rounded("bf16", "rn")
SMALLEST_NORMAL_F32 = np.finfo(np.float32).smallest_normal


@jit
def _combine_integer(kind, signed, old, value, compare):
    """New integer contents after an atomic."""
    if kind == ADD:
        return old + value
    if kind == SUB:
        return old - value
    if kind == MIN or kind == NANMIN:
        less = value < old if signed else np.uint64(value) < np.uint64(old)
        return value if less else old
    if kind == MAX or kind == NANMAX:
        more = value > old if signed else np.uint64(value) > np.uint64(old)
        return value if more else old
    if kind == AND:
        return old & value
    if kind == OR:
        return old | value
    if kind == XOR:
        return old ^ value
    if kind == EXCH:
        return value
    if kind == CAS:
        return value if old == compare else old
    if kind == INC:
        return np.int64(0) if np.uint64(old) >= np.uint64(value) else old + 1
    return value if old == 0 or np.uint64(old) > np.uint64(value) else old - 1


@jit
def _combine_float(kind, old, value):
    """New floating-point contents after add, sub, min or max."""
    if kind == ADD:
        return unless_nan(value, old + value)
    if kind == SUB:
        return unless_nan(value, old - value)
    if kind == MIN or kind == MAX:
        # numba.cuda.atomic.min/max: a NaN operand is ignored, a NaN in memory stays
        if value != value or old != old:
            return old
    elif old != old:
        return value
    elif value != value:
        return old
    if kind == MIN or kind == NANMIN:
        return min(old, value)
    return max(old, value)


@jit
def _flush(x):
    """float32 *x*, a denormal replaced by zero of its sign."""
    return x * np.float32(0) if abs(x) < SMALLEST_NORMAL_F32 else x


@jit
def update(mod, R, O, b, c, ADDRESSES, exec_mask, M32, M64, F32, F64, SINGLE, flush):
    """Lanes in ascending order, each seeing the one before.  SINGLE: float32 view of O.

    *flush*: float32 additions take and leave zeros for denormals (PTX ISA, atom: those in global memory do).
    """
    kind = mod >> 4
    typ = mod & 15
    bitwise = kind == EXCH or kind == CAS or kind == AND or kind == OR or kind == XOR
    before = np.int64(-1)
    left = np.int64(0)  # there, as a number or as one of these: faster than to load what was just stored
    single_left = np.float32(0)
    double_left = np.float64(0)
    for l in range(32):
        if (exec_mask >> l) & 1:
            u = np.uint64(l)
            value = R[b + u]
            compare = R[c + u]
            if typ == S64_ATOMIC or typ == U64_ATOMIC or typ == F64_ATOMIC:
                k = np.uint64(ADDRESSES[l] >> 3)
                if typ == F64_ATOMIC and not bitwise:
                    old = M64[k]
                    there = double_left if ADDRESSES[l] == before else F64[k]
                    M64[k] = value
                    double_left = _combine_float(kind, there, F64[k])
                    F64[k] = double_left
                else:
                    old = left if ADDRESSES[l] == before else M64[k]
                    left = _combine_integer(kind, typ == S64_ATOMIC, old, value, compare)
                    M64[k] = left
                before = ADDRESSES[l]
                O[l] = old
            else:
                k = np.uint64(ADDRESSES[l] >> 2)
                again = ADDRESSES[l] == before
                old = np.int64(M32[k])
                value &= 0xFFFFFFFF
                if typ == F32_ATOMIC and not bitwise:
                    O[l] = value
                    single = SINGLE[np.uint64(2) * u]
                    if flush and kind == ADD:
                        there = single_left if again else _flush(F32[k])
                        single_left = _flush(unless_nan(single, there + _flush(single)))
                    else:
                        single_left = _combine_float(kind, single_left if again else F32[k], single)
                    F32[k] = single_left
                    before = ADDRESSES[l]
                elif typ == F32X2_ATOMIC or typ == F32X4_ATOMIC:
                    for part in range(4 if typ == F32X4_ATOMIC else 2):
                        row = np.uint64(32 * part)
                        word = k + np.uint64(part)
                        old = np.int64(M32[word])
                        O[row + u] = R[b + row + u] & 0xFFFFFFFF
                        single = SINGLE[np.uint64(2) * (row + u)]
                        total = _flush(F32[word]) + _flush(single) if flush else F32[word] + single
                        F32[word] = unless_nan(single, _flush(total) if flush else total)
                        O[row + u] = old
                    continue
                elif typ == F16X2_ATOMIC or typ == BF16X2_ATOMIC:
                    form = NEAREST_F16 if typ == F16X2_ATOMIC else NEAREST_BF16
                    low = softfloat.total(old & 0xFFFF, value & 0xFFFF, form)
                    M32[k] = np.uint32(low | (softfloat.total(old >> 16, value >> 16, form) << 16))
                else:
                    old = left if again else old
                    if typ == S32_ATOMIC:
                        old = (old << 32) >> 32
                        value = (value << 32) >> 32
                        compare = (compare << 32) >> 32
                    else:
                        compare &= 0xFFFFFFFF
                    before = ADDRESSES[l]
                    left = _combine_integer(kind, typ == S32_ATOMIC, old, value, compare) & 0xFFFFFFFF
                    M32[k] = np.uint32(left)
                O[l] = old
