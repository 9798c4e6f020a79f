"""Instructions gathered under the source line that they come from."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Protocol


class Counted(Protocol):
    """A listing line that says where it comes from: one of a Profile, of the hardware, or of a saved profile."""

    @property
    def source(self) -> tuple[str, int] | None:
        """(File, line) of the source, where known."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Counts by name; a name that is missing counts 0."""


@dataclass(frozen=True)
class SourceLine:
    """A source line with the sums of its instructions; ``members`` are their indices, in address order.
    ``source`` is None for the instructions that come from no line; ``text`` is empty if the file is not here.
    """

    source: tuple[str, int] | None
    text: str
    members: tuple[int, ...]
    counters: Mapping[str, int]

    @property
    def place(self) -> str:
        """``reduction.py:34``."""
        return "no source line" if self.source is None else f"{PurePath(self.source[0]).name}:{self.source[1]}"


def fold(
    lines: Sequence[Counted], code: str = "", texts: Mapping[tuple[str, int], str] = MappingProxyType({})
) -> list[SourceLine]:
    """The source lines of *lines*: files in order of appearance, lines ascending, those without a line last.

    ``code``: the file with the machine code, beside which sources are looked for.  ``texts``: of lines that are known
    without their files.
    """
    members: dict[tuple[str, int] | None, list[int]] = {}
    for index, line in enumerate(lines):
        members.setdefault(line.source, []).append(index)
    files = list(dict.fromkeys(source[0] for source in members if source is not None))
    order = sorted(
        members, key=lambda source: (len(files), 0) if source is None else (files.index(source[0]), source[1])
    )
    return [
        SourceLine(
            source,
            (source and texts.get(source)) or line_text(source, code),
            tuple(members[source]),
            add([lines[k].counters for k in members[source]]),
        )
        for source in order
    ]


def line_text(source: tuple[str, int] | None, code: str = "") -> str:
    """The text of a source line; empty if its file is not here.

    A file that is not where the compiler found it is looked for beside *code*, the file with the machine code, and in
    the folder above.
    """
    if source is None:
        return ""
    path, number = source
    if not Path(path).is_file() and code:
        folder = Path(code).resolve().parent
        near = [place / PurePath(path).name for place in (folder, folder.parent)]
        path = next((str(each) for each in near if each.is_file()), path)
    return linecache.getline(path, number).rstrip()


def add(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The sums by name; a name that is missing counts 0."""
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}
