"""L1, and the door to the caches: :func:`read_line`, :func:`write_line`, :func:`atomic_line`."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.jit import jit, jit_inline
from simt.timing.l2 import (
    bytes_added,
    fetch,
    find,
    l2_place,
    l2_read,
    l2_write,
    look_up,
    sectors_of,
    send,
    serialised,
    set_of,
    victim,
    written,
)

L1_WAYS = L.PLACE["l1_ways"]
LINE_INTERVAL = L.PLACE["l1_line_interval"]
L1_LATENCY = L.PLACE["l1_latency"]
L1_CACHES_LOADS = L.PLACE["l1_caches_loads"]
L2_LATENCY = L.PLACE["l2_latency"]
STORE_LINES = L.PLACE["store_lines"]
ELSEWHERE = 20.0
"""One of so many lines that leave L1 for lack of room is of another set than the one that comes."""
HOP = 97
"""Sets between two such."""


@jit
def _expel(first, ways, t):
    """Whether the set of L1 that begins at *first* had a line to let go: its least recently used one."""
    oldest = np.int64(-1)
    for way in range(first, first + ways):
        if t.L1_TAGS[way] >= 0 and (oldest < 0 or t.L1_USED[way] < t.L1_USED[oldest]):
            oldest = way
    if oldest >= 0:
        t.L1_TAGS[oldest] = -1
    return oldest >= 0


@jit
def _displace(sm, home, t):
    """Take a line from set *home* of the L1 of *sm*; from another if that one is empty, and now and then anyway.

    Fitted to which of 1200 to 2300 lines, read in order over and over, an H200 finds again in L1 (64 such footprints):
    4 % of them are wrong, 14 % if always the least recently used one of the set goes.
    """
    sets = t.CONFIG[L.G_L1_SETS]
    ways = np.int64(t.NUMBERS[L1_WAYS])
    at = sm * L.N_SM
    t.SMS[at + L.M_L1_DISPLACED] += 1
    if t.SMS[at + L.M_L1_DISPLACED] % ELSEWHERE and _expel((sm * sets + home) * ways, ways, t):
        return
    for _ in range(sets):
        t.SMS[at + L.M_L1_HAND] = (t.SMS[at + L.M_L1_HAND] + HOP) % sets
        if _expel((sm * sets + np.int64(t.SMS[at + L.M_L1_HAND])) * ways, ways, t):
            return


@jit
def _l1_place(sm, line, t):
    """The way of *line* in the L1 of *sm*.

    Shared memory takes of the data, not of the tags: on an H200, of few lines too many, each drives out those of a set
    that has as many lines as if all of L1 were there (memory.cu).
    """
    ways = np.int64(t.NUMBERS[L1_WAYS])
    home = set_of(line, t.CONFIG[L.G_L1_SETS])
    first = (sm * t.CONFIG[L.G_L1_SETS] + home) * ways
    stamp = t.TOTALS[L.N_L1_SECTORS]
    way = find(t.L1_TAGS, t.L1_USED, first, ways, line, stamp)
    if way < 0:
        way = victim(t.L1_TAGS, t.L1_USED, first, ways)
        if t.L1_TAGS[way] < 0:
            if t.SMS[sm * L.N_SM + L.M_L1_HELD] < t.CONFIG[L.G_L1_LINES]:
                t.SMS[sm * L.N_SM + L.M_L1_HELD] += 1
            else:
                _displace(sm, home, t)
        t.L1_TAGS[way] = line
        t.L1_SECTORS[way] = 0
        t.L1_USED[way] = stamp
        t.L1_READY[way] = 0.0
        t.L1_WRITTEN[way] = 0
    return way


@jit_inline
def _missed(sm, start, t):
    """When a line that L1 lacks is on its way to L2: one a cycle of each SM (H200, memory.cu)."""
    at = sm * L.N_SM + L.M_MISS_FREE
    begin = max(t.SMS[at], start)
    t.SMS[at] = begin + t.NUMBERS[LINE_INTERVAL]
    t.SMS[sm * L.N_SM + L.M_MISSES] += 1
    return begin


@jit
def read_line(sm, line, mask, manner, start, bypass, t):
    """When the sectors *mask* of *line* are there for the use of a load that reached L1 at *start*."""
    n = popcount(mask)
    back = start + t.NUMBERS[L1_LATENCY]
    t.TOTALS[L.N_L1_SECTORS] += n
    if bypass or t.NUMBERS[L1_CACHES_LOADS] == 0:
        return l2_read(sm, line, mask, manner, _missed(sm, start, t), t)
    way = _l1_place(sm, line, t)
    missing = mask & ~t.L1_SECTORS[way]
    t.TOTALS[L.N_L1_HITS] += n - popcount(missing)
    if missing:
        t.L1_SECTORS[way] |= missing
        t.L1_READY[way] = max(t.L1_READY[way], l2_read(sm, line, missing, manner, _missed(sm, start, t), t))
    return max(back, t.L1_READY[way])


@jit
def write_line(sm, line, mask, partial, start, t):
    """When a store to the sectors *mask*, *partial*: bytes in incomplete ones, is in L2.  L1 is written through.

    A store joins the one before to its sectors if only few other lines have been stored since (measured on an H200:
    with 16 lines in turn stores are joined, with 32 they are not; eight warps that fill eight lines together are).
    """
    n = popcount(mask)
    t.TOTALS[L.N_L1_SECTORS] += n
    if t.NUMBERS[L1_CACHES_LOADS] == 0:
        return l2_write(line, mask, partial, send(sm, n, partial != 0, start, t), t)
    way = _l1_place(sm, line, t)
    t.TOTALS[L.N_L1_HITS] += popcount(mask & t.L1_SECTORS[way])
    t.L1_SECTORS[way] |= mask & ~sectors_of(partial)
    recent = t.SMS[sm * L.N_SM + L.M_STORED] - t.L1_WRITTEN_NUMBER[way] < t.NUMBERS[STORE_LINES]
    if recent and mask & ~t.L1_WRITTEN[way] == 0:
        bytes_added(l2_place(line, start, t), partial, t)
        return t.L1_WRITTEN_AT[way]
    there = l2_write(line, mask, partial, send(sm, n, partial != 0, start, t), t)
    t.SMS[sm * L.N_SM + L.M_STORED] += 1
    t.L1_WRITTEN_NUMBER[way] = t.SMS[sm * L.N_SM + L.M_STORED]
    t.L1_WRITTEN[way] = mask
    t.L1_WRITTEN_AT[way] = there
    return there


@jit
def atomic_line(sm, line, mask, manner, block, lanes, most, busy, start, t):
    """When atomics on *line* have been carried out in L2, which takes *busy*; the sectors that L1 had of it are stale.

    On an H200 a request takes as long as a store of parts of its sectors; a lone lane's word goes without a mask.
    """
    n = popcount(mask)
    t.TOTALS[L.N_L1_SECTORS] += n
    ways = np.int64(t.NUMBERS[L1_WAYS])
    first = (sm * t.CONFIG[L.G_L1_SETS] + set_of(line, t.CONFIG[L.G_L1_SETS])) * ways
    way = find(t.L1_TAGS, t.L1_USED, first, ways, line, t.TOTALS[L.N_L1_SECTORS])
    if way >= 0:
        t.L1_SECTORS[way] &= ~mask
    arrival = send(sm, n, lanes > 1, start, t)
    way = l2_place(line, arrival, t)
    missing, _ = look_up(way, line, mask, manner, arrival, t)
    done = serialised(way, block, most, busy, arrival, t)
    if missing:
        done = max(done, fetch(sm, way, line, missing, manner, arrival, t) - t.NUMBERS[L2_LATENCY])
    return max(done, written(way, mask, np.int64(0), arrival, t))
