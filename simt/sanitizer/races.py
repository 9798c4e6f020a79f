"""Racecheck: two accesses to the same bytes by threads that nothing orders (clocks.py), of which one writes.

Not a race: accesses that are both atomic or volatile; and a store of what is there already, where a store came before
(every thread that finds something sets one flag): the result does not depend on who comes first.

Each unit of memory (a word, or the kernel's smallest access if that is larger) has a cell: the last write, and all
reads and atomics since that nothing orders before a later one.  One of them stands in the cell, several in a list of
rows of READERS.  Where smaller accesses disagree the bytes of a word have a cell each (parts.py).
"""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.sanitizer import layout as Z
from simt.sanitizer.clocks import orders
from simt.sanitizer.jit import jit, jit_inline
from simt.sanitizer.places import found

PC = (1 << Z.PC_BITS) - 1
TIME = (1 << Z.TIME_BITS) - 1
_THREAD = (1 << Z.THREAD_BITS) - 1
_READ_KIND = 15 << Z.READ_SHIFT
_ATOMICS = Z.WRITES << Z.READ_SHIFT
WRITE_PART = Z.WRITE_STRONG | PC


@jit
def _subsumes(kind, other):
    """Whether an access of one kind races with all that one of the *other* kind races with."""
    return (kind & Z.WRITES or not other & Z.WRITES) and (not kind & Z.STRONG or other & Z.STRONG)


@jit
def _conflict(kind, other):
    return (kind | other) & Z.WRITES and not (kind & other & Z.STRONG)


@jit
def free_reader(row, HEAD, READERS):
    READERS[row * Z.N_READER + Z.Q_NEXT] = HEAD[Z.H_FREE_READER]
    HEAD[Z.H_FREE_READER] = row


@jit
def new_reader(warp, lanes, when, HEAD, READERS):
    """A new row of READERS, which is not in a list yet."""
    row = HEAD[Z.H_FREE_READER]
    if row:
        HEAD[Z.H_FREE_READER] = READERS[row * Z.N_READER + Z.Q_NEXT]
    else:
        row = HEAD[Z.H_READERS] + 1
        HEAD[Z.H_READERS] = row
    at = row * Z.N_READER
    READERS[at + Z.Q_WARP] = warp
    READERS[at + Z.Q_LANES] = lanes
    READERS[at + Z.Q_WHEN] = when
    READERS[at + Z.Q_NEXT] = 0
    return row


@jit
def forget(cell, HEAD, CELLS, READERS):
    """Nobody has read a cell."""
    if CELLS[cell + Z.C_MORE] & Z.LIST << Z.READ_SHIFT:
        row = CELLS[cell + Z.C_READ]
        while row:
            after = READERS[row * Z.N_READER + Z.Q_NEXT]
            free_reader(row, HEAD, READERS)
            row = after
    CELLS[cell + Z.C_READ] = 0
    CELLS[cell + Z.C_MORE] &= ~(_READ_KIND | PC << Z.PC_BITS)


@jit
def _racing_reader(
    cell, kind, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS
):
    """A reader or atomic of a cell that races with an access now: (block << 10 | thread) << 20 | micro-op, or -1."""
    more = CELLS[cell + Z.C_MORE]
    read = CELLS[cell + Z.C_READ]
    shared = np.int64(-1)
    if more & Z.ONE << Z.READ_SHIFT:
        who = read >> Z.TIME_BITS
        if _conflict(kind, (more >> Z.READ_SHIFT) & 3) and not orders(
            who >> Z.THREAD_BITS, who & _THREAD, read & TIME, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN,
            THREADS, KEYS, TIMES, VECTORS,
        ):  # fmt: skip
            return who << Z.PC_BITS | (more >> Z.PC_BITS) & PC
        return shared
    row = read
    while row:
        at = row * Z.N_READER
        lanes = READERS[at + Z.Q_LANES]
        if _conflict(kind, lanes >> 32):
            warp = READERS[at + Z.Q_WARP]
            when = READERS[at + Z.Q_WHEN]
            for l in range(32):
                other = (warp & 31) * 32 + l
                if (lanes >> l) & 1 and not orders(
                    warp >> 5, other, when >> Z.PC_BITS, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN,
                    THREADS, KEYS, TIMES, VECTORS,
                ):  # fmt: skip
                    return (((warp >> 5) << Z.THREAD_BITS) | other) << Z.PC_BITS | when & PC
        row = READERS[at + Z.Q_NEXT]
    return shared


@jit
def _note_reader(
    cell, kind, pc, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS
):
    """Add a read or atomic to those that a cell remembers; those that it makes needless are forgotten."""
    now = HEAD[Z.H_TIME]
    more = CELLS[cell + Z.C_MORE]
    read = CELLS[cell + Z.C_READ]
    me = (block << Z.THREAD_BITS | thread) << Z.TIME_BITS | now
    if more & Z.ONE << Z.READ_SHIFT:
        old = (more >> Z.READ_SHIFT) & 3
        who = read >> Z.TIME_BITS
        if not _subsumes(kind, old) or not orders(
            who >> Z.THREAD_BITS, who & _THREAD, read & TIME, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN,
            THREADS, KEYS, TIMES, VECTORS,
        ):  # fmt: skip
            warp = (who >> Z.THREAD_BITS) << 5 | (who & _THREAD) >> 5
            when = (read & TIME) << Z.PC_BITS | (more >> Z.PC_BITS) & PC
            lanes = np.int64(1) << (who & 31) | old << 32
            row = new_reader(warp, lanes, when, HEAD, READERS)
            CELLS[cell + Z.C_READ] = row
            more = more & ~(_READ_KIND | PC << Z.PC_BITS) | Z.LIST << Z.READ_SHIFT
            CELLS[cell + Z.C_MORE] = more
    if not more & Z.LIST << Z.READ_SHIFT:
        CELLS[cell + Z.C_READ] = me
        more &= ~(_READ_KIND | PC << Z.PC_BITS)
        CELLS[cell + Z.C_MORE] = more | (Z.ONE | kind) << Z.READ_SHIFT | pc << Z.PC_BITS
        return
    warp = block << 5 | thread >> 5
    when = now << Z.PC_BITS | pc
    lane = np.int64(1) << (thread & 31)
    first = CELLS[cell + Z.C_READ]
    if READERS[first * Z.N_READER + Z.Q_WARP] == warp and READERS[first * Z.N_READER + Z.Q_WHEN] == when:
        READERS[first * Z.N_READER + Z.Q_LANES] |= lane
        return
    count = 1
    before = 0
    row = first
    while row:
        at = row * Z.N_READER
        after = READERS[at + Z.Q_NEXT]
        lanes = READERS[at + Z.Q_LANES]
        left = lanes & 0xFFFFFFFF
        if _subsumes(kind, lanes >> 32):
            left = _unordered(
                left, READERS[at + Z.Q_WARP], READERS[at + Z.Q_WHEN] >> Z.PC_BITS, block, thread, place, HEAD,
                BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS,
            )  # fmt: skip
        count += 1
        if left == 0 or count > Z.MOST_READERS:
            if before:
                READERS[before * Z.N_READER + Z.Q_NEXT] = after
            else:
                first = after
            free_reader(row, HEAD, READERS)
        else:
            READERS[at + Z.Q_LANES] = (lanes >> 32) << 32 | left
            before = row
        row = after
    row = new_reader(warp, lane | kind << 32, when, HEAD, READERS)
    READERS[row * Z.N_READER + Z.Q_NEXT] = first
    CELLS[cell + Z.C_READ] = row


@jit
def _unordered(lanes, warp, time, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS):
    """Those of some lanes of a warp whose access at *time* nothing orders before one of a thread now."""
    if warp >> 5 == block and time < BLOCKS[place * Z.N_BLOCK + Z.B_BASE]:
        return np.int64(0)
    left = lanes
    for l in range(32):
        if (lanes >> l) & 1 and orders(
            warp >> 5, (warp & 31) * 32 + l, time, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS,
            KEYS, TIMES, VECTORS,
        ):  # fmt: skip
            left &= ~(np.int64(1) << l)
    return left


@jit_inline
def _is_past(record, me, own, block, base):
    """Whether a write or reader is certainly no race: there is none, it is of this thread, or before a barrier."""
    return (
        record == 0
        or record >> own == me >> own
        or (record >> (Z.TIME_BITS + Z.THREAD_BITS) == block and record & TIME < base)
    )


@jit
def _agrees(EVENTS, at, lane, who, same):
    """Whether a store of *lane* leaves what the write before it, by thread *who*, has left.

    *same*: that write has the micro-op and time of this one, and may be of a lower lane of the same execution.
    """
    value = EVENTS[at + V.V_VALUES + lane]
    other = who & 31
    if same and who >> 5 == EVENTS[at + V.V_BLOCK] << (Z.THREAD_BITS - 5) | EVENTS[at + V.V_WARP] and other < lane:
        before = EVENTS[at + V.V_VALUES + other]
        if (EVENTS[at + V.V_LANES] >> other) & 1 and (before ^ value) & (V.MATCHES - 1) == 0:
            return before >> V.DIGEST_SHIFT == value >> V.DIGEST_SHIFT
    return value & V.MATCHES != 0


@jit
def _racing(
    EVENTS, at, lane, cell, kind, block, thread, place,
    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS,
):  # fmt: skip
    """Who races at a cell with an access now: (block << 10 | thread) << 20 | micro-op, or -1."""
    more = CELLS[cell + Z.C_MORE]
    write = CELLS[cell + Z.C_WRITE]
    if write != 0:
        who = write >> Z.TIME_BITS
        before = Z.WRITES | Z.STRONG if more & Z.WRITE_STRONG else Z.WRITES
        if _conflict(kind, before) and not orders(
            who >> Z.THREAD_BITS, who & _THREAD, write & TIME, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN,
            THREADS, KEYS, TIMES, VECTORS,
        ):  # fmt: skip
            same = more & PC == EVENTS[at + V.V_PC] and write & TIME == HEAD[Z.H_TIME]
            if kind != Z.WRITES or not _agrees(EVENTS, at, lane, who, same):
                return who << Z.PC_BITS | more & PC
    return _racing_reader(
        cell, kind, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS
    )


@jit_inline
def judge_cell(
    EVENTS, at, l, cell, kind, stores, written, read, me, own, base, place, offset,
    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS, FOUND,
):  # fmt: skip
    """Compare an access of lane *l*, *me* (thread and time), with those before it to a cell, and remember it."""
    pc, block, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP]
    thread = w * 32 + l
    before, reader, more = CELLS[cell + Z.C_WRITE], CELLS[cell + Z.C_READ], CELLS[cell + Z.C_MORE]
    listed = more & Z.LIST << Z.READ_SHIFT != 0
    read_before = listed or not _is_past(reader, me, own, block, base)
    if not _is_past(before, me, own, block, base) or (read_before and (kind or more & _ATOMICS or listed)):
        other = _racing(
            EVENTS, at, l, cell, kind, block, thread, place,
            HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS,
        )  # fmt: skip
        if other >= 0:
            who, what = other >> Z.PC_BITS, EVENTS[at + V.V_WHAT]
            found(
                Z.RACE, pc, block, w, l, other & PC, who >> Z.THREAD_BITS, who & _THREAD, offset, what >> 8,
                (what >> 4) & 15, 0, HEAD, FOUND,
            )  # fmt: skip
    if stores:
        if listed:
            forget(cell, HEAD, CELLS, READERS)
        CELLS[cell + Z.C_WRITE] = me
        CELLS[cell + Z.C_READ] = 0
        CELLS[cell + Z.C_MORE] = written
    elif not read_before and _subsumes(kind, (more >> Z.READ_SHIFT) & 3):
        CELLS[cell + Z.C_READ] = me
        CELLS[cell + Z.C_MORE] = more & WRITE_PART | read
    else:
        _note_reader(
            cell, kind, pc, block, thread, place,
            HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, READERS, KEYS, TIMES, VECTORS,
        )  # fmt: skip
