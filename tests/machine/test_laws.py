"""Laws that hold for every kernel, on random structured ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.check import LaunchError
from simt.machine import RunResult, TraceRecords, team
from simt.program import COUNTERS, Program
from tests.machine.harness import column, launch
from tests.machine.structured import Condition, If, Statement, Step, kernels, lower, scalar

Kernel = tuple[Statement, ...]

ORDERS = ["then_first", "else_first", "hardware", "profiler", "interleaved", "random:0", "random:7"]
SHAPES = [(1, 32), (3, 40), (2, 96), (5, 1), (4, 33)]
LANES = ("thread_inst_executed", "pred_on_thread_inst_executed")
TRACE_COLUMNS = list(TraceRecords.__dataclass_fields__)


def execute(program: Program, grid: int, block: int, **options: object) -> tuple[np.ndarray, RunResult]:
    """The threads' accumulators and the counts."""
    found = np.zeros(grid * block, np.uint64)
    return found, launch(program, found, grid=grid, block=block, **options)


def popcounts(masks: np.ndarray) -> np.ndarray:
    """Lanes of each mask."""
    return np.array([int(mask).bit_count() for mask in masks], np.int64)


def replay(trace: TraceRecords, program: Program) -> np.ndarray:
    """The counter table of the retiring micro-ops, recomputed row by row from a trace."""
    table = np.zeros((len(program.instructions), len(COUNTERS)), np.int64)
    for k in range(len(trace)):
        row = table[trace.pc[k]]
        op = program.instructions[trace.pc[k]].op
        active = int(trace.active[k])
        row[0] += 1
        row[1] += active.bit_count()
        row[2] += int(trace.executed[k]).bit_count()
        row[3] += int(trace.absent[k]).bit_count()
        row[4] += int(trace.exited[k]).bit_count()
        row[5] += op in ("bra", "brx")
        row[6] += op == "bra" and 0 < int(trace.taken[k]) != active
        row[7:15] += trace.memory[k]
    return table


@settings(max_examples=25)
@given(kernel=kernels, shape=st.sampled_from(SHAPES), order=st.sampled_from(ORDERS))
def test_a_warp_computes_what_each_thread_alone_computes(kernel: Kernel, shape: tuple[int, int], order: str) -> None:
    found, _ = execute(lower(kernel).build(), *shape, order=order)
    assert found.tolist() == [scalar(kernel, thread) for thread in range(len(found))]


@settings(max_examples=20)
@given(kernel=kernels, shape=st.sampled_from(SHAPES))
def test_split_order_changes_neither_memory_nor_counters(kernel: Kernel, shape: tuple[int, int]) -> None:
    """Splits part at branches and meet at barriers only, so that each executes the same in every order.

    One cause of idle lanes depends on time: lanes of another path count as exited once they have.  In the orders of a
    GPU splits that wait at one place join, too: fewer instructions of as many lanes.
    """
    program = lower(kernel).build()
    memory, result = execute(program, *shape)
    for order in ORDERS[1:]:
        other_memory, other = execute(program, *shape, order=order)
        np.testing.assert_array_equal(other_memory, memory)
        joins = order in ("hardware", "profiler")
        same = [name in LANES if joins else name != "idle_exited" for name in COUNTERS]
        np.testing.assert_array_equal(other.counters[:, same], result.counters[:, same], order)
        assert (column(other, "inst_executed") <= column(result, "inst_executed")).all()


@settings(max_examples=20)
@given(kernel=kernels, shape=st.sampled_from(SHAPES), order=st.sampled_from(ORDERS))
def test_every_lane_slot_is_accounted_for(kernel: Kernel, shape: tuple[int, int], order: str) -> None:
    """Executed lanes and idle ones by cause are 32 per warp instruction; the causes exclude each other."""
    program = lower(kernel).build()
    _, result = execute(program, *shape, order=order, trace=True)
    executed = column(result, "inst_executed")
    active = column(result, "thread_inst_executed")
    predicated_off = active - column(result, "pred_on_thread_inst_executed")
    gone = column(result, "idle_no_thread") + column(result, "idle_exited")
    other_path = 32 * executed - active - gone
    assert (other_path >= 0).all()
    assert (predicated_off >= 0).all()
    trace = result.trace
    assert trace is not None
    assert not (trace.executed & ~trace.active).any()
    for one, other in (("active", "exited"), ("active", "absent"), ("exited", "absent")):
        assert not (getattr(trace, one) & getattr(trace, other)).any()
    # The other path's lanes as the trace has them: neither active nor gone.
    waiting = popcounts(~(trace.active | trace.exited | trace.absent))
    by_pc = np.bincount(trace.pc, waiting, len(program.instructions)).astype(np.int64)
    retiring = np.array([instruction.retires for instruction in program.instructions])
    np.testing.assert_array_equal(other_path[retiring], by_pc[retiring])


@settings(max_examples=20)
@given(kernel=kernels, shape=st.sampled_from(SHAPES), order=st.sampled_from(ORDERS))
def test_counters_equal_those_replayed_from_the_trace(kernel: Kernel, shape: tuple[int, int], order: str) -> None:
    program = lower(kernel).build()
    memory, plain = execute(program, *shape, order=order)
    traced_memory, traced = execute(program, *shape, order=order, trace=True)
    np.testing.assert_array_equal(traced_memory, memory)
    np.testing.assert_array_equal(traced.counters, plain.counters)
    assert plain.trace is None
    assert traced.trace is not None
    retiring = [instruction.retires for instruction in program.instructions]
    executions = [order != "hardware" or not name.startswith("replay") for name in COUNTERS]  # not in a trace
    replayed = replay(traced.trace, program)[retiring]
    np.testing.assert_array_equal(replayed[:, executions], traced.counters[retiring][:, executions])


@settings(max_examples=20)
@given(kernel=kernels, shape=st.sampled_from(SHAPES), order=st.sampled_from(ORDERS))
def test_a_divergent_branch_partitions_its_lanes(kernel: Kernel, shape: tuple[int, int], order: str) -> None:
    """The lanes that jumped next run at the target, the others behind the branch, each as a whole."""
    program = lower(kernel).build()
    for instruction in program.instructions:
        instruction.retires = True  # the trace then has every micro-op
    trace = execute(program, *shape, order=order, trace=True)[1].trace
    assert trace is not None
    for k in range(len(trace)):
        if program.instructions[trace.pc[k]].op != "bra":
            continue
        active, taken = int(trace.active[k]), int(trace.taken[k])
        assert taken & ~active == 0
        assert bool(trace.diverged[k]) == (taken not in (0, active))
        later = (trace.block == trace.block[k]) & (trace.warp == trace.warp[k]) & (np.arange(len(trace)) > k)
        rows = np.flatnonzero(later)
        target, behind = program.instructions[trace.pc[k]].imm, trace.pc[k] + 1
        for lanes, place in ((taken, target), (active & ~taken, behind)):
            if lanes:
                first = rows[(trace.active[rows] & np.uint32(lanes)) != 0][0]
                assert int(trace.active[first]) == lanes
                assert trace.pc[first] == place


@settings(max_examples=10)
@given(kernel=kernels, order=st.sampled_from(ORDERS))
def test_host_threads_change_nothing(kernel: Kernel, order: str) -> None:
    program = lower(kernel).build()
    memory, result = execute(program, 70, 40, threads=1, order=order)
    assert result.host_threads == 1
    for threads in (2, 3):
        other_memory, other = execute(program, 70, 40, threads=threads, order=order)
        assert other.host_threads == threads
        np.testing.assert_array_equal(other_memory, memory)
        np.testing.assert_array_equal(other.counters, result.counters)


@settings(max_examples=8)
@given(kernel=kernels, order=st.sampled_from(ORDERS))
def test_a_full_trace_buffer_changes_nothing(kernel: Kernel, order: str) -> None:
    program = lower(kernel).build()
    memory, whole = execute(program, 3, 40, order=order, trace=True)
    for rows in (1, 7):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(team, "TRACE_ROWS", rows)
            other_memory, other = execute(program, 3, 40, order=order, trace=True)
        np.testing.assert_array_equal(other_memory, memory)
        np.testing.assert_array_equal(other.counters, whole.counters)
        for name in TRACE_COLUMNS:
            np.testing.assert_array_equal(getattr(other.trace, name), getattr(whole.trace, name), name)


@settings(max_examples=8)
@given(kernel=kernels)
def test_a_trace_of_one_warp_is_its_part_of_the_whole(kernel: Kernel) -> None:
    program = lower(kernel).build()
    whole = execute(program, 3, 70, trace=True)[1].trace
    part = execute(program, 3, 70, trace=(2, 1))[1].trace
    assert whole is not None
    mine = (whole.block == 2) & (whole.warp == 1)
    for name in TRACE_COLUMNS:
        if name != "step":  # numbers what is traced
            np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[mine], name)
    assert (np.diff(whole.step[mine]) > 0).all()


@settings(max_examples=10)
@given(kernel=kernels, seed=st.integers(0, 100))
def test_a_random_order_is_reproducible(kernel: Kernel, seed: int) -> None:
    program = lower(kernel).build()
    first, second = (execute(program, 2, 40, order=f"random:{seed}", trace=True)[1] for _ in range(2))
    for name in TRACE_COLUMNS:
        np.testing.assert_array_equal(getattr(first.trace, name), getattr(second.trace, name), name)


def test_random_orders_differ_by_seed() -> None:
    kernel = (If(Condition(2, 0), (Step(3), Step(4)), (Step(5), Step(6))),) * 4
    program = lower(kernel).build()
    traces = []
    for order in [f"random:{seed}" for seed in range(6)]:
        trace = execute(program, 1, 32, order=order, trace=True)[1].trace
        assert trace is not None
        traces.append(tuple(trace.pc.tolist()))
    assert len(set(traces)) > 3


def test_a_split_keeps_its_pass_number() -> None:
    """However often the warp changes to another split in between, and until it meets others."""
    program = lower((If(Condition(2, 0), (Step(3), Step(4)), (Step(5), Step(6))), Step(7))).build()
    for order in ORDERS:
        trace = execute(program, 1, 32, order=order, trace=True)[1].trace
        assert trace is not None
        passes = {(int(mask), int(number)) for mask, number in zip(trace.active, trace.split_pass, strict=True)}
        assert len(passes) == 4, order  # all lanes, each half, all lanes again
        assert len({number for _, number in passes}) == 4, order


def test_orders_are_what_their_names_say() -> None:
    program = lower((If(Condition(2, 0), (Step(3), Step(4)), (Step(5), Step(6))),)).build()
    passes = {}
    for order in ("then_first", "else_first", "interleaved"):
        trace = execute(program, 1, 32, order=order, trace=True)[1].trace
        assert trace is not None
        diverged = [int(mask) for mask in trace.active if int(mask) != 0xFFFFFFFF]
        passes[order] = [mask for k, mask in enumerate(diverged) if k == 0 or diverged[k - 1] != mask]
    even, odd = 0x55555555, 0xAAAAAAAA
    assert passes["then_first"] == [even, odd]
    assert passes["else_first"] == [odd, even]
    assert len(passes["interleaved"]) > 6


def test_a_trace_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "MAX_TRACE_ROWS", 20)
    with pytest.raises(LaunchError, match="the trace is longer than 20 records"):
        execute(lower((Step(2),) * 10).build(), 1, 32, trace=True)
