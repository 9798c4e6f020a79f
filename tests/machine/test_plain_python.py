"""The compiled engine and the same engine as plain Python leave the same memory, counters, traces and messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.machine.small_programs import report

ROOT = Path(__file__).parents[2]


def _report_without_compiler(promotion: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "NPY_PROMOTION_STATE": promotion,  # NumPy 2 is always "weak", whatever this says
        "PYTHONWARNINGS": "error::DeprecationWarning",
    }
    return subprocess.run(
        [sys.executable, "-m", "tests.machine.small_programs"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """The report of a process without Numba's compiler."""
    process = _report_without_compiler("weak")
    assert process.returncode == 0, process.stderr
    return dict(json.loads(process.stdout))


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    """The report of this process, through JSON as well."""
    return dict(json.loads(json.dumps(report())))


def test_exact_micro_ops(plain: dict[str, Any], compiled: dict[str, Any]) -> None:
    assert plain["alu"]["exact"].keys() == compiled["alu"]["exact"].keys()
    for name, values in compiled["alu"]["exact"].items():
        assert plain["alu"]["exact"][name] == values, name


def test_mathematical_functions(plain: dict[str, Any], compiled: dict[str, Any]) -> None:
    for name, values in compiled["alu"]["approximate"].items():
        kind = (np.uint32, np.float32) if name.startswith("powi.f32") else (np.uint64, np.float64)
        found, expected = (
            np.array(patterns, np.uint64).astype(kind[0]).view(kind[1])
            for patterns in (plain["alu"]["approximate"][name], values)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("part", ["control", "memory", "errors", "source"])
def test_everything_else(part: str, plain: dict[str, Any], compiled: dict[str, Any]) -> None:
    assert plain[part] == compiled[part]


def test_the_errors_are_there(compiled: dict[str, Any]) -> None:
    assert len(compiled["errors"]) == 5


@pytest.mark.skipif(not np.__version__.startswith("1."), reason="NumPy 2 needs no switch")
def test_numpy_1_without_its_switch_says_so() -> None:
    process = _report_without_compiler("legacy")
    assert process.returncode == 1
    assert "NPY_PROMOTION_STATE=weak" in process.stderr
