"""A launch begins in plain Python and goes on compiled, wherever that happens, and leaves the same."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

from simt.disk_cache import DiskCache
from simt.machine import TraceRecords, early, team
from simt.ops import early as module
from simt.ops import jit
from simt.ops.early import Early
from tests.machine.harness import Builder, launch
from tests.machine.late import Late
from tests.machine.small_programs import KERNEL
from tests.machine.structured import lower

NEVER = 1 << 30

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def run(wait: int, size: int, slices: int = NEVER, **options: Any) -> tuple[dict[str, Any], Late]:
    """What a launch leaves that asks *wait* times before the engine is compiled, and runs *size* micro-ops a time."""
    found = np.zeros(3 * 40, np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        late = Late(early.ENGINE, wait)
        patch.setattr(team, "ENGINE", late)
        patch.setattr(team, "SLICE", size)
        patch.setattr(team, "SLICES", slices)
        result = launch(lower(KERNEL), found, grid=3, block=40, **options)
    left = {"memory": found.tolist(), "counters": result.counters.tolist()}
    if result.trace is not None:
        left |= {name: np.asarray(getattr(result.trace, name)).tolist() for name in TraceRecords.__dataclass_fields__}
    return left, late


@given(
    wait=st.integers(0, 12),
    size=st.integers(1, 150),
    order=st.sampled_from(["then_first", "else_first", "interleaved", "random:5"]),
    trace=st.booleans(),
    threads=st.sampled_from([None, 1, 2]),
)
def test_a_launch_changes_from_plain_to_compiled_anywhere(
    wait: int, size: int, order: str, trace: bool, threads: int | None
) -> None:
    options: dict[str, Any] = {"order": order, "trace": trace, "threads": threads}
    assert run(wait, size, **options)[0] == run(0, 1, **options)[0]


def test_plain_python_alone() -> None:
    found, late = run(NEVER, 100, trace=True)
    assert found == run(0, 1, trace=True)[0]
    assert late.wait < NEVER - 5
    assert not late.loaded


def test_a_long_launch_waits_for_the_compiled_engine() -> None:
    found, late = run(NEVER, 10, slices=3, threads=1)
    assert found == run(0, 1)[0]
    assert late.loaded


@pytest.mark.parametrize("threads", [None, 2])
def test_the_seconds_of_a_launch_leave_the_wait_out(threads: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Late(early.ENGINE, NEVER)

    def load(*_: Any) -> None:
        time.sleep(0.5)
        late.wait = 0

    monkeypatch.setattr(late, "load", load)
    monkeypatch.setattr(team, "ENGINE", late)
    monkeypatch.setattr(team, "SLICE", 10)
    monkeypatch.setattr(team, "SLICES", 1)
    start = time.perf_counter()
    result = launch(lower(KERNEL), np.zeros(3 * 40, np.uint64), grid=3, block=40, threads=threads)
    assert result.seconds < time.perf_counter() - start - 0.45


def test_what_libraries_round_apart_waits() -> None:
    b = Builder()
    b.store(b.array(0), b.thread(), b.value("exp.f64", b.const(0x3FF0000000000000)))
    with pytest.MonkeyPatch.context() as patch:
        late = Late(early.ENGINE, NEVER)
        patch.setattr(team, "ENGINE", late)
        launch(b, found := np.zeros(32))
    assert late.loaded == 1
    assert abs(found[0] - np.e) < 1e-15


def test_ctrl_c_ends_plain_python_within_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Builder()
    endless.label("head")
    endless.bra("head", retires=False)
    late = Late(early.ENGINE, NEVER)
    slices = []

    def ready(*_: Any) -> bool:
        slices.append(0)
        return False

    def progress(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(late, "ready", ready)
    monkeypatch.setattr(team, "ENGINE", late)
    with pytest.raises(KeyboardInterrupt):
        launch(endless, block=32, threads=1, progress=progress)
    ended = len(slices)
    assert ended > 1
    launch(Builder(), threads=1)
    assert len(slices) <= ended + 2


def double(x: int) -> int:
    """Something quick to compile."""
    return 2 * x


NAME = "test_early.double"


def early_double(folder: Path, builder: str = "tests.machine.no_such_module") -> Early:
    """It, as a launch asks for it."""
    return Early("the test", jit.jit(double, folder=folder), builder, folder)


@pytest.mark.parametrize("why", ["elsewhere", "executable", "NumPy 1", "cannot be kept"])
def test_what_cannot_be_left_to_another_process_is_compiled_here(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    folder = tmp_path / "engine"
    if why == "executable":
        monkeypatch.setattr(sys, "executable", "")
    elif why == "NumPy 1":
        monkeypatch.setattr(module, "_can_wait", lambda: False)
    elif why == "cannot be kept":
        (tmp_path / "engine").write_text("")
    one = early_double(folder)
    one.elsewhere = why != "elsewhere"
    assert one.ready(1)
    assert one.compiled


def test_a_process_that_fails_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = early_double(tmp_path)
    assert not one.ready(1)
    assert "compiling the test in the background" in capsys.readouterr().err
    assert one._process is not None
    assert one._process.wait() != 0  # it is no module
    one._looked = -1.0
    assert one.ready(1)
    assert jit.is_compiled(NAME, tmp_path)


def test_a_process_that_compiles_already_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)  # a second process
    with DiskCache("compiled functions", tmp_path).making(NAME, lambda: False):
        assert not early_double(tmp_path).ready(1)


def test_a_builder_covers_what_it_compiles_before(tmp_path: Path) -> None:
    first = early_double(tmp_path)
    second = Early("the second", jit.jit(double, folder=tmp_path / "2"), "tests.machine.none", tmp_path / "2", first)
    assert second.begin()
    assert second._process is not None
    assert first._process is second._process
    second._process.wait()
