"""Vector clocks that hold few entries: what a thread knows of threads of other blocks, and of its own.

A vector is immutable and has a number, 0 for the one that knows nothing.  Its entries are sorted by key: a block, a
warp of it or a thread of it; with each the time up to which it is known what they did.
"""

from __future__ import annotations

from typing import Any

from simt.ops.scalar import MIXER
from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit

BLOCK_SHIFT = 11
_WARP, _THREAD = 1, 64


@jit
def block_key(block):
    return block << BLOCK_SHIFT


@jit
def warp_key(block, warp):
    return (block << BLOCK_SHIFT) + _WARP + warp


@jit
def thread_key(block, thread):
    return (block << BLOCK_SHIFT) + _THREAD + thread


@jit
def _position(key, first, end, KEYS):
    """The first entry from *first* to *end* - 1 whose key is not less than *key*."""
    while first < end:
        middle = (first + end) >> 1
        if KEYS[middle] < key:
            first = middle + 1
        else:
            end = middle
    return first


@jit
def known(vector, block, thread, KEYS, TIMES, VECTORS):
    """The time up to which a vector knows what a thread did."""
    if vector == 0:
        return 0
    first = VECTORS[2 * vector]
    end = first + VECTORS[2 * vector + 1]
    best = 0
    for key in (block_key(block), warp_key(block, thread >> 5), thread_key(block, thread)):
        first = _position(key, first, end, KEYS)
        if first < end and KEYS[first] == key:
            best = max(best, TIMES[first])
    return best


@jit
def _kept(HEAD, VECTORS, first, end):
    """The number of a new vector of these entries, the last ones."""
    vector = HEAD[Z.H_VECTORS] + 1
    VECTORS[2 * vector] = first
    VECTORS[2 * vector + 1] = end - first
    HEAD[Z.H_VECTORS] = vector
    HEAD[Z.H_ENTRIES] = end
    HEAD[Z.H_LONGEST] = max(HEAD[Z.H_LONGEST], end - first)
    return vector


@jit
def joined(a, b, HEAD, KEYS, TIMES, VECTORS):
    """A vector that knows what *a* and *b* know; one of both, if it does."""
    if a == b or b == 0:
        return a
    if a == 0:
        return b
    i, end_a = VECTORS[2 * a], VECTORS[2 * a] + VECTORS[2 * a + 1]
    j, end_b = VECTORS[2 * b], VECTORS[2 * b] + VECTORS[2 * b + 1]
    first = HEAD[Z.H_ENTRIES]
    at = first
    as_a = True
    as_b = True
    block = -1  # the last one that is known as a whole, and up to when
    whole = 0
    while i < end_a or j < end_b:
        if j == end_b or (i < end_a and KEYS[i] < KEYS[j]):
            key, time = KEYS[i], TIMES[i]
            i += 1
            from_a, from_b = True, False
        elif i == end_a or KEYS[j] < KEYS[i]:
            key, time = KEYS[j], TIMES[j]
            j += 1
            from_a, from_b = False, True
        else:
            key, time = KEYS[i], max(TIMES[i], TIMES[j])
            from_a, from_b = time == TIMES[i], time == TIMES[j]
            i += 1
            j += 1
        if key & ((1 << BLOCK_SHIFT) - 1) == 0:
            block, whole = key, time
        elif key >> BLOCK_SHIFT == block >> BLOCK_SHIFT and time <= whole:
            continue
        as_a &= from_a
        as_b &= from_b
        KEYS[at] = key
        TIMES[at] = time
        at += 1
    if as_a:
        return a
    if as_b:
        return b
    return _kept(HEAD, VECTORS, first, at)


@jit
def single(key, time, HEAD, KEYS, TIMES, VECTORS):
    """A vector with one entry; none for time 0."""
    if time == 0:
        return 0
    at = HEAD[Z.H_ENTRIES]
    KEYS[at] = key
    TIMES[at] = time
    return _kept(HEAD, VECTORS, at, at + 1)


@jit
def with_entry(vector, key, time, HEAD, KEYS, TIMES, VECTORS):
    """A vector that also knows *key* up to *time*."""
    if time == 0:
        return vector
    return joined(vector, single(key, time, HEAD, KEYS, TIMES, VECTORS), HEAD, KEYS, TIMES, VECTORS)


def slot_of(key: Any, HASH: Any) -> Any:
    """Where the vector that an address publishes stands in HASH, or is to stand; *key* is not 0."""
    slots = len(HASH) >> 1
    mixed = key * MIXER
    at = ((mixed >> 32) ^ mixed) & (slots - 1)  # a power of two
    while HASH[2 * at] != 0 and HASH[2 * at] != key:
        at = (at + 1) & (slots - 1)
    return 2 * at


published_at = jit(slot_of)
