"""Who has read a cell since its last write: one reader, or a set of them.

A set is a list of rows of SETS, the last reader first, which never change and are there once (interning.py): words
that the same threads have read in the same order share them.  Threads and times count from a record in the cell, so
that words share them, too, which other threads in the same places have read.
"""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.ops.scalar import lowest
from simt.sanitizer import layout as Z
from simt.sanitizer.clocks import orders
from simt.sanitizer.interning import interned
from simt.sanitizer.jit import jit

PC = (1 << Z.PC_BITS) - 1
TIME = (1 << Z.TIME_BITS) - 1
THREAD = (1 << Z.THREAD_BITS) - 1
_LANES = (1 << Z.READER_KIND) - 1
_NUMBER = (1 << Z.NUMBER_BITS) - 1
_BEFORE_READ = (1 << Z.READ_SHIFT) - 1
_ROW = 0  # in SCRATCH: a row that is looked up; behind it the readers that stay in a set
_KEPT = Z.N_READER


@jit
def subsumes(kind, other):
    """Whether an access of one kind races with all that one of the *other* kind races with."""
    writes = kind & Z.WRITES != 0 or other & Z.WRITES == 0
    return writes and (
        kind & Z.STRONG == 0 or (other & Z.STRONG != 0 and (kind & Z.NARROW != 0 or other & Z.NARROW == 0))
    )


@jit
def conflict(kind, other, one_block):
    """Whether accesses race if nothing orders them; *one_block*: both are of threads of one block."""
    atomic = kind & other & Z.STRONG != 0 and (one_block or (kind | other) & Z.NARROW == 0)
    return (kind | other) & Z.WRITES != 0 and not atomic


@jit
def races(kind, other, record, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS):
    """Whether an access of *kind* races with one of kind *other*, of which a *record* has the thread and the time."""
    who = record >> Z.TIME_BITS
    other_block = who >> Z.THREAD_BITS
    return conflict(kind, other, other_block == block) and not orders(
        other_block, who & THREAD, record & TIME, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS,
        TIMES, VECTORS,
    )  # fmt: skip


@jit
def racing_reader(
    cell, kind, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, KEYS, TIMES, VECTORS
):
    """A reader or atomic of a cell that races with an access now: (block << 10 | thread) << 20 | micro-op, or -1."""
    more = CELLS[cell + Z.C_MORE]
    read = CELLS[cell + Z.C_READ]
    number = (more >> Z.NUMBER_SHIFT) & _NUMBER
    if more & Z.ONE << Z.READ_SHIFT:
        if races(
            kind, (more >> Z.READ_SHIFT) & Z.KINDS, read, block, thread, place,
            HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS,
        ):  # fmt: skip
            return read >> Z.TIME_BITS << Z.PC_BITS | number
    if not more & Z.LIST << Z.READ_SHIFT:
        return np.int64(-1)
    while number:
        record, lanes = read + SETS[number * Z.N_READER + Z.Q_RECORD], SETS[number * Z.N_READER + Z.Q_LANES]
        who = record >> Z.TIME_BITS
        other_block, first = who >> Z.THREAD_BITS, who & THREAD
        if conflict(kind, (lanes >> Z.READER_KIND) & Z.KINDS, other_block == block):
            for l in range(32):
                if (lanes >> l) & 1 and not orders(
                    other_block, first + l, record & TIME, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS,
                    KEYS, TIMES, VECTORS,
                ):  # fmt: skip
                    return (who + l) << Z.PC_BITS | lanes >> Z.READER_PC
        number = SETS[number * Z.N_READER + Z.Q_NEXT]
    return np.int64(-1)


@jit
def _with_reader(record, lanes, rest, HEAD, SETS, SCRATCH):
    """The number of the set *rest* and one reader more."""
    SCRATCH[_ROW + Z.Q_RECORD] = record
    SCRATCH[_ROW + Z.Q_LANES] = lanes
    SCRATCH[_ROW + Z.Q_NEXT] = rest
    return interned(SCRATCH, _ROW, Z.N_READER, SETS, Z.H_SETS, HEAD)


@jit
def _the_same(EVENTS, at, l):
    """Lanes from *l* on, without a gap, that access what *l* does: a mask whose bit 0 is *l*."""
    lanes = EVENTS[at + V.V_LANES] >> l
    offset = EVENTS[at + V.V_VALUES + l]
    end = 1
    while end < 32 - l and (lanes >> end) & 1 and EVENTS[at + V.V_VALUES + l + end] == offset:
        end += 1
    return (np.int64(1) << end) - 1


@jit
def _is_needless(read, number, kind, block, place, HEAD, BLOCKS, SETS):
    """Whether the readers of a set race with all that an access of *kind* by a thread of *block* races with.

    Where there are barriers only, readers of two blocks race with every thread until the next barrier of the grid, and
    readers of two warps of one block with every thread until the next one of the block.
    """
    first_block, first_warp = np.int64(-1), np.int64(-1)
    while number:
        record, what = read + SETS[number * Z.N_READER + Z.Q_RECORD], SETS[number * Z.N_READER + Z.Q_LANES]
        number = SETS[number * Z.N_READER + Z.Q_NEXT]
        if record & TIME < HEAD[Z.H_GRID] or not subsumes((what >> Z.READER_KIND) & Z.KINDS, kind):
            continue
        warp = record >> (Z.TIME_BITS + 5)
        its_block = warp >> (Z.THREAD_BITS - 5)
        if first_block >= 0 and its_block != first_block:
            return True
        first_block = its_block
        if its_block == block and record & TIME >= BLOCKS[place * Z.N_BLOCK + Z.B_BASE]:
            if first_warp >= 0 and warp != first_warp:
                return True
            first_warp = warp
    return False


@jit
def _unordered(lanes, record, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS):
    """Those of some threads (bit 0: that of *record*) whose access nothing orders before one of a thread now."""
    who, time = record >> Z.TIME_BITS, record & TIME
    if who >> Z.THREAD_BITS == block and time < BLOCKS[place * Z.N_BLOCK + Z.B_BASE]:
        return np.int64(0)
    left = lanes
    for l in range(32):
        if (lanes >> l) & 1 and orders(
            who >> Z.THREAD_BITS, (who & THREAD) + l, time, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS,
            KEYS, TIMES, VECTORS,
        ):  # fmt: skip
            left &= ~(np.int64(1) << l)
    return left


@jit
def _joined(record, what, me, lanes):
    """Record and lanes of a reader that *me* joins: one of its warp, time, kind and micro-op."""
    low = min(record, me)
    both = (what & _LANES) << ((record - low) >> Z.TIME_BITS) | (lanes & _LANES) << ((me - low) >> Z.TIME_BITS)
    return low, lanes >> Z.READER_KIND << Z.READER_KIND | both


@jit
def note_reader(
    EVENTS, at, l, cell, kind, block, thread, place,
    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, SCRATCH, KEYS, TIMES, VECTORS,
):  # fmt: skip
    """Add a read or atomic of lane *l* to those that a cell remembers; those that it makes needless are forgotten."""
    more, read = CELLS[cell + Z.C_MORE], CELLS[cell + Z.C_READ]
    pc = EVENTS[at + V.V_PC]
    me = (block << Z.THREAD_BITS | thread) << Z.TIME_BITS | HEAD[Z.H_TIME]
    lanes = _the_same(EVENTS, at, l) | kind << Z.READER_KIND | pc << Z.READER_PC
    number = (more >> Z.NUMBER_SHIFT) & _NUMBER
    left = 0
    changed = False
    if more & (Z.ONE | Z.LIST) << Z.READ_SHIFT:
        if more & Z.LIST << Z.READ_SHIFT:
            if HEAD[Z.H_BARRIERS_ONLY] and _is_needless(read, number, kind, block, place, HEAD, BLOCKS, SETS):
                return
            row = number * Z.N_READER
            record, what, rest = read + SETS[row + Z.Q_RECORD], SETS[row + Z.Q_LANES], SETS[row + Z.Q_NEXT]
        else:
            changed = True  # from one to a set
            old = (more >> Z.READ_SHIFT) & Z.KINDS
            record, what, rest = read, 1 | old << Z.READER_KIND | number << Z.READER_PC, np.int64(0)
        one_warp = record >> (Z.TIME_BITS + 5) == me >> (Z.TIME_BITS + 5) and record & TIME == me & TIME
        if one_warp and what >> Z.READER_KIND == lanes >> Z.READER_KIND:
            record, what = _joined(record, what, me, lanes)
            _put(cell, read, _with_reader(record - read, what, rest, HEAD, SETS, SCRATCH), CELLS)
            return
        while True:
            who = what & _LANES
            if subsumes(kind, (what >> Z.READER_KIND) & Z.KINDS):
                who = _unordered(
                    who, record, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS
                )
            changed |= who != what & _LANES
            if who and left < Z.MOST_READERS - 1:
                first = lowest(who)
                SCRATCH[_KEPT + 2 * left] = record + (first << Z.TIME_BITS)
                SCRATCH[_KEPT + 2 * left + 1] = what >> Z.READER_KIND << Z.READER_KIND | who >> first
                left += 1
            else:
                changed = True
            if rest == 0:
                break
            row = rest * Z.N_READER
            record, what, rest = read + SETS[row + Z.Q_RECORD], SETS[row + Z.Q_LANES], SETS[row + Z.Q_NEXT]
    if left == 0:
        CELLS[cell + Z.C_READ] = me
        CELLS[cell + Z.C_MORE] = more & _BEFORE_READ | (Z.ONE | kind) << Z.READ_SHIFT | pc << Z.NUMBER_SHIFT
        return
    if changed:
        read = SCRATCH[_KEPT + 2 * (left - 1)]
        number = np.int64(0)
        for k in range(left - 1, -1, -1):
            record, what = SCRATCH[_KEPT + 2 * k] - read, SCRATCH[_KEPT + 2 * k + 1]
            number = _with_reader(record, what, number, HEAD, SETS, SCRATCH)
    _put(cell, read, _with_reader(me - read, lanes, number, HEAD, SETS, SCRATCH), CELLS)


@jit
def _put(cell, read, number, CELLS):
    """A cell's readers are those of a set."""
    CELLS[cell + Z.C_READ] = read
    more = CELLS[cell + Z.C_MORE] & _BEFORE_READ
    CELLS[cell + Z.C_MORE] = more | Z.LIST << Z.READ_SHIFT | number << Z.NUMBER_SHIFT
