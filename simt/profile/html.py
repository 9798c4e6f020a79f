"""A profile in a notebook: summary and annotated listing as HTML; every text is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from simt.profile.summary import heading, idle_text, rows
from simt.profile.text import number_text

if TYPE_CHECKING:
    from simt.profile.profile import LineProfile, Profile

_CELL = 'style="text-align:right;padding:0 .6em"'
_CODE = 'style="text-align:left;white-space:pre;font-family:monospace;padding:0 .6em'
_LINE_COLUMNS = ("inst_executed", "divergent_branches", "global_sectors")


def to_html(profile: Profile) -> str:
    """HTML of the profile, self-contained, without scripts."""
    facts = [*rows(profile), ("idle lane-slots", idle_text(profile), "")]
    metrics = "".join(
        f'<tr><td style="text-align:left">{escape(name)}</td><td {_CELL}>{escape(value)}</td>'
        f'<td style="text-align:left">{escape(unit)}</td></tr>'
        for name, value, unit in facts
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in (*_LINE_COLUMNS, "line", "text"))
    most = max((line.counters["inst_executed"] for line in profile.lines), default=0)
    body = "".join(_line(line, most) for line in profile.lines)
    return (
        f"<div><b>{escape(heading(profile))}</b><table>{metrics}</table>"
        f"<details open><summary>lines</summary><table><tr>{head}</tr>{body}</table></details></div>"
    )


def _line(line: LineProfile, most: int) -> str:
    heat = line.counters["inst_executed"] / most if most else 0.0
    counts = "".join(
        f"<td {_CELL}>{number_text(line.counters[name]) if line.counters[name] else ''}</td>"
        for name in _LINE_COLUMNS
    )
    position = line.number if line.offset is None else f"{line.offset:#06x}"
    return (
        f"<tr>{counts}<td {_CELL}>{position}</td>"
        f'<td {_CODE};background:rgba(220,60,40,{0.6 * heat:.2f})">{escape(line.text)}</td></tr>'
    )
