"""Room in the judges' arrays: larger ones where they are nearly full; vectors that nobody needs any more go."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.sanitizer import layout as Z
from simt.sanitizer.layout import Judge
from simt.sanitizer.live_rows import interning_table, with_rows
from simt.sanitizer.rooms import (
    FEW_ENTRIES,
    JOINS,
    PATTERNS_FREE,
    SETS_FREE,
    THREADS_ENTRIES,
    VECTORS_FREE,
    addresses_fit,
    entries_fit,
    patterns_fit,
    places_fit,
    sets_fit,
    vectors_fit,
)
from simt.sanitizer.vectors import slot_of

Words = npt.NDArray[np.int64]

FIRST_PLACES = 2
"""Blocks that there is room for at first: one that runs, and the next one."""
BY_PLACE = ("BLOCKS", "WARPS", "KNOWN", "THREADS", "BARRIERS", "ARRIVED", "REGISTERS")
CELLS_A_ROW = 16
"""Cells for which there is a row of SETS and of PATTERNS at first: all cells are looked through to free rows."""
_OF_BLOCKS = (Z.B_VECTOR, Z.B_PUBLISHED)
_OF_THREADS = (Z.T_VECTOR, Z.T_LAST, Z.T_PUBLISHED, Z.T_PUBLISHED_BLOCK)


def words(count: int) -> Words:
    """Zeros, at least one."""
    return np.zeros(max(count, 1), np.int64)


def tables(cells: int) -> dict[str, Words]:
    """Empty tables for what cells of memory refer to, of which there are so many; racecheck writes to them."""
    return {
        "SETS": interning_table(max(2 * SETS_FREE, cells // CELLS_A_ROW), Z.N_READER),
        "PATTERNS": interning_table(max(2 * PATTERNS_FREE, cells // CELLS_A_ROW), Z.N_PATTERN),
    }


def pools(warps: int) -> dict[str, Words]:
    """Empty pools for blocks of so many warps, with room for an event."""
    entries = 2 * JOINS * (warps * THREADS_ENTRIES + FEW_ENTRIES) + 2
    return {
        "BYTES": words(Z.N_PATTERN),
        "SCRATCH": words(Z.N_PATTERN + 2 * Z.MOST_READERS),
        "KEYS": words(entries),
        "TIMES": words(entries),
        "VECTORS": words(4 * VECTORS_FREE + 4),
        "HASH": words(1 << 10),
    }


def with_room(state: Judge) -> Judge:
    """The same with room for the next event in every pool."""
    if not sets_fit(state.HEAD, state.SETS) or not patterns_fit(state.HEAD, state.PATTERNS):
        state = with_rows(state)
    if not places_fit(state.HEAD, state.BLOCKS):
        state = _more_places(state)
    if not addresses_fit(state.HEAD, state.HASH):
        state = state._replace(HASH=_rehashed(state.HASH))
    if not vectors_fit(state.HEAD, state.VECTORS) or not entries_fit(state.HEAD, state.KEYS):
        _compact(state)
    # Twice as much as would do: else a pool that is full of what is needed would be compacted again at once.
    while not vectors_fit(state.HEAD, state.VECTORS[: len(state.VECTORS) // 2]):
        state = state._replace(VECTORS=_doubled(state.VECTORS))
    while not entries_fit(state.HEAD, state.KEYS[: len(state.KEYS) // 2]):
        state = state._replace(KEYS=_doubled(state.KEYS), TIMES=_doubled(state.TIMES))
    return state


def _doubled(table: Words) -> Words:
    return np.concatenate([table, np.zeros_like(table)])


def _more_places(state: Judge) -> Judge:
    """Room for twice as many blocks that run together."""
    state = state._replace(**{name: _doubled(getattr(state, name)) for name in BY_PLACE})
    chain_places(state.BLOCKS, len(state.BLOCKS) // Z.N_BLOCK // 2)
    return state


def chain_places(blocks: Words, first: int) -> None:
    """Make places for blocks, from number *first* on, a list of free ones."""
    table = blocks.reshape(-1, Z.N_BLOCK)
    table[first:, Z.B_NEXT] = np.arange(first + 1, len(table) + 1)


def _rehashed(table: Words) -> Words:
    larger = words(2 * len(table))
    with np.errstate(over="ignore"):  # the hash wraps around
        for address, vector in table.reshape(-1, 2)[table[::2] != 0]:
            at = slot_of(address, larger)
            larger[at], larger[at + 1] = address, vector
    return larger


def _compact(state: Judge) -> None:
    """Forget vectors that nobody refers to, and number the others anew."""
    blocks, threads = state.BLOCKS.reshape(-1, Z.N_BLOCK), state.THREADS.reshape(-1, Z.N_THREAD)
    columns = [
        *(blocks[:, field] for field in _OF_BLOCKS),
        *(threads[:, field] for field in _OF_THREADS),
        state.HASH[1::2],
    ]
    live = np.unique(np.concatenate([[0], *columns]))
    table = state.VECTORS.reshape(-1, 2)
    end = longest = 0
    for number, vector in enumerate(live):
        first, size = (int(value) for value in table[vector])
        state.KEYS[end : end + size] = state.KEYS[first : first + size].copy()
        state.TIMES[end : end + size] = state.TIMES[first : first + size].copy()
        table[number] = end, size
        end += size
        longest = max(longest, size)
    for column in columns:
        column[:] = np.searchsorted(live, column)
    state.HEAD[Z.H_VECTORS], state.HEAD[Z.H_ENTRIES], state.HEAD[Z.H_LONGEST] = len(live) - 1, end, longest
