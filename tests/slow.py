"""Cases that take long, which ``pytest --slow`` runs, too."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def slow(*cases: Any) -> list[Any]:
    """Cases of a parametrized test, marked slow; a tuple holds the values of several arguments."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in cases]


def few(cases: Iterable[Any], always: Container[Any]) -> list[Any]:
    """All *cases*, marked slow but for those that are, or begin with, one of *always*."""
    first = ((case[0] if isinstance(case, tuple) else case, case) for case in cases)
    return [case if key in always else slow(case)[0] for key, case in first]
