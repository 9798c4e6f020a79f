"""Rows of SETS and PATTERNS that no cell refers to any more go; where too many are left the tables get larger."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from simt.sanitizer import layout as Z
from simt.sanitizer.layout import Judge
from simt.sanitizer.rooms import PATTERNS_FREE, SETS_FREE

Words = npt.NDArray[np.int64]
Places = list[tuple[Words, npt.NDArray[np.intp]]]
"""Columns, and where in them numbers of rows stand."""

_LIST = Z.LIST << Z.READ_SHIFT
_NUMBER = ((1 << Z.NUMBER_BITS) - 1) << Z.NUMBER_SHIFT
_AT_ONCE = 1 << 20
"""Cells that are looked through at a time."""


def interning_table(rows: int, width: int) -> Words:
    """An empty table for at least so many rows (see :mod:`simt.sanitizer.interning`)."""
    return np.zeros((1 << (rows - 1).bit_length()) * (width + 2), np.int64)


def with_rows(state: Judge) -> Judge:
    """The same with room for the rows of the next event.  The judges fill the slots of the tables."""
    more = state.CELLS.reshape(-1, Z.N_CELL)[:, Z.C_MORE]
    parts = [more[first : first + _AT_ONCE] for first in range(0, len(more), _AT_ONCE)]
    split = _places(parts, Z.SPLIT)
    live = np.unique(np.concatenate([[0], *(_numbers(*place) for place in split)]))
    before = _rows(state.PATTERNS, Z.N_PATTERN)
    patterns = before[live]
    _renumber(split, live)
    listed = _places([*parts, patterns.reshape(-1, Z.N_CELL)[:, Z.C_MORE]], _LIST)
    rows = _rows(state.SETS, Z.N_READER)
    live = _reached(np.concatenate([[0], *(_numbers(*place) for place in listed)]), rows[:, Z.Q_NEXT])
    sets = rows[live]
    sets[:, Z.Q_NEXT] = np.searchsorted(live, sets[:, Z.Q_NEXT])
    _renumber(listed, live)
    state.HEAD[Z.H_SETS], state.HEAD[Z.H_PATTERNS], state.HEAD[Z.H_UNFILED] = len(sets) - 1, len(patterns) - 1, 1
    return state._replace(
        SETS=_table(sets, SETS_FREE, len(rows)), PATTERNS=_table(patterns, PATTERNS_FREE, len(before))
    )


def _rows(table: Words, width: int) -> Words:
    return table[: len(table) // (width + 2) * width].reshape(-1, width)


def _places(columns: Iterable[Words], bit: int) -> Places:
    """Where a bit of C_MORE says that it has a number."""
    return [(column, at) for column in columns if (at := np.flatnonzero(column & bit)).size]


def _numbers(column: Words, at: npt.NDArray[np.intp]) -> Words:
    return (column[at] & _NUMBER) >> Z.NUMBER_SHIFT


def _renumber(places: Places, live: Words) -> None:
    """Rows have as their number their place in *live* now."""
    for column, at in places:
        column[at] = column[at] & ~_NUMBER | np.searchsorted(live, _numbers(column, at)) << Z.NUMBER_SHIFT


def _reached(first: Words, following: Words) -> Words:
    """Some rows and all that follow them in their lists, sorted; row 0 follows the last one."""
    reached = np.zeros(len(following), bool)
    while first.size:
        reached[first] = True
        first = np.unique(following[first])
        first = first[~reached[first]]
    return np.flatnonzero(reached)


def _table(rows: Words, free: int, capacity: int) -> Words:
    """A table with these rows, and room for twice what one event takes: else it would be full again at once."""
    while capacity < 2 * (len(rows) + free):
        capacity *= 2
    table = interning_table(capacity, rows.shape[1])
    table[: rows.size] = rows.reshape(-1)
    return table
