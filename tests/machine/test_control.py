"""Branches, convergence barriers, exits, and the orders of splits."""

from __future__ import annotations

import numpy as np
import pytest

from simt.check import BarrierError, UnsupportedError
from simt.ops.encoding import MEETINGS
from simt.program import pred
from tests.machine.harness import ORDERS, Builder, column, lanes_below, launch, mark, masks_at


@pytest.mark.parametrize("order", ORDERS)
def test_if_else_in_two_passes(order: str) -> None:
    """Lanes 0 to 23 then, 24 to 31 else, all 32 after (a published example)."""
    b = Builder()
    then = lanes_below(b, 24)
    barrier = b.barrier()
    b.emit("bssy", imm=barrier)
    b.bra("else", then ^ 1)
    in_then = mark(b)
    b.bra("end")
    b.label("else")
    in_else = mark(b)
    b.label("end")
    b.emit("bsync", imm=barrier)
    after = mark(b)
    assert masks_at(b, in_then, order=order) == [0x00FFFFFF]
    program = b.build()
    result = launch(program, order=order)
    assert column(result, "inst_executed")[[in_else, after]].tolist() == [1, 1]
    assert column(result, "thread_inst_executed")[[in_else, after]].tolist() == [8, 32]
    assert column(result, "divergent_branches").sum() == 1


@pytest.mark.parametrize("order", ORDERS)
def test_loop_of_four_to_eight_trips(order: str) -> None:
    b = Builder()
    trips = b.value("add.s64", b.value("floormod.s64", b.special("laneid"), b.const(5)), b.const(4))
    barrier, k = b.barrier(), b.reg()
    b.emit("bssy", imm=barrier)
    b.label("head")
    b.bra("end", pred(b.value("le.s64", trips, k)))
    body = mark(b)
    b.emit("add.s64", k, k, b.const(1))
    b.bra("head")
    b.label("end")
    b.emit("bsync", imm=barrier)
    after = mark(b)
    passes = masks_at(b, body, order=order)
    assert [mask.bit_count() for mask in passes] == [32, 32, 32, 32, 25, 18, 12, 6]
    assert column(launch(b.build(), order=order), "thread_inst_executed")[after] == 32


@pytest.mark.parametrize("order", ORDERS)
def test_nested_barriers_and_break(order: str) -> None:
    """Lanes that break leave the inner barrier; the others go on without them; all meet at the outer one."""
    b = Builder()
    outer, inner = b.barrier(), b.barrier()
    few, half = lanes_below(b, 4), lanes_below(b, 16)
    b.emit("bssy", imm=outer)
    b.emit("bssy", imm=inner)
    b.bra("upper", half ^ 1)
    b.emit("break", imm=inner, guard=few)
    b.bra("end", few)
    b.label("upper")
    b.emit("bsync", imm=inner)
    middle = mark(b)
    b.label("end")
    b.emit("bsync", imm=outer)
    after = mark(b)
    assert masks_at(b, middle, order=order) == [0xFFFFFFF0]
    assert column(launch(b.build(), order=order), "thread_inst_executed")[after] == 32


@pytest.mark.parametrize("order", ORDERS)
def test_lanes_that_exit_are_not_waited_for(order: str) -> None:
    b = Builder()
    barrier = b.barrier()
    few = lanes_below(b, 5)
    b.emit("bssy", imm=barrier)
    b.bra("stay", few ^ 1)
    b.emit("exit")
    b.label("stay")
    b.emit("bsync", imm=barrier)
    after = mark(b)
    result = launch(b, order=order)
    assert column(result, "inst_executed")[after] == 1
    assert column(result, "thread_inst_executed")[after] == 27
    assert column(result, "idle_exited")[after] == 5


def test_a_guarded_exit_ends_only_its_lanes() -> None:
    b = Builder()
    b.emit("exit", guard=lanes_below(b, 31))
    after = mark(b)
    b.emit("exit", guard=1)  # no lane: goes on
    last = mark(b)
    result = launch(b, block=40)
    assert column(result, "thread_inst_executed")[[after, last]].tolist() == [1, 1]
    assert column(result, "idle_exited")[after] == 31
    assert column(result, "idle_no_thread")[0] == 24


@pytest.mark.parametrize("order", ORDERS)
def test_warpsync(order: str) -> None:
    """Lanes 0 to 15 wait for each other in a divergent branch; exchanged values prove that they met."""
    b = Builder()
    sink, lane = b.array(0), b.special("laneid")
    few, half = lanes_below(b, 4), lanes_below(b, 16)
    b.bra("out", half ^ 1)
    b.bra("late", few)
    b.emit("warpsync", a=b.const(0xFFFF), mod=MEETINGS["syncwarp"])
    b.bra("met")
    b.label("late")
    b.emit("warpsync", a=b.const(0xFFFF), mod=MEETINGS["syncwarp"])
    b.label("met")
    b.store(sink, lane, b.const(1))
    b.label("out")
    b.emit("warpsync", a=b.const(0xFFFFFFFF))
    after = mark(b)
    found = np.zeros(32, np.uint64)
    assert masks_at(b, after, found, order=order) == [0xFFFFFFFF]
    assert found.tolist() == [1] * 16 + [0] * 16


def test_warpsync_without_exited_and_absent_lanes() -> None:
    b = Builder()
    b.emit("exit", guard=lanes_below(b, 3))
    b.emit("warpsync", a=b.const(0xFFFFFFFF))
    after = mark(b)
    assert masks_at(b, after, block=20) == [0xFFFF8]


def test_a_warp_mask_must_name_the_lane() -> None:
    b = Builder()
    b.emit("warpsync", a=b.const(0x0000FF0F))
    with pytest.raises(BarrierError, match="lanes 4-7, 16-31"):
        launch(b)


@pytest.mark.parametrize("order", ORDERS)
def test_multi_way_branch(order: str) -> None:
    """Code addresses of 16-byte instructions; lanes outside of the guard fall through."""
    b = Builder(view="sm_90")
    sink, lane = b.array(0), b.special("laneid")
    way = b.value("floormod.s64", lane, b.const(3))
    target = b.value("mad.s64", way, b.const(0x20), b.const(0x1000))
    barrier, result = b.barrier(), b.reg()
    b.emit("mov", result, b.const(99))
    b.emit("bssy", imm=barrier)
    branch = len(b.instructions)
    b.emit("brx", a=target, imm=0x10, guard=lanes_below(b, 30))
    branch = len(b.instructions) - 1
    b.bra("end")
    for k in range(3):
        b.addresses[0x1010 + 0x20 * k] = len(b.instructions)
        b.emit("mov", result, b.const(k))
        b.bra("end")
    b.label("end")
    b.emit("bsync", imm=barrier)
    b.store(sink, lane, result)
    after = mark(b)
    found = np.zeros(32, np.uint64)
    counts = launch(b, found, order=order)
    assert found.tolist() == [lane % 3 if lane < 30 else 99 for lane in range(32)]
    assert column(counts, "branches")[branch] == 1
    assert column(counts, "divergent_branches")[branch] == 3  # the ways beyond the first: three targets and none
    assert column(counts, "thread_inst_executed")[after] == 32


def test_a_multi_way_branch_of_one_way_does_not_diverge() -> None:
    b = Builder(view="sm_90")
    b.emit("brx", a=b.const(0x40))
    b.addresses |= {0x10: 0, 0x40: 1}
    after = mark(b)
    result = launch(b)
    assert column(result, "divergent_branches").sum() == 0
    assert column(result, "thread_inst_executed")[after] == 32


@pytest.mark.parametrize("address", [0x20, 0x50, 0, -0x10, 0x14, 2**62])
def test_a_multi_way_branch_to_no_instruction(address: int) -> None:
    b = Builder(view="sm_90")
    b.addresses |= {0x10: 0, 0x40: 0}
    lane = b.special("laneid")
    odd = pred(b.truth(b.value("and.b64", lane, b.const(1))))
    b.emit("brx", a=b.value("selp", b.const(address), b.const(0x10), odd))
    with pytest.raises(UnsupportedError, match=f"code address {address:#x}"):
        launch(b)


def test_activemask() -> None:
    b = Builder()
    sink, lane = b.array(0), b.special("laneid")
    half = lanes_below(b, 16)
    b.bra("upper", half ^ 1)
    b.store(sink, lane, b.value("activemask", guard=lanes_below(b, 3)))
    b.emit("exit")
    b.label("upper")
    b.store(sink, lane, b.value("activemask"))
    found = np.zeros(32, np.uint64)
    launch(b, found)
    assert found.tolist() == [0xFFFF] * 3 + [0] * 13 + [0xFFFF0000] * 16


def test_livemask() -> None:
    b = Builder()
    sink, lane = b.array(0), b.special("laneid")
    b.emit("exit", guard=lanes_below(b, 4))
    b.bra("end", lanes_below(b, 8))
    b.store(sink, lane, b.value("livemask"))
    b.label("end")
    found = np.zeros(20, np.uint64)
    launch(b, found, block=20)
    assert found.tolist() == [0] * 8 + [0xFFFF0] * 12


def test_barrier_registers_can_be_saved_and_restored() -> None:
    b = Builder()
    sink, lane = b.array(0, ndim=2), b.special("laneid")
    b.barrier()  # so that the one that is looked at is not the first
    barrier = b.barrier()
    b.emit("bssy", imm=barrier, guard=lanes_below(b, 8))
    saved = b.value("bmov.get", imm=barrier, mod=1)
    cleared = b.value("bmov.get", imm=barrier)
    b.emit("bmov.set", a=b.const(0xABC), imm=barrier)
    restored = b.value("bmov.get", imm=barrier)
    for k, row in enumerate((saved, cleared, restored)):
        b.store(sink, lane, row, imm=256 * k)
    found = np.ones((3, 32), np.uint64)
    launch(b, found)
    assert found[0].tolist() == [0xFF] * 8 + [0] * 24
    assert not found[1].any()
    assert (found[2] == 0xABC).all()


@pytest.mark.parametrize(("below", "first"), [(8, 0x000000FF), (16, 0xFFFF0000), (24, 0xFF000000)])
def test_hardware_order_runs_the_smaller_side_first(below: int, first: int) -> None:
    """Of equal sides the one that falls through (measured on an H200); lanes below *below* jump."""
    b = Builder()
    barrier = b.barrier()
    few = lanes_below(b, below)
    b.emit("bssy", imm=barrier)
    b.bra("jumped", few)
    fell = mark(b)
    b.bra("end")
    b.label("jumped")
    jumped = mark(b)
    b.label("end")
    b.emit("bsync", imm=barrier)
    trace = launch(b, order="hardware", trace=True).trace
    assert trace is not None
    assert int(trace.active[np.isin(trace.pc, [fell, jumped])][0]) == first


@pytest.mark.parametrize(("shift", "factor", "arrivals"), [(2, 1, 3), (3, 3, 3)])
def test_hardware_order_joins_splits_that_wait_at_one_place(shift: int, factor: int, arrivals: int) -> None:
    """24, 6 and 2 lanes leave a loop, or 20, 8, 3 and 1: two groups that wait join once a third one is put back."""
    b = Builder()
    barrier = b.barrier()
    lane = b.special("laneid")
    left = b.reg()
    b.emit("mov", left, b.const(32))
    b.emit("bssy", imm=barrier)
    b.label("loop")
    b.emit("shr.u64", left, b.value("mul.s64", left, b.const(factor)), b.const(shift))
    b.bra("loop", pred(b.value("lt.s64", lane, left)))
    wait = len(b.instructions)
    b.emit("bsync", imm=barrier)
    assert column(launch(b, order="hardware"), "inst_executed")[wait] == arrivals


def test_yield_lets_the_other_split_pass_the_barrier() -> None:
    """Convergence barriers do not wait for lanes that gave way; in the other orders nothing happens."""
    b = Builder()
    barrier = b.barrier()
    few = lanes_below(b, 8)
    b.emit("bssy", imm=barrier)
    b.bra("end", few ^ 1)
    b.emit("yield")
    b.emit("nop")
    b.label("end")
    b.emit("bsync", imm=barrier)
    after = mark(b)
    assert masks_at(b, after, order="hardware") == [0xFFFFFF00, 0x000000FF]
    assert masks_at(b, after, order="then_first") == [0xFFFFFFFF]


@pytest.mark.parametrize("order", ["hardware", "profiler"])
def test_splits_that_give_way_at_one_place_go_on_together(order: str) -> None:
    """The second to come there meets the first, and they need no barrier."""
    b = Builder()
    few = lanes_below(b, 8)
    b.bra("other", few ^ 1)
    b.emit("nop")
    b.bra("yields")
    b.label("other")
    b.emit("nop")
    b.emit("nop")
    b.label("yields")
    b.emit("yield")
    after = mark(b)
    assert masks_at(b, after, order=order) == [0xFFFFFFFF]


@pytest.mark.parametrize("order", ["then_first", "else_first", "hardware", "profiler"])
def test_paths_take_turns_between_rounds_only(order: str) -> None:
    """The lanes of a warp share uniform registers: who sets one uses it before other lanes of the warp go on."""
    rounds = 100_000  # many turns long
    b = Builder()
    out = b.array(0)
    shared, total, k = b.reg(), b.reg(), b.reg()
    b.bra("loop", lanes_below(b, 16))
    b.emit("nop")
    b.label("loop")
    for number in (1, 10):
        b.emit("mov", shared, b.const(number), uniform=True)
        b.emit("add.s64", total, total, shared)
    b.emit("add.s64", k, k, b.const(1))
    b.bra("loop", pred(b.value("lt.s64", k, b.const(rounds))))
    b.store(out, b.thread(), total)
    totals = np.zeros(32, np.uint64)
    launch(b, totals, order=order)
    assert totals.tolist() == [11 * rounds] * 32
