"""What programs do wrong, and what happens to them: CUDA's error code, our finding, no hang, nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simt.check import LaunchError, OutOfBoundsError, TrapError
from simt.cli.programs import warnings
from simt.driver import Settings, run_program
from simt.driver.report import previewed as previewed_text
from simt.driver.report import report, to_dict
from simt.driver.session import Cancelled
from simt.machine import DeviceMemory, Launch, RunResult
from simt.options import Timing
from simt.program import Program
from simt.runtime import Preview, context
from simt.runtime.context import Run, SecondRun
from tests.driver.conftest import needs_nvdisasm
from tests.driver.scenarios import CUBIN, run, start

pytestmark = needs_nvdisasm


def test_freed_twice(program: Path, tmp_path: Path) -> None:
    assert run(program, "frees", tmp_path).lines == [
        *("free: cudaSuccess", "twice: cudaErrorInvalidValue", "inside: cudaErrorInvalidValue"),
        *("host: cudaErrorInvalidValue", "null: cudaSuccess"),
    ]


def test_copies_out_of_bounds(program: Path, tmp_path: Path) -> None:
    invalid = "cudaErrorInvalidValue"
    assert run(program, "copies", tmp_path).lines == [
        *(f"beyond: {invalid}", f"before: {invalid}", f"freed: {invalid}", f"direction: {invalid}"),
        *("unknown direction: cudaErrorInvalidMemcpyDirection", "default: cudaSuccess"),
        *(
            f"fill: {invalid}",
            f"fill of the host: {invalid}",
            f"symbol: {invalid}",
            "no symbol: cudaErrorInvalidSymbol",
        ),
    ]


def test_copies_beyond_what_the_host_has(program: Path, tmp_path: Path) -> None:
    ran = run(program, "short_buffers", tmp_path)
    invalid = "cudaErrorInvalidValue"
    assert ran.lines == ["whole: cudaSuccess", f"too long: {invalid}", f"back: {invalid}", "1"]
    told = [str(finding) for finding in ran.finished.findings]
    assert [text.split(" from ")[0] for text in told] == [
        f"the program is wrong: a copy {does} {os.sysconf('SC_PAGESIZE'):,} bytes of host memory"
        for does in ("reads", "writes")
    ]


def test_bad_launches(program: Path, tmp_path: Path) -> None:
    ran = run(program, "shapes", tmp_path)
    assert ran.lines == [
        *("threads: cudaErrorInvalidConfiguration", "blocks: cudaErrorInvalidConfiguration"),
        *("function: cudaErrorInvalidDeviceFunction", "last: cudaErrorInvalidDeviceFunction"),
        *("last: cudaErrorInvalidDeviceFunction", "last: cudaSuccess", "shared: cudaErrorInvalidValue"),
        *("together: cudaErrorCooperativeLaunchTooLarge", "good: cudaSuccess"),
    ]
    told = [str(finding).splitlines()[0] for finding in ran.finished.findings]
    wrong = "multiply: the launch is wrong"
    assert told == [
        f"{wrong}: block dimension x is 2048; it must be between 1 and 1024",
        f"{wrong}: grid dimension x is 0; it must be between 1 and 2147483647",
        f"{wrong}: 65,536 bytes of dynamic shared memory per block; the limit of this kernel is 49,152",
        f"{wrong}: a cooperative launch of 100,000 blocks; 4,224 fit on NVIDIA H200 together",
    ]


def test_a_kernel_that_goes_wrong(program: Path, tmp_path: Path) -> None:
    """The error is sticky until the device is reset; the user is told once, with the line."""
    told: list[str] = []
    ran = run(program, "wrong", tmp_path, Settings(on_finding=lambda finding: told.append(str(finding))))
    illegal = "cudaErrorIllegalAddress"
    assert ran.lines == [
        *("launch: cudaSuccess", f"synchronize: {illegal}", f"allocate: {illegal}", f"copy: {illegal}"),
        *(f"launch: {illegal}", "reset: cudaSuccess", "launch: cudaSuccess", "18"),
    ]
    (finding,) = ran.finished.findings
    assert isinstance(finding.error, OutOfBoundsError)
    assert finding.subject == "beyond"
    assert finding.error.location is not None
    assert finding.error.location.file.endswith("kernels.cu")
    assert told == [str(finding)]


def test_after_an_error_memory_is_as_the_kernel_left_it(program: Path, tmp_path: Path) -> None:
    assert run(program, "keeps", tmp_path).lines == [
        *("launch: cudaSuccess", "7 7 32", "synchronize: cudaErrorIllegalAddress"),
    ]


def test_pointers_of_the_host(program: Path, tmp_path: Path) -> None:
    ran = run(program, "host_pointer", tmp_path)
    assert ran.lines == ["launch: cudaSuccess", "synchronize: cudaErrorIllegalAddress"]
    assert len(ran.finished.findings) == 1


def test_a_device_pointer_on_the_host_crashes_as_on_hardware(program: Path, tmp_path: Path) -> None:
    assert run(program, "dereference", tmp_path).finished.returncode == -signal.SIGSEGV


def test_a_trap(program: Path, tmp_path: Path) -> None:
    ran = run(program, "trap", tmp_path)
    assert ran.lines == ["launch: cudaSuccess", "synchronize: cudaErrorLaunchFailure"]
    assert isinstance(ran.finished.findings[0].error, TrapError)


def test_two_threads_and_streams(program: Path, tmp_path: Path) -> None:
    ran = run(program, "threads", tmp_path)
    assert ran.lines == ["0 0"]
    assert ran.finished.activities is not None
    assert len({each.stream for each in ran.finished.activities.launched}) == 2


def test_a_child_process_has_no_part_in_the_device(program: Path, tmp_path: Path) -> None:
    lines = run(program, "forks", tmp_path).lines
    assert lines == ["child: cudaErrorInitializationError", "parent: cudaSuccess", "10"]


def test_a_fork_before_the_first_call_gives_two_devices(program: Path, tmp_path: Path) -> None:
    ran = run(program, "forks_first", tmp_path)
    assert sorted(ran.lines) == ["child: cudaSuccess", "parent: cudaSuccess"]
    assert len(ran.finished.processes) == 2


@pytest.mark.parametrize(
    ("scenario", "code"), [("exits", 3), ("crashes", -signal.SIGSEGV), ("killed", -signal.SIGKILL)]
)
def test_the_end_in_the_middle_of_a_kernel(program: Path, tmp_path: Path, scenario: str, code: int) -> None:
    begin = time.monotonic()
    ran = run(program, scenario, tmp_path, Settings(max_instructions=2**50))
    assert ran.finished.returncode == code
    assert ran.lines == ["running"]
    assert time.monotonic() - begin < 60
    assert not ran.finished.findings


def test_a_kernel_without_end_is_a_finding(program: Path, tmp_path: Path) -> None:
    ran = run(program, "stays", tmp_path, Settings(max_instructions=1000))
    assert "warp instructions" in str(ran.finished.findings[0])
    assert ran.lines == ["synchronize: cudaErrorLaunchTimeout"]


def test_interrupted(program: Path) -> None:
    """ctrl-C goes to both: the program ends by it, and what it did so far is reported."""
    child = start(program, "waits")
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    os.killpg(child.pid, signal.SIGINT)
    report = child.communicate(timeout=60)[1]
    assert child.returncode == 128 + signal.SIGINT
    assert "==simt== NVIDIA H200 (modelled): 0 launches" in report
    assert "Traceback" not in report


def test_a_program_that_takes_longer_than_it_may(program: Path, tmp_path: Path) -> None:
    """It ends as by ctrl-C, in the middle of a kernel, too; one that does not is killed."""
    begin = time.monotonic()
    finished = run(program, "waits", tmp_path, Settings(max_instructions=2**50, seconds=4)).finished
    assert (finished.returncode, finished.ended_after) == (-signal.SIGINT, 4)
    assert to_dict(finished)["unfinished"] == [{"kernel": "forever", "grid": (1, 1, 1), "block": (32, 1, 1)}]
    assert "it ended in the middle of a launch of forever, 1 block of 32 threads" in report(finished)
    script = tmp_path / "stubborn.sh"
    script.write_text("#!/bin/sh\ntrap '' INT\nexec sleep 600\n")
    script.chmod(0o755)
    finished = run_program([str(script)], Settings(seconds=0.5))
    assert (finished.returncode, finished.ended_after) == (-signal.SIGKILL, 0.5)
    assert time.monotonic() - begin < 60
    assert run_program(["true"], Settings(seconds=60)).ended_after is None


def test_a_program_that_ends_in_a_launch_that_takes_long(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of the launch by some of its blocks is told at once, and at the end: 2 of 8 blocks."""

    def previewed(
        code: Program, launch: Launch, memory: DeviceMemory, how: Run, second: SecondRun, rewind: Any, preview: Preview
    ) -> RunResult:
        partial = replace(how(code, launch, memory), executed=2)
        rewind()
        second(launch, memory, partial, rewind)
        preview.told(partial)
        raise Cancelled

    monkeypatch.setattr(context, "_previewed", previewed)
    told: list[str] = []
    settings = Settings(timing=True, on_preview=lambda profile: told.append(previewed_text(profile)))
    finished = run(program, "plain", tmp_path, settings).finished
    (launched,) = to_dict(finished)["launches"]
    assert launched["executed_blocks"] == 2
    assert launched["timing"]["sample"]["blocks_executed_before"] == 2
    assert to_dict(finished)["unfinished"] == [{"kernel": "multiply", "grid": (8, 1, 1), "block": (128, 1, 1)}]
    scaled = "predicted from 2 of 8 blocks, the counts of which are scaled: the others were not executed"
    (text,) = told
    assert " ".join(text.split()).startswith("multiply, 8 blocks of 128 threads, takes long: about")
    assert " ".join(text.split()).endswith(f"{scaled}; the launch goes on")
    assert scaled in " ".join(report(finished).split())
    assert finished.activities is not None
    assert warnings(finished, finished.activities) == [f"multiply is {scaled}"]


def test_the_simulator_is_killed(program: Path) -> None:
    """Then the program's calls fail, and it can end by itself."""
    child = start(program, "server_dies")
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.kill()
    out, told = child.communicate(timeout=60)  # until the program has closed its ends, too
    gone = "cudaErrorDevicesUnavailable"
    assert out.splitlines() == [f"launch: {gone}", f"synchronize: {gone}", f"allocate: {gone}"]
    assert told.count("the simulator has ended, and with it the device") == 1


def test_two_at_once(program: Path) -> None:
    children = [start(program, "plain") for _ in range(2)]
    for child in children:
        assert child.communicate(timeout=120)[0].splitlines()[3] == "5994 2000 16"


SMALL_SHM = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
MOUNT = 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$0" "$@"'


def test_a_small_shm_does_not_matter(program: Path) -> None:
    """Containers often have little there: device memory is elsewhere."""
    allowed = shutil.which("unshare") and subprocess.run([*SMALL_SHM, MOUNT, "true"], capture_output=True, check=False)
    if not allowed or allowed.returncode:
        pytest.skip("mounting a small /dev/shm needs user namespaces")
    command = [sys.executable, "-m", "simt", "exec", str(program), str(CUBIN), "plain"]
    done = subprocess.run([*SMALL_SHM, MOUNT, *command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines()[3] == "5994 2000 16", done.stderr
    filled = [*SMALL_SHM, MOUNT, "sh", "-c", "head -c 100000 /dev/zero > /dev/shm/x"]
    assert subprocess.run(filled, capture_output=True, check=False).returncode  # it is small indeed


def test_nothing_stays_behind(program: Path, tmp_path: Path) -> None:
    def here() -> set[str]:
        return {path for folder in ("/dev/shm", "/tmp") for path in os.listdir(folder) if "simt" in path}

    before = here()
    run(program, "killed", tmp_path, Settings(max_instructions=2**50))
    assert here() == before
    children = subprocess.run(["ps", "-o", "args", "--ppid", str(os.getpid())], capture_output=True, text=True)
    assert str(CUBIN) not in children.stdout


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(LaunchError, match="no_such_program: No such file"):
        run_program(["./no_such_program"], Settings())


def test_a_static_runtime_is_refused(tmp_path: Path) -> None:
    from simt.check import UnsupportedError

    fake = tmp_path / "static"
    fake.write_bytes(b"\x7fELF" + b"\0CUDA driver version is insufficient for CUDA runtime version\0")
    with pytest.raises(UnsupportedError, match="static CUDA runtime") as caught:
        run_program([str(fake)], Settings())
    assert "-cudart shared" in str(caught.value)


def test_the_texts_of_the_device_runtime_are_no_static_runtime(tmp_path: Path) -> None:
    fake = tmp_path / "shared"
    fake.write_bytes(
        b"\x7fELF" + b"\0CUDA driver version is insufficient for CUDA runtime version\0" + b"libcudart.so.13\0"
    )
    fake.chmod(0o755)
    with pytest.raises(LaunchError, match="cannot run"):  # it is no program at all
        run_program([str(fake)], Settings())


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="is a folder, not a file"):
        run_program([str(tmp_path)], Settings())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "the name of the program is empty"),
        ("--nosuch", "there is no option --nosuch"),
        (str(CUBIN), "a program is an executable, a .cu file or a .py file; simt profile runs a kernel of a cubin"),
    ],
)
def test_what_is_no_program(name: str, words: str) -> None:
    with pytest.raises(LaunchError, match=re.escape(words)):
        run_program([name], Settings())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(view="sm_90"), "a program has no view 'sm_90'"),
        (Settings(order="other"), "unknown split order 'other'"),
        (Settings(timing=True, model=Timing(sms=133)), "NVIDIA H200 has 132 SMs"),
    ],
)
def test_settings_that_no_launch_can_have_are_refused_first(settings: Settings, words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        run_program(["./no_such_program"], settings)
