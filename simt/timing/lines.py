"""The lines, sectors and words that the 32 lanes of a request ask for."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import FULL, popcount
from simt.timing import layout as L
from simt.timing.caches import tag_bank
from simt.timing.jit import jit, jit_inline, jit_rare

SECTOR_BYTES = 32
OF_LANE = 128
"""Where in LANES the numbers of the lanes' lines begin."""
STORED = OF_LANE + 32
"""Where the words begin that a store writes of each line."""
HASH = np.int64(0x61C8864680B583EB)
"""Odd; its bits look like those of chance, so that lines any power of two apart have different hashes."""


@jit
def coalesce(ADDRESSES, size, LINES, MASKS, WORDS):
    """Distinct 128-byte lines of 32 addresses of *size* bytes each, and the sectors and 4-byte words of each.

    From OF_LANE on WORDS gets the number of each lane's line.  Idle lanes repeat another lane's address.  Whoever has a
    hash that none before it has is the first with its line.
    """
    n = 0
    own = (np.int64(1) << ((size + 3) >> 2)) - 1
    hashes = np.int64(0)
    for l in range(32):
        line = ADDRESSES[l] >> 7
        bit = np.int64(1) << ((ADDRESSES[l] >> 5) & 3)
        own_hash = np.int64(1) << (((line * HASH) >> 50) & 63)
        k = n - 1 if hashes & own_hash else -1
        while k >= 0 and LINES[k] != line:
            k -= 1
        if k < 0:
            k = n
            LINES[k] = line
            MASKS[k] = 0
            WORDS[k] = 0
            hashes |= own_hash
            n += 1
        WORDS[OF_LANE + l] = k
        MASKS[k] |= bit
        WORDS[k] |= own << ((ADDRESSES[l] >> 2) & 31)
    return n


@jit_inline
def interleave(ADDRESSES, place, t):
    """Let addresses of local memory, where each thread's data stand together, be as on hardware, of a block in *place*.

    There each word of a warp's 32 threads is a line.
    """
    start = t.CONFIG[L.G_LOCAL_AT] + place * t.CONFIG[L.G_LOCAL_EACH]
    stride = t.CONFIG[L.G_LOCAL_STRIDE]
    for l in range(32):
        thread = (ADDRESSES[l] - start) // stride
        byte = (ADDRESSES[l] - start) % stride
        line = (thread >> 5) * (stride >> 2) + (byte >> 2)
        ADDRESSES[l] = start + (line << 7) + ((thread & 31) << 2) + (byte & 3)


@jit_inline
def follow(n, words, each, t):
    """Have each of the *n* lines of a request, of which LANES knows *each*, followed by those of the next *words*.

    Returns how many lines that makes; of threads that want several words of different places each, the first 32 count.
    """
    words = min(words, 32 // max(n, 1))
    for k in range(n, n * words):
        t.LINES[k] = t.LINES[k - n] + 1
        t.MASKS[k] = t.MASKS[k - n]
        for lane in range(each):
            t.LANES[k * each + lane] = t.LANES[(k - n) * each + lane]
    return n * words


@jit
def most_in_bank(n, WORDS):
    """The most words in one bank: each delivers one a wavefront."""
    ones = twos = fours = eights = sixteens = thirty_twos = np.int64(0)  # bit k of these: digits of the words in bank k
    for k in range(n):
        carry = WORDS[k]
        ones, carry = ones ^ carry, ones & carry
        twos, carry = twos ^ carry, twos & carry
        fours, carry = fours ^ carry, fours & carry
        eights, carry = eights ^ carry, eights & carry
        sixteens, carry = sixteens ^ carry, sixteens & carry
        thirty_twos ^= carry
    most = np.int64(0)
    banks = np.int64(FULL)  # those that may have the most
    for digit in (thirty_twos, sixteens, eights, fours, twos, ones):
        among = banks & digit
        banks = among if among else banks
        most = 2 * most + (among != 0)
    return max(most, 1)


@jit
def most_in_tag_bank(n, LINES):
    """The most of *n* lines in one of the four tag banks: each looks up one a cycle.

    So the lines of an unaligned run conflict if the first is line 7 of 16.
    """
    tags = np.int64(0)  # 16 bits a tag bank
    for k in range(n):
        tags += np.int64(1) << (16 * tag_bank(LINES[k]))
    most = np.int64(0)
    for bank in range(4):
        most = max(most, (tags >> (16 * bank)) & 0xFFFF)
    return most


@jit
def count_words(ADDRESSES, n, LANES):
    """How many lanes store to each sector of the *n* lines, but for those at the address of lane 0 or the one before.

    Lanes that do not take part have the address that lane 0 has.
    """
    for k in range(n * 4):
        LANES[k] = 0
    for l in range(32):
        if l and (ADDRESSES[l] == ADDRESSES[l - 1] or ADDRESSES[l] == ADDRESSES[0]):
            continue
        k = LANES[OF_LANE + l]
        LANES[k * 4 + ((ADDRESSES[l] >> 5) & 3)] += 1


@jit_inline
def written_in_part(k, mask, size, LANES):
    """Bytes in each sector of *mask*, of line *k*, that lanes of *size* bytes leave incomplete: 8 bits a sector."""
    partial = np.int64(0)
    for sector in range(4):
        if (mask >> sector) & 1 and LANES[k * 4 + sector] * size < SECTOR_BYTES:
            partial |= np.int64(LANES[k * 4 + sector] * size) << (8 * sector)
    return partial


@jit_inline
def keep_words(n, LANES):
    """Keep the words of each of *n* lines, before something else is counted for these."""
    for k in range(n):
        LANES[STORED + k] = LANES[k]


@jit_inline
def stored_words(k, partial, LANES):
    """The words of line *k* that a store writes all of: none of sectors of *partial* bytes if some may be left out."""
    words = LANES[STORED + k]
    for sector in range(4):
        of = words >> (8 * sector) & 0xFF
        size = partial >> (8 * sector) & 0xFF
        if size and size < 4 * popcount(of):
            words &= ~(np.int64(0xFF) << (8 * sector))
    return words


@jit
def meetings(ADDRESSES, lanes):
    """The most lanes, of *lanes* that take part, that meet at one address.

    Lanes that do not take part repeat the address of the first that does, which lane 0 has in any case.
    """
    most = np.int64(1)
    for l in range(32):
        same = np.int64(0)
        for k in range(32):
            same += ADDRESSES[k] == ADDRESSES[l]
        if ADDRESSES[l] == ADDRESSES[0]:
            same -= 32 - lanes
        most = max(most, same)
    return most


@jit_inline
def _lanes_at(ADDRESSES, lanes, sector):
    """How many of *lanes* are at each of the eight words of a sector, in a byte each.

    Lanes that do not take part repeat the address that lane 0 has.
    """
    counts = np.int64(0)
    for l in range(32):
        if ADDRESSES[l] >> 5 == sector:
            counts += np.int64(1 - (32 - lanes) * (l == 0)) << (2 * (ADDRESSES[l] & 28))
    return counts


@jit_rare
def rounds(ADDRESSES, lanes, size, line, whole, part, again, halves):
    """What an SM sends for the atomics of *lanes*, *size* bytes each, on *line*, and how long L2 is busy with it.

    A round takes one lane of each word, so that a sector is sent as often as lanes meet at the word of it where most
    do.  Each round has a mask, too, but that of a lone lane.  L2 takes *whole* for a sector of which all words change,
    else *part*; with *halves* those of a sector follow each other.  The next for the same sector waits until *again*
    after the last.  Returns sectors and masks, cycles, how much more these are if only such requests come, and the most
    lanes at one word.
    """
    c0 = _lanes_at(ADDRESSES, lanes, 4 * line)
    c1 = _lanes_at(ADDRESSES, lanes, 4 * line + 1)
    c2 = _lanes_at(ADDRESSES, lanes, 4 * line + 2)
    c3 = _lanes_at(ADDRESSES, lanes, 4 * line + 3)
    w0 = w1 = w2 = w3 = 0.0  # how long such requests take if they wait for each of these
    sent = most = np.int64(0)
    busy = 0.0
    there = np.int64(32)
    while there:
        there = sectors = np.int64(0)
        for _ in range(4):
            low = high = np.int64(0)
            for byte in range(0, SECTOR_BYTES, size):
                if (c0 >> (2 * byte)) & 63 > most:
                    low += byte < SECTOR_BYTES // 2
                    high += byte >= SECTOR_BYTES // 2
            if low + high:
                twice = halves and low and high
                busy += 2.0 * whole if twice else whole if (low + high) * size == SECTOR_BYTES else part
                w0 += whole + again if twice else again
                there += low + high
                sectors += 1
            c0, c1, c2, c3 = c1, c2, c3, c0
            w0, w1, w2, w3 = w1, w2, w3, w0
        sent += sectors + (there > 1)
        most += there > 0
    return sent, busy, max(w0 - busy, w1 - busy, w2 - busy, w3 - busy, 0.0), most


@jit
def distinct_words(ADDRESSES):
    """How many 4-byte words the lanes ask for, of which idle ones repeat what another one does."""
    count = np.int64(0)
    for l in range(32):
        word = ADDRESSES[l] >> 2
        k = 0
        while ADDRESSES[k] >> 2 != word:
            k += 1
        count += k == l
    return count
