"""A profile in a notebook: summary and annotated listing as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from simt.metrics.table import SOURCE
from simt.profile.annotate import Row, cell, listing_rows
from simt.profile.lines import Rendered
from simt.profile.summary import facts, heading, rows, timing_text

_CELL = 'style="text-align:right;padding:0 .6em"'
_CODE = 'style="text-align:left;white-space:pre;font-family:monospace;padding:0 .6em'
_LINE_COLUMNS = ("inst_executed", "divergent_branches", "global_sectors")
_TIMED_COLUMNS = ("waited", "for")


def to_html(profile: Rendered) -> str:
    """HTML of the profile, self-contained, without scripts."""
    columns = _LINE_COLUMNS if profile.timing is None else (*_LINE_COLUMNS, *_TIMED_COLUMNS)
    shown = [*rows(profile, profile.timing), *((name, text, "") for name, text in facts(profile))]
    metrics = "".join(
        f'<tr><td style="text-align:left">{escape(name)}</td><td {_CELL}>{escape(value)}</td>'
        f'<td style="text-align:left">{escape(unit)}</td></tr>'
        for name, value, unit in shown
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in (*columns, "line", "text"))
    listed = listing_rows(profile.lines, profile.kernel, profile.view_kind == SOURCE)
    most = max((row.cost for row in listed), default=0)
    body = "".join(_line(row, columns, most) for row in listed)
    timing = f"<div>{escape(timing_text(profile.timing))}</div>" if profile.timing is not None else ""
    return (
        f"<div><b>{escape(heading(profile))}</b>{timing}<table>{metrics}</table>"
        f"<details open><summary>lines</summary><table><tr>{head}</tr>{body}</table></details></div>"
    )


def _line(row: Row, columns: Sequence[str], most: int) -> str:
    heat = row.cost / most if most else 0.0
    counts = "".join(f"<td {_CELL}>{cell(row, name, 1)}</td>" for name in columns)
    weight = ";font-weight:bold" if row.folded else ""
    return (
        f"<tr>{counts}<td {_CELL}>{row.position}</td>"
        f'<td {_CODE};background:rgba(220,60,40,{0.6 * heat:.2f}){weight}">{escape(row.text)}</td></tr>'
    )
