"""Lines of L2 that are dirty, or of whose sectors stores have left a part out: when they go to DRAM.

Only some lines of a set may be either (stores.cu, parts.cu).
"""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.dram import WRITTEN_WINDOW, averaged, dram_time
from simt.timing.jit import jit, jit_inline
from simt.timing.servers import SECTOR, serve, serve_others

DRAM_READ = L.PLACE["dram_read_bytes_per_cycle"]
DRAM_WRITE = L.PLACE["dram_write_bytes_per_cycle"]
DRAM_ALONE = L.PLACE["dram_write_alone_share"]
DRAM_SCATTERED = L.PLACE["dram_scattered_bytes"]
L2_FETCH = L.PLACE["l2_fetch_bytes"]
BUSY = 0.7
"""Of the time since the launch began: if completing takes DRAM more of it, what is completed is not written at once."""
PARTED = 0.82
"""Of the lines of a set that may be dirty, those to which warps have stored columns: 20 MB stay (columns.cu, H100)."""
ANYWHERE = np.int64(1) << 40
"""Lines from this one on stand for those where words are stored anywhere (:mod:`simt.timing.l2`)."""
LISTED_WORDS = 2
"""Of each way that is listed as dirty: its number, and its line when that was noted."""


@jit_inline
def set_of(line, sets):
    """Sets are chosen by a hash, so that power-of-two strides spread over them."""
    mixed = line ^ (line >> 7) ^ (line >> 15)
    return (mixed & 0x7FFFFFFFFFFFFFFF) % sets


@jit_inline
def fetched_with(mask, t):
    """The sectors that DRAM delivers for those of *mask*: whole units of l2_fetch_bytes."""
    if t.NUMBERS[L2_FETCH] >= 4 * SECTOR:
        return np.int64(15)
    if t.NUMBERS[L2_FETCH] >= 2 * SECTOR:
        return mask | ((mask & 5) << 1) | ((mask & 10) >> 1)
    return mask


@jit_inline
def sectors_of(partial):
    """The sectors of which *partial* counts bytes."""
    mask = np.int64(0)
    for sector in range(4):
        if (partial >> (8 * sector)) & 255:
            mask |= np.int64(1) << sector
    return mask


@jit
def bytes_added(way, partial, t):
    """Add bytes that a store writes to sectors of L2 that lack some; no two stores are taken to write the same ones."""
    for sector in range(4):
        place = 8 * sector
        if (t.L2_SECTORS[way] >> sector) & 1 or (partial >> place) & 255 == 0:
            continue
        written = ((t.L2_PARTIAL[way] >> place) & 255) + ((partial >> place) & 255)
        t.L2_PARTIAL[way] &= ~(np.int64(255) << place)
        if written < SECTOR:
            t.L2_PARTIAL[way] |= np.int64(written) << place
        else:
            t.L2_SECTORS[way] |= np.int64(1) << sector
    if t.L2_PARTIAL[way] == 0:
        t.L2_MASKED[way] = 0


@jit_inline
def have(way, mask, t):
    """Sectors of a way of L2 are there as a whole."""
    t.L2_SECTORS[way] |= mask
    if t.L2_PARTIAL[way]:
        for sector in range(4):
            if (mask >> sector) & 1:
                t.L2_PARTIAL[way] &= ~(np.int64(255) << (8 * sector))


@jit_inline
def _write_cycles(way, n, t):
    """Cycles that DRAM takes to be written *n* sectors of a way of L2: one takes as long as two, another row of DRAM.

    Measured on an H200 (strided.cu) and an H100 (stores.cu): lines of which L2 completes a sector take 0.076 and 0.094
    cycles each, two sectors 0.070 on an H200, four 0.113.
    """
    if t.L2_TAGS[way] >= ANYWHERE:  # each is of another row
        return n * t.NUMBERS[DRAM_SCATTERED] / t.NUMBERS[DRAM_WRITE]
    return max(n * SECTOR / t.NUMBERS[DRAM_WRITE], t.NUMBERS[DRAM_SCATTERED] / t.NUMBERS[DRAM_READ])


@jit_inline
def _hold_up(way, cycles, arrival, t):
    """Let no store to words anywhere get on for the *cycles* in which DRAM moves sectors of a way of such words.

    Stores of anywhere.cu take an H200 as long as both together.
    """
    if t.L2_TAGS[way] >= ANYWHERE:
        serve_others(L.C_L2_WRITE_FREE, arrival, cycles, t)


@jit
def _complete(way, arrival, t):
    """Read from DRAM what stores left out of the sectors of a way of L2; returns when that is through.

    They are written there, too (parts.cu on an H100), unless that is what keeps DRAM busy: then they stay for a while
    (stores.cu; beside loads they are written, however busy DRAM is: copies in strided.cu, H200).
    """
    incomplete = sectors_of(t.L2_PARTIAL[way])
    n = popcount(incomplete)
    t.L2_SECTORS[way] |= incomplete
    t.L2_PARTIAL[way] = 0
    t.TOTALS[L.N_DRAM_READ] += n
    cycles = max(n * SECTOR, t.NUMBERS[L2_FETCH]) / t.NUMBERS[DRAM_READ]
    writing = _write_cycles(way, n, t)
    anywhere = t.L2_TAGS[way] >= ANYWHERE
    if anywhere:
        units = popcount(fetched_with(incomplete, t)) * SECTOR / t.NUMBERS[L2_FETCH]
        cycles = units * t.NUMBERS[DRAM_SCATTERED] / t.NUMBERS[DRAM_READ]
    t.CHIP[L.C_COMPLETING] += cycles + writing
    if anywhere or t.CHIP[L.C_COMPLETING] < BUSY * arrival:
        t.TOTALS[L.N_DRAM_WRITE] += popcount(incomplete & t.L2_DIRTY[way])
        t.L2_DIRTY[way] &= ~incomplete
        t.L2_MASKED[way] &= t.L2_DIRTY[way] != 0
        averaged(L.C_WRITTEN, L.C_WRITTEN_AT, writing, WRITTEN_WINDOW, arrival, t)
        cycles += writing
    _hold_up(way, cycles, arrival, t)
    dram_time(arrival, cycles, t)
    return serve(t.CHIP, L.C_DRAM_FREE, arrival, cycles)


@jit
def write_back(way, arrival, t):
    """Write what is dirty in a way of L2 to DRAM, its sectors completed; returns when that is through."""
    if t.L2_PARTIAL[way]:
        _complete(way, arrival, t)
    dirty = t.L2_DIRTY[way]
    t.TOTALS[L.N_DRAM_WRITE] += popcount(dirty)
    cycles = _write_cycles(way, popcount(dirty), t)
    _hold_up(way, cycles, arrival, t)
    dram_time(arrival, cycles, t)
    if t.L2_TAGS[way] >= 0:  # what ran before has left the others; reads hardly wait for those (kept.cu)
        averaged(L.C_WRITTEN, L.C_WRITTEN_AT, cycles, WRITTEN_WINDOW, arrival, t)
    t.L2_DIRTY[way] = 0
    t.L2_MASKED[way] = 0
    return serve(t.CHIP, L.C_DRAM_FREE, arrival, cycles / t.NUMBERS[DRAM_ALONE])


@jit_inline
def _home(way, beside, t):
    """The set of which a way is one of the few, noted for its line: of blocks *beside* each other the next in turn.

    What they write lies in a row, of which all sets have as many lines, and the simulated SMs their share of them
    (pictures in bands.cu on an H100).
    """
    if t.L2_HOME[way] < 0:
        if beside:
            t.L2_HOME[way] = np.int64(t.CHIP[L.C_HOME]) % t.CONFIG[L.G_WRITTEN_SETS]
            t.CHIP[L.C_HOME] += 1
        else:
            t.L2_HOME[way] = set_of(t.L2_TAGS[way], t.CONFIG[L.G_WRITTEN_SETS])
    return t.L2_HOME[way]


@jit
def _displaced(way, home, held, LISTED, FLAGS, t):
    """Add a way of L2 to set *home* of LISTED; returns the least recently used one that it displaces there, or -1.

    Entries whose FLAGS are cleared, or that hold another line by now, are free.  *held*: of its room.
    """
    room = len(LISTED) // t.CONFIG[L.G_WRITTEN_SETS]
    line = t.L2_TAGS[way]
    first = home * room
    many = LISTED_WORDS * max(np.int64(min(room // LISTED_WORDS, t.CHIP[L.C_DIRTY_WAYS]) * held), 1)
    oldest = np.int64(-1)
    least = np.int64(L.NEVER)
    for k in range(first + many - LISTED_WORDS, first - 1, -LISTED_WORDS):
        other = LISTED[k]
        if (
            other < 0
            or other == way
            or FLAGS[other] == 0
            or (t.L2_TAGS[other] != LISTED[k + 1] and t.L2_HOME[other] != home)
        ):
            LISTED[k] = way
            LISTED[k + 1] = line
            return np.int64(-1)
        if t.L2_USED[other] <= least:
            least = t.L2_USED[other]
            oldest = k
    displaced = LISTED[oldest]
    LISTED[oldest] = way
    LISTED[oldest + 1] = line
    return displaced


@jit
def written(way, mask, partial, parted, beside, arrival, t):
    """Note sectors that are written, some in part; returns when the set has room for them.

    Measured on an H200 (stores.cu): few lines of a set may be dirty, fewer if stores have left a part of a sector out,
    and fewer still may be incomplete.  The least recently used is written to DRAM, or completed from there, before one
    more gets so, and the store waits for that.  *parted*: warps of blocks fill it in turn, a column each; *beside*:
    several blocks are known to write side by side there.
    """
    there = arrival
    t.L2_GUEST[way] = 0
    home = _home(way, beside, t)
    if t.L2_DIRTY[way] == 0:
        oldest = _displaced(way, home, PARTED if parted else 1.0, t.L2_OWED, t.L2_DIRTY, t)
        if oldest >= 0:
            there = write_back(oldest, arrival, t)
    complete = t.L2_PARTIAL[way] == 0
    have(way, mask & ~sectors_of(partial), t)
    bytes_added(way, partial, t)
    if complete and t.L2_PARTIAL[way]:
        if t.L2_MASKED[way] == 0:
            oldest = _displaced(way, home, 1.0, t.L2_OWED_MASKED, t.L2_MASKED, t)
            if oldest >= 0:
                there = max(there, write_back(oldest, arrival, t))
            t.L2_MASKED[way] = 1
        oldest = _displaced(way, home, 1.0, t.L2_LACKING, t.L2_PARTIAL, t)
        if oldest >= 0:
            there = max(there, _complete(oldest, arrival, t))
    t.L2_DIRTY[way] |= mask
    return there
