"""``simt profile --symbol``: variables of a module on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.machine_view import DATA, needs_nvdisasm

CUBIN = str(DATA / "sm_90" / "variables_O3.cubin")
WEIGH = ["profile", CUBIN, "--kernel", "weigh", "--grid", "1", "--block", "8"]
WEIGH += ["--arg", "arange:int32:8", "--arg", "zeros:float32:8"]

pytestmark = needs_nvdisasm


def test_symbols_on_the_command_line(run, tmp_path: Path) -> None:
    np.save(tmp_path / "weights.npy", np.array([1, 2, 3, 4], np.float32))
    sums = tmp_path / "sums.npy"
    symbols = ["--symbol", f"weights={tmp_path / 'weights.npy'}", "--symbol", "offset=100"]
    done = run(*WEIGH, *symbols, "--out", f"1={sums}")
    assert (done.code, done.err) == (0, "")
    assert "note:" not in done.out
    assert np.load(sums).tolist() == [100, 102, 106, 112, 104, 110, 118, 128]


def test_a_variable_that_nobody_set_is_noted(run) -> None:
    assert "note: the kernel reads `weights`" in run(*WEIGH).out
    assert len(run(*WEIGH, "--json").json()["notes"]) == 1


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("offsett=1", "did you mean offset?"),
        ("offset=1i64", "has 8 bytes; the variable has 4"),
        ("offset=five", "this is not a number"),
        ("offset", "is not NAME=VALUE"),
    ],
)
def test_wrong_symbols(run, symbol: str, message: str) -> None:
    failed = run(*WEIGH, "--symbol", symbol)
    assert failed.code == 2
    assert message in failed.err
