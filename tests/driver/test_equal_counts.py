"""Every program of examples/cuda: its launches count what ``simt.launch`` counts for the same code and arguments."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simt.check import UnsupportedError
from simt.cli import application
from simt.driver import libraries
from simt.profile import Profile
from simt.toolkit.programs import build_program, find_nvcc
from tests.driver.conftest import needs_nvdisasm
from tests.driver.recording import Recorded, record
from tests.toolkit.needs import needs_cuobjdump

PROGRAMS = sorted((Path(__file__).parents[2] / "examples" / "cuda").glob("*.cu"))
SMALL = {"nested_hello": ["4", "8"], "nested_reduce": ["4", "64"], "reduce": ["2^13"], "sum_matrix": ["6", "7"]}
"""Arguments with which a program does less than without."""
EVENTS = (
    "inst_executed",
    "branch",
    "divergent_branch",
    "gld_transactions",
    "gst_transactions",
    "shared_load_transactions",
)
KEPT = ("kernel", "view", "grid", "block", "notes", "findings", "counters", "metrics", "idle_lane_slots")
ARCHITECTURE = "sm_90"


def _has_nvcc() -> bool:
    try:
        return shutil.which(find_nvcc()) is not None
    except UnsupportedError:
        return False


pytestmark = [
    needs_nvdisasm,
    needs_cuobjdump,
    pytest.mark.skipif(not _has_nvcc(), reason="programs in CUDA C: needs nvcc and a compiler for C++"),
]


@pytest.fixture(params=PROGRAMS, ids=lambda path: path.stem)
def source(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def counts(told: dict[str, Any]) -> dict[str, Any]:
    """What a profile tells of a launch, but the time that it took this computer, and where its code was read."""
    lines = [{name: value for name, value in line.items() if name != "file"} for line in told["lines"]]
    return {name: told[name] for name in KEPT} | {"lines": lines}


def alone(recorded: list[Recorded], source: Path) -> list[Profile]:
    """The profiles of the recorded launches, each made by ``simt.launch`` of what the executable holds."""
    executable = build_program(source, ARCHITECTURE, libraries())
    return [profile for each in recorded for profile in each.again(executable, ARCHITECTURE)]


def test_exec(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, log = record(monkeypatch), tmp_path / "log"
    command = ["exec", "--json", "--log-file", str(log), str(source), *SMALL.get(source.stem, [])]
    assert CliRunner().invoke(application(), command).exit_code == 0
    found = json.loads(log.read_text())["launches"]
    expected = [counts(profile.to_dict()) for profile in alone(recorded, source)]
    assert found
    assert [counts(each) for each in found] == json.loads(json.dumps(expected))


def test_nvprof(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, log = record(monkeypatch), tmp_path / "log"
    events = ["--print-gpu-trace", "--csv", "--events", ",".join(EVENTS)]
    command = ["nvprof", *events, "--log-file", str(log), str(source), *SMALL.get(source.stem, [])]
    assert CliRunner().invoke(application(), command).exit_code == 0
    lines = [line for line in log.read_text().splitlines() if line and not line.startswith("==")]
    rows = list(csv.DictReader(lines))
    expected = [{name: str(profile.metrics[name]) for name in EVENTS} for profile in alone(recorded, source)]
    assert [{name: row[name] for name in EVENTS} for row in rows] == expected
