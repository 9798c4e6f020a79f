"""Verdicts of a comparison."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gpu.comparison import (
    CLOSE,
    DIFFERENT,
    EQUAL,
    OTHER_CODE,
    PREDICTED,
    Row,
    compare_metrics,
    compare_outputs,
    compare_profiles,
)


def verdict(ours: np.ndarray, theirs: np.ndarray, **options: object) -> str:
    (output,) = compare_outputs((ours,), (theirs,), **options)
    return output.verdict


def test_integers_are_exact() -> None:
    a, b = np.array([0, 1, 2, 3]), np.array([0, 1, 3, 3])
    assert verdict(a, a.copy()) == EQUAL
    assert verdict(a, b) == DIFFERENT
    assert verdict(a, b, rounded={0: 1.0}) == CLOSE
    assert verdict(a, a.copy(), unstable=("argument 1",)) == DIFFERENT


def test_floats_have_a_tolerance_and_nan_is_nan() -> None:
    a = np.array([1.0, -3.0, np.nan, np.inf])
    assert verdict(a, a.copy()) == EQUAL
    assert verdict(a, a * (1 + 1e-13)) == CLOSE
    assert verdict(a, a * (1 + 1e-6)) == DIFFERENT
    assert verdict(a, np.array([1.0, -3.0, 0.0, np.inf])) == DIFFERENT
    assert verdict(a, np.array([1.0, -3.0, np.nan, -np.inf])) == DIFFERENT
    assert verdict(a, a.copy(), unstable=("argument 1",)) == EQUAL


def test_scalars_are_no_outputs() -> None:
    assert compare_outputs((1, np.zeros(2), 2.0), (1, np.zeros(2), 2.0))[0].argument == 1


def test_metrics() -> None:
    hardware = {"gld_transactions": 100, "gst_transactions": 10001, "inst_executed": 7, "gld_efficiency": None}
    ours = {"gld_transactions": 100, "gst_transactions": 10000, "inst_executed": 5, "gld_efficiency": 50.0}
    rows = {row.metric: row for row in compare_metrics(ours, hardware, "source")}
    assert rows["gld_transactions"].verdict == EQUAL
    assert rows["gst_transactions"].verdict == CLOSE
    assert rows["inst_executed"].verdict == OTHER_CODE
    assert "gld_efficiency" not in rows
    (wrong,) = compare_metrics({"inst_executed": 5}, {"inst_executed": 7}, "sm_90")
    assert wrong.verdict == DIFFERENT
    assert wrong.ratio == pytest.approx(5 / 7)


def test_ratio_to_nothing() -> None:
    assert Row("x", 1, 0, DIFFERENT).ratio is None
    assert math.isclose(Row("x", 1, 4, DIFFERENT).ratio or 0, 0.25)


@pytest.mark.parametrize("name", ["active_threads_per_instruction", "branch_efficiency"])
@pytest.mark.parametrize(("ours", "verdict"), [(31.874154, EQUAL), (31.88, DIFFERENT)])
def test_ratios_that_ncu_prints_with_two_decimals(name: str, ours: float, verdict: str) -> None:
    (row,) = compare_metrics({name: ours}, {name: 31.87}, "sm_90")
    assert row.verdict == verdict


def test_a_predicted_time_is_no_count() -> None:
    """The simulator's cycles differ from the hardware's, and that is no failure."""
    rows = compare_metrics({"cycles": 100, "duration": 60.0}, {"cycles": 90, "duration": 55.0}, "sm_90")
    assert [row.verdict for row in rows] == [PREDICTED, PREDICTED]


def test_what_the_views_count_alike_is_what_the_metric_says() -> None:
    ours = {"shared_wavefronts": 4, "branch": 3}
    rows = compare_metrics(ours, {"shared_wavefronts": 5, "branch": 5}, "source")
    assert [row.verdict for row in rows] == [DIFFERENT, OTHER_CODE]


def test_totals_are_beside_totals_and_what_instrumented_code_counts_beside_rows() -> None:
    """A launch in the order of the profiler, the same in that of the hardware, and what Nsight Compute printed."""
    rows = SimpleNamespace(view="sm_90", metrics={"inst_executed": 70, "divergent_branch": 3})
    totals = SimpleNamespace(metrics={"inst_executed": 72, "divergent_branch": 4})
    hardware = SimpleNamespace(metrics={"inst_executed": 72, "divergent_branch": 3})
    compared, _ = compare_profiles(rows, hardware, totals)
    assert {row.metric: row.verdict for row in compared} == {"inst_executed": EQUAL, "divergent_branch": EQUAL}
    compared, _ = compare_profiles(rows, hardware)
    assert {row.metric: row.verdict for row in compared} == {"inst_executed": DIFFERENT, "divergent_branch": EQUAL}
