"""``simt explain`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import simt
from simt.kernels.registry import get
from simt.lang import unrolled
from tests.machine_view import needs_numba_cuda
from tests.toolkit.needs import needs_nvrtc

SMALL = ("--size", "512", "--block", "64")


def test_one_kernel_and_two(run) -> None:
    alone = run("explain", "neighbored", *SMALL)
    assert alone.code == 0
    assert alone.out.startswith("inst_per_warp  ")
    assert "line 42" in alone.out
    loop = "loop: line 41 `while stride < cuda.blockDim.x:`: 6 rounds in each of 16 warps"
    assert loop in " ".join(alone.out.split())
    both = run("explain", "neighbored", "interleaved", *SMALL, "--lines", "1")
    assert " fewer; source)" in both.out.splitlines()[0]
    assert "smaller terms together" in both.out
    assert max(map(len, both.out.splitlines())) <= 80


def test_json_adds_up(run) -> None:
    found = run("explain", "neighbored", "interleaved", *SMALL, "--metric", "gld_efficiency", "--json").json()
    assert list(found) == ["metric", "a", "b", "terms"]
    assert found["metric"] == "gld_efficiency"
    assert sum(term["value"] for term in found["terms"]) == pytest.approx(found["b"] - found["a"], abs=1e-9)
    assert all(set(term) == {"value", "share", "lines", "cause", "text"} for term in found["terms"])
    first = found["terms"][0]["lines"]
    assert [(each["side"], each["line"]) for each in first] == [("a", 43), ("b", 87)]


def test_saved_profiles_and_predication(run, tmp_path: Path) -> None:
    saved = tmp_path / "a.json"
    saved.write_text(run("run", "even_odd", "--json").out, encoding="utf-8")
    assert "(the same; " in run("explain", str(saved), "even_odd").out
    found = run("explain", "even_odd", "even_odd@predicate=4", "--metric", "divergent_branch", "--json").json()
    assert (found["a"], found["b"], found["terms"][0]["cause"]) == (2.0, 0.0, "divergent branches")


def test_an_unrolled_loop_is_executed(run) -> None:
    found = run("explain", "loop_trips", "loop_trips@unroll=2", "--json", "--facts").json()
    assert found["b"] != found["a"]
    assert [fact["figures"]["line"] for fact in found["facts"]] == [26, 26, 26]  # two loops of one


@needs_numba_cuda
def test_what_the_compiler_makes_of_an_unrolled_loop(run) -> None:
    found = run("explain", "loop_trips@sm_90", "loop_trips@sm_90@unroll=4", *SMALL, "--json").json()
    plan = get("loop_trips").plan(512, block=64)
    kernel = unrolled(plan.kernel, 4)
    assert found["b"] == simt.launch(kernel, plan.grid, plan.block, *plan.args, view="sm_90").metrics["inst_per_warp"]
    assert found["b"] != found["a"]
    assert sum(term["value"] for term in found["terms"]) == pytest.approx(found["b"] - found["a"], abs=1e-9)


@needs_nvrtc
def test_loops_of_cuda_c_are_unrolled_by_their_compiler(run, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text('extern "C" __global__ void k(int *x) { for (int i = 0; i < x[1]; i++) x[0] += i; }')
    found = run("explain", f"{source}:k@unroll=4", "--grid", "1", "--block", "32", "--arg", "zeros:int32:2")
    assert found.code == 2
    assert "write #pragma unroll 4 before the loop" in " ".join(found.err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["if_else", "--metric", "inst_per_wrap"], "did you mean inst_per_warp"),
        (["if_else", "--metric", "duration"], "launch with timing=True, or --timing"),
        (["if_else", "even_odd@predicate=x"], "write a number after predicate="),
        (["loop_trips", "loop_trips@unroll=x"], "write a number after unroll="),
        (["loop_trips@sm_90@sm_80"], "sm_90 and sm_80 are several views"),
        (["loop_trips", "loop_trips@unroll=1"], "a loop cannot be unrolled 1 times"),
        (["neighbored", "neighbored@unroll=4"], "neighbored has no loop that could be unrolled"),
        (["if_els"], "did you mean if_else"),
        (["nothing.json"], "cannot be read"),
    ],
)
def test_wrong_use(run, arguments: list[str], message: str) -> None:
    found = run("explain", *arguments)
    assert found.code != 0
    assert message in " ".join(found.err.replace("│", " ").split())


def test_both_sides_are_there_before_one_runs(run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    monkeypatch.setattr(simt, "launch", lambda *args, **options: ran.append(args))
    found = run("explain", "if_else", "if_els", *SMALL)
    assert "did you mean if_else" in found.err
    assert not ran


def test_a_profilers_file(run) -> None:
    file = Path(__file__).parent.parent / "data" / "hardware" / "ncu" / "source.csv"
    found = run("explain", f"{file}:reduceNeighbored", f"{file}:reduceInterleaved", "--json").json()
    assert (found["a"], found["b"], found["terms"][0]["value"]) == (293.875, 98.125, -162.0)
    missing = run("diff", f"{file}:reduceNeighbourd", "if_else")
    assert "did you mean reduceNeighbored" in " ".join(missing.err.split())


def test_it_fits_a_narrow_terminal(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simt.cli.explain.columns", lambda: 40)
    lines = run("explain", "neighbored", "interleaved", "--size", "2^12").out.splitlines()
    assert 30 < max(map(len, lines)) <= 40
