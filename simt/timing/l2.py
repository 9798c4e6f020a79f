"""L2 and DRAM: a sectored cache with LRU replacement, and servers with a bandwidth.

Lines are 128 bytes of four 32-byte sectors.  A server is the time at which it is free: a transfer starts then or when
it arrives, whichever is later, and occupies the server for its bytes over the bandwidth.
"""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.bus import host_read, host_write, is_hosted
from simt.timing.chance import share
from simt.timing.dram import averaged, dram_latency, dram_time, farther_of, l2_latency, queued
from simt.timing.jit import jit, jit_inline
from simt.timing.others import FIRST, LATER, ONCE, OTHERS_NOW, SAMPLE, SCATTERED, brought_by, note_store
from simt.timing.servers import SECTOR, serve, serve_others
from simt.timing.slices import PAIR, after_loads, after_others, after_stores, in_slice
from simt.timing.ways import find, victim

L2_WAYS = L.PLACE["l2_ways"]
L2_LATENCY = L.PLACE["l2_latency"]
L2_READ = L.PLACE["l2_read_bytes_per_cycle"]
L2_WRITE = L.PLACE["l2_write_bytes_per_cycle"]
DRAM_LATENCY = L.PLACE["dram_latency"]
DRAM_READ = L.PLACE["dram_read_bytes_per_cycle"]
DRAM_WRITE = L.PLACE["dram_write_bytes_per_cycle"]
DRAM_ALONE = L.PLACE["dram_write_alone_share"]
SM_LINK = L.PLACE["sm_bytes_per_cycle"]
L2_FETCH = L.PLACE["l2_fetch_bytes"]
L2_READ_LEAST = L.PLACE["l2_read_least_bytes"]
L2_WRITE_LEAST = L.PLACE["l2_write_least_bytes"]
DRAM_SCATTERED = L.PLACE["dram_scattered_bytes"]
ATOMIC_SECTOR = L.PLACE["atomic_sector_interval"]
DRAM_FAR = L.PLACE["dram_far_latency"]
DRAM_REORDER = L.PLACE["dram_reordering"]
DRAM_QUEUED = L.PLACE["dram_reordering_window"]
UNEVEN = 1.17
"""Times as long as for lone sectors one after the other L2 takes for words anywhere, and for rounds.

Its slices then have not all as many (shared.cu on an H200, wraps.cu on an H100).
"""
LISTED_WORDS = 2
"""Of each way that is listed as dirty: its number, and its line when that was noted."""


@jit_inline
def set_of(line, sets):
    """Sets are chosen by a hash, so that power-of-two strides spread over them."""
    mixed = line ^ (line >> 7) ^ (line >> 15)
    return (mixed & 0x7FFFFFFFFFFFFFFF) % sets


@jit_inline
def _link(sm, arrival, n, t):
    """When *n* sectors are through the SM's connection to L2."""
    at = sm * L.N_SM + L.M_LINK_FREE
    t.SMS[at] = max(t.SMS[at], arrival) + n * SECTOR / t.NUMBERS[SM_LINK]
    return t.SMS[at]


@jit_inline
def received(sectors, sent, t):
    """When L2 has a store or an atomic of so many sectors, with the mask of one, that an SM has *sent*.

    Measured on an H200: from all SMs together even the shortest request takes l2_write_least_bytes.
    """
    size = max(sectors * SECTOR, t.NUMBERS[L2_WRITE_LEAST])
    return serve(t.CHIP, L.C_L2_WRITE_FREE, sent, size / t.NUMBERS[L2_WRITE])


@jit_inline
def _linked(arrival, size, t):
    """When so many bytes that DRAM sends, or that are stored to clean sectors, are through the link of L2's halves.

    Copies that L2 holds take as long as both together need there, larger ones as long as DRAM (ends.cu).
    """
    return serve_others(L.C_LINK_FREE, arrival, size / max(t.NUMBERS[L2_WRITE], t.NUMBERS[DRAM_READ]), t)


@jit_inline
def _fetched(mask, t):
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


@jit_inline
def _have(way, mask, t):
    """Sectors of a way of L2 are there as a whole."""
    t.L2_SECTORS[way] |= mask
    if t.L2_PARTIAL[way]:
        for sector in range(4):
            if (mask >> sector) & 1:
                t.L2_PARTIAL[way] &= ~(np.int64(255) << (8 * sector))


@jit
def _complete(way, arrival, t):
    """Read from DRAM what stores left out of the sectors of a way of L2; returns when that is through."""
    incomplete = sectors_of(t.L2_PARTIAL[way])
    t.L2_SECTORS[way] |= incomplete
    t.L2_PARTIAL[way] = 0
    t.TOTALS[L.N_DRAM_READ] += popcount(incomplete)
    cycles = popcount(_fetched(incomplete, t)) * SECTOR / t.NUMBERS[DRAM_READ]
    dram_time(arrival, cycles, t)
    return serve(t.CHIP, L.C_DRAM_FREE, arrival, cycles)


@jit
def _write_back(way, arrival, t):
    """Write what is dirty in a way of L2 to DRAM, its sectors completed; returns when that is through."""
    dirty = t.L2_DIRTY[way]
    t.TOTALS[L.N_DRAM_WRITE] += popcount(dirty)
    size = popcount(_fetched(dirty, t)) * SECTOR
    dram_time(arrival, size / t.NUMBERS[DRAM_WRITE], t)
    if t.L2_TAGS[way] >= 0:  # what ran before has left the others; reads hardly wait for those (kept.cu)
        averaged(L.C_WRITTEN, L.C_WRITTEN_AT, size / t.NUMBERS[DRAM_WRITE], arrival, t)
    if t.L2_PARTIAL[way]:
        _complete(way, arrival, t)
    t.L2_DIRTY[way] = 0
    t.L2_MASKED[way] = 0
    return serve(t.CHIP, L.C_DRAM_FREE, arrival, size / (t.NUMBERS[DRAM_WRITE] * t.NUMBERS[DRAM_ALONE]))


@jit
def _displaced(way, LISTED, FLAGS, t):
    """Add a way of L2 to its set of LISTED; returns the least recently used one that it displaces there, or -1.

    Entries whose FLAGS are cleared, or that hold another line by now, are free.
    """
    sets = t.CONFIG[L.G_WRITTEN_SETS]
    room = len(LISTED) // sets
    line = t.L2_TAGS[way]
    home = set_of(line, sets)
    first = home * room
    many = min(room, LISTED_WORDS * np.int64(t.CHIP[L.C_DIRTY_WAYS]))
    oldest = np.int64(-1)
    least = np.int64(L.NEVER)
    for k in range(first + many - LISTED_WORDS, first - 1, -LISTED_WORDS):
        other = LISTED[k]
        if other < 0 or other == way or FLAGS[other] == 0 or _is_of_another(other, LISTED[k + 1], home, sets, t):
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


@jit_inline
def _is_of_another(way, line, home, sets, t):
    """Whether a way of L2 that had *line*, of set *home*, holds one of another set by now: seldom any other at all."""
    return t.L2_TAGS[way] != line and set_of(t.L2_TAGS[way], sets) != home


@jit
def written(way, mask, partial, arrival, t):
    """Note sectors that are written, some in part; returns when the set has room for them.

    Measured on an H200 (stores.cu): few lines of a set may be dirty, fewer if stores have left a part of a sector out,
    and fewer still may be incomplete.  The least recently used is written to DRAM, or completed from there, before one
    more gets so, and the store waits for that.
    """
    there = arrival
    if t.L2_DIRTY[way] == 0:
        oldest = _displaced(way, t.L2_OWED, t.L2_DIRTY, t)
        if oldest >= 0:
            there = _write_back(oldest, arrival, t)
    complete = t.L2_PARTIAL[way] == 0
    _have(way, mask & ~sectors_of(partial), t)
    bytes_added(way, partial, t)
    if complete and t.L2_PARTIAL[way]:
        if t.L2_MASKED[way] == 0:
            oldest = _displaced(way, t.L2_OWED_MASKED, t.L2_MASKED, t)
            if oldest >= 0:
                there = max(there, _write_back(oldest, arrival, t))
            t.L2_MASKED[way] = 1
        oldest = _displaced(way, t.L2_LACKING, t.L2_PARTIAL, t)
        if oldest >= 0:
            there = max(there, _complete(oldest, arrival, t))
    t.L2_DIRTY[way] |= mask
    return there


@jit
def l2_place(line, arrival, t):
    """The way of *line* in L2; a dirty victim is written to DRAM first."""
    ways = np.int64(t.NUMBERS[L2_WAYS])
    start = set_of(line, t.CONFIG[L.G_L2_SETS]) * ways
    stamp = t.TOTALS[L.N_L2_SECTORS]
    way = find(t.L2_TAGS, t.L2_USED, start, ways, line, stamp)
    if way < 0:
        way = victim(t.L2_TAGS, t.L2_USED, start, ways)
        if t.L2_DIRTY[way]:
            _write_back(way, arrival, t)
        t.L2_TAGS[way] = line
        t.L2_SECTORS[way] = 0
        t.L2_WRITER[way] = -1
        t.L2_WRITE_SPENT[way] = 0.0
        t.L2_STORED[way] = 0
        t.L2_READ_FREE[way] = 0.0
        t.L2_COMING[way] = 0
        t.L2_READY[way] = 0.0
        t.L2_USED[way] = stamp
    return way


@jit
def look_up(way, line, mask, manner, arrival, t):
    """The sectors of *mask* that a way of L2 lacks: those to fetch, and those that other SMs have just asked for."""
    n = popcount(mask)
    t.TOTALS[L.N_L2_SECTORS] += n
    missing = mask & ~t.L2_SECTORS[way]
    awaited = np.int64(0)
    if missing:
        fetched = _fetched(missing, t) & ~t.L2_SECTORS[way]
        who = brought_by(line, fetched, manner, arrival, t)
        if who != SAMPLE:
            t.L2_SECTORS[way] |= fetched
            awaited = fetched if who == OTHERS_NOW else awaited
            missing = np.int64(0)
    t.TOTALS[L.N_L2_HITS] += n - popcount(missing)
    return missing, awaited


@jit
def _still_to_come(t):
    """Cycles that DRAM takes for what the simulated SMs have not asked it for yet: nobody is overtaken by more.

    If all SMs are simulated, that is not known.
    """
    if len(t.QUOTAS) == 0:
        return np.float64(L.NEVER)
    rest = 0.0
    for k in range(len(t.QUOTAS)):
        rest += max(t.QUOTAS[k] - t.FETCHED_OF[k], 0.0)
    return rest * SECTOR / t.NUMBERS[DRAM_READ]


@jit
def fetch(sm, way, line, missing, manner, arrival, t):
    """When DRAM has delivered the sectors *missing* of a way of L2, on to the SM.

    Who waits is served in any order: the wait in order, shortened or lengthened at random by up to DRAM_REORDER of it,
    as far as DRAM looks at it at once and others may still overtake it.  In order, the warps of a first wave of blocks
    came too early on average (phases.cu); if all that wait were looked at, the last of a first wave came too late
    (cold.cu, streams).
    """
    fetched = _fetched(missing, t) & ~t.L2_SECTORS[way]
    n = popcount(fetched)
    t.TOTALS[L.N_DRAM_READ] += n
    size = n * SECTOR
    if manner == SCATTERED:  # each is of another row of DRAM
        size = max(size, t.NUMBERS[DRAM_SCATTERED])
    through = max(dram_time(arrival, size / t.NUMBERS[DRAM_READ], t), _linked(arrival, n * SECTOR, t))
    # Rounds of which L2 has lost a part take as long as both parts one after the other (wraps.cu on an H100).
    if manner == ONCE:
        serve(t.CHIP, L.C_L2_READ_FREE, arrival, n * SECTOR / t.NUMBERS[DRAM_READ])
    _have(way, fetched, t)
    waited = through - arrival
    drawn = 2.0 * share(line + (1 << 41)) - 1.0
    waited += min(waited, t.NUMBERS[DRAM_QUEUED], _still_to_come(t)) * t.NUMBERS[DRAM_REORDER] * drawn
    latency = dram_latency(line, farther_of(sm, line, t), arrival, t)
    return _on_its_way(way, line, fetched, arrival + waited, latency, arrival, t)


@jit
def _on_its_way(way, line, sectors, begin, latency, arrival, t):
    """When sectors of a way of L2 that DRAM sends from *begin* on are at who asked at *arrival*."""
    back = begin + latency + queued(line, arrival, t)
    t.L2_COMING[way] = sectors | (t.L2_COMING[way] if t.L2_READY[way] > arrival else 0)
    t.L2_READY[way] = max(t.L2_READY[way], back - t.NUMBERS[L2_LATENCY])
    return back


@jit
def _meet(way, line, arrival, t):
    """Another simulated SM asks for what is on its way to *way* of L2.

    Such data come after the mean latency of DRAM: no load of several lines waits for the slowest of them (naive.cu),
    and 132 SMs that read in step take 641 cycles a line on an H200 (shared.cu, march).
    """
    begun = max(arrival, t.CHIP[L.C_MEMORY_FREE])
    there = begun + t.NUMBERS[DRAM_LATENCY] + queued(line, arrival, t) - t.NUMBERS[L2_LATENCY]
    t.L2_READY[way] = min(t.L2_READY[way], there)


@jit
def l2_read(sm, line, mask, manner, arrival, ahead, t):
    """When the sectors *mask* of *line* are back at the SM that asked at *arrival* in some manner (others.py).

    SMs that are further have asked for it at *ahead*.
    """
    if is_hosted(line, t):
        return host_read(popcount(mask), arrival, t)
    came = arrival
    arrival = after_stores(line, arrival, t)
    way = l2_place(line, arrival, t)
    if t.L2_STORED[way]:
        arrival = after_others(sm, way, came, arrival, t)
    missing, awaited = look_up(way, line, mask, manner, arrival, t)
    if awaited:  # by many SMs: the one that is nearest asks first, and what they read together DRAM has at hand
        begin = min(arrival, np.float64(ahead))
        _on_its_way(way, line, awaited, begin, t.NUMBERS[DRAM_LATENCY] - t.NUMBERS[DRAM_FAR], arrival, t)
    back = 0.0
    present = popcount(mask) - popcount(missing)
    if present:
        # Data from DRAM come later: they do not hold up what is in L2 already.
        uneven = 1.0 if manner in (FIRST, LATER) else UNEVEN
        size = max(present * SECTOR, t.NUMBERS[L2_READ_LEAST] * uneven)
        served = serve(t.CHIP, L.C_L2_READ_FREE, arrival, size / t.NUMBERS[L2_READ])
        through = max(served, _link(sm, arrival, present, t), after_loads(way, line, arrival, t))
        if mask & ~missing & t.L2_COMING[way]:
            if t.CONFIG[L.G_SMS] > 1 and t.L2_READY[way] > arrival and not awaited:
                _meet(way, line, arrival, t)
            through = max(through, t.L2_READY[way])
        back = through + l2_latency(sm, line, arrival, t)
    if missing:
        back = max(back, fetch(sm, way, line, missing, manner, arrival, t))
    return back


@jit_inline
def bytes_of(mask, partial):
    """Bytes that a store writes of a line: *partial* counts those of incomplete sectors."""
    found = SECTOR * popcount(mask & ~sectors_of(partial))
    for sector in range(4):
        found += (partial >> (8 * sector)) & 255
    return found


@jit_inline
def _others_complete(size, widest, writers):
    """Whether blocks beside the one that writes *size* bytes of a line write the rest.

    Blocks that write *widest* bytes side by side, and leave none out, are 256 / widest to two lines of a slice, of
    which there are two.  Rows that begin anywhere, and the last blocks of a row, have smaller parts of a line, too.
    """
    return size < 4 * SECTOR and 1.0 < writers < L.NEVER and widest * writers >= 2 * PAIR * 4 * SECTOR


@jit
def l2_write(line, mask, partial, block, writers, widest, arrival, t):
    """When L2 has a write of sectors, *partial*: bytes in incomplete ones, that reached it at *arrival*.

    *writers*, *widest*: what is known of the blocks that write there, and the most bytes of a line of which they do.
    """
    n = popcount(mask)
    if is_hosted(line, t):
        return host_write(n, arrival, t)
    way = l2_place(line, arrival, t)
    t.TOTALS[L.N_L2_SECTORS] += n
    t.TOTALS[L.N_L2_HITS] += n
    new = popcount(mask & ~t.L2_DIRTY[way])
    own = True
    if new:
        own = note_store(line, new, t) or partial != 0
    if new and own:
        # It delays reads; the write itself need not wait for those before it.
        _linked(arrival, max((new + (partial != 0)) * SECTOR, t.NUMBERS[L2_WRITE_LEAST]), t)
    done = in_slice(way, block, writers, True, (n + (partial != 0)) * t.NUMBERS[ATOMIC_SECTOR], arrival, t)
    if not own:
        _have(way, mask, t)
        return done
    size = bytes_of(mask, partial)
    if not _others_complete(size, widest, writers):
        return max(done, written(way, mask, partial, arrival, t))
    # Measured on an H100 (kept.cu, pictures): L2 neither completes such lines nor writes them back early.  Each of the
    # blocks answers for its share of them.
    _have(way, np.int64(15), t)
    if share(line * (1 << 20) + block) >= size / (4 * SECTOR):
        return done
    return max(done, written(way, np.int64(15), np.int64(0), arrival, t))
