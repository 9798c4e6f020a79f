"""A profile in a notebook: summary and annotated listing as HTML; every text is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from simt.profile.annotate import Row, listing_rows
from simt.profile.summary import heading, idle_text, rows
from simt.profile.text import number_text

if TYPE_CHECKING:
    from simt.profile.profile import Profile

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
    listed = listing_rows(profile, None)
    most = max((row.counters["inst_executed"] for row in listed), default=0)
    body = "".join(_line(row, most) for row in listed)
    return (
        f"<div><b>{escape(heading(profile))}</b><table>{metrics}</table>"
        f"<details open><summary>lines</summary><table><tr>{head}</tr>{body}</table></details></div>"
    )


def _line(row: Row, most: int) -> str:
    heat = row.counters["inst_executed"] / most if most else 0.0
    counts = "".join(
        f"<td {_CELL}>{number_text(row.counters[name]) if row.counters[name] else ''}</td>" for name in _LINE_COLUMNS
    )
    weight = ";font-weight:bold" if row.folded else ""
    return (
        f"<tr>{counts}<td {_CELL}>{row.position}</td>"
        f'<td {_CODE};background:rgba(220,60,40,{0.6 * heat:.2f}){weight}">{escape(row.text)}</td></tr>'
    )
