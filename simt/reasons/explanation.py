"""One metric of a profile, or the difference of two, taken apart: :func:`explain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from simt.check.short import ends_here
from simt.metrics.table import METRICS, Metric, UnknownMetricError
from simt.metrics.timing import TIMING
from simt.profile.compare import UnusableProfileError, opcode_of
from simt.profile.difference_text import other_code, same_launch
from simt.profile.sides import Side
from simt.reasons import between, cycles, pairing, room, words
from simt.reasons.between import SidePatterns
from simt.reasons.facts import Fact, SideLoops, limit_fact, loop_facts, stall_fact, what_if_facts
from simt.reasons.render import render, to_html
from simt.reasons.subject import Patterns, Subject, subject_of
from simt.reasons.terms import ON_NO_LINE, RESIDUAL, WHOLE, Shares, Term, recipe_of, shares_of
from simt.text import to_svg, to_text

DEFAULT = "inst_per_warp"


@dataclass(frozen=True)
class Explanation:
    """Terms that add up exactly to a metric, or to B's less A's.

    ``terms`` are sorted by size, the largest first; the 100 % that losses are subtracted from stand last.  ``a`` and
    ``b`` are exact values (fractions); ``notes`` say what could not be known, ``facts`` what counts say beside the
    terms.
    """

    metric: Metric
    sides: tuple[Side, ...]
    a: Fraction
    b: Fraction | None
    terms: tuple[Term, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def explained(self) -> Fraction:
        """What the terms add up to."""
        return self.a if self.b is None else self.b - self.a

    def to_dict(self, *, facts: bool = False) -> dict[str, Any]:
        """As plain dicts, lists, numbers and texts: metric, a, b and terms; with ``facts`` these, too."""
        found = {
            "metric": self.metric.name,
            "a": float(self.a),
            "b": None if self.b is None else float(self.b),
            "terms": [term.to_dict() for term in self.terms],
        }
        return {**found, "facts": [fact.to_dict() for fact in self.facts]} if facts else found

    def render(self, most: int | None = None, *, width: int = 80, color: bool | None = None) -> str:
        """The terms as text, *width* columns wide; at most so many of them, and the sum of the others."""
        return to_text(render(self, most, width), color)

    def to_svg(self, most: int | None = None, *, width: int = 80) -> str:
        """The same as a picture."""
        return to_svg(render(self, most, width), self.metric.name)

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return to_html(self)


@ends_here
def explain(
    profile: Any,
    other: Any = None,
    metric: str = DEFAULT,
    *,
    patterns: SidePatterns | None = None,
    loops: SideLoops | None = None,
) -> Explanation:
    """Take a metric of *profile* apart, or what *other* has more or less of it.

    Both are profiles of :func:`simt.launch` or of the hardware, or what one of them saved (``to_dict()``).  ``metric``
    is a name of ``simt metrics``.  ``patterns``: how lines access memory, by side (``"a"``, ``"b"``), as
    :func:`simt.reasons.access_patterns` finds it; ``loops``: their loops, as :func:`simt.reasons.rounds_of` does.

    Raises UnknownMetricError, and UnusableProfileError where a profile does not know the metric or the two count
    different things under its name.
    """
    wanted = METRICS[metric]
    subjects = [subject_of(each) for each in ((profile,) if other is None else (profile, other))]
    if other is not None:
        _check_comparable(wanted, *subjects)
    notes = tuple(dict.fromkeys(note for subject in subjects for note in _notes(subject)))
    if other is not None:
        notes += tuple(_pair_notes(wanted, *subjects))
    shares = [_shares(wanted, subject) for subject in subjects]
    values = [_value(wanted, subject, share) for subject, share in zip(subjects, shares, strict=True)]
    a, b = values[0], values[1] if other is not None else None
    explained = a if b is None else b - a
    profiles = [subject.profile for subject in subjects if subject.profile is not None]
    first, last = shares[0], shares[-1]
    if wanted.name == room.METRIC and len(profiles) == len(subjects):
        rooms = [each.occupancy for each in profiles]
        found = list(room.single(*rooms) if len(rooms) == 1 else room.between(*rooms))
    elif first is None or last is None:
        found = [Term(explained, RESIDUAL, "the profile has the metric, but not the counts of its lines")]
    elif other is None:
        found = list(_single(first, (patterns or {}).get("a", {})))
    else:
        found = list(between.terms(first, last, patterns or {}))
    sides = tuple(subject.side for subject in subjects)
    facts = tuple(_facts(wanted, subjects, shares, loops or {}))
    return Explanation(wanted, sides, a, b, _ranked(found, explained), notes, facts)


def _facts(
    metric: Metric, subjects: Sequence[Subject], shares: Sequence[Shares | None], loops: SideLoops
) -> Iterator[Fact]:
    for side, subject, each in zip("ab", subjects, shares, strict=False):
        yield from loop_facts(side, subject, loops.get(side, ()))
        if metric.group == TIMING:
            yield from limit_fact(side, subject)
        if each is not None and metric.name in cycles.METRIC_NAMES:
            yield from stall_fact(side, each)
        if each is not None and len(subjects) == 1:
            yield from what_if_facts(side, each)


def _single(shares: Shares, patterns: Patterns) -> Iterator[Term]:
    for place in shares.subject.places:
        for cause, value in shares.of(place.counters).items():
            yield Term(value, cause, words.single(shares, place, cause, patterns), (("a", place),))
    for cause, value in shares.constant():
        yield Term(value, cause, ON_NO_LINE.get(cause, cause))


def _shares(metric: Metric, subject: Subject) -> Shares | None:
    if metric.name in cycles.METRIC_NAMES:
        return cycles.shares_of(metric.name, subject)
    return shares_of(recipe_of(metric), subject)


def _ranked(terms: list[Term], whole: Fraction) -> tuple[Term, ...]:
    whole -= sum((term.value for term in terms if term.cause == WHOLE), Fraction(0))
    shared = [
        replace(term, share=term.value / whole if whole and term.cause != WHOLE else Fraction(0))
        for term in terms
        if term.value
    ]
    return tuple(sorted(shared, key=lambda term: (term.cause == WHOLE, -abs(term.value))))


def _value(metric: Metric, subject: Subject, shares: Shares | None) -> Fraction:
    if shares is not None:
        return shares.value
    value = subject.side.metrics.get(metric.name)
    if value is None:
        help = "launch with timing=True, or --timing on the command line" if metric.group == TIMING else ""
        raise UnusableProfileError(f"the profile of {subject.side.kernel} has no value of {metric.name}", help=help)
    return Fraction(value)


def _check_comparable(metric: Metric, a: Subject, b: Subject) -> None:
    if a.side.is_source != b.side.is_source and not metric.same_in_every_view:
        raise UnusableProfileError(
            f"{metric.name} counts operations of the source on one side and instructions of the machine on the other",
            help="give both the same view, KERNEL@sm_90 for instance, or a metric of memory such as gld_efficiency",
        )


def _notes(subject: Subject) -> Iterator[str]:
    if not subject.side.is_source and subject.places and not subject.has_source_lines:
        yield (
            f"{subject.side.kernel} has no line information: compile with nvcc -lineinfo (with -G it is there), and "
            "profile with ncu --import-source yes"
        )


def _pair_notes(metric: Metric, a: Subject, b: Subject) -> Iterator[str]:
    """Why the same kernel may count otherwise elsewhere."""
    if not same_launch(a.side, b.side):
        yield "the launches differ in grid or block"
    if said := other_code(a.side, b.side):
        yield said
    if any(subject.side.is_measured for subject in (a, b)) and not metric.exact:
        yield f"hardware does not count {metric.name} the same in every run"
    ours, theirs = ([opcode_of(line.text) for line in subject.side.lines] for subject in (a, b))
    if a.side.kernel == b.side.kernel and a.side.view == b.side.view and not a.side.is_source and ours and theirs:
        common = sum(match.size for match in pairing.matches(ours, theirs))
        if common < max(len(ours), len(theirs)):
            yield (
                f"the machine code differs: {len(ours)} and {len(theirs)} instructions with {common} in common; "
                "another version of the compiler, or other options"
            )


__all__ = ["DEFAULT", "Explanation", "UnknownMetricError", "explain"]
