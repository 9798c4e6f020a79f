"""Kernels of CUDA C on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from simt.check import LaunchError
from simt.cli.asked import Asked
from simt.cli.launches import find
from simt.cli.machine_files import split
from simt.cli.numbers import parse_shape
from tests.machine_view import DATA, needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "cuda"
REDUCE = str(EXAMPLES / "reduce.cu")
CUBIN = str(DATA / "sm_90" / "kernels_O3.cubin")
ARGUMENTS = ["--arg", "random:int32:4096", "--arg", "zeros:int32:8", "--arg", "4096"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k.cu:saxpy", ("k.cu", "saxpy")),
        ("a/k.cu:space::f<2, int>", ("a/k.cu", "space::f<2, int>")),
        (f"{CUBIN}:k", (CUBIN, "k")),
        ("k.py:f", None),
        ("missing.cubin:f", None),
        ("interleaved", None),
        ("C:\\k.cu:f", ("C:\\k.cu", "f")),
    ],
)
def test_file_and_kernel(text: str, expected: tuple[str, str] | None) -> None:
    found = split(text)
    assert (found and (str(found[0]), found[1])) == expected


@pytest.mark.parametrize(
    ("text", "shape"), [("8192", 8192), ("2^10", 1024), ("64,32", (64, 32)), ("4x2x1", (4, 2, 1)), ("-1", -1)]
)
def test_shapes(text: str, shape: object) -> None:
    assert parse_shape(text) == shape


@needs_nvrtc
@needs_nvdisasm
def test_a_kernel_of_a_source(run) -> None:
    code, out, err = run("run", f"{REDUCE}:interleaved", "--grid", "8", "--block", "512", *ARGUMENTS)
    assert (code, err) == (0, "")
    assert "interleaved, grid 8, block 512, 128 warps (machine view: sm_90" in out
    assert "96.15  %" in out  # gld_efficiency
    assert "if (tid + half < live) part[tid] += part[tid + half];" in out
    size = run("run", f"{REDUCE}:interleaved", "--size", "4096", "--block", "512", *ARGUMENTS)
    assert size.out == out


@needs_nvrtc
@needs_nvdisasm
def test_every_command_takes_it(run) -> None:
    kernel = f"{REDUCE}:complete_unroll<512>"
    launch = ["--grid", "1", "--block", "512", *ARGUMENTS]
    assert "warp 0" in run("trace", kernel, *launch).out
    assert run("run", kernel, *launch, "--json").json()["kernel"] == "complete_unroll<512>"
    both = run("diff", f"{REDUCE}:neighbored@sm_80", f"{REDUCE}:interleaved", *launch)
    assert "neighbored, grid 1, block 512 (sm_80" in both.out
    assert "interleaved, grid 1, block 512 (sm_90" in both.out
    shared = run("run", f"{REDUCE}:shared", *launch, "--shared", "2048", "--no-annotate")
    assert shared.code == 0
    assert "warp" in run("timeline", f"{REDUCE}:shared", *launch, "--shared", "2048").out
    profiled = run("profile", REDUCE, "--kernel", "complete_unroll<512>", *launch)
    assert "complete_unroll<512>, grid 1" in profiled.out
    listed = run("profile", REDUCE, "--arch", "sm_80")
    assert "sm_80" in listed.out
    assert "complete_unroll is a template: name an instance" in listed.out


@needs_nvrtc
@needs_nvdisasm
def test_options_of_the_compiler(run, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(int *x) { x[0] = N; }")
    launch = ["--grid", "1", "--block", "1", "--arg", "zeros:int32:1", "--nvrtc", "-DN=5"]
    for command in (["profile", str(source), "--kernel", "k"], ["run", f"{source}:k"]):
        assert run(*command, *launch).code == 0
        without = run(*command, *launch[:-2])
        assert without.code == 2
        assert 'identifier "N" is undefined' in without.err


@needs_nvrtc
@needs_nvdisasm
def test_a_sweep_scales_the_grid(run) -> None:
    arguments = ["--arg", "random:int32:4096", "--arg", "zeros:int32:64", "--arg", "4096"]
    found = run("sweep", f"{REDUCE}:interleaved", "--size", "4096", "--blocks", "64,128", "--json", *arguments).json()
    assert [each["block"] for each in found["results"]] == [64, 128]


@needs_nvdisasm
def test_a_kernel_of_a_cubin(run) -> None:
    found = run("run", f"{CUBIN}:reduceInterleaved", "--grid", "8", "--block", "512", *ARGUMENTS, "--json").json()
    assert found["metrics"]["inst_per_warp"] == 98.125


@needs_nvdisasm
@pytest.mark.parametrize(("option", "what"), [("--grid", "grid"), ("--block", "block")])
def test_a_size_of_zero_is_not_taken_for_none(run, option: str, what: str) -> None:
    sizes = {"--grid": "8", "--block": "512", option: "0"}
    given = [text for pair in sizes.items() for text in pair]
    outcome = run("run", f"{CUBIN}:reduceInterleaved", *given, *ARGUMENTS)
    assert outcome.code == 2
    assert f"{what} dimension x is 0" in outcome.err


@pytest.mark.parametrize(
    ("kernel", "asked", "words"),
    [
        ("interleaved", Asked(grid=3), ["interleaved chooses its grid itself", "FILE.cu:KERNEL"]),
        ("interleaved", Asked(grid=0), ["interleaved chooses its grid itself"]),
        ("interleavd", Asked(grid=3), ["interleavd", "interleaved"]),
        ("interleaved", Asked(args=["3"]), ["--arg is for kernels of CUDA C"]),
        ("interleaved", Asked(nvrtc=["-DX"]), ["--nvrtc is for kernels of CUDA C"]),
        ("interleaved", Asked(block=(8, 8)), ["one dimension", "--block 8"]),
        ("k.cu", Asked(), ["which function of", "k.cu:FUNCTION"]),
        ("k.cu", Asked(grid=8, args=["3"]), ["which function of", "k.cu:FUNCTION"]),
        ("missing.cu:k", Asked(grid=1), ["there is no file missing.cu"]),
        (f"{CUBIN}:reduceInterleaved", Asked(), ["how many blocks of reduceInterleaved", "--grid", "8, 8, 4"]),
        (f"{CUBIN}:reduceInterleaved", Asked(grid=1, nvrtc=["-DX"]), ["--nvrtc is for CUDA C"]),
        (f"{CUBIN}:reduceInterleaved", Asked(grid=1, architecture="sm_80"), ["is for sm_90, not sm_80"]),
    ],
)
def test_what_is_missing_is_named(kernel: str, asked: Asked, words: list[str]) -> None:
    with pytest.raises(LaunchError) as caught:
        find(kernel, asked)
    assert all(word in str(caught.value) for word in words)
