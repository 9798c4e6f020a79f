"""Timing on the command line: ``--timing``, ``simt sweep``, ``simt timeline``, the devices' numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.machine_view import DATA, needs_nvdisasm

SMALL = ["--size", "2^14", "--block", "128"]
TWO = ["--kernel", "neighbored", "--kernel", "interleaved"]

MINE = """
import numpy as np

def fixed(x):
    x[0] = 1

def launch_fixed():
    return dict(grid=2, block=64, args=(np.zeros(4),))

def narrow(x):
    x[0] = 1

def launch_narrow(block=32):
    if block == 128:
        raise ValueError("too wide")
    return dict(grid=4, block=block, args=(np.zeros(4),))
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return str(path)


def test_reduce_as_a_table(run) -> None:
    found = run("reduce", *SMALL, *TWO, "--device", "h200", "--timing")
    assert found.code == 0
    assert "\x1b" not in found.out
    rows = {
        line.split()[0]: line.split() for line in found.out.splitlines() if line.strip().startswith(("nei", "inter"))
    }
    assert rows["neighbored"][3:5] == ["yes", "1.00"]
    assert float(rows["interleaved"][4]) > 1
    assert "mainly waits for" in found.out
    assert "timed on NVIDIA H200 at 1980 MHz: 2 of 132 SMs with their share" in found.out
    untimed = run("reduce", *SMALL, *TWO).out
    assert "timed" not in untimed
    assert "seconds" in untimed


def test_reduce_as_json(run) -> None:
    data = run("reduce", *SMALL, *TWO, "--device", "a100", "--timing", "--set", "l1_latency=40", "--json").json()
    assert data["device"] == "a100"
    slow, fast = data["results"]
    assert slow["metrics"]["cycles"] > fast["metrics"]["cycles"]
    assert slow["timing"]["overridden"] == {"l1_latency": 40}
    assert slow["timing"]["dominant_stall"] in slow["timing"]["stalls_per_issue"]
    plain = run("reduce", *SMALL, *TWO, "--json").json()["results"]
    assert [each["timing"] for each in plain] == [None, None]
    assert [each["counters"] for each in plain] == [each["counters"] for each in data["results"]]


def test_run_shows_where_warps_wait(run) -> None:
    found = run("run", "interleaved", *SMALL, "--timing", "--sms", "all")
    assert "achieved_occupancy_percent" in found.out
    assert "all 128 SMs with blocks, of 132" in found.out
    heading = next(line for line in found.out.splitlines() if "mainly for" in line)
    assert heading.split()[-3:] == ["mainly", "for", "line"]
    chosen = run("run", "interleaved", *SMALL, "--timing", "--column", "barrier", "--column", "waited").out
    assert " barrier waited line " in " ".join(chosen.split())
    data = run("run", "interleaved", *SMALL, "--timing", "--json").json()
    assert any("barrier" in line.get("stalls", {}) for line in data["lines"])


@needs_nvdisasm
def test_profile_of_a_cubin(run) -> None:
    launch = ["--kernel", "reduceNeighbored", "--grid", "8", "--block", "512", "--timing"]
    args = ["--arg", "random:int32:2^12:5", "--arg", "zeros:int32:8", "--arg", "2^12"]
    cubin = str(DATA / "sm_90" / "kernels_O3.cubin")
    found = run("profile", cubin, *launch, *args, "--annotate")
    assert "timed on NVIDIA H200" in found.out
    assert "BAR.SYNC" in found.out
    wrong = run("profile", cubin, *launch, *args, "--device", "rtx_4090")
    assert wrong.code == 2
    assert "does not run sm_90 code" in wrong.err


def test_a_timed_profile_beside_one_of_the_hardware(run, tmp_path: Path) -> None:
    """A profile of the hardware has these metrics under the same names and in the same units."""
    ours = tmp_path / "ours.json"
    ours.write_text(run("run", "vector_add", "--timing", "--json").out)
    theirs = json.loads(ours.read_text())
    theirs |= {"profiler": "Nsight Compute", "device": {"name": "some GPU"}, "view": "source"}
    theirs["metrics"] = {"cycles": 2 * theirs["metrics"]["cycles"], "duration": 8310.0}
    (tmp_path / "theirs.json").write_text(json.dumps(theirs))
    found = run("diff", str(ours), str(tmp_path / "theirs.json"))
    assert "timed on h200" in found.out
    assert "measured on some GPU" in found.out
    rows = {line.split()[0]: line.split() for line in found.out.splitlines() if line.startswith("  ")}
    assert rows["cycles"][3] == "2"
    assert rows["duration"][2] == "8.31"
    assert rows["duration"][-1] == "us"


def test_diff_of_two_timed_kernels(run) -> None:
    data = run("diff", "neighbored", "interleaved", *SMALL, "--timing", "--device", "h200", "--json").json()
    rows = {row["metric"]: row for row in data["metrics"]}
    assert rows["cycles"]["ratio"] < 1
    assert "timed on h200" in data["a"]["origin"]


def test_sweep(run) -> None:
    found = run("sweep", "interleaved", "--size", "2^16", "--blocks", "32,128,2048")
    assert found.code == 0
    rows = {line.split()[0]: line for line in found.out.splitlines() if line.strip()[:2].isdigit()}
    assert rows.keys() == {"32", "128", "2048"}
    assert "must be between 1 and 1024" in rows["2048"]
    assert "predicted best: 128 threads per block" in found.out
    data = run("sweep", "interleaved", "--size", "2^16", "--blocks", "32,128,2048", "--json").json()
    assert data["best"] == {"block": 128}
    assert [each["block"] for each in data["results"]] == [32, 128]
    assert data["refused"] == [{"block": 2048, "why": "block dimension x is 2048; it must be between 1 and 1024"}]
    assert data["results"][0]["margin_percent"] > data["results"][1]["margin_percent"] == 0
    assert data["results"][0]["cycles"] > data["results"][1]["cycles"]
    assert "predicted best: 128" in data["reason"]


def test_sweep_over_a_kernel_of_a_file(run, mine: str) -> None:
    found = run("sweep", f"{mine}:narrow", "--blocks", "32,64,128")
    assert "too wide" in found.out
    assert "predicted best" in found.out
    fixed = run("sweep", f"{mine}:fixed")
    assert fixed.code == 2
    assert fixed.err.count("no parameter 'block'") == 1
    none = run("sweep", f"{mine}:narrow", "--blocks", "128,2000")
    assert none.code == 2
    assert "2000 threads per block: " in none.err


def test_timeline_as_text(run) -> None:
    found = run("timeline", "interleaved", *SMALL, "--cycles", "220:280")
    assert found.code == 0
    rows = [line for line in found.out.splitlines() if line.endswith("|")]
    assert len(rows) == 4
    assert all("#" in row for row in rows)
    assert "S short scoreboard" in found.out


def test_timeline_as_trace_events(run, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    found = run("timeline", "if_else", "--output", str(file))
    assert found.code == 0
    assert "ui.perfetto.dev" in found.out
    events = json.loads(file.read_text())["traceEvents"]
    assert any(event["name"] == "value = 2 * i" for event in events)
    assert run("timeline", "if_else", "--json").json()["traceEvents"] == events


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reduce", "--device", "h2000", "--timing"], "did you mean h200"),
        (["reduce", "--device", "h2000"], "did you mean h200"),
        (["reduce", "--timing", "--set", "l1_latncy=3"], "did you mean l1_latency"),
        (["reduce", "--timing", "--set", "l1_latency=1e9"], "exceeds l2_latency"),
        (["reduce", "--timing", "--set", "l1_latency"], "NAME=NUMBER"),
        (["reduce", "--timing", "--set", "l1_latency=fast"], "NAME=NUMBER"),
        (["reduce", "--set", "l1_latency=3"], "add --timing"),
        (["reduce", "--sms", "all"], "add --timing"),
        (["reduce", "--timing", "--sms", "some"], "number of SMs"),
        (["reduce", "--timing", "--sms", "all", "--max-host-seconds", "1e-6"], "--max-host-seconds"),
        (["reduce", "--max-host-seconds", "3"], "add --timing"),
        (["sweep", "interleaved", "--blocks", "128;256"], "128,256,512"),
        (["sweep", "interleaved", "--set", "nothing=1"], "no timing number 'nothing'"),
        (["sweep", "interleaved", "--set", "nothing=1"], "`simt devices h200` lists them"),
        (["run", "if_else", "--timing", "--set", "schedulers=0"], "the device is wrong: the timing numbers of h200"),
        (["run", "if_else", "--device", "voodoo"], "choose a100, b200, h100, h200"),
        (["timeline", "if_else", "--cycles", "0:99999999999999999999999"], "one past the last"),
        (["sweep", "nothing"], "no kernel 'nothing'"),
        (["timeline", "if_else", "--cycles", "7"], "FROM:TO"),
        (["timeline", "if_else", "--cycles", "9:5"], "FROM:TO"),
        (["timeline", "if_else", "--cycles", "0:5"], "no warp issues an instruction in the cycles 0:5"),
        (["timeline", "if_else", "--sm", "3"], "SM 3 was not simulated"),
        (["timeline", "if_else", "--output", "absent/trace.json"], "no folder absent"),
        (["run", "mine.py", "--timing"], "mine.py:FUNCTION"),
    ],
)
def test_wrong_use_says_what_to_do(run, arguments: list[str], message: str) -> None:
    found = run(*arguments, *(["--size", "1000"] if arguments[0] == "reduce" else []))
    assert found.code == 2
    assert message in " ".join(found.err.replace("│", " ").split())
    assert "Traceback" not in found.err
    assert not found.out


def test_devices_say_where_their_timing_numbers_come_from(run) -> None:
    rows = {line.split()[0]: line for line in run("devices").out.splitlines() if " sm_" in line}
    one = run("devices", "h200").out
    assert "l1_latency" in one
    assert "microbenchmarks on an H200" in one
    assert "estimated" in one
    numbers = run("devices", "h200", "--json").json()["timing"]
    known = sum(not number["source"].startswith("estimated") for number in numbers.values())
    assert f"{len(numbers) - known} of {len(numbers)}" in rows["h200"]
    assert one.startswith(f"NVIDIA H200 (sm_90); {len(numbers) - known} of {len(numbers)} timing numbers are estimated")


def test_devices_say_which_are_measured(run) -> None:
    rows = {line.split()[0]: line.split()[-1] for line in run("devices").out.splitlines() if " sm_" in line}
    assert rows.pop("h200") == rows.pop("h100") == "measured"
    assert set(rows.values()) == {"estimated"}


def test_a_device_file_whose_timing_cannot_be(run, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'like = "h200"\nname = "mine"\n[timing]\nl2_latency = { value = 9, unit = "cycles", source = "estimated" }\n'
    )
    for command in (["devices", str(path)], ["run", "if_else", "--timing", "--device", str(path)]):
        found = run(*command)
        assert found.code == 2
        assert "l1_latency = 31 exceeds l2_latency = 9" in found.err
        assert not found.out


def test_metrics_of_timing_are_explained(run) -> None:
    found = run("metrics", "stall_sync")
    assert "stalled_barrier + stalled_membar" in found.out
    assert run("metrics", "sm__cycles_elapsed.max").out.startswith("cycles")
