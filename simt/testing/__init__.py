"""Tests of kernels on `Hypothesis <https://hypothesis.readthedocs.io>`_: :func:`assert_kernel`, and budgets of counts.

>>> assert_kernel(saxpy, reference, launches(scalars("float32"), arrays("float32"), arrays("float32")))

Names are imported on first use: :func:`budget` needs no Hypothesis.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simt.testing.assertion import assert_kernel
    from simt.testing.budgets import budget
    from simt.testing.case import Case, Extent
    from simt.testing.errors import KernelTestError, OverBudgetError, ReferenceFailedError
    from simt.testing.exploring import Exploration, Outcome, explore
    from simt.testing.strategies import arrays, blocks, elements, launches, length, outputs, scalars, sizes

_HOME = {
    "assert_kernel": "assertion",
    "budget": "budgets",
    "Case": "case",
    "Extent": "case",
    "Exploration": "exploring",
    "KernelTestError": "errors",
    "Outcome": "exploring",
    "OverBudgetError": "errors",
    "ReferenceFailedError": "errors",
    "arrays": "strategies",
    "blocks": "strategies",
    "elements": "strategies",
    "explore": "exploring",
    "launches": "strategies",
    "length": "strategies",
    "outputs": "strategies",
    "scalars": "strategies",
    "sizes": "strategies",
}

__all__ = [
    "Case",
    "Exploration",
    "Extent",
    "KernelTestError",
    "Outcome",
    "OverBudgetError",
    "ReferenceFailedError",
    "arrays",
    "assert_kernel",
    "blocks",
    "budget",
    "elements",
    "explore",
    "launches",
    "length",
    "outputs",
    "scalars",
    "sizes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'simt.testing' has no attribute {name!r}")
    return getattr(import_module(f"simt.testing.{_HOME[name]}"), name)
