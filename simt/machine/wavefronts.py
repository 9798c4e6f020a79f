"""How many passes through shared memory the accesses of a warp take: its bank conflicts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.machine.vectors import I32, I64, UNITS, in_all_lanes, lanes_at, mask_of, repeated, spread, turned
from simt.ops.jit import jit, jit_inline

_ROW_SHIFT = 7
"""All banks hold 128 bytes side by side: lanes that access one such row need no second pass."""


@jit_inline
def is_one_pass(lo, hi, size):
    """Whether addresses from *lo* to *hi* lie so close together that no bank of shared memory has two of the words."""
    return ((size <= 4) & ((hi >> 2) - (lo >> 2) < 32)) | ((size <= 8) & (lo == hi))


def _like_partners(ADDRESSES):
    """The lanes with the address of the lane one apart in their pair, and above bit 32 those with that two apart."""
    found = np.int64(0)
    for l in range(32):
        found |= np.int64(ADDRESSES[l] == ADDRESSES[l ^ 1]) << l
        found |= np.int64(ADDRESSES[l] == ADDRESSES[l ^ 2]) << (32 + l)
    return found


def _in_row(ADDRESSES, width):
    """The lanes that access the row of the first lane of their part, of *width* lanes."""
    found = np.int64(0)
    for l in range(32):
        found |= np.int64(ADDRESSES[l] >> _ROW_SHIFT == ADDRESSES[l - l % width] >> _ROW_SHIFT) << l
    return found


def _passes(ADDRESSES, shift, lanes, width):
    """The passes of *lanes*, served *width* at a time: in each part the most units of 2**shift bytes of a bank."""
    banks = 128 >> shift
    total = 0
    for first in range(0, 32, width):
        units = {int(ADDRESSES[l]) >> shift for l in range(first, first + width) if (lanes >> l) & 1}
        total += max(Counter(unit % banks for unit in units).values(), default=0)
    return np.int64(total)


# LLVM makes few instructions of these, the same for vectors of 32 lanes.


@intrinsic
def _like_partners_at_once(typingctx: Any, addresses: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = lanes_at(context, builder, signature, args)
        one, two = (
            mask_of(builder, builder.icmp_signed("==", lanes, turned(builder, lanes, [k ^ apart for k in range(32)])))
            for apart in (1, 2)
        )
        return builder.or_(one, builder.shl(two, I64(32)))

    return types.int64(addresses), codegen


def _in_row_at_once(width: int) -> Any:
    """What :func:`_in_row` gives for *width*."""

    @intrinsic
    def in_row(typingctx: Any, addresses: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            lanes = lanes_at(context, builder, signature, args)
            rows = builder.ashr(lanes, in_all_lanes(builder, I64(_ROW_SHIFT)))
            first = turned(builder, rows, [lane - lane % width for lane in range(32)])
            return mask_of(builder, builder.icmp_signed("==", rows, first))

        return types.int64(addresses), codegen

    return in_row


def _sum(builder: Any, one: list[Any], other: list[Any]) -> list[Any]:
    """The sums of numbers of which each vector has a bit, the lowest first: one number for each bit of a lane."""
    carry = builder.and_(one[0], other[0])
    digits = [builder.xor(one[0], other[0])]
    for a, b in zip(one[1:], other[1:], strict=True):
        both = builder.xor(a, b)
        digits.append(builder.xor(both, carry))
        carry = builder.or_(builder.and_(a, b), builder.and_(both, carry))
    return [*digits, carry]


def _at_once(width: int) -> Any:
    """What :func:`_passes` gives for *width*: counted for all banks at once, each of which has a bit of a number."""

    @intrinsic
    def passes(typingctx: Any, addresses: Any, shift: Any, lanes: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def constant(value: int) -> Any:
                return ir.Constant(UNITS, [value] * 32)

            shifted = builder.ashr(lanes_at(context, builder, signature, args), in_all_lanes(builder, args[1]))
            some = spread(builder, args[2])
            idle = ir.Constant(UNITS, [~lane for lane in range(32)])  # like no unit, and like no other lane
            units = builder.select(some, builder.trunc(shifted, UNITS), idle)
            last = builder.trunc(in_all_lanes(builder, builder.sub(builder.lshr(I64(128), args[1]), I64(1))), UNITS)
            bank = builder.shl(constant(1), builder.and_(units, last))
            alone = builder.bitcast(builder.not_(repeated(builder, units, width)), ir.VectorType(ir.IntType(1), 32))
            counted = builder.and_(some, alone)
            digits = [builder.select(counted, bank, constant(0))]
            apart = 1
            while apart < width:
                order = [lane ^ apart for lane in range(32)]
                digits = _sum(builder, digits, [turned(builder, digit, order) for digit in digits])
                apart *= 2
            most, banks = constant(0), constant(-1)
            for k, digit in reversed(list(enumerate(digits))):
                those = builder.and_(digit, banks)
                has = builder.icmp_signed("!=", those, constant(0))
                banks = builder.select(has, those, banks)
                most = builder.select(has, builder.or_(most, constant(1 << k)), most)
            total = I32(0)
            for first in range(0, 32, width):
                total = builder.add(total, builder.extract_element(most, I32(first)))
            return builder.zext(total, I64)

        return types.int64(addresses, types.int64, types.int64), codegen

    return passes


_passes_of_8, _passes_of_16, _passes_of_32 = (_at_once(width) for width in (8, 16, 32))
_in_row_of_8, _in_row_of_16, _in_row_of_32 = (_in_row_at_once(width) for width in (8, 16, 32))


def _in_row_by_llvm(ADDRESSES, width):
    if width == 32:
        return _in_row_of_32(ADDRESSES)
    return _in_row_of_16(ADDRESSES) if width == 16 else _in_row_of_8(ADDRESSES)


def _passes_by_llvm(ADDRESSES, shift, lanes, width):
    if width == 32:
        return _passes_of_32(ADDRESSES, shift, lanes)
    return _passes_of_16(ADDRESSES, shift, lanes) if width == 16 else _passes_of_8(ADDRESSES, shift, lanes)


def _like_partners_by_llvm(ADDRESSES):
    return _like_partners_at_once(ADDRESSES)


_find_like_partners = jit(_like_partners_by_llvm, plain=_like_partners)
_find_in_row = jit(_in_row_by_llvm, plain=_in_row)
_count_passes = jit(_passes_by_llvm, plain=_passes)


@jit_inline
def _come_in_pairs(like, exec_mask, apart, odd):
    """The lanes (*odd*: the upper ones of pairs *apart*) that access what their partners do, or do so alone."""
    both = exec_mask & (((exec_mask >> apart) & ~odd) | ((exec_mask << apart) & odd))
    return like | ~both


@jit
def _count(ADDRESSES, shift, lanes, width):
    """Passes of *lanes*, so many of which are served at a time, and how many parts of these there are."""
    parts = np.int64(0)
    for first in range(0, 32, width):
        parts += np.int64((lanes >> first) & ((np.int64(1) << width) - 1) != 0)
    if parts == 0:
        return parts, parts
    if lanes & ~_find_in_row(ADDRESSES, width) == 0:
        return parts, parts
    return _count_passes(ADDRESSES, shift, lanes, width), parts


@jit
def count_wavefronts(ADDRESSES, size, exec_mask):
    """Passes through shared memory: 32 banks of 4 bytes, one word a bank and pass; (passes, least passes).

    A warp is served whole for accesses of up to 4 bytes, by halves for 8 and by quarters for 16; two neighbouring parts
    (halves of the warp, or quarters of one half) are served together if their lanes come in pairs, 1 or 2 apart, that
    access the same address or nothing.  Measured on an H200 with 24 access patterns:
    tests/data/hardware/shared_wavefronts.json.
    """
    if size <= 4:
        return _count(ADDRESSES, np.int64(2), exec_mask, np.int64(32))
    shift = np.int64(3 if size == 8 else 4)
    like = _find_like_partners(ADDRESSES)
    one = _come_in_pairs(like, exec_mask, 1, 0xAAAAAAAA)
    two = _come_in_pairs(like >> 32, exec_mask, 2, 0xCCCCCCCC)
    width = np.int64(32 if size == 8 else 16)
    paired = np.int64(0)
    for start in range(0, 32, width):
        part = ((np.int64(1) << width) - 1) << start
        if part & ~one == 0 or part & ~two == 0:
            paired |= part
    passes, parts = _count(ADDRESSES, shift, exec_mask & paired, width)
    more, others = _count(ADDRESSES, shift, exec_mask & ~paired, width >> 1)
    return passes + more, parts + others
