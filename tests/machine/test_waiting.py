"""Blocks that wait for later blocks: those that fit on the GPU run together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.check import BudgetError
from simt.lang import argument_types, compile
from simt.machine import DeviceMemory, may_wait
from simt.machine import layout as L
from simt.machine.device_memory import Words
from simt.machine.rotation import LONG, PARTS, STRIKES, Rotation
from tests.machine_view import needs_numba_cuda

Array = Any
VIEWS = ("source", pytest.param("sm_90", marks=needs_numba_cuda))
BUDGET = 4000


def looks_back_from_the_end(flags: Array, x: Array, out: Array) -> None:
    """Suffix sums: each block waits for the one behind it."""
    i = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        total = x[i]
        if i + 1 < cuda.gridDim.x:
            while cuda.atomic.add(flags, i + 1, 0) == 0:
                pass
            total += out[i + 1]
        out[i] = total
        cuda.threadfence()
        cuda.atomic.exch(flags, i, 1)


def last_block_produces(flags: Array, x: Array, out: Array) -> None:
    """No atomics, so that several host threads take blocks; one thread tells the others by way of shared memory."""
    found = cuda.shared.array(1, np.int32)
    i = cuda.blockIdx.x
    if i == cuda.gridDim.x - 1:
        if cuda.threadIdx.x == 0:
            x[0] = 7
            cuda.threadfence()
            flags[0] = 1
    else:
        waits = True
        while waits:
            if cuda.threadIdx.x == 0:
                found[0] = flags[0]
            cuda.syncthreads()
            waits = found[0] == 0
            cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[i] = x[0]


def takes_tickets_backwards(flags: Array, x: Array, out: Array) -> None:
    """A lock that serves the last block first."""
    if cuda.threadIdx.x == 0:
        mine = cuda.gridDim.x - 1 - cuda.blockIdx.x
        while cuda.atomic.add(flags, 0, 0) != mine:
            pass
        out[mine] = x[1]
        x[1] += 1
        cuda.threadfence()
        cuda.atomic.add(flags, 0, 1)


def meets_at_a_counter(flags: Array, x: Array, out: Array) -> None:
    """A barrier of the grid."""
    i = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        x[i] = i
        cuda.threadfence()
        cuda.atomic.add(flags, 0, 1)
        while cuda.atomic.add(flags, 0, 0) < cuda.gridDim.x:
            pass
        out[i] = x[cuda.gridDim.x - 1 - i]


def looked_back(n: int) -> Array:
    return np.cumsum(np.arange(n)[::-1])[::-1]


EXPECTED = {
    looks_back_from_the_end: looked_back,
    last_block_produces: lambda n: np.full(n, 7),
    takes_tickets_backwards: lambda n: np.arange(n) + 1,
    meets_at_a_counter: lambda n: np.arange(n)[::-1],
}
"""What ``out`` holds in the end, by the number of blocks."""


def arrays(kernel: Any, n: int) -> tuple[Array, Array, Array]:
    x = np.ones(n, np.int32) if kernel is takes_tickets_backwards else np.arange(n, dtype=np.int32)
    return np.zeros(n, np.int32), x, np.zeros(n, np.int32)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kernel", EXPECTED)
@pytest.mark.parametrize("check", ["", "all"])
def test_a_block_may_wait_for_a_later_one(kernel: Any, view: str, check: str) -> None:
    if check and kernel is last_block_produces:
        pytest.skip("its flag is a plain store: a race")
    flags, x, out = arrays(kernel, 50)
    simt.launch(kernel, 50, 64, flags, x, out, view=view, check=check or ())
    assert out.tolist() == EXPECTED[kernel](50).tolist()


@pytest.mark.parametrize("kernel", EXPECTED)
@pytest.mark.parametrize(
    "options", [{"engine": "compiled"}, {"order": "interleaved", "threads": 1}, {"threads": 3}, {"trace": (0, 0)}]
)
def test_however_it_runs(kernel: Any, options: dict[str, Any]) -> None:
    flags, x, out = arrays(kernel, 6)
    limit = {"max_instructions": 1 << 16} if "trace" in options or "order" in options else {}
    simt.launch(kernel, 6, 64, flags, x, out, **limit, **options)
    assert out.tolist() == EXPECTED[kernel](6).tolist()


@pytest.mark.parametrize("kernel", EXPECTED)
def test_on_a_device(kernel: Any) -> None:
    gpu = simt.Device()
    flags, x, out = (gpu.array(each) for each in arrays(kernel, 6))
    gpu.launch(kernel, 6, 64, flags, x, out)
    assert out.numpy().tolist() == EXPECTED[kernel](6).tolist()


def test_the_same_counts_however_long_turns_are() -> None:
    """Those of a block that waits differ: these wait for nobody, and only run long."""

    def long_loop(x: Array, out: Array) -> None:
        total = 0
        for k in range(400):
            if x[k % x.size] > 0:
                total += k
        out[cuda.grid(1)] = total

    found = []
    for budget in (2**28, 2**13):
        x, out = np.arange(-2, 5), np.zeros(320, np.int64)
        profile = simt.launch(long_loop, 5, 64, x, out, max_instructions=budget)
        found.append((out.tolist(), profile.metrics["inst_executed"], profile.metrics["gld_transactions"]))
    assert found[0] == found[1]


def test_more_blocks_than_the_gpu_holds_do_not_meet() -> None:
    args = [np.zeros(5000, np.int32) for _ in range(3)]
    with pytest.raises(BudgetError) as caught:
        simt.launch(meets_at_a_counter, 5000, 32, *args, max_instructions=BUDGET)
    assert "of 5000 blocks the GPU holds 4224 at a time" in caught.value.help


def waits(kernel: Any, *args: Any) -> bool:
    return may_wait(compile(kernel, argument_types(args)))


def test_which_programs_may_wait() -> None:
    n = np.zeros(8, np.int32)

    def sums(x: Array, out: Array) -> None:
        total = 0
        for k in range(x.size):
            total += x[k]
        out[cuda.grid(1)] = total

    def once(x: Array, out: Array) -> None:
        if x[0] > 0:
            out[cuda.grid(1)] = 1

    assert all(waits(kernel, n, n, n) for kernel in EXPECTED)
    assert not waits(sums, n, n)
    assert not waits(once, n, n)


def state() -> Any:
    """As much of an engine's state as turns need."""
    launch = np.zeros(L.N_LAUNCH, np.int64)
    launch[L.LAUNCH_STARTED] = 1

    class State:
        LAUNCH = launch

    return State()


def nothing() -> DeviceMemory:
    return DeviceMemory(Words.of(np.zeros(16, np.uint8)), (), 0)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_every_block_gets_turns_until_it_ends(turns: list[int]) -> None:
    rotation = Rotation(nothing(), 1 << 30)
    for block in range(len(turns)):
        rotation.add(block, state())
    left, since = dict(enumerate(turns)), dict.fromkeys(range(len(turns)), 0)
    while rotation.running:
        block, running, until = rotation.next()
        assert 0 < until - int(running.LAUNCH[L.LAUNCH_STEPS]) <= LONG
        left[block] -= 1
        since = {other: count + 1 for other, count in since.items() if other in left}
        since[block] = 0
        assert max(since.values()) <= 2 * len(turns)
        if left[block]:
            rotation.went_on()
        else:
            rotation.ended()
            del left[block], since[block]
    assert not left


def test_where_nothing_changes_the_oldest_block_runs_alone() -> None:
    budget = 100
    rotation = Rotation(nothing(), budget)
    states = [state() for _ in range(3)]
    for block, each in enumerate(states):
        rotation.add(block, each)
    order = []
    for _ in range(3 * (STRIKES + 2) * PARTS):
        block, running, _ = rotation.next()
        order.append(block)
        running.LAUNCH[L.LAUNCH_EXECUTED] += budget // PARTS // 2
        rotation.went_on()
    assert set(order[: 2 * STRIKES]) == {0, 1, 2}
    assert set(order[-6:]) == {0}
