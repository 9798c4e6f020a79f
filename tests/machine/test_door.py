"""The door between the machine and the timing model: warps stepped from outside do what the engine's own loop does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.machine import Launch, door
from simt.machine import layout as L
from simt.machine.prepare import prepare, state_arrays
from simt.machine.turns import QUANTUM
from simt.program import COUNTERS, RZ, Program
from simt.runtime import Context
from tests.machine.harness import Builder, launch, type_number
from tests.machine.structured import Statement, kernels, lower

CONTEXT = Context()
BARRIER = "bar.sync"


def plain(function: Any) -> Callable[..., Any]:
    """A function of the engine as plain Python."""
    found: Callable[..., Any] = getattr(function, "plain", function)
    return found


step, wake, begin = plain(door.step), plain(door.wake), plain(door.begin)
request, requests, block_at, set_clock = map(plain, (door.request, door.requests, door.block_at, door.set_clock))


@contextmanager
def places(program: Program, *arguments: Any, blocks: int, block: int, order: str = "then_first") -> Iterator[Any]:
    """The states of some blocks side by side, none begun, and a function that gives that of one; arrays come back."""
    given = Launch(grid=(blocks, 1, 1), block=(block, 1, 1), arguments=arguments, order=order)
    with CONTEXT.placed(program, given) as placed, np.errstate(all="ignore"):
        prepared = prepare(program, placed.launch, blocks, placed.memory)
        stop = np.zeros(1, np.int64)
        state = state_arrays(prepared, 0, 0, stop)
        together = door.side_by_side(prepared, state, blocks)
        sizes = [len(getattr(state, name)) for name in ("R", "P", "PARTICIPANTS")]
        yield together, lambda k: block_at(together, k, *sizes, np.zeros(0, np.int64))
        placed.upload.download()


def driven(kernel: tuple[Statement, ...], warps: int, order: str, turns: st.DataObject) -> tuple[Any, Any]:
    """Memory and counters of two blocks whose warps are stepped in any order, some micro-ops at a time."""
    block = 32 * warps - 7
    found = np.zeros(2 * block, np.uint64)
    program = lower(kernel).build()
    with places(program, found, blocks=2, block=block, order=order) as (together, at):
        blocks = [at(k) for k in range(2)]
        for k, each in enumerate(blocks):
            begin(k, k, 0, each)
        running = [(k, w) for k in range(2) for w in range(warps)]
        streaks = dict.fromkeys(running, np.int64(0))
        while running:
            k, w = running[turns.draw(st.integers(0, len(running) - 1))]
            limit = turns.draw(st.sampled_from([1, 2, 7, 1000]))
            status, following, streaks[k, w] = step(w, limit, streaks[k, w], blocks[k])
            assert status in (door.DONE, door.PAUSED)
            assert (following >= 0) == (status == door.PAUSED)
            if status == door.DONE:
                running.remove((k, w))
        return found, door.counters(together)[:-1, : len(COUNTERS)].copy()


@settings(max_examples=15, deadline=None)
@given(kernel=kernels, warps=st.integers(1, 3), order=st.sampled_from(["then_first", "profiler"]), turns=st.data())
def test_stepped_warps_do_what_the_engine_does(
    kernel: tuple[Statement, ...], warps: int, order: str, turns: st.DataObject
) -> None:
    block = 32 * warps - 7
    expected = np.zeros(2 * block, np.uint64)
    result = launch(lower(kernel), expected, grid=2, block=block, order=order)
    found, counters = driven(kernel, warps, order, turns)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counters, result.counters)


def test_the_micro_op_that_follows() -> None:
    b = Builder()
    b.bra("there")
    b.emit("nop")
    b.label("there")
    b.emit("nop")
    with places(b.build(), blocks=1, block=32) as (_, at):
        state = at(0)
        begin(0, 0, 0, state)
        assert step(0, 1, np.int64(0), state) == (door.PAUSED, 2, 1)
        assert step(0, 1, np.int64(1), state) == (door.PAUSED, 3, 2)
        assert step(0, 1, np.int64(2), state) == (door.DONE, -1, 3)


def test_a_warp_that_waits_is_woken_once_the_last_has_come() -> None:
    b = Builder()
    b.emit(BARRIER)
    b.emit("nop")
    with places(b.build(), blocks=1, block=64) as (_, at):
        state = at(0)
        begin(0, 0, 0, state)
        status, following, _ = step(0, 5, np.int64(0), state)
        assert (status, following) == (door.BLOCKED, -1)
        assert wake(0, state) == -1
        status, following, _ = step(1, 1, np.int64(0), state)
        assert (status, following) == (door.PAUSED, 1)
        assert wake(0, state) == 1


@pytest.mark.parametrize("order", ["then_first", "hardware", "profiler"])
def test_after_a_turn_of_micro_ops_the_splits_take_turns(order: str) -> None:
    """Lanes 0 to 15 spin for ever; the others come to their part only if the spinning ones give way."""
    b = Builder()
    b.bra("other", condition=2 * b.truth(b.value("shr.u64", b.special("tid.x"), b.const(4))))
    b.label("spin")
    b.bra("spin")
    b.label("other")
    b.emit("nop")
    other = b._labels["other"]
    with places(b.build(), blocks=1, block=32, order=order) as (_, at):
        state = at(0)
        begin(0, 0, 0, state)
        status, following, streak = step(0, 1, np.int64(0), state)
        came = []
        for _ in range(3):
            came.append(following == other)
            status, following, streak = step(0, QUANTUM, streak, state)
            assert status == door.PAUSED
            assert streak < QUANTUM
        assert any(came) or following == other


def test_what_the_last_request_was() -> None:
    b = Builder()
    base = b.array(0)
    row = b.load(base, b.special("tid.x"))
    pc = len(b.instructions) - 1
    b.store(base, b.special("tid.x"), row)
    data = np.arange(32, dtype=np.uint64)
    with places(b.build(), data, blocks=1, block=32) as (_, at):
        state = at(0)
        begin(0, 0, 0, state)
        assert requests(pc, state) == 0
        step(0, pc + 1, np.int64(0), state)
        assert requests(pc, state) == 1
        found = request(state)
        assert (found.sectors, found.bytes, found.wavefronts) == (8, 256, 0)
        assert (np.diff(found.addresses) == 8).all()


def test_a_block_finds_zero_what_it_may_read_first_and_elsewhere_what_was_left() -> None:
    b = Builder()
    counter = b.reg()
    b.emit("add.s64", counter, counter, b.const(1))
    b.value("add.s64", counter, counter)
    with places(b.build(), blocks=2, block=64) as (_, at):
        state = at(1)
        registers = state.R.reshape(-1, 32)
        registers[:] = 7
        begin(1, 0, 0, state)
        assert registers[-4:].tolist() == [[0] * 32, [7] * 32] * 2  # two warps


@pytest.mark.parametrize("block", [1, 33])
def test_what_a_block_takes_is_known_before_it_is_there(block: int) -> None:
    b = Builder()
    b.value("add.s64", b.special("tid.x"), b.const(1))
    made = b.build()
    with places(made, blocks=3, block=block) as (together, _):
        taken = sum(getattr(together, name).nbytes for name in ("R", "P", "SPLITS"))
        assert taken == 3 * door.place_bytes(made, -(-block // 32))


def test_blocks_side_by_side_share_no_state() -> None:
    """Each reads its own number, SM, warp and clock; its shared memory is its own, and zero when it begins."""
    b = Builder()
    b.shared_bytes = 8
    out = b.array(0)
    b64 = type_number("b64")
    before = b.value("ld.shared", b.const(0), mod=b64)
    b.emit("st.shared", a=b.const(0), b=b.value("add.s64", b.special("ctaid.x"), b.const(1)), mod=b64)
    b.emit(BARRIER)
    kept = b.value("ld.shared", b.const(0), mod=b64)
    found = [before, kept, b.special("smid"), b.special("warpid"), b.special("clock")]
    for k, row in enumerate(found):
        b.store(out, b.value("mad.s64", b.special("ctaid.x"), b.const(len(found)), b.const(k)), row)
    left = np.zeros(3 * len(found), np.uint64)
    with places(b.build(), left, blocks=3, block=32) as (_, at):
        states = [at(k) for k in range(3)]
        for _ in range(2):
            for k in (2, 0, 1):
                begin(k, 5 + k, 4 * k, states[k])
                set_clock(100 * k + 7, states[k])
            for _ in range(2):
                for state in states:
                    step(0, 6, np.int64(0), state)
            for state in states:
                assert step(0, 100, np.int64(0), state)[0] == door.DONE
    assert left.reshape(3, -1).tolist() == [[0, k + 1, 5 + k, 4 * k, 100 * k + 7] for k in range(3)]


def test_a_failure_is_told() -> None:
    b = Builder()
    b.store(b.const(8), RZ, RZ)
    with places(b.build(), blocks=1, block=32) as (_, at):
        state = at(0)
        begin(0, 0, 0, state)
        assert step(0, 100, np.int64(0), state)[0] == door.FAILED
        assert state.ERROR[L.E_REASON] == L.R_OUT_OF_BOUNDS
