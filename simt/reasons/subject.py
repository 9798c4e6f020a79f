"""What a profile says of its instructions: lines, and in each line the instructions that run equally often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from pathlib import PurePath
from typing import Any

from simt.metrics.formula import Number
from simt.metrics.table import SOURCE
from simt.profile import Profile
from simt.profile.compare import opcode_of, side_of
from simt.profile.counters import COUNTER_NAMES, operation_table
from simt.profile.fold import add, line_text
from simt.profile.sides import Side
from simt.program import Program
from simt.reasons.causes import STALLED, derived

LineKey = tuple[str, int]
"""A source line: name of the file, number.  Another side may have found the file in another folder."""

Patterns = Mapping[LineKey, Mapping[str, str]]
"""How lines access memory, in words, by prefix of the counters (``global_load``)."""


def key_of(program: Program, line: int) -> LineKey:
    """The source line of a listing line; without line information, its offset in the code."""
    entry = program.listing[line]
    path, number = entry.source or (entry.file if program.view == SOURCE else "", entry.number)
    return PurePath(path).name, number


@dataclass(frozen=True, eq=False)
class Row:
    """One instruction; of a saved profile of the source view, one line, whose instructions cannot be told apart.

    ``counters`` are those of a profile, what :func:`~simt.reasons.causes.derived` adds, and ``stalled_*``.
    """

    text: str
    opcode: str
    source: tuple[str, int] | None
    offset: int | None
    counters: Mapping[str, int]
    is_line: bool = False

    @property
    def executions(self) -> int:
        """How many times a warp executed it."""
        return self.counters.get("inst_executed", 0)


@dataclass(frozen=True, eq=False)
class Group:
    """The instructions of a place that are executed equally often."""

    rows: tuple[Row, ...]

    @cached_property
    def counters(self) -> Mapping[str, int]:
        """Sums."""
        return add([row.counters for row in self.rows])

    @property
    def executions(self) -> int:
        """How many times a warp executed each."""
        return self.rows[0].executions

    @property
    def instructions(self) -> int | None:
        """How many there are, where that is known."""
        return None if self.rows[0].is_line else len(self.rows)

    @property
    def opcodes(self) -> tuple[str, ...]:
        """What they are."""
        return tuple(row.opcode for row in self.rows)

    @property
    def lanes(self) -> Fraction:
        """Active lanes of an average execution."""
        return Fraction(self.counters.get("thread_inst_executed", 0), max(self.counters.get("inst_executed", 0), 1))


@dataclass(frozen=True, eq=False)
class Place:
    """A source line; where none is known, a stretch of machine code that runs equally often.

    ``number`` is the line's, or None for a stretch.  ``label`` is ``line 6`` or ``0x0100 to 0x0240``.
    """

    label: str
    file: str
    number: int | None
    text: str
    groups: tuple[Group, ...]

    @cached_property
    def counters(self) -> Mapping[str, int]:
        """Sums."""
        return add([group.counters for group in self.groups])

    @property
    def opcodes(self) -> tuple[str, ...]:
        """What its instructions are, in groups."""
        return tuple(opcode for group in self.groups for opcode in group.opcodes)

    def pattern(self, patterns: Patterns, prefix: str) -> str:
        """How it accesses memory, where that is known."""
        return patterns.get((self.file, self.number or -1), {}).get(prefix, "")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"file": self.file, "line": self.number, "label": self.label, "text": self.text}


@dataclass(frozen=True)
class Subject:
    """One of the profiles to explain: totals, which may lack some, and places in the order of the code."""

    side: Side
    totals: Mapping[str, Number]
    places: tuple[Place, ...]
    profile: Profile | None = None
    """The profile itself, if it was not saved."""

    @property
    def has_source_lines(self) -> bool:
        """Whether any of its instructions comes from a known line."""
        return any(place.number is not None for place in self.places)


def subject_of(profile: Any) -> Subject:
    """The subject that a profile, a hardware profile or what one saved is.  Raises UnusableProfileError."""
    side = side_of(profile)
    rows = list(_rows(profile, side))
    totals: dict[str, Number] = dict(side.counters)
    if isinstance(profile, Profile):
        totals |= {"resident_warps": profile.occupancy.warps_per_sm, "max_warps": profile.occupancy.max_warps_per_sm}
        totals |= {} if profile.timing is None else profile.timing.inputs
    return Subject(side, totals, tuple(_places(rows, side)), profile if isinstance(profile, Profile) else None)


def _rows(profile: Any, side: Side) -> Iterator[Row]:
    """The rows that counted anything."""
    if isinstance(profile, Profile) and side.is_source:
        yield from _operations(profile)
        return
    timing = profile.timing if isinstance(profile, Profile) else None
    timed = [] if timing is None else [_waits(timing.reasons, row) for row in timing.lines.tolist()]
    for k, line in enumerate(side.lines):
        waits = timed[k] if timed else _waits(list(line.stalls), list(line.stalls.values()))
        counters = {**line.counters, **waits}
        if any(counters.values()):
            offset = None if side.is_source else int(line.position, 16)
            counters |= derived(counters)
            yield Row(line.text, opcode_of(line.text), line.source, offset, counters, side.is_source)


def _waits(reasons: Sequence[str], cycles: Sequence[int]) -> dict[str, int]:
    """Warp-cycles by the names of counters."""
    return {STALLED + reason: count for reason, count in zip(reasons, cycles, strict=True) if count}


def _operations(profile: Profile) -> Iterator[Row]:
    """The micro-ops of the source view, which a saved profile does not have."""
    program = profile.program
    table = operation_table(program, profile.result.counters)
    timing = profile.timing
    for k, (instruction, row) in enumerate(zip(program.instructions, table, strict=True)):
        waits = {} if timing is None else _waits(timing.reasons, timing.stalls[k].tolist())
        if row.any() or waits:
            line = program.listing[instruction.line]
            counters = {name: count for name, count in zip(COUNTER_NAMES, row.tolist(), strict=True) if count} | waits
            counters |= derived(counters)
            yield Row(line.text, instruction.op, (line.file, line.number), None, counters)


def _places(rows: Sequence[Row], side: Side) -> Iterator[Place]:
    members: dict[tuple[str, int] | None, list[Row]] = {}
    for row in rows:
        members.setdefault(row.source, []).append(row)
    files = list(dict.fromkeys(source[0] for source in members if source))
    listed = {line.source: line.text for line in side.lines} if side.is_source else side.sources
    for source in sorted((each for each in members if each), key=lambda each: (files.index(each[0]), each[1])):
        path, number = source
        name = PurePath(path).name
        text = listed.get(source, "") or line_text(source, side.file)
        label = f"line {number}" if len(files) == 1 else f"{name}:{number}"
        yield Place(label, name, number, text.strip(), tuple(_groups(members[source])))
    for _, stretch in groupby(members.get(None, ()), key=lambda row: row.executions):
        found = tuple(stretch)
        ends = [f"{row.offset:#06x}" for row in (found[0], found[-1]) if row.offset is not None]
        label = " to ".join(dict.fromkeys(ends)) or "no line"
        yield Place(label, "", None, "", (Group(found),))


def _groups(rows: Iterable[Row]) -> Iterator[Group]:
    """Rows by executions, in order of appearance."""
    alike: dict[int, list[Row]] = {}
    for row in rows:
        alike.setdefault(row.executions, []).append(row)
    for members in alike.values():
        yield Group(tuple(members))
