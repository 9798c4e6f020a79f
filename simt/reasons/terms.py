"""Terms of an explanation, and how much each line of one profile gives to a metric by cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from simt.metrics.formula import Number
from simt.metrics.linear import Linear, NotLinearError, Ratio, ratio_of, total
from simt.metrics.table import Metric
from simt.reasons.causes import LOSSES, PARTS, cause_of, expanded
from simt.reasons.subject import Group, Place, Subject

WHOLE = "whole"
"""The cause of the 100 % that every loss is subtracted from."""
RESIDUAL = "residual"
"""The cause of what no line accounts for."""


@dataclass(frozen=True)
class Term:
    """A part of a metric, or of the difference of two: how much, where, why, and in words.

    ``share``: its part of all terms together, losses among themselves, as a fraction.  ``places``: the lines, each
    with its side, ``"a"`` or ``"b"``.
    """

    value: Fraction
    cause: str
    text: str
    places: tuple[tuple[str, Place], ...] = ()
    share: Fraction = Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "value": float(self.value),
            "share": float(self.share),
            "lines": [{"side": side, **place.to_dict()} for side, place in self.places],
            "cause": self.cause,
            "text": self.text,
        }


@dataclass(frozen=True)
class Recipe:
    """How a metric is shared out: the numerator's sum with one counter for every cause, and what is constant in it.

    ``whole``: what the metric would be without losses, for a share of something; else 0.
    ``executions``: the factor of instructions' executions in it, 0 where it counts other things.
    """

    metric: Metric
    ratio: Ratio
    sum_: Linear
    whole: Fraction
    executions: Fraction


def recipe_of(metric: Metric) -> Recipe | None:
    """The recipe; None for a metric that is not a fraction of sums."""
    try:
        ratio = ratio_of(metric.formula)
    except NotLinearError:
        return None
    reduced = expanded(ratio.numerator, LOSSES)
    whole = _share(reduced, ratio)
    if whole:
        (below,) = ratio.denominators
        rest = {name: factor - whole * below.get(name, 0) for name, factor in reduced.items()}
        return Recipe(metric, ratio, {name: factor for name, factor in rest.items() if factor}, whole, Fraction(0))
    executions = ratio.numerator.get("inst_executed", Fraction(0))
    return Recipe(metric, ratio, expanded(ratio.numerator, PARTS), Fraction(0), executions)


def _share(reduced: Linear, ratio: Ratio) -> Fraction:
    """How many times the numerator contains the denominator, before losses; 0 if it does not."""
    if len(ratio.denominators) != 1:
        return Fraction(0)
    times = {reduced.get(name, Fraction(0)) / factor for name, factor in ratio.denominators[0].items()}
    return times.pop() if len(times) == 1 else Fraction(0)


@dataclass(frozen=True)
class Shares:
    """A metric of one profile, shared out: exact values.  ``extra``: parts that belong to no line, by cause."""

    recipe: Recipe
    subject: Subject
    below: Fraction
    extra: tuple[tuple[str, Fraction], ...] = ()

    @property
    def value(self) -> Fraction:
        """The metric."""
        lines = total(self.recipe.ratio.numerator, self.subject.totals) / self.below
        return lines + sum((value for _, value in self.extra), Fraction(0))

    def of(self, counters: Mapping[str, Number]) -> dict[str, Fraction]:
        """What these counters give to it, by cause; causes that give nothing are left out."""
        found: dict[str, Fraction] = {}
        for name, factor in self.recipe.sum_.items():
            if counters.get(name):
                cause = cause_of(name)
                found[cause] = found.get(cause, Fraction(0)) + factor * Fraction(counters[name]) / self.below
        return {cause: value for cause, value in found.items() if value}

    def times(self, group: Group) -> Fraction:
        """Executions of the group's instructions, in the metric's unit."""
        return self.recipe.executions * group.executions / self.below

    def constant(self) -> Iterator[tuple[str, Fraction]]:
        """What is left for no line: the whole of a share, and what the lines do not add up to."""
        rest = self.value
        for cause, value in ((WHOLE, self.recipe.whole), *self.extra):
            if value:
                yield cause, value
            rest -= value
        for place in self.subject.places:
            rest -= sum(self.of(place.counters).values())
        if rest:
            yield RESIDUAL, rest


def shares_of(recipe: Recipe | None, subject: Subject) -> Shares | None:
    """The metric of a profile, shared out; None where the profile lacks a counter, or there is nothing to divide by."""
    if recipe is None or not _names(recipe.ratio) <= subject.totals.keys():
        return None
    below = recipe.ratio.denominator(subject.totals)
    return Shares(recipe, subject, below) if below else None


ON_NO_LINE = {WHOLE: "the value without losses", RESIDUAL: "counts without a line"}
"""Words for causes that belong to no line."""


def _names(ratio: Ratio) -> set[str]:
    return {name for each in (ratio.numerator, *ratio.denominators) for name in each if name}
