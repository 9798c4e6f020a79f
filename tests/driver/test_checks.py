"""Checks of programs: what is found in all launches together, and memory that a program does not write."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simt.check import LaunchError
from simt.devices import get
from simt.driver import Finished, Settings
from simt.driver.report import checks, places
from simt.options import Timing
from simt.profile.activity import Activities, Unfinished
from tests.driver.conftest import needs_nvdisasm
from tests.driver.scenarios import CUBIN, run

pytestmark = needs_nvdisasm


def test_copies_and_fills_write_memory_and_allocations_do_not(program: Path, tmp_path: Path) -> None:
    settings = Settings(check=("initcheck",), keep_going=True)
    ran = run(program, "unwritten", tmp_path, settings)
    assert set(ran.lines) == {"launch: cudaSuccess", "synchronize: cudaSuccess", "0"}
    (finding,) = ran.finished.findings
    assert finding.checked is not None
    # Warps with such an element: those of the second half; none; every one (of every tenth element; of all but ten);
    # none, because the kernel has written them before; all of a new array.
    assert finding.checked.count == 17 + 0 + 32 + 32 + 0 + 32
    assert finding.checked.to_dict()["kind"] == "uninitialised read"
    (line,) = places(ran.finished)
    assert line.startswith("  initcheck: uninitialised read in multiply, ")
    assert line.endswith("113 times")


def test_the_first_finding_is_a_launch_failure_unless_findings_are_collected(program: Path, tmp_path: Path) -> None:
    ran = run(program, "unwritten", tmp_path, Settings(check=("initcheck",)))
    assert ran.lines[0] == "launch: cudaSuccess"
    assert ran.lines[-2] == "synchronize: cudaErrorLaunchFailure"
    (finding,) = ran.finished.findings
    assert "which nobody has written" in str(finding)
    assert finding.to_dict()["sides"][0]["what"] == "read"
    assert run(program, "unwritten", tmp_path).finished.findings == []


def simt(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "simt", *arguments], capture_output=True, text=True, check=False)


def test_a_program_without_the_gpu_was_not_checked(tmp_path: Path) -> None:
    """Its own failure is no finding, and no word that all is well."""
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit(3)\n")
    found = simt("check", str(script))
    assert found.returncode == 3
    assert found.stderr.startswith("==simt== nothing was checked: the program did not use the GPU")


def test_a_program_that_ends_in_a_launch_is_checked_so_far() -> None:
    cut = Unfinished("spin", (8, 1, 1), (64, 1, 1))
    ended = Finished(130, [Activities(get("h200"), unfinished=[cut])])
    assert checks(ended).splitlines() == [
        "it ended in the middle of a launch of spin, 8 blocks of 64 threads",
        "nothing found",
    ]


def test_the_command_tells_each_place_once_and_counts(program: Path, tmp_path: Path) -> None:
    found = simt("check", "--tool", "initcheck", str(program), str(CUBIN), "unwritten")
    assert found.returncode == 1
    assert found.stdout.count("launch: cudaSuccess") == 6
    assert found.stderr.count("which nobody has written") == 1
    assert found.stderr.rstrip().endswith("==simt== 1 finding")
    file = tmp_path / "found.json"
    options = "--tool", "initcheck", "--json", "--log-file", str(file)
    assert simt("check", *options, str(program), str(CUBIN), "unwritten").returncode == 1
    told = json.loads(file.read_text())
    assert told["returncode"] == 0
    assert [(each["kernel"], each["count"]) for each in told["findings"]] == [("multiply", 113)]


def test_a_schedule_and_a_pattern_reach_the_launches_of_a_program(program: Path, tmp_path: Path) -> None:
    settings = Settings(check=("initcheck",), keep_going=True, schedule="random:1:1", fill="0x40")
    ran = run(program, "unwritten", tmp_path, settings)
    assert float(ran.lines[-1]) == pytest.approx(2 * np.frombuffer(b"@@@@", np.float32)[0])
    (finding,) = ran.finished.findings
    assert finding.checked is not None
    assert finding.checked.schedule == "random:1:1"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(schedule="fair"), "unknown schedule 'fair'"),
        (Settings(schedule="round_robin", timing=True), "a timed launch has no schedule"),
        (Settings(fill="0x100"), "fill is 256"),
        (Settings(timing=True, model=Timing(max_host_seconds=-1)), "max_host_seconds is -1"),
        (Settings(check=("leakcheck",)), "there is no check 'leakcheck'"),
    ],
)
def test_what_is_refused_before_the_program_runs(program: Path, settings: Settings, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(program, "plain", Path("/nowhere"), settings)
