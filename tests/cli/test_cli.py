"""The console command: what it prints, where, and its exit codes."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import simt
from simt.cli import HOMES
from simt.cli.numbers import parse_size

COMMANDS = [
    "reduce",
    "trace",
    "run",
    "profile",
    "exec",
    "nvprof",
    "ncu",
    "nvcc",
    "env",
    "sweep",
    "timeline",
    "diff",
    "explain",
    "gpu",
    "kernels",
    "metrics",
    "devices",
    "occupancy",
]
AS_OTHER_TOOLS = {"nvprof", "ncu", "nvcc", "env"}
"""Commands whose output is for what reads that of NVIDIA's tools, or for shells."""


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("1_000_000", 10**6),
        ("2^24", 2**24),
        ("2**24", 2**24),
        ("16M", 2**24),
        ("4k", 4096),
        ("1G", 2**30),
        (" 10 ", 10),
        ("10^6", 10**6),
        (2**24, 2**24),
    ],
)
def test_sizes(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["0", "-5", "2^31", "2^99999999999", "9" * 50, "1.5", "x", "", "2^", "3T", "1e6"])
def test_bad_sizes(run, text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_size(text)
    found = run("reduce", f"--size={text}")
    assert found.code == 2
    assert "--size" in found.err
    assert not found.out


def test_the_block_is_checked_before_arrays_are_made(run) -> None:
    """An array of as many elements as this has threads is larger than the address space."""
    found = run("run", "if_else", "--block", str(2**52))
    assert found.code == 2
    assert f"block dimension x is {2**52}; it must be between 1 and 1024" in found.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel", "nothing"], "no kernel 'nothing'"),
        (["--kernel", "if_else"], "is not a reduction"),
        (["--block", "1025"], "1025"),
        (["--block", "0"], "0"),
        (["--dtype", "int16"], "int16"),
        (["--op", "mean"], "mean"),
        (["--order", "sideways"], "sideways"),
        (["--view", "sm_12"], "sm_12"),
        (["--threads", "0"], "--threads"),
        (["--predicate", "-1"], "--predicate"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_wrong_use_is_exit_code_2_with_one_message_on_stderr(run, arguments: list[str], message: str) -> None:
    found = run("reduce", "--size", "100", *arguments)
    assert found.code == 2
    assert message in found.err
    assert "Traceback" not in found.err
    assert not found.out


def test_ctrl_c_is_exit_code_130(run, monkeypatch: pytest.MonkeyPatch) -> None:
    import simt.api

    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(simt.api, "reduce", interrupted)
    found = run("reduce", "--size", "1000")
    assert found.code == 130
    assert "Traceback" not in found.err


def test_ctrl_c_that_a_callback_of_the_compiler_swallows(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As seen with LLVM's: Python cannot raise through it, and what fails next is Numba."""
    import simt.api

    def pressed() -> None:
        signal.raise_signal(signal.SIGINT)
        sum(range(10))  # the handler has run by now

    def interrupted(*arguments: Any, **options: Any) -> Any:
        ctypes.CFUNCTYPE(None)(pressed)()
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(simt.api, "reduce", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    found = run("reduce", "--size", "1000")
    assert (found.code, found.out, found.err) == (130, "", "interrupted\n")
    assert signal.getsignal(signal.SIGINT) == handler


@pytest.mark.parametrize("command", ["run", "timeline", "sweep", "explain"])
def test_an_empty_device_is_refused(run, command: str) -> None:
    found = run(command, "if_else", "--device", "")
    assert found.code == 2
    assert "which GPU?" in found.err


@pytest.mark.parametrize("name", ["x.png", "x", "x.svg.gz"])
def test_a_picture_is_svg(run, name: str, tmp_path: Path) -> None:
    found = run("trace", "if_else", "--svg", str(tmp_path / name))
    assert found.code == 2
    assert "pictures are written as SVG" in found.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the folder")
def test_a_folder_that_is_gone(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("trace", "if_else").code == 0


def test_trace(run) -> None:
    found = run("trace", "if_else", "--values")
    assert found.code == 0
    assert "######## ######## ######## ........" in found.out
    assert "value = " in found.out


def test_trace_json(run) -> None:
    data = run("trace", "if_else", "--json").json()
    assert data["kernel"] == "if_else"
    assert [each["active_lanes"] for each in data["passes"]] == [32, 24, 8, 32]
    assert "values" not in data["steps"][0]
    assert "values" in run("trace", "if_else", "--json", "--values").json()["steps"][0]


def test_trace_of_one_warp_of_one_block(run) -> None:
    found = run("trace", "neighbored", "--size", "256", "--block", "64", "--block-index", "3", "--warp", "1")
    assert found.out.startswith("neighbored, block 3, warp 1")
    outside = run("trace", "neighbored", "--size", "256", "--block", "64", "--block-index", "4")
    assert outside.code == 2
    assert "4 blocks of 2 warps" in outside.err


@pytest.mark.parametrize("command", ["run", "sweep", "timeline", "trace"])
def test_threads_are_an_option_where_they_matter(run, command: str) -> None:
    """A traced launch runs on one host thread."""
    found = run(command, "if_else", "--threads", "2")
    assert found.code == (2 if command == "trace" else 0)
    assert ("--threads" in run(command, "--help").out) == (command != "trace")


def test_run_shows_metrics_and_lines(run) -> None:
    found = run("run", "vector_add", "--column", "inst_executed", "--column", "idle_other_path")
    assert found.code == 0
    assert "gld_efficiency" in found.out
    assert "idle_other_path" in found.out
    assert "c[i] = a[i] + b[i]" in found.out
    wrong = run("run", "vector_add", "--column", "nothing")
    assert wrong.code == 2
    assert not wrong.out  # nothing runs before the names are known to be right
    assert "there are inst_executed, " in wrong.err
    assert "did you mean global_sectors" in run("run", "vector_add", "--column", "globl_sectors").err
    assert "--timing" in run("run", "vector_add", "--column", "waited").err
    assert "c[i] = a[i] + b[i]" not in run("run", "vector_add", "--no-annotate").out


def test_diff(run, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(run("run", "vector_add", "--json").out)
    same = run("diff", str(saved), "vector_add")
    assert same.code == 0
    assert "equal in every counter" in same.out
    two = run("diff", "neighbored", "interleaved", "--size", "256", "--block", "64", "--json").json()
    assert (two["a"]["kernel"], two["b"]["kernel"], two["by"]) == ("neighbored", "interleaved", "listing")
    assert all(row["comparable"] for row in two["metrics"])
    shown = run("diff", "if_else", "even_odd", "--column", "thread_inst_executed")
    assert "thread inst A" in shown.out
    assert "the launches differ" in shown.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["if_else", "absent.json"], "cannot be read"),
        (["if_else", "nothing"], "no kernel 'nothing'"),
        (["if_else", "if_else", "--by", "luck"], "listing, line, opcode"),
        (["if_else", "if_else", "--by", "opcode"], "no opcodes"),
        (["if_else", "if_else", "--column", "nothing"], "nothing"),
    ],
)
def test_wrong_use_of_diff(run, arguments: list[str], message: str) -> None:
    found = run("diff", *arguments)
    assert found.code == 2
    assert message in found.err
    assert "Traceback" not in found.err


def test_metrics(run) -> None:
    listed = run("metrics").out
    assert "gld_efficiency" in listed
    assert "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct" in listed
    one = run("metrics", "smsp__inst_executed.sum")
    assert one.out.startswith("inst_executed")
    assert "formula" in one.out
    assert run("metrics", "branch", "--json").json()["ncu"] == []
    assert "comparable across them" in run("metrics", "gld_efficiency").out
    assert run("metrics", "branch", "--json").json()["same_in_every_view"] is False
    assert len(run("metrics", "--json").json()) > 40
    unknown = run("metrics", "gld_eficiency")
    assert unknown.code == 2
    assert "did you mean gld_efficiency" in unknown.err


def test_kernels(run) -> None:
    assert "[height, width]" in run("kernels").out  # brackets are no markup
    assert {entry["name"] for entry in run("kernels", "--json").json()} >= {"neighbored", "if_else"}


def test_devices(run) -> None:
    assert "NVIDIA H200" in run("devices").out
    assert "CUDA C++ Programming Guide" in run("devices", "a100").out
    assert run("devices", "a100", "--json").json()["limits"]["multiprocessors"]["value"] == 108
    assert run("devices", "voodoo2").code == 2


def test_occupancy(run) -> None:
    found = run("occupancy", "--block", "512", "--registers", "40")
    assert "75.00 %" in found.out
    assert [line.split()[0] for line in found.out.splitlines() if "<- the limit" in line] == ["registers"]
    data = run("occupancy", "--device", "quadro_p2000", "--block", "64", "--shared", "49152", "--json").json()
    assert data["blocks_per_sm"] == 2
    assert data["limited_by"] == ["shared memory"]
    assert run("occupancy", "--block", "2000").code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command: str) -> None:
    found = run(command, "--help")
    assert found.code == 0
    assert ("--json" in found.out) == (command not in AS_OTHER_TOOLS)
    assert f"simt {command}" in found.out.split("Usage:")[1]


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command leaves loaded."""
    check = (
        f"import sys; sys.argv = {['simt', *arguments]}\n"
        "from simt.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, sep=chr(10))\n"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if " " not in line}


def test_help_loads_the_texts_of_commands_and_nothing_else() -> None:
    loaded = loaded_by("--help")
    assert {"simt.cli.reduce", "gpu.cli"} <= loaded
    assert not {"numpy", "numba", "llvmlite", "asyncio", "jinja2"} & loaded
    simts = {name for name in loaded if name.startswith("simt.")}
    assert {".".join(name.split(".")[:2]) for name in simts} == {"simt.check", "simt.cli", "simt.text", "simt.__main__"}


def test_the_version_and_a_command_load_no_other_command() -> None:
    commands = {home for home in HOMES.values() if home != "simt.cli.trace"} | {"gpu.cli"}
    assert not commands & loaded_by("--version")
    assert not commands & loaded_by("trace", "--help")


def test_version(run) -> None:
    assert run("--version").out == f"simt {simt.__version__}\n"


def test_summaries_of_kernels_are_plain_text_and_differ_by_chunks(run) -> None:
    summaries = {entry["name"]: entry["summary"] for entry in run("kernels", "--json").json()}
    assert not any("`" in summary or "*chunks" in summary for summary in summaries.values())
    assert "block's 4 chunks" in summaries["unrolling4"]


def test_python_m_simt() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simt", "metrics", "branch"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.startswith("branch")
    assert done.stderr == ""
