"""Race detection: who touched each piece of memory last, and whether a barrier lies between.

Two accesses to the same bytes race if different threads make them, at least one writes, not both are atomic, and
nothing orders them: a block barrier for threads of different warps; a block barrier or ``__syncwarp`` within a warp
(since Volta, lanes of a warp need not run in lockstep); nothing at all between blocks of a launch.  Kernels that
order blocks themselves, with fences and atomics, are not judged across blocks.  Threads that store the value that
is there already do not race: the result does not depend on who comes first.

The shadow keeps, per unit of memory (the kernel's smallest access), the last write and the last reads of two
different threads.  Shuffles and votes do not order memory (CUDA C++ Programming Guide, "Warp Shuffle Functions").
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.ops.encoding import MEMORY_TYPES
from simt.ops.jit import jit
from simt.ops.memory import ATOMIC as KIND_ATOMIC
from simt.ops.memory import GLOBAL
from simt.ops.memory import LOAD as KIND_LOAD

B64 = MEMORY_TYPES["b64"][0]

# One unit of the shadow: last write, last read, last read by another thread than that; each who and when.
WRITE, READ, OTHER_READ = 0, 2, 4
N_SHADOW = 6
# Who: block, thread in block, micro-op, whether atomic; 0 is nobody.
THREAD_SHIFT, PC_SHIFT = 22, 2
BLOCK_SHIFT = 32
ATOMIC, SOMEBODY = 2, 1


@jit
def _orders(who, when, block, thread, epoch, global_space, fenced):
    """Whether access (*who*, *when*) is ordered before one of *thread* of *block* at *epoch*."""
    if who == 0:
        return True
    other_block = who >> BLOCK_SHIFT
    other_thread = (who >> THREAD_SHIFT) & 1023
    if other_block != block:
        return not global_space or fenced  # shared memory is another one in every block
    if other_thread == thread:
        return True
    if other_thread >> 5 != thread >> 5:
        return when >> 32 != epoch >> 32
    return when != epoch


@jit
def check_races(access, s):
    """Check an access to global or shared memory against the shadow, then note it.

    Returns R_RACE, with both sides in ERROR, or R_NONE.
    """
    SHADOW = s.SHADOW
    LAUNCH = s.LAUNCH
    ERROR = s.ERROR
    R = s.R
    ADDRESSES = access.positions
    mod, size, b, exec_mask, pc, w = access.type, access.size, access.values, access.lanes, access.pc, access.warp
    atomic = access.kind == KIND_ATOMIC
    writes = access.kind != KIND_LOAD
    global_space = access.space == GLOBAL
    granule = LAUNCH[L.LAUNCH_GRANULE]
    block = LAUNCH[L.LAUNCH_INDEX]
    fenced = LAUNCH[L.LAUNCH_FENCED] != 0
    epoch = (s.WARPS[w * L.N_WARP + L.W_BLOCK_EPOCH] << 32) | s.WARPS[w * L.N_WARP + L.W_WARP_EPOCH]
    units = max(size >> granule, 1)
    for l in range(32):
        if not (exec_mask >> l) & 1:
            continue
        thread = w * 32 + l
        for unit in range(units):
            at = ((ADDRESSES[l] >> granule) + unit) * N_SHADOW
            other = np.int64(0)
            last = SHADOW[at + WRITE]
            if not (atomic and last & ATOMIC) and not _orders(
                last, SHADOW[at + WRITE + 1], block, thread, epoch, global_space, fenced
            ):
                if atomic or not writes or not _stores_the_same(ADDRESSES[l], mod, size, R, b, l, s):
                    other = last
            if writes:
                for k in (READ, OTHER_READ):
                    last = SHADOW[at + k]
                    if not _orders(last, SHADOW[at + k + 1], block, thread, epoch, global_space, fenced):
                        if atomic or not _stores_the_same(ADDRESSES[l], mod, size, R, b, l, s):
                            other = last
            if other != 0:
                ERROR[L.E_REASON] = L.R_RACE
                ERROR[L.E_MASK] = np.int64(1) << l
                ERROR[L.E_LANE] = l
                ERROR[L.E_ADDRESS] = ADDRESSES[l] + L.ADDRESS_BASE
                ERROR[L.E_EXTRA] = size
                ERROR[L.E_OTHER] = other
                return L.R_RACE
    if writes and not atomic:
        clash = _same_instruction(ADDRESSES, mod, size, R, b, exec_mask)
        if clash != 0:
            lane = clash & 31
            ERROR[L.E_REASON] = L.R_RACE
            ERROR[L.E_MASK] = np.int64(1) << lane
            ERROR[L.E_LANE] = lane
            ERROR[L.E_ADDRESS] = ADDRESSES[lane] + L.ADDRESS_BASE
            ERROR[L.E_EXTRA] = size
            ERROR[L.E_OTHER] = _who(block, w * 32 + (clash >> 8), pc, False)
            return L.R_RACE
    for l in range(32):
        if (exec_mask >> l) & 1:
            who = _who(block, w * 32 + l, pc, atomic)
            for unit in range(units):
                at = ((ADDRESSES[l] >> granule) + unit) * N_SHADOW
                if writes:
                    SHADOW[at + WRITE] = who
                    SHADOW[at + WRITE + 1] = epoch
                    continue
                if SHADOW[at + READ] >> THREAD_SHIFT != who >> THREAD_SHIFT:
                    SHADOW[at + OTHER_READ] = SHADOW[at + READ]
                    SHADOW[at + OTHER_READ + 1] = SHADOW[at + READ + 1]
                SHADOW[at + READ] = who
                SHADOW[at + READ + 1] = epoch
    return L.R_NONE


@jit
def _who(block, thread, pc, atomic):
    flags = SOMEBODY | ATOMIC if atomic else SOMEBODY
    return (block << BLOCK_SHIFT) | (thread << THREAD_SHIFT) | (pc << PC_SHIFT) | flags


@jit
def _word(mod, size, R, b, part, lane):
    """The 32-bit word *part* (or the one shorter value) that *lane* stores."""
    if mod == B64:
        return (R[b + np.uint64(lane)] >> (32 * part)) & 0xFFFFFFFF
    if size < 4:
        return R[b + np.uint64(lane)] & ((1 << (8 * size)) - 1)
    row = 32 * part if b != 0 else 0  # every word of RZ is zero
    return R[b + np.uint64(row + lane)] & 0xFFFFFFFF


@jit
def _stores_the_same(address, mod, size, R, b, lane, s):
    """Whether *lane* stores what memory holds at arena position *address* already."""
    if size == 1:
        return _word(mod, size, R, b, 0, lane) == np.int64(s.M8[np.uint64(address)])
    if size == 2:
        return _word(mod, size, R, b, 0, lane) == np.int64(s.M16[np.uint64(address >> 1)])
    for part in range(size >> 2):
        if _word(mod, size, R, b, part, lane) != np.int64(s.M32[np.uint64((address >> 2) + part)]):
            return False
    return True


@jit
def _same_instruction(ADDRESSES, mod, size, R, b, exec_mask):
    """Two lanes that store different values to one address: the first + 256 * the second, or 0."""
    for l in range(32):
        if (exec_mask >> l) & 1:
            for k in range(l + 1, 32):
                if (exec_mask >> k) & 1 and ADDRESSES[k] == ADDRESSES[l]:
                    for part in range(max(size >> 2, 1)):
                        if _word(mod, size, R, b, part, l) != _word(mod, size, R, b, part, k):
                            return np.int64(l + 256 * k)
    return np.int64(0)
