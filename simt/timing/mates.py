"""Rows of blocks that load the same: what L2 has lost of it since a block of another row was there.

So are products, whose rows of blocks each load all columns of a factor.  Blocks start in the order of their numbers,
so those of the simulated SM tell how far all others are: so many loads behind the start of one, its mates in other
rows, which load the same there, were as its nearest neighbour was.  What L2 has got since then says whether it is still
there (large.cu on an H100).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.ops.columns import Columns
from simt.timing import layout as L
from simt.timing.chance import share
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.others import FETCHES, FINDS, FINDS_NOW, FIRST, LATER, exceeds_l2

PAST, POINTS = 64, 64
"""Blocks of the SM of which it is known how far they were, and at how many points of their way."""
HOLDS, SPREAD = 1.0, 0.08
"""Of l2_bytes, the lines used since the last use of lines of which half are lost, and the scale of a logistic curve

about that (follow in large.cu on an H100)."""
BY_ONE, BY_ALL = 1.0, 1.33
"""Room for a line that one SM reads at a time, of which half of the times the other half of L2 has a copy, and for one

that many do, and which is there twice."""
BINS, OF_BIN = 256, 64
"""Spans of time whose lines are told apart, the last ones, and how many of them fill L2."""

# How far a block of the simulated SM is (float64[PAST * TRACK])
_track = Columns()
TR_NUMBER = _track()  # 1 + its number among those of the SM; 0: none
TR_TIMES = _track()  # how often its foremost warp has loaded, less one, and when it did last
TR_LAST = _track()
TR_POINTS = _track(POINTS)  # when it had loaded C_POINT times more, from its first load on
TRACK = _track.count

# Whether rows of blocks load the same at a micro-op (int64[micro-ops * N_ALIKE])
_alike = Columns()
AL_NEXT = _alike()  # the first number of a block that has not been looked at
AL_BLOCK = _alike()  # the first block that was, and at which word it began
AL_WORD = _alike()
AL_STEP = _alike()  # words from a block to the next in its row; 0: not known
AL_KNOWN = _alike()  # 1: they do, -1: they do not, 0: not known
N_ALIKE = _alike.count


def tracks_of(config: npt.NDArray[np.int64], lines: int, ops: int) -> dict[str, npt.NDArray[np.float64 | np.int64]]:
    """How far blocks are, and at which of the *ops* their rows load the same; nothing if L2 holds all *lines* twice."""
    x, y = int(config[L.G_GRID_X]), int(config[L.G_GRID_Y])
    asked = config[L.G_SMS] == 1 and min(x, y) > 1 and x * y == config[L.G_LAUNCHED]
    asked = asked and lines * BY_ALL > config[L.G_L2_LINES]
    return {
        "TRACKS": np.zeros(PAST * TRACK if asked else 0, np.float64),
        "ALIKE": np.zeros(N_ALIKE * ops if asked else 0, np.int64),
        "USED_LAST": np.zeros(BINS, np.float64),
        "USED_FROM": np.zeros(BINS, np.float64),
    }


@jit_inline
def note_lines(sectors, now, t):
    """Note that the simulated SM uses so many sectors of L2 *now*, and each of the others as many, nobody before."""
    if len(t.TRACKS) > 0:
        _use(BY_ALL * sectors, now, t)


@jit
def _use(sectors, now, t):
    """Count sectors as those that were used last *now*."""
    number = np.int64(t.CHIP[L.C_BIN])
    if t.USED_LAST[number % BINS] >= t.CONFIG[L.G_L2_LINES] / OF_BIN and now > t.USED_FROM[number % BINS]:
        number += 1
        t.CHIP[L.C_BIN] = number
        t.USED_FROM[number % BINS] = now
        t.USED_LAST[number % BINS] = 0.0
    t.USED_LAST[number % BINS] += sectors * t.CONFIG[L.G_CHIP] / (4.0 * t.CONFIG[L.G_SMS])


@jit
def note_again(sectors, now, t):
    """Note that so many sectors are used *now* of which it is known when they were used last: they no longer count as

    of then.
    """
    before = t.CHIP[L.C_USED]
    room = sectors * t.CHIP[L.C_ROOM]
    newest = np.int64(t.CHIP[L.C_BIN])
    for number in range(newest, max(newest - BINS, -1), -1):
        if t.USED_FROM[number % BINS] <= before:
            left = t.USED_LAST[number % BINS] - room * t.CONFIG[L.G_CHIP] / (4.0 * t.CONFIG[L.G_SMS])
            t.USED_LAST[number % BINS] = max(left, 0.0)
            break
    _use(room, now, t)


@jit
def _used_since(before, now, t):
    """Lines that were used after some time *before*; enough, if L2 holds fewer."""
    lines = 0.0
    end = np.float64(now)
    newest = np.int64(t.CHIP[L.C_BIN])
    for number in range(newest, max(newest - BINS, -1), -1):
        begin = t.USED_FROM[number % BINS]
        if begin <= before:
            return lines + t.USED_LAST[number % BINS] * (end - before) / max(end - begin, 1.0)
        lines += t.USED_LAST[number % BINS]
        if lines > 2 * t.CONFIG[L.G_L2_LINES]:
            break
        end = begin
    return np.float64(L.NEVER)


@jit_rare
def _coarsen(t):
    """Note every other point of what was noted, and of what will be."""
    t.CHIP[L.C_POINT] *= 2
    for track in range(0, PAST * TRACK, TRACK):
        for k in range(1, POINTS // 2):
            t.TRACKS[track + TR_POINTS + k] = t.TRACKS[track + TR_POINTS + 2 * k]


@jit_inline
def _number(wi, t):
    """So many blocks of the simulated SM started before that of warp *wi*."""
    return t.SLOTS[t.WARPS[wi * L.N_WARP + L.W_PLACE] * L.N_SLOT + L.S_NUMBER]


@jit
def _note_way(wi, now, t):
    """Note that warp *wi* loads once more."""
    times = t.WARPS[wi * L.N_WARP + L.W_LOADS]
    t.WARPS[wi * L.N_WARP + L.W_LOADS] += 1
    number = _number(wi, t)
    track = number % PAST * TRACK
    if t.TRACKS[track + TR_NUMBER] != number + 1:
        t.TRACKS[track + TR_NUMBER] = number + 1
        t.TRACKS[track + TR_TIMES] = -1.0
    if times <= t.TRACKS[track + TR_TIMES]:
        return
    t.TRACKS[track + TR_TIMES] = times
    t.TRACKS[track + TR_LAST] = now
    each = np.int64(t.CHIP[L.C_POINT])
    if times % each == 0:
        if times == POINTS * each:
            _coarsen(t)
            each *= 2
        t.TRACKS[track + TR_POINTS + times // each] = now


@jit
def _note_rows(pc, wi, block, word, pitch, t):
    """Note at which *word* a block begins to load at *pc*, from lane to lane so many bytes apart.

    Its row does not matter if blocks differ by their columns alone.  Two of them say so if the columns are no farther
    apart than their threads would fill: rows lie behind all of a row's.
    """
    at = N_ALIKE * pc
    number = _number(wi, t)
    known = t.ALIKE[at + AL_KNOWN]
    if t.WARPS[wi * L.N_WARP + L.W_INDEX] or known < 0 or number < t.ALIKE[at + AL_NEXT]:
        return
    if t.ALIKE[at + AL_NEXT] == 0:
        t.ALIKE[at + AL_BLOCK] = block
        t.ALIKE[at + AL_WORD] = word
    t.ALIKE[at + AL_NEXT] = number + 1
    row = t.CONFIG[L.G_GRID_X]
    columns = block % row - t.ALIKE[at + AL_BLOCK] % row
    rows = block // row - t.ALIKE[at + AL_BLOCK] // row
    words = word - t.ALIKE[at + AL_WORD]
    if rows == 0:
        return
    step = t.ALIKE[at + AL_STEP]
    if columns == 0:
        alike = words == 0
    elif step > 0:
        alike = words == columns * step
    else:
        step = words // columns
        alike = step > 0 and pitch > 0 and words == columns * step and 4 * step <= pitch * 32 * t.CONFIG[L.G_WARPS]
        t.ALIKE[at + AL_STEP] = step
    t.ALIKE[at + AL_KNOWN] = 1 if alike else -1


@jit_inline
def note_load(pc, wi, block, word, pitch, now, t):
    """Note a load of plain memory by a warp of *block* at *pc*, from *word* on, its lanes so many bytes apart."""
    if len(t.TRACKS) > 0:
        _note_way(wi, now, t)
        _note_rows(pc, wi, block, word, pitch, t)


@jit
def _loaded_at(number, times, t):
    """When the simulated SM's block *number* had loaded so many *times*; -1: it has not, or too long ago."""
    track = number % PAST * TRACK
    last = np.int64(t.TRACKS[track + TR_TIMES])
    if t.TRACKS[track + TR_NUMBER] != number + 1 or last < times:
        return -1.0
    each = np.int64(t.CHIP[L.C_POINT])
    k = times // each
    at = t.TRACKS[track + TR_POINTS + k]
    if times == k * each:
        return at
    following = t.TRACKS[track + TR_LAST]
    if (k + 1) * each <= last:
        last = (k + 1) * each
        following = t.TRACKS[track + TR_POINTS + k + 1]
    return at + (following - at) * (times - k * each) / (last - k * each)


@jit_inline
def _between_starts(number, newest, t):
    """Cycles between the starts of block *number* and the next one of the simulated SM, or the two before."""
    first = max(number if number < newest else number - 1, 0)
    track, following = first % PAST * TRACK, (first + 1) % PAST * TRACK
    if t.TRACKS[track + TR_NUMBER] != first + 1 or t.TRACKS[following + TR_NUMBER] != first + 2:
        return 0.0
    return t.TRACKS[following + TR_POINTS] - t.TRACKS[track + TR_POINTS]


@jit
def _used_by_mates(number, times, block, now, t):
    """When the last block of another row had loaded so many *times*; -1: none has.

    Block *number* of the simulated SM stands for those of all SMs, one of which is drawn.
    """
    chip, row = t.CONFIG[L.G_CHIP], t.CONFIG[L.G_GRID_X]
    own = np.int64(share((block << 20) + times) * chip)
    newest = np.int64(t.CHIP[L.C_NEXT_BLOCK]) - 1
    last = -1.0
    for other in range(newest, max(newest - PAST, -1), -1):
        mate = (number * chip + own - other * chip) % row
        if other == number:
            if times < t.TRACKS[number % PAST * TRACK + TR_TIMES]:
                mate = own
            elif own >= row:
                mate = own - row
            else:
                continue
        elif other < number:
            mate += max((chip - 1 - mate) // row, 0) * row
        if mate >= chip or other * chip + mate >= t.CONFIG[L.G_LAUNCHED]:
            continue
        at = _loaded_at(other, times, t)
        if at >= 0.0:
            last = max(last, min(at + (mate - own) * _between_starts(other, newest, t) / chip, np.float64(now)))
    return last


@jit
def manner_by_rows(pc, wi, block, line, manner, now, t):
    """The manner of a request for *line* of a load of a block at *pc*, where rows of blocks load the same."""
    if len(t.TRACKS) == 0 or manner not in (FIRST, LATER) or t.ALIKE[N_ALIKE * pc + AL_KNOWN] <= 0:
        return manner
    before = _used_by_mates(_number(wi, t), t.WARPS[wi * L.N_WARP + L.W_LOADS] - 1, block, now, t)
    t.CHIP[L.C_USED] = before
    side_by_side = max(32 // max(t.ALIKE[N_ALIKE * pc + AL_STEP], 1), 1)
    t.CHIP[L.C_ROOM] = BY_ALL - (BY_ALL - BY_ONE) * 0.5 ** (side_by_side - 1)
    lines = _used_since(before, now, t) if before >= 0.0 else np.float64(L.NEVER)
    if exceeds_l2(lines, HOLDS, SPREAD, (block << 20) ^ line ^ (np.int64(1) << 48), t):
        return np.int64(FETCHES)
    return np.int64(FINDS_NOW if manner == FIRST else FINDS)
