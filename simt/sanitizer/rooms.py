"""Whether the judges' pools have room for the next event.  Plain functions: the host asks, too."""

from __future__ import annotations

from typing import Any

from simt.sanitizer import layout as Z

READERS_FREE = 2 * 16 * 32 + 2 + 3 * 32 * Z.MOST_READERS
"""Rows of READERS that one event takes at most, and more: each lane two for each of 16 bytes, and copies of a list for
three more bytes."""
ROWS_FREE = 32 * 4 + 1
"""Rows of BYTES that one event takes at most: each lane four."""
VECTORS_FREE, JOINS = 4096, 256
"""Vectors that one event makes at most, and joins of the longest ones."""
THREADS_ENTRIES, FEW_ENTRIES = 33, 64
"""Entries for a warp and its threads, and some more."""


def readers_fit(HEAD: Any, READERS: Any) -> Any:
    """Whether there is room for the next event in a pool; so with the others."""
    return len(READERS) - HEAD[Z.H_READERS] * Z.N_READER > READERS_FREE * Z.N_READER


def rows_fit(HEAD: Any, BYTES: Any) -> Any:
    return HEAD[Z.H_FINE] == 0 or len(BYTES) - HEAD[Z.H_ROWS] * 4 * Z.N_CELL > ROWS_FREE * 4 * Z.N_CELL


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
