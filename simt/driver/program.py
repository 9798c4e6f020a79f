"""Running a program on the modelled GPU: its command, its surroundings, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from simt import devices
from simt.calls.options import SOURCE, Options
from simt.check import LaunchError, UnsupportedError, check_file
from simt.driver.build import libraries
from simt.driver.server import Server
from simt.driver.settings import Finished, Settings
from simt.machine.launch import parse_order
from simt.toolkit.programs import build_program

_RUNTIME_TEXT = b"CUDA driver version is insufficient for CUDA runtime version"
"""NVIDIA's runtime holds this text, and so does that of the device, which launches kernels from kernels."""
_SHARED_RUNTIME = b"libcudart.so."
"""Programs that are linked with a shared runtime name it."""
VIEWS = ("machine", SOURCE)
"""Where the kernels of a program may run."""
STATIC = "NVIDIA's static CUDA runtime, which runs on NVIDIA's driver only"
GRACE = 2.0
"""Seconds that a program has to end after ctrl-C."""
STARTUP = Path(__file__).parent / "startup"
"""On the PYTHONPATH of programs whose kernels run in the source view."""
RELINK = 'compile it again with nvcc -cudart shared (make NVCC_APPEND_FLAGS="-cudart shared"), or with simt nvcc'


def run_program(command: Sequence[str], settings: Settings) -> Finished:
    """Run a program with the modelled GPU in the place of NVIDIA's, and wait for its end.

    Its standard streams are ours.  ctrl-C is the program's affair: it ends, and what it did so far is returned.  So it
    is after the seconds that it may take.

    Raises DeviceError for an unknown device, LaunchError for a missing program or an unknown check,
    UnsupportedError for a program that contains NVIDIA's runtime, and where there is no C compiler.
    """
    check_settings(settings)
    folder = libraries()
    command = _prepared(
        command, settings.architecture or devices.get(settings.device).architecture, settings.view, folder
    )
    server = Server(settings)
    try:
        environment = {**surroundings(folder, server.name), **settings.variables}
        if settings.view == SOURCE:
            environment["PYTHONPATH"] = _joined(STARTUP, os.environ.get("PYTHONPATH", ""))
        returncode, in_time = _run(command, environment, settings)
    finally:
        server.close()
    sessions = [each for each in server.sessions if each.began]
    findings = [finding for each in sessions for finding in each.findings]
    refused = {name: why for each in sessions for name, why in each.machine_code.items()}
    activities = [each.device.activities for each in sessions]
    return Finished(returncode, activities, findings, refused, None if in_time else settings.seconds)


def check_settings(settings: Settings) -> None:
    """Raises DeviceError and LaunchError for settings with which no kernel can be launched."""
    gpu = devices.get(settings.device)
    Options(
        check=settings.check,
        schedule=settings.schedule,
        fill=settings.fill,
        timing=settings.timing,
        **settings.modelled,
    ).validate()
    if settings.view not in VIEWS:
        raise LaunchError(f"a program has no view {settings.view!r}", help=f"choose {' or '.join(VIEWS)}")
    if settings.order is not None:
        parse_order(settings.order)
    if settings.timing:
        from simt.timing import check_options

        check_options(settings.model, gpu)


def surroundings(folder: Path, server: str | None = None, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables with which CUDA programs use the modelled GPU.

    ``folder``: that of :func:`libraries`.  ``server``: the name of a running one; without it each process starts one
    of its own.
    """
    path = _joined(folder, given.get("LD_LIBRARY_PATH", ""))
    found = {**given, "LD_LIBRARY_PATH": path, "SIMT_PYTHON": sys.executable}
    if server is None:
        found.pop("SIMT_DRIVER", None)
    else:
        found["SIMT_DRIVER"] = server
    return found


def _joined(folder: Path, others: str) -> str:
    """A search path with *folder* first."""
    return os.pathsep.join(dict.fromkeys([str(folder), *filter(None, others.split(os.pathsep))]))


def _prepared(command: Sequence[str], architecture: str, view: str, folder: Path) -> list[str]:
    """The command to start: CUDA C compiled and linked with the libraries in *folder*, Python with this interpreter.

    Raises LaunchError for a missing file, and what compiling raises.
    """
    first, *rest = command
    if first == "-m":
        return [sys.executable, "-m", *rest]
    if not first:
        raise LaunchError("the name of the program is empty")
    if first.startswith("-"):
        raise LaunchError(f"there is no option {first}", help=f"a program of that name is ./{first}")
    path = Path(first)
    if path.suffix in (".cu", ".py") or path.is_dir():
        check_file(path)
    if path.suffix == ".py":
        return [sys.executable, first, *rest]
    if path.suffix == ".cu":
        if view == SOURCE:
            raise LaunchError("the source view is for Python programs", help="leave out --view source")
        return [str(build_program(path, architecture, folder)), *rest]
    if path.is_file():
        _check_runtime(path)
        if "/" not in first:
            return [f"./{first}", *rest]
    return [first, *rest]


def _check_runtime(path: Path) -> None:
    """Raises UnsupportedError for an executable that contains NVIDIA's runtime."""
    try:
        data = path.read_bytes()
    except OSError:
        return
    if data.startswith(b"\x7fELF") and _RUNTIME_TEXT in data and _SHARED_RUNTIME not in data:
        raise UnsupportedError(f"{path} contains {STATIC}", help=RELINK)


def _run(command: list[str], environment: Mapping[str, str], settings: Settings) -> tuple[int, bool]:
    """Run to the end, through ctrl-C, which the program gets, too: its return code, and whether it ended in time."""
    try:
        child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL if settings.quiet else None)
    except OSError as error:
        raise LaunchError(
            f"cannot run {command[0]}: {error.strerror}",
            help="a program is an executable, a .cu file or a .py file; simt profile runs a kernel of a cubin",
        ) from None
    handler = signal.getsignal(signal.SIGINT)
    in_main = _set_interrupt(lambda *_: None)
    try:
        return child.wait(settings.seconds), True
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
        child.kill()
        return child.wait(), False
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        if in_main:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)


def _set_interrupt(handler: Any) -> bool:
    """Handle ctrl-C so, if this is the main thread; only that can."""
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return False
    return True
