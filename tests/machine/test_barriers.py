"""Block barriers: who waits for whom, in every order of splits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simt.program import RZ, pred
from tests.machine.harness import ORDERS, Builder, lanes_below, launch, mark, masks_at

# Block barriers.


def rotate_through_shared(b: Builder, sink: int, block: int, synchronise: Callable[[], None]) -> None:
    """Each thread reads what its neighbour of the next warp wrote before the barrier."""
    b.shared_bytes = block * 8
    thread = b.special("tid.x")
    b.emit("st.shared", a=b.value("mul.s64", thread, b.const(8)), b=thread, mod=6)
    synchronise()
    other = b.value("floormod.s64", b.value("add.s64", thread, b.const(33)), b.const(block))
    b.store(sink, thread, b.value("ld.shared", b.value("mul.s64", other, b.const(8)), mod=6))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("block", [1, 32, 100, 1024])
def test_block_barrier(block: int, order: str) -> None:
    b = Builder()
    sink = b.array(0)
    rotate_through_shared(b, sink, block, lambda: b.emit("bar.sync"))
    found = np.zeros(block, np.uint64)
    launch(b, found, block=block, order=order)
    np.testing.assert_array_equal(found, (np.arange(block) + 33) % block)


@pytest.mark.parametrize("order", ORDERS)
def test_barriers_of_some_warps_by_count(order: str) -> None:
    """Two groups of two warps with barriers of their own, and the block's barrier in between."""
    b = Builder()
    sink, block = b.array(0), 128
    group = b.value("shr.u64", b.special("tid.x"), b.const(6))
    first = pred(b.value("eq.s64", group, RZ))
    b.shared_bytes = block * 8
    thread = b.special("tid.x")
    own = b.value("mul.s64", thread, b.const(8))
    b.emit("st.shared", a=own, b=thread, mod=6)
    b.bra("second", first ^ 1)
    b.emit("bar.sync", b=b.const(64), imm=1)
    b.bra("both")
    b.label("second")
    b.emit("bar.sync", b=b.const(64), imm=2)
    b.label("both")
    partner = b.value("xor.b64", own, b.const(32 * 8))
    value = b.value("ld.shared", partner, mod=6)
    b.emit("bar.sync")
    b.store(sink, thread, value)
    found = np.zeros(block, np.uint64)
    launch(b, found, block=block, order=order)
    np.testing.assert_array_equal(found, np.arange(block) ^ 32)


@pytest.mark.parametrize("block", [1, 33, 96])
@pytest.mark.parametrize("limit", [0, 1, 40, 96])
def test_barriers_with_reduction(block: int, limit: int) -> None:
    """Results of __syncthreads_count, _and and _or; a second round shows that the first leaves nothing behind."""
    b = Builder()
    sink, thread = b.array(0, ndim=2), b.special("tid.x")
    k = 0
    for bound in (limit, 1):
        holds = pred(b.value("lt.s64", thread, b.const(bound)))
        rows = [
            b.value("bar.red.popc", holds),
            b.number(pred(b.value("bar.red.and", holds))),
            b.number(pred(b.value("bar.red.or", holds))),
        ]
        for row in rows:
            b.store(sink, thread, row, imm=8 * block * k)
            k += 1
    found = np.full((6, block), 77, np.uint64)
    launch(b, found, block=block)
    for bound, rows_found in ((limit, found[:3]), (1, found[3:])):
        count = min(bound, block)
        for row, expected in zip(rows_found, (count, count == block, count > 0), strict=True):
            assert (row == int(expected)).all()


@pytest.mark.parametrize("order", ORDERS)
def test_threads_that_exited_before_a_barrier_are_not_waited_for(order: str) -> None:
    """Whole warps and parts of warps, before and after the others arrive."""
    b = Builder()
    sink, thread = b.array(0), b.special("tid.x")
    late = b.value("lt.s64", thread, b.const(40))
    b.bra("stay", pred(late, negated=True))
    for _ in range(50):
        b.emit("nop")
    b.emit("exit")
    b.label("stay")
    b.emit("bar.sync")
    b.store(sink, thread, b.const(1))
    found = np.zeros(100, np.uint64)
    launch(b, found, block=100, order=order)
    assert found.tolist() == [0] * 40 + [1] * 60


@pytest.mark.parametrize("order", ORDERS)
def test_lanes_that_exit_while_their_warp_waits(order: str) -> None:
    """They were the newest split: the warp then has no split that can run until the last warp arrives."""
    b = Builder()
    sink, thread = b.array(0), b.special("tid.x")
    b.bra("stay", pred(b.truth(b.value("and.b64", thread, b.const(1)))))
    for _ in range(20):
        b.emit("nop")
    b.emit("exit")
    b.label("stay")
    b.bra("arrive", pred(b.value("lt.s64", thread, b.const(32))))
    for _ in range(60):
        b.emit("nop")
    b.label("arrive")
    b.emit("bar.sync")
    b.store(sink, thread, b.const(1))
    found = np.zeros(64, np.uint64)
    launch(b, found, block=64, order=order)
    assert found.tolist() == [0, 1] * 32


def test_lanes_of_one_warp_may_reach_a_barrier_apart() -> None:
    b = Builder()
    b.bra("other", lanes_below(b, 7))
    b.emit("bar.sync")
    b.emit("exit")
    b.label("other")
    b.emit("bar.sync")
    after = mark(b)
    assert masks_at(b, after, block=64) == [0x7F, 0x7F]
