"""Settings for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, settings

from simt.machine import DEFAULT_ENGINE, ENGINES
from simt.machine.compiled import code
from simt.machine.early import ENGINE
from simt.timing.simulate import CLOCK
from tests.machine.engines import launches_with

# The first example of a test may compile a kernel or load the engine, which takes longer than any sensible
# deadline; pytest-timeout catches what really hangs.  Derandomized, so that a run is reproducible.
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, max_examples=1000, suppress_health_check=list(HealthCheck))
settings.load_profile("default")


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """The tests' own process compiles what it needs: else notes of another one would stand in captured output."""
    ENGINE.elsewhere = CLOCK.elsewhere = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--slow`` the tests that are marked so are skipped."""
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: pytest --slow runs it"))


@pytest.fixture(scope="session", autouse=True)
def _processor(request: pytest.FixtureRequest) -> Iterator[None]:
    """With ``--cpu haswell`` native code is made for a processor that has less than this one: no AVX-512 here."""
    cpu = request.config.getoption("--cpu")
    with pytest.MonkeyPatch.context() as patch:
        if cpu:
            patch.setattr(code, "processor", lambda: (cpu, ""))
        yield


@pytest.fixture(scope="session", autouse=True)
def _executed(request: pytest.FixtureRequest) -> Iterator[None]:
    """With ``--engine compiled`` all launches run compiled: every test then compares the engines."""
    engine = request.config.getoption("--engine")
    with nullcontext() if engine == DEFAULT_ENGINE else launches_with(engine=engine):
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--bless`` writes the golden files anew; read the difference before you commit it."""
    parser.addoption("--bless", action="store_true", help="write the golden files anew")
    parser.addoption("--cpu", default="", help="the processor, as LLVM names it, that native code is made for")
    parser.addoption("--slow", action="store_true", help="run the slow cases, too")
    parser.addoption("--engine", default=DEFAULT_ENGINE, choices=ENGINES, help="what executes all launches")
