"""The load/store unit of an SM: coalescing, shared-memory wavefronts, and what follows in the caches."""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.caches import ALL_WORDS, atomic_line, is_behind, note_atomic, read_line, stopped_until, write_line
from simt.timing.chance import share
from simt.timing.cycles import ceil
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.lines import (
    SECTOR_BYTES,
    coalesce,
    count_words,
    follow,
    interleave,
    keep_words,
    most_in_bank,
    most_in_tag_bank,
    rounds,
    stored_words,
    written_in_part,
)
from simt.timing.mates import note_load
from simt.timing.others import FIRST, manner_of, note_lanes, spaced
from simt.timing.outbox import answer, forget, is_alone, is_load, request, result_of, take_to_l1
from simt.timing.races import note_access
from simt.timing.rounds import manner_of_load
from simt.timing.steps import asked_ahead
from simt.timing.waits import scheduler_of

SHARED_INTERVAL = L.PLACE["shared_wavefront_interval"]
SHARED_WAVEFRONT = L.PLACE["shared_wavefront_latency"]
LINE_LATENCY = L.PLACE["l1_line_latency"]
L1_LATENCY = L.PLACE["l1_latency"]
LINE_SHARE = L.PLACE["l1_line_share"]
LSU_STORE = L.PLACE["lsu_store_bytes_per_cycle"]
STORE_LINES = L.PLACE["store_lines"]
KEPT = L.PLACE["lsu_kept"]
STORE_TO_LOAD = L.PLACE["store_to_load_interval"]
MIO_DISPATCH = L.PLACE["mio_dispatch_interval"]
MISS_QUEUE = L.PLACE["miss_queue"]
FENCE_LATENCY = L.PLACE["fence_latency"]
STORE_DRAIN = L.PLACE["store_drain_latency"]
ATOMIC_LATENCY = L.PLACE["atomic_latency"]
ATOMIC_LANE = L.PLACE["atomic_lane_interval"]
ATOMIC_SECTOR = L.PLACE["atomic_sector_interval"]
ATOMIC_PART = L.PLACE["atomic_part_interval"]
ATOMIC_FLOAT = L.PLACE["atomic_float_interval"]
SYSTEM_LATENCY = L.PLACE["system_latency"]
LINE_BYTES = 128
MANY = 8
"""Stores to so many lines take so long that the next one is there before the load/store unit has nothing to do."""
FEW = 4
"""Stores to no more lines hardly ever have others come between: pixels of three bytes (parts.cu)."""
STORED_EVENLY = 0.7
"""Of the time of a store to parts of sectors of many lines what one takes if they are spread evenly over the tag banks.

Measured on an H100 (lanes.cu): four warps that each load a word of 32 rows and store it back take 113 to 116 cycles a
warp and step if rows are 33 or 320 lines apart, 73 to 89 if they are 64 apart.
"""
DISPATCHED = 2.5
"""Cycles by which the SM takes MIO instructions ahead of what the load/store unit has begun.

A compromise: S2R beside loads that keep the unit for two cycles cost 3 % (sent.cu; on an H100 nothing), 4 with 1.5 of
these; with no end to it, others' reductions in shared memory are 9 to 11 % fast instead of 4 to 7.
"""


@jit_inline
def dispatch(sm, now, t):
    """When *sm* takes an MIO instruction of *now*, of any pipe: one a cycle.

    Measured on an H100 (sent.cu): 8 MUFU, POPC, F2I or S2R beside 16 loads cost 8 cycles if a load keeps the load/store
    unit for one, nothing if it keeps it for two.
    """
    at = sm * L.N_SM + L.M_MIO_FREE
    begin = max(t.SMS[at], np.float64(now))
    t.SMS[at] = begin + t.NUMBERS[MIO_DISPATCH]
    return begin


@jit_inline
def keep_lsu(sm, now, cycles, t):
    """Keep the load/store unit of *sm* busy; returns when it begins with this instruction."""
    at = sm * L.N_SM
    begin = max(t.SMS[at + L.M_LSU_FREE], dispatch(sm, now, t))
    t.SMS[at + L.M_LSU_FREE] = begin + cycles
    t.SMS[at + L.M_MIO_FREE] = max(t.SMS[at + L.M_MIO_FREE], begin - DISPATCHED)
    t.SMS[at + L.M_LSU_BUSY] += cycles
    return begin


@jit
def shared_access(sm, wi, now, sent, wavefronts, latency, t):
    """When a shared-memory access of warp *wi*, of so many wavefronts, has its result.

    The unit takes wavefronts of several warps in turn; those of one warp follow each other more slowly.
    """
    t.TOTALS[L.N_WAVEFRONTS] += wavefronts
    at = wi * L.N_WARP + L.W_SHARED_FREE
    begin = max(keep_lsu(sm, now, wavefronts * t.NUMBERS[SHARED_INTERVAL], t), sent, np.float64(t.WARPS[at]))
    last = begin + (wavefronts - 1) * t.NUMBERS[SHARED_WAVEFRONT]
    if wavefronts > 1:
        t.WARPS[at] = np.int64(last + t.NUMBERS[SHARED_WAVEFRONT])
    return last + latency


@jit_inline
def _bytes_kept(n, sectors, size, t):
    """Bytes for which a store of *size* bytes to *sectors* of *n* lines keeps the unit.

    Of sectors that it leaves incomplete, a line for each of the words in one bank; whole ones take no longer than they
    take on the way to L2 (memory.cu).
    """
    if n == 1 or size >= sectors * SECTOR_BYTES:
        return np.float64(size)
    kept = np.float64(most_in_bank(n, t.LANES) * LINE_BYTES)
    if 4 * most_in_tag_bank(n, t.LINES) < n + 4:
        kept *= STORED_EVENLY
    return max(kept, np.float64(size))


@jit_inline
def _await_misses(sm, misses, cycles, t):
    """Keep the load/store unit of *sm* busy for so many lines of a load that took *cycles* but that L1 misses.

    On an H200 loads that hit wait for others' misses, as if L1 looked these up once more (memory.cu).  It stops if
    too many are on their way.
    """
    at = sm * L.N_SM + L.M_LSU_FREE
    t.SMS[at] += max(misses * t.NUMBERS[LINE_SHARE] - cycles, 0.0)
    t.SMS[at] = max(t.SMS[at], t.SMS[sm * L.N_SM + L.M_MISS_FREE] - t.NUMBERS[MISS_QUEUE])


@jit_inline
def _await_stores(sm, wi, now, leaves, t):
    """A store or an atomic of a warp, issued *now*, *leaves* for L2: not before may the warp end.

    The load/store unit stops if too many lines wait for that.  While blocks are to come, they leave in any order: the
    wait is shortened or lengthened by up to half (stays.cu on an H100: some of the oldest of 64 warps leave last).
    """
    at = sm * L.N_SM + L.M_LSU_FREE
    t.SMS[at] = max(t.SMS[at], stopped_until(sm, t))
    waits = max(leaves, t.SMS[at]) - now
    if t.CHIP[L.C_NEXT_BLOCK] < t.CONFIG[L.G_BLOCKS]:
        waits *= 0.5 + share(t.WARPS[wi * L.N_WARP + L.W_AGE] + (np.int64(1) << 44))
    own = wi * L.N_WARP + L.W_DRAINED
    t.WARPS[own] = max(t.WARPS[own], ceil(now + waits + t.NUMBERS[STORE_DRAIN]))


@jit_inline
def _come_between(sm, wi, n, now, t):
    """Whether stores of other blocks come between one of warp *wi*, to *n* lines, and the one before of its block.

    While L2 has not taken what an SM sent, stores wait in the queues of the schedulers, which take turns: drawn, as if
    a scheduler's queue were full of those of other blocks.  So many as the lines of *n* leave room for do no harm.
    Measured on an H100 (columns.cu, 16 lines a warp): of stores by blocks of 8 warps 67 % are sent, of 16 warps 52 %.
    """
    if t.CONFIG[L.G_LAUNCHED] <= t.CONFIG[L.G_CHIP] or not is_behind(sm, now, t):
        return False
    others = t.NUMBERS[KEPT] / (t.NUMBERS[KEPT] + t.CONFIG[L.G_WARPS])
    drawn = share(t.WARPS[wi * L.N_WARP + L.W_AGE] + (np.int64(1) << 47))
    return drawn < others ** (t.NUMBERS[STORE_LINES] / n)


@jit
def global_access(pc, sm, wi, block, now, sent, kind, loads, asked, lanes, t):
    """When a global (or local) access of micro-op *pc* has its result; for stores and reductions, when L2 has it.

    PENDING and more if that is not known before L2 answers.  What it asks L1 for is noted by micro-op.
    """
    at = pc * len(L.ACCESSES)
    for k in range(2):
        t.ACCESSES[at + k] -= t.TOTALS[L.ACCESSES[k]]
    done = _accessed(pc, sm, wi, block, now, sent, kind, loads, asked, lanes, t)
    for k in range(2):
        t.ACCESSES[at + k] += t.TOTALS[L.ACCESSES[k]]
    return done


@jit
def _accessed(pc, sm, wi, block, now, sent, kind, loads, asked, lanes, t):
    """When a global (or local) access has its result; for stores and reductions, when L2 has it.

    Measured on an H200 (mixed.cu): a store keeps the unit for its bytes, the second load behind one for a cycle more.
    """
    sectors = asked.sectors
    size = asked.bytes
    ADDRESSES = asked.addresses
    local = kind == L.K_LOCAL
    each = np.int64(size // lanes)
    own = max(each, 4)
    words = np.int64(1)
    if local:  # lines of a thread's own: no other block comes to them
        kind = np.int64(L.K_LOAD if loads else L.K_STORE)
        block = np.int64(0)
        interleave(ADDRESSES, t.WARPS[wi * L.N_WARP + L.W_PLACE], t)
        words = max(each >> 2, 1)
        each = min(each, 4)
    last = scheduler_of(wi, sm, t.CONFIG) * L.N_SCHEDULER + L.Q_STORES_LAST
    first_words = coalesce(ADDRESSES, each, t.LINES, t.MASKS, t.LANES)
    n = follow(first_words, words, 1, t)
    if not local and len(t.WATCHED) and (loads or kind == L.K_STORE) and not t.OPS[pc * L.N_OP + L.O_IN_TURN]:
        note_access(sm, pc, n, not loads, each, ADDRESSES, t)
    banks, tags = np.int64(1), n
    if loads and n > 1:
        banks, tags = most_in_bank(n, t.LANES), most_in_tag_bank(n, t.LINES)
    if loads:  # a word of each lane at a time, whether lanes have the same or not (bodies.cu on an H100)
        banks = max(banks, each >> 2)
    passes = max(banks, tags)
    cycles = passes * t.NUMBERS[SHARED_INTERVAL]
    t.TOTALS[L.N_WAVEFRONTS] += passes if loads else max(n, (size + LINE_BYTES - 1) // LINE_BYTES)
    if kind == L.K_STORE:
        cycles = max(cycles, _bytes_kept(n, sectors, size, t) / t.NUMBERS[LSU_STORE])
    elif loads and t.SCHEDULERS[last] == 1:
        cycles += t.NUMBERS[STORE_TO_LOAD]
    t.SCHEDULERS[last] = 2 if kind == L.K_STORE else max(t.SCHEDULERS[last] - 1, 0)
    begin = max(keep_lsu(sm, now, cycles, t), sent)
    if loads and passes > 1:
        begin = max(begin, np.float64(t.WARPS[wi * L.N_WARP + L.W_SHARED_FREE]))
        apart = max(banks * t.NUMBERS[SHARED_WAVEFRONT], tags * t.NUMBERS[LINE_LATENCY])
        t.WARPS[wi * L.N_WARP + L.W_SHARED_FREE] = np.int64(begin + apart)
    misses = t.SMS[sm * L.N_SM + L.M_MISSES]
    word, plain = ADDRESSES[0] >> 2, kind == L.K_LOAD and not local
    manner = manner_of_load(pc, wi, n, block, word, t) if plain else manner_of(n, t.LINES, block, t)
    if plain:
        note_load(pc, wi, block, word, ADDRESSES[1] - ADDRESSES[0], now, t)
    r = request(sm, wi, pc, now, kind, block, manner, word, t)
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    t.REQUESTED[at + L.R_AHEAD] = asked_ahead(pc, wi, block, now, word, plain and manner == FIRST, t)
    times = (sm * L.REQUESTS + r) * L.N_REQUEST_AT
    first = t.REQUESTED[at + L.R_FIRST]
    note_lanes(at, n, ADDRESSES, lanes, t)
    t.REQUESTED[at + L.R_PITCH] = ADDRESSES[1] - ADDRESSES[0] if plain else 0
    t.FRONTS[sm * L.N_FRONT + L.F_LINES] += n
    most = np.int64(1)
    busy = leaves = 0.0
    joined = np.int64(0)
    many = n >= MANY
    apart = kind == L.K_STORE and n > FEW and _come_between(sm, wi, n, now, t)
    waits = not loads
    if kind == L.K_STORE:
        t.REQUESTED[at + L.R_WORDS] = t.LANES[0]
        keep_words(n, t.LANES)
        count_words(ADDRESSES, first_words, t.LANES)
        follow(first_words, words, 4, t)
        t.REQUESTED[at + L.R_SPACED] = spaced(ADDRESSES, each)
    for k in range(n):
        start = begin + k * tags // n * t.NUMBERS[LINE_LATENCY]
        if loads:
            waits |= read_line(sm, first + k, t.LINES[k], t.MASKS[k], t.LANES[k], begin, n, start, kind != L.K_LOAD, t)
        elif kind == L.K_STORE:
            partial = written_in_part(k, t.MASKS[k], each, t.LANES)
            words = stored_words(k, partial, t.LANES) if partial else np.int64(0)
            gone = write_line(sm, first + k, t.LINES[k], t.MASKS[k], words, partial, start, many, apart, t)
            leaves = max(leaves, gone)
            joined += t.ASKED[(sm * L.REQUEST_LINES + first + k) * L.N_LINE + L.A_DO] == L.D_JOIN
        else:
            real = t.OPS[pc * L.N_OP + L.O_FLOAT] != 0
            whole, part, again = t.NUMBERS[ATOMIC_SECTOR], t.NUMBERS[ATOMIC_PART], t.NUMBERS[ATOMIC_FLOAT]
            of_line = rounds(ADDRESSES, lanes, own, t.LINES[k], whole, part, again if real else 0.0, real and own == 8)
            most, busy = max(most, of_line[3]), max(busy, of_line[1])
            note_atomic(sm, first + k, of_line[1], of_line[2], t)
            gone = atomic_line(sm, first + k, t.LINES[k], t.MASKS[k], of_line[0], start, t)
            leaves = max(leaves, gone)
    if joined and many:  # those that are not sent take a cycle a line (turns.cu)
        spared = (cycles - passes * t.NUMBERS[SHARED_INTERVAL]) * joined / n
        t.SMS[sm * L.N_SM + L.M_LSU_FREE] -= spared
        t.SMS[sm * L.N_SM + L.M_LSU_BUSY] -= spared
    if loads:  # wavefronts of one warp, from when the first line is there and the last has been looked up
        t.REQUESTED_AT[times + L.T_SOONEST] = begin + t.NUMBERS[L1_LATENCY] + (tags - 1) * t.NUMBERS[LINE_LATENCY]
        t.REQUESTED_AT[times + L.T_SPREAD] = (banks - 1) * t.NUMBERS[SHARED_WAVEFRONT]
    misses = t.SMS[sm * L.N_SM + L.M_MISSES] - misses
    if misses:
        _await_misses(sm, misses, passes * t.NUMBERS[SHARED_INTERVAL], t)
    if kind == L.K_LOAD_SYSTEM:
        t.REQUESTED_AT[times + L.T_LATER] = t.NUMBERS[SYSTEM_LATENCY]
    if loads and not local:
        t.TOTALS[L.N_LOAD_SECTORS] += sectors
        t.TOTALS[L.N_LOAD_BYTES] += size
    elif kind == L.K_STORE and not local:
        t.TOTALS[L.N_STORE_SECTORS] += sectors
        t.TOTALS[L.N_STORE_BYTES] += size
    elif kind == L.K_ATOMIC:
        # What L2 takes for lanes that meet is part of what they wait for each other.
        later = max((most - 1) * t.NUMBERS[ATOMIC_LANE] - (busy if most > 1 else 0.0), 0.0)
        t.REQUESTED_AT[times + L.T_LATER] = t.NUMBERS[ATOMIC_LATENCY] + later
    if not loads:
        t.REQUESTED[at + L.R_MOST] = most
        _await_stores(sm, wi, now, leaves, t)
        t.WARPS[wi * L.N_WARP + L.W_STORING] += kind != L.K_REDUCTION  # L2 adds without being waited for
    return _asked(sm, r, waits, t)


@jit
def _asked(sm, r, waits, t):
    """When request *r* of *sm* has its result, as far as that is known; *waits*: L2 must answer."""
    if is_alone(t):
        done = answer(sm, r, t)
        take_to_l1(sm, r, t)
        forget(sm, t)
        return done
    if waits:
        return np.float64(L.PENDING + r)
    done = result_of(sm, r, False, t)
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    touches = len(t.TOUCHED_BY) > 0 and is_load(t.REQUESTED[at + L.R_KIND])
    t.REQUESTED[at + L.R_KIND] = L.K_TOUCH
    if not touches:
        t.FRONTS[sm * L.N_FRONT + L.F_ASKED] -= 1
        t.FRONTS[sm * L.N_FRONT + L.F_LINES] -= t.REQUESTED[at + L.R_LINES]
    return done


@jit_rare
def fence(sm, wi, pc, now, t):
    """When warp *wi* is through a fence for the device at *pc*: its stores are on their way; PENDING: not known yet."""
    done = now + t.NUMBERS[FENCE_LATENCY]
    if t.WARPS[wi * L.N_WARP + L.W_STORING] == 0:
        if is_alone(t) and t.WARPS[wi * L.N_WARP + L.W_STORED]:
            t.CHIP[L.C_FENCED] = 1
        return max(done, np.float64(t.WARPS[wi * L.N_WARP + L.W_STORED]))
    r = request(sm, wi, pc, now, np.int64(L.K_FENCE), np.int64(0), np.int64(0), np.int64(0), t)
    t.REQUESTED_AT[(sm * L.REQUESTS + r) * L.N_REQUEST_AT + L.T_SOONEST] = done
    return np.float64(L.PENDING + r)


@jit_rare
def texture_access(sm, wi, pc, block, now, done, stores, asked, t):
    """When a texture or surface instruction at *pc*, issued *now*, has its result: at *done* if L1 has its texels.

    They go through L1 and L2 as loads and stores of their lines do, but not through the load/store unit.
    """
    n = coalesce(asked.addresses, 1, t.LINES, t.MASKS, t.LANES)
    kind = np.int64(L.K_SURFACE if stores else L.K_TEXTURE)
    r = request(sm, wi, pc, now, kind, block, manner_of(n, t.LINES, block, t), asked.addresses[0] >> 2, t)
    first = t.REQUESTED[(sm * L.REQUESTS + r) * L.N_REQUEST + L.R_FIRST]
    t.REQUESTED[(sm * L.REQUESTS + r) * L.N_REQUEST + L.R_LINES] = n
    t.FRONTS[sm * L.N_FRONT + L.F_LINES] += n
    begin = done - t.NUMBERS[L1_LATENCY]
    waits = stores
    for k in range(n):
        if stores:
            gone = write_line(sm, first + k, t.LINES[k], t.MASKS[k], np.int64(0), np.int64(0), begin, False, False, t)
            drained = max(t.WARPS[wi * L.N_WARP + L.W_DRAINED], ceil(gone + t.NUMBERS[STORE_DRAIN]))
            t.WARPS[wi * L.N_WARP + L.W_DRAINED] = drained
        else:
            waits |= read_line(sm, first + k, t.LINES[k], t.MASKS[k], ALL_WORDS, begin, n, begin, False, t)
    if stores:
        t.WARPS[wi * L.N_WARP + L.W_STORING] += 1
    else:
        t.REQUESTED_AT[(sm * L.REQUESTS + r) * L.N_REQUEST_AT + L.T_SOONEST] = done
    back = _asked(sm, r, waits, t)
    return done if stores else back
