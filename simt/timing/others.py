"""What the SMs that are not simulated have brought to L2.

They are taken to do what the simulated ones do, at the same time.  Each fetches its share of every allocation from
DRAM.  One that asks for more asks for what others fetch: data that several SMs read.
"""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.chance import logistic, share
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.owners import is_owned

DRAM_LATENCY = L.PLACE["dram_latency"]
SAMPLE, OTHERS_NOW, OTHERS_BEFORE = range(3)
"""Who brings data to L2: the simulated SMs; others, at the same time; others, which have done so already."""
AHEAD = 1.1
"""The simulated SMs may be so far ahead of the blocks' average before they are taken to share data with others."""
APART = 0.1
"""Of data that each SM has for itself, others have at most such a share."""
ANYWHERE_HELD = 0.66
"""Of l2_bytes, what L2 holds of lines that are loaded from anywhere, of which both halves have a copy.

Of 64 MiB an H200 reads 62 to 64 % again (anywhere.cu).
"""
SEVERAL = -(1 << 31)
"""In TOUCHED_BY: warps of several blocks."""
STORED, STORED_BY_OTHERS, LOST = 16, 32, 64
"""In OWNED: who answers for what is stored to a line; L2 has lost it before."""
FIRST_STORED = 8
"""In OWNED: the bit of the first sector of which what is stored has been counted."""
SCATTERED, FIRST, LATER, ONCE, AGAIN_NOW, AGAIN, FETCHES, FINDS_NOW, FINDS, LOADED = range(10)
"""Manners of a request: its lanes ask for lines anywhere; of a block that starts with the launch; of a later one; for

lines where no other block has been; where others are at the same time; where others have been (rounds.py); of a block
that finds nothing there of what other rows of blocks have loaded; of one that does, and starts with the launch; of a
later one (mates.py); of a block whose neighbour has loaded the line for itself (owners.py).
"""


@jit
def allocation(line, t):
    """Number of the global allocation that holds *line*, or -1."""
    for k in range(len(t.QUOTAS)):
        if t.EXTENTS[2 * k] <= line < t.EXTENTS[2 * k + 1]:
            return k
    return -1


@jit
def note_touch(wi, line, now, t):
    """Note that warp *wi* loads from *line*: what warps of an SM do at the same time, those of other SMs do, too.

    The second warp to touch a line is asked whether data that the first has asked for could still be on their way.
    """
    if line >= len(t.TOUCHED_BY):  # local memory, or the whole chip is simulated
        return
    first = np.int64(t.TOUCHED_BY[line])
    who = t.WARPS[wi * L.N_WARP + L.W_AGE] + 1
    if first == 0:
        t.TOUCHED_BY[line] = who
        t.TOUCHED_AT[line] = now
        return
    block = -1 - t.WARPS[wi * L.N_WARP + L.W_BLOCK_AGE]
    if first in (who, block, SEVERAL):
        return
    k = allocation(line, t)
    if k >= 0 and first > 0:
        t.TOGETHER[k] += 1 if now - t.TOUCHED_AT[line] <= t.NUMBERS[DRAM_LATENCY] else -1
    if first > 0 and -1 - (first - 1) // t.CONFIG[L.G_WARPS] == block:
        t.TOUCHED_BY[line] = block
    else:
        t.TOUCHED_BY[line] = SEVERAL
        if k >= 0:
            t.MET[k] += 4


@jit
def note_store(line, mask, part, t):
    """Note that the simulated SMs store to sectors *mask* of *line*, which L2 had clean; whether they are their share.

    *part*: of these sectors what they store of them.

    What they store beyond their share of an allocation others store, too (stays.cu on an H100: arrays of which each
    block stores all): that needs no room of theirs.
    """
    k = allocation(line, t)
    if k < 0:
        return True
    n = popcount(mask & ~(t.OWNED[line] >> FIRST_STORED)) * part
    if t.OWNED[line] & (STORED | STORED_BY_OTHERS) == 0:
        own = t.STORED_TO[k] + n <= AHEAD * t.QUOTAS[k]
        t.OWNED[line] |= STORED if own else STORED_BY_OTHERS
    if t.OWNED[line] & STORED == 0:
        return False
    t.OWNED[line] |= mask << FIRST_STORED
    t.STORED_TO[k] += n
    return True


@jit_rare
def _are_rows(n, LINES):
    """Whether the first *n* of LINES are rows of a small block's threads, in at most one layer for each two such rows.

    A row may lie over two lines that follow each other.
    """
    apart = np.int64(L.NEVER)
    for k in range(1, n):
        if LINES[k] != LINES[k - 1] + 1:
            apart = min(apart, abs(LINES[k] - LINES[k - 1]))
    start = LINES[0]
    rows = layers = 0
    for k in range(1, n):
        if LINES[k] == LINES[k - 1] + 1:
            continue
        if 0 <= LINES[k] - start - apart <= 2:  # from the first line of a row, which may begin a line later
            rows += 1
        else:
            layers += 1
        start = LINES[k]
    return 2 * layers <= rows


@jit
def manner_of(n, LINES, block, t):
    """The manner of a request of a warp of *block* for the first *n* of LINES."""
    for k in range(2, n):
        if abs(LINES[k] - LINES[k - 1] - (LINES[1] - LINES[0])) > 1 and not _are_rows(n, LINES):
            return SCATTERED
    return FIRST if block < t.CONFIG[L.G_FIRST_WAVE] else LATER


@jit_inline
def exceeds_l2(lines, holds, spread, number, t):
    """Whether L2 has lost one of so many *lines* that take turns in it: drawn for *number*.

    Of *holds* times l2_bytes half are lost; about that it is a logistic curve of scale *spread*, as sets differ.
    """
    return lines > t.CONFIG[L.G_L2_LINES] * (holds + spread * logistic(number))


@jit_inline
def spaced(ADDRESSES, size):
    """How far the second lane stores behind the first, in what each stores: 1 if they leave no part of a sector out."""
    apart = ADDRESSES[1] - ADDRESSES[0]
    return apart // size if size < apart < 32 else np.int64(1)


@jit_inline
def note_lanes(at, n, ADDRESSES, lanes, t):
    """Note for the request *at* that it is of *n* lines and so many *lanes*, and how far rows of threads are apart."""
    t.REQUESTED[at + L.R_LINES] = n
    t.REQUESTED[at + L.R_LANES] = lanes
    row = t.CONFIG[L.G_ROW]
    if 0 < row < lanes - 1 and ADDRESSES[row] - ADDRESSES[0] == ADDRESSES[row + 1] - ADDRESSES[1]:
        t.REQUESTED[at + L.R_ROW] = (ADDRESSES[row] - ADDRESSES[0]) >> 2


@jit
def _scattered(k, line, n, now, t):
    """Who brings *n* sectors of a line anywhere in allocation *k*: all SMs together have brought as much as L2 holds of

    it, or the share that the simulated ones have of their part.  By which share a line is there is drawn.  What nobody
    ever asks for, by chance, belongs to the whole, but for what is before or behind all that somebody does.
    """
    whole = 4.0 * t.SPANS[k] * t.CONFIG[L.G_SMS] / t.CONFIG[L.G_CHIP]
    there = t.FETCHED_OF[k] / whole
    if now - t.MARKED_AT[k] > t.NUMBERS[DRAM_LATENCY]:
        t.MARKED_BEFORE[k] = t.MARKED[k]
        t.MARKED[k] = there
        t.MARKED_AT[k] = now
    room = ANYWHERE_HELD * t.CONFIG[L.G_L2_LINES] / t.SPANS[k]
    drawn = share(line ^ (np.int64(1) << 42))
    if drawn >= min(there, room):
        t.FETCHED_OF[k] += n
        return SAMPLE
    return OTHERS_NOW if drawn >= t.MARKED_BEFORE[k] else OTHERS_BEFORE


@jit_inline
def is_private(k, t):
    """Whether each block has data of allocation *k* for itself, by what the simulated SMs have asked for."""
    return max(t.DENIED[k], t.MET[k]) <= APART * t.FETCHED_OF[k]


@jit
def _overflows(t):
    """Whether the SMs have fetched more than L2 holds."""
    fetched = 0.0
    for k in range(len(t.QUOTAS)):
        fetched += t.FETCHED_OF[k]
    return fetched * t.CONFIG[L.G_CHIP] / t.CONFIG[L.G_SMS] > 4 * t.CONFIG[L.G_L2_LINES]


@jit_inline
def _found(k, line, is_first, now, t):
    """Who brings what others ask for, too: those who ask at the same time, if a block starts with the launch."""
    at_once = is_first and t.TOGETHER[k] >= 0 and not is_owned(line, now, t)
    return OTHERS_NOW if at_once else OTHERS_BEFORE


@jit
def brought_by(line, mask, manner, now, t):
    """Who brings the sectors *mask* of *line*, which L2 lacks and a request of some *manner* wants at *now*.

    The share of an allocation is given out as blocks start.  Blocks that start with the launch ask for shared data when
    the others do, if warps of one SM do.  Later blocks find there what others have left.  Of allocations larger than L2
    the simulated SMs fetch again what they have lost; if blocks share no data and all of it has been fetched, L2 has
    lost what others have fetched, too.
    """
    k = allocation(line, t)
    if k < 0:
        return SAMPLE
    n = popcount(mask)
    if t.CHIP[L.C_FENCED] and t.STORED_TO[k] and mask & ~t.OWNED[line]:
        return OTHERS_BEFORE
    if manner == FETCHES:
        t.FETCHED_OF[k] += n
        t.OWNED[line] |= mask
        return SAMPLE
    if manner in (FINDS_NOW, FINDS):
        t.DENIED[k] += n
        return _found(k, line, manner == FINDS_NOW, now, t)
    if t.OWNED[line] & LOST:  # each SM loses what it has for itself, and all what they share
        drawn = share(line ^ (np.int64(1) << 46))
        return SAMPLE if is_private(k, t) or drawn < t.CONFIG[L.G_SMS] / t.CONFIG[L.G_CHIP] else OTHERS_BEFORE
    if manner == SCATTERED:
        return _scattered(k, line, n, now, t)
    if manner == LOADED and mask & ~t.OWNED[line]:
        return OTHERS_BEFORE
    if manner == ONCE:
        t.FETCHED_OF[k] += n
        return SAMPLE
    if manner in (AGAIN_NOW, AGAIN):
        return OTHERS_NOW if manner == AGAIN_NOW else OTHERS_BEFORE
    larger = t.ACCESSED[k] > t.CONFIG[L.G_L2_LINES]
    if mask & ~t.OWNED[line] == 0 and (larger or (is_private(k, t) and _overflows(t))):
        return SAMPLE
    started = t.CHIP[L.C_NEXT_BLOCK] / t.CONFIG[L.G_BLOCKS]
    if len(t.MOVED) > 0:
        started = t.MOVED[np.int64(t.CHIP[L.C_NEXT_BLOCK])]
    if t.FETCHED_OF[k] + n <= t.QUOTAS[k] * min(started * AHEAD, 1.0):
        t.FETCHED_OF[k] += n
        t.OWNED[line] |= mask
        return SAMPLE
    if t.FETCHED_OF[k] + n > t.QUOTAS[k] and is_private(k, t) and _overflows(t):
        return SAMPLE
    t.DENIED[k] += n
    return _found(k, line, manner == FIRST, now, t)
