"""The annotated listing: each line beside its counts, the costliest lines standing out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simt.profile.counters import COUNTER_NAMES
from simt.profile.metrics import UnknownMetricError
from simt.profile.text import number_text

if TYPE_CHECKING:
    from rich.text import Text

    from simt.profile.profile import LineProfile, Profile

HOT_LINES = 5
"""So many lines stand out (more if they tie), if they execute at least half as much as the costliest."""

DERIVED_COLUMNS = ("share", "lanes")

_DEFAULT = ("inst_executed", "share", "lanes")
_IF_COUNTED = (
    "divergent_branches",
    "global_sectors",
    "shared_wavefronts",
    "local_sectors",
    "idle_predicated_off",
)
_SUMS = {
    "shared_wavefronts": tuple(
        n for n in COUNTER_NAMES if n.startswith("shared_") and n.endswith("_wavefronts")
    ),
    "local_sectors": ("local_load_sectors", "local_store_sectors"),
}
_HEADINGS = {
    "inst_executed": "executed",
    "thread_inst_executed": "thread inst",
    "pred_on_thread_inst_executed": "pred-on inst",
    "share": "%",
    "divergent_branches": "divergent",
    "global_sectors": "sectors",
    "shared_wavefronts": "wavefronts",
    "local_sectors": "local sectors",
    "idle_predicated_off": "pred. off",
}

COLUMN_NAMES = tuple(dict.fromkeys((*COUNTER_NAMES, *DERIVED_COLUMNS, *_SUMS)))
"""Every column that :meth:`Profile.annotate` takes."""


def _counter(line: LineProfile, column: str) -> int:
    return sum(line.counters[name] for name in _SUMS.get(column, (column,)))


def _share(line: LineProfile, total: int) -> float:
    return 100 * line.counters["inst_executed"] / total if total else 0.0


def _cell(line: LineProfile, column: str, total: int) -> str:
    executed = line.counters["inst_executed"]
    if column == "share":
        return f"{_share(line, total):.1f}" if executed else ""
    if column == "lanes":
        return f"{line.counters['thread_inst_executed'] / executed:.1f}" if executed else ""
    value = _counter(line, column)
    return number_text(value) if value else ""


def _columns(profile: Profile, wanted: Sequence[str] | None) -> list[str]:
    if wanted is None:
        counted = [name for name in _IF_COUNTED if any(_counter(line, name) for line in profile.lines)]
        return [*_DEFAULT, *counted]
    for name in wanted:
        if name not in COLUMN_NAMES:
            raise UnknownMetricError(name, COLUMN_NAMES, "column")
    return list(wanted)


def _hot(profile: Profile) -> set[int]:
    """Indices of the lines that stand out; the costliest one at least, if anything ran."""
    costs = [line.counters["inst_executed"] for line in profile.lines]
    ranked = sorted(costs, reverse=True)[:HOT_LINES]
    return {
        index for index, cost in enumerate(costs) if cost and cost >= ranked[-1] and 2 * cost >= ranked[0]
    }


def annotate(profile: Profile, columns: Sequence[str] | None = None) -> Text:
    """The annotated listing as rich text; see :meth:`Profile.annotate`."""
    from rich.text import Text

    names = _columns(profile, columns)
    total = profile.counters["inst_executed"]
    hot = _hot(profile)
    headings = [_HEADINGS.get(name, name) for name in names]
    cells = [[_cell(line, name, total) for name in names] for line in profile.lines]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    numbers = [_position(line) for line in profile.lines]
    number_width = max(map(len, [*numbers, "line"]))

    text = Text(no_wrap=True)
    text.append(f"{profile.kernel}: {profile.view_text}\n", style="bold")
    heading = "  ".join(h.rjust(w) for h, w in zip(headings, widths, strict=True))
    text.append(
        f"  {heading}  {'line' if profile.view_kind == 'source' else 'offset':>{number_width}}\n", style="dim"
    )
    place = None
    for index, (line, row) in enumerate(zip(profile.lines, cells, strict=True)):
        if place != (line.file, line.function):
            place = (line.file, line.function)
            if line.function and line.function != profile.kernel:
                text.append(f"  {line.function} ({line.file})\n", style="italic dim")
        counts = "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True))
        style = "bold red" if index in hot else "" if any(row) else "dim"
        mark = ">" if index in hot else " "
        text.append(
            f"{mark} {counts}  {numbers[index]:>{number_width}}  {line.text.rstrip()}".rstrip() + "\n", style
        )
    return text


def _position(line: LineProfile) -> str:
    return str(line.number) if line.offset is None else f"{line.offset:#06x}"
