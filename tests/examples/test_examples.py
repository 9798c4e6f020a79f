"""Every example runs as a newcomer runs it, and shows the figures that its docstring promises."""

from __future__ import annotations

import io
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

import simt

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@cache
def output(name: str, *arguments: str) -> str:
    """What the example prints; it must print nothing on standard error.  It runs in this process, which has simt."""
    out, errors, path = io.StringIO(), io.StringIO(), str(EXAMPLES / f"{name}.py")
    with redirect_stdout(out), redirect_stderr(errors), patch.object(sys, "argv", [path, *arguments]):
        runpy.run_path(path, run_name="__main__")
    assert errors.getvalue() == ""
    return out.getvalue()


def rows(name: str) -> list[list[str]]:
    """The output's lines, split into words."""
    return [line.split() for line in output(name).splitlines()]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """What says so on standard error has been said."""
    simt.launch(empty, 1, 32, timing=True)
    simt.launch(empty, 1, 32, check="all")


def empty() -> None:
    """A kernel."""


def test_an_example_as_a_newcomer_runs_it() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "if_else_passes.py")],
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, output("if_else_passes"), "")


def test_every_example_is_tested() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    untested = [path.stem for path in EXAMPLES.glob("*.py") if f'"{path.stem}"' not in here]
    assert not untested


def test_reduction_table() -> None:
    table = {row[0]: row for row in rows("reduction_table") if len(row) == 6 and row[0] != "kernel"}
    sums = {row[1] for row in table.values()}
    expected = re.search(r"sum (-?\d+)", output("reduction_table"))
    assert expected is not None
    assert sums == {expected.group(1)}
    assert table["neighbored"][5] == "25.02"
    assert table["interleaved"][5] == "96.15"
    assert table["complete_unroll"][5] == "99.43"
    assert float(table["neighbored"][3]) > float(table["neighbored_less"][3]) > float(table["interleaved"][3])


def test_trace_neighbored_vs_interleaved() -> None:
    text = output("trace_neighbored_vs_interleaved")
    neighbored, interleaved = (re.findall(r"(\d+) lanes", part) for part in text.split("interleaved:"))
    assert neighbored == ["16", "8", "4", "2", "1", "1", "16", "8", "4", "2", "1"]
    assert interleaved == ["32", "16", "8", "4", "2", "1"]
    assert text.count("sum 2016") == 2
    assert "#." * 16 in text


def test_if_else_passes() -> None:
    """Lanes 0-23 then, 24-31 else, then all: 24, 8, 32."""
    lines = {" ".join(row[2:]): row[:2] for row in rows("if_else_passes") if len(row) > 2}
    assert lines["value = 2 * lane"][1] == "24"
    assert lines["value = lane + 100"][1] == "8"
    assert lines["out[lane] = value + 1"] == ["0", "32"]
    assert lines["value = 2 * lane"][0] != lines["value = lane + 100"][0]
    assert "divergent branches: 1" in output("if_else_passes")


def test_loop_divergence() -> None:
    """4 + lane % 5 trips: 32, 32, 32, 32, then the lanes with at least 5, 6, 7, 8 trips."""
    active = [int(row[1]) for row in rows("loop_divergence") if len(row) == 3 and row[2].startswith("#")]
    trips = [4 + lane % 5 for lane in range(32)]
    assert active == [sum(t >= trip for t in trips) for trip in range(1, 9)]
    assert active[:4] == [32] * 4


def test_boundary_divergence() -> None:
    text = re.sub(r" +", " ", output("boundary_divergence"))
    assert "n = 100: 2 blocks, 4 warps, 1 divergent" in text
    assert "n = 1003: 16 blocks, 32 warps, 1 divergent" in text
    assert "n = 10000: 157 blocks, 314 warps, 1 divergent" in text
    assert "76 x 62: 20 blocks, 160 warps, 32 diverge on x < w, 31 on all of it" in text
    assert "200 x 150: 130 blocks, 1040 warps, 80 diverge on x < w, 75 on all of it" in text
    assert "block 40 x 2: 3 warps, 96 lanes, 16 that never exist" in text
    assert "thread (0, 1) is lane 8 of warp 1" in text


def test_predication() -> None:
    table = {(row[0], row[1]): row[2:] for row in rows("predication") if row[1] in ("0", "4")}
    assert table["even_odd", "0"][:3] == ["2", "2", "0.0"]
    assert table["two_ifs", "0"][:3] == ["4", "4", "0.0"]
    assert table["whole_warp", "0"][:3] == ["2", "0", "100.0"]
    assert table["c_precedence", "0"][:3] == ["2", "0", "100.0"]
    for kernel in ("even_odd", "whole_warp", "two_ifs", "c_precedence"):
        assert table[kernel, "4"][1:3] == ["0", "100.0"]


def test_shuffle_reduction() -> None:
    text = output("shuffle_reduction")
    assert "lane 0 holds 496" in text
    interleaved, shuffle = re.findall(r"sum (-?\d+): (\d+) warp instructions; sectors (\d+)", text)
    assert interleaved[0] == shuffle[0]
    assert int(shuffle[1]) < int(interleaved[1])
    assert int(shuffle[2]) < int(interleaved[2])


def test_published_profile() -> None:
    text = output("published_profile", "16")
    assert "18 of 18 figures equal the published ones" in text
    assert text.count(" right") == 9
    assert "412.0000    412.0000     25.02     25.02" in text


def test_latency_hiding() -> None:
    """Thirty-two times the work in less than 1.5 times the time, and busier schedulers with every step."""
    table = [row for row in rows("latency_hiding") if len(row) == 6 and row[4:] == ["long", "scoreboard"]]
    assert [int(row[0]) for row in table] == [1, 2, 4, 8, 16, 32]
    cycles, used = [int(row[1]) for row in table], [float(row[3]) for row in table]
    assert cycles[-1] < 1.5 * cycles[0]
    assert used == sorted(used)
    assert used[-1] > 20 * used[0]
    single, eight = output("latency_hiding").split("1 warp:")[1].split("8 warps:")
    for text, warps in ((single, 1), (eight, 8)):
        assert [len(row) for row in re.findall(r"\|([^|]*)\|$", text, flags=re.MULTILINE)] == [60] * warps
    assert "LLLLLLLL" in single
    assert re.search(r"> .* long scoreboard +\d+ +at = chain\[at\]", eight)


def test_barrier_deadlock() -> None:
    text = output("barrier_deadlock")
    assert "the kernel is wrong" in text
    assert "barrier_deadlock.py" in text
    assert "syncwarp" in text
    assert "syncthreads" in text


def test_data_race() -> None:
    text = output("data_race")
    assert "data race: a read and a write of the same bytes" in text
    assert "data[lane] += data[lane + 8]" in text
    assert "data[lane] += data[lane + 16]" in text
    assert "cuda.syncwarp()" in text
    assert "no race, sum 496" in text


@pytest.mark.parametrize("kernel", ["published_unguarded", "published_off_by_one"])
def test_out_of_bounds(kernel: str) -> None:
    before, after = output("out_of_bounds").split(f"{kernel}, 1000 elements:")
    total, expected = re.search(rf"{kernel}, 1024 elements: (-?\d+), NumPy says (-?\d+)", before).groups()
    assert total == expected
    assert after.startswith("\nthe kernel is wrong")
    assert "g_idata" in after
    assert "published.py" in after
