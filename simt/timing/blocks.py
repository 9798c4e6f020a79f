"""Blocks and warps of an SM: their start, barriers, and end."""

from __future__ import annotations

import numpy as np

from simt.machine import door
from simt.timing import layout as L
from simt.timing.chance import share
from simt.timing.codes import DRAIN, SELECTED, STALLED_BARRIER, WAIT
from simt.timing.cycles import ceil
from simt.timing.gates import IS_STALLED
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.pipes import occupy
from simt.timing.waits import awaits, is_awaited, scheduler_of

EXIT_LATENCY = L.PLACE["exit_latency"]
BLOCK_INTERVAL = L.PLACE["block_interval"]
BLOCK_START = L.PLACE["block_start_interval"]
BLOCK_LATENCY = L.PLACE["block_latency"]
WARP_INTERVAL = L.PLACE["warp_interval"]
WARP_LATENCY = L.PLACE["warp_latency"]
PAIR_STAY = L.PLACE["pair_stay"]
PAIR_RAMP = L.PLACE["pair_ramp"]
POLICY = L.PLACE["scheduler_policy"]
LEFT = L.NEVER - 1
"""In GONE: the warp has left, but the chip has not heard of it."""
UNEVEN = 0.75
"""How much sooner or later than on average the chip notes the end of a block at most, as a share of the interval."""


@jit_inline
def block_at(place, s, t):
    """State of the block in a place."""
    return door.block_at(s, place, t.CONFIG[L.G_R], t.CONFIG[L.G_P], t.CONFIG[L.G_PARTICIPANTS], t.BLOCKS)


@jit
def _room_at(sm, now, t):
    """When the SM has room for the warps of a block: now, or not before its next warp has gone.

    On an H200 a block starts as soon as enough warps have ended, from any block (phases.cu: tails of one warp): enough
    of each scheduler, among which its warps are dealt out.
    """
    CONFIG = t.CONFIG
    warps = CONFIG[L.G_PLACES] * CONFIG[L.G_WARPS]
    deals = CONFIG[L.G_SCHEDULERS] if CONFIG[L.G_WARPS] % CONFIG[L.G_SCHEDULERS] == 0 else np.int64(1)
    following = np.int64(L.NEVER)
    fits = True
    for dealt in range(deals):
        free = CONFIG[L.G_ROOM] // deals
        for wi in range(sm * warps + dealt, (sm + 1) * warps, deals):
            if t.GONE[wi] > now:
                free -= 1
                following = min(following, t.GONE[wi])
        fits &= free >= CONFIG[L.G_WARPS] // deals
    return np.int64(now) if fits else following


@jit_inline
def _slot_at(sm, t):
    """When the SM has a slot for a block: those whose end the chip has not noted yet keep theirs (H200, ends.cu).

    With a place free, more blocks have ended than that.  Blocks in the room of warps that have gone need none of these.
    """
    places = t.CONFIG[L.G_PLACES]
    slots = min(places, t.CONFIG[L.G_ROOM] // t.CONFIG[L.G_WARPS] + 1)
    before = np.int64(t.SMS[sm * L.N_SM + L.M_STARTED]) - slots  # of that one, in the order of the ends
    if before < 0 or before >= t.SMS[sm * L.N_SM + L.M_ENDED_BLOCKS]:
        return 0.0
    return t.RETIRED[sm * places + before % places]


@jit_inline
def _free_at(place, t):
    """When the warps of the block that was in *place* last have gone."""
    free = np.int64(0)
    for wi in range(place * t.CONFIG[L.G_WARPS], (place + 1) * t.CONFIG[L.G_WARPS]):
        free = max(free, t.GONE[wi])
    return free


@jit
def _tell_who_left(sm, end, t):
    """A block of the SM has ended: only now the chip hears which warps have left it (tails.cu on an H100).

    Not when one starts: of 31 blocks of 256 threads of which one warp sums (meets.cu on an H200) eight start, the next
    eight when the first of these has ended, though the other warps of seven are gone when the last one starts.
    """
    warps = t.CONFIG[L.G_PLACES] * t.CONFIG[L.G_WARPS]
    for wi in range(sm * warps, (sm + 1) * warps):
        if t.GONE[wi] == LEFT:
            t.GONE[wi] = end + np.int64(t.NUMBERS[BLOCK_LATENCY])
    at = sm * L.N_SM + L.M_EVENT
    t.SMS[at] = min(t.SMS[at], end + t.NUMBERS[BLOCK_LATENCY])


@jit_rare
def give_blocks(sm, now, t):
    """Give the SM the blocks that are due, and say when to ask again."""
    CONFIG = t.CONFIG
    SMS = t.SMS
    at = sm * L.N_SM
    event = np.float64(L.NEVER)
    for place in range(sm * CONFIG[L.G_PLACES], (sm + 1) * CONFIG[L.G_PLACES]):
        slot = place * L.N_SLOT
        if t.SLOTS[slot + L.S_BLOCK] >= 0:
            continue
        number = np.int64(t.CHIP[L.C_NEXT_BLOCK])
        if number >= CONFIG[L.G_BLOCKS]:
            break
        block = number // CONFIG[L.G_SMS] * CONFIG[L.G_CHIP] + CONFIG[L.G_FIRST] + number % CONFIG[L.G_SMS]
        when = SMS[at + L.M_BLOCK_FREE]
        if when <= now:
            when = max(np.float64(max(_free_at(place, t), _room_at(sm, now, t))), when)
            when = max(when, _slot_at(sm, t))
        if when > now:
            event = min(event, np.ceil(when))
            continue
        t.CHIP[L.C_NEXT_BLOCK] += 1
        SMS[at + L.M_BLOCK_FREE] = max(SMS[at + L.M_BLOCK_FREE], now - 1.0) + t.NUMBERS[BLOCK_START]
        t.SLOTS[slot + L.S_DEALT] = np.int64(SMS[at + L.M_STARTED]) % CONFIG[L.G_SCHEDULERS]
        SMS[at + L.M_STARTED] += 1
        t.SLOTS[slot + L.S_STAYING] = CONFIG[L.G_WARPS]
        t.SLOTS[slot + L.S_BLOCK] = block
        t.SLOTS[slot + L.S_NUMBER] = number
        t.SLOTS[slot + L.S_STARTS] = now
        t.SLOTS[slot + L.S_AGE] = t.TOTALS[L.N_AGE]
        t.TOTALS[L.N_AGE] += CONFIG[L.G_WARPS]
        for wi in range(place * CONFIG[L.G_WARPS], (place + 1) * CONFIG[L.G_WARPS]):
            t.GONE[wi] = L.NEVER
        if number * L.N_STAY < len(t.STAYS):
            stay = number * L.N_STAY
            t.STAYS[stay + L.Y_BLOCK] = block
            t.STAYS[stay + L.Y_SM] = sm
            t.STAYS[stay + L.Y_PLACE] = place % CONFIG[L.G_PLACES]
            t.STAYS[stay + L.Y_FROM] = now
        t.SLOTS[slot + L.S_WARPS] = CONFIG[L.G_WARPS]
        SMS[at + L.M_START] = min(SMS[at + L.M_START], np.float64(now))
    SMS[at + L.M_EVENT] = event


@jit_rare
def start_blocks(sm, now, s, t):
    """Start the blocks that the SM was given for now."""
    CONFIG = t.CONFIG
    following = np.int64(L.NEVER)
    for place in range(sm * CONFIG[L.G_PLACES], (sm + 1) * CONFIG[L.G_PLACES]):
        slot = place * L.N_SLOT
        starts = t.SLOTS[slot + L.S_STARTS]
        if starts > now:
            following = min(following, starts)
        elif starts >= 0:
            t.SLOTS[slot + L.S_STARTS] = -1
            own = block_at(place, s, t)
            first_warp = place % CONFIG[L.G_PLACES] * CONFIG[L.G_WARPS]
            door.begin(t.SLOTS[slot + L.S_BLOCK], sm, first_warp, own)
            _start_warps(sm, place, now, t)
    t.SMS[sm * L.N_SM + L.M_START] = following


@jit_rare
def _start_warps(sm, place, now, t):
    """The warps of a new block, one after the other.

    Measured on an H100 (tails.cu): the first of each block goes to the next scheduler.
    """
    CONFIG = t.CONFIG
    NUMBERS = t.NUMBERS
    WARPS = t.WARPS
    SMS = t.SMS
    SCHEDULERS = t.SCHEDULERS
    at = sm * L.N_SM
    latency = np.int64(NUMBERS[WARP_LATENCY])
    if SMS[at + L.M_RESIDENT] == 0:
        SMS[at + L.M_ACTIVE] -= max(now - latency - SMS[at + L.M_ACTIVE_UNTIL], 0.0)
    SMS[at + L.M_RESIDENT] += CONFIG[L.G_WARPS]
    warps = CONFIG[L.G_WARPS]
    dealt = t.SLOTS[place * L.N_SLOT + L.S_DEALT] if warps % CONFIG[L.G_SCHEDULERS] == 0 else np.int64(0)
    for w in range(warps):
        wi = place * warps + (w + dealt) % warps
        SMS[at + L.M_START_FREE] = max(SMS[at + L.M_START_FREE], np.float64(now)) + NUMBERS[WARP_INTERVAL]
        start = ceil(SMS[at + L.M_START_FREE])
        row = wi * L.N_WARP
        t.READY[WARPS[row + L.W_MEMBER]] = start
        WARPS[row + L.W_FIXED] = start
        t.STANDING[WARPS[row + L.W_GROUP] + IS_STALLED] |= WARPS[row + L.W_BIT]
        WARPS[row + L.W_REASON] = WAIT
        WARPS[row + L.W_LAST] = start - 1
        WARPS[row + L.W_INDEX] = w
        WARPS[row + L.W_AGE] = t.SLOTS[place * L.N_SLOT + L.S_AGE] + w
        WARPS[row + L.W_BLOCK_AGE] = WARPS[row + L.W_AGE] // CONFIG[L.G_WARPS]
        by_warp = np.int64(NUMBERS[POLICY]) == L.OLDEST
        WARPS[row + L.W_KEY] = (WARPS[row + L.W_AGE] if by_warp else WARPS[row + L.W_BLOCK_AGE]) << L.KEY_AGE
        WARPS[row + L.W_START] = start - latency
        WARPS[row + L.W_STATE] = L.RUNNING
        WARPS[row + L.W_STREAK] = 0
        WARPS[row + L.W_RESOLVED] = start
        WARPS[row + L.W_HOLD] = 0
        WARPS[row + L.W_SHARED_FREE] = 0
        WARPS[row + L.W_BEHIND] = 0
        WARPS[row + L.W_AHEAD] = 0
        WARPS[row + L.W_NEXT_LINE] = -1
        WARPS[row + L.W_DRAINED] = 0
        WARPS[row + L.W_LOADS] = 0
        WARPS[row + L.W_STORED] = 0
        WARPS[row + L.W_HELD] = 0
        WARPS[row + L.W_COPIED] = 0
        WARPS[row + L.W_COPIES] = 0
        WARPS[row + L.W_COMMITS] = 0
        for k in range(L.SCOREBOARDS * 2):
            t.BOARDS[wi * L.SCOREBOARDS * 2 + k] = 0
        if CONFIG[L.G_CONTROL] == 0:
            for k in range(CONFIG[L.G_REGISTERS] * 2):
                t.REGISTERS[wi * CONFIG[L.G_REGISTERS] * 2 + k] = 0
        awaits(wi, sm, 0, start, t)
        q = scheduler_of(wi, sm, CONFIG) * L.N_SCHEDULER
        SCHEDULERS[q + L.Q_NEXT] = min(SCHEDULERS[q + L.Q_NEXT], t.READY[WARPS[row + L.W_MEMBER]])


@jit
def wait_at_barrier(wi, q, pc, now, t):
    """The warp waits at a barrier.  What may run on behind it issues in the next cycles, and is executed later."""
    row = wi * L.N_WARP
    ahead = t.OPS[pc * L.N_OP + L.O_DEFERRED]
    t.WARPS[row + L.W_STATE] = L.AT_BARRIER
    t.READY[t.WARPS[row + L.W_MEMBER]] = L.NEVER
    t.WARPS[row + L.W_STREAK] = 0
    t.WARPS[row + L.W_AHEAD] = ahead
    begin = np.int64(now)
    mask = t.OPS[pc * L.N_OP + L.O_DEFERRED_MASK]
    for board in range(L.SCOREBOARDS):
        if (mask >> board) & 1:
            begin = max(begin, t.BOARDS[(wi * L.SCOREBOARDS + board) * 2])
            if is_awaited(wi, board, t.WARPS):
                t.WARPS[row + L.W_HELD] = pc + 1
    t.WARPS[row + L.W_EARLIEST] = max(t.WARPS[row + L.W_FIXED], begin + t.OPS[pc * L.N_OP + L.O_DEFERRED_STALL])
    following = t.OPS[pc * L.N_OP + L.O_FALL]
    for _ in range(ahead):
        op = following * L.N_OP
        occupy(q, t.OPS[op + L.O_PIPE], now, 0, t.OPS[op + L.O_INTERVAL], t.NUMBERS, t.GATES)
        following = t.OPS[op + L.O_FALL]
    t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_OWED] += ahead


@jit_rare
def catch_up(wi, pc, t):
    """An instruction that issued behind a barrier before it opened is executed now; its cycles lie in the past."""
    row = wi * L.N_WARP
    at = pc * L.N_REASONS
    t.STALLS[at + SELECTED] += 1
    t.STALLS[at + WAIT] += t.WARPS[row + L.W_FIXED] - t.WARPS[row + L.W_LAST] - 1
    t.TOTALS[L.N_ISSUED] += 1
    t.WARPS[row + L.W_LAST] = t.WARPS[row + L.W_FIXED]
    t.WARPS[row + L.W_FIXED] += max(t.OPS[pc * L.N_OP + L.O_STALL], 1)
    t.STANDING[t.WARPS[row + L.W_GROUP] + IS_STALLED] |= t.WARPS[row + L.W_BIT]
    t.WARPS[row + L.W_RESOLVED] = t.WARPS[row + L.W_FIXED]
    t.WARPS[row + L.W_AHEAD] -= 1
    t.WARPS[row + L.W_REASON] = STALLED_BARRIER


@jit
def release(sm, place, when, now, s, t):
    """Warps of the block that waited at a barrier which is now open go on at *when*."""
    block = block_at(place, s, t)
    for w in range(t.CONFIG[L.G_WARPS]):
        wi = place * t.CONFIG[L.G_WARPS] + w
        row = wi * L.N_WARP
        if t.WARPS[row + L.W_STATE] != L.AT_BARRIER:
            continue
        following = door.wake(t.WARPS[row + L.W_INDEX], block)
        if following >= 0:
            t.WARPS[row + L.W_STATE] = L.RUNNING
            member = t.WARPS[row + L.W_MEMBER]
            t.READY[member] = max(t.WARPS[row + L.W_EARLIEST], when)
            t.WARPS[row + L.W_HOLD] = when
            t.WARPS[row + L.W_REASON] = STALLED_BARRIER
            awaits(wi, sm, following, now, t)
            q = scheduler_of(wi, sm, t.CONFIG) * L.N_SCHEDULER
            t.SCHEDULERS[q + L.Q_NEXT] = min(t.SCHEDULERS[q + L.Q_NEXT], t.READY[member])


@jit_rare
def end_warp(wi, sm, pc, now, t):
    """A warp has exited at *pc*; it stays until its stores are on their way.  After the last one its place is free."""
    WARPS = t.WARPS
    row = wi * L.N_WARP
    at = sm * L.N_SM
    WARPS[row + L.W_PC] = pc
    WARPS[row + L.W_EXITED] = now + 1 + np.int64(t.NUMBERS[EXIT_LATENCY])
    WARPS[row + L.W_STATE] = L.EMPTY
    t.READY[WARPS[row + L.W_MEMBER]] = L.NEVER
    t.SMS[at + L.M_ENDED] = now
    t.SMS[at + L.M_RESIDENT] -= 1
    slot = wi // t.CONFIG[L.G_WARPS] * L.N_SLOT
    t.SLOTS[slot + L.S_WARPS] -= 1
    if t.SLOTS[slot + L.S_WARPS] == 0:
        t.SLOTS[slot + L.S_BLOCK] = -1
        t.FRONTS[sm * L.N_FRONT + L.F_ENDED] += 1
    _leave(wi, sm, t)


@jit
def _note_end(sm, end, t):
    """The chip notes the ends of blocks one after the other: each SM's share of that, now sooner and now later.

    So an SM has several new blocks at once, and none for a while (stays.cu on an H100: blocks that follow each other
    start 157 cycles apart on an SM, the middle eight tenths of them 81 to 256).
    """
    at = sm * L.N_SM
    slots = t.CONFIG[L.G_PLACES]
    before = np.int64(t.SMS[at + L.M_ENDED_BLOCKS])
    drawn = UNEVEN * share((before >> 1) + (np.int64(sm) << 32) + (np.int64(1) << 45))
    interval = t.NUMBERS[BLOCK_INTERVAL] * t.CONFIG[L.G_CHIP] * (1.0 + drawn if before & 1 else 1.0 - drawn)
    noted = max(t.SMS[at + L.M_RETIRED], np.float64(end)) + interval
    t.RETIRED[sm * slots + before % slots] = noted
    t.SMS[at + L.M_RETIRED] = noted
    t.SMS[at + L.M_ENDED_BLOCKS] += 1
    t.SMS[at + L.M_EVENT] = min(t.SMS[at + L.M_EVENT], np.ceil(noted))


@jit_inline
def _counts_until(wi, number, sm, end, t):
    """Until when a warp of block *number* that goes at *end* counts as there: those of blocks of two warps for longer.

    Measured on an H100 and an H200 (stays.cu, strided.cu): of short blocks, whose ends the chip notes one after the
    other, the warps count for 1100 cycles, however soon they end, if the launch is long, those of one or four for 80 to
    150.  No time is lost, and no stall has these cycles.  Why is not known; when they go is drawn.
    """
    if t.CONFIG[L.G_WARPS] != 2:
        return end
    ends = t.NUMBERS[PAIR_STAY] * min(t.SMS[sm * L.N_SM + L.M_STARTED] / t.NUMBERS[PAIR_RAMP], 1.0)
    stay = ends * t.NUMBERS[BLOCK_INTERVAL] * t.CONFIG[L.G_CHIP] * share(number + (np.int64(1) << 46))
    return max(end, t.WARPS[wi * L.N_WARP + L.W_START] + np.int64(stay))


@jit
def _leave(wi, sm, t):
    """A warp that has exited goes when its stores are on their way."""
    WARPS = t.WARPS
    row = wi * L.N_WARP
    at = sm * L.N_SM
    exited = WARPS[row + L.W_EXITED]
    end = max(exited, WARPS[row + L.W_DRAINED])
    t.STALLS[WARPS[row + L.W_PC] * L.N_REASONS + DRAIN] += end - exited
    slot = wi // t.CONFIG[L.G_WARPS] * L.N_SLOT
    until = _counts_until(wi, t.SLOTS[slot + L.S_NUMBER], sm, end, t)
    t.TOTALS[L.N_WARP_CYCLES] += until - WARPS[row + L.W_START]
    t.SMS[at + L.M_ACTIVE] += max(until - t.SMS[at + L.M_ACTIVE_UNTIL], 0.0)
    t.SMS[at + L.M_ACTIVE_UNTIL] = max(t.SMS[at + L.M_ACTIVE_UNTIL], np.float64(until))
    stay = t.SLOTS[slot + L.S_NUMBER] * L.N_STAY
    if stay < len(t.STAYS):
        t.STAYS[stay + L.Y_TO] = max(t.STAYS[stay + L.Y_TO], end)
    t.SLOTS[slot + L.S_STAYING] -= 1
    t.GONE[wi] = LEFT
    if t.SLOTS[slot + L.S_STAYING] == 0:
        _note_end(sm, end, t)
        _tell_who_left(sm, end, t)
