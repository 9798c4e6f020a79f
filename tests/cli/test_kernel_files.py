"""Kernels in files of the user: ``file.py:function`` with a launch function beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MINE = """
import numpy as np
from numba import cuda

def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

def launch_saxpy(size=100, block=64):
    x = np.ones(size, np.float32)
    return dict(grid=-(-size // block), block=block, args=(2.0, x, x.copy()))

def twice(x):
    x[cuda.grid(1)] *= 2

def launch():
    return dict(grid=1, block=32, args=[np.ones(32)])

def racing(x):
    i = cuda.grid(1)
    x[i] = 2 * x[(i + 32) % 64]

def launch_racing():
    return dict(grid=1, block=64, args=(np.ones(64),))

def launch_list(): return [1]
def list(x): pass
def launch_more(): return dict(grid=1, block=1, args=(), blocks=3)
def more(): pass
def launch_fails(): return 1 // 0
def fails(): pass
def launch_bare(): return dict(grid=1, block=32, args=np.ones(32))
def bare(x): pass
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return str(path)


def test_a_kernel_in_a_file(run, mine: str) -> None:
    found = run("trace", f"{mine}:saxpy", "--size", "40", "--warp", "1")
    assert found.code == 0
    assert "y[i] = a * x[i] + y[i]" in found.out
    profile = run("run", f"{mine}:saxpy", "--json").json()
    assert profile["kernel"] == "saxpy"
    assert profile["grid"] == [2, 1, 1]
    assert run("run", f"{mine}:twice").code == 0  # by launch()


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("saxp", [], "did you mean saxpy"),
        ("twice", ["--size", "5"], "no parameter 'size'"),
        ("list", [], "must return a dict with grid, block, args (and shared_bytes), not list"),
        ("more", [], "not args, block, blocks, grid"),
        ("fails", [], "ZeroDivisionError"),
        ("bare", [], "must return args as a tuple, not ndarray"),
    ],
)
def test_launches_in_files_that_are_wrong(run, mine: str, function: str, options: list[str], message: str) -> None:
    found = run("run", f"{mine}:{function}", *options)
    assert found.code == 2
    assert message in found.err
    assert "Traceback" not in found.err


def test_a_sweep_says_what_the_file_lacks(run, mine: str) -> None:
    """It has no option --block that one could leave out."""
    found = run("sweep", f"{mine}:twice")
    assert found.code == 2
    assert "launch() in" in found.err
    assert "def launch(block=256)" in found.err


def _pipe(folder: Path) -> Path:
    """A pipe that nobody writes to: whoever opens it waits for ever."""
    os.mkfifo(folder / "pipe.py")
    return folder / "pipe.py"


def test_files_that_do_not_load(run, tmp_path: Path) -> None:
    absent = run("run", str(tmp_path / "absent.py:k")).err
    assert "no file" in absent
    assert str(tmp_path.resolve()) in absent
    (tmp_path / "folder.py").mkdir()
    assert "folder.py is a folder, not a file" in run("run", str(tmp_path / "folder.py:k")).err
    assert "pipe.py is a device or a pipe, not a file" in run("run", f"{_pipe(tmp_path)}:k").err
    for wrong in ("notes.txt:k", str(tmp_path)):
        found = run("run", wrong)
        assert found.code == 2
        assert f"{wrong} is neither a name of `simt kernels` nor a function in a file" in found.err
        assert "help: write FILE.py:FUNCTION, FILE.cu:KERNEL or FILE.cubin:KERNEL" in found.err
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\ndef k(:\n")
    found = run("run", f"{broken}:k")
    assert found.code == 2
    assert "SyntaxError" in found.err
    assert f"{broken}:2" in found.err
    script = tmp_path / "script.py"
    script.write_text("def k(x): pass\nraise SystemExit(0)\n")
    found = run("run", f"{script}:k")
    assert found.code == 2
    assert "script.py cannot be imported: SystemExit: 0" in found.err
    assert "behind if __name__ == '__main__':" in found.err
    silent = tmp_path / "silent.py"
    silent.write_text("def k(x): pass\n")
    assert "launch_k()" in run("run", f"{silent}:k").err


def test_races_are_found_if_asked_for(run, mine: str) -> None:
    assert run("run", f"{mine}:racing").code == 0
    found = run("run", f"{mine}:racing", "--check", "racecheck")
    assert found.code == 2
    assert "data race" in found.err
    assert run("reduce", "--size", "2000", "--block", "64", "--check", "racecheck", "--kernel", "neighbored").code == 0
