"""``simt nvprof``, ``simt ncu``, ``simt nvcc`` and ``simt env``: what they ask of a program, and what they refuse."""

from __future__ import annotations

import csv
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simt import driver
from simt.cli import nvcc
from simt.driver import Finished, Settings
from tests.profile.activity import timed, untimed


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], Settings]]:
    """Programs that were run; each did what tests.profile.activity has."""
    calls: list[tuple[list[str], Settings]] = []

    def run_program(command: list[str], settings: Settings) -> Finished:
        calls.append((command, settings))
        return Finished(3, [timed() if settings.timing else untimed()], [], ended_after=settings.seconds)

    monkeypatch.setattr(driver, "run_program", run_program)
    return calls


def test_metrics_of_nvprof(run, ran) -> None:
    code, out, err = run("nvprof", "--metrics", "inst_per_warp", "--metrics", "branch", "./reduce", "--size", "5")
    assert (code, out) == (3, "")
    assert ran[0][0] == ["./reduce", "--size", "5"]
    assert not ran[0][1].timing
    lines = err.splitlines()
    assert re.fullmatch(r"==\d+== NVPROF is profiling process \d+, command: ./reduce --size 5", lines[0])
    assert re.fullmatch(r"==\d+== Metric result:", lines[3])
    assert lines[4].startswith("Invocations")
    assert sum("inst_per_warp" in line for line in lines) == 2


@pytest.mark.parametrize(
    ("options", "timing"),
    [
        ([], True),
        (["--no-timing"], False),
        (["--print-gpu-trace"], True),
        (["--metrics", "stall_sync"], True),
        (["--metrics", "inst_per_warp,gld_throughput"], True),
        (["--events", "branch"], False),
        (["--metrics", "inst_executed", "--timing"], True),
    ],
)
def test_what_needs_time_is_timed(run, ran, options: list[str], timing: bool) -> None:
    run("nvprof", *options, "./reduce")
    assert ran[0][1].timing is timing


@pytest.mark.parametrize("command", ["exec", "nvprof"])
def test_checks_reach_the_program(run, ran, command: str) -> None:
    run(command, "--check", "memcheck", "--check", "racecheck", "./reduce")
    assert ran[0][1].check == ("memcheck", "racecheck")


@pytest.mark.parametrize("command", ["exec", "nvprof", "ncu"])
def test_a_program_that_may_not_take_long(run, ran, command: str) -> None:
    said = "ended after 2.5 s (--max-seconds)"
    assert said in " ".join(run(command, "--max-seconds", "2.5", "./reduce").err.split())
    assert said not in run(command, "./reduce").err
    assert [settings.seconds for _, settings in ran] == [2.5, None]


def test_metrics_in_a_trace(run, ran) -> None:
    err = run("nvprof", "--print-gpu-trace", "--metrics", "inst_per_warp", "--events", "branch", "./reduce").err
    lines = err.splitlines()
    assert lines[3].split() == ["Device", "Context", "Stream", "Kernel", "branch", "inst_per_warp"]
    assert len(lines) == 4 + 3
    assert not ran[0][1].timing


@pytest.mark.parametrize("options", [[], ["--print-gpu-trace"]])
def test_the_unit_of_times(run, ran, options: list[str]) -> None:
    assert "1.1840us" in run("nvprof", *options, "./reduce").err
    assert "0.001184ms" in run("nvprof", *options, "-u", "ms", "./reduce").err


def test_a_log_file(run, ran, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    found = run("nvprof", "--csv", "--log-file", str(path), "--events", "branch", "./reduce")
    assert (found.out, found.err) == ("", "")
    assert '"Device","Kernel","Invocations","Event Name","Min","Max","Avg","Total"' in path.read_text()
    assert "branch" in run("nvprof", "--log-file", "%1", "--events", "branch", "./reduce").out


@pytest.mark.parametrize("command", ["nvprof", "ncu"])
def test_an_unknown_metric_is_refused_before_the_program_runs(run, ran, command: str) -> None:
    found = run(command, "--metrics", "inst_per_wrap", "./reduce")
    assert found.code == 2
    assert "there is no metric 'inst_per_wrap'" in found.err
    assert "inst_per_warp" in found.err
    assert ran == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nvprof", "--events", "gld_efficiency", "./a"], ["no event 'gld_efficiency'", "--metrics gld_efficiency"]),
        (["nvprof", "--kernels", "(", "./a"], ["no regular expression"]),
        (["nvprof"], ["which program?"]),
        (["nvprof", "--metrics", ",", "./a"], ["--metrics", "which ones? Names of simt metrics"]),
        (["nvprof", "--events", " , ", "./a"], ["--events", "which ones?"]),
        (["ncu", "--metrics", "", "./a"], ["--metrics", "which ones?"]),
        (["exec", "--metrics", ",", "./a"], ["--metrics", "which ones?"]),
        (["env", "--metrics", ""], ["--metrics", "which ones?"]),
        (["nvprof", "-u", "min", "./a"], ["'min' is none of s, ms, us, ns, auto, col"]),
        (["nvprof", "-o", "a.nvvp", "./a"], ["the file of nvvp is not written", "--csv --log-file FILE.csv"]),
        (["nvprof", "--log-file", "nowhere/log", "./a"], ["there is no folder nowhere"]),
        (["ncu", "--page", "roofline", "./a"], ["none of details, raw, source"]),
        (["ncu", "-k", "regex:(", "./a"], ["no regular expression"]),
        (["ncu", "--set", "roofline", "./a"], ["--set", "'roofline' is none of basic, default, detailed, full"]),
        (["ncu", "--section", "SpeedOfLihgt", "./a"], ["'SpeedOfLihgt' is none of SpeedOfLight, ", "Occupancy"]),
        (["ncu", "--section", "PmSampling", "./a"], ["PmSampling: simt does not have it", "It has SpeedOfLight, "]),
        (["ncu", "--section", "regex:Roof", "./a"], ["'regex:Roof' is none of SpeedOfLight, "]),
        (["ncu", "--section", "regex:(", "./a"], ["--section", "no regular expression"]),
        (["ncu", "--target-processes", "some", "./a"], ["'some' is none of all, application-only"]),
        (["ncu", "--clock-control", "1000", "./a"], ["'1000' is none of base, none"]),
        (["ncu", "--cache-control", "l2", "./a"], ["'l2' is none of all, none"]),
        (["ncu", "--replay-mode", "range", "./a"], ["'range' is none of kernel, application"]),
        (["ncu", "-o", "nowhere/r", "./a"], ["there is no folder nowhere"]),
        (["nvprof", "--log-file", "/", "./a"], ["/ cannot be written: Is a directory"]),
        (["ncu", "-i", "nowhere.json"], ["there is no file nowhere.json"]),
        (["env", "--shell", "cmd"], ["none of sh, fish, csh"]),
        (["env", "--log-file", "nowhere/log"], ["there is no folder nowhere"]),
        (["env", "--sms", "4"], ["--sms", "add --timing"]),
        (["env", "--timing", "--sms", "133"], ["NVIDIA H200 has 132 SMs"]),
        (["env", "--timing", "--set", "l1_latncy=60"], ["l1_latncy", "l1_latency"]),
    ],
)
def test_what_is_refused(run, ran, arguments: list[str], words: list[str]) -> None:
    found = run(*arguments)
    assert found.code == 2
    said = " ".join(found.err.replace("│", " ").split())
    assert all(word in said for word in words)
    assert ran == []


def test_a_report_to_a_closed_stream_is_no_error(run, ran, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert run("nvprof", "./a").code == run("nvprof", "--log-file", "%1", "./a").code


def test_a_report_that_may_not_be_written_is_refused_first(run, ran, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "log cannot be written: Permission denied" in run("nvprof", "--log-file", str(tmp_path / "log"), "./a").err
    assert ran == []


@pytest.mark.parametrize(
    ("given", "matching", "others"),
    [
        (["-k", "unrolling2"], ["unrolling2", "ns::unrolling2", "unrolling2<3>"], ["unrolling24", "my_unrolling2"]),
        (["-k", "regex:unroll"], ["unrolling2", "complete_unroll<512>"], ["shared"]),
        ([], ["anything"], []),
    ],
)
def test_kernels_of_ncu(run, ran, given: list[str], matching: list[str], others: list[str]) -> None:
    run("ncu", *given, "./reduce")
    settings = ran[0][1]
    assert all(settings.matches(name) for name in matching)
    assert not any(settings.matches(name) for name in others)


def test_launches_of_ncu_and_nvprof(run, ran) -> None:
    run("ncu", "--launch-skip", "2", "-c", "3", "./reduce")
    run("nvprof", "--kernels", "::inter.*:2", "--metrics", "branch", "./reduce")
    first, second = ran[0][1], ran[1][1]
    assert [first.wants(number) for number in range(6)] == [False, False, True, True, True, False]
    assert (second.kernel, second.skip, second.count) == ("inter.*", 1, 1)


def test_ncu_writes_a_report_and_reads_it(run, ran, tmp_path: Path) -> None:
    direct = run("ncu", "--metrics", "inst_executed", "--csv", "--page", "raw", "./reduce")
    target = tmp_path / "report"
    assert run("ncu", "-o", str(target), "./reduce").out == ""
    again = run("ncu", "-i", f"{target}.json", "--metrics", "inst_executed", "--csv", "--page", "raw")
    assert (again.code, again.out) == (0, direct.out)
    refused = run("ncu", "-o", str(target), "./reduce")
    assert refused.code == 2
    assert "already exists" in refused.err
    assert run("ncu", "-f", "-o", str(target), "./reduce").code == 3


@pytest.mark.parametrize("page", ["details", "raw", "source"])
@pytest.mark.parametrize("form", [[], ["--csv"]])
def test_pages_of_ncu(run, ran, page: str, form: list[str]) -> None:
    found = run("ncu", "--page", page, *form, "./reduce")
    assert "neighbored(int *, int *, unsigned int)" in found.out
    assert found.out.count("void complete_unroll<512>") >= 2


def _titles(text: str) -> list[str]:
    """The sections of the first launch."""
    first = text.split("  void complete_unroll")[0]
    return [line.strip().removeprefix("Section: ") for line in first.splitlines() if "Section: " in line]


_BASIC = ["GPU Speed Of Light Throughput", "Launch Statistics", "Occupancy"]


@pytest.mark.parametrize(
    ("options", "titles", "timing"),
    [
        (["--set", "basic"], _BASIC, True),
        (["--set", "default"], _BASIC, True),
        (["--section", "SpeedOfLight"], _BASIC[:1], True),
        (["--section", "LaunchStats"], ["Launch Statistics"], False),
        (
            ["--section", "Occupancy", "--section", "LaunchStats", "--no-timing"],
            ["Launch Statistics", "Occupancy"],
            False,
        ),
        (["--section", "regex:Launch.*"], ["Launch Statistics"], False),
        (["--set", "basic", "--section", "SourceCounters"], [*_BASIC, "Source Counters"], True),
        (
            ["--section", "LaunchStats", "--metrics", "branch"],
            ["Command line profiler metrics", "Launch Statistics"],
            False,
        ),
    ],
)
def test_sections_of_ncu(run, ran, options: list[str], titles: list[str], timing: bool) -> None:
    found = run("ncu", *options, "./reduce")
    assert (found.code, found.err) == (3, "")
    assert _titles(found.out) == titles
    assert ran[0][1].timing is timing
    cells = csv.reader(run("ncu", *options, "--csv", "./reduce").out.splitlines())
    assert list(dict.fromkeys(row[11] for row in cells if row[0] == "0")) == titles


def test_the_full_set_of_ncu_is_what_it_shows_without_options(run, ran) -> None:
    for page in ("details", "raw"):
        plain = run("ncu", "--timing", "--page", page, "./reduce").out
        assert run("ncu", "--set", "full", "--page", page, "./reduce").out == plain
    assert set(_titles(run("ncu", "--set", "detailed", "./reduce").out)) > {*_BASIC, "Source Counters"}
    assert "Scheduler Statistics" not in run("ncu", "--set", "detailed", "./reduce").out


def test_sections_on_the_page_raw(run, ran) -> None:
    out = run("ncu", "--section", "SpeedOfLight", "--metrics", "branch", "--csv", "--page", "raw", "./reduce").out
    assert out.splitlines()[0].endswith('"CC","branch","gpu__time_duration.sum","sm__cycles_elapsed.max"')


def test_a_section_that_only_nsight_compute_has(run, ran) -> None:
    found = run("ncu", "--section", "WorkloadDistribution", "--section", "Occupancy", "./reduce")
    assert found.code == 3
    assert found.err == "==WARNING== simt does not have the section WorkloadDistribution.\n"
    assert _titles(found.out) == ["Occupancy"]


def test_what_articles_type_for_ncu(run, ran, tmp_path: Path) -> None:
    options = ["--set", "full", "--target-processes", "all", "--clock-control", "none", "--replay-mode", "application"]
    assert run("ncu", *options, "-f", "-o", str(tmp_path / "report"), "./reduce").code == 3
    assert ran[0][1].timing
    out = run("ncu", "-i", str(tmp_path / "report.json"), "--set", "basic").out
    assert _titles(out) == _BASIC


def test_what_ncu_can_do_and_simt_cannot_is_said(run, ran, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "with empty caches all the same" in run("ncu", "--cache-control", "none", "./reduce").err
    assert run("ncu", "--cache-control", "all", "--target-processes", "application-only", "./reduce").err == ""
    monkeypatch.setattr(driver, "run_program", lambda command, settings: Finished(0, [untimed(), untimed()], []))
    err = run("ncu", "--target-processes", "application-only", "./reduce").err
    assert err == "==WARNING== 2 processes were profiled, not the first only.\n"
    assert run("ncu", "--target-processes", "all", "./reduce").err == ""


def test_query_metrics(run, ran) -> None:
    assert "branch_efficiency:  Share of branches" in run("nvprof", "--query-metrics").out


def test_nvcc_gets_what_it_needs(run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(driver, "libraries", lambda: Path("/libraries"))
    monkeypatch.setenv("SIMT_NVCC", "/opt/nvcc")
    monkeypatch.setattr(
        nvcc.subprocess, "run", lambda command, check: calls.append(command) or SimpleNamespace(returncode=4)
    )
    monkeypatch.setattr("simt.toolkit.programs.shutil.which", lambda name: name)
    assert run("nvcc", "-O3", "-o", "reduce", "reduce.cu").code == 4
    assert calls[0][0] == "/opt/nvcc"
    assert calls[0][-4:] == ["-O3", "-o", "reduce", "reduce.cu"]
    assert {"-cudart", "shared", "-L/libraries", "-arch=sm_90", "-lineinfo"} <= set(calls[0])


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("sh", "export NAME='a b'"), ("fish", "set -gx NAME 'a b'"), ("csh", "setenv NAME 'a b';"),
        ("github", "NAME=a b"),
    ],
)  # fmt: skip
def test_assignments(shell: str, line: str) -> None:
    assert nvcc.assignment(shell, "NAME", "a b") == line


@pytest.mark.skipif(sys.platform != "linux", reason="programs run on Linux")
def test_env(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("simt.driver.program.libraries", lambda: Path("/libraries"))
    monkeypatch.setattr(driver, "libraries", lambda: Path("/libraries"))
    for name in ("LD_LIBRARY_PATH", "NVCC_APPEND_FLAGS", "SIMT_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    out = run("env", "--device", "a100", "--timing", "--metrics", "ipc", "--log-file", "report.txt").out
    assert "export LD_LIBRARY_PATH=/libraries\n" in out
    assert "export NVCC_APPEND_FLAGS='-cudart shared -L/libraries -Xlinker=-rpath-link=/libraries -lineinfo'\n" in out
    assert "export SIMT_DEVICE=a100\nexport SIMT_TIMING=1\nexport SIMT_METRICS=ipc\n" in out
    assert f"export SIMT_LOG={Path.cwd() / 'report.txt'}\n" in out
    out = run("env", "--timing", "--sms", "4", "--max-host-seconds", "9", "--set", "l1_latency=60").out
    assert "export SIMT_SMS=4\nexport SIMT_MAX_HOST_SECONDS=9.0\nexport SIMT_SET=l1_latency=60\n" in out


@pytest.mark.skipif(sys.platform != "linux", reason="programs run on Linux")
def test_env_in_an_environment_that_has_it_all(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same lines again, since they may go to another shell; what is set no longer is emptied."""
    monkeypatch.setattr(driver, "libraries", lambda: Path("/libraries"))
    monkeypatch.delenv("SIMT_LOG", raising=False)
    lines = run("env", "--timing").out.splitlines()
    for line in lines:
        name, value = line.removeprefix("export ").split("=", 1)
        monkeypatch.setenv(name, shlex.split(value)[0])
    assert run("env", "--timing").out.splitlines() == lines
    assert run("env").out.splitlines() == [line.replace("SIMT_TIMING=1", "SIMT_TIMING=''") for line in lines]
