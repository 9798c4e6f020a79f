"""Cases that take long, which ``pytest --slow`` runs, too."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], always: Container[Any]) -> list[Any]:
    """Cases of a parametrized test, marked slow but for those that are, or begin with, one of *always*.

    A tuple holds the values of several arguments.
    """
    found = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param(*values, marks=() if values[0] in always else pytest.mark.slow))
    return found


def slow(*cases: Any) -> list[Any]:
    """Such cases, all of them marked slow."""
    return few(cases, always=())
