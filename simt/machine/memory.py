"""Loads, stores and atomics of a warp: addresses, checks, coalescing, bank conflicts, data; atomics.py combines.

All memory is one arena of bytes: global allocations with guard gaps between them, then each host worker's
shared and local memory.  Device address = ``ADDRESS_BASE`` + position in the arena.  Lanes that do not execute
get the address of one that does, so that whole-warp loops need no branches.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.atomics import F32X2_ATOMIC, F32X4_ATOMIC, update
from simt.machine.coalescing import (
    SECTOR_SHIFT,
    count_units,
    count_updates,
    ideal_sectors,
    sectors_of_line,
)
from simt.machine.events import tell_access
from simt.machine.wavefronts import count_wavefronts, is_one_pass
from simt.ops.encoding import ATOMIC_BYTES, LOCAL_WINDOW, MEMORY_TYPES, SHARED_WINDOW
from simt.ops.integer import element_at, from_start, is_outside
from simt.ops.jit import jit, jit_inline
from simt.ops.memory import ACCESS_SHIFT, ATOMIC, CONST, GENERIC, GLOBAL, LOCAL, SHARED, SPACE_MASK, STORE
from simt.ops.row import NUMBER_MASK
from simt.ops.scalar import lowest, popcount

U8 = MEMORY_TYPES["u8"][0]
S8 = MEMORY_TYPES["s8"][0]
U16 = MEMORY_TYPES["u16"][0]
S16 = MEMORY_TYPES["s16"][0]
U32 = MEMORY_TYPES["u32"][0]
S32 = MEMORY_TYPES["s32"][0]
B64 = MEMORY_TYPES["b64"][0]
V2 = MEMORY_TYPES["v2"][0]
V4 = MEMORY_TYPES["v4"][0]
_LOG2_BYTES = np.array([size.bit_length() - 1 for _, size in MEMORY_TYPES.values()])
_LOG2_ATOMIC = np.array([size.bit_length() - 1 for size in ATOMIC_BYTES])

_WINDOW = np.int64(1) << 32


@jit_inline
def _space_of(op, address):
    """The space that a micro-op addresses; generic ones by the address of their first lane."""
    space = op & SPACE_MASK
    if space != GENERIC:
        return space
    if SHARED_WINDOW <= address < SHARED_WINDOW + _WINDOW:
        return np.int64(SHARED)
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + _WINDOW:
        return np.int64(LOCAL)
    return np.int64(GLOBAL)


@jit_inline
def _access_of(op):
    """LOAD, STORE or ATOMIC."""
    return (op & NUMBER_MASK) >> ACCESS_SHIFT


@jit
def find(address, size, STARTS, ENDS):
    """The allocation that holds bytes [address, address + size), or -1.  STARTS is sorted."""
    low = 0
    high = len(STARTS)
    while low < high:
        middle = (low + high) >> 1
        if STARTS[middle] <= address:
            low = middle + 1
        else:
            high = middle
    if low > 0 and address <= ENDS[low - 1] - size:  # never adds to an address: the sum could wrap
        return low - 1
    return -1


@jit_inline
def last_of_group(shift):
    """Lanes, less one, that store 2**shift bytes each in one group: it asks for 128 bytes at most."""
    return (np.int64(32) >> max(shift - 2, 0)) - 1


@jit_inline
def holds(start, end, lo, hi, size):
    """Whether the allocation [start, end) holds accesses of *size* bytes at addresses from *lo* to *hi*."""
    return (start <= lo) & (hi <= end - size)


@jit
def _fail(reason, mask, ADDRESSES, ERROR):
    ERROR[L.E_REASON] = reason
    ERROR[L.E_MASK] = mask
    ERROR[L.E_LANE] = lowest(mask)
    ERROR[L.E_ADDRESS] = ADDRESSES[lowest(mask)]
    return reason


@jit_inline
def _check_global(ADDRESSES, lo, hi, size, exec_mask, writes, pc, STARTS, ENDS, WRITABLE, HINTS, ERROR):
    hint = HINTS[pc]
    if not holds(STARTS[hint], ENDS[hint], lo, hi, size):
        bad = np.int64(0)
        hint = -1
        for l in range(32):
            if (exec_mask >> l) & 1:
                hint = find(ADDRESSES[l], size, STARTS, ENDS)
                if hint < 0:
                    bad |= np.int64(1) << l
                elif writes and not WRITABLE[hint]:
                    return _fail(L.R_READ_ONLY, np.int64(1) << l, ADDRESSES, ERROR)
        if bad != 0:
            return _fail(L.R_OUT_OF_BOUNDS, bad, ADDRESSES, ERROR)
        HINTS[pc] = hint
    elif writes and not WRITABLE[hint]:
        return _fail(L.R_READ_ONLY, exec_mask, ADDRESSES, ERROR)
    return L.R_NONE


@jit
def _check_window(ADDRESSES, size, limit, exec_mask, ERROR):
    bad = np.int64(0)
    for l in range(32):
        if (exec_mask >> l) & 1 and (ADDRESSES[l] < 0 or ADDRESSES[l] > limit - size):
            bad |= np.int64(1) << l
    return _fail(L.R_OUT_OF_BOUNDS, bad, ADDRESSES, ERROR) if bad != 0 else L.R_NONE


@jit_inline
def _load(mod, O, ADDRESSES, M8, M16, M32, M64):
    n = np.uint64(32)
    if mod == U32:
        for l in range(n):
            O[l] = np.int64(M32[np.uint64(ADDRESSES[l] >> 2)])
    elif mod == S32:
        for l in range(n):
            O[l] = np.int64(np.int32(M32[np.uint64(ADDRESSES[l] >> 2)]))
    elif mod == B64:
        for l in range(n):
            O[l] = M64[np.uint64(ADDRESSES[l] >> 3)]
    elif mod == U8:
        for l in range(n):
            O[l] = np.int64(M8[np.uint64(ADDRESSES[l])])
    elif mod == S8:
        for l in range(n):
            O[l] = (np.int64(M8[np.uint64(ADDRESSES[l])]) << 56) >> 56
    elif mod == U16:
        for l in range(n):
            O[l] = np.int64(M16[np.uint64(ADDRESSES[l] >> 1)])
    elif mod == S16:
        for l in range(n):
            O[l] = (np.int64(M16[np.uint64(ADDRESSES[l] >> 1)]) << 48) >> 48
    else:
        for part in range(2 if mod == V2 else 4):
            for l in range(n):
                O[np.uint64(32 * part) + l] = np.int64(M32[np.uint64((ADDRESSES[l] >> 2) + part)])


@jit_inline
def _store(mod, R, b, next_row, ADDRESSES, run, exec_mask, M8, M16, M32, M64):
    """Lanes of one group after another, each from its highest lane down; a group asks for 128 bytes at most.

    So of several lanes that store to one address the lowest one of the last group stays: the rule of an H200, without
    exception in 201,600 cases of global, shared and generic memory (tests/data/hardware/same_address.json).
    *run* says that all 32 lanes store, to one ascending run of addresses: then the loop vectorises.
    """
    if run and (mod == U32 or mod == S32):
        start = np.uint64(ADDRESSES[0] >> 2)
        for l in range(np.uint64(32)):
            M32[start + l] = np.uint32(R[b + l] & 0xFFFFFFFF)
        return
    if run and mod == B64:
        start = np.uint64(ADDRESSES[0] >> 3)
        for l in range(np.uint64(32)):
            M64[start + l] = R[b + l]
        return
    turn = last_of_group(_LOG2_BYTES[mod])
    for k in range(32):
        l = k ^ turn
        if (exec_mask >> l) & 1:
            u = np.uint64(l)
            address = ADDRESSES[u]
            value = R[b + u]
            if mod == U32 or mod == S32:
                M32[np.uint64(address >> 2)] = np.uint32(value & 0xFFFFFFFF)
            elif mod == B64:
                M64[np.uint64(address >> 3)] = value
            elif mod == U8 or mod == S8:
                M8[np.uint64(address)] = np.uint8(value & 0xFF)
            elif mod == U16 or mod == S16:
                M16[np.uint64(address >> 1)] = np.uint16(value & 0xFFFF)
            else:
                for part in range(2 if mod == V2 else 4):
                    value = R[b + np.uint64(next_row * part) + u]
                    M32[np.uint64((address >> 2) + part)] = np.uint32(value & 0xFFFFFFFF)


@jit
def rows_loaded(op, mod):
    """Rows of 32-bit registers that a load or atomic leaves."""
    if _access_of(op) == ATOMIC:
        return 4 if mod & 15 == F32X4_ATOMIC else 2 if mod & 15 == F32X2_ATOMIC else 1
    return 4 if mod == V4 else 2 if mod == V2 else 1


@jit
def _is_quiet(CODE, pc):
    """Whether the launch's watch need not be told of the accesses of a micro-op."""
    return (CODE[np.uint64(pc * L.N_CODE) + L.C_OP] >> L.FLAGS_SHIFT) & L.QUIET


@jit
def _note_reached(ADDRESSES, lo, hi, run, REACHED):
    """Note which global memory a launch accesses, from address *lo* to *hi*; *run*: all lanes do, side by side."""
    # What has been noted is not written again: workers would wait for each other's lines of the host's cache.
    if run or lo == hi:
        for unit in range((lo - L.ADDRESS_BASE) >> L.REACH_SHIFT, ((hi - L.ADDRESS_BASE) >> L.REACH_SHIFT) + 1):
            if REACHED[unit] == 0:
                REACHED[unit] = 1
        return
    for l in range(32):
        unit = (ADDRESSES[l] - L.ADDRESS_BASE) >> L.REACH_SHIFT
        if REACHED[unit] == 0:
            REACHED[unit] = 1


@jit_inline
def access(op, mod, imm, pc, w, a, b, c, exec_mask, watched, s):
    """Execute one memory micro-op for the exec lanes (not empty); returns a reason (R_NONE if all went well).

    ``s.X`` receives this execution's memory counters, in the order of program.COUNTERS.
    Loads leave 1, 2 or 4 rows in ``s.O``.  *watched*: the launch's watch may have to be told.
    """
    R = s.R
    LAUNCH = s.LAUNCH
    X = s.X
    ADDRESSES = s.ADDRESSES
    WORDS = s.WORDS
    ERROR = s.ERROR
    n = np.uint64(32)
    atomic = _access_of(op) == ATOMIC
    writes = atomic or _access_of(op) == STORE
    if atomic:
        shift = _LOG2_ATOMIC[mod & 15]
    else:
        shift = _LOG2_BYTES[mod]
    size = np.int64(1) << shift

    # Addresses, their range, alignment, and whether they are evenly spaced: those of most accesses are.
    first = lowest(exec_mask)
    neutral = R[a + np.uint64(first)] + imm
    step = size
    if (exec_mask >> first) & 2:
        step = R[a + np.uint64(first + 1)] + imm - neutral
    start = neutral - first * step
    lo = neutral
    hi = neutral
    odd = np.int64(0)
    line = True
    expected = start
    for l in range(n):
        active = (exec_mask >> np.int64(l)) & 1
        address = R[a + l] + imm if active else neutral
        ADDRESSES[l] = address
        lo = min(lo, address)
        hi = max(hi, address)
        odd |= address
        line &= (active == 0) | (address == expected)
        expected += step
    run = line and step == size
    distinct = line and step != 0

    space = _space_of(op, neutral)
    if odd & (size - 1):
        bad = np.int64(0)
        for l in range(32):
            if (exec_mask >> l) & 1 and ADDRESSES[l] & (size - 1):
                bad |= np.int64(1) << l
        ERROR[L.E_EXTRA] = size
        return _fail(L.R_MISALIGNED, bad, ADDRESSES, ERROR)
    ERROR[L.E_EXTRA] = size
    lanes = popcount(exec_mask)
    for k in range(L.N_MEMORY):
        X[k] = 0
    if space != CONST:
        X[L.X_REQUESTS] = 1
        X[L.X_BYTES] = lanes << shift
        X[L.X_DISTINCT] = lanes << shift
    if space == GLOBAL or space == CONST:
        reason = _check_global(
            ADDRESSES, lo, hi, size, exec_mask, writes, pc, s.STARTS, s.ENDS, s.WRITABLE, s.HINTS, ERROR
        )
        if reason != L.R_NONE:
            return reason
        if space == GLOBAL:
            if line:
                X[L.X_SECTORS] = sectors_of_line(ADDRESSES, start, step, shift, lo, hi, first, exec_mask)
            else:
                X[L.X_SECTORS] = count_units(ADDRESSES, SECTOR_SHIFT, lo, hi)
            X[L.X_SECTORS_IDEAL] = ideal_sectors(X[L.X_BYTES], X[L.X_SECTORS])
            if len(s.REACHED):
                _note_reached(ADDRESSES, lo, hi, run and exec_mask == L.FULL, s.REACHED)
            if lo == hi:
                X[L.X_DISTINCT] = size
            elif X[L.X_SECTORS] < lanes and not distinct:
                X[L.X_DISTINCT] = count_units(ADDRESSES, shift, lo, hi) << shift
            if atomic:
                X[L.X_UPDATES] = X[L.X_SECTORS]
                if lo == hi:
                    X[L.X_UPDATES] = lanes
                elif X[L.X_DISTINCT] != X[L.X_BYTES]:
                    X[L.X_UPDATES] = count_updates(ADDRESSES, shift, lo, hi, exec_mask, X[L.X_SECTORS])
        base = L.ADDRESS_BASE
    elif space == SHARED:
        if lo >= SHARED_WINDOW:
            for l in range(n):
                ADDRESSES[l] -= SHARED_WINDOW
            lo -= SHARED_WINDOW
            hi -= SHARED_WINDOW
        # ptxas widens loads: their last words may be beyond the end (numba-cuda's test_sm; an H200 lets them pass).
        needed = size if writes else min(size, 4)
        if lo < 0 or hi > LAUNCH[L.LAUNCH_SHARED_BYTES] - needed:
            return _check_window(ADDRESSES, needed, LAUNCH[L.LAUNCH_SHARED_BYTES], exec_mask, ERROR)
        if is_one_pass(lo, hi, size):
            X[L.X_WAVEFRONTS] = 1
            X[L.X_WAVEFRONTS_IDEAL] = 1
        else:
            X[L.X_WAVEFRONTS], X[L.X_WAVEFRONTS_IDEAL] = count_wavefronts(ADDRESSES, size, exec_mask)
        if not distinct:
            X[L.X_DISTINCT] = count_units(ADDRESSES, shift, lo, hi) << shift
        base = -LAUNCH[L.LAUNCH_SHARED]
    else:
        if lo >= LOCAL_WINDOW:
            for l in range(n):
                ADDRESSES[l] -= LOCAL_WINDOW
            lo -= LOCAL_WINDOW
            hi -= LOCAL_WINDOW
        limit = LAUNCH[L.LAUNCH_LOCAL_BYTES]
        if lo < 0 or hi > limit - size:
            return _check_window(ADDRESSES, size, limit, exec_mask, ERROR)
        # Hardware interleaves local memory by 4-byte words over the lanes of a warp: the sectors are those of
        # the interleaved addresses, while the data of each thread stand together here.
        for l in range(n):
            lane = np.int64(l) if (exec_mask >> np.int64(l)) & 1 else lowest(exec_mask)
            WORDS[l] = ((ADDRESSES[l] >> 2) << 7) + (lane << 2)
        X[L.X_SECTORS] = count_units(WORDS, SECTOR_SHIFT, (lo >> 2) << 7, ((hi >> 2) << 7) + 127) * max(size >> 2, 1)
        X[L.X_SECTORS_IDEAL] = (X[L.X_BYTES] + 31) >> 5
        X[L.X_REQUESTS] = max(size >> 2, 1)  # one request per interleaved word (H200)
        for l in range(n):
            lane = np.int64(l) if (exec_mask >> np.int64(l)) & 1 else lowest(exec_mask)
            ADDRESSES[l] += (w * 32 + lane) * LAUNCH[L.LAUNCH_LOCAL_STRIDE]
        base = -LAUNCH[L.LAUNCH_LOCAL]
    for l in range(n):
        ADDRESSES[l] -= base

    if watched and space != CONST and not _is_quiet(s.CODE, pc):
        kind = _access_of(op)
        tell_access(
            kind, space, mod, size, pc, w, exec_mask, b, ADDRESSES, LAUNCH, s.WARPS, s.EVENTS, R, s.M8, s.M16, s.M32
        )
    if atomic:
        flush = space == GLOBAL
        update(mod, R, s.O, b, c, ADDRESSES, exec_mask, s.M32, s.M64, s.MF32, s.MF64, s.O32, flush)
    elif writes:
        # The second word of RZ is zero, too.
        next_row = np.int64(32) if b != 0 else np.int64(0)
        _store(mod, R, b, next_row, ADDRESSES, run and exec_mask == L.FULL, exec_mask, s.M8, s.M16, s.M32, s.M64)
    else:
        _load(mod, s.O, ADDRESSES, s.M8, s.M16, s.M32, s.M64)
    return L.R_NONE


@jit
def _not_an_index(wrong, index, size, ERROR):
    """Note that the lanes *wrong*, the lowest of which has *index*, are outside of an axis of *size*."""
    ERROR[L.E_REASON] = L.R_INDEX
    ERROR[L.E_MASK] = wrong
    ERROR[L.E_LANE] = lowest(wrong)
    ERROR[L.E_ADDRESS] = index
    ERROR[L.E_EXTRA] = size


@jit_inline
def step_index(R, O, a, b, size, stride, wraps, exec_mask, ERROR):
    """``index``: O = a + i * stride with Python's negative indices; returns the mask of lanes out of range."""
    bad = np.uint64(0)
    for l in range(np.uint64(32)):
        i = from_start(R[b + l], size, wraps)
        bad |= np.uint64(is_outside(i, size)) << np.uint64(l)
        O[l] = element_at(R[a + l], i, stride)
    wrong = np.int64(bad) & exec_mask
    if wrong != 0:
        _not_an_index(wrong, R[b + np.uint64(lowest(wrong))], size, ERROR)
    return wrong


@jit
def step_within(R, O, a, b, wraps, exec_mask, ERROR):
    """``within``: O = i, with Python's negative indices for a size in R; returns the mask of lanes out of range."""
    bad = np.uint64(0)
    for l in range(np.uint64(32)):
        O[l] = from_start(R[a + l], R[b + l], wraps)
        bad |= np.uint64(is_outside(O[l], R[b + l])) << np.uint64(l)
    wrong = np.int64(bad) & exec_mask
    if wrong != 0:
        _not_an_index(wrong, R[a + np.uint64(lowest(wrong))], R[b + np.uint64(lowest(wrong))], ERROR)
    return wrong
