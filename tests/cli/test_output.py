"""What the command prints where: in a terminal as wide as it is, in its encoding, in a pipe, on a full disk."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from simt.cli import _in_lines
from simt.cli.output import show, table


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("command", [["reduce", "--size", "2^20"], ["devices"]], ids=" ".join)
def test_no_number_is_cut_in_a_narrow_terminal(
    run, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    options = ["--kernel", "neighbored", "--kernel", "complete_unroll_warps8"] if command[0] == "reduce" else []
    piped = run(*command, *options).out.splitlines()
    monkeypatch.setattr("simt.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    found = re.sub(r"\x1b\[[\d;]*m", "", run(*command, *options).out).splitlines()
    assert max(map(len, found)) <= columns
    assert re.search("^too narrow for: ", "\n".join(found[-3:]), re.MULTILINE)
    title, rule = (next(k for k, line in enumerate(lines) if "──" in line) for lines in (piped, found))
    words = {word for line in piped[:title] for word in line.split()}
    assert {word for line in found[2:rule] for word in line.split()} <= words  # headings are whole, too
    for row in piped[6:-1]:  # without headings
        (narrow,) = [line for line in found if line.split()[:1] == row.split()[:1]]
        assert set(narrow.split()) <= set(row.split())


@pytest.mark.parametrize("columns", [40, 50, 60])
@pytest.mark.parametrize("command", [["devices"], ["devices", "h200"], ["metrics"]], ids=" ".join)
def test_rows_are_stacked_where_no_table_fits(
    run, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    piped = run(*command).out
    monkeypatch.setattr("simt.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    found = re.sub(r"\x1b\[[\d;]*m", "", run(*command).out)
    assert "──" not in found
    assert all(len(line) <= columns or " " not in line.strip() for line in found.splitlines()[1:])
    words, known = (set(re.sub(r"[\[\],]", " ", text).split()) for text in (found.split("too narrow for")[0], piped))
    assert words <= known  # none is broken
    if command == ["devices"]:
        assert "\nh100\n  name  NVIDIA H100 (SXM5, 80 GB)\n  arch  sm_90\n  SMs  132\n" in found


def test_a_title_stays_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Even where it is wider than its table."""
    title = "a title that is wider than its table"
    rows = table(title, "column")
    rows.add_row("1")
    show(rows)
    assert capsys.readouterr().out.splitlines()[0] == title


def test_a_title_breaks_where_the_terminal_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simt.cli.output.columns", lambda: 20)
    rows = table("a title that is wider than its table", "column")
    rows.add_row("1")
    show(rows)
    assert capsys.readouterr().out.splitlines()[:3] == ["a title that is", "    wider than its", "    table"]


def test_sentences_of_an_error_break_between_words(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simt.cli.columns", lambda stream: 60)
    found = run("run", "nope")
    assert found.code == 2
    assert max(map(len, found.err.splitlines())) <= 60
    assert "help: choose one of neighbored, neighbored_less, interleaved, " in " ".join(found.err.split())
    text = "wrong: " + "a word " * 12 + "\n  --> " + "x" * 70 + "\n  |\n1 | " + "y " * 40
    first, *rest = _in_lines(text).split("\n")
    assert len(first) <= 60
    assert rest[-3:] == text.split("\n")[-3:]


def test_help_is_wrapped_only_where_the_terminal_ends(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    assert "Needs the extra sass: pip install 'simt[sass]'" in run("profile", "--help").out
    assert "equal to NumPy's; float sums" in run("reduce", "--help").out
    assert "The file describes its launch in a function" in run("trace", "--help").out


@pytest.mark.parametrize(
    ("encoding", "words", "shown"),
    [
        ("utf-8", "explain neighbored interleaved --size 2^16", "133 → 89.5"),
        ("cp437", "explain neighbored interleaved --size 2^16", "133 -> 89.5"),
        ("latin-1", "run --help", "±"),
        ("ascii", "run --help", "+-"),
    ],
)
def test_what_a_terminal_lacks_is_written_in_ascii(
    run, encoding: str, words: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run(*words.split()).code == 0
    terminal.flush()
    assert shown in terminal.buffer.getvalue().decode(encoding)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("words", [["kernels"], ["kernels", "--json"], ["--help"]], ids=str)
def test_a_full_disk_is_a_message(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "simt", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("the operating system refuses: [Errno 28]")
    assert "Traceback" not in done.stderr


def test_a_closed_stream_is_no_error(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of ``simt ... >&-``: Python has None there."""
    monkeypatch.setattr(sys, "stdout", None)
    assert run("trace", "if_else").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of its own")
@pytest.mark.parametrize(("closed", "command", "expected"), [(1, "--version", 0), (2, "exec sh -c 'exit 3'", 3)])
def test_a_closed_stream_whose_number_is_that_of_a_script(
    closed: int, command: str, expected: int, tmp_path: Path
) -> None:
    """bash opens its script there, and leaves it open for what it starts."""
    script = tmp_path / "script"
    script.write_text("")
    code = f"{shlex.quote(sys.executable)} -m simt {command} {closed}<{shlex.quote(str(script))}"
    done = subprocess.run(["sh", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (expected, "")
    assert "Traceback" not in done.stderr
