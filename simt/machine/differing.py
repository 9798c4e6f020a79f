"""What differs between two arrays, part by part: compiled, as both may be larger than the host's caches."""

from __future__ import annotations

import numpy as np

from simt.ops.jit import jit

WORDS = 1 << 8
"""Words of 8 bytes in a part: what blocks of a reduction write lies apart."""
FEW = 4
"""If more than one in so many parts differ, it costs less to copy all of them than to look for those that do."""


@jit
def differing(OURS, THEIRS, NUMBERS, many):
    """How many parts of two arrays of uint64 differ; NUMBERS begins with their numbers.

    After *many* that do, and more than one in FEW of those looked at, the others count as different, too.
    """
    found = 0
    for part in range(len(OURS) // WORDS):
        bits = np.uint64(found >= many and found * FEW > part)
        if bits == 0:
            for word in range(part * WORDS, (part + 1) * WORDS):
                bits |= OURS[word] ^ THEIRS[word]
        if bits != 0:
            NUMBERS[found] = part
            found += 1
    return found


@jit
def exchange(OURS, THEIRS, NUMBERS, HELD):
    """Keep the parts NUMBERS of OURS in HELD, and put those of THEIRS in their place."""
    for k in range(len(NUMBERS)):
        first = NUMBERS[k] * WORDS
        for word in range(WORDS):
            HELD[k * WORDS + word] = OURS[first + word]
            OURS[first + word] = THEIRS[first + word]


@jit
def put(THEIRS, NUMBERS, HELD):
    """Put what HELD keeps into the parts NUMBERS of THEIRS."""
    for k in range(len(NUMBERS)):
        for word in range(WORDS):
            THEIRS[NUMBERS[k] * WORDS + word] = HELD[k * WORDS + word]
