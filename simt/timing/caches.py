"""L1: what it has of a line, and what it asks L2 for (:func:`read_line`, :func:`write_line`, :func:`atomic_line`)."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.dirty import sectors_of
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.servers import SECTOR
from simt.timing.ways import find, oldest, victim

L1_WAYS = L.PLACE["l1_ways"]
LINE_INTERVAL = L.PLACE["l1_line_interval"]
L1_CACHES_LOADS = L.PLACE["l1_caches_loads"]
STORE_LINES = L.PLACE["store_lines"]
STORE_JOIN = L.PLACE["store_join_latency"]
STORE_SETTLE = L.PLACE["store_settle_latency"]
STORE_CLOSE = L.PLACE["store_close_latency"]
STORE_QUEUE = L.PLACE["store_queue"]
SM_STORE = L.PLACE["sm_store_bytes_per_cycle"]
ELSEWHERE = 20
"""One of so many lines that leave L1 for lack of room is of another set than the one that comes."""
HOP = 97
"""Sets between two such."""
BETWEEN, AMONG = 1.1, 32.0
"""Cycles that a line of a load takes the way to L2 among stores, and for how long it is among them when one has left.

A compromise: loads and stores of an SM in turn want 1.5, rows of a thread each 1 (crowded.cu on an H100).
"""
IN_TURN = 0.5
"""Cycles from a line of a load to the next, in the order of their addresses, as far as stores before it are concerned.

Fitted to which of 28 and 32 lines an H200 asks L2 for behind stores to them, in three orders (behind.cu).
"""
ALL_WORDS = np.int64(0xFFFFFFFF)
"""Of a line."""
IDLE = 2.0
"""Cycles without work of the load/store unit from which on stores to many lines in turn do not join (turns.cu)."""
TRIES = 16
"""Sets of a small L1 that are looked at for an old line."""


@jit_inline
def tag_bank(line):
    """The one of four tag banks that looks *line* up: the exclusive or of the two-bit digits of its number.

    That fits how long runs of lines of all strides measured on an H200 take, to half a cycle (memory.cu).
    """
    return (popcount(line & 0x5555555555555555) & 1) + 2 * (popcount((line >> 1) & 0x5555555555555555) & 1)


@jit_inline
def _set_of(line, sets):
    """The set of L1 that has *line*: one of its tag bank's.

    Fitted to how many of 32 to 1536 lines, 1 to 1024 lines apart, an H100 finds again (sets.cu: all of those a power of
    two apart, 59 to 76 % of 1536 lines that are 3, 22 or 33 apart).
    """
    each = sets // 4
    mixed = (line >> 1) ^ (line >> 8) ^ (line >> 9) ^ (line >> 14)
    return tag_bank(line) * each + (mixed & 0x7FFFFFFFFFFFFFFF) % each


@jit
def _expel(first, ways, t):
    """Whether the set of L1 that begins at *first* had a line to let go: its least recently used one."""
    way = oldest(t.L1_TAGS, t.L1_USED, first, ways)
    if way >= 0:
        t.L1_TAGS[way] = -1
    return way >= 0


@jit_rare
def _expel_old(sm, home, ways, t):
    """Take a line from a small L1, whose sets have a line or two each: an old one of set *home* or of the next sets.

    Lines that were used a moment ago stay (reach.cu on an H200: what is loaded and then stored to is still there).
    """
    sets = t.CONFIG[L.G_L1_SETS]
    recent = np.int64(t.SMS[sm * L.N_SM + L.M_L1_STAMP]) - 2 * t.CONFIG[L.G_L1_LINES]
    found = np.int64(-1)
    tried = 0
    while tried < TRIES or found < 0:
        way = oldest(t.L1_TAGS, t.L1_USED, (sm * sets + (home + tried * HOP) % sets) * ways, ways)
        if way >= 0 and (found < 0 or t.L1_USED[way] < t.L1_USED[found]):
            found = way
            if t.L1_USED[way] < recent:
                break
        tried += 1
    t.L1_TAGS[found] = -1


@jit
def _displace(sm, home, t):
    """Take a line from set *home* of the L1 of *sm*; from another if that one is empty, and now and then anyway.

    Fitted to which of 1200 to 2300 lines, read in order over and over, an H200 finds again in L1 (64 such footprints):
    4 % of them are wrong, 14 % if always the least recently used one of the set goes.
    """
    sets = t.CONFIG[L.G_L1_SETS]
    ways = np.int64(t.NUMBERS[L1_WAYS])
    at = sm * L.N_SM
    if t.CONFIG[L.G_L1_LINES] < 2 * sets:
        _expel_old(sm, home, ways, t)
        return
    t.SMS[at + L.M_L1_DISPLACED] += 1
    if np.int64(t.SMS[at + L.M_L1_DISPLACED]) % ELSEWHERE and _expel((sm * sets + home) * ways, ways, t):
        return
    for _ in range(sets):
        t.SMS[at + L.M_L1_HAND] = (t.SMS[at + L.M_L1_HAND] + HOP) % sets
        if _expel((sm * sets + np.int64(t.SMS[at + L.M_L1_HAND])) * ways, ways, t):
            return


@jit_inline
def _stamp(sm, n, t):
    """A number for an access of *sm* to *n* sectors of L1, larger than those of the accesses before."""
    at = sm * L.N_SM + L.M_L1_STAMP
    t.SMS[at] += n
    return np.int64(t.SMS[at])


@jit
def _l1_place(sm, line, n, t):
    """The way of *line*, of which an access wants *n* sectors, in the L1 of *sm*.

    Shared memory takes of the data, not of the tags: on an H200, of few lines too many, each drives out those of a set
    that has as many lines as if all of L1 were there (memory.cu).
    """
    ways = np.int64(t.NUMBERS[L1_WAYS])
    home = _set_of(line, t.CONFIG[L.G_L1_SETS])
    first = (sm * t.CONFIG[L.G_L1_SETS] + home) * ways
    stamp = _stamp(sm, n, t)
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
        t.L1_WORDS[way] = 0
        t.L1_USED[way] = stamp
        t.L1_READY[way] = 0.0
        t.L1_ASKED[way] = -1
        t.L1_WRITTEN[way] = 0
    return way


@jit_inline
def _last_leaves(sm, t):
    """When the last store of *sm* leaves for L2; 0: there was none."""
    n = np.int64(t.SMS[sm * L.N_SM + L.M_SENT])
    return t.SENT_AT[sm * L.SENT_ROOM + (n - 1) % L.SENT_ROOM] if n else 0.0


@jit_inline
def _missed(sm, sectors, start, t):
    """When a line of which L1 lacks *sectors* is on its way to L2: one a cycle of each SM (H200, memory.cu)."""
    t.TOTALS[L.N_ASKED] += 1
    t.TOTALS[L.N_ASKED_WHOLE] += sectors == 4
    at = sm * L.N_SM + L.M_MISS_FREE
    begin = max(t.SMS[at], start)
    t.SMS[at] = begin + t.NUMBERS[LINE_INTERVAL]
    # Stores behind it wait for it, too: both take the way from L1.
    taken = BETWEEN if start < _last_leaves(sm, t) + AMONG else t.NUMBERS[LINE_INTERVAL]
    t.SMS[sm * L.N_SM + L.M_STORE_FREE] = max(t.SMS[sm * L.N_SM + L.M_STORE_FREE], begin) + taken
    t.SMS[sm * L.N_SM + L.M_MISSES] += 1
    return begin


@jit_inline
def _note(sm, a, do, line, mask, way, extra, start, t):
    """Note what is asked of *line*, as line *a* of the requests of *sm*."""
    row = (sm * L.REQUEST_LINES + a) * L.N_LINE
    t.ASKED[row + L.A_DO] = do
    t.ASKED[row + L.A_LINE] = line
    t.ASKED[row + L.A_MASK] = mask
    t.ASKED[row + L.A_WAY] = way
    t.ASKED[row + L.A_AFTER] = -1
    t.ASKED[row + L.A_EXTRA] = extra
    t.ASKED[row + L.A_SENT] = -1
    times = (sm * L.REQUEST_LINES + a) * L.N_LINE_AT
    t.ASKED_AT[times + L.T_START] = start
    t.ASKED_AT[times + L.T_READY] = 0.0


@jit
def _send(sm, a, sectors, start, t):
    """Send line *a* of the requests of *sm*, a store or an atomic that asks for it at *start*; returns when it leaves.

    Measured on an H200: an SM sends 32 bytes a cycle, a mask of the bytes that are written takes as long as a sector,
    and L2 has not taken more than store_queue of all that before (again.cu, atoms.cu).
    """
    at = sm * L.N_SM
    leaves = max(t.SMS[at + L.M_STORE_FREE], start)
    n = np.int64(t.SMS[at + L.M_SENT])
    first = np.int64(t.SMS[at + L.M_ACCEPTED])
    while first < n and (t.SMS[at + L.M_UNDER_WAY] + sectors > t.NUMBERS[STORE_QUEUE] or n - first >= L.SENT_ROOM):
        row = sm * L.SENT_ROOM + first % L.SENT_ROOM
        leaves = max(leaves, t.SENT_DONE[row])
        t.SMS[at + L.M_UNDER_WAY] -= t.SENT_SIZE[row]
        first += 1
    sent = leaves + sectors * SECTOR / t.NUMBERS[SM_STORE]
    t.TOTALS[L.N_SENT] += sectors
    row = sm * L.SENT_ROOM + n % L.SENT_ROOM
    t.SENT_AT[row] = leaves
    t.SENT_DONE[row] = sent
    t.SENT_SIZE[row] = sectors
    t.SMS[at + L.M_UNDER_WAY] += sectors
    t.SMS[at + L.M_ACCEPTED] = first
    t.SMS[at + L.M_SENT] = n + 1
    t.SMS[at + L.M_STORE_FREE] = sent
    t.ASKED[(sm * L.REQUEST_LINES + a) * L.N_LINE + L.A_SENT] = row
    t.ASKED_AT[(sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_SENT] = sent
    return leaves


@jit_inline
def _behind(sm, a, before, ready, t):
    """Line *a* of the requests of *sm* is not there before line *before* of them, -1: before *ready*, as is known."""
    if before >= 0:
        t.ASKED[(sm * L.REQUEST_LINES + a) * L.N_LINE + L.A_AFTER] = before
    else:
        t.ASKED_AT[(sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_READY] = ready


@jit_inline
def _words_of(mask):
    """The words of a line in the sectors *mask*."""
    words = np.int64(0)
    for sector in range(4):
        words |= np.int64(0xFF * (mask >> sector & 1)) << (8 * sector)
    return words


@jit_inline
def _sectors_with(words):
    """The sectors of a line that have any of *words*."""
    mask = np.int64(0)
    for sector in range(4):
        mask |= np.int64(words >> (8 * sector) & 0xFF != 0) << sector
    return mask


@jit_inline
def _before(line, n, t):
    """How many of the *n* lines of a load have lower addresses than *line*."""
    count = np.int64(0)
    for k in range(n):
        count += t.LINES[k] < line
    return count


@jit
def read_line(sm, a, line, mask, words, begin, of, start, bypass, t):
    """A load of *words* of *line*, in its sectors *mask*, reaches L1 at *start*: whether its answer is unknown.

    It is *of* so many lines; L1 begins with them at *begin*.  If it wants other words of a line than a store to many
    has written a moment ago, L1 loses the line, but for those.  Measured on an H200 (behind.cu): a warp whose 32 lanes
    count in arrays of their own asks L2 for 2 to 4 lines a round if the next round begins at once, for none 25 cycles
    later.  A store of one lane does no harm (rowwise.cu).
    """
    n = popcount(mask)
    t.TOTALS[L.N_L1_SECTORS] += n
    sent = (sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_SENT
    if bypass or t.NUMBERS[L1_CACHES_LOADS] == 0:
        _note(sm, a, L.D_READ, line, mask, np.int64(-1), np.int64(0), start, t)
        t.ASKED_AT[sent] = _missed(sm, n, start, t)
        return True
    way = _l1_place(sm, line, n, t)
    close = t.L1_WRITTEN_LAST[way] + t.NUMBERS[STORE_CLOSE]
    if begin < close and t.L1_WRITTEN[way] and words & ~t.L1_LAST_WORDS[way]:
        if begin + IN_TURN * _before(line, of, t) < close:
            _lose(way, t)
            t.L1_WORDS[way] = t.L1_LAST_WORDS[way]
    missing = mask & ~t.L1_SECTORS[way]
    if missing and t.L1_WORDS[way]:
        missing &= _sectors_with(words & ~t.L1_WORDS[way])
    t.TOTALS[L.N_L1_HITS] += n - popcount(missing)
    before = t.L1_ASKED[way]
    _note(sm, a, L.D_READ if missing else L.D_HIT, line, missing, way, np.int64(0), start, t)
    _behind(sm, a, before, t.L1_READY[way], t)
    if missing:
        t.L1_SECTORS[way] |= missing
        t.ASKED_AT[sent] = _missed(sm, popcount(missing), start, t)
        t.L1_ASKED[way] = a
    return missing != 0 or before >= 0


@jit_inline
def stopped_until(sm, t):
    """When fewer than store_lines lines that *sm* has sent are still waiting to leave: not before it stores others."""
    n = np.int64(t.SMS[sm * L.N_SM + L.M_SENT]) - 1 - np.int64(t.NUMBERS[STORE_LINES])
    return t.SENT_AT[sm * L.SENT_ROOM + n % L.SENT_ROOM] if n >= 0 else 0.0


@jit_inline
def is_behind(sm, now, t):
    """Whether L2 has not taken yet, *now*, most of the stores that *sm* may have under way."""
    at = sm * L.N_SM
    first = sm * L.SENT_ROOM + np.int64(t.SMS[at + L.M_ACCEPTED]) % L.SENT_ROOM
    return 2.0 * t.SMS[at + L.M_UNDER_WAY] > t.NUMBERS[STORE_QUEUE] and t.SENT_DONE[first] > now


@jit_inline
def _lose(way, t):
    """A way of L1 whose line is on its way gets a store: loads from then on ask L2 for the line anew.

    Measured on an H100 (rowwise.cu): L1 then has none of its sectors, not even those that it had before; loads that are
    under way get their words.  A store behind a load that hits does no harm.
    """
    t.L1_SECTORS[way] = 0
    t.L1_WORDS[way] = 0
    t.L1_ASKED[way] = -1
    t.L1_READY[way] = 0.0


@jit
def write_line(sm, a, line, mask, words, partial, start, many, apart, t):
    """A store to *words* in the sectors *mask*, *partial*: bytes in incomplete ones, reaches L1.

    L1 is written through.  Of a sector that it lacks it has those words from then on (rounds.cu on an H200).

    Returns when it leaves for L2.  A store joins the one before to its line if that has not left, or the load/store
    unit was hardly idle since, and few other lines were stored to (counted.cu on an H200: of 32 warps that store to a
    word at once 1 store is left, of those that start one by one 3, of those 29 cycles apart all; mixed.cu: with 16
    lines in turn they are joined, with 64 they are not).  With other lines between, the last must have come a moment
    ago, too, however busy the unit was (rowwise.cu: 64 warps that load between their stores to 8 lines leave half).
    Stores to *many* lines each join as long as the unit goes from one to the next (turns.cu: warps that store to the
    same 16 lines in turn leave one store a line, to 32 lines all), unless others come between: then they are *apart*.

    A store that does not join one that came a moment ago makes L1 lose the line, but for what it stores itself.
    Measured on an H200 (rounds.cu): two warps that store to a line 12 to 28 cycles apart lose it in half of the cases,
    37 cycles apart or more never; nor do those within 8 cycles, which join.

    Nsight Compute counts a hit for each sector of a line that L1 has, whatever it has of it, once the store before to
    it has left (sets.cu on an H100: all, but two of three of those that follow each other at once).
    """
    n = popcount(mask)
    t.TOTALS[L.N_L1_SECTORS] += n
    if t.NUMBERS[L1_CACHES_LOADS] == 0:
        _note(sm, a, L.D_WRITE, line, mask, np.int64(-1), partial, start, t)
        return _send(sm, a, n + (partial != 0), start, t)
    way = _l1_place(sm, line, n, t)
    if t.L1_ASKED[way] >= 0 or t.L1_READY[way] > start:
        _lose(way, t)
    if t.L1_SECTORS[way] | t.L1_WRITTEN[way] and start >= t.L1_WRITTEN_AT[way]:
        t.TOTALS[L.N_L1_HITS] += n
    others = t.SMS[sm * L.N_SM + L.M_SENT] - t.L1_WRITTEN_NUMBER[way]
    idle = start - t.SMS[sm * L.N_SM + L.M_LSU_BUSY]
    joins = idle < t.L1_WRITTEN_IDLE[way] + t.NUMBERS[STORE_JOIN]
    joins &= others == 0 or start < t.L1_WRITTEN_LAST[way] + t.NUMBERS[STORE_JOIN]
    joins |= start < t.L1_WRITTEN_AT[way]
    if many:
        joins |= idle < t.L1_WRITTEN_IDLE[way] + IDLE
    joins &= not apart
    if not (joins and others < t.NUMBERS[STORE_LINES] and t.L1_WRITTEN[way]):
        if t.L1_WRITTEN[way] and start < t.L1_WRITTEN_LAST[way] + t.NUMBERS[STORE_SETTLE]:
            _lose(way, t)
        t.L1_WRITTEN[way] = 0
        t.L1_WRITTEN_IDLE[way] = idle
    t.L1_SECTORS[way] |= mask & ~sectors_of(partial)
    t.L1_LAST_WORDS[way] = ALL_WORDS if not many else words if partial else _words_of(mask)
    if partial:
        t.L1_WORDS[way] |= words
        t.L1_SECTORS[way] |= mask & ~_sectors_with(~t.L1_WORDS[way] & _words_of(mask))
    t.L1_WRITTEN_LAST[way] = max(t.L1_WRITTEN_LAST[way], start)
    fresh = mask & ~t.L1_WRITTEN[way]
    if fresh == 0:
        _note(sm, a, L.D_JOIN, line, mask, way, partial, start, t)
        _behind(sm, a, np.int64(-1), t.L1_WRITTEN_AT[way], t)
        return t.L1_WRITTEN_AT[way]
    _note(sm, a, L.D_WRITE, line, fresh, way, partial, start, t)
    n = popcount(fresh)
    t.L1_WRITTEN_AT[way] = _send(sm, a, n + (partial != 0), start, t)
    t.L1_WRITTEN_NUMBER[way] = t.SMS[sm * L.N_SM + L.M_SENT]
    t.L1_WRITTEN_LAST[way] = max(start, stopped_until(sm, t))
    t.L1_WRITTEN[way] |= fresh
    return t.L1_WRITTEN_AT[way]


@jit_inline
def note_atomic(sm, a, busy, again, t):
    """Note that line *a* of the requests of *sm* is of atomics that keep L2 *busy*, *again* longer if alike."""
    t.ASKED_AT[(sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_BUSY] = busy
    t.ASKED_AT[(sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_AGAIN] = again


@jit
def atomic_line(sm, a, line, mask, sectors, start, t):
    """Atomics on *line* pass L1: the sectors that it had of it are stale.  *sectors*: what is sent for them.

    Returns when they leave for L2.
    """
    n = popcount(mask)
    t.TOTALS[L.N_L1_SECTORS] += n
    ways = np.int64(t.NUMBERS[L1_WAYS])
    first = (sm * t.CONFIG[L.G_L1_SETS] + _set_of(line, t.CONFIG[L.G_L1_SETS])) * ways
    way = find(t.L1_TAGS, t.L1_USED, first, ways, line, _stamp(sm, n, t))
    if way >= 0:
        t.L1_SECTORS[way] &= ~mask
        t.L1_WORDS[way] &= ~_words_of(mask)
    _note(sm, a, L.D_ATOMIC, line, mask, np.int64(-1), sectors, start, t)
    return _send(sm, a, sectors, start, t)
