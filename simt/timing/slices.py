"""The slices of L2: what stores and atomics to lines of one slice take, of all blocks that write there."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.chance import scramble
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.others import SEVERAL, allocation
from simt.timing.servers import serve

ATOMIC_MEETING = L.PLACE["atomic_meeting_interval"]
TURN = L.PLACE["l2_turn_interval"]
L2_LATENCY = L.PLACE["l2_latency"]
ATOMIC_TURN = 2.8
"""Cycles that a load takes its slice if an atomic changed its line since the last load (crowded.cu on an H100)."""
LOAD_TURN = 0.58
"""Cycles that a load takes its line, of which both halves of L2 have a copy (crowded.cu on an H100)."""
WARPS_OF_SM = 64
"""If so many warps have written, and none that is its block's first, those do not."""
PAIR = 2
"""Lines that follow each other in one slice of L2: see :func:`four_of`."""


@jit_inline
def four_of(line):
    """Lines 0, 1, 4 and 5 of a KiB are in one slice of L2 and come from DRAM together, and so do the other four."""
    return (line >> 3) * 2 + ((line >> 1) & 1)


@jit
def _placed(line, t):
    """Where *line* is if small allocations follow each other, as a driver places them."""
    few, many = 0, len(t.SMALL) // 3
    while few < many:
        middle = (few + many) // 2
        if line >= t.SMALL[3 * middle + 1]:
            few = middle + 1
        elif line < t.SMALL[3 * middle]:
            many = middle
        else:
            return line - t.SMALL[3 * middle + 2]
    return line


@jit_inline
def slice_of(line, t):
    """The slice of L2 that has *line*: a hash here."""
    return scramble(four_of(_placed(line, t)) + (np.int64(1) << 43)) % len(t.L2_SLICE_FREE)


@jit_inline
def _opposite(number, t):
    """The slice of the other half of L2 through which its SMs come to a slice: atomics that wait fill it, too.

    Measured on an H100, which has 80 (starts.cu): while all blocks add to one word, 25 of 1000 loads wait for that.
    """
    slices = len(t.L2_SLICE_FREE)
    return (number + slices // 2) % slices


@jit
def leads(pc, index, lanes, row, t):
    """How many warps warp *index* of a block is behind the first that tells where it writes at *pc*, or -1.

    That is the first of those of which most *lanes* write: others, and blocks at the edges of what is written, may
    begin elsewhere in their part of it.  *row*: words from a row of a warp's threads to the next; 0: not known.
    """
    most = t.FULLEST[pc]
    if lanes < most:
        return np.int64(-1)
    if most == 0 and index and t.WRITER[pc] > -WARPS_OF_SM * t.CONFIG[L.G_SMS]:  # the first may be still to come
        t.WRITER[pc] -= 1
        return np.int64(-1)
    if lanes > most or index < t.LEADER[pc]:
        t.FULLEST[pc] = lanes
        t.LEADER[pc] = index
        t.WRITER[pc] = -1
        if row and t.CONFIG[L.G_GRID_X] > 1:
            t.ROW_APART[pc] = row * t.CONFIG[L.G_ROWS]
    return index - t.LEADER[pc]


@jit
def note_writer(pc, block, word, t):
    """Note where a *block* begins to write at *pc*: WRITERS follows from how far it is from where the last one did.

    Blocks that are less than half a word apart write to the same words.  Blocks in one column of the grid say how far
    rows of blocks are apart.  Of two in different rows, that is taken off, if it is known.
    """
    before = t.WRITER[pc]
    if block == before or (block < before and t.WRITERS[pc]):
        return
    blocks = abs(block - before)
    apart = abs(word - t.WRITTEN[pc])
    across = t.CONFIG[L.G_GRID_X]
    if before >= 0 and across > 1:
        rows = block // across - before // across
        between = word - t.WRITTEN[pc]
        down = t.CONFIG[L.G_GRID_Y]
        layers = block // (across * down) - before // (across * down)
        if t.LAYER_APART[pc]:
            rows -= layers * down
            between -= layers * t.LAYER_APART[pc]
        elif layers and down > 1:
            t.WRITER[pc] = block
            t.WRITTEN[pc] = word
            return
        columns = block % across - before % across
        _note_pair(pc, columns, rows, between, t)
        if columns == 0:
            blocks //= across
        elif t.ROW_APART[pc]:
            blocks = abs(columns)
            apart = abs(between - rows * t.ROW_APART[pc])
            below = abs(t.ROW_APART[pc])
            deeper = abs(t.LAYER_APART[pc])
            if below < 32 and apart >= 32 * blocks:  # blocks below share lines, those beside do not
                blocks, apart = np.int64(1), below
            elif 0 < deeper < 32 and apart >= 32 * blocks:  # those behind each other do
                blocks, apart = np.int64(1), deeper
    elif before >= 0:
        rounds, further = _rounds(blocks, word - t.WRITTEN[pc], word, t.ROW_APART[pc], t)
        if rounds:
            blocks, apart = rounds, further
    if before >= 0:
        beside = blocks <= 2 * apart
        t.WRITERS[pc] = _in_one_slice(PAIR * 32.0 * blocks / apart, t) if beside else np.float64(L.NEVER)
    t.WRITER[pc] = block
    t.WRITTEN[pc] = word


@jit_rare
def _rounds(blocks, between, word, step, t):
    """How often a store goes round its allocation in so many *blocks*, and how many words further it is then, or 0, 0.

    The next block begins *step* words behind, the last of these, at *word*, *between* words.  A round is whole
    strides from one thread to the next (across.cu on an H100).
    """
    stride = step // (32 * t.CONFIG[L.G_WARPS])
    k = allocation(word >> 5, t) if stride >= 32 else np.int64(-1)
    words = 32 * (t.EXTENTS[2 * k + 1] - t.EXTENTS[2 * k]) // stride * stride if k >= 0 else np.int64(0)
    if words == 0:
        return np.int64(0), np.int64(0)
    back = blocks * step - between
    rounds = -(-back // words)
    further = rounds * words - back
    return (rounds, further) if rounds > 0 and rounds <= further < rounds * stride else (np.int64(0), np.int64(0))


@jit_rare
def _note_pair(pc, columns, rows, words, t):
    """Note that of two blocks so many columns and rows of the grid apart the second begins to write so far behind.

    Two such pairs say how far rows of blocks are apart, better than two warps of a block whose threads go along.
    """
    at = 3 * pc
    other_columns, other_rows, other_words = t.PAIRS[at], t.PAIRS[at + 1], t.PAIRS[at + 2]
    determinant = rows * other_columns - other_rows * columns
    found = words * other_columns - other_words * columns
    if determinant and found % determinant == 0:
        t.ROW_APART[pc] = found // determinant
    t.PAIRS[at] = columns
    t.PAIRS[at + 1] = rows
    t.PAIRS[at + 2] = words


@jit
def note_row(pc, block, index, word, t):
    """Note where a later warp of a *block* begins to write at *pc*: so many words further as rows, or layers, are.

    It is the next behind the first (*index* 1), or a layer of threads behind that; a warp is whole rows of its block.
    It follows how far rows, or layers, of blocks are apart; where all blocks are in one row, how far it is from one to
    the next.
    """
    warps = t.CONFIG[L.G_LAYER]
    if warps == 0 and t.CONFIG[L.G_GRID_X] == 1:
        warps = t.CONFIG[L.G_WARPS]
    if warps == 0 or block != t.WRITER[pc]:
        return
    if index == t.CONFIG[L.G_LAYER]:
        t.LAYER_APART[pc] = (word - t.WRITTEN[pc]) * (t.CONFIG[L.G_WARPS] // t.CONFIG[L.G_LAYER])
    elif index == 1 and t.ROW_APART[pc] == 0:  # later ones may be of another round of a loop
        t.ROW_APART[pc] = (word - t.WRITTEN[pc]) * warps


@jit_inline
def _in_one_slice(pair, t):
    """Blocks that write to the busiest slice, where *pair* write to two lines that follow each other.

    Two lines of a KiB are in one slice, the next two in another, and then again: :func:`four_of`.
    """
    at_once = np.float64(min(t.CONFIG[L.G_LAUNCHED], t.CONFIG[L.G_FIRST_WAVE]))
    return max(min(at_once, pair), min(at_once - pair, 2.0 * pair))


@jit
def awaited(way, block, mask, word, again, writers, t):
    """How long atomics on the sectors *mask* of the line of *way* wait for those before, *again* if for the same.

    Others come between, as many as there are sectors that are used (again.cu and atoms.cu on an H200).  *word*: that of
    a lone lane, else -1; if blocks have different ones, or sectors, others use the rest of the line.
    """
    if 1.0 < writers < L.NEVER:
        return 0.0
    line = _placed(t.L2_TAGS[way], t)
    at = four_of(line) % len(t.L2_ADDED)
    shift = 4 * (2 * ((line >> 2) & 1) + (line & 1))
    used, last = t.L2_ADDED[at] & 0xFFFF, (t.L2_ADDED[at] >> 16) - 1
    other = t.L2_WRITER[way] != -1 and t.L2_WRITER[way] != block
    if other and ((mask << shift) & ~used or (word >= 0 and 0 <= last != word)):
        used |= 15 << shift
    used |= mask << shift
    t.L2_ADDED[at] = used | (last + 1 if word < 0 else word + 1) << 16
    return again * min(popcount(mask) / popcount(used), 1.0)


@jit
def in_slice(way, block, writers, stores, busy, arrival, t):
    """When L2 has carried out a request, which *stores* or is of atomics, to the line of *way* that takes it *busy*.

    Requests to lines of one slice follow each other.  SMs that are not simulated keep it busy, too: those of other
    *writers*, or of all blocks if two blocks of one SM have used the line.  Blocks that store side by side may have
    parts of a line each.
    """
    sms = np.float64(t.CONFIG[L.G_SMS])
    chip = t.CONFIG[L.G_LAUNCHED] / t.CONFIG[L.G_BLOCKS]  # less than SMs if the simulated one has more blocks than most
    beside = 1.0 < writers < L.NEVER
    others = min(max(writers, 1.0), np.float64(t.CONFIG[L.G_CHIP]))
    others = min(others / min(others, sms), chip)
    t.L2_STORED[way] = -1
    t.L2_TURN[way] = t.NUMBERS[TURN] if stores else ATOMIC_TURN
    before = t.L2_WRITER[way]
    t.L2_WRITER[way] = block if before == -1 else before
    if before != -1 and before != block:
        others = others if beside and stores else chip
        t.L2_WRITER[way] = -2
    line = _placed(t.L2_TAGS[way], t)
    # Where SMs write side by side the sample leaves out lines between its own.
    apart = beside and not (stores and t.L2_WRITER[way] == -2)
    at = (line >> 2 if apart else four_of(line)) % len(t.L2_WRITE_FREE)
    if before >= 0 and before != block:  # only now it shows: other SMs have come to it as often
        t.L2_WRITE_FREE[at] += t.L2_WRITE_SPENT[way] * (others - 1.0)
    # The first may be the only one of its block; of neighbouring SMs, which are out of step, it does not count either.
    if others == 1.0 and (before != -1 or (stores and sms == 1.0)):
        t.L2_WRITE_SPENT[way] += busy
    t.L2_SHARED[way] = others
    t.L2_WRITE_FREE[at] = max(t.L2_WRITE_FREE[at], min(t.CHIP[L.C_DUE], arrival)) + busy * others
    if not beside:  # all come to this one
        free = slice_of(t.L2_TAGS[way], t)
        t.L2_SLICE_FREE[free] = max(t.L2_SLICE_FREE[free], t.L2_WRITE_FREE[at])
        if not stores:
            other = _opposite(free, t)
            t.L2_SLICE_FREE[other] = max(t.L2_SLICE_FREE[other], t.L2_WRITE_FREE[at])
    done = max(t.L2_WRITE_FREE[at], arrival + busy * others)
    return done - busy * (others - 1.0) / 2  # in the middle of those of the others


@jit_inline
def after_stores(line, arrival, t):
    """When a load of *line* that comes at *arrival* finds its slice through with the stores that came before."""
    return max(arrival, t.L2_SLICE_FREE[slice_of(line, t)])


@jit
def after_others(sm, way, came, arrival, t):
    """When a load of *sm* that comes at *arrival* gets its turn at a way of L2 that several blocks have stored to.

    Measured on an H100 (rowwise.cu): a slice whose words SMs load and store in turn takes 14 to 16 cycles for each
    load, whether the words are of one sector or of eight.  Loads that follow each other take nothing more; so do those
    of all SMs that come when L2 has long been through with all stores, longer than it takes to answer.
    """
    bit = np.int64(1) << (sm % 64)
    if t.L2_WRITER[way] != -2 or t.L2_STORED[way] & bit == 0:
        return arrival
    others = t.L2_SHARED[way]
    free = slice_of(t.L2_TAGS[way], t)
    at = four_of(_placed(t.L2_TAGS[way], t)) % len(t.L2_WRITE_FREE)
    if came >= t.L2_WRITE_FREE[at]:  # else those that wait come between this load and the next
        t.L2_STORED[way] &= ~bit
    if came >= t.L2_WRITE_FREE[at] + t.NUMBERS[L2_LATENCY]:
        t.L2_STORED[way] = 0
        return arrival
    busy = t.L2_TURN[way]
    t.L2_WRITE_FREE[at] = max(t.L2_WRITE_FREE[at], t.L2_SLICE_FREE[free], arrival) + busy * others
    t.L2_SLICE_FREE[free] = t.L2_WRITE_FREE[at]
    return t.L2_SLICE_FREE[free] - busy * (others - 1.0) / 2


@jit
def after_loads(way, line, arrival, t):
    """When a load of *line*, at a way of L2, that comes at *arrival* has its turn among those of all SMs."""
    if line >= len(t.TOUCHED_BY) or t.TOUCHED_BY[line] != SEVERAL:
        return arrival
    begin = max(t.L2_READ_FREE[way], arrival)
    t.L2_READ_FREE[way] = begin + LOAD_TURN * t.CONFIG[L.G_LAUNCHED] / t.CONFIG[L.G_BLOCKS]
    return begin


@jit
def serialised(way, block, writers, most, busy, arrival, t):
    """When L2 has carried out atomics on the line of *way*, which take *busy*; *most*: lanes of a request at a word."""
    done = in_slice(way, block, writers, False, busy, arrival, t)
    chip = (most - 1) * t.NUMBERS[ATOMIC_MEETING] * t.CONFIG[L.G_LAUNCHED] / t.CONFIG[L.G_BLOCKS]
    return max(done, serve(t.CHIP, L.C_ATOMIC_FREE, arrival, chip))
