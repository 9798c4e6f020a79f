"""Programs on the modelled GPU: what they compute and are told, and what is told of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.devices import DeviceError
from simt.driver import Settings, libraries, surroundings
from simt.options import Timing
from tests.driver.conftest import needs_nvdisasm
from tests.driver.scenarios import CUBIN, run, start
from tests.machine_view import DATA

pytestmark = needs_nvdisasm
SYSTEM = Path(__file__).parent.parent / "data" / "system"


def test_a_program(program: Path, tmp_path: Path) -> None:
    ran = run(program, "plain", tmp_path)
    ok = "cudaSuccess"
    assert ran.finished.returncode == 0
    assert ran.lines == [
        *(f"launch: {ok}", f"launch: {ok}", f"synchronize: {ok}", "5994 2000 16"),
        *(f"memory: {ok}", "1", f"free: {ok}"),
    ]
    found = ran.finished.activities
    assert found is not None
    assert [each.profile.kernel for each in found.launched] == ["multiply", "multiply"]
    assert [(each.kind, each.bytes) for each in found.copied] == [
        *(("HtoD", 4000), ("HtoD", 4), ("DtoH", 4), ("DtoH", 4000)),
    ]
    assert found.called[0].name == "cudaMalloc"
    assert not ran.finished.findings


def test_counts_are_those_of_a_launch(program: Path, tmp_path: Path) -> None:
    found = run(program, "plain", tmp_path).finished.activities
    assert found is not None
    kernel = simt.load_cubin(CUBIN)["multiply"]
    alone = simt.launch(kernel, 8, 128, np.zeros(1000, np.float32), np.int32(1000))
    for each in found.launched:
        assert each.profile.to_dict()["metrics"] == alone.to_dict()["metrics"]


def test_memory_of_both(program: Path, tmp_path: Path) -> None:
    """Managed, pinned and registered memory is the kernels' own: nothing is copied."""
    ran = run(program, "memory", tmp_path)
    assert ran.lines == [
        *("register: cudaSuccess", "20 40 60"),
        *("unregister: cudaSuccess", "unregister: cudaErrorHostMemoryNotRegistered"),
        *("free: cudaSuccess", "free: cudaSuccess", "2D: cudaSuccess", "5 5 0"),
    ]


def test_a_managed_variable(program: Path, tmp_path: Path) -> None:
    """The host uses it before the runtime has begun, after a kernel, and after a reset, where it is as at the start."""
    ran = run(program, "managed", tmp_path)
    assert ran.finished.returncode == 0
    assert ran.lines == ["1005 3 1", "0"]


def test_a_texture(program: Path, tmp_path: Path) -> None:
    lines = run(program, "texture", tmp_path).lines
    assert lines[3] == "1 2 3 4 5 6 7 8"
    assert all(line.endswith("cudaSuccess") for line in lines[:3] + lines[4:])


def test_cube_maps(program: Path, tmp_path: Path) -> None:
    """One cube, then three in layers, from which directions choose 2, 0, 1, 2, 0, 1."""
    lines = run(program, "cubes", tmp_path, cubin=DATA / "sm_90" / "cubes.cubin").lines
    made = [f"{what}: cudaSuccess" for what in ("cube", "copy", "texture", "result")]
    assert lines == [
        *(f"{what}: cudaErrorInvalidValue" for what in ("not square", "five faces", "seven faces")),
        *(*made, "0 1 2 3 4 5"),
        *(*made, "12 1 8 15 4 11"),
    ]


def test_events_tell_modelled_time(program: Path, tmp_path: Path) -> None:
    ran = run(program, "times", tmp_path, Settings(timing=True))
    found = ran.finished.activities
    assert found is not None
    seconds = [each.seconds for each in found.launched]
    told = [float(word) for word in ran.lines[0].split()]
    assert told == pytest.approx([1e3 * (each or 0) for each in seconds], rel=1e-3)
    assert found.launched[1].start == pytest.approx(seconds[0])


def test_later_launches_take_as_long_as_the_last_one_timed(program: Path, tmp_path: Path) -> None:
    ran = run(program, "times", tmp_path, Settings(timing=True, timed=1))
    found = ran.finished.activities
    assert found is not None
    first, second = (each.seconds for each in found.launched)
    assert first is not None
    assert second is None
    assert [float(word) for word in ran.lines[0].split()] == pytest.approx([1e3 * first] * 2, rel=1e-3)


def test_how_launches_of_a_program_are_timed(program: Path, tmp_path: Path) -> None:
    slower = Timing(sms="all", overrides={"launch_overhead": 50_000})
    ran = run(program, "times", tmp_path, Settings(timing=True, model=slower))
    assert ran.finished.activities is not None
    for each in ran.finished.activities.launched:
        assert each.profile.timing is not None
        assert each.profile.timing.sample.is_whole
        assert each.profile.timing.cycles > 50_000


def test_a_timing_number_that_is_none(program: Path, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="no timing number 'nonsense'"):
        run(program, "times", tmp_path, Settings(timing=True, model=Timing(overrides={"nonsense": 1})))


def test_what_a_failed_assert_writes(program: Path, tmp_path: Path) -> None:
    ran = run(program, "asserts", tmp_path, cubin=SYSTEM / "calls.cubin")
    assert ran.lines[:1] == ["before 0"]
    assert ran.lines[-2:] == ["launch: cudaSuccess", "synchronize: cudaErrorAssert"]
    assert len(ran.errors) == 3  # of the first block: the launch ends there
    assert all(line.endswith('Assertion `threadIdx.x < n && "below n"` failed.') for line in ran.errors)
    assert len(ran.finished.findings) == 1


def test_limits_of_what_runs_on_the_device(program: Path, tmp_path: Path) -> None:
    lines = run(program, "limits", tmp_path, cubin=SYSTEM / "launches.cubin").lines
    pending = 69  # cudaErrorLaunchPendingCountExceeded
    assert lines == [f"{what}: cudaSuccess" for what in ("heap", "pending", "copy")] + [
        f"4 run, 2 refused with {pending}"
    ]


def test_which_launches_are_profiled(program: Path, tmp_path: Path) -> None:
    for settings, many in ((Settings(kernel="nothing"), 0), (Settings(skip=1), 1), (Settings(count=1), 1)):
        found = run(program, "plain", tmp_path, settings).finished.activities
        assert found is not None
        assert len(found.launched) == many


def test_what_is_not_there_is_named(program: Path, tmp_path: Path) -> None:
    ran = run(program, "missing", tmp_path)
    assert ran.lines == [f"{what}: cudaErrorNotSupported" for what in ("handle", "last", "handle")]
    assert ran.finished.activities is not None
    assert ran.finished.activities.unsupported == {"cudaIpcGetMemHandle": 2}


def test_a_captured_graph(program: Path, tmp_path: Path) -> None:
    """Two streams, joined by events; nothing runs before the graph is launched, and each launch does it all."""
    ran = run(program, "captures", tmp_path)
    assert ran.lines == [
        *("default stream: cudaErrorStreamCaptureUnsupported", "nothing begun: cudaErrorIllegalState"),
        *("begin: cudaSuccess", "end: cudaSuccess", "0 1 0, 3 nodes, 5", "instantiate: cudaSuccess"),
        *("destroy: cudaSuccess", "launch: cudaSuccess", "launch: cudaSuccess", "80 40", "destroy: cudaSuccess"),
    ]
    assert ran.finished.activities is not None
    assert len(ran.finished.activities.launched) == 4


def test_a_stream_that_captured_is_destroyed_before_the_end(program: Path, tmp_path: Path) -> None:
    assert run(program, "leaves", tmp_path).lines == ["destroy: cudaSuccess", "end: cudaSuccess", "0, 1 nodes"]


def test_objects_of_the_program_live_as_long_as_graphs(program: Path, tmp_path: Path) -> None:
    assert run(program, "objects", tmp_path).lines == ["object: cudaSuccess", "retain: cudaSuccess", "0 1"]


def test_a_graph_of_nodes(program: Path, tmp_path: Path) -> None:
    """Edges give the order; nodes of the executable graph get other parameters, all at once from the graph, too."""
    ok = "cudaSuccess"
    assert run(program, "nodes", tmp_path).lines == [
        *(f"{what}: {ok}" for what in ("graph", "kernel", "call", "copy", "edge", "instantiate", "launch")),
        *("100 after 1", f"set: {ok}", f"launch: {ok}", "50 after 2", "another node: cudaErrorInvalidValue"),
        *(f"update: {ok}", "100 after 3", "update: cudaErrorGraphExecUpdateFailure"),
    ]


def test_memory_of_graphs(program: Path, tmp_path: Path) -> None:
    """A node's address is its own; launches allocate and free, and what they leave is the program's to free."""
    ok, invalid, size = "cudaSuccess", "cudaErrorInvalidValue", 4000
    assert run(program, "graph_memory", tmp_path).lines == [
        *(f"allocate: {ok}", f"allocate: {ok}", f"free: {ok}", f"not of a graph: {invalid}", f"0 of {2 * size}"),
        *(f"before: {invalid}", f"launch: {ok}", f"10, {size}", f"again: {invalid}", f"free: {ok}"),
        *(f"twice: {invalid}", f"launch: {ok}", f"destroy: {ok}", f"10, {size}", f"free: {ok}", "0"),
        *(f"node: {ok}", f"frees: {ok}", f"nothing: {invalid}", f"launch: {ok}", f"launch: {ok}"),
        f"{size} of {2 * size}",
    ]


def test_the_command(program: Path) -> None:
    child = start(program, "plain", "--metrics", "inst_executed")
    out, report = child.communicate(timeout=120)
    assert child.returncode == 0
    assert out.splitlines()[3] == "5994 2000 16"
    lines = report.splitlines()
    assert [line for line in lines if not line.startswith("simt:")] == [
        "==simt== NVIDIA H200 (modelled): 2 launches of 1 kernel, 4 copies of 8,008 bytes",
        "==simt==   together",
        "==simt==",
        "==simt== multiply, 8 blocks of 128 threads, 2 launches",
        "==simt==   inst_executed 736",
        "==simt== not timed: events tell this computer's time (--timing models the GPU's)",
    ]


def test_json_of_the_command(program: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = start(program, "missing", "--json", "--log-file", str(log))
    assert child.communicate(timeout=120)[1] == ""
    found = json.loads(log.read_text())
    assert found["not_supported"] == {"cudaIpcGetMemHandle": 2}
    assert found["launches"] == []


def test_a_program_starts_a_server_of_its_own(program: Path, tmp_path: Path) -> None:
    """With the variables of `simt env` and without a server; the report is there when the program has ended."""
    log = tmp_path / "log"
    variables = {"SIMT_METRICS": "inst_executed", "SIMT_LOG": str(log), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = surroundings(libraries(), given={**os.environ, **variables, "SIMT_DRIVER": "an older one"})
    done = subprocess.run([program, CUBIN, "plain"], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout.splitlines()[3] == "5994 2000 16"
    assert "2 launches of 1 kernel" in log.read_text()
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"SIMT_MAX_INSTRUCTIONS": "100"}, "more than 100 warp instructions"),
        ({"SIMT_MAX_INSTRUCTIONS": "many"}, "SIMT_MAX_INSTRUCTIONS is 'many'"),
        ({"SIMT_TIMING": "1", "SIMT_SMS": "some"}, "SIMT_SMS is 'some'"),
        ({"SIMT_TIMING": "1", "SIMT_SET": "l1_latency=x"}, "SIMT_SET has 'x'"),
        ({"SIMT_TIMING": "1", "SIMT_SET": "l1_latncy=60"}, "l1_latency"),
        ({"SIMT_TIMING": "1", "SIMT_MAX_HOST_SECONDS": "-1"}, "max_host_seconds is -1.0"),
        ({"SIMT_CHECK": "racechek"}, "racecheck"),
    ],
)
def test_a_server_of_its_own_takes_options(program: Path, tmp_path: Path, given: dict[str, str], told: str) -> None:
    log = tmp_path / "log"
    variables = {**given, "SIMT_LOG": str(log), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = surroundings(libraries(), given={**os.environ, **variables})
    subprocess.run([program, CUBIN, "stays"], env=environment, capture_output=True, timeout=120)
    assert told in log.read_text()


def test_the_longest_block(program: Path) -> None:
    """The option that the error of a kernel without end names."""
    child = start(program, "stays", "--max-instructions", "1000")
    errors = child.communicate(timeout=120)[1]
    assert "more than 1000 warp instructions" in errors
    assert "(--max-instructions)" in errors
