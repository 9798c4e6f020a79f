"""``engine="auto"``: a launch goes over to native code anywhere and leaves the same; who waits for what is made."""

from __future__ import annotations

import io
import pickle
import runpy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from simt import kernels
from simt.disk_cache import DiskCache
from simt.lang import argument_types, compile
from simt.machine import layout as L
from simt.machine.compiled import choice, code
from simt.machine.early import ENGINE
from simt.machine.engine import run_blocks
from simt.machine.launch import DEFAULT_ENGINE, Launch
from simt.machine.prepare import prepare, state_arrays
from simt.program import Program
from simt.runtime import Context
from tests.machine.engines import left_by
from tests.machine.test_compiled import counting, shape

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

CONTEXT = Context()


@pytest.fixture(autouse=True)
def _as_asked(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--engine") != DEFAULT_ENGINE:
        pytest.skip("one engine was chosen for all launches")


def of_registry(name: str, size: int) -> tuple[Program, Any]:
    """A kernel with its launch."""
    plan = kernels.get(name).plan(size=size)
    return compile(plan.kernel, argument_types(plan.args)), plan


def auto(program: Program, arguments: Any, look: int, make: int, **launch: Any) -> dict[str, Any]:
    """What a launch leaves that looks for native code after so many micro-ops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "LOOK", look)
        patch.setattr(choice, "MAKE", make)
        patch.setattr(choice, "SHORT", 1)
        return left_by("auto", replace(program), arguments, **launch)


@given(
    name=st.sampled_from(["neighbored", "shared", "shuffle", "collatz", "even_odd"]),
    look=st.integers(1, 4000),
    order=st.sampled_from(["then_first", "else_first", "profiler", "hardware"]),
    threads=st.sampled_from([None, 1, 2]),
)
@settings(max_examples=25)
def test_a_launch_goes_over_anywhere(name: str, look: int, order: str, threads: int | None) -> None:
    program, plan = of_registry(name, 700)
    options: dict[str, Any] = {**shape(plan), "order": order, "threads": threads}
    expected = left_by("interpreter", program, plan.args, **options)
    assert auto(program, plan.args, look, look, **options) == expected


def stops(program: Program, plan: Any, slices: list[int], native: bool) -> list[Any]:
    """A launch in slices of micro-ops: after each where it stands and what it has counted, and memory at the end."""
    launch = Launch(arguments=plan.args, **shape(plan))
    with CONTEXT.placed(program, launch) as placed:
        prepared = prepare(program, placed.launch, 1, placed.memory)
        state = state_arrays(prepared, 0, 0, np.zeros(1, np.int64))
        made = code.native_code(program)
        state = made.equip(state) if native else state
        found: list[Any] = []
        status, block = L.INTERRUPTED, 0
        while status == L.INTERRUPTED:
            state.LAUNCH[L.LAUNCH_LEFT] = slices[len(found) % len(slices)]
            status, block = run_blocks(block, launch.blocks, state)
            if native:
                made.count(state)
            found.append((status, block, int(state.LAUNCH[L.LAUNCH_NEXT_WARP]), state.COUNTS.tobytes()))
        return [*found, placed.memory.words.M8[: prepared.memory.shared_at[0]].tobytes()]


@given(
    slices=st.lists(st.integers(1, 90), min_size=1, max_size=8),
    name=st.sampled_from(["neighbored", "shuffle", "shared"]),
)
@settings(max_examples=25)
def test_native_code_stops_after_any_number_of_micro_ops(slices: list[int], name: str) -> None:
    program, plan = of_registry(name, 200)
    assert stops(program, plan, slices, native=True) == stops(program, plan, slices, native=False)


def test_a_short_launch_looks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program = counting(21)
    arguments = [np.zeros(32, np.uint64)]
    expected = left_by("interpreter", program, arguments, grid=(1, 1, 1), block=(32, 1, 1))
    monkeypatch.delattr(choice, "Kept")
    monkeypatch.delattr(choice, "native_code")
    assert left_by("auto", program, arguments, grid=(1, 1, 1), block=(32, 1, 1)) == expected


def test_a_launch_of_many_warps_looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "MANY", 8)
    monkeypatch.setattr(choice, "SHORT", 10)
    program = counting(26)
    code.native_code(replace(program))  # it is in the cache now
    arguments = [np.zeros(512, np.uint64)]
    for blocks, found in ((3, False), (4, True)):
        left_by("auto", program, arguments, grid=(blocks, 1, 1), block=(64, 1, 1))
        assert (program.native is not None) == found


@pytest.mark.parametrize("ends", [None, 1])
def test_a_launch_does_not_wait_for_who_makes_native_code(
    ends: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[Any] = []
    asked: list[int | None] = []

    def poll() -> int | None:
        asked.append(ends)
        return ends

    def in_background(module: str, given: Any) -> Any:
        started.append((module, pickle.load(given)))
        return SimpleNamespace(poll=poll)

    monkeypatch.setattr(code, "STORE", DiskCache("native code", tmp_path))
    monkeypatch.setattr(choice, "STORE", DiskCache("native code", tmp_path))
    monkeypatch.setattr(choice, "in_background", in_background)
    monkeypatch.setattr(choice, "_making", {})
    monkeypatch.setattr(ENGINE, "elsewhere", True)
    program = counting(22)
    arguments = [np.zeros(32, np.uint64)]
    expected = left_by("interpreter", program, arguments, grid=(1, 1, 1), block=(32, 1, 1))
    assert auto(program, arguments, 10, 20, grid=(1, 1, 1), block=(32, 1, 1)) == expected
    assert [module for module, _ in started] == [choice.BUILDER]
    assert started[0][1] == (replace(program), None)
    assert (len(asked) > 1) == (ends is None), "a process that ended without native code is asked once"


def test_launches_of_a_program_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one launch is too short for, several are worth; and what is in memory soon runs."""
    program = counting(25)
    code.native_code(replace(program))  # it is in the cache now
    arguments = [np.zeros(32, np.uint64)]
    options: dict[str, Any] = {"grid": (1, 1, 1), "block": (32, 1, 1)}
    expected = left_by("interpreter", program, arguments, **options)
    assert left_by("auto", program, arguments, **options) == expected
    one = program.past.executed
    assert one > 20
    assert program.native is None
    program.past.next = one + one // 2
    monkeypatch.setattr(choice, "SHORT", 10)
    assert left_by("auto", program, arguments, **options) == expected
    assert program.native is not None
    interpreted = program.past.executed
    assert one < interpreted < 2 * one
    assert left_by("auto", program, arguments, **options) == expected
    assert program.past.executed == interpreted + 10


def test_another_process_makes_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    program = counting(23)
    kept = code.Kept(program)
    (code.STORE.folder / kept.name).unlink(missing_ok=True)
    assert not kept.is_there()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(pickle.dumps((replace(program), None)))))
    runpy.run_path(str(find_spec(choice.BUILDER).origin), run_name="__main__")
    assert kept.is_there()


def test_what_cannot_be_compiled_stays_interpreted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code, "MOST_MICRO_OPS", 5)
    monkeypatch.setattr(choice, "LOOK", 10)
    monkeypatch.setattr(choice, "SHORT", 1)
    program = counting(24)
    arguments = [np.zeros(32, np.uint64)]
    expected = left_by("interpreter", program, arguments, grid=(1, 1, 1), block=(32, 1, 1))
    assert left_by("auto", program, arguments, grid=(1, 1, 1), block=(32, 1, 1)) == expected
    assert program.past.next == L.UNLIMITED
    assert not capsys.readouterr().err
