"""The text of a :class:`simt.profile.compare.Difference`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simt.metrics.table import UnknownMetricError
from simt.profile.sides import COMPARED, Compared, Line, Side
from simt.text import cut, filled, in_lines, number_text, quantity_texts

if TYPE_CHECKING:
    from rich.text import Text


_HEADINGS = {
    "inst_executed": "executed",
    "thread_inst_executed": "thread inst",
    "pred_on_thread_inst_executed": "pred-on inst",
    "divergent_branches": "divergent",
    "global_sectors": "sectors",
    "global_sectors_ideal": "ideal sectors",
}
_IF_COUNTED = ("divergent_branches", "global_sectors")
_TEXT_WIDTH = 56
_OTHER_THINGS = "~"


STACKED_BELOW = 140
"""Columns under which the lines of the two sides stand below each other."""


def render(difference: Compared, columns: Sequence[str] | None, width: int | None = None) -> Text:
    """Both sides, their metrics, their lines; see :meth:`Difference.render`."""
    from rich.text import Text

    names = _columns(difference, columns)
    text = Text(no_wrap=True)
    for label, side in (("A", difference.a), ("B", difference.b)):
        text.append(filled(f"{label}  {heading(side)}", width) + "\n", style="bold")
    if not same_launch(difference.a, difference.b):
        said = "the launches differ: totals are those of different amounts of work"
        text.append(filled(said, width) + "\n", style="yellow")
    if said := other_code(difference.a, difference.b):
        text.append(filled(said, width) + "\n", style="yellow")
    text.append("\n")
    _metrics(text, difference, width)
    without = [label for label, side in (("A", difference.a), ("B", difference.b)) if not side.lines]
    if without:
        has = "has" if len(without) == 1 else "have"
        text.append(f"\nno lines to compare: {' and '.join(without)} {has} no counts of them\n", style="bold")
        return text
    text.append(f"\n{_verdict(difference)}\n", style="bold")
    if width is None or width >= STACKED_BELOW:
        _lines(text, difference, names)
    else:
        _stacked(text, difference, names, width)
    return text


def heading(side: Side) -> str:
    """Kernel, launch, view, and who counted."""
    dims = [" x ".join(map(str, _used(each))) for each in (side.grid, side.block)]
    launch = f", grid {dims[0]}, block {dims[1]}" if side.grid and side.block else ""
    return f"{side.kernel}{launch} ({side.view}: {side.origin})"


def same_launch(a: Side, b: Side) -> bool:
    """Whether grid and block are the same, as far as both are known."""
    return all(not ours or not theirs or ours == theirs for ours, theirs in ((a.grid, b.grid), (a.block, b.block)))


def other_code(a: Side, b: Side) -> str:
    """A warning that machine code is for two architectures; empty where it is not, or where one is unknown."""
    if a.view == b.view or not (a.view.startswith("sm_") and b.view.startswith("sm_")):
        return ""
    return f"the code is for {a.view} and for {b.view}: other instructions, and another number of them"


def _used(dims: tuple[int, ...]) -> tuple[int, ...]:
    while len(dims) > 1 and dims[-1] == 1:
        dims = dims[:-1]
    return dims


def _columns(difference: Compared, wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        sides = [line for row in difference.lines for line in (row.a, row.b) if line]
        return [
            "inst_executed",
            *(name for name in _IF_COUNTED if any(line.counters.get(name) for line in sides)),
        ]
    for name in wanted:
        if name not in COMPARED:
            raise UnknownMetricError(name, COMPARED, "compared counter", f"there are {', '.join(COMPARED)}")
    return list(wanted)


def _metrics(text: Text, difference: Compared, width: int | None) -> None:
    rows = [("metric", "A", "B", "B / A", "")]
    for row in difference.metrics:
        if row.a or row.b:
            ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
            verdict = _OTHER_THINGS if not row.comparable else "=" if row.equal else ratio
            a, b, unit = quantity_texts([row.a, row.b], row.unit)
            rows.append((row.metric, a, b, verdict, unit))
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    for index, (name, *numbers, unit) in enumerate(rows):
        cells = "  ".join(cell.rjust(width) for cell, width in zip(numbers, widths[1:4], strict=True))
        line = f"  {name:<{widths[0]}}  {cells}"
        # Where columns are scarce, long units are those that `simt metrics` tells.
        shown = unit if width is None or len(line) + 2 + len(unit) <= width else ""
        text.append(f"{line}  {shown}".rstrip() + "\n", style="" if index else "dim")
    if any(row[3] == _OTHER_THINGS for row in rows):
        said = (
            f"  {_OTHER_THINGS} not comparable: one side counts operations of the Python source, the other "
            "instructions of the machine"
        )
        text.append(filled(said, width) + "\n", style="dim")


def _lines(text: Text, difference: Compared, names: list[str]) -> None:
    rows = difference.lines
    # Both texts are shown only where they can differ.
    once = difference.by != "listing" or all(row.a and row.b and row.a.text == row.b.text for row in rows)
    headings = [f"{_HEADINGS[name]} {side}" for name in names for side in ("A", "B")]
    cells = [[_count(line, name) for name in names for line in (row.a, row.b)] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    if once:
        sides = [_Column([line for row in rows for line in (row.a, row.b)], None)]
    else:
        sides = [_Column([row.a for row in rows], _TEXT_WIDTH), _Column([row.b for row in rows], _TEXT_WIDTH)]

    heading = "  ".join(h.rjust(w) for h, w in zip(headings, widths, strict=True))
    labels = "" if once else "  ".join(side.cell(label) for side, label in zip(sides, "AB", strict=True))
    text.append(f"  {heading}  {labels}".rstrip() + "\n", style="dim")
    for row, counts in zip(rows, cells, strict=True):
        differs = difference.same_counts and bool(row.differing)
        numbers = "  ".join(c.rjust(w) for c, w in zip(counts, widths, strict=True))
        lines = [row.a or row.b] if once else [row.a, row.b]
        shown = "  ".join(side.line(line) for side, line in zip(sides, lines, strict=True))
        style = "bold red" if differs else "" if any(counts) else "dim"
        text.append(f"{'!' if differs else ' '} {numbers}  {shown}".rstrip() + "\n", style)


def _stacked(text: Text, difference: Compared, names: list[str], width: int) -> None:
    """Each pair of lines: its code, of both sides where that differs, and below it the counts of both."""
    for row in difference.lines:
        differs = difference.same_counts and bool(row.differing)
        lines = [(label, line) for label, line in zip("AB", (row.a, row.b), strict=True) if line]
        if len({line.text for _, line in lines}) == 1 and len(lines) == 2:
            position = " → ".join(dict.fromkeys(line.position for _, line in lines))
            shown = [f"{position}  {lines[0][1].text}"]
        elif difference.by != "listing":
            shown = [f"{lines[0][1].position}  {lines[0][1].text}"]
        else:
            shown = [f"{label} {line.position}  {line.text}" for label, line in lines]
        counts = [(_HEADINGS[name], _count(row.a, name), _count(row.b, name)) for name in names]
        said = [f"{what} {a or 0} → {b or 0}" if a != b else f"{what} {a}" for what, a, b in counts if a or b]
        style = "bold red" if differs else "" if said else "dim"
        for k, code in enumerate(shown):
            text.append(f"{'!' if differs and not k else ' '} {cut(code, width - 2)}".rstrip() + "\n", style)
        if said:
            text.append("      " + in_lines(said, ", ", width - 6).replace("\n", "\n      ") + "\n", style)


class _Column:
    """Position and text of lines, as wide as needed, the text at most *limit* characters."""

    def __init__(self, lines: Sequence[Line | None], limit: int | None) -> None:
        present = [line for line in lines if line]
        self.position = max((len(line.position) for line in present), default=0)
        widest = max((len(line.text) for line in present), default=0)
        self.text = widest if limit is None else min(limit, widest)

    def line(self, line: Line | None) -> str:
        """The cell of a line; blank where there is none."""
        if line is None:
            return self.cell("")
        return f"{line.position:>{self.position}}  {cut(line.text, self.text):<{self.text}}"

    def cell(self, content: str) -> str:
        """Any other cell, over the texts."""
        return f"{'':{self.position}}  {content:<{self.text}}"


def _verdict(difference: Compared) -> str:
    count = len(difference.lines)
    by = "by source line" if difference.by == "line" else f"by {difference.by}"
    if not difference.same_counts:
        return by
    if difference.equal:
        return f"{by}: all {count} equal in every counter"
    return f"{by}: {len(difference.differing)} of {count} differ"


def _count(line: Line | None, name: str) -> str:
    value = line.counters.get(name, 0) if line else 0
    return number_text(value) if value else ""
