"""The report of a program: one line fits a terminal, a range where launches differ."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

import simt
from simt.devices import get
from simt.driver import Finished
from simt.driver.report import METRICS_SHOWN, WIDTH, marked, report, to_dict
from simt.driver.settings import program_name
from simt.metrics import UnknownMetricError, needs_timing
from simt.profile.activity import Activities, Called, Copied, Launched


@cuda.jit
def fill(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1


def finished(*sizes: int) -> Finished:
    """A program that filled so many elements in one block each."""
    found = Activities(get("h200"))
    for start, n in enumerate(sizes):
        profile = simt.launch(fill, 1, 64, np.zeros(64), np.int32(n))
        found.launched.append(Launched(profile, start))
    found.copied.append(Copied("HtoD", 5, 0))
    return Finished(0, [found])


def test_lines_fit_a_terminal() -> None:
    text = marked(report(finished(64, 1)))
    assert all(len(line) <= WIDTH for line in text.splitlines())
    joined = " ".join(line.removeprefix("==simt==").strip() for line in text.splitlines())
    assert all(f"{name} " in joined for name in METRICS_SHOWN)


def test_a_range_where_launches_differ() -> None:
    same, other = report(finished(64, 64), ["gst_transactions"]), report(finished(64, 32), ["gst_transactions"])
    assert "  gst_transactions 16 sectors\n" in same
    assert "  gst_transactions 8 to 16 sectors\n" in other
    assert "fill, 1 block of 64 threads, 2 launches" in same


def test_launches_by_kernels_are_told_apart() -> None:
    found = finished(64, 64, 64)
    launched = found.processes[0].launched
    launched[1:] = [replace(each, by_device=True) for each in launched[1:]]
    text = " ".join(report(found).split())
    assert "3 launches of 1 kernel (1 by the host, 2 by the device), " in text
    assert "fill, 1 block of 64 threads, 3 launches (1 by the host, 2 by the device) " in text
    assert "by the host" not in report(finished(64))


def test_a_process_is_called_by_its_program_and_python_by_the_script(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print(input())\ninput()")
    for command, name in (([sys.executable, "-u", str(script), "x.py"], "train.py"), (["cat", "-", "x.py"], "cat")):
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"begun\n")
            assert child.stdout.readline() == b"begun\n"  # a process that has just begun has no command line yet
            assert program_name(child.pid) == name


def test_what_is_not_there() -> None:
    done = finished()
    done.processes[0].unsupported["cuGraphCreate"] += 2
    assert "  cuGraphCreate, 2 calls" in report(done)
    assert "static CUDA runtime" not in report(done)
    done.processes[0].unsupported["cuGetExportTable"] += 1
    assert "-cudart shared" in report(done)
    done.processes[0].called.append(Called("cuDevicePrimaryCtxRetain", 0.0, 0.0))
    assert "-cudart shared" not in report(done)
    assert "cuGetExportTable" not in report(done)  # Python's cuda.bindings asks for it, and does without
    assert to_dict(done)["not_supported"] == {"cuGraphCreate": 2}


def test_a_program_without_a_gpu() -> None:
    assert "did not use the GPU" in report(Finished(0))


def test_the_signal_that_ended_a_program_is_named() -> None:
    first = [report(Finished(-number)).splitlines()[0] for number in (signal.SIGSEGV, signal.SIGINT)]
    assert first[0] == "the program was ended by signal 11: Segmentation fault"
    assert first[1].startswith("the program did not use the GPU")
    nothing = {"device": None, "launches": [], "unfinished": [], "copies": [], "calls": {}}
    assert to_dict(Finished(3)) == {"returncode": 3, "ended_after_seconds": None, **nothing}


def test_a_program_that_took_too_long_is_said_to_have_been_ended() -> None:
    late = Finished(-signal.SIGINT, ended_after=60)
    assert " ".join(report(late).split()).startswith(
        "the program was ended after 60 s (--max-seconds); what it had not"
    )
    assert to_dict(late)["ended_after_seconds"] == 60


def test_metrics_are_checked_before_a_program_runs() -> None:
    assert needs_timing(["inst_executed", "duration"])
    assert not needs_timing(["inst_executed"])
    with pytest.raises(UnknownMetricError):
        needs_timing(["inst_execute"])
