"""Ways of a set of a cache, several looked at at once: vectors of the host, which LLVM does not find by itself.

Arrays of ways end with room for WIDE words more: what is read there is not looked at.
"""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit
from simt.ops.scalar import lowest
from simt.timing.jit import FOLDER, jit_inline
from simt.timing.layout import NEVER
from simt.timing.vectors import comparison, least_of

WIDE = 8
"""Ways that are looked at at once."""


_alike, _below, _least = comparison("==", WIDE), comparison("<", WIDE), least_of(WIDE)


def _same(WORDS, first, word):
    return _alike(WORDS, first, word)


def _negative(WORDS, first):
    return _below(WORDS, first, 0)


def _smallest(WORDS, first, bits):
    return _least(WORDS, first, bits)


def _plain_same(WORDS, first, word):
    return np.int64(sum(1 << k for k, found in enumerate(WORDS[first : first + WIDE]) if found == word))


def _plain_negative(WORDS, first):
    return np.int64(sum(1 << k for k, found in enumerate(WORDS[first : first + WIDE]) if found < 0))


def _plain_smallest(WORDS, first, bits):
    return min((WORDS[first + k] for k in range(WIDE) if (bits >> k) & 1), default=np.int64(NEVER))


same = jit(_same, inline=True, folder=FOLDER, plain=_plain_same)
"""``same(WORDS, first, word)``: which of WIDE words from number *first* on are *word*: bits."""
negative = jit(_negative, inline=True, folder=FOLDER, plain=_plain_negative)
"""``negative(WORDS, first)``: which of them are negative: bits."""
smallest = jit(_smallest, inline=True, folder=FOLDER, plain=_plain_smallest)
"""``smallest(WORDS, first, bits)``: the least of those whose *bits* are set, NEVER: there are none."""


@jit_inline
def _some(ways):
    """The bits of the next of so many ways."""
    return (np.int64(1) << min(ways, WIDE)) - 1


@jit_inline
def find(TAGS, USED, start, ways, line, stamp):
    """Way that holds *line* (made the most recently used), or -1."""
    for k in range(0, ways, WIDE):
        found = same(TAGS, start + k, line) & _some(ways - k)
        if found:
            way = start + k + lowest(found)
            USED[way] = stamp
            return way
    return np.int64(-1)


@jit_inline
def oldest(TAGS, USED, start, ways):
    """The least recently used way that holds a line, or -1."""
    best = np.int64(-1)
    least = np.int64(NEVER)
    for k in range(0, ways, WIDE):
        taken = ~negative(TAGS, start + k) & _some(ways - k)
        used = smallest(USED, start + k, taken)
        if used < least:
            least = used
            best = start + k + lowest(same(USED, start + k, used) & taken)
    return best


@jit_inline
def guest(GUESTS, USED, start, ways):
    """The least recently used way that GUESTS has as 1, or -1."""
    best = np.int64(-1)
    least = np.int64(NEVER)
    for k in range(0, ways, WIDE):
        among = same(GUESTS, start + k, 1) & _some(ways - k)
        used = smallest(USED, start + k, among)
        if used < least:
            least = used
            best = start + k + lowest(same(USED, start + k, used) & among)
    return best


@jit_inline
def victim(TAGS, USED, start, ways):
    """An empty way, or the least recently used one."""
    for k in range(0, ways, WIDE):
        empty = negative(TAGS, start + k) & _some(ways - k)
        if empty:
            return start + k + lowest(empty)
    return oldest(TAGS, USED, start, ways)
