"""The text and the HTML of an explanation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Protocol

from simt.metrics.table import Metric
from simt.profile.difference_text import heading
from simt.profile.sides import Side
from simt.reasons.facts import Fact
from simt.reasons.subject import Place
from simt.reasons.terms import Term
from simt.reasons.words import number

if TYPE_CHECKING:
    from rich.text import Text

Row = tuple[Fraction, Fraction, str]
"""Value, share, and words of a term, or of several together."""

MOST_TERMS = 8
"""Terms shown by default."""


class Explained(Protocol):
    """What is drawn of an :class:`~simt.reasons.Explanation`."""

    @property
    def metric(self) -> Metric:
        """The metric."""

    @property
    def sides(self) -> tuple[Side, ...]:
        """One profile, or two."""

    @property
    def a(self) -> Fraction:
        """Its value in the first."""

    @property
    def b(self) -> Fraction | None:
        """Its value in the second."""

    @property
    def explained(self) -> Fraction:
        """What the terms add up to."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be known."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What counts say beside the terms."""


def title(explained: Explained, width: int = 0) -> str:
    """``inst_per_warp  293.88 → 98.13  (195.75 fewer; sm_90)``; without the unit if *width* has no room for it."""
    views = " → ".join(dict.fromkeys(side.view for side in explained.sides))
    value, said = number(explained.a), views
    if explained.b is not None:
        change = explained.explained
        value += f" → {number(explained.b)}"
        said = f"{number(abs(change))} {'fewer' if change < 0 else 'more'}; {views}" if change else f"the same; {views}"
    short = f"{explained.metric.name}  {value}  ({said})"
    full = f"{explained.metric.name}  {value} {explained.metric.unit}  ({said})"
    return full if not width or len(full) <= width else short


def where(term: Term) -> str:
    """``line 6 → 27``, ``lines 69, 70 → 87, 88``, ``line 6``."""
    sides = [[place for side, place in term.places if side == wanted] for wanted in ("a", "b")]
    said = list(dict.fromkeys(_places(places) for places in sides if places))
    return " → ".join([*said[:1], *(each.split(" ", 1)[-1] for each in said[1:])])


def _places(places: Sequence[Place]) -> str:
    lines = [place for place in places if place.label.startswith("line ")]
    if len(places) == 1 or len(lines) < len(places):
        return ", ".join(place.label for place in places)
    return f"lines {', '.join(str(place.number) for place in places)}"


def _shown(explained: Explained, most: int | None) -> tuple[Sequence[Term], Sequence[Term]]:
    limit = MOST_TERMS if most is None else most
    terms = explained.terms
    return (terms, ()) if len(terms) <= limit + 1 else (terms[:limit], terms[limit:])


def _row(term: Term) -> Row:
    place = where(term)
    return term.value, term.share, f"{place}  {term.text}" if place else term.text


def rows_of(explained: Explained, most: int | None = None) -> Iterator[Row]:
    """The terms, the largest first: *most* of them (default: :data:`MOST_TERMS`), and the sum of the others."""
    shown, rest = _shown(explained, most)
    yield from map(_row, shown)
    if rest:
        value = sum((term.value for term in rest), Fraction(0))
        share = sum((term.share for term in rest), Fraction(0))
        yield value, share, f"{len(rest)} smaller terms together"


def cells(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """Rows as texts: values to two decimals, unless all are whole."""
    digits = 0 if all(value.denominator == 1 for value, _, _ in rows) else 2
    return [
        (f"{float(value):,.{digits}f}", f"{float(100 * share):.0f} %" if share else "", text)
        for value, share, text in rows
    ]


def render(explained: Explained, most: int | None, width: int) -> Text:
    """See :meth:`simt.reasons.Explanation.render`."""
    from rich.text import Text

    text = Text(no_wrap=True)
    _wrapped(text, title(explained, width), "", width, "bold")
    rows = cells(list(rows_of(explained, most)))
    values, shares = (max((len(row[k]) for row in rows), default=0) for k in (0, 1))
    for value, share, words in rows:
        _wrapped(text, words, f"{value:>{values + 2}}  {share:>{shares}}  ", width, "")
    for fact in explained.facts:
        _wrapped(text, fact.text, said_of(fact, explained), width, "")
    for label, side in zip("AB", explained.sides, strict=False):
        _wrapped(text, heading(side), f"{label}  " if explained.b is not None else "", width, "dim")
    for note in explained.notes:
        _wrapped(text, note, "note: ", width, "yellow")
    return text


def said_of(fact: Fact, explained: Explained) -> str:
    """What stands before a fact: ``loop: ``, of two profiles ``loop in A: ``."""
    return f"{fact.kind}: " if explained.b is None else f"{fact.kind} in {fact.side.upper()}: "


def _wrapped(text: Text, words: str, before: str, width: int, style: str) -> None:
    indent = " " * len(before)
    lines = textwrap.wrap(
        words, width, initial_indent=before, subsequent_indent=indent or "  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    text.append("\n".join(lines) + "\n", style)


def to_html(explained: Explained) -> str:
    """A table, self-contained, without scripts; every text is escaped."""
    cell = 'style="text-align:right;padding:0 .6em"'
    body = "".join(
        f"<tr><td {cell}>{escape(value)}</td><td {cell}>{escape(share)}</td>"
        f'<td style="text-align:left">{escape(words)}</td></tr>'
        for value, share, words in cells(list(map(_row, explained.terms)))
    )
    facts = [said_of(fact, explained) + fact.text for fact in explained.facts]
    below = "".join(f"<div>{escape(text)}</div>" for text in (*facts, *map(heading, explained.sides), *explained.notes))
    return f"<div><b>{escape(title(explained))}</b><table>{body}</table>{below}</div>"
