"""``pytest --simt``, in a pytest of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine_view import needs_numba_cuda

ROOT = Path(__file__).parent.parent
linux = pytest.mark.skipif(sys.platform != "linux", reason="programs run on Linux")

SUITE = """\
import numpy as np
import pytest
from numba import cuda

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

@pytest.mark.parametrize("size", [1, 100])
def test_twice(size):
    x = cuda.to_device(np.arange(size, dtype=np.float32))
    twice[2, 64](x)
    assert (x.copy_to_host() == 2 * np.arange(size)).all()

def test_that_fails():
    x = cuda.to_device(np.ones(3))
    twice[1, 32](x)
    assert x.copy_to_host().sum() == 7

def test_which_device():
    assert cuda.get_current_device().compute_capability == (8, 0)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on the files in *folder*."""
    # Without autoload: the plugin is loaded by name, and must not come a second time from an installed simt.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("SIMT_PYTEST", None)
    options = ["-p", "simt.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=folder, env=environment, capture_output=True, text=True,
        check=False, timeout=280,
    )  # fmt: skip


@linux
@needs_numba_cuda
def test_a_suite_written_for_numba_cuda(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    done = run(tmp_path, "--simt", "--simt-device", "a100")
    assert "simt: modelled NVIDIA A100" in done.stdout
    assert "1 failed, 3 passed" in done.stdout
    assert "6.0) == 7" in done.stdout
    assert done.returncode == 1


@linux
def test_a_device_that_there_is_not(tmp_path: Path) -> None:
    done = run(tmp_path, "--simt", "--simt-device", "h2000")
    assert done.returncode == 4
    assert "there is no device 'h2000'" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_option_nothing_is_different(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os, sys\ndef test_it():\n    assert 'SIMT_PYTEST' not in os.environ\n"
        "    assert 'simt.driver' not in sys.modules\n"
    )
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "modelled" not in done.stdout


CHECKED = """\
import numpy as np
import pytest
import simt
from numba import cuda
from simt.check import RaceError

def fill(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = i

def collide(x):
    x[0] = cuda.threadIdx.x

@pytest.mark.parametrize("size", [1, 100])
def test_fill(size, simt_budget):
    profile = simt.launch(fill, 1, 128, np.zeros(size, np.int32))
    simt_budget(profile)

def test_collide():
    with pytest.raises(RaceError):
        simt.launch(collide, 1, 64, np.zeros(1, np.int32))
"""


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "xdist"])
def test_every_launch_is_checked_and_counted_by_kernel(tmp_path: Path, workers: list[str]) -> None:
    (tmp_path / "test_checked.py").write_text(CHECKED)
    done = run(tmp_path, "--simt-check", "racecheck", "--simt-update-budgets", *workers)
    assert done.returncode == 0, done.stdout
    lines = [line.split() for line in done.stdout.partition("launches checked by racecheck")[2].splitlines()]
    assert ["kernel", "launches", "instructions", "findings"] in lines
    assert ["collide", "1", "0", "1"] in lines
    (fill,) = (line for line in lines if line and line[0] == "fill")
    assert fill[1] == "2"
    assert fill[3] == "0"
    budgets = json.loads((tmp_path / "simt-budgets.json").read_text())
    assert list(budgets) == ["test_checked.py::test_fill[100]", "test_checked.py::test_fill[1]"]
    assert sum(each["inst_executed"] for each in budgets.values()) == int(fill[2])


def test_a_budget_that_is_exceeded_fails_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_checked.py").write_text(CHECKED)
    (tmp_path / "simt-budgets.json").write_text('{"test_checked.py::test_fill[1]": {"inst_executed": 3}}')
    done = run(tmp_path, "-k", "fill")
    assert "over budget: test_checked.py::test_fill[1]: inst_executed is" in done.stdout
    assert "test_fill[100] has no budget for inst_executed in simt-budgets.json" in done.stdout
    assert "update the budget: pytest --simt-update-budgets" in done.stdout
    assert "pytest --simt-update-budgets writes what the launch counts now" in done.stdout
    assert "2 failed" in done.stdout


def test_a_check_that_there_is_not(tmp_path: Path) -> None:
    done = run(tmp_path, "--simt-check", "racechek")
    assert done.returncode == 4
    assert "there is no check 'racechek'" in done.stderr
    assert "Traceback" not in done.stderr
