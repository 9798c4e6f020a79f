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

from simt.check import RaceError
from simt.machine import layout as L
from simt.machine.checks.check import Check, note
from simt.machine.places import access_text, holder, locate, place_of, where, with_article
from simt.machine.prepared import Prepared
from simt.ops.encoding import MEMORY_TYPES
from simt.ops.jit import jit
from simt.ops.memory import ATOMIC as KIND_ATOMIC
from simt.ops.memory import GLOBAL, SHARED
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
def is_race(access, shadow, s):
    """Check an access to global or shared memory against the shadow, which begins at *shadow*, then note it there.

    Returns whether it is a race, with both sides in ERROR.
    """
    if access.space != GLOBAL and access.space != SHARED:
        return False
    SHADOW = s.SHADOW
    LAUNCH = s.LAUNCH
    lanes, w = access.lanes, access.warp
    atomic = access.kind == KIND_ATOMIC
    writes = access.kind != KIND_LOAD
    global_space = access.space == GLOBAL
    granule = LAUNCH[L.LAUNCH_GRANULE]
    block = LAUNCH[L.LAUNCH_INDEX]
    fenced = LAUNCH[L.LAUNCH_FENCED] != 0
    epoch = (s.WARPS[w * L.N_WARP + L.W_BLOCK_EPOCH] << 32) | s.WARPS[w * L.N_WARP + L.W_WARP_EPOCH]
    units = max(access.size >> granule, 1)
    for l in range(32):
        if not (lanes >> l) & 1:
            continue
        thread = w * 32 + l
        for unit in range(units):
            at = shadow + ((access.offsets[l] >> granule) + unit) * N_SHADOW
            other = np.int64(0)
            last = SHADOW[at + WRITE]
            if not (atomic and last & ATOMIC) and not _orders(
                last, SHADOW[at + WRITE + 1], block, thread, epoch, global_space, fenced
            ):
                if atomic or not writes or not _stores_the_same(access, l, s):
                    other = last
            if writes:
                for k in (READ, OTHER_READ):
                    last = SHADOW[at + k]
                    if not _orders(last, SHADOW[at + k + 1], block, thread, epoch, global_space, fenced):
                        if atomic or not _stores_the_same(access, l, s):
                            other = last
            if other != 0:
                return note(l, other, access, s)
    if writes and not atomic:
        clash = _same_instruction(access, s.R)
        if clash != 0:
            return note(clash & 31, _who(block, w * 32 + (clash >> 8), access.pc, False), access, s)
    for l in range(32):
        if (lanes >> l) & 1:
            who = _who(block, w * 32 + l, access.pc, atomic)
            for unit in range(units):
                at = shadow + ((access.offsets[l] >> granule) + unit) * N_SHADOW
                if writes:
                    SHADOW[at + WRITE] = who
                    SHADOW[at + WRITE + 1] = epoch
                    continue
                if SHADOW[at + READ] >> THREAD_SHIFT != who >> THREAD_SHIFT:
                    SHADOW[at + OTHER_READ] = SHADOW[at + READ]
                    SHADOW[at + OTHER_READ + 1] = SHADOW[at + READ + 1]
                SHADOW[at + READ] = who
                SHADOW[at + READ + 1] = epoch
    return False


@jit
def _who(block, thread, pc, atomic):
    flags = SOMEBODY | ATOMIC if atomic else SOMEBODY
    return (block << BLOCK_SHIFT) | (thread << THREAD_SHIFT) | (pc << PC_SHIFT) | flags


@jit
def _word(access, R, part, lane):
    """The 32-bit word *part* (or the one shorter value) that *lane* stores."""
    b = access.source
    if access.dtype == B64:
        return (R[b + np.uint64(lane)] >> (32 * part)) & 0xFFFFFFFF
    if access.size < 4:
        return R[b + np.uint64(lane)] & ((1 << (8 * access.size)) - 1)
    row = 32 * part if b != 0 else 0  # every word of RZ is zero
    return R[b + np.uint64(row + lane)] & 0xFFFFFFFF


@jit
def _stores_the_same(access, lane, s):
    """Whether *lane* stores what its bytes of memory hold already."""
    offset = access.offsets[lane]
    if access.size == 1:
        return _word(access, s.R, 0, lane) == np.int64(s.M8[np.uint64(offset)])
    if access.size == 2:
        return _word(access, s.R, 0, lane) == np.int64(s.M16[np.uint64(offset >> 1)])
    for part in range(access.size >> 2):
        if _word(access, s.R, part, lane) != np.int64(s.M32[np.uint64((offset >> 2) + part)]):
            return False
    return True


@jit
def _same_instruction(access, R):
    """Two lanes that store different values to one address: the first + 256 * the second, or 0."""
    for l in range(32):
        if (access.lanes >> l) & 1:
            for k in range(l + 1, 32):
                if (access.lanes >> k) & 1 and access.offsets[k] == access.offsets[l]:
                    for part in range(max(access.size >> 2, 1)):
                        if _word(access, R, part, l) != _word(access, R, part, k):
                            return np.int64(l + 256 * k)
    return np.int64(0)


def _finding(prepared: Prepared, state: L.State) -> RaceError:
    """Both sides of a race: this access, and the one before that nothing orders it after."""
    pc, warp, mask = (int(state.ERROR[k]) for k in (L.E_PC, L.E_WARP, L.E_MASK))
    block, other = int(state.ERROR[L.E_BLOCK]), int(state.ERROR[L.E_OTHER])
    other_pc = (other & ((1 << THREAD_SHIFT) - 1)) >> PC_SHIFT
    thread = (other >> THREAD_SHIFT) & 1023
    other_block = other >> BLOCK_SHIFT
    instruction, before = prepared.program.instructions[pc], prepared.program.instructions[other_pc]
    address = int(state.ERROR[L.E_ADDRESS])
    barrier = "`cuda.syncwarp()`" if (other_block, thread >> 5) == (block, warp) else "`cuda.syncthreads()`"
    if other_block != block:
        help = "blocks of one launch cannot wait for each other: use atomics, or a second launch"
    elif instruction.line == before.line:
        help = f"split the statement, with {barrier} between; or let one thread do it, or an atomic"
    else:
        help = f"put {barrier} between the two"
    return RaceError(
        f"data race: {with_article(instruction)} and {with_article(before)} of the same bytes, with nothing between "
        "that orders them",
        location=locate(prepared, pc),
        details=[
            f"this {access_text(instruction)}: {where(prepared, block, warp, mask)}",
            f"the {access_text(before)} before: {where(prepared, other_block, thread >> 5, 1 << (thread & 31))}, "
            f"at {place_of(prepared, other_pc)}",
            *holder(prepared, instruction, address),
        ],
        help=help,
    )


RACECHECK = Check(
    "racecheck",
    shadow_words=N_SHADOW,
    most_bytes=2**26,  # with accesses of a byte the shadow takes 48 bytes for each
    finding=_finding,
    source_only="ptxas leaves out warp barriers that it has proved needless, which would look like races",
)
