"""Whether the judges' pools have room for the next event.  Plain functions: the host asks, too."""

from __future__ import annotations

from typing import Any

from simt.sanitizer import layout as Z

SETS_FREE = 32 * 16 * (Z.MOST_READERS + 1)
"""Rows of SETS that one event takes at most: each lane a whole set and one reader more, for each of 16 bytes."""
PATTERNS_FREE = 32 * 4
"""Rows of PATTERNS that one event takes at most: each lane four words."""
VECTORS_FREE, JOINS = 4096, 256
"""Vectors that one event makes at most, and joins of the longest ones."""
THREADS_ENTRIES, FEW_ENTRIES = 33, 64
"""Entries for a warp and its threads, and some more."""


def sets_fit(HEAD: Any, SETS: Any) -> Any:
    """Whether there is room for the next event in a pool; so with the others."""
    return len(SETS) // (Z.N_READER + 2) - HEAD[Z.H_SETS] > SETS_FREE


def patterns_fit(HEAD: Any, PATTERNS: Any) -> Any:
    return len(PATTERNS) // (Z.N_PATTERN + 2) - HEAD[Z.H_PATTERNS] > PATTERNS_FREE


def vectors_fit(HEAD: Any, VECTORS: Any) -> Any:
    return len(VECTORS) - 2 * HEAD[Z.H_VECTORS] > 2 * VECTORS_FREE


def entries_fit(HEAD: Any, KEYS: Any) -> Any:
    return len(KEYS) - HEAD[Z.H_ENTRIES] > JOINS * (HEAD[Z.H_LONGEST] + HEAD[Z.H_WARPS] * THREADS_ENTRIES + FEW_ENTRIES)


def addresses_fit(HEAD: Any, HASH: Any) -> Any:
    return len(HASH) > 4 * (HEAD[Z.H_ADDRESSES] + 64)


def time_fits(HEAD: Any) -> Any:
    """Whether the clock can go on: a system call or an event ticks a few times at most."""
    return HEAD[Z.H_TIME] < (1 << Z.TIME_BITS) - 256


def places_fit(HEAD: Any, BLOCKS: Any) -> Any:
    return HEAD[Z.H_FREE_SLOT] * Z.N_BLOCK < len(BLOCKS)
