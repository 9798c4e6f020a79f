"""Racecheck of one access of a warp."""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.ops.memory import ATOMIC, LOAD, SHARED, STORE
from simt.sanitizer import layout as Z
from simt.sanitizer.clocks import ARRIVED, acquire, end_phase, leave, tick, warp_at
from simt.sanitizer.copies import begin_copy, is_under_way, note_mbarrier
from simt.sanitizer.jit import jit, jit_inline
from simt.sanitizer.parts import compress, expand, is_whole
from simt.sanitizer.races import judge_cell


@jit
def _judge_bytes(
    EVENTS, at, l, cell, first, end, kind, stores, written, read, me, own, base, place, offset,
    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, PATTERNS, BYTES, SCRATCH, KEYS, TIMES, VECTORS, FOUND,
):  # fmt: skip
    """An access to bytes *first* to *end* - 1 of a word."""
    expand(cell, CELLS, PATTERNS, BYTES)
    for byte in range(first, end):
        judge_cell(
            EVENTS, at, l, byte * Z.N_CELL, kind, stores, written, read, me, own, base, place, offset,
            HEAD, BLOCKS, WARPS, KNOWN, THREADS, BYTES, SETS, SCRATCH, KEYS, TIMES, VECTORS, FOUND,
        )  # fmt: skip
    compress(cell, HEAD, CELLS, PATTERNS, BYTES, SCRATCH)


@jit_inline
def judge_access(
    EVENTS, at, place, META, HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, PATTERNS, BYTES, SCRATCH, KEYS, TIMES,
    VECTORS, HASH, FOUND,
):  # fmt: skip
    """Compare an access to global or shared memory with those before it, and remember it."""
    what = EVENTS[at + V.V_WHAT]
    pc, block, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP]
    lanes = EVENTS[at + V.V_LANES]
    access, space, size = what & 15, (what >> 4) & 15, what >> 8
    granule, fine = HEAD[Z.H_GRANULE], HEAD[Z.H_FINE]
    units = max(size >> granule, 1)
    stores = access == STORE
    told = META[pc * Z.N_META + Z.M_KIND]
    copying = HEAD[Z.H_COPIES] != 0 and space == SHARED
    kind = np.int64(0) if access == LOAD else np.int64(Z.WRITES)
    if access == ATOMIC or told & Z.IS_STRONG:
        kind |= Z.STRONG | (Z.NARROW if told & Z.IS_NARROW else 0)
    listens = HEAD[Z.H_FENCED] != 0 and kind & Z.STRONG != 0
    if told & Z.IS_GUESS:
        kind |= Z.STRONG
    base = BLOCKS[place * Z.N_BLOCK + Z.B_BASE]
    now = HEAD[Z.H_TIME]
    own = Z.TIME_BITS if HEAD[Z.H_LANES] else Z.TIME_BITS + 5  # what does not race with itself: a thread or a warp
    written = pc | kind << Z.WRITE_SHIFT
    read = pc << Z.NUMBER_SHIFT | (Z.ONE | kind) << Z.READ_SHIFT
    last = WARPS[warp_at(HEAD, place, w) + Z.W_LAST]
    WARPS[warp_at(HEAD, place, w) + Z.W_LAST] = now
    ticks = False
    for l in range(32):
        if not (lanes >> l) & 1:
            continue
        thread = w * 32 + l
        offset = EVENTS[at + V.V_VALUES + l] & (V.MATCHES - 1)
        me = (block << Z.THREAD_BITS | thread) << Z.TIME_BITS | now
        first = (offset >> granule) * Z.N_CELL
        for cell in range(first, first + units * Z.N_CELL, Z.N_CELL):
            if copying and is_under_way(EVENTS, at, l, cell, offset, HEAD, CELLS, FOUND):
                continue
            if fine and (size < 4 or not is_whole(cell, CELLS)):
                _judge_bytes(
                    EVENTS, at, l, cell, offset & 3 if size < 4 else 0, (offset & 3) + size if size < 4 else 4, kind,
                    stores, written, read, me, own, base, place, offset,
                    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, PATTERNS, BYTES, SCRATCH, KEYS, TIMES, VECTORS,
                    FOUND,
                )  # fmt: skip
            else:
                judge_cell(
                    EVENTS, at, l, cell, kind, stores, written, read, me, own, base, place, offset,
                    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, SCRATCH, KEYS, TIMES, VECTORS, FOUND,
                )  # fmt: skip
            if told & (Z.IS_COPY | Z.IS_BULK):
                begin_copy(cell, told, place, thread, HEAD, WARPS, THREADS, CELLS)
        if listens:
            shared = space == SHARED or kind & Z.NARROW != 0
            arrives = told & Z.IS_ARRIVAL != 0
            if access != STORE and not arrives:
                acquire(offset, block, place, thread, shared, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS, HASH)
            if access != LOAD and not told & Z.ASKS_PHASE:
                left = offset + ARRIVED if arrives else offset
                ticks |= leave(
                    left, block, place, thread, last, shared, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS, HASH
                )
            if arrives and EVENTS[at + V.V_VALUES + l] & V.MATCHES:
                end_phase(offset, block, HEAD, KEYS, TIMES, VECTORS, HASH)
    if told & (Z.TAKES_COPIES | Z.TAKES_BULK | Z.ASKS_PHASE):
        note_mbarrier(EVENTS, at, told, place, HEAD, WARPS, CELLS)
    if ticks:
        tick(HEAD)
