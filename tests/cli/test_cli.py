"""The console command: what it prints, where, and its exit codes."""

from __future__ import annotations

import ctypes
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import simt
from simt.cli.options import parse_size
from simt.cli.output import show, table
from simt.cli.reduce import sample

COMMANDS = [
    "reduce",
    "trace",
    "run",
    "profile",
    "sweep",
    "timeline",
    "diff",
    "gpu",
    "kernels",
    "metrics",
    "devices",
    "occupancy",
]
FAMILY_OF_TWO = ["--kernel", "neighbored", "--kernel", "interleaved"]

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


def test_reduce_prints_a_table(run) -> None:
    found = run("reduce", "--size", "10_000", *FAMILY_OF_TWO)
    assert found.code == 0
    assert "10,000 int32" in found.out
    assert "source view" in found.out
    rows = [line.split() for line in found.out.splitlines() if line.strip().startswith(("neigh", "inter"))]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("neighbored", "20", "yes"),
        ("interleaved", "20", "yes"),
    ]
    assert max(map(len, found.out.splitlines())) <= 120
    assert "\x1b" not in found.out


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("command", [["reduce", "--size", "2^20"], ["devices"]], ids=" ".join)
def test_no_number_is_cut_in_a_narrow_terminal(
    run, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    options = ["--kernel", "neighbored", "--kernel", "complete_unroll_warps8"] if command[0] == "reduce" else []
    piped = run(*command, *options).out.splitlines()
    monkeypatch.setattr("simt.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    found = re.sub(r"\x1b\[[\d;]*m", "", run(*command, *options).out).splitlines()
    if columns >= 80:
        assert max(map(len, found[2:-1])) <= columns  # but for the title and what was left out
    assert "too narrow for: " in found[-1]
    title, rule = (next(k for k, line in enumerate(lines) if "──" in line) for lines in (piped, found))
    words = {word for line in piped[:title] for word in line.split()}
    assert {word for line in found[2:rule] for word in line.split()} <= words  # headings are whole, too
    for row in piped[6:-1]:  # without headings
        (narrow,) = [line for line in found if line.split()[:1] == row.split()[:1]]
        assert set(narrow.split()) <= set(row.split())


def test_reduce_runs_the_whole_family_by_default(run) -> None:
    results = run("reduce", "--size", "3000", "--block", "128", "--json").json()["results"]
    assert len(results) == 14
    assert all(result["correct"] for result in results)
    assert {result["sum"] for result in results} == {int(sample(3000, "int32", "sum", 0).sum())}


def test_reduce_json(run) -> None:
    data = run("reduce", "--size", "2^12", "--block", "64", "--kernel", "neighbored", "--json").json()
    assert (data["view"], data["toolchain"], data["size"], data["block"]) == ("source", "", 4096, 64)
    (result,) = data["results"]
    assert result["kernel"] == "neighbored"
    assert result["grid"] == 64
    assert result["sum"] == result["expected"]
    assert result["correct"] is True
    assert result["seconds"] > 0
    assert result["metrics"]["divergent_branch"] == result["counters"]["divergent_branches"] > 0
    idle = result["idle_lane_slots"]
    assert set(idle) == {"no_thread", "exited", "other_path", "predicated_off"}
    counters = result["counters"]
    assert counters["pred_on_thread_inst_executed"] + sum(idle.values()) == 32 * counters["inst_executed"]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("op", ["sum", "max", "min", "product"])
def test_operations_and_types(run, dtype: str, op: str) -> None:
    found = run("reduce", "--size", "1003", "--dtype", dtype, "--op", op, "--kernel", "interleaved", "--json")
    (result,) = found.json()["results"]
    assert result["correct"] is True
    assert result["expected"] != 0


def test_the_default_family_leaves_out_kernels_that_cannot_do_the_operation(run) -> None:
    names = [r["kernel"] for r in run("reduce", "--size", "1K", "--op", "product", "--json").json()["results"]]
    assert "interleaved" in names
    assert "atomic" not in names


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_products_of_the_sample_say_something(dtype: str) -> None:
    data = sample(2**16, dtype, "product", 0)
    total = np.multiply.reduce(data)
    assert total != 0
    assert np.isfinite(total)


def test_a_wrong_sum_is_exit_code_1(run, monkeypatch: pytest.MonkeyPatch) -> None:
    import simt.api

    right = simt.api.reduce

    def wrong(*arguments: Any, **options: Any) -> Any:
        total, profile = right(*arguments, **options)
        return total + 1, profile

    monkeypatch.setattr(simt.api, "reduce", wrong)
    found = run("reduce", "--size", "1000", "--kernel", "neighbored")
    assert found.code == 1
    assert "NO" in found.out
    assert "instead of NumPy's" in found.out
    assert run("reduce", "--size", "1000", "--kernel", "neighbored", "--json").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel", "nothing"], "no kernel 'nothing'"),
        (["--kernel", "if_else"], "no reduction"),
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=str)
def test_a_full_disk_is_a_message(options: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "simt", "kernels", *options]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("the operating system refuses: [Errno 28]")
    assert "Traceback" not in done.stderr


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
        ("bare", [], "returns args that are no tuple but ndarray"),
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


def test_a_title_stays_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Even where it is wider than its table."""
    title = "a title that is wider than its table"
    rows = table(title, "column")
    rows.add_row("1")
    show(rows)
    assert capsys.readouterr().out.splitlines()[0] == title


def test_files_that_do_not_load(run, tmp_path: Path) -> None:
    absent = run("run", str(tmp_path / "absent.py:k")).err
    assert "no file" in absent
    assert str(tmp_path.resolve()) in absent
    (tmp_path / "folder.py").mkdir()
    assert "folder.py is a folder, not a file" in run("run", str(tmp_path / "folder.py:k")).err
    for wrong in ("notes.txt:k", str(tmp_path)):
        found = run("run", wrong)
        assert found.code == 2
        assert f"{wrong} is neither a name of `simt kernels` nor of the form FILE.py:FUNCTION" in found.err
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\ndef k(:\n")
    found = run("run", f"{broken}:k")
    assert found.code == 2
    assert "SyntaxError" in found.err
    assert f"{broken}:2" in found.err
    silent = tmp_path / "silent.py"
    silent.write_text("def k(x): pass\n")
    assert "launch_k()" in run("run", f"{silent}:k").err


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


def test_races_are_found_if_asked_for(run, mine: str) -> None:
    assert run("run", f"{mine}:racing").code == 0
    found = run("run", f"{mine}:racing", "--races")
    assert found.code == 2
    assert "data race" in found.err
    assert run("reduce", "--size", "2000", "--block", "64", "--races", *FAMILY_OF_TWO).code == 0


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
    assert "--json" in found.out


def test_help_loads_neither_numpy_nor_numba() -> None:
    check = (
        "import sys; sys.argv = ['simt', '--help']\n"
        "from simt.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'numba', 'llvmlite'} & set(sys.modules), 'too much imported'\n"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "reduce" in done.stdout


def test_help_is_wrapped_only_where_the_terminal_ends(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    assert "Needs the extra sass: pip install 'simt[sass]'" in run("profile", "--help").out
    assert "equal to NumPy's; float sums" in run("reduce", "--help").out
    assert "The file describes its launch in a function" in run("trace", "--help").out


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
