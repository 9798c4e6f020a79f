"""``simt check``: findings of a kernel or a program, by tool."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simt.cli import check
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

KERNELS = """
import numpy as np
from numba import cuda

def racing(x):
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    x[t] = s[63 - t]

def outside(x):
    s = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    x[t] = s[t]
    x[t + 1] = t

def launch(block=64):
    return dict(grid=1, block=block, args=(np.arange(64, dtype=np.int32),))
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    file = tmp_path / "mine.py"
    file.write_text(KERNELS)
    return str(file)


def test_nothing_is_found_in_a_kernel_of_the_registry(run) -> None:
    found = run("check", "--size", "200", "shared")
    assert found.code == 0, found.err
    assert "nothing found" in found.out
    assert "note: racecheck found nothing" in found.out


def test_options_may_follow_a_kernel(run, mine: str) -> None:
    assert json.loads(run("check", f"{mine}:racing", "--tool", "racecheck", "--json").out)["findings"]


CUDA_C = """
extern "C" __global__ void shift(float *x, const float *y, int n) {
  extern __shared__ float s[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? y[i] : 0.0f;
  if (i < n) x[i] = s[(threadIdx.x + OFFSET) % blockDim.x];
}
"""


@needs_nvrtc
@needs_nvdisasm
@pytest.mark.parametrize(("offset", "kinds"), [(0, []), (33, ["uninitialised read", "data race", "data race"])])
def test_a_kernel_in_cuda_c(run, tmp_path: Path, offset: int, kinds: list[str]) -> None:
    """With a launch as of simt run; y is in a file, which is no program."""
    np.save(tmp_path / "y.npy", np.ones(100, np.float32))
    (tmp_path / "shift.cu").write_text(CUDA_C)
    launch = ["--grid", "2", "--block", "64", "--arg", "zeros:float32:100", "--arg", str(tmp_path / "y.npy")]
    more = ["--arg", "100", "--shared", "256", "--nvrtc", f"-DOFFSET={offset}", "--json"]
    found = run("check", f"{tmp_path / 'shift.cu'}:shift", *launch, *more)
    assert found.code == (1 if kinds else 0), found.err
    assert [finding["kind"] for finding in json.loads(found.out)["findings"]] == kinds


def test_the_value_of_an_option_is_no_program(run, mine: str, tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.touch()
    assert run("check", "--log-file", str(report), f"{mine}:racing", "--tool", "synccheck").code == 0


def test_an_endless_kernel_ends_soon(run, tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text(ENDLESS)
    found = run("check", "--max-instructions", "5000", f"{file}:endless")
    assert found.code == 1
    assert "a block executed more than 5000 warp instructions" in found.out
    assert check.MOST <= 2**24  # at half a million a second that is half a minute


ENDLESS = """
import numpy as np

def endless(x):
    while x[0] < 1:
        x[1] += 1

def launch():
    return dict(grid=1, block=32, args=(np.zeros(2),))
"""


def test_findings_have_both_sides_and_a_count(run, mine: str) -> None:
    found = run("check", "--tool", "racecheck", f"{mine}:racing")
    assert found.code == 1
    assert "racecheck: the kernel is wrong: data race" in found.out
    assert "2 findings" in found.out  # the write after the read, and the read after the write
    data = json.loads(run("check", "--tool", "racecheck", "--json", f"{mine}:racing").out)
    race = data["findings"][0]
    assert [side["what"] for side in race["sides"]] == ["write", "read before"]
    assert [side["line"] for side in race["sides"]] == [8, 9]
    assert race["element"] == "s[32]"
    assert race["sides"][0]["lanes"] == list(range(32))


def test_an_error_that_ends_the_launch_comes_after_what_was_found_before(run, mine: str) -> None:
    found = run("check", f"{mine}:outside")
    assert found.code == 1
    assert "initcheck" in found.out
    assert "index 64 is out of bounds" in found.out
    assert found.out.index("initcheck") < found.out.index("index 64")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tool", "leakcheck", "shared"], "there is no check 'leakcheck'"),
        (["shared", "7"], "takes no arguments"),
        (["shared", "--tool", "leakcheck"], "there is no check 'leakcheck'"),
        (["report.csv"], "report.csv is a profile of a GPU"),
        (["report.csv:blur"], "report.csv is a profile of a GPU"),
        (["shared", "--frobnicate"], "--frobnicate"),
        (["--tool", "all", "no_such_kernel"], "no_such_kernel"),
        (["absent.cu"], "there is no file absent.cu"),
    ],
)
def test_what_cannot_be_checked(run, arguments: list[str], message: str) -> None:
    found = run("check", *arguments)
    assert found.code == 2
    assert message in found.err


def test_a_file_without_machine_code_is_no_finding(run, tmp_path: Path) -> None:
    file = tmp_path / "empty.sass"
    file.write_text("not a listing")
    found = run("check", f"{file}:blur")
    assert found.code == 2
    assert "neither a cubin nor a SASS listing" in found.err
    assert not found.out
