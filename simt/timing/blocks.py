"""Blocks and warps of an SM: their start, barriers, and end."""

from __future__ import annotations

import numpy as np

from simt.machine import layout as machine
from simt.machine.engine import start_block
from simt.machine.splits import choose
from simt.timing.codes import DRAIN, SELECTED, STALLED_BARRIER, WAIT
from simt.timing.jit import jit
from simt.timing.layout import *
from simt.timing.pipes import occupy
from simt.timing.slots import slot_state
from simt.timing.waits import awaits, ceil

EXIT_LATENCY = PLACE["exit_latency"]
BLOCK_INTERVAL = PLACE["block_interval"]
BLOCK_LATENCY = PLACE["block_latency"]
WARP_INTERVAL = PLACE["warp_interval"]


@jit
def _room_at(sm, now, t):
    """When the SM has room for the warps of a block: now, or not before its next warp has gone.

    On an H200 a block starts as soon as enough warps have gone, of whatever blocks (phases.cu: tails of one warp).
    """
    CONFIG = t.CONFIG
    warps = CONFIG[G_PLACES] * CONFIG[G_WARPS]
    free = CONFIG[G_ROOM]
    following = np.int64(NEVER)
    for wi in range(sm * warps, (sm + 1) * warps):
        gone = t.WARPS[wi * N_WARP + W_GONE_AT]
        if t.WARPS[wi * N_WARP + W_STATE] != EMPTY:
            free -= 1
        elif gone > now:
            free -= 1
            following = min(following, gone)
    return np.int64(now) if free >= CONFIG[G_WARPS] else following


@jit
def start_blocks(sm, now, s, t):
    """Give the SM the blocks that are due, and say when to look again."""
    CONFIG = t.CONFIG
    SMS = t.SMS
    at = sm * N_SM
    event = np.float64(NEVER)
    for place in range(sm * CONFIG[G_PLACES], (sm + 1) * CONFIG[G_PLACES]):
        slot = place * N_SLOT
        if t.SLOTS[slot + S_BLOCK] >= 0:
            continue
        number = np.int64(t.CHIP[C_NEXT_BLOCK])
        if number >= CONFIG[G_BLOCKS]:
            break
        block = number // CONFIG[G_SMS] * CONFIG[G_CHIP] + number % CONFIG[G_SMS]
        free = t.CHIP[C_DISPATCH_FREE]
        when = max(np.float64(max(t.SLOTS[slot + S_FREE_AT], _room_at(sm, now, t))), free)
        if when > now:
            event = min(event, np.ceil(when))
            continue
        t.CHIP[C_NEXT_BLOCK] += 1
        t.CHIP[C_DISPATCH_FREE] = max(free, now - 1.0) + t.NUMBERS[BLOCK_INTERVAL] * CONFIG[G_CHIP] / CONFIG[G_SMS]
        sl = slot_state(s, place, t)
        start_block(block, sl)
        sl.LAUNCH[machine.LAUNCH_SM] = sm
        sl.LAUNCH[machine.LAUNCH_FIRST_WARP] = place % CONFIG[G_PLACES] * CONFIG[G_WARPS]
        t.SLOTS[slot + S_BLOCK] = block
        t.SLOTS[slot + S_WARPS] = CONFIG[G_WARPS]
        _start_warps(sm, place, now, t)
    SMS[at + M_EVENT] = event


@jit
def _start_warps(sm, place, now, t):
    """The warps of a new block, one after the other."""
    CONFIG = t.CONFIG
    NUMBERS = t.NUMBERS
    WARPS = t.WARPS
    SMS = t.SMS
    SCHEDULERS = t.SCHEDULERS
    TOTALS = t.TOTALS
    at = sm * N_SM
    if SMS[at + M_RESIDENT] == 0:
        SMS[at + M_ACTIVE_SINCE] = now
    SMS[at + M_RESIDENT] += CONFIG[G_WARPS]
    for w in range(CONFIG[G_WARPS]):
        wi = place * CONFIG[G_WARPS] + w
        SMS[at + M_START_FREE] = max(SMS[at + M_START_FREE], np.float64(now)) + NUMBERS[WARP_INTERVAL]
        start = ceil(SMS[at + M_START_FREE])
        row = wi * N_WARP
        WARPS[row + W_READY] = start
        WARPS[row + W_FIXED] = start
        WARPS[row + W_REASON] = WAIT
        WARPS[row + W_LAST] = start - 1
        WARPS[row + W_AGE] = TOTALS[N_AGE]
        TOTALS[N_AGE] += 1
        WARPS[row + W_START] = start
        WARPS[row + W_STATE] = RUNNING
        WARPS[row + W_STREAK] = 0
        WARPS[row + W_RESOLVED] = start
        WARPS[row + W_HOLD] = 0
        WARPS[row + W_SHARED_FREE] = 0
        WARPS[row + W_AHEAD] = 0
        WARPS[row + W_NEXT_LINE] = -1
        WARPS[row + W_DRAINED] = 0
        for k in range(SCOREBOARDS * 2):
            t.BOARDS[wi * SCOREBOARDS * 2 + k] = 0
        if CONFIG[G_CONTROL] == 0:
            for k in range(CONFIG[G_REGISTERS] * 2):
                t.REGISTERS[wi * CONFIG[G_REGISTERS] * 2 + k] = 0
        awaits(wi, sm, 0, start, t)
        q = (sm * CONFIG[G_SCHEDULERS] + wi % CONFIG[G_SCHEDULERS]) * N_SCHEDULER
        SCHEDULERS[q + Q_NEXT] = min(SCHEDULERS[q + Q_NEXT], WARPS[row + W_READY])


@jit
def wait_at_barrier(wi, q, pc, now, t):
    """The warp waits at a barrier.  What may run on behind it issues in the next cycles, and is executed later."""
    row = wi * N_WARP
    ahead = t.OPS[pc * N_OP + O_DEFERRED]
    t.WARPS[row + W_STATE] = AT_BARRIER
    t.WARPS[row + W_READY] = NEVER
    t.WARPS[row + W_STREAK] = 0
    t.WARPS[row + W_AHEAD] = ahead
    begin = np.int64(now)
    mask = t.OPS[pc * N_OP + O_DEFERRED_MASK]
    for board in range(SCOREBOARDS):
        if (mask >> board) & 1:
            begin = max(begin, t.BOARDS[(wi * SCOREBOARDS + board) * 2])
    t.WARPS[row + W_EARLIEST] = max(t.WARPS[row + W_FIXED], begin + t.OPS[pc * N_OP + O_DEFERRED_STALL])
    following = t.OPS[pc * N_OP + O_FALL]
    for _ in range(ahead):
        op = following * N_OP
        occupy(q, t.OPS[op + O_PIPE], now, 0, t.OPS[op + O_INTERVAL], t.PIPES)
        following = t.OPS[op + O_FALL]
    t.SCHEDULERS[q * N_SCHEDULER + Q_OWED] += ahead


@jit
def catch_up(wi, pc, t):
    """An instruction that issued behind a barrier before it opened is executed now; its cycles lie in the past."""
    row = wi * N_WARP
    at = pc * N_REASONS
    t.STALLS[at + SELECTED] += 1
    t.STALLS[at + WAIT] += t.WARPS[row + W_FIXED] - t.WARPS[row + W_LAST] - 1
    t.TOTALS[N_ISSUED] += 1
    t.WARPS[row + W_LAST] = t.WARPS[row + W_FIXED]
    t.WARPS[row + W_FIXED] += max(t.OPS[pc * N_OP + O_STALL], 1)
    t.WARPS[row + W_RESOLVED] = t.WARPS[row + W_FIXED]
    t.WARPS[row + W_AHEAD] -= 1
    t.WARPS[row + W_REASON] = STALLED_BARRIER


@jit
def release(sm, place, when, now, s, t):
    """Warps of the block that waited at a barrier which is now open go on at *when*."""
    sl = slot_state(s, place, t)
    for w in range(t.CONFIG[G_WARPS]):
        wi = place * t.CONFIG[G_WARPS] + w
        row = wi * N_WARP
        if t.WARPS[row + W_STATE] != AT_BARRIER:
            continue
        if choose(sl.SPLITS, sl.WARPS, w, sl.LAUNCH[machine.LAUNCH_ORDER]):
            split = (w * 32 + sl.WARPS[w * machine.N_WARP + machine.W_CURRENT]) * machine.N_SPLIT
            t.WARPS[row + W_STATE] = RUNNING
            t.WARPS[row + W_READY] = max(t.WARPS[row + W_EARLIEST], when)
            t.WARPS[row + W_HOLD] = when
            t.WARPS[row + W_REASON] = STALLED_BARRIER
            awaits(wi, sm, sl.SPLITS[split + machine.S_PC], now, t)
            q = (sm * t.CONFIG[G_SCHEDULERS] + wi % t.CONFIG[G_SCHEDULERS]) * N_SCHEDULER
            t.SCHEDULERS[q + Q_NEXT] = min(t.SCHEDULERS[q + Q_NEXT], t.WARPS[row + W_READY])


@jit
def end_warp(wi, sm, pc, now, CONFIG, NUMBERS, WARPS, SLOTS, SMS, TOTALS, STALLS):
    """A warp has exited at *pc*; it stays until its stores are on their way.  After the last one its place is free."""
    row = wi * N_WARP
    exited = now + 1 + np.int64(NUMBERS[EXIT_LATENCY])
    end = max(exited, WARPS[row + W_DRAINED])
    STALLS[pc * N_REASONS + DRAIN] += end - exited
    WARPS[row + W_STATE] = EMPTY
    WARPS[row + W_READY] = NEVER
    TOTALS[N_WARP_CYCLES] += end - WARPS[row + W_START]
    at = sm * N_SM
    SMS[at + M_RESIDENT] -= 1
    if SMS[at + M_RESIDENT] == 0:
        SMS[at + M_ACTIVE] += end - SMS[at + M_ACTIVE_SINCE]
    slot = wi // CONFIG[G_WARPS] * N_SLOT
    SLOTS[slot + S_WARPS] -= 1
    WARPS[row + W_GONE_AT] = end + np.int64(NUMBERS[BLOCK_LATENCY])
    SLOTS[slot + S_FREE_AT] = max(SLOTS[slot + S_FREE_AT], WARPS[row + W_GONE_AT])
    SMS[at + M_EVENT] = min(SMS[at + M_EVENT], np.float64(WARPS[row + W_GONE_AT]))
    if SLOTS[slot + S_WARPS] == 0:
        SLOTS[slot + S_BLOCK] = -1
        TOTALS[N_BLOCKS] += 1
