"""Native code of stretches: when a simulation goes over to it, and that it changes nothing."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from simt import devices, kernels, lang
from simt.check.errors import SimtError
from simt.disk_cache import DiskCache
from simt.machine import DEFAULT_ENGINE, Launch
from simt.machine.compiled import choice, code
from simt.machine.compiled.plan import Stretches
from simt.machine.early import ENGINE
from simt.machine.layout import UNLIMITED
from simt.ops.encoding import MEMORY_TYPES
from simt.ops.row import Kind
from simt.ops.table import MICRO_OPS
from simt.program import PT, Instruction, Program
from simt.timing import TimingResult, layout, quicken
from simt.timing.crew import Crew
from simt.timing.schedule import schedule
from tests.machine import structured
from tests.timing.programs import AT, BASE, X, chain, end, lane_address, program
from tests.timing.simulated import simulate

H200 = devices.get("h200")
pytestmark = pytest.mark.usefixtures("compiled_at_once")
module: Any = import_module("simt.timing.simulate")  # the package has a function of this name
numbers = module.parameters(H200, {})


@pytest.fixture(autouse=True)
def _as_written(request: pytest.FixtureRequest) -> None:
    if config.DISABLE_JIT:
        pytest.skip("there is no native code")
    if request.config.getoption("--engine") != DEFAULT_ENGINE:
        pytest.skip("one engine was chosen for all launches")


def timed(made: Program, engine: str, args: list[Any], grid: int, block: int, **options: Any) -> TimingResult:
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    sms = options.pop("sms", 1)
    launch = Launch((grid, 1, 1), (block, 1, 1), given, engine=engine, **{"threads": 1, **options})
    return simulate(made, launch, H200, sms=sms, window=(0, 1 << 20))


def same(one: TimingResult, other: TimingResult) -> bool:
    """Whether two simulations came to the same in every respect."""
    arrays = ("events", "stalls", "counters", "stays")
    return one.totals == other.totals and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)


def runs_of(made: Program) -> tuple[tuple[int, int], ...]:
    return schedule(made, numbers, None).runs


def test_runs_are_what_is_executed_at_once() -> None:
    """Up to an access, which begins the next run, or a branch, which ends one; and once more from where it leads."""
    made = program([*chain(3), Instruction("ld.global", X, X), *chain(2), *end()])
    assert runs_of(made) == ((0, 3), (3, 6))
    made = program([*chain(2), Instruction("bssy"), *chain(1), Instruction("bra", a=PT, imm=1), *end()])
    assert runs_of(made) == ((0, 5), (1, 5), (3, 5))
    made = program([*chain(1), Instruction("bar.sync"), Instruction("bsync"), *chain(1), *end()])
    assert runs_of(made) == ((0, 1), (2, 3), (3, 4))
    assert schedule(made, numbers, None, True).runs == ()


def test_a_run_in_pieces() -> None:
    """What may be left to the interpreter is for itself, and nothing stands behind what native code cannot do."""
    made = program([Instruction("ld.global", X, X), *chain(2), Instruction("bsync"), Instruction("bar.sync"), *end()])
    runs = Stretches(made, ((0, 5), (1, 2), (4, 5))).runs
    pcs = {first: [[step.pc for step in piece] for piece in pieces] for first, pieces in runs.items()}
    assert pcs == {0: [[0], [1, 2], [3]], 1: [[1]]}


@given(structured.kernels)
def test_pieces_of_runs(kernel: tuple[structured.Statement, ...]) -> None:
    """Those of a run follow each other from its start; if there are several micro-ops in one, they compute."""
    made = structured.lower(kernel).build()
    found = dict(runs_of(made))
    for first, pieces in Stretches(made, tuple(found.items())).runs.items():
        pcs = [step.pc for piece in pieces for step in piece]
        assert pcs == list(range(first, pcs[-1] + 1))
        assert pcs[-1] < found[first]
        for piece in pieces:
            kinds = {MICRO_OPS[made.instructions[step.pc].op].kind for step in piece}
            assert len(piece) == 1 or kinds <= {Kind.ROW, Kind.MASK, Kind.ELEMENT}


@settings(max_examples=10)
@given(structured.kernels, st.sampled_from([32, 64, 75]), st.sampled_from(["then_first", "hardware", "profiler"]))
def test_native_stretches_change_nothing(kernel: tuple[structured.Statement, ...], block: int, order: str) -> None:
    made = structured.lower(kernel).build()
    args = [np.zeros(3 * block, np.uint64)]
    expected = timed(made, "interpreter", args, 3, block, order=order)
    assert made.stretches is None
    assert same(timed(made, "compiled", args, 3, block, order=order), expected)
    assert (made.stretches is not None) == bool(runs_of(made))


@pytest.mark.parametrize("stride", [1 << 20, 2], ids=["outside", "misaligned"])
@pytest.mark.parametrize("op", ["ld.global", "st.global"])
def test_an_access_that_is_an_error(op: str, stride: int) -> None:
    """It is the interpreter's to report, in the state that native code has left."""
    access = Instruction(
        op, X if op == "ld.global" else 0, AT, 0 if op == "ld.global" else X, mod=MEMORY_TYPES["u32"][0]
    )
    made = program([*lane_address(BASE), *chain(2), access, *chain(1), *end()], stride=stride)
    told = []
    for engine in ("interpreter", "compiled"):
        with pytest.raises(SimtError) as caught:
            timed(made, engine, [np.zeros(64, np.int32)], 1, 32)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert made.stretches is not None


@pytest.mark.parametrize("name", ["neighbored", "interleaved", "shared", "shuffle"])
def test_a_simulation_may_go_over_in_its_midst(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it has executed ahead, and stays the same; the stretches are counted."""
    plan = kernels.get(name).plan()
    made = lang.compile(plan.kernel, lang.argument_types(plan.args))
    args = [a if isinstance(a, np.ndarray) else np.int64(a) for a in plan.args]
    expected = timed(made, "interpreter", args, plan.grid, plan.block)
    code.stretches_code(made, runs_of(made))  # it is at hand
    monkeypatch.setattr(quicken, "SOON", 40)
    monkeypatch.setattr(module, "LOOKING_STEP", 37)
    counted: list[int] = []
    count = code.Native.count

    def counting(native: code.Native, state: Any, blocks: int) -> None:
        times = state.NATIVE.reshape(blocks, -1)[:, code.FIRST_TIMES :: code.TIMES]
        counted.append(int(times[:, : len(native.plan.blocks)].sum()))
        count(native, state, blocks)

    monkeypatch.setattr(code.Native, "count", counting)
    assert same(timed(made, "auto", args, plan.grid, plan.block), expected)
    assert sum(counted) > 0


@pytest.mark.parametrize("name", ["neighbored", "shuffle", "atomic"])
def test_each_of_several_threads_has_native_code_of_its_own(name: str) -> None:
    data = np.random.RandomState(0).randint(-1000, 1000, 1 << 12).astype(np.int32)
    plan = kernels.get(name).plan_for(data, 96, "sum")
    made = lang.compile(plan.kernel, lang.argument_types(plan.args))
    args = [a if isinstance(a, np.ndarray) else np.int64(a) for a in plan.args]
    expected = timed(made, "interpreter", args, plan.grid, plan.block, sms=5)
    assert same(timed(made, "compiled", args, plan.grid, plan.block, sms=5, threads=2), expected)


@pytest.mark.parametrize("name", ["neighbored", "shuffle"])
def test_several_threads_may_go_over_in_their_midst(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    data = np.random.RandomState(0).randint(-1000, 1000, 1 << 12).astype(np.int32)
    plan = kernels.get(name).plan_for(data, 96, "sum")
    made = lang.compile(plan.kernel, lang.argument_types(plan.args))
    args = [a if isinstance(a, np.ndarray) else np.int64(a) for a in plan.args]
    expected = timed(made, "interpreter", args, plan.grid, plan.block, sms=5)
    code.stretches_code(made, runs_of(made))  # it is at hand
    monkeypatch.setattr(quicken, "SOON", 900)
    monkeypatch.setattr(module, "STEP", 5)
    threads: list[int] = []
    equip = Crew.equip

    def equipped(crew: Crew, native: code.Native, first: int = 0) -> None:
        threads.append(int(crew.clocks[0].CONFIG[layout.G_THREADS]))
        equip(crew, native, first)

    monkeypatch.setattr(Crew, "equip", equipped)
    assert same(timed(made, "auto", args, plan.grid, plan.block, sms=5, threads=2), expected)
    assert threads == [2]


@pytest.mark.parametrize("engine", ["interpreter", "compiled", "auto"])
def test_when_it_looks(engine: str) -> None:
    made = program([*chain(3), *end()])
    found = quicken.Quickening(made, runs_of(made), engine)
    assert found.is_open == (engine != "interpreter")
    assert (found.look(0) is not None) == (engine == "compiled")
    assert not quicken.Quickening(made, (), engine).is_open


def test_what_is_at_hand_is_taken_soon() -> None:
    made = program([*chain(3), *end()])
    native = code.stretches_code(made, runs_of(made))
    found = quicken.Quickening(made, runs_of(made), "auto")
    assert found.look(quicken.SOON - 1) is None
    assert found.look(quicken.SOON) is native
    assert not found.is_open


@pytest.mark.parametrize("ends", [None, 1])
def test_another_process_makes_it_for_long_simulations(
    ends: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The simulation goes on meanwhile; if nobody can make it, it stays interpreted."""
    started: list[Any] = []

    def in_background(builder: str, given: Any) -> Any:
        started.append((builder, pickle.load(given)))
        return SimpleNamespace(poll=lambda: ends)

    monkeypatch.setattr(code, "STORE", DiskCache("native code", tmp_path))
    monkeypatch.setattr(choice, "STORE", DiskCache("native code", tmp_path))
    monkeypatch.setattr(choice, "in_background", in_background)
    monkeypatch.setattr(choice, "_making", {})
    monkeypatch.setattr(ENGINE, "elsewhere", True)
    made = program([*chain(3), *end()])
    found = quicken.Quickening(made, runs_of(made), "auto")
    for issued in (quicken.LOOK - 1, quicken.LOOK, quicken.MAKE - 1):
        assert found.look(issued) is None
        assert not started
    assert found.look(quicken.MAKE) is None
    assert [(builder, given[1]) for builder, given in started] == [(choice.BUILDER, runs_of(made))]
    assert found.is_open
    assert found.look(quicken.MAKE + quicken.LOOK) is None
    assert found.is_open == (ends is None)
    code.stretches_code(made, runs_of(made))
    assert (found.look(UNLIMITED - 1) is not None) == (ends is None)
    assert not found.is_open


@pytest.mark.parametrize("engine", ["compiled", "auto"])
def test_where_there_can_be_no_native_code(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays interpreted, and who asked for native code is told why."""
    said: list[str] = []

    def refused(*_: Any) -> None:
        raise code.NotCompiled("LLVM refuses it")

    monkeypatch.setattr(quicken, "say_once", said.append)
    monkeypatch.setattr(quicken, "stretches_code", refused)
    monkeypatch.setattr(quicken, "kept_stretches", refused)
    made = program([*chain(3), *end()])
    found = quicken.Quickening(made, runs_of(made), engine)
    assert found.look(quicken.LOOK) is None
    assert not found.is_open
    assert said == (["by hand is interpreted: LLVM refuses it"] if engine == "compiled" else [])
