"""Pictures of memory accesses: which lanes of a request use which words of which sectors, or of which banks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from simt.check.errors import lanes_text
from simt.reasons import Accesses
from simt.reasons.accesses import BANKS, SECTOR, Request, in_words

MOST_PICTURES, MOST_ROWS = 12, 33
"""Requests of a profile, and sectors (or rows of banks) of a request, that are drawn."""

WORD = 4


@dataclass(frozen=True)
class Picture:
    """One request: a row for each sector of 8 words, or for each row of 32 banks, that a lane touches.

    A row is its label and, for each word, the lanes that use it ("" for none).  ``conflicts``: columns (banks) in which
    lanes use more than one row.
    """

    place: str
    code: str
    what: str
    words: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    conflicts: frozenset[int]
    rows_left_out: int

    @property
    def is_banked(self) -> bool:
        """Whether it is of shared memory."""
        return len(self.columns) == BANKS


def pictures(accesses: Accesses) -> tuple[list[Picture], int]:
    """The requests that take most beyond the least possible, in the order of the code; and how many are left out."""
    ranked = sorted(accesses.requests, key=lambda request: -request.excess)[:MOST_PICTURES]
    chosen = [request for request in accesses.requests if any(request is each for each in ranked)]
    return [_picture(accesses, request) for request in chosen], len(accesses.requests) - len(chosen)


def _picture(accesses: Accesses, request: Request) -> Picture:
    entry = accesses.program.listing[request.line]
    in_source = accesses.program.view == "source"
    place = f"line {entry.number}" if in_source else f"{entry.number:#06x}"
    if entry.source is not None:
        place += f", line {entry.source[1]}"
    banked = request.space == "shared"
    width = BANKS if banked else SECTOR // WORD
    rows: defaultdict[int, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for lane, word in _words(request):
        rows[word // width][word % width] |= 1 << lane
    first = min(rows) * width * WORD
    shown = sorted(rows)[:MOST_ROWS]
    ways = [sum(column in rows[row] for row in rows) for column in range(width)]
    return Picture(
        place=place,
        code=entry.text.strip(),
        what=f"{request.space} {request.direction}, {request.size} bytes a lane",
        words=in_words(request),
        columns=tuple(str(column) if banked else f"+{WORD * column}" for column in range(width)),
        rows=tuple(
            (_label(row, width, first, banked), tuple(_lanes(rows[row][column]) for column in range(width)))
            for row in shown
        ),
        conflicts=frozenset(column for column in range(width) if ways[column] > 1) if banked else frozenset(),
        rows_left_out=len(rows) - len(shown),
    )


def _words(request: Request) -> Iterator[tuple[int, int]]:
    """Lane and number of each 4-byte word that it uses."""
    for lane, address in zip(request.lanes.tolist(), request.addresses.tolist(), strict=True):
        for word in range(address // WORD, (address + request.size - 1) // WORD + 1):
            yield lane, word


def _label(row: int, width: int, first: int, banked: bool) -> str:
    """The row's first byte: in shared memory its offset, else counted from the first sector of the request."""
    start = row * width * WORD
    return f"{start:#06x}" if banked else f"+{start - first}"


def _lanes(mask: int) -> str:
    return lanes_text(mask) if mask else ""
