"""What the accesses of a warp come to: sectors, distinct bytes, updates of atomics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from simt.machine.vectors import I64, UNITS, in_all_lanes, lanes_at, mask_of, repeated, turned
from simt.ops.jit import jit, jit_inline
from simt.ops.scalar import FULL, lowest, popcount

SECTOR_SHIFT = 5
_SECTOR = 1 << SECTOR_SHIFT

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


def _repeated(ADDRESSES, shift, first):
    """The lanes whose unit of 2**shift bytes another lane touches, too, but for one lane of each unit.

    All units are less than 2**32 beyond *first*.
    """
    repeated = np.int64(0)
    for l in range(32):
        for k in range(l + 1, 32):
            repeated |= np.int64(ADDRESSES[k] >> shift == ADDRESSES[l] >> shift) << l
    return repeated


def _at(ADDRESSES, shift, bits, unit):
    """The lanes whose unit of 2**shift bytes has a number of which *bits* are *unit*."""
    found = np.int64(0)
    for l in range(32):
        found |= np.int64((ADDRESSES[l] >> shift) & bits == unit) << l
    return found


def _rising(ADDRESSES, shift):
    """The lanes whose unit of 2**shift bytes is beyond that of the lane before, and above bit 32 those short of it."""
    found = np.int64(0)
    for l in range(1, 32):
        unit, before = ADDRESSES[l] >> shift, ADDRESSES[l - 1] >> shift
        found |= np.int64(unit > before) << l | np.int64(unit < before) << (32 + l)
    return found


# LLVM makes few instructions of these, the same for vectors of 32 lanes.


@intrinsic
def _repeated_at_once(typingctx: Any, addresses: Any, shift: Any, first: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        shifted = builder.ashr(lanes_at(context, builder, signature, args), in_all_lanes(builder, args[1]))
        lanes = builder.trunc(builder.sub(shifted, in_all_lanes(builder, args[2])), UNITS)
        return builder.zext(repeated(builder, lanes), I64)

    return types.int64(addresses, shift, first), codegen


@intrinsic
def _at_at_once(typingctx: Any, addresses: Any, shift: Any, bits: Any, unit: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        shift, bits, unit = (in_all_lanes(builder, one) for one in args[1:])
        lanes = builder.and_(builder.ashr(lanes_at(context, builder, signature, args), shift), bits)
        return mask_of(builder, builder.icmp_signed("==", lanes, unit))

    return types.int64(addresses, types.int64, types.int64, types.int64), codegen


@intrinsic
def _rising_at_once(typingctx: Any, addresses: Any, shift: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = builder.ashr(lanes_at(context, builder, signature, args), in_all_lanes(builder, args[1]))
        before = turned(builder, lanes, [max(lane - 1, 0) for lane in range(32)])
        more, less = (mask_of(builder, builder.icmp_signed(how, lanes, before)) for how in "><")
        return builder.or_(more, builder.shl(less, I64(32)))

    return types.int64(addresses, types.int64), codegen


def _repeated_by_llvm(ADDRESSES, shift, first):
    return _repeated_at_once(ADDRESSES, shift, first)


def _at_by_llvm(ADDRESSES, shift, bits, unit):
    return _at_at_once(ADDRESSES, shift, bits, unit)


def _rising_by_llvm(ADDRESSES, shift):
    return _rising_at_once(ADDRESSES, shift)


_find_repeated = jit(_repeated_by_llvm, plain=_repeated)
_lanes_at = jit(_at_by_llvm, plain=_at)
_find_rising = jit(_rising_by_llvm, plain=_rising)


@jit_inline
def _is_close(shift, lo, hi):
    """Whether units from address *lo* to *hi* are so near to each other that :func:`_repeated` can tell them apart."""
    return ((hi >> shift) - (lo >> shift)) >> 32 == 0


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
    rising = _find_rising(ADDRESSES, shift)
    if rising >> 32 == 0:
        return popcount(rising) + 1
    if _is_close(shift, lo, hi):
        return 32 - popcount(_find_repeated(ADDRESSES, shift, first))
    rest = np.int64(FULL)
    count = np.int64(0)
    while rest != 0:
        rest &= ~_lanes_at(ADDRESSES, shift, -1, ADDRESSES[lowest(rest)] >> shift)
        count += 1
    return count


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
def count_updates(ADDRESSES, shift, lo, hi, exec_mask, sectors):
    """Sectors, each as often as lanes meet at one of its addresses (the most of them); measured on an H200.

    Of aligned atomics of 2**shift bytes from *lo* to *hi*, which touch so many *sectors*.
    """
    count = sectors
    rest = exec_mask
    if _is_close(shift, lo, hi):
        rest = _find_repeated(ADDRESSES, shift, lo >> shift)  # the only ones where lanes meet
    while rest != 0:
        sector = rest & _lanes_at(ADDRESSES, SECTOR_SHIFT, -1, ADDRESSES[lowest(rest)] >> SECTOR_SHIFT)
        rest &= ~sector
        most = np.int64(1)
        while sector != 0:
            meeting = _lanes_at(ADDRESSES, 0, -1, ADDRESSES[lowest(sector)])
            most = max(most, popcount(meeting & exec_mask))
            sector &= ~meeting
        count += most - 1
    return count
