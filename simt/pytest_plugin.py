"""``pytest --simt``: a test suite written for CUDA runs on the modelled GPU.

The libraries in the place of NVIDIA's must be on LD_LIBRARY_PATH when a process starts, so that pytest starts itself
again with them there.  Workers of pytest-xdist inherit that; each process has a device of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator

import pytest

_STARTED = "SIMT_PYTEST"
"""Set in a pytest that has started itself again."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --simt and what goes with it."""
    group = parser.getgroup("simt", "CUDA without a GPU")
    group.addoption("--simt", action="store_true", help="Run the tests on the modelled GPU of simt.")
    group.addoption("--simt-device", metavar="NAME", default="h200", help="The GPU: a name of simt devices.")
    group.addoption(
        "--simt-timing", action="store_true", help="Time every launch; CUDA events then tell modelled time."
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before pytest captures the output
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Start again with the libraries in place."""
    options = early_config.known_args_namespace
    if options.simt and not os.environ.get(_STARTED):
        environment = _environment(options.simt_device, options.simt_timing)
        sys.stdout.flush()
        sys.stderr.flush()
        command = [sys.executable, "-m", "pytest", *early_config.invocation_params.args]
        os.execve(sys.executable, command, environment)
    return (yield)


def _environment(device: str, timing: bool) -> dict[str, str]:
    """The variables of the pytest that runs the tests.  Raises UsageError for what simt refuses."""
    from simt import devices
    from simt.check import SimtError
    from simt.driver import libraries, surroundings

    try:
        key = devices.get(device).key
        found = surroundings(libraries())
    except SimtError as error:
        raise pytest.UsageError(str(error)) from None
    return {**found, _STARTED: "1", "SIMT_DEVICE": key, "SIMT_TIMING": "1" if timing else ""}


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Which GPU the tests run on."""
    if not config.getoption("simt"):
        return []
    from simt import devices

    return [f"simt: modelled {devices.get(config.getoption('simt_device')).name}"]
