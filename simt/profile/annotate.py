"""The annotated listing: each line beside its counts, the costliest lines standing out.

Machine code with line information is folded: each source line with the sums of its instructions, which follow it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from simt.metrics.stalls import STALLS, main_stall, words_of
from simt.metrics.table import SOURCE, UnknownMetricError
from simt.profile.counters import COUNTER_NAMES
from simt.profile.fold import add, fold
from simt.profile.lines import Listed, Rendered
from simt.text import cut, filled, indentation, number_text

if TYPE_CHECKING:
    from rich.text import Text

_EXPENDABLE = (
    "share",
    "l1_hit_rate",
    "l2_hit_rate",
    "lanes",
    "idle_predicated_off",
    "local_sectors",
    "shared_wavefronts",
    "divergent_branches",
    "for",
)
"""Columns that are left out, in this order, where there is no room for code beside them."""

_CODE_AT_LEAST = 28
"""Columns that code is given, however narrow the terminal is."""

HOT_LINES = 5
"""So many lines stand out (more if they tie), if they cost at least half as much as the costliest."""

DERIVED_COLUMNS = ("share", "lanes")
HIT_RATES = {"l1_hit_rate": ("l1_hits", "l1_sectors"), "l2_hit_rate": ("l2_hits", "l2_sectors")}
"""Columns of timed launches that are the share of one count in another."""
TIMED_COLUMNS = ("waited", "for", *HIT_RATES, *STALLS)

_DEFAULT = ("inst_executed", "share", "lanes")
_IF_COUNTED = (
    "divergent_branches",
    "global_sectors",
    "shared_wavefronts",
    "local_sectors",
    "idle_predicated_off",
)
_SUMS = {
    "shared_wavefronts": tuple(n for n in COUNTER_NAMES if n.startswith("shared_") and n.endswith("_wavefronts")),
    "local_sectors": ("local_load_sectors", "local_store_sectors"),
}
HEADINGS = {
    "inst_executed": "executed",
    "thread_inst_executed": "thread inst",
    "pred_on_thread_inst_executed": "pred-on inst",
    "share": "%",
    "divergent_branches": "divergent",
    "global_sectors": "sectors",
    "shared_wavefronts": "wavefronts",
    "local_sectors": "local sectors",
    "idle_predicated_off": "pred. off",
    "for": "mainly for",
    "l1_hit_rate": "L1 hit %",
    "l2_hit_rate": "L2 hit %",
}
"""Of columns that are not called by their names."""

COLUMN_NAMES = tuple(dict.fromkeys((*COUNTER_NAMES, *DERIVED_COLUMNS, *_SUMS, *TIMED_COLUMNS)))
"""Every column that :meth:`Profile.annotate` takes."""


@dataclass(frozen=True)
class Row:
    """One line of the listing: a source line, a SASS instruction, or a source line with its instructions' sums."""

    counters: Mapping[str, int]
    position: str
    text: str
    heading: str = ""
    hot: bool = False
    folded: bool = False
    stalls: Mapping[str, int] = field(default_factory=dict)
    accesses: Mapping[str, int] = field(default_factory=dict)

    @property
    def cost(self) -> int:
        """Warp-cycles waited in a timed launch, else executed instructions."""
        return sum(self.stalls.values()) if self.stalls else self.counters.get("inst_executed", 0)


def _counter(row: Row, column: str) -> int:
    if column == "waited":
        return sum(row.stalls.values())
    if column in STALLS:
        return row.stalls.get(column, 0)
    return sum(row.counters.get(name, 0) for name in _SUMS.get(column, (column,)))


def cell(row: Row, column: str, total: int) -> str:
    """What stands in a column; *total* are the executed instructions of the launch."""
    executed = row.counters.get("inst_executed", 0)
    if column == "for":
        return words_of(main_stall(row.stalls))
    if column == "share":
        return f"{100 * executed / total:.1f}" if executed else ""
    if column == "lanes":
        return f"{row.counters.get('thread_inst_executed', 0) / executed:.1f}" if executed else ""
    if column in HIT_RATES:
        hits, sectors = (row.accesses.get(name, 0) for name in HIT_RATES[column])
        return f"{100 * hits / sectors:.1f}" if sectors else ""
    value = _counter(row, column)
    return number_text(value) if value else ""


def check_columns(wanted: Sequence[str], timed: bool) -> None:
    """:class:`UnknownMetricError` if one of the columns is none, or one of a timed launch that this is not."""
    for name in wanted:
        if name not in COLUMN_NAMES:
            raise UnknownMetricError(name, COLUMN_NAMES, "column", f"there are {', '.join(COLUMN_NAMES)}")
        if name in TIMED_COLUMNS and not timed:
            help = "launch with timing=True, or --timing on the command line"
            raise UnknownMetricError(name, (), "column without timing called", help)


def shown_columns(rows: Sequence[Row], wanted: Sequence[str] | None = None) -> list[str]:
    """The columns beside these lines; *wanted* as in :meth:`Profile.annotate`."""
    timed = any(row.stalls for row in rows)
    if wanted is None:
        counted = [name for name in _IF_COUNTED if any(_counter(row, name) for row in rows)]
        rates = [name for name, (_, of) in HIT_RATES.items() if any(row.accesses.get(of) for row in rows)]
        return [*_DEFAULT, *counted, *rates, *(("waited", "for") if timed else ())]
    check_columns(wanted, timed)
    return list(wanted)


def _mark(rows: Sequence[Row]) -> list[Row]:
    """The same rows, those that stand out marked; the costliest one at least, if anything ran."""
    ranked = sorted((row.cost for row in rows), reverse=True)[:HOT_LINES]
    return [replace(row, hot=row.cost > 0 and row.cost >= ranked[-1] and 2 * row.cost >= ranked[0]) for row in rows]


def _row(line: Listed, text: str, heading: str = "") -> Row:
    """A line as it is."""
    return Row(line.counters, line.position, text, heading, stalls=line.stalls, accesses=line.accesses)


def _listed(lines: Sequence[Listed], kernel: str, is_source: bool) -> list[Row]:
    """The lines as they stand in the listing."""
    rows = []
    # A machine listing begins with the kernel itself, under its mangled name.
    place = (lines[0].file, lines[0].function) if lines and not is_source else None
    for line in lines:
        heading = ""
        if place != (line.file, line.function):
            place = (line.file, line.function)
            if line.function and line.function != kernel:
                heading = f"{line.function} ({line.file})"
        rows.append(
            Row(line.counters, line.position, line.text.rstrip(), heading, False, False, line.stalls, line.accesses)
        )
    return _mark(rows)


def _folded(shown: Sequence[Listed], sources: Mapping[tuple[str, int], str]) -> list[Row]:
    """The source lines, and below each its instructions."""
    groups = fold(shown, shown[0].file, sources)
    heads = []
    file = None
    for group in groups:
        here = group.source[0] if group.source else "no source line"
        number = str(group.source[1]) if group.source else ""
        stalls = add([shown[k].stalls for k in group.members])
        found = add([shown[k].accesses for k in group.members])
        heading = here if here != file else ""
        heads.append(Row(group.counters, number, group.text, heading, False, True, stalls, found))
        file = here
    rows = []
    for head, group in zip(_mark(heads), groups, strict=True):
        lines = [shown[k] for k in group.members]
        rows += [head, *(_row(line, f"    {line.text}") for line in lines)]
    return rows


def _padding(lines: Sequence[Listed]) -> int:
    """How many instructions that fill up the code's last bytes there are at the end."""
    count = 0
    for line in reversed(lines):
        if line.text != "NOP" or line.counters.get("inst_executed"):
            break
        count += 1
    return count


def listing_rows(
    lines: Sequence[Listed],
    kernel: str,
    is_source: bool,
    folded: bool | None = None,
    sources: Mapping[tuple[str, int], str] = MappingProxyType({}),
) -> list[Row]:
    """The rows of a listing without the padding at its end; ``folded`` as in :meth:`Profile.annotate`.

    ``sources``: texts of source lines that are known without their files.
    """
    shown = lines[: len(lines) - _padding(lines)]
    with_lines = not is_source and any(line.source for line in shown)
    return _folded(shown, sources) if with_lines and folded is not False else _listed(shown, kernel, is_source)


def annotate(
    profile: Rendered, columns: Sequence[str] | None = None, folded: bool | None = None, width: int | None = None
) -> Text:
    """The annotated listing as rich text; see :meth:`Profile.annotate`."""
    from rich.text import Text

    rows = listing_rows(profile.lines, profile.kernel, profile.view_kind == SOURCE, folded)
    names = shown_columns(rows, columns)
    total = profile.counters["inst_executed"]
    headings = {name: HEADINGS.get(name, name) for name in names}
    cells = {name: [cell(row, name, total) for row in rows] for name in names}
    widths = {name: max(map(len, [headings[name], *cells[name]])) for name in names}
    position = "line" if any(row.folded for row in rows) or profile.view_kind == SOURCE else "offset"
    number_width = max(map(len, [position, *(row.position for row in rows)]))

    left_out = []
    if width is not None and columns is None:
        for name in (name for name in _EXPENDABLE if name in names):
            if sum(widths[each] + 2 for each in names) + number_width + 4 + _CODE_AT_LEAST > width:
                names.remove(name)
                left_out.append(headings[name])
    # Where columns are scarce, without the indentation that all lines have.
    common = indentation(row.text for row in rows)
    text = Text(no_wrap=True)
    text.append(filled(f"{profile.kernel}: {profile.view_text}", width) + "\n", style="bold")
    if profile.timing is not None:
        scope = profile.timing.scope
        said = f"waited: warp-cycles before the line issues; {profile.device.name}, {scope}"
        text.append(filled(said, width) + "\n", style="bold")
    heading = "  ".join(headings[name].rjust(widths[name]) for name in names)
    text.append(f"  {heading}  {position:>{number_width}}\n", style="dim")
    for k, row in enumerate(rows):
        counts = [cells[name][k] for name in names]
        if row.heading:
            text.append(f"  {row.heading}\n", style="italic dim")
        style = "bold red" if row.hot else "dim" if not any(counts) else "bold" if row.folded else ""
        shown = "  ".join(count.rjust(widths[name]) for name, count in zip(names, counts, strict=True))
        before = f"{'>' if row.hot else ' '} {shown}  {row.position:>{number_width}}  "
        code = row.text if width is None else cut(row.text[common:], max(width - len(before), _CODE_AT_LEAST))
        text.append(f"{before}{code}".rstrip() + "\n", style)
    if left_out:
        text.append(f"too narrow for: {', '.join(left_out)}\n", "dim")
    return text
