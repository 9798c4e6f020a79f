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
from simt.timing.dirty import ANYWHERE, bytes_added, fetched_with, have, sectors_of, set_of, write_back, written
from simt.timing.dram import dram_latency, dram_time, farther_of, l2_latency, queued
from simt.timing.jit import jit, jit_inline
from simt.timing.mates import note_again, note_lines
from simt.timing.others import (
    AGAIN,
    AGAIN_NOW,
    FETCHES,
    FINDS,
    FINDS_NOW,
    LOST,
    ONCE,
    OTHERS_NOW,
    SAMPLE,
    SCATTERED,
    allocation,
    brought_by,
    note_store,
)
from simt.timing.servers import SECTOR, serve, serve_others
from simt.timing.slices import PAIR, after_loads, after_others, after_stores, in_slice
from simt.timing.ways import find, guest, victim

L2_WAYS = L.PLACE["l2_ways"]
L2_SLICES = L.PLACE["l2_slices"]
L2_LATENCY = L.PLACE["l2_latency"]
L2_READ = L.PLACE["l2_read_bytes_per_cycle"]
L2_WRITE = L.PLACE["l2_write_bytes_per_cycle"]
DRAM_LATENCY = L.PLACE["dram_latency"]
DRAM_READ = L.PLACE["dram_read_bytes_per_cycle"]
SM_LINK = L.PLACE["sm_bytes_per_cycle"]
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
STORED_UNEVEN, FEW_LINES = 1.13, 8
"""The same of what a warp stores to parts of sectors of more than so many lines, on an H100: its lanes go down rows.

30 words a cycle of those that lie 8192 lines apart, where L2 takes 34 requests of two sectors (parts.cu, across.cu);
rows of four threads, of eight lines, take no longer than others (pictures in kept.cu).
"""
FEW_IN_SLICES = 1.85
"""By which share stores anywhere take longer if a slice of L2 has four lines; it falls as slices have more."""


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
    return serve_others(L.C_L2_WRITE_FREE, sent, size / t.NUMBERS[L2_WRITE], t)


@jit_inline
def _linked(arrival, size, t):
    """When so many bytes that DRAM sends, or that are stored to clean sectors, are through the link of L2's halves.

    Copies that L2 holds take as long as both together need there, larger ones as long as DRAM (ends.cu).
    """
    return serve_others(L.C_LINK_FREE, arrival, size / max(t.NUMBERS[L2_WRITE], t.NUMBERS[DRAM_READ]), t)


@jit_inline
def _note_placed(line, t):
    """Note that L2 gets *line*, if each line that it gets has a way of its own."""
    if t.CHIP[L.C_PLACED] < L.NEVER:
        k = allocation(line, t)
        if k >= 0:
            t.CHIP[L.C_PLACED] += 1
            t.PLACED_OF[k] += 1
            t.LOST_OF[k] -= t.OWNED[line] & LOST != 0


@jit
def l2_place(line, arrival, t):
    """The way of *line* in L2; a dirty victim is written to DRAM first.

    What other SMs have brought has room in their shares of L2: it goes before what the simulated ones have brought.
    """
    ways = np.int64(t.NUMBERS[L2_WAYS])
    start = set_of(line, t.CONFIG[L.G_L2_SETS]) * ways
    stamp = t.TOTALS[L.N_L2_SECTORS]
    way = find(t.L2_TAGS, t.L2_USED, start, ways, line, stamp)
    if way < 0:
        way = victim(t.L2_TAGS, t.L2_USED, start, ways)
        if t.L2_TAGS[way] >= 0 or t.L2_DIRTY[way]:
            other = guest(t.L2_GUEST, t.L2_USED, start, ways)
            way = other if other >= 0 else way
        if t.L2_DIRTY[way]:
            write_back(way, arrival, t)
        t.L2_TAGS[way] = line
        _note_placed(line, t)
        t.L2_SECTORS[way] = 0
        t.L2_WRITER[way] = -1
        t.L2_WRITE_SPENT[way] = 0.0
        t.L2_GUEST[way] = 0
        t.L2_HOME[way] = -1
        t.L2_STORED[way] = 0
        t.L2_READ_FREE[way] = 0.0
        t.L2_COMING[way] = 0
        t.L2_READY[way] = 0.0
        t.L2_USED[way] = stamp
    return way


@jit_inline
def _note_guest(way, t):
    """Other SMs bring what a way of L2 gets: if there is nothing else of its line, it is a guest here."""
    if t.L2_SECTORS[way] == 0 and t.L2_DIRTY[way] == 0:
        t.L2_GUEST[way] = 1


@jit
def look_up(way, line, mask, manner, arrival, t):
    """The sectors of *mask* that a way of L2 lacks: those to fetch, and those that other SMs have just asked for."""
    n = popcount(mask)
    t.TOTALS[L.N_L2_SECTORS] += n
    missing = mask & ~t.L2_SECTORS[way]
    awaited = np.int64(0)
    if missing:
        fetched = fetched_with(missing, t) & ~t.L2_SECTORS[way]
        who = brought_by(line, fetched, manner, arrival, t)
        if manner in (FETCHES, FINDS_NOW, FINDS):
            note_again(popcount(fetched), arrival, t)
        if who != SAMPLE:
            _note_guest(way, t)
            t.L2_SECTORS[way] |= fetched
            awaited = fetched if who == OTHERS_NOW else awaited
            missing = np.int64(0)
    t.TOTALS[L.N_L2_HITS] += n - popcount(missing)
    return missing, awaited


@jit
def _still_to_come(t):
    """Cycles that DRAM takes for what the simulated SMs have not asked it for yet: nobody is overtaken by more.

    It is not asked for what is only stored to: nothing of it has come (starts.cu).  If all SMs are simulated, what is
    to come is not known.
    """
    if len(t.QUOTAS) == 0:
        return np.float64(L.NEVER)
    rest = 0.0
    for k in range(len(t.QUOTAS)):
        if t.FETCHED_OF[k] > 0.0:
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
    fetched = fetched_with(missing, t) & ~t.L2_SECTORS[way]
    n = popcount(fetched)
    t.TOTALS[L.N_DRAM_READ] += n
    if manner != FETCHES:
        note_lines(n, arrival, t)
    t.L2_GUEST[way] = 0
    size = n * SECTOR
    if manner == SCATTERED:  # each is of another row of DRAM
        size = max(size, t.NUMBERS[DRAM_SCATTERED])
    through = max(dram_time(arrival, size / t.NUMBERS[DRAM_READ], t), _linked(arrival, n * SECTOR, t))
    # Rounds of which L2 has lost a part take as long as both parts one after the other (wraps.cu on an H100).
    if manner == ONCE:
        serve(t.CHIP, L.C_L2_READ_FREE, arrival, n * SECTOR / t.NUMBERS[DRAM_READ])
    have(way, fetched, t)
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
def _awaited(sm, line, down_rows, begin, t):
    """From when the nearest of the SMs that want *line* asks DRAM for it, at *begin*, to its use by *sm*.

    A load whose lanes go down rows waits for the last of its lines, as that of an SM alone does (fans.cu); half of the
    way is that of the SM itself.  Loads of few lines do not wait so here: with the tail of the latency products would
    be 8 to 17 % slow (naive.cu), and 132 SMs that read in step take 641 cycles a line on an H200 (shared.cu, march).
    """
    if down_rows:
        return dram_latency(line, (farther_of(sm, line, t) - t.NUMBERS[DRAM_FAR]) / 2, begin, t)
    return t.NUMBERS[DRAM_LATENCY] - t.NUMBERS[DRAM_FAR]


@jit
def _meet(sm, way, line, down_rows, arrival, t):
    """Another simulated SM asks for what is on its way to *way* of L2: it comes no later than after the mean latency.

    To a load whose lanes go down rows, see :func:`_awaited`, no later than if it were asked for anew.
    """
    begun = max(arrival, t.CHIP[L.C_MEMORY_FREE])
    latency = t.NUMBERS[DRAM_LATENCY]
    if down_rows:
        latency = dram_latency(line, farther_of(sm, line, t), arrival, t)
    t.L2_READY[way] = min(t.L2_READY[way], begun + latency + queued(line, arrival, t) - t.NUMBERS[L2_LATENCY])


@jit
def l2_read(sm, line, mask, manner, down_rows, arrival, ahead, t):
    """When the sectors *mask* of *line* are back at the SM that asked at *arrival* in some manner (others.py).

    *down_rows*: its load is of more than FEW_LINES lines.  SMs that are further have asked for it at *ahead*.
    """
    if is_hosted(line, t):
        return host_read(popcount(mask), arrival, t)
    came = arrival
    arrival = after_stores(line, arrival, t)
    way = l2_place(line, arrival, t)
    if t.L2_STORED[way]:
        arrival = after_others(sm, way, came, arrival, t)
    missing, awaited = look_up(way, line, mask, manner, arrival, t)
    if awaited:
        begin = min(arrival, np.float64(ahead))
        _on_its_way(way, line, awaited, begin, _awaited(sm, line, down_rows, begin, t), arrival, t)
    back = 0.0
    present = popcount(mask) - popcount(missing)
    if present:
        # Data from DRAM come later: they do not hold up what is in L2 already.
        uneven = UNEVEN if manner in (SCATTERED, ONCE, AGAIN_NOW, AGAIN) else 1.0
        size = max(present * SECTOR, t.NUMBERS[L2_READ_LEAST] * uneven)
        served = serve(t.CHIP, L.C_L2_READ_FREE, arrival, size / t.NUMBERS[L2_READ])
        through = max(served, _link(sm, arrival, present, t), after_loads(way, line, arrival, t))
        if mask & ~missing & t.L2_COMING[way]:
            if t.CONFIG[L.G_SMS] > 1 and t.L2_READY[way] > arrival and not awaited:
                _meet(sm, way, line, down_rows, arrival, t)
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
def _one_in(spaced):
    """Bytes in each sector of a line of which every so many are written, as *partial* of :func:`l2_write` has them."""
    return (np.int64(SECTOR) + spaced - 1) // spaced * np.int64(0x01010101)


@jit_inline
def _others_complete(size, spaced, widest, writers):
    """Whether blocks beside the one that writes *size* bytes of a line write the rest.

    Blocks that write *widest* bytes side by side, and leave none out, are 256 / widest to two lines of a slice, of
    which there are two.  Rows that begin anywhere, and the last blocks of a row, have smaller parts of a line, too.
    Blocks that write whole lines, too, share those at their ends, if they are no whole lines apart.
    """
    whole = 4 * (SECTOR - (spaced if spaced > 1 else 0))  # the last word written may be so far from the end
    if size >= whole or not 1.0 < writers < L.NEVER:
        return False
    if widest >= whole:
        return np.int64(2 * PAIR * 4 * SECTOR / writers + 0.5) % (4 * SECTOR) != 0
    return widest * writers >= 2 * PAIR * 4 * SECTOR - 1


@jit_inline
def _side_by_side(widest, writers):
    """How many blocks have a part of a line each, of which a warp stores most: two pairs of lines are in one slice."""
    parts = writers / (2 * PAIR) if 1.0 < writers < L.NEVER else 1.0
    return parts if 2 * widest * parts >= 4 * SECTOR else 1.0


@jit
def _repeated(mask, partial, parts):
    """The sectors, and bytes in incomplete ones, of a line of *parts* like one that leaves some of its bytes out."""
    if parts >= 4.0:  # several in each sector
        in_each = np.int64(min(bytes_of(mask, partial) * parts / 4.0, SECTOR - 1.0))
        return np.int64(15), in_each * np.int64(0x01010101)
    sectors = partial
    for apart in range(1, 4):
        if apart * parts % 4.0 == 0.0:
            mask |= (mask << apart | mask >> (4 - apart)) & 15
            sectors |= (partial << (8 * apart) | partial >> (32 - 8 * apart)) & 0xFFFFFFFF
    return mask, sectors


@jit_inline
def unevenly(line, t):
    """Times as long as for lines of all slices L2 takes for stores anywhere: by how many slices have how many lines.

    Four lines follow each other in one.  Fitted to 512 and 4096 lines on an H200 (anywhere.cu: 2.4 and 1.2).
    """
    k = allocation(line, t)
    return 1.0 + FEW_IN_SLICES * t.NUMBERS[L2_SLICES] * PAIR * 2 / t.SPANS[k] if k >= 0 else 1.0


@jit
def stands_for(line, t):
    """The line for which a word that is stored anywhere stands: one of the simulated SMs' share of where all store.

    Each SM stores to few words of many lines, which those of all SMs complete.  Of the share as many words are stored
    to a line as of the whole (anywhere.cu).
    """
    k = allocation(line, t)
    if k < 0:
        return line
    lines = max(t.SPANS[k] * t.CONFIG[L.G_SMS] // t.CONFIG[L.G_CHIP], 1)
    return ANYWHERE + t.EXTENTS[2 * k] + (line ^ (line >> 7)) % lines


@jit
def l2_join(line, mask, partial, spaced, writers, widest, arrival, t):
    """A store joins one that an SM sends to L2 at *arrival*: bytes in incomplete sectors, see :func:`l2_write`."""
    if spaced > 1 and _others_complete(bytes_of(mask, partial) * spaced, spaced, widest, writers):
        partial = _one_in(spaced)
    bytes_added(l2_place(line, arrival, t), partial, t)


@jit
def l2_write(line, mask, partial, spaced, manner, block, writers, widest, columns, arrival, t):
    """When L2 has a write of sectors, *partial*: bytes in incomplete ones, that reached it at *arrival*.

    *writers*, *widest*: what is known of the blocks that write there, and the most bytes of a line of which they do;
    *spaced*: one in so many of them at a time; *columns*: its warp stores to parts of sectors of many lines.
    """
    n = popcount(mask)
    if is_hosted(line, t):
        return host_write(n, arrival, t)
    way = l2_place(line, arrival, t)
    t.TOTALS[L.N_L2_SECTORS] += n
    t.TOTALS[L.N_L2_HITS] += n
    among_all = stands_for(line, t) if partial and manner == SCATTERED else line
    anywhere = among_all != line
    if anywhere:
        _note_guest(way, t)
        have(way, mask, t)
        way = l2_place(among_all, arrival, t)
    clean = mask & ~t.L2_DIRTY[way]
    new = popcount(clean)
    own = True
    if new and not anywhere:
        own = note_store(line, clean, bytes_of(mask, partial) / (n * SECTOR), t)
    if new and own:
        note_lines(new, arrival, t)
        # It delays reads; the write itself need not wait for those before it.
        _linked(arrival, max((new + (partial != 0)) * SECTOR, t.NUMBERS[L2_WRITE_LEAST]), t)
    done = arrival
    if not anywhere:  # those keep all slices as busy
        done = in_slice(way, block, writers, True, (n + (partial != 0)) * t.NUMBERS[ATOMIC_SECTOR], arrival, t)
    if not own:
        _note_guest(way, t)
        have(way, mask, t)
        return done
    size = bytes_of(mask, partial) * spaced
    parts, beside, parted = 4 * SECTOR / (widest if widest < 4 * SECTOR else size), False, False
    if _others_complete(size, spaced, widest, writers):
        # Measured on an H100 (kept.cu, pictures): L2 neither completes such lines nor writes them back early.
        parted = columns and widest > size
        mask, partial = np.int64(15), _one_in(spaced) if spaced > 1 else np.int64(0)
    else:
        parts, beside = _side_by_side(widest, writers), 1.0 < writers < L.NEVER
        if parts > 1.0:
            mask, partial = _repeated(mask, partial, parts)
    if parts > 1.0 and share(line * (1 << 20) + block) * parts >= 1.0:  # each of the blocks answers for its share
        _note_guest(way, t)
        have(way, np.int64(15), t)
        return done
    return max(done, written(way, mask, partial, parted, beside, arrival, t))
