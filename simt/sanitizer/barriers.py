"""Block barriers and warp barriers as the events tell of them: who meets whom, and synccheck, who does not come."""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.machine.layout import BLOCK_BARRIERS
from simt.ops.scalar import FULL, lowest, popcount
from simt.ops.warp import shfl_bfly, shfl_down, shfl_idx, shfl_up
from simt.sanitizer import layout as Z
from simt.sanitizer.clocks import meet_block, meet_lanes, meet_some, warp_at
from simt.sanitizer.jit import jit
from simt.sanitizer.places import found
from simt.sanitizer.undefined import judge_shuffled, put_shuffled

_IDX, _UP, _DOWN, _BFLY = jit(shfl_idx), jit(shfl_up), jit(shfl_down), jit(shfl_bfly)


@jit
def arrive(EVENTS, at, place, META, HEAD, BLOCKS, WARPS, THREADS, BARRIERS, ARRIVED, KEYS, TIMES, VECTORS, FOUND):
    """Lanes of a warp come to a block barrier."""
    pc, block, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP]
    lanes, number, expected = EVENTS[at + V.V_LANES], EVENTS[at + V.V_WHAT], EVENTS[at + V.V_MORE]
    bar = (place * BLOCK_BARRIERS + number) * Z.N_BARRIER
    sync = HEAD[Z.H_TOOLS] & Z.SYNC
    if BARRIERS[bar + Z.R_ARRIVED] == 0:
        BARRIERS[bar + Z.R_PC] = pc
        BARRIERS[bar + Z.R_WARP] = w
        BARRIERS[bar + Z.R_LANES] = lanes
    elif sync:
        first = BARRIERS[bar + Z.R_PC]
        who = BARRIERS[bar + Z.R_WARP] * 32 + lowest(BARRIERS[bar + Z.R_LANES])
        if BARRIERS[bar + Z.R_EXPECTED] != expected:
            found(Z.WRONG_COUNT, pc, block, w, lowest(lanes), first, block, who, 0, 0, 0, expected, HEAD, FOUND)
        if expected == 0 and META[first * Z.N_META + Z.M_LINE] != META[pc * Z.N_META + Z.M_LINE]:
            found(Z.OTHER_BARRIER, pc, block, w, lowest(lanes), first, block, who, 0, 0, 0, number, HEAD, FOUND)
    BARRIERS[bar + Z.R_ARRIVED] += popcount(lanes)
    BARRIERS[bar + Z.R_EXPECTED] = expected
    if sync and expected > 0 and (expected & 31 or BARRIERS[bar + Z.R_ARRIVED] > expected):
        found(Z.WRONG_COUNT, pc, block, w, lowest(lanes), -1, -1, -1, 0, 0, 0, expected, HEAD, FOUND)
    came = ((place * BLOCK_BARRIERS + number) * HEAD[Z.H_WARPS] + w) * 2
    ARRIVED[came] |= lanes
    if META[pc * Z.N_META + Z.M_KIND] & 255 != Z.ARRIVES:
        ARRIVED[came + 1] |= lanes
    open_barrier(
        block, place, number, META, HEAD, BLOCKS, WARPS, THREADS, BARRIERS, ARRIVED, KEYS, TIMES, VECTORS, FOUND
    )


@jit
def open_barrier(
    block, place, number, META, HEAD, BLOCKS, WARPS, THREADS, BARRIERS, ARRIVED, KEYS, TIMES, VECTORS, FOUND
):
    """If all came that a barrier waits for, those who waited go on, and know what all of them did."""
    bar = (place * BLOCK_BARRIERS + number) * Z.N_BARRIER
    arrived, expected = BARRIERS[bar + Z.R_ARRIVED], BARRIERS[bar + Z.R_EXPECTED]
    live = BLOCKS[place * Z.N_BLOCK + Z.B_LIVE]
    if arrived == 0 or arrived < (min(live, expected) if expected > 0 else live):
        return
    first = (place * BLOCK_BARRIERS + number) * HEAD[Z.H_WARPS] * 2
    waited = 0
    for w in range(HEAD[Z.H_WARPS]):
        waited += popcount(ARRIVED[first + 2 * w + 1])
    if expected > arrived and waited < live:
        return  # some came, did not wait, and have exited: others may still come
    if waited >= live:
        meet_block(block, place, HEAD, BLOCKS, WARPS, THREADS, KEYS, TIMES, VECTORS)
    else:
        meet_some(block, place, first, HEAD, BLOCKS, WARPS, THREADS, ARRIVED, KEYS, TIMES, VECTORS)
    pc = BARRIERS[bar + Z.R_PC]
    passed = BLOCKS[place * Z.N_BLOCK + Z.B_EXITS] & META[pc * Z.N_META + Z.M_EXITS]  # not a return before it
    if HEAD[Z.H_TOOLS] & Z.SYNC and passed and arrived < (expected if expected else HEAD[Z.H_THREADS]):
        w, lane = BARRIERS[bar + Z.R_WARP], lowest(BARRIERS[bar + Z.R_LANES])
        gone = HEAD[Z.H_THREADS] - live
        found(Z.MISSED_BARRIER, pc, block, w, lane, -1, -1, -1, 0, 0, 0, gone, HEAD, FOUND)
    BARRIERS[bar + Z.R_ARRIVED] = 0
    for k in range(2 * HEAD[Z.H_WARPS]):
        ARRIVED[first + k] = 0


@jit
def _name_gone(pc, block, w, lanes, mask, gone, META, HEAD, FOUND):
    """Synccheck: *lanes* name lanes that have exited.  Of a partial warp "all lanes" means those that there are."""
    if META[pc * Z.N_META + Z.M_KIND] & 255 == Z.REJOINS:
        return
    present = (np.int64(1) << min(HEAD[Z.H_THREADS] - w * 32, 32)) - 1
    named = mask & gone & (present if mask == FULL else FULL)
    if named and HEAD[Z.H_TOOLS] & Z.SYNC:
        found(Z.NAMED_GONE, pc, block, w, lowest(lanes), -1, -1, -1, 0, 0, 0, named << 32 | mask, HEAD, FOUND)


@jit
def leave_block(
    EVENTS, at, place, META, HEAD, BLOCKS, WARPS, KNOWN, THREADS, BARRIERS, ARRIVED, KEYS, TIMES, VECTORS, FOUND
):
    """Lanes of a warp exit: who waited for them goes on.  Returns whether they were the last of the block."""
    block, w, lanes = EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP], EVENTS[at + V.V_LANES]
    BLOCKS[place * Z.N_BLOCK + Z.B_LIVE] -= popcount(lanes)
    BLOCKS[place * Z.N_BLOCK + Z.B_EXITS] |= META[EVENTS[at + V.V_PC] * Z.N_META + Z.M_EXITS]
    gone = EVENTS[at + V.V_EXITED] | lanes
    row = warp_at(HEAD, place, w) + Z.W_PENDING
    for k in range(Z.PENDING):
        at_mask = row + Z.N_PENDING * k
        mask, came = WARPS[at_mask], WARPS[at_mask + 1]
        if came and mask & ~gone & ~came == 0:
            meet_lanes(block, place, w, came, gone, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS)
            WARPS[at_mask + 1] = 0
            _name_gone(WARPS[at_mask + 2], block, w, came, mask, gone, META, HEAD, FOUND)
    for number in range(BLOCK_BARRIERS):
        open_barrier(
            block, place, number, META, HEAD, BLOCKS, WARPS, THREADS, BARRIERS, ARRIVED, KEYS, TIMES, VECTORS, FOUND
        )
    if BLOCKS[place * Z.N_BLOCK + Z.B_LIVE] > 0:
        return False
    if HEAD[Z.H_TOOLS] & Z.SYNC:
        for number in range(BLOCK_BARRIERS):
            bar = (place * BLOCK_BARRIERS + number) * Z.N_BARRIER
            if BARRIERS[bar + Z.R_ARRIVED]:
                pc, lane = BARRIERS[bar + Z.R_PC], lowest(BARRIERS[bar + Z.R_LANES])
                first = BARRIERS[bar + Z.R_WARP]
                found(Z.LEFT_WAITING, pc, block, first, lane, -1, -1, -1, 0, 0, 0, number, HEAD, FOUND)
    return True


@jit
def _meet_group(EVENTS, at, lanes, mask, place, META, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS, FOUND):
    """Lanes come to the warp barrier of a mask."""
    pc, block, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP]
    gone = EVENTS[at + V.V_EXITED]
    _name_gone(pc, block, w, lanes, mask, gone, META, HEAD, FOUND)
    came = lanes
    row = warp_at(HEAD, place, w) + Z.W_PENDING
    free = row
    for k in range(Z.PENDING):
        at_mask = row + Z.N_PENDING * k
        if WARPS[at_mask + 1] == 0:
            free = at_mask
        elif WARPS[at_mask] == mask:
            came |= WARPS[at_mask + 1]
            free = at_mask
            break
    if mask & ~gone & ~came:
        WARPS[free] = mask
        WARPS[free + 1] = came
        WARPS[free + 2] = pc
        return
    WARPS[free + 1] = 0
    meet_lanes(block, place, w, came, gone, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS)


@jit
def meet_warp(EVENTS, at, place, META, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS, FOUND):
    """Lanes come to a warp barrier, each with a mask: they wait for all that it names and that have not exited."""
    left = EVENTS[at + V.V_LANES]
    while left:
        mask = EVENTS[at + V.V_VALUES + lowest(left)]
        lanes = np.int64(0)
        for l in range(32):
            if (left >> l) & 1 and EVENTS[at + V.V_VALUES + l] == mask:
                lanes |= np.int64(1) << l
        left &= ~lanes
        _meet_group(
            EVENTS, at, lanes, mask, place, META, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS, FOUND
        )


@jit
def judge_shuffle(EVENTS, at, kind, place, HEAD, REGISTERS, USES):
    """Which lanes of a shuffle read from a lane that does not take part, or that has nothing itself."""
    pc, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_WARP]
    lanes = EVENTS[at + V.V_LANES]
    undefined = np.int64(0)
    by = np.int64(0)
    for l in range(32):
        if not (lanes >> l) & 1:
            continue
        lane = np.int64(l)
        value = EVENTS[at + V.V_VALUES + l]
        b, clamp, segment = value & 255, (value >> 8) & 31, (value >> 16) & 31
        bound = (lane & segment) | (clamp & ~segment)
        if kind == Z.SHUFFLE_IDX:
            source, valid = _IDX(lane, b, segment, bound)
        elif kind == Z.SHUFFLE_UP:
            source, valid = _UP(lane, b, bound)
        elif kind == Z.SHUFFLE_DOWN:
            source, valid = _DOWN(lane, b, bound)
        else:
            source, valid = _BFLY(lane, b, bound)
        origin = judge_shuffled(pc, place, w, lanes, l, source if valid else lane, HEAD, REGISTERS, USES)
        if origin >= 0:
            undefined |= np.int64(1) << l
            by = origin
    put_shuffled(pc, place, w, lanes, undefined, by, HEAD, REGISTERS, USES)
