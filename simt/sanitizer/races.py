"""Racecheck: two accesses to the same bytes by threads that nothing orders (clocks.py), of which one writes.

Not a race: accesses that are both atomic or volatile; and a store of what is there already, where a store came before
(every thread that finds something sets one flag): the result does not depend on who comes first.

Each unit of memory (a word, or the kernel's smallest access if that is larger) has a cell: the last write, and all
reads and atomics since that nothing orders before a later one.  One of them stands in the cell, of several the number
of a set (readers.py).  Where smaller accesses disagree the bytes of a word have a cell each (parts.py).
"""

from __future__ import annotations

from simt.machine import events as V
from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit, jit_inline
from simt.sanitizer.places import found
from simt.sanitizer.readers import PC, THREAD, TIME, note_reader, races, racing_reader, subsumes

_ATOMICS = Z.WRITES << Z.READ_SHIFT
_WRITE_PART = (1 << Z.READ_SHIFT) - 1


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
    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, KEYS, TIMES, VECTORS,
):  # fmt: skip
    """Who races at a cell with an access now: (block << 10 | thread) << 20 | micro-op, or -1."""
    more = CELLS[cell + Z.C_MORE]
    write = CELLS[cell + Z.C_WRITE]
    if write != 0 and races(
        kind, (more >> Z.WRITE_SHIFT) & Z.KINDS, write, block, thread, place,
        HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS,
    ):  # fmt: skip
        who = write >> Z.TIME_BITS
        same = more & PC == EVENTS[at + V.V_PC] and write & TIME == HEAD[Z.H_TIME]
        if kind != Z.WRITES or not _agrees(EVENTS, at, lane, who, same):
            return who << Z.PC_BITS | more & PC
    return racing_reader(
        cell, kind, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, KEYS, TIMES, VECTORS
    )


@jit_inline
def judge_cell(
    EVENTS, at, l, cell, kind, stores, written, read, me, own, base, place, offset,
    HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, SCRATCH, KEYS, TIMES, VECTORS, FOUND,
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
            HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, KEYS, TIMES, VECTORS,
        )  # fmt: skip
        if other >= 0:
            who, what = other >> Z.PC_BITS, EVENTS[at + V.V_WHAT]
            found(
                Z.RACE, pc, block, w, l, other & PC, who >> Z.THREAD_BITS, who & THREAD, offset, what >> 8,
                (what >> 4) & 15, 0, HEAD, FOUND,
            )  # fmt: skip
    if stores:
        CELLS[cell + Z.C_WRITE] = me
        CELLS[cell + Z.C_READ] = 0
        CELLS[cell + Z.C_MORE] = written
    elif not read_before and subsumes(kind, (more >> Z.READ_SHIFT) & Z.KINDS):
        CELLS[cell + Z.C_READ] = me
        CELLS[cell + Z.C_MORE] = more & _WRITE_PART | read
    else:
        note_reader(
            EVENTS, at, l, cell, kind, block, thread, place,
            HEAD, BLOCKS, WARPS, KNOWN, THREADS, CELLS, SETS, SCRATCH, KEYS, TIMES, VECTORS,
        )  # fmt: skip
