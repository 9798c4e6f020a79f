"""What the accesses of a warp come to: sectors, distinct bytes, updates of atomics, passes through shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from simt.ops.arrays import address
from simt.ops.jit import jit, jit_inline
from simt.ops.scalar import lowest, popcount

SECTOR_SHIFT = 5
_SECTOR = 1 << SECTOR_SHIFT
_I32 = ir.IntType(32)

# By the binary logarithm of the size: bit k of 64 says that access k of those that follow each other begins a sector.
_BEGINS = np.array(
    [sum(1 << k for k in range(0, 63, _SECTOR >> shift)) for shift in range(SECTOR_SHIFT)],
    np.int64,
)


@jit_inline
def ideal_sectors(n_bytes, sectors):
    """The fewest sectors that hold so many bytes; lanes may share bytes (H200)."""
    return min((n_bytes + 31) >> SECTOR_SHIFT, sectors)


@jit_inline
def unit_bit(address, shift, first):
    """The bit of the unit of 2**shift bytes in which an address is, among 64 units from *first* on."""
    return np.uint64(1) << np.uint64((address >> shift) - first)


@jit_inline
def is_one_pass(lo, hi, size):
    """Whether addresses from *lo* to *hi* lie so close together that no bank of shared memory has two of the words."""
    return (size <= 4) & ((hi >> 2) - (lo >> 2) < 32)


def _repeated(ADDRESSES, shift, first):
    """The lanes whose unit of 2**shift bytes another lane touches, too, but for one lane of each unit."""
    repeated = np.int64(0)
    for l in range(32):
        for k in range(l + 1, 32):
            repeated |= np.int64(ADDRESSES[k] >> shift == ADDRESSES[l] >> shift) << l
    return repeated


def _close_repeated(ADDRESSES, shift, first):
    return _compared_at_once(ADDRESSES, shift, first)


@intrinsic
def _compared_at_once(typingctx: Any, addresses: Any, shift: Any, first: Any) -> Any:
    """:func:`_repeated` where all units are less than 2**32 beyond *first*: LLVM makes few instructions of it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        slots, units = (ir.VectorType(ir.IntType(bits), 32) for bits in (64, 32))

        def in_all_lanes(value: Any) -> Any:
            one = builder.insert_element(ir.Constant(slots, ir.Undefined), value, _I32(0))
            return builder.shuffle_vector(one, one, ir.Constant(units, [0] * 32))

        place = address(context, builder, addresses, args[0])
        given = builder.load(builder.bitcast(place, slots.as_pointer()), align=8)
        shifted = builder.ashr(given, in_all_lanes(args[1]))
        lanes = builder.trunc(builder.sub(shifted, in_all_lanes(args[2])), units)
        repeated = _I32(0)
        for apart in range(1, 17):  # each lane and the one so far behind it, lane 0 behind lane 31
            turned = ir.Constant(units, [(lane + apart) % 32 for lane in range(32)])
            equal = builder.icmp_signed("==", lanes, builder.shuffle_vector(lanes, lanes, turned))
            bits = builder.bitcast(equal, _I32)
            below = builder.and_(bits, _I32((1 << (32 - apart)) - 1))
            repeated = builder.or_(repeated, builder.or_(below, builder.lshr(bits, _I32(32 - apart))))
        return builder.zext(repeated, ir.IntType(64))

    return types.int64(addresses, shift, first), codegen


_far_repeated = jit(_repeated)
_near_repeated = jit(_close_repeated, plain=_repeated)


@jit
def count_units(ADDRESSES, shift, lo, hi):
    """Distinct units of 2**shift bytes that aligned accesses touch: *shift* 5: sectors, that of the size: addresses.

    All 32 lanes have an address from *lo* to *hi*: those that do not execute that of one that does.
    """
    first = lo >> shift
    span = (hi >> shift) - first
    if span < 64:
        bits = np.uint64(0)
        for l in range(np.uint64(32)):
            bits |= unit_bit(ADDRESSES[l], shift, first)
        return popcount(np.int64(bits & np.uint64(0xFFFFFFFF))) + popcount(np.int64(bits >> np.uint64(32)))
    if span >> 32 == 0:
        return 32 - popcount(_near_repeated(ADDRESSES, shift, first))
    return 32 - popcount(_far_repeated(ADDRESSES, shift, first))


@jit_inline
def sectors_of_line(ADDRESSES, start, step, shift, lo, hi, first, exec_mask):
    """Sectors that evenly spaced accesses of 2**shift bytes touch: that of lane l is at *start* + l * *step*.

    *first*: the lowest lane that executes.
    """
    lanes = exec_mask >> first
    if lanes & (lanes + 1) == 0 and -_SECTOR <= step <= _SECTOR:  # no gaps between lanes, so none between sectors
        return (hi >> SECTOR_SHIFT) - (lo >> SECTOR_SHIFT) + 1
    return sectors_with_gaps(ADDRESSES, start, step, shift, lo, hi, exec_mask)


@jit
def sectors_with_gaps(ADDRESSES, start, step, shift, lo, hi, exec_mask):
    """The same, if there may be gaps between the lanes."""
    if step == 0:
        return np.int64(1)
    if step >= _SECTOR or step <= -_SECTOR:
        return popcount(exec_mask)
    if step != np.int64(1) << shift:
        return count_units(ADDRESSES, SECTOR_SHIFT, lo, hi)
    per_sector = np.int64(_SECTOR) >> shift
    touched = exec_mask << ((start >> shift) & (per_sector - 1))
    apart = np.int64(1)
    while apart < per_sector:
        touched |= touched >> apart
        apart <<= 1
    touched &= _BEGINS[shift]
    return popcount(touched & 0xFFFFFFFF) + popcount(touched >> 32)


@jit
def count_updates(ADDRESSES, exec_mask, MEETING):
    """Sectors, each as often as lanes meet at one of its addresses (the most of them); measured on an H200."""
    for l in range(32):
        MEETING[l] = 0
        for k in range(32):
            MEETING[l] += (exec_mask >> k) & np.int64(ADDRESSES[k] == ADDRESSES[l])
    count = np.int64(0)
    for l in range(32):
        most = np.int64(0)
        first = (exec_mask >> l) & 1
        for k in range(32):
            same = (exec_mask >> k) & np.int64(ADDRESSES[k] >> SECTOR_SHIFT == ADDRESSES[l] >> SECTOR_SHIFT)
            most = max(most, MEETING[k] & -same)
            first &= ~(same & np.int64(k < l))  # else it is counted with lane k
        count += most & -first
    return count


@jit
def _pairs_agree(ADDRESSES, exec_mask, first, last):
    """Whether lanes *first* to *last* - 1 come in pairs (1 or 2 apart) that access the same address or nothing."""
    for apart in range(1, 3):
        agree = True
        for l in range(first, last):
            k = l ^ apart
            both = (exec_mask >> l) & (exec_mask >> k) & 1
            agree &= both == 0 or ADDRESSES[l] == ADDRESSES[k]
        if agree:
            return True
    return False


@jit
def _one_each(ADDRESSES, shift, lanes):
    """Of *lanes* the last one at each unit of 2**shift bytes."""
    kept = lanes
    for l in range(32):
        again = np.int64(0)
        for k in range(32):
            again |= (lanes >> k) & np.int64(k > l) & np.int64(ADDRESSES[k] >> shift == ADDRESSES[l] >> shift)
        kept &= ~(again << l)
    return kept


@jit
def _conflicts(ADDRESSES, size, lanes, FILL):
    """The most distinct words that *lanes* access in one bank; 0 if there are none."""
    for k in range(32):
        FILL[k] = 0
    shift = 2 if size <= 4 else 3 if size == 8 else 4
    rest = _one_each(ADDRESSES, shift, lanes)
    most = np.int64(0)
    while rest != 0:
        word = ADDRESSES[lowest(rest)] >> 2
        for part in range(max(size >> 2, 1)):
            FILL[(word + part) & 31] += 1
            most = max(most, FILL[(word + part) & 31])
        rest &= rest - 1
    return most


@jit
def count_wavefronts(ADDRESSES, size, exec_mask, FILL):
    """Passes through shared memory: 32 banks of 4 bytes, one word a bank and pass; (passes, least passes).

    A warp is served whole for accesses of up to 4 bytes, by halves for 8 and by quarters for 16; two neighbouring parts
    (halves of the warp, or quarters of one half) are served together if their lanes pair up (:func:`_pairs_agree`).
    Measured on an H200 with 24 access patterns: tests/data/hardware/shared_wavefronts.json.
    """
    total = np.int64(0)
    ideal = np.int64(0)
    width = 32 if size <= 8 else 16
    for start in range(0, 32, width):
        step = width
        if size >= 8 and not _pairs_agree(ADDRESSES, exec_mask, start, start + width):
            step = width // 2
        for first in range(start, start + width, step):
            group = ((np.int64(1) << step) - 1) << first
            passes = _conflicts(ADDRESSES, size, exec_mask & group, FILL)
            total += passes
            ideal += passes > 0
    return total, ideal
