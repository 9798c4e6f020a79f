"""``simt sweep`` over grids, constants and devices: what is tried, what it says, what it refuses."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from simt.cli.choices import Trial, trials
from simt.cli.sweep import Work, unlike
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

PYTHON = """
import numpy as np
from numba import cuda

UNROLL = 1
WORDS: int = 2**10 * UNROLL


def add(x):
    i = cuda.grid(1)
    for k in range(UNROLL):
        x[i * UNROLL + k] += 1.0


def launch_add(block=64, grid=4):
    return dict(grid=grid, block=block, args=(np.zeros(WORDS * 64, np.float32),))
"""

CUDA = """#ifndef UNROLL
#define UNROLL 1
#endif
#define FIXED 4
__global__ void add(float *x, int n) {
#pragma unroll
    for (int k = 0; k < UNROLL; k++) x[(blockIdx.x * blockDim.x + threadIdx.x) * UNROLL + k] += FIXED;
}
"""
ARGUMENTS = ("--arg", "zeros:float32:2^14", "--arg", "1024")

sizes = st.lists(st.integers(1, 1024), min_size=1, max_size=4, unique=True)


@pytest.fixture
def python(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(PYTHON)
    return f"{tmp_path / 'mine.py'}:add"


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "mine.cu").write_text(CUDA)
    return f"{tmp_path / 'mine.cu'}:add"


@given(sizes, sizes, st.dictionaries(st.sampled_from(["A", "B_2"]), sizes))
def test_all_combinations_are_tried(blocks: list[int], grids: list[int], constants: dict[str, list[int]]) -> None:
    def listed(values: list[int]) -> str:
        return ", ".join(map(str, values))

    given = [f"{name} = {listed(values)}" for name, values in constants.items()]
    found = trials(listed(blocks), listed(grids), given, "h200,my.toml", "1")
    every = product(blocks, grids, *constants.values(), ["h200", "my.toml"])
    assert [(t.block, t.grid, *(int(value) for _, value in t.constants), t.device) for t in found] == list(every)
    assert all(list(t.axes) == ["block", "grid", *constants, "device"] for t in found)


def test_a_trial_in_words() -> None:
    assert str(Trial(128)) == "128 threads per block"
    assert str(Trial((16, 8), 66, (("UNROLL", "4"),), "h100")) == "block 16x8, grid 66, UNROLL=4, device h100"
    assert [str(each) for each in trials(None, None, (), None, "32,64")] == [
        "32 threads per block",
        "64 threads per block",
    ]
    assert trials(None, None, (), "h200", "32,64") == [Trial(device="h200")]


@pytest.mark.parametrize(
    ("option", "text"),
    [
        *((option, text) for option in ("--blocks", "--grids") for text in ("", "32,,64", "a", "1x2x3x4")),
        ("--devices", "h200,"),
        *(("--constants", text) for text in ("N", "N=", "N=1,,2", "1N=3", "=2")),
    ],
)
def test_what_is_not_of_the_form(option: str, text: str) -> None:
    options = {"--blocks": None, "--grids": None, "--devices": None, option: text}
    constants = [text] if option == "--constants" else []
    with pytest.raises(typer.BadParameter, match="is not of the form") as found:
        trials(options["--blocks"], options["--grids"], constants, options["--devices"], "32")
    assert found.value.param_hint == option


def by(results: list[dict[str, Any]], *axes: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(each[axis] for axis in axes): each for each in results}


def test_constants_and_grids_of_a_python_file(run, python: str) -> None:
    """Each launch has the constant in its kernel and in what the file works out of it; the file stays as it is."""
    found = run("sweep", python, "--grids", "2,8", "--constants", "UNROLL=1,4", "--json").json()
    results = by(found["results"], "grid", "UNROLL")
    assert results.keys() == {(2, "1"), (2, "4"), (8, "1"), (8, "4")}
    assert results[8, "4"]["cycles"] > results[8, "1"]["cycles"]
    assert found["best"].keys() == {"grid", "UNROLL"}
    (note,) = found["notes"]
    assert note.startswith("unlike work: grid 8, UNROLL=4 executes ")
    margins = sorted(each["margin_percent"] for each in found["results"])
    assert margins[0] == 0 < margins[1]
    alone = run("run", python, "--grid", "2", "--timing", "--json").json()
    assert alone["metrics"]["cycles"] == results[2, "1"]["cycles"]


def test_other_tiles_and_other_threads_are_like_work() -> None:
    def note(*works: tuple[int, int]) -> list[str]:
        return unlike({Trial(32 << k): Work(*each) for k, each in enumerate(works)})

    assert note((1000, 8000), (1000, 1000)) == []  # larger tiles
    assert note((4000, 1000), (1000, 1000)) == []  # unrolled
    assert note((1000, 1000)) == []
    (text,) = note((1000, 400), (2000, 800), (500, 100))
    assert "64 threads per block executes 4.0 times the thread instructions of 128 threads per block" in text
    assert "8.0 times the bytes" in text
    (text,) = note((1000, 0), (2000, 0))
    assert "bytes" not in text


def test_launches_that_do_not_do_the_same_are_told(run, python: str) -> None:
    assert "unlike work: grid 8 executes 4.0 times" in run("sweep", python, "--grids", "2,8").out.replace("\n", " ")
    assert run("sweep", "vector_add", "--blocks", "64,128", "--json").json()["notes"] == []


def test_constants_travel_with_the_kernel(run, python: str) -> None:
    wanted = ["sweep", python, "--constants", "UNROLL=1,4", "--json"]
    assert run(*wanted, "--executor", "processes:1").json() == run(*wanted).json()


@needs_nvrtc
@needs_nvdisasm
def test_constants_of_cuda_c(run, source: str) -> None:
    options = [*ARGUMENTS, "--blocks", "64", "--grids", "2,4"]
    found = run("sweep", source, *options, "--constants", "UNROLL=1,4", "--json").json()
    results = by(found["results"], "grid", "UNROLL")
    for grid in (2, 4):
        given = run(
            "run",
            source,
            "--grid",
            str(grid),
            "--block",
            "64",
            *ARGUMENTS,
            "--nvrtc",
            "-DUNROLL=4",
            "--timing",
            "--json",
        )
        assert given.json()["metrics"]["cycles"] == results[grid, "4"]["cycles"] != results[grid, "1"]["cycles"]


@needs_nvrtc
@needs_nvdisasm
def test_each_device_gets_code_of_its_own(run, source: str) -> None:
    """The best is the one with the shortest time: clocks differ."""
    options = [*ARGUMENTS, "--blocks", "64", "--grids", "4", "--devices", "h200,t4,quadro_p2000"]
    found = run("sweep", source, *options, "--json").json()
    results = by(found["results"], "device")
    assert results.keys() == {("h200",), ("t4",)}
    assert found["best"]["device"] == min(results, key=lambda device: results[device]["duration"])[0]
    (refused,) = found["refused"]
    assert refused["device"] == "quadro_p2000"
    assert "sm_61" in refused["why"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--constants", "UNROL=1"], "did you mean UNROLL"),
        (["--constants", "UNROLL=x"], "UNROLL=x: 'x' is not a number that Python can read"),
        (["--constants", "UNROLL=1", "--constants", "UNROLL=2"], "each constant is named once"),
        (["--devices", "h200,h2000"], "did you mean h200"),
        (["--devices", "h200", "--device", "h200"], "--devices"),
        (["--grids", "1", "--grid", "2"], "--grids"),
    ],
)
def test_sweeps_of_a_python_file_that_are_refused(run, python: str, options: list[str], message: str) -> None:
    found = run("sweep", python, *options)
    assert found.code == 2
    assert message in found.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--constants", "FIXED=1"], "mine.cu defines FIXED itself"),
        (["--constants", "FIXED=1"], "mine.cu:4"),
        (["--constants", "OTHER=1"], "mine.cu does not use OTHER"),
    ],
)
def test_constants_that_would_change_nothing(run, source: str, options: list[str], message: str) -> None:
    found = run("sweep", source, *ARGUMENTS, "--grids", "1", *options)
    assert found.code == 2
    assert message in found.err


def test_what_a_kernel_of_simt_decides_itself(run) -> None:
    assert "interleaved chooses its grid itself" in run("sweep", "interleaved", "--grids", "1").err
    assert "interleaved has no constants to set" in run("sweep", "interleaved", "--constants", "N=1").err
