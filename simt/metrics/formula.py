"""Formulas of metrics: the text that a user reads is the text that is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

Number = int | float


@dataclass(frozen=True)
class Formula:
    """An arithmetic expression (``+ - * /``, parentheses, numbers) over counter names.

    Raises ``ValueError`` when made from anything else, so a bad row of the metric table fails at import.
    """

    text: str

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if not isinstance(node, _ALLOWED):
                raise ValueError(f"formula {self.text!r}: {type(node).__name__} is not allowed")
            if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
                raise ValueError(f"formula {self.text!r}: {node.value!r} is not a number")

    def __str__(self) -> str:
        return self.text

    @cached_property
    def tree(self) -> ast.expr:
        """The parsed expression."""
        try:
            return ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"formula {self.text!r}: {error.msg}") from None

    @cached_property
    def names(self) -> frozenset[str]:
        """The counters that the formula needs."""
        return frozenset(node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name))

    def __call__(self, values: Mapping[str, Number]) -> Number | None:
        """The value; ``None`` if a counter is missing from ``values`` or a denominator is zero."""
        if not self.names <= values.keys():
            return None
        try:
            return _evaluate(self.tree, values)
        except ZeroDivisionError:
            return None


_ALLOWED = (
    ast.BinOp, ast.Name, ast.Load, ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.Div,
)  # fmt: skip


def _evaluate(node: ast.expr, values: Mapping[str, Number]) -> Number:
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        return node.value
    assert isinstance(node, ast.BinOp)
    left, right = _evaluate(node.left, values), _evaluate(node.right, values)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case _:
            return left / right
