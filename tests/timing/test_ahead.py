"""What goes ahead of the simulated time changes nothing: SMs for an epoch, on any number of threads, and arithmetic."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt import devices, kernels, lang
from simt.machine import Launch
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.program import PT, Instruction
from simt.timing import TimingResult, layout
from simt.timing.clock import Clock
from simt.timing.crew import Crew
from simt.timing.schedule import schedule
from simt.timing.selection import NOT_YET
from tests.machine.late import Late
from tests.timing.programs import X, chain, end, program
from tests.timing.simulated import simulate

H200 = devices.get("h200")
pytestmark = pytest.mark.usefixtures("compiled_at_once")
module: Any = import_module("simt.timing.simulate")  # the package has a function of this name


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the loop over cycles as plain Python, which alone runs in this test."""
    monkeypatch.setattr(module, "CLOCK", Late(module.CLOCK, 1 << 30))
    monkeypatch.setattr(module, "PLAIN_INSTRUCTIONS", 1 << 30)
    names: dict[str, Any] = module.CLOCK.plain.__globals__
    return names


def neighbours(x, out):
    """Warps that read the same sectors at about the same time, and those that others have stored to."""
    i = cuda.grid(1)
    total = 0
    for k in range(3):
        if i % 32 + 32 * k < x.size:
            total += x[i % 32 + 32 * k] * (k + 2)
    if i < out.size:
        out[i] = total
        total += out[i]
        out[i] = total


def timed(name: str, n: int, block: int, sms: int, order: str = "then_first", threads: int = 1) -> TimingResult:
    data = np.random.RandomState(0).randint(-1000, 1000, n).astype(np.int32)
    kernel, grid, arguments = neighbours, -(-n // block), (data, np.zeros(n, np.int32))
    if name != "neighbours":
        plan = kernels.get(name).plan_for(data, block, "sum")
        kernel, grid, arguments = plan.kernel, plan.grid, plan.args
    made = lang.compile(kernel, lang.argument_types(arguments))
    args = [a if isinstance(a, np.ndarray) else np.int64(a) for a in arguments]
    launch = Launch((grid, 1, 1), (block, 1, 1), args, threads=threads, order=order)
    return simulate(made, launch, H200, sms=sms, window=(0, 1 << 20))


def same(one: TimingResult, other: TimingResult) -> bool:
    """Whether two simulations came to the same in every respect."""
    arrays = ("events", "stalls", "counters", "stays")
    return one.totals == other.totals and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["neighbours", "neighbored", "interleaved", "shared", "shuffle", "atomic"]),
    st.integers(1, 300),
    st.sampled_from([32, 64, 96]),
    st.integers(2, 4),
    st.sampled_from([1, 2, 30, 199]),
)
def test_sms_that_go_ahead(plain: dict[str, Any], name: str, n: int, block: int, sms: int, cycles: int) -> None:
    """They come to the same as SMs that go ahead by fewer cycles, or wait for each other in every one."""
    found = timed(name, n, block, sms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simt.timing.arrays.epoch", lambda numbers: cycles)
        assert same(found, timed(name, n, block, sms))


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["neighbored", "shared", "atomic"]), st.integers(1, 300), st.integers(2, 4))
def test_turns(plain: dict[str, Any], name: str, n: int, sms: int) -> None:
    """An SM that waits for its turn before each instruction, not just where it must, comes to the same."""
    found = timed(name, n, 64, sms)
    select = plain["select"]

    def waiting(q: int, sm: int, now: int, in_turn: bool, t: Clock) -> int:
        chosen: int = select(q, sm, now, in_turn, t) if in_turn else NOT_YET
        return chosen

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plain, "select", waiting)
        assert same(found, timed(name, n, 64, sms))


@settings(max_examples=10, deadline=None)
@given(
    st.sampled_from(["neighbored", "interleaved", "shared", "shuffle", "unroll_warps8", "atomic"]),
    st.integers(1, 20000),
    st.sampled_from([32, 96, 256]),
    st.integers(2, 12),
    st.sampled_from([2, 3, 5]),
)
def test_threads(name: str, n: int, block: int, sms: int, threads: int) -> None:
    """How many host threads simulate the SMs changes nothing: not a cycle, not a stall, not an event."""
    assert same(timed(name, n, block, sms), timed(name, n, block, sms, threads=threads))


def test_a_thread_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others go on with its SMs."""
    expected = timed("shared", 5000, 96, 12)
    threads: list[int] = []

    def begin(crew: Crew, function: Any) -> None:
        threads.append(len(crew.firsts))
        crew.describe()

    monkeypatch.setattr(Crew, "begin", begin)
    assert same(timed("shared", 5000, 96, 12, threads=2), expected)
    assert threads == [2]


def test_ctrl_c_ends_the_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have begun, and none works on the arrays of the launch any more."""
    crews: list[Crew] = []
    end = Crew.end

    def ended(crew: Crew) -> None:
        end(crew)
        crews.append(crew)

    def stop(done: int, total: int) -> None:
        if total != 200:  # the blocks of the simulated SMs
            raise KeyboardInterrupt

    monkeypatch.setattr(Crew, "end", ended)
    x, out = np.zeros(6400, np.int32), np.zeros(6400, np.int32)
    with pytest.raises(KeyboardInterrupt):
        simt.launch(neighbours, 200, 32, x, out, device="h200", timing=True, sms=8, threads=3, progress=stop)
    assert [(len(crew.firsts), len(crew._pending)) for crew in crews] == [(3, 0)]


@pytest.mark.parametrize("most", [0, 5])
def test_room_for_requests(plain: dict[str, Any], most: int) -> None:
    """An SM that has no room for more requests waits for answers, which changes nothing."""
    found = timed("neighbored", 300, 96, 3)

    def crowded(sm: int, t: Clock) -> bool:
        return bool(t.FRONTS[sm * layout.N_FRONT + layout.F_ASKED] > most)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plain, "_is_crowded", crowded)
        assert same(found, timed("neighbored", 300, 96, 3))


def test_requests_that_an_early_end_of_an_epoch_leaves_over(plain: dict[str, Any]) -> None:
    """Their SM does not go on before L2 has answered them.

    What waits for a line that was asked for before may be there in less than an epoch.  An SM that had passed that
    cycle looked at it again, and if it was crowded, no epoch went past it: a launch of curand_init never ended.
    """
    fronts = np.zeros(layout.N_FRONT, np.int64)
    fronts[[layout.F_ASKED, layout.F_NEXT]] = 1, 150
    plain["_go_ahead"](0, 100, 300, 1, None, SimpleNamespace(FRONTS=fronts, SMS=np.zeros(layout.N_SM)))
    assert (fronts[layout.F_STATUS], fronts[layout.F_NEXT]) == (layout.CROWDED, 150)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["neighbored", "unroll_warps8", "shuffle", "atomic"]),
    st.integers(1, 200),
    st.sampled_from([32, 96]),
)
def test_arithmetic_that_is_executed_ahead(plain: dict[str, Any], name: str, n: int, block: int) -> None:
    """It comes to the same as arithmetic that is executed as it issues."""
    found = timed(name, n, block, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_table", lambda program, numbers, code, _: schedule(program, numbers, code, True))
        assert same(found, timed(name, n, block, 1))


@pytest.mark.parametrize("sms", [1, 3])
def test_a_full_window_is_drained_in_the_midst_of_a_cycle(plain: dict[str, Any], sms: int) -> None:
    """The SM goes on where it was, ahead of its turn or in it."""
    found = timed("neighbored", 300, 96, sms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simt.timing.arrays.MAX_EVENTS", 7)
        assert same(found, timed("neighbored", 300, 96, sms))


def test_what_is_executed_ahead() -> None:
    """Arithmetic up to what looks at memory or at the time, and behind an access; nothing where splits take turns.

    A branch may end it, and where lanes are to meet does not.
    """
    numbers = module.parameters(H200, {})
    time, lane = (Instruction("sreg", X, imm=SPECIAL_REGISTERS.index(name)) for name in ("clock", "laneid"))
    made = program([*chain(2), lane, time, *chain(2), Instruction("ld.global", X, X), *chain(2), *end()])
    behind = schedule(made, numbers, None).ops.reshape(-1, layout.N_OP)[:, layout.O_BEHIND]
    assert behind.tolist() == [2, 1, 0, 0, 1, 0, 2, 1, 0, 0, 0]
    assert not schedule(made, numbers, None, True).ops.reshape(-1, layout.N_OP)[:, layout.O_BEHIND].any()
    control = [Instruction("bssy"), *chain(1), Instruction("bra", a=PT, imm=5), Instruction("bsync"), *chain(1)]
    behind = schedule(program([*chain(1), *control, *end()]), numbers, None).ops.reshape(-1, layout.N_OP)
    assert behind[:, layout.O_BEHIND].tolist() == [3, 2, 1, 0, 0, 0, 0, 0]


def test_the_table_of_a_program_is_kept_as_long_as_it_is_that_of_a_launch() -> None:
    made = program([*chain(2), *end()])
    numbers, slower = module.parameters(H200, {}), module.parameters(H200, {"latency_sreg": 20})
    kept = module._table(made, numbers, None, False)
    assert module._table(made, module.parameters(H200, {}), None, False) is kept
    for changed in ((slower, None, False), (numbers, None, True)):
        assert module._table(made, *changed) is not kept
        assert module._table(made, numbers, None, False) is not kept


def test_what_waits_for_its_turn() -> None:
    """Atomics on memory that SMs share, and system calls; not other accesses."""
    numbers = module.parameters(H200, {})
    names = ("ld.global", "st.generic", "ld.local", "ld.shared", "atom.shared", "atom.global", "ld.const", "suatom")
    made = program([*(Instruction(name) for name in names), *end()])
    turns = schedule(made, numbers, None).ops.reshape(-1, layout.N_OP)[: len(names), layout.O_IN_TURN]
    assert turns.tolist() == [0, 0, 0, 0, 0, 1, 0, 1]


def added(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    for k in range(20):
        cuda.atomic.add(out, (i + k) % 64, x[i])


def told(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    for k in range(20):
        out[i] += x[(i + k) % x.size]


@pytest.mark.parametrize(("kernel", "many"), [(added, False), (told, True)])
def test_several_threads_only_where_turns_are_rare(kernel: Any, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the launch does not say how many: a turn costs them more than an instruction gains."""
    for name, value in (("STEP", 256), ("LOOKING_STEP", 256), ("LONG", 1 << 10), ("workers_for", lambda *_: 2)):
        monkeypatch.setattr(module, name, value)
    crews: list[int] = []
    begin = Crew.begin

    def noted(crew: Crew, function: Any) -> None:
        crews.append(len(crew.firsts))
        begin(crew, function)

    monkeypatch.setattr(Crew, "begin", noted)
    x, out = np.ones(16 * 64, np.int32), np.zeros(16 * 64, np.int32)
    simt.launch(kernel, 16, 64, x, out, device="h200", timing=True, sms=8)
    assert crews == [2] * many
