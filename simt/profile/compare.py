"""Two profiles side by side: :func:`compare`.

Either may be a :class:`~simt.profile.Profile`, a profile of the hardware, or what one of them saved as JSON.  What
is beside what:

* two listings of one kind of code (both source, or both of one architecture): line beside line, those that are
  alike beside each other;
* otherwise, where both know their source lines: sums per source line;
* otherwise, machine code of two architectures: sums per opcode.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from simt.check import SimtError, check_no_pipe
from simt.metrics.formula import Number
from simt.metrics.table import METRICS, SOURCE
from simt.profile.difference_text import render
from simt.profile.fold import fold
from simt.profile.sides import COMPARED, MEASURED, WAYS, By, Line, LineRow, MetricRow, Side, compared
from simt.text import to_text


class UnusableProfileError(SimtError):
    """A saved profile cannot be read, or not compared as requested."""

    kind = "the profile cannot be used"


@dataclass(frozen=True)
class Difference:
    """What :func:`compare` found.  ``by`` says what stands beside what; ``str()`` is the table."""

    a: Side
    b: Side
    by: By
    metrics: tuple[MetricRow, ...]
    lines: tuple[LineRow, ...] = field(repr=False)

    @property
    def same_counts(self) -> bool:
        """Whether the instruction counts of both sides count the same thing: two source or two machine views."""
        return self.a.is_source == self.b.is_source

    @cached_property
    def differing(self) -> tuple[LineRow, ...]:
        """The rows in which some counter differs."""
        return tuple(row for row in self.lines if row.differing)

    @property
    def equal(self) -> bool:
        """Whether every counter of every line is the same on both sides."""
        return self.same_counts and not self.differing

    def to_dict(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and texts."""
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "by": self.by,
            "equal": self.equal,
            "metrics": [row.to_dict() for row in self.metrics],
            "lines": [row.to_dict() for row in self.lines],
        }

    def render(
        self, columns: Sequence[str] | None = None, *, width: int | None = None, color: bool | None = None
    ) -> str:
        """Metrics, then lines, both sides beside each other; lines that differ are marked ``!``.

        ``columns``: counters of :data:`COMPARED` to show beside the lines; by default the executed instructions,
        and divergent branches and sectors where there are any.  ``width``: columns to fit into, below 140 with the
        lines of the two sides below each other; None: as wide as it is.  ``color`` as in
        :meth:`simt.Profile.annotate`.
        """
        return to_text(render(self, columns, width), color)

    def __str__(self) -> str:
        return self.render()


def compare(a: Any, b: Any, by: By | None = None) -> Difference:
    """Put two profiles side by side.

    *a* and *b* are profiles of :func:`simt.launch` or of the hardware, or the mapping that they save
    (``to_dict()``).  ``by``: ``"listing"``, ``"line"`` (of the source) or ``"opcode"``; by default what fits, see
    above.

    Raises UnusableProfileError for something that is not a profile, and where *by* does not apply.
    """
    left, right = side_of(a), side_of(b)
    way = by or _way(left, right)
    pairs = {"listing": _by_listing, "line": _by_source_line, "opcode": _by_opcode}.get(way)
    if pairs is None:
        raise UnusableProfileError(f"profiles cannot be compared by {way!r}", help=f"ways: {', '.join(WAYS)}")
    return Difference(left, right, way, tuple(_metric_rows(left, right)), tuple(pairs(left, right)))


def load(path: str | Path) -> Mapping[str, Any]:
    """A profile that was saved as JSON, for :func:`compare`.  Raises UnusableProfileError."""
    check_no_pipe(Path(path))
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnusableProfileError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # brackets in brackets, a thousand deep
        raise UnusableProfileError(f"{path} is not JSON: {error}", help=_HOW_TO_SAVE) from None
    try:
        side_of(found)
    except UnusableProfileError as error:
        raise UnusableProfileError(f"{path}: {error.title}", help=error.help) from None
    return dict(found)


_HOW_TO_SAVE = "save one with `simt run KERNEL --json > FILE`, or Profile.to_json()"


def side_of(profile: Any) -> Side:
    """What is compared of a profile, or of what one saved.  Raises UnusableProfileError."""
    saved = profile if isinstance(profile, Mapping) else getattr(profile, "to_dict", dict)()
    try:
        view = str(saved["view"])
        return Side(
            kernel=str(saved["kernel"]),
            view=view,
            origin=_origin(saved),
            grid=tuple(map(int, saved["grid"])),
            block=tuple(map(int, saved["block"])),
            metrics={name: _number(value) for name, value in saved["metrics"].items()},
            lines=tuple(_line(entry, view) for entry in saved["lines"]),
            file=next((str(entry.get("file", "")) for entry in saved["lines"]), ""),
            counters={str(name): int(value) for name, value in saved.get("counters", {}).items()},
            sources={(str(file), int(line)): str(text) for file, line, text in saved.get("sources", ())},
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise UnusableProfileError("this is not a profile of one launch", help=_HOW_TO_SAVE) from None


def _number(value: Any) -> Number | None:
    if value is not None and not isinstance(value, int | float):
        raise TypeError(value)
    return value


def _origin(saved: Mapping[str, Any]) -> str:
    if "profiler" in saved:
        return f"{MEASURED}{saved['device']['name']}, {saved['profiler']}"
    timed = f", timed on {saved['timing']['device']}" if saved.get("timing") else ""
    if saved["view"] == SOURCE:
        return f"simulated, operations of the Python source{timed}"
    return f"simulated, {saved['toolchain']}{timed}" if saved.get("toolchain") else f"simulated{timed}"


def _line(entry: Mapping[str, Any], view: str) -> Line:
    counters = {str(name): int(value) for name, value in entry["counters"].items()}
    stalls = {str(name): int(value) for name, value in entry.get("stalls", {}).items()}
    text = str(entry["text"]).rstrip()
    where: dict[str, Any] = {name: str(entry.get(name, "")) for name in ("file", "function")}
    where["accesses"] = {str(name): int(value) for name, value in entry.get("accesses", {}).items()}
    if view == SOURCE:
        number = int(entry["number"])
        return Line(str(number), text, counters, (str(entry["file"]), number), stalls, **where)
    source = entry.get("source")
    place = (str(source[0]), int(source[1])) if source else None
    return Line(f"{int(entry['offset']):#06x}", text, counters, place, stalls, **where)


def _way(a: Side, b: Side) -> By:
    if a.view == b.view:
        return "listing"
    if _source_lines(a).keys() & _source_lines(b).keys():
        return "line"
    return "opcode" if not (a.is_source or b.is_source) else "listing"


def _metric_rows(a: Side, b: Side) -> Iterator[MetricRow]:
    for name in dict.fromkeys([*a.metrics, *b.metrics]):
        known = name in METRICS
        alike = a.is_source == b.is_source or (known and METRICS[name].same_in_every_view)
        unit = METRICS[name].unit if known else ""
        yield MetricRow(name, unit, a.metrics.get(name), b.metrics.get(name), alike)


def _by_listing(a: Side, b: Side) -> Iterator[LineRow]:
    ours, theirs = [_alike(line) for line in a.lines], [_alike(line) for line in b.lines]
    if ours == theirs:
        yield from (LineRow(left, right) for left, right in zip(a.lines, b.lines, strict=True))
        return
    for what, i, i_end, j, j_end in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (LineRow(*pair) for pair in zip(a.lines[i:i_end], b.lines[j:j_end], strict=True))
        else:
            yield from (LineRow(line, None) for line in a.lines[i:i_end])
            yield from (LineRow(None, line) for line in b.lines[j:j_end])


def _alike(line: Line) -> str:
    """Lines with the same key may stand beside each other: machine code by opcode, source by its text."""
    return opcode_of(line.text) if line.position.startswith("0x") else line.text.strip()


def opcode_of(text: str) -> str:
    """``ISETP.GE.AND`` of ``@!P0 ISETP.GE.AND P1, PT, R0, R2, PT``."""
    words = [word for word in text.split() if not word.startswith(("@", "{"))]
    return words[0].rstrip(";,") if words else ""


def _by_source_line(a: Side, b: Side) -> Iterator[LineRow]:
    ours, theirs = _source_lines(a), _source_lines(b)
    for side, lines in ((a, ours), (b, theirs)):
        if not lines:
            raise UnusableProfileError(f"the profile of {side.kernel} ({side.view}) has no source lines")
    for place in sorted(ours.keys() | theirs.keys()):
        yield LineRow(ours.get(place), theirs.get(place))
    rest = [_unplaced(side) for side in (a, b)]
    if any(rest):
        yield LineRow(*rest)


def _source_lines(side: Side) -> dict[tuple[str, int], Line]:
    """Sums by (name of the file, line): the other side may have found the file in another folder."""
    texts = {line.source: line.text for line in side.lines if line.source} if side.is_source else side.sources
    found: dict[tuple[str, int], Line] = {}
    for group in fold(side.lines, side.file, texts):
        if group.source is not None:
            file, number = group.source
            text = group.text or group.place
            found[PurePath(file).name, number] = Line(str(number), text, group.counters, group.source)
    return found


def _unplaced(side: Side) -> Line | None:
    """The sum of the instructions that come from no source line."""
    return next(
        (Line("", f"({group.place})", group.counters) for group in fold(side.lines) if group.source is None), None
    )


def _by_opcode(a: Side, b: Side) -> Iterator[LineRow]:
    for side in (a, b):
        if side.is_source:
            raise UnusableProfileError(f"the profile of {side.kernel} is of the source view, which has no opcodes")
    ours, theirs = _opcodes(a), _opcodes(b)
    most = {name: max(_executed(ours.get(name)), _executed(theirs.get(name))) for name in ours | theirs}
    for name in sorted(most, key=lambda name: (-most[name], name)):
        yield LineRow(ours.get(name), theirs.get(name))


def _executed(line: Line | None) -> int:
    return compared(line)["inst_executed"]


def _opcodes(side: Side) -> dict[str, Line]:
    """Sums by opcode without its modifiers."""
    groups: dict[str, list[Line]] = {}
    for line in side.lines:
        groups.setdefault(opcode_of(line.text).partition(".")[0], []).append(line)
    return {
        name: Line("", name, {counter: sum(line.counters.get(counter, 0) for line in lines) for counter in COMPARED})
        for name, lines in groups.items()
    }
