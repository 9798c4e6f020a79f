"""Who knows what: time, and how barriers, fences and atomics order threads.

Time is one counter for the launch; everything that orders threads moves it on.  A thread knows what all threads of its
block did before the block's last barrier, what its warp did before its last full warp barrier, what single lanes did
before the warp barriers that it shared with them (KNOWN), and what its vector says of all others.

A fence publishes what its thread knows then; an atomic or volatile store after it leaves that at its address, and who
reads the address with an atomic or volatile load learns it.  What a fence of a block published only threads of that
block learn.  Barriers tell what was published, too.
"""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import FULL
from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit
from simt.sanitizer.vectors import block_key, joined, known, published_at, thread_key, warp_key, with_entry


@jit
def tick(HEAD):
    """A new time: what was done so far is before it."""
    HEAD[Z.H_TIME] += 1
    return HEAD[Z.H_TIME]


@jit
def warp_at(HEAD, place, w):
    """Where a warp's row stands in WARPS."""
    return (place * HEAD[Z.H_WARPS] + w) * Z.N_WARP


@jit
def thread_at(HEAD, place, thread):
    """Where a thread's row stands in THREADS."""
    return (place * HEAD[Z.H_WARPS] * 32 + thread) * Z.N_THREAD


@jit
def orders(other_block, other, time, block, thread, place, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS):
    """Whether what thread *other* of *other_block* did at *time* comes before what *thread* of *block* does now."""
    if time < HEAD[Z.H_GRID]:
        return True
    if other_block == block:
        if other == thread or time < BLOCKS[place * Z.N_BLOCK + Z.B_BASE]:
            return True
        w = thread >> 5
        if other >> 5 == w:
            at = warp_at(HEAD, place, w)
            if HEAD[Z.H_LANES] == 0 or time < WARPS[at + Z.W_BASE]:
                return True
            if WARPS[at + Z.W_PARTIAL]:
                lanes = ((place * HEAD[Z.H_WARPS] + w) * 32 + (thread & 31)) * 32
                if time < KNOWN[lanes + (other & 31)]:
                    return True
    if time < known(BLOCKS[place * Z.N_BLOCK + Z.B_VECTOR], other_block, other, KEYS, TIMES, VECTORS):
        return True
    own = THREADS[thread_at(HEAD, place, thread) + Z.T_VECTOR]
    return time < known(own, other_block, other, KEYS, TIMES, VECTORS)


@jit
def _together(place, w, lanes, field, HEAD, THREADS, KEYS, TIMES, VECTORS):
    """The vectors in a field of threads of one warp, joined."""
    result = 0
    last = 0
    for l in range(32):
        if (lanes >> l) & 1:
            vector = THREADS[thread_at(HEAD, place, w * 32 + l) + field]
            if vector != last:
                result = joined(result, vector, HEAD, KEYS, TIMES, VECTORS)
                last = vector
    return result


@jit
def _published(field, block, place, w, lanes, now, HEAD, WARPS, THREADS, KEYS, TIMES, VECTORS):
    """What the fences of these lanes of a warp have published, for the device or (*field*) for the block: a vector."""
    result = _together(place, w, lanes, field, HEAD, THREADS, KEYS, TIMES, VECTORS)
    least = np.int64(0)
    for l in range(32):
        if (lanes >> l) & 1:
            time = THREADS[thread_at(HEAD, place, w * 32 + l) + field + 1]
            least = time if lanes & ((1 << l) - 1) == 0 else min(least, time)
    if least > WARPS[warp_at(HEAD, place, w) + Z.W_LAST]:
        least = now  # it has done nothing since
    if lanes == FULL:
        result = with_entry(result, warp_key(block, w), least, HEAD, KEYS, TIMES, VECTORS)
    for l in range(32):
        if (lanes >> l) & 1:
            time = THREADS[thread_at(HEAD, place, w * 32 + l) + field + 1]
            if time > least or (lanes != FULL and time > 0):
                key = thread_key(block, w * 32 + l)
                result = with_entry(result, key, max(time, least), HEAD, KEYS, TIMES, VECTORS)
    return result


@jit
def meet_block(block, place, HEAD, BLOCKS, WARPS, THREADS, KEYS, TIMES, VECTORS):
    """All threads of a block that have not exited met at a barrier."""
    at = place * Z.N_BLOCK
    now = tick(HEAD)
    if BLOCKS[at + Z.B_LEARNED]:
        learned = BLOCKS[at + Z.B_VECTOR]
        for w in range(HEAD[Z.H_WARPS]):
            vector = _together(place, w, FULL, Z.T_VECTOR, HEAD, THREADS, KEYS, TIMES, VECTORS)
            learned = joined(learned, vector, HEAD, KEYS, TIMES, VECTORS)
        BLOCKS[at + Z.B_VECTOR] = learned
        BLOCKS[at + Z.B_LEARNED] = 0
        for thread in range(HEAD[Z.H_WARPS] * 32):
            THREADS[thread_at(HEAD, place, thread) + Z.T_VECTOR] = 0
    if BLOCKS[at + Z.B_FENCED]:
        published = BLOCKS[at + Z.B_PUBLISHED]
        least = now
        for w in range(HEAD[Z.H_WARPS]):
            lanes = _present(HEAD, w)
            vector = _published(Z.T_PUBLISHED, block, place, w, lanes, now, HEAD, WARPS, THREADS, KEYS, TIMES, VECTORS)
            published = joined(published, vector, HEAD, KEYS, TIMES, VECTORS)
            for l in range(32):
                if (lanes >> l) & 1:
                    thread = w * 32 + l
                    last = WARPS[warp_at(HEAD, place, w) + Z.W_LAST]
                    time = max(
                        THREADS[thread_at(HEAD, place, thread) + Z.T_PUBLISHED_TIME],
                        known(published, block, thread, KEYS, TIMES, VECTORS),
                    )
                    least = min(least, now if last < time or last == 0 else time)
        published = with_entry(published, block_key(block), least, HEAD, KEYS, TIMES, VECTORS)
        BLOCKS[at + Z.B_PUBLISHED] = published
        BLOCKS[at + Z.B_FENCED] = 0
    BLOCKS[at + Z.B_BASE] = now


@jit
def _present(HEAD, w):
    """Mask of the lanes of a warp that have a thread."""
    return (np.int64(1) << min(HEAD[Z.H_THREADS] - w * 32, 32)) - 1


@jit
def meet_some(block, place, first, HEAD, BLOCKS, WARPS, THREADS, ARRIVED, KEYS, TIMES, VECTORS):
    """Threads of some warps met at a barrier: their masks, and of those that waited, are in ARRIVED from *first* on."""
    now = tick(HEAD)
    learned = 0
    published = 0
    in_block = 0
    for w in range(HEAD[Z.H_WARPS]):
        lanes = ARRIVED[first + 2 * w]
        if lanes == 0:
            continue
        vector = _together(place, w, lanes, Z.T_VECTOR, HEAD, THREADS, KEYS, TIMES, VECTORS)
        learned = joined(learned, vector, HEAD, KEYS, TIMES, VECTORS)
        if lanes == _present(HEAD, w):
            learned = with_entry(learned, warp_key(block, w), now, HEAD, KEYS, TIMES, VECTORS)
        else:
            learned = with_entry(
                learned, warp_key(block, w), WARPS[warp_at(HEAD, place, w) + Z.W_BASE], HEAD, KEYS, TIMES, VECTORS
            )
            for l in range(32):
                if (lanes >> l) & 1:
                    learned = with_entry(learned, thread_key(block, w * 32 + l), now, HEAD, KEYS, TIMES, VECTORS)
        if HEAD[Z.H_FENCED]:
            vector = _published(Z.T_PUBLISHED, block, place, w, lanes, now, HEAD, WARPS, THREADS, KEYS, TIMES, VECTORS)
            published = joined(published, vector, HEAD, KEYS, TIMES, VECTORS)
            vector = _published(
                Z.T_PUBLISHED_BLOCK, block, place, w, lanes, now, HEAD, WARPS, THREADS, KEYS, TIMES, VECTORS
            )
            in_block = joined(in_block, vector, HEAD, KEYS, TIMES, VECTORS)
    for w in range(HEAD[Z.H_WARPS]):
        waited = ARRIVED[first + 2 * w + 1]
        _learn(place, w, waited, learned, published, in_block, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS)
        if waited == _present(HEAD, w) and waited == ARRIVED[first + 2 * w]:
            WARPS[warp_at(HEAD, place, w) + Z.W_BASE] = now


@jit
def _learn(place, w, lanes, learned, published, in_block, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS):
    """Lanes of a warp learn a vector, and what others have published."""
    for l in range(32):
        if (lanes >> l) & 1:
            at = thread_at(HEAD, place, w * 32 + l)
            learn(at, learned, HEAD, THREADS, KEYS, TIMES, VECTORS)
            before = THREADS[at + Z.T_PUBLISHED]
            THREADS[at + Z.T_PUBLISHED] = joined(before, published, HEAD, KEYS, TIMES, VECTORS)
            before = THREADS[at + Z.T_PUBLISHED_BLOCK]
            THREADS[at + Z.T_PUBLISHED_BLOCK] = joined(before, in_block, HEAD, KEYS, TIMES, VECTORS)
    if learned:
        BLOCKS[place * Z.N_BLOCK + Z.B_LEARNED] = 1


@jit
def learn(at, vector, HEAD, THREADS, KEYS, TIMES, VECTORS):
    """The thread whose row is *at* learns what a vector knows."""
    if vector != 0 and THREADS[at + Z.T_LAST] != vector:
        THREADS[at + Z.T_VECTOR] = joined(THREADS[at + Z.T_VECTOR], vector, HEAD, KEYS, TIMES, VECTORS)
        THREADS[at + Z.T_LAST] = vector


@jit
def meet_lanes(block, place, w, lanes, gone, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS):
    """Lanes of a warp met at a warp barrier; *gone*: lanes that have exited or never were."""
    now = tick(HEAD)
    at = warp_at(HEAD, place, w)
    if lanes | gone == FULL:
        WARPS[at + Z.W_BASE] = now
        WARPS[at + Z.W_PARTIAL] = 0
    else:
        rows = (place * HEAD[Z.H_WARPS] + w) * 1024
        if WARPS[at + Z.W_PARTIAL] == 0:
            WARPS[at + Z.W_PARTIAL] = 1
            for k in range(1024):
                KNOWN[rows + k] = WARPS[at + Z.W_BASE]
        for m in range(32):
            time = now
            if not (lanes >> m) & 1:
                time = np.int64(0)
                for l in range(32):
                    if (lanes >> l) & 1:
                        time = max(time, KNOWN[rows + l * 32 + m])
            for l in range(32):
                if (lanes >> l) & 1:
                    KNOWN[rows + l * 32 + m] = time
    if HEAD[Z.H_FENCED] or BLOCKS[place * Z.N_BLOCK + Z.B_LEARNED]:
        learned = _together(place, w, lanes, Z.T_VECTOR, HEAD, THREADS, KEYS, TIMES, VECTORS)
        published = 0
        in_block = 0
        if HEAD[Z.H_FENCED]:
            published = _published(
                Z.T_PUBLISHED, block, place, w, lanes, now, HEAD, WARPS, THREADS, KEYS, TIMES, VECTORS
            )
            in_block = _published(
                Z.T_PUBLISHED_BLOCK, block, place, w, lanes, now, HEAD, WARPS, THREADS, KEYS, TIMES, VECTORS
            )
        _learn(place, w, lanes, learned, published, in_block, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS)


@jit
def fence(block, place, w, lanes, scope, HEAD, BLOCKS, WARPS, KNOWN, THREADS, KEYS, TIMES, VECTORS):
    """Lanes publish what they know; *scope*: 0 for their block, more for the device."""
    now = tick(HEAD)
    at = place * Z.N_BLOCK
    warp = warp_at(HEAD, place, w)
    BLOCKS[at + Z.B_FENCED] |= np.int64(scope > 0)
    common = BLOCKS[at + Z.B_VECTOR]
    common = with_entry(common, block_key(block), BLOCKS[at + Z.B_BASE], HEAD, KEYS, TIMES, VECTORS)
    base = WARPS[warp + Z.W_BASE] if HEAD[Z.H_LANES] else now
    if base > BLOCKS[at + Z.B_BASE]:
        common = with_entry(common, warp_key(block, w), base, HEAD, KEYS, TIMES, VECTORS)
    own = np.int64(0)
    both = common
    for l in range(32):
        if not (lanes >> l) & 1:
            continue
        row = thread_at(HEAD, place, w * 32 + l)
        if THREADS[row + Z.T_VECTOR] != own:
            own = THREADS[row + Z.T_VECTOR]
            both = joined(common, own, HEAD, KEYS, TIMES, VECTORS)
        vector = both
        if WARPS[warp + Z.W_PARTIAL]:
            rows = ((place * HEAD[Z.H_WARPS] + w) * 32 + l) * 32
            for m in range(32):
                if KNOWN[rows + m] > base:
                    key = thread_key(block, w * 32 + m)
                    vector = with_entry(vector, key, KNOWN[rows + m], HEAD, KEYS, TIMES, VECTORS)
        before = THREADS[row + Z.T_PUBLISHED_BLOCK]
        THREADS[row + Z.T_PUBLISHED_BLOCK] = joined(before, vector, HEAD, KEYS, TIMES, VECTORS)
        THREADS[row + Z.T_PUBLISHED_BLOCK_TIME] = now
        if scope > 0:
            THREADS[row + Z.T_PUBLISHED] = joined(THREADS[row + Z.T_PUBLISHED], vector, HEAD, KEYS, TIMES, VECTORS)
            THREADS[row + Z.T_PUBLISHED_TIME] = now


@jit
def _address(offset, block):
    """The key of an address: for what is published to one block, and (block -1) to all."""
    return (offset >> 2) + 1 | (block + 1) << 34


@jit
def acquire(offset, block, place, thread, shared, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS, HASH):
    """A thread reads an address with an atomic or volatile access: it learns what was published there."""
    at = thread_at(HEAD, place, thread)
    before = THREADS[at + Z.T_VECTOR]
    learn(at, HASH[published_at(_address(offset, block), HASH) + 1], HEAD, THREADS, KEYS, TIMES, VECTORS)
    if not shared:
        learn(at, HASH[published_at(_address(offset, np.int64(-1)), HASH) + 1], HEAD, THREADS, KEYS, TIMES, VECTORS)
    if THREADS[at + Z.T_VECTOR] != before:
        BLOCKS[place * Z.N_BLOCK + Z.B_LEARNED] = 1


@jit
def leave(offset, block, place, thread, last, shared, HEAD, BLOCKS, THREADS, KEYS, TIMES, VECTORS, HASH):
    """A thread writes an address with an atomic or volatile access: what it has published stands there for others.

    *last*: when its warp accessed memory before.  Where that was before the fence, what is published takes in this
    access, too: whoever reads it comes after it (all writes of one address have an order), and so may reset a counter
    with a plain store.  Returns whether a fence was so near: the time has to tick then.
    """
    at = thread_at(HEAD, place, thread)
    key = thread_key(block, thread)
    vector = THREADS[at + Z.T_PUBLISHED_BLOCK]
    after = HEAD[Z.H_TIME] + 1
    time = THREADS[at + Z.T_PUBLISHED_BLOCK_TIME]
    near = time > last
    time = after if near else time
    _leave(_address(offset, block), vector, key, time, HEAD, KEYS, TIMES, VECTORS, HASH)
    if not shared:
        vector = joined(
            BLOCKS[place * Z.N_BLOCK + Z.B_PUBLISHED], THREADS[at + Z.T_PUBLISHED], HEAD, KEYS, TIMES, VECTORS
        )
        time = THREADS[at + Z.T_PUBLISHED_TIME]
        time = after if time > last else time
        _leave(_address(offset, np.int64(-1)), vector, key, time, HEAD, KEYS, TIMES, VECTORS, HASH)
    return near


ARRIVED = 4
"""From an mbarrier's address on: what those who arrive publish stands there until the phase ends."""


@jit
def end_phase(offset, block, HEAD, KEYS, TIMES, VECTORS, HASH):
    """Who asks for the phase of an mbarrier now learns what those who have arrived in this one published."""
    arrived = published_at(_address(offset + ARRIVED, block), HASH)
    vector = HASH[arrived + 1]
    HASH[arrived + 1] = 0
    at = _entry(_address(offset, block), HEAD, HASH)
    HASH[at + 1] = joined(HASH[at + 1], vector, HEAD, KEYS, TIMES, VECTORS)


@jit
def _entry(address, HEAD, HASH):
    """Where the vector that an address publishes stands in HASH."""
    at = published_at(address, HASH)
    if HASH[at] == 0:
        HASH[at] = address
        HEAD[Z.H_ADDRESSES] += 1
    return at


@jit
def _leave(address, vector, key, time, HEAD, KEYS, TIMES, VECTORS, HASH):
    if vector == 0 and time == 0:
        return
    at = _entry(address, HEAD, HASH)
    there = joined(HASH[at + 1], vector, HEAD, KEYS, TIMES, VECTORS)
    HASH[at + 1] = with_entry(there, key, time, HEAD, KEYS, TIMES, VECTORS)
