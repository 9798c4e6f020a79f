"""``pytest --simt``: a test suite written for CUDA runs on the modelled GPU.  ``--simt-check`` checks every launch of
simt in the tests and reports them by kernel; the fixture ``simt_budget`` holds counts to a file.

The libraries in the place of NVIDIA's must be on LD_LIBRARY_PATH when a process starts, so that pytest starts itself
again with them there.  Workers of pytest-xdist inherit that; each process has a device of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from simt.calls.session import Session
    from simt.profile import Profile
    from simt.testing.budgets import Budgets

_STARTED = "SIMT_PYTEST"
"""Set in a pytest that has started itself again."""

_session: pytest.StashKey[Session] = pytest.StashKey()
_budgets: pytest.StashKey[Budgets] = pytest.StashKey()
"""What the launches of tests counted, with --simt-update-budgets."""
_KERNELS, _BUDGETS = "simt_kernels", "simt_budgets"
"""What a worker of pytest-xdist sends."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --simt and what goes with it."""
    group = parser.getgroup("simt", "CUDA without a GPU")
    group.addoption("--simt", action="store_true", help="Run the tests on the modelled GPU of simt.")
    group.addoption("--simt-device", metavar="NAME", default="h200", help="The GPU: a name of simt devices.")
    group.addoption(
        "--simt-timing", action="store_true", help="Time every launch; CUDA events then tell modelled time."
    )
    group.addoption(
        "--simt-check",
        metavar="NAMES",
        help="Check every launch: all, or names as initcheck,racecheck.",
    )
    group.addoption("--simt-update-budgets", action="store_true", help="Write what launches count as their budgets.")
    parser.addini("simt_budgets", "The file of budgets, from the root of the tests.", default="simt-budgets.json")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest captures the output
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Start again with the libraries in place."""
    options = early_config.known_args_namespace
    if options.simt and not os.environ.get(_STARTED):
        environment = _environment(options.simt_device, options.simt_timing, options.simt_check)
        sys.stdout.flush()
        sys.stderr.flush()
        command = [sys.executable, "-m", "pytest", *early_config.invocation_params.args]
        os.execve(sys.executable, command, environment)
    return (yield)


def _environment(device: str, timing: bool, check: str | None) -> dict[str, str]:
    """The variables of the pytest that runs the tests.  Raises UsageError for what simt refuses."""
    from simt import devices
    from simt.check import SimtError
    from simt.driver import libraries, surroundings

    try:
        key = devices.get(device).key
        found = surroundings(libraries())
    except SimtError as error:
        raise pytest.UsageError(str(error)) from None
    chosen = {"SIMT_DEVICE": key, "SIMT_TIMING": "1" if timing else "", "SIMT_CHECK": check or ""}
    return {**found, **chosen, _STARTED: "1"}


def pytest_configure(config: pytest.Config) -> None:
    """Begin to check, and to count, the launches of this process.  Raises UsageError for a check that there is not."""
    wanted = config.getoption("simt_check")
    if wanted is None:
        return
    from simt.calls.session import Session, session
    from simt.check import SimtError
    from simt.sanitizer import names_of

    try:
        running = Session(check=names_of(wanted))
    except SimtError as error:
        raise pytest.UsageError(str(error)) from None
    opened = ExitStack()
    config.stash[_session] = opened.enter_context(session(running))
    config.add_cleanup(opened.close)  # launches after the tests are no longer checked


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Which GPU the tests run on."""
    if not config.getoption("simt"):
        return []
    from simt import devices

    return [f"simt: modelled {devices.get(config.getoption('simt_device')).name}"]


@pytest.fixture
def simt_budget(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``simt_budget(profile, name="", metrics=("inst_executed",))``: hold a launch to its budget.

    The name is that of the test, and *name* behind it; see :func:`simt.testing.budget`.
    """
    from simt.testing.budgets import METRICS, counts, hold, read

    def held(profile: Profile, name: str = "", *, metrics: Sequence[str] = METRICS) -> None:
        config = request.config
        entry = " ".join(filter(None, [request.node.nodeid, name]))
        counted = counts(profile, metrics)
        if config.getoption("simt_update_budgets"):
            config.stash.setdefault(_budgets, {})[entry] = counted
        else:
            hold(entry, counted, read(_file(config)), config.getini("simt_budgets"), "pytest --simt-update-budgets")

    return held


def _file(config: pytest.Config) -> Path:
    return config.rootpath / str(config.getini("simt_budgets"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the budgets, or as a worker send them, and the counts, to the pytest that gathers."""
    config = session.config
    written: Budgets = config.stash.get(_budgets, {})
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_BUDGETS] = written
        if _session in config.stash:
            output[_KERNELS] = {name: astuple(row) for name, row in config.stash[_session].kernels.items()}
    elif written:
        from simt.testing.budgets import read, write

        write({**read(_file(config)), **written}, _file(config))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker of pytest-xdist sends when it has ended."""
    output = getattr(node, "workeroutput", {})
    config = node.config
    config.stash.setdefault(_budgets, {}).update(output.get(_BUDGETS, {}))
    if _session in config.stash:
        for name, row in output.get(_KERNELS, {}).items():
            config.stash[_session].add(name, *row)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the launches of each kernel came to."""
    if _session not in config.stash:
        return
    running = config.stash[_session]
    write = terminalreporter.write_line
    terminalreporter.section(f"simt: launches checked by {', '.join(running.check)}")
    if not running.kernels:
        write("no kernel was launched by simt.launch or simt.Device in this process")
        return
    width = max(len("kernel"), *map(len, running.kernels))
    write(f"{'kernel':{width}}  launches  instructions  findings")
    for name, row in sorted(running.kernels.items()):
        write(f"{name:{width}}  {row.launches:8,}  {row.instructions:12,}  {row.findings:8,}")
