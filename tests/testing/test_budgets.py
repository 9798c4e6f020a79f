"""Budgets of counts: what is over, what is missing, what the file may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import LaunchError
from simt.testing import OverBudgetError, budget


def fill(x: Any) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] = i


@pytest.fixture(name="profile")
def _profile() -> simt.Profile:
    return simt.launch(fill, 2, 64, np.zeros(128, np.int32))


def test_updated_then_held(profile: simt.Profile, tmp_path: Path) -> None:
    file = tmp_path / "budgets.json"
    budget(profile, file=file, update=True)
    count = profile.metrics["inst_executed"]
    assert json.loads(file.read_text()) == {"fill (source)": {"inst_executed": count}}
    budget(profile, file=file)


def test_over_budget_says_which_metric_by_how_much_and_where(profile: simt.Profile, tmp_path: Path) -> None:
    file = tmp_path / "budgets.json"
    count = int(profile.metrics["inst_executed"] or 0)
    file.write_text(json.dumps({"fill": {"inst_executed": count - 4, "gst_transactions": 1}}))
    with pytest.raises(OverBudgetError) as caught:
        budget(profile, "fill", metrics=("inst_executed", "gst_transactions"), file=file)
    text = str(caught.value)
    assert f"fill: inst_executed is {count}, 4 ({400 / (count - 4):.1f} %) more than {count - 4}" in text
    assert "gst_transactions is 16, 15 (1500.0 %) more than 1" in text
    assert f"the budget is in {file}" in text
    assert "update=True" in text
    assert isinstance(caught.value, AssertionError)


def test_less_is_within_the_budget(profile: simt.Profile, tmp_path: Path) -> None:
    file = tmp_path / "budgets.json"
    file.write_text('{"fill": {"inst_executed": 100000}}')
    budget(profile, "fill", file=file)


def test_no_budget(profile: simt.Profile, tmp_path: Path) -> None:
    with pytest.raises(OverBudgetError, match=r"fill has no budget for inst_executed in .*none\.json"):
        budget(profile, "fill", file=tmp_path / "none.json")


def test_updates_keep_the_other_budgets(profile: simt.Profile, tmp_path: Path) -> None:
    file = tmp_path / "budgets.json"
    file.write_text('{"other": {"inst_executed": 5}, "fill": {"gone": 7}}')
    budget(profile, "fill", file=file, update=True)
    found = json.loads(file.read_text())
    assert found["other"] == {"inst_executed": 5}
    assert list(found["fill"]) == ["inst_executed"]


@pytest.mark.parametrize("text", ["[", "[]", '{"fill": 3}', '{"fill": {"inst_executed": "many"}}'])
def test_files_that_hold_no_budgets(profile: simt.Profile, tmp_path: Path, text: str) -> None:
    file = tmp_path / "budgets.json"
    file.write_text(text)
    with pytest.raises(LaunchError, match="budgets"):
        budget(profile, "fill", file=file)


def test_a_metric_without_a_value(tmp_path: Path) -> None:
    def nothing(x: Any) -> None:
        pass

    profile = simt.launch(nothing, 1, 32, np.zeros(1))
    with pytest.raises(LaunchError, match="gld_efficiency is not defined for this launch of nothing"):
        budget(profile, metrics=["gld_efficiency"], file=tmp_path / "b.json")
