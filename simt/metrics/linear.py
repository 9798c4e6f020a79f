"""A formula as a fraction of sums, with exact coefficients: what can be shared out among the lines of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from simt.metrics.formula import Formula, Number

Linear = Mapping[str, Fraction]
"""A sum of counters, each with its coefficient; a constant stands under the empty name."""

CONSTANT = ""


class NotLinearError(ValueError):
    """A formula whose numerator is no sum of counters."""


@dataclass(frozen=True)
class Ratio:
    """``numerator`` over the product of ``denominators``."""

    numerator: Linear
    denominators: tuple[Linear, ...]

    def denominator(self, values: Mapping[str, Number]) -> Fraction:
        """The value of the denominators' product; raises KeyError for a missing counter."""
        product = Fraction(1)
        for each in self.denominators:
            product *= total(each, values)
        return product


def total(sum_: Linear, values: Mapping[str, Number]) -> Fraction:
    """The exact value of a sum; raises KeyError for a missing counter."""
    return sum(
        (factor * (Fraction(values[name]) if name else 1) for name, factor in sum_.items()),
        Fraction(0),
    )


def ratio_of(formula: Formula) -> Ratio:
    """The formula as a fraction.  Raises NotLinearError where a sum or a product of it does not fit."""
    above, below = _factors(formula.tree)
    scale = Fraction(1)
    for each in below:
        scale *= each[CONSTANT] if _is_constant(each) else 1
    numerator = {name: factor / scale for name, factor in _product(above).items()}
    return Ratio(numerator, tuple(each for each in below if not _is_constant(each)))


Factors = tuple[list[Linear], list[Linear]]


def _factors(node: ast.expr) -> Factors:
    """Sums above and below the line whose products make the expression."""
    if isinstance(node, ast.Name):
        return [{node.id: Fraction(1)}], []
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        return [{CONSTANT: Fraction(node.value)}], []
    assert isinstance(node, ast.BinOp)
    left, right = _factors(node.left), _factors(node.right)
    if isinstance(node.op, ast.Mult):
        return left[0] + right[0], left[1] + right[1]
    if isinstance(node.op, ast.Div):
        return left[0] + right[1], left[1] + right[0]
    if left[1] or right[1]:
        raise NotLinearError("a sum of fractions")
    sign = -1 if isinstance(node.op, ast.Sub) else 1
    found = dict(_product(left[0]))
    for name, factor in _product(right[0]).items():
        found[name] = found.get(name, Fraction(0)) + sign * factor
    return [found], []


def _product(factors: list[Linear]) -> Linear:
    """Of sums of which at most one is more than a constant."""
    scale, found = Fraction(1), None
    for each in factors:
        if _is_constant(each):
            scale *= each[CONSTANT]
        elif found is None:
            found = each
        else:
            raise NotLinearError("a product of counters")
    return {name: scale * factor for name, factor in (found or {CONSTANT: Fraction(1)}).items()}


def _is_constant(factor: Linear) -> bool:
    return set(factor) == {CONSTANT}
