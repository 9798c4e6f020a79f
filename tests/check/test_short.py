"""Errors of simt end in their message, for those who call it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import simt
from simt import kernels
from simt.check import LaunchError, SimtError
from simt.check.short import VARIABLE, ends_here


def bad_calls() -> dict[str, Callable[[], Any]]:
    plan = kernels.get("if_else").plan()
    return {
        "launch": lambda: simt.launch(plan.kernel, 0, 32, *plan.args),
        "reduce": lambda: simt.reduce(np.zeros((2, 2))),
        "load_cubin": lambda: simt.load_cubin("absent.cubin"),
        "load_cuda": lambda: simt.load_cuda("absent.cu"),
        "explain": lambda: simt.explain({}),
        "device": lambda: simt.Device().launch(plan.kernel, 0, 32, *plan.args),
    }


@pytest.mark.parametrize("name", bad_calls())
def test_the_traceback_ends_with_the_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def frames() -> list[str]:
        with pytest.raises(SimtError) as caught:
            bad_calls()[name]()
        return [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]

    monkeypatch.delenv(VARIABLE, raising=False)
    short = frames()
    assert sum("test_short.py" not in file for file in short) <= 1
    monkeypatch.setenv(VARIABLE, "full")
    assert len(frames()) > len(short)


def test_other_errors_and_results_pass() -> None:
    @ends_here
    def divide(a: int, b: int = 1) -> float:
        """Text."""
        return a / b

    assert divide(4, b=2) == 2
    assert divide.__doc__ == "Text."
    with pytest.raises(ZeroDivisionError):
        divide(1, 0)


def test_a_notebook_shows_the_message_alone() -> None:
    error = LaunchError("grid is 0", help="give one")
    assert error._render_traceback_() == ["LaunchError: the launch is wrong: grid is 0\n  help: give one"]
