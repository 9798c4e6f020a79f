"""Kernels that cannot go on: deadlocks, endless loops, traps, code without an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import BudgetError, DeadlockError, TrapError, UnsupportedError
from simt.machine import Launch
from simt.program import RZ, Instruction, ListingLine, Program, pred
from simt.runtime import run
from tests.machine.harness import ORDERS, Builder, lanes_below, launch

# Kernels that cannot go on.


def test_deadlock_at_different_barriers_names_every_warp() -> None:
    b = Builder()
    warp = b.value("shr.u64", b.special("tid.x"), b.const(5))
    b.bra("other", pred(b.value("eq.s64", warp, b.const(1))))
    first = len(b.instructions) + 1
    b.emit("bar.sync", imm=0)
    b.emit("exit")
    b.label("other")
    second = len(b.instructions) + 1
    b.emit("bar.sync", imm=1)
    found = np.zeros(4, np.uint64)
    b.array(0)
    for order in ORDERS:
        with pytest.raises(DeadlockError) as caught:
            launch(b.build(), found, block=70, grid=(3, 2, 1), order=order, threads=1)
        error = caught.value
        assert error.title == "deadlock in block (0, 0, 0): no warp can move"
        assert error.details == (
            f"warp 0, lanes 0-31: waits at the block barrier at line {first}: bar.sync RZ, RZ",
            f"warp 1, lanes 0-31: waits at the block barrier at line {second}: bar.sync RZ, RZ, #1",
            f"warp 2, lanes 0-5: waits at the block barrier at line {first}: bar.sync RZ, RZ",
        )


def test_deadlock_of_a_convergence_barrier_and_a_block_barrier() -> None:
    b = Builder()
    barrier = b.barrier()
    b.emit("bssy", imm=barrier)
    b.bra("other", lanes_below(b, 8))
    b.emit("bar.sync")
    b.label("other")
    b.emit("bsync", imm=barrier)
    with pytest.raises(DeadlockError) as caught:
        launch(b)
    text = str(caught.value)
    assert "warp 0, lanes 0-7: waits to reconverge with other lanes of its warp" in text
    assert "warp 0, lanes 8-31: waits at the block barrier" in text


def test_deadlock_of_a_warpsync() -> None:
    b = Builder()
    b.bra("other", lanes_below(b, 8))
    b.emit("warpsync", a=b.const(0xFFFFFFFF))
    b.label("other")
    b.emit("bar.sync")
    with pytest.raises(DeadlockError, match="lanes 8-31: waits for the lanes named in a warp mask"):
        launch(b)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("retires", [True, False])
def test_an_endless_loop_ends_by_its_budget(order: str, retires: bool) -> None:
    """Also one that holds nothing that counts, as `while True: pass` does."""
    b = Builder()
    data = b.array(0)
    b.store(data, b.special("tid.x"), b.const(1))
    b.bra("split", lanes_below(b, 9))
    b.label("split")
    b.label("head")
    b.bra("head", retires=retires)
    found = np.zeros(40, np.uint64)
    with pytest.raises(BudgetError, match="more than 1000 warp instructions"):
        launch(b, found, block=40, order=order, max_instructions=1000)
    assert not found.any()


@pytest.mark.parametrize("order", ORDERS)
def test_spinning_on_another_warp_or_lane_ends(order: str) -> None:
    """Lane 40 sets a flag that all others wait for: each gets its turn."""
    b = Builder()
    b.shared_bytes = 8
    thread = b.special("tid.x")
    b.bra("set", pred(b.value("eq.s64", thread, b.const(40))))
    b.label("spin")
    b.bra("spin", pred(b.value("eq.s64", b.value("ld.shared", RZ, mod=6), RZ)))
    b.bra("end")
    b.label("set")
    b.emit("st.shared", a=RZ, b=b.const(1), mod=6)
    b.label("end")
    launch(b, block=64, order=order, max_instructions=2**20)


def test_trap() -> None:
    b = Builder()
    b.emit("trap", guard=1)  # no lane
    b.emit("trap", guard=lanes_below(b, 2))
    with pytest.raises(TrapError, match="lanes 0-1 "):
        launch(b)


def test_code_without_an_end_is_an_error() -> None:
    never = pred(1)  # predicates start false
    program = Program("endless", "source", [Instruction("exit", guard=never)], [ListingLine("exit", 1)], 1, 2, 0)
    with pytest.raises(UnsupportedError, match="past its last instruction"):
        run(program, Launch((1, 1, 1), (32, 1, 1), []))


def joined_by_a_warp_barrier(x: Any) -> None:
    t = cuda.threadIdx.x
    v = t
    if t < 32:
        v = cuda.shfl_sync(0xFFFFFFFF, v, 3)
        if t < 13:  # these lanes come to the next branch apart from the others
            v = 5
    if t < 16:
        cuda.syncwarp(0xFFFF)  # and go on from here together with three of them
        v += 1
    cuda.syncthreads()
    x[t] = v


@pytest.mark.parametrize("schedule", [None, "round_robin", "adversarial", "random:1"])
def test_lanes_that_execute_together_may_wait_for_different_others(schedule: str | None) -> None:
    x = np.zeros(64, np.int32)
    simt.launch(joined_by_a_warp_barrier, 1, 64, x, schedule=schedule)
    np.testing.assert_array_equal(x, [6] * 13 + [4] * 3 + [3] * 16 + list(range(32, 64)))
