"""Launches on executors: the results of one process, or a refusal."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt
from simt import kernels
from simt.calls.executors import merging, spread
from simt.calls.executors.connect import Processes, executor_of
from simt.calls.executors.task import _Noted, perform
from simt.calls.executors.touched import Runs, Touched, runs_of
from simt.check import BudgetError, LaunchError, MissingError, OutOfBoundsError, UninitializedError
from simt.machine import Allocation
from simt.machine.layout import ADDRESS_BASE
from simt.reasons import rounds_of
from tests.calls.spreading import Here, both
from tests.machine_view import DATA, needs_nvdisasm


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    """An executor without the cost of processes; what travels is the same."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


def test_every_kernel_of_the_registry(threads: Executor) -> None:
    """Those with errors, too."""
    for name in kernels.names():
        entry = kernels.get(name)
        plan = entry.plan(min(entry.size, 1 << 12))
        both(
            lambda *args, plan=plan, **more: simt.launch(plan.kernel, plan.grid, plan.block, *args, **more),
            lambda plan=plan: tuple(each.copy() if isinstance(each, np.ndarray) else each for each in plan.args),
            threads,
        )


def speaks(x):
    i = cuda.grid(1)
    if i % 7 == 0:
        print("thread", i, "of block", cuda.blockIdx.x)
    x[i] = i


def reads_unwritten(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


def goes_wrong(x):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        print("block", cuda.blockIdx.x)
    x[i] = 1
    if cuda.blockIdx.x >= 5:
        x[i + x.size] = 1


def loops(x):
    while x[cuda.blockIdx.x] < 5:
        pass


def test_output_is_in_order(threads: Executor, capsys: pytest.CaptureFixture[str]) -> None:
    both(lambda *args, **more: simt.launch(speaks, 100, 32, *args, **more), lambda: (np.zeros(3200),), threads)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2 * 458
    assert printed[:458] == printed[458:]


def test_errors_are_those_of_the_lowest_block(threads: Executor, capsys: pytest.CaptureFixture[str]) -> None:
    both(lambda *args, **more: simt.launch(goes_wrong, 40, 32, *args, **more), lambda: (np.zeros(1280),), threads)
    printed = capsys.readouterr().out.splitlines()
    assert printed == 2 * [f"block {k}" for k in range(6)]
    with pytest.raises(OutOfBoundsError, match="block \\(5, 0, 0\\)"):
        simt.launch(goes_wrong, 40, 32, np.zeros(1280), executor=threads)
    with pytest.raises(BudgetError):
        simt.launch(loops, 3, 1, np.zeros(3), max_instructions=1000, executor=threads)


@pytest.mark.parametrize("keep_going", [True, False])
def test_findings(threads: Executor, keep_going: bool) -> None:
    both(
        lambda *args, **more: simt.launch(
            reads_unwritten, 40, 32, *args, check="initcheck,synccheck", keep_going=keep_going, threads=1, **more
        ),
        lambda: (simt.uninitialized(1280), np.zeros(1280)),
        threads,
    )


def test_what_is_written_counts_as_written(threads: Executor) -> None:
    x = simt.uninitialized(1280)
    simt.launch(speaks, 39, 32, x, check="initcheck", executor=threads)
    simt.launch(reads_unwritten, 39, 32, x, np.zeros(1280), check="initcheck")
    with pytest.raises(UninitializedError):
        simt.launch(reads_unwritten, 40, 32, x, np.zeros(1280), check="initcheck")


def copies(x, y):
    i = cuda.grid(1)
    y[i] = x[i + 1]


def all_write(x):
    x[0] = 1


def pairs_write(x, y):
    x[cuda.blockIdx.x // 2] = 1


def pairs_read_and_write(x, y):
    if cuda.blockIdx.x % 2:
        x[cuda.blockIdx.x // 2] = 1
    else:
        y[cuda.blockIdx.x] = x[cuda.blockIdx.x // 2]


def pairs_write_and_read(x, y):
    if cuda.blockIdx.x % 2:
        y[cuda.blockIdx.x] = x[cuda.blockIdx.x // 2]
    else:
        x[cuda.blockIdx.x // 2] = 1


@pytest.mark.parametrize("kernel", [pairs_write, pairs_read_and_write, pairs_write_and_read])
def test_blocks_that_meet_in_one_part_are_refused(threads: Executor, kernel: Any) -> None:
    with pytest.raises(LaunchError, match=r"communicate[\s\S]*`x`, byte \d+: touched by block \d*[13579] and by block"):
        simt.launch(
            kernel, 4 * spread.PARTS, 1, np.zeros(2 * spread.PARTS), np.zeros(4 * spread.PARTS), executor=threads
        )


def test_what_system_calls_read_is_noted() -> None:
    touched = Touched(None)
    held = Allocation(int(ADDRESS_BASE) + 256, int(ADDRESS_BASE) + 512, True, "text")
    device = SimpleNamespace(end=1024, allocations=[held])
    program = SimpleNamespace(instructions=[])
    touched.begin(cast("Any", SimpleNamespace(device=device, program=program, launch=SimpleNamespace(arguments=[]))), 1)

    def call(block: int) -> Any:
        found = SimpleNamespace(block=block, read=lambda *_: b"1234", text=lambda *_: b"1234")
        return _Noted(cast("Any", found), touched)

    assert call(3).read(0, held.start, 4) == b"1234"
    assert call(4).text(0, held.start + 4) == b"1234"
    assert call(4).text(0, 12) == b"1234"  # not global memory
    assert touched.read_bytes == Runs(np.array([256]), np.array([268]))
    touched.writer[(256 + 8) >> 2] = 1 + 7
    assert call(7).read(0, held.start + 8, 4) == b"1234"
    for read in (lambda at: call(6).read(0, at, 4), lambda at: call(6).text(0, at)):
        with pytest.raises(LaunchError, match="`text`, byte 8: touched by block 6 and by block 7"):
            read(held.start + 8)


def test_blocks_that_meet_are_refused(threads: Executor) -> None:
    """Also two blocks of one part, which ran one after the other: what is refused depends on the launch alone."""
    x = np.zeros(4097)
    before = x.copy()
    for grid in (2, 128):
        with pytest.raises(LaunchError, match=r"communicate[\s\S]*`x`, byte 0: "):
            simt.launch(all_write, grid, 32, x, executor=threads)
        with pytest.raises(LaunchError, match=r"communicate[\s\S]*read"):
            simt.launch(copies, 2, 32, x[:65], x[:64], executor=threads)
    simt.launch(copies, 128, 32, x, np.zeros(4096), executor=threads)
    simt.launch(copies, 1, 32, x, x, executor=threads)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"trace": True}, "a trace"),
        ({"schedule": "round_robin"}, "a schedule"),
        ({"check": "racecheck"}, "racecheck compares"),
        ({"cooperative": True}, "wait for each other"),
    ],
)
def test_what_belongs_into_one_process(threads: Executor, options: dict[str, Any], why: str) -> None:
    with pytest.raises(LaunchError, match=why):
        simt.launch(copies, 2, 32, np.zeros(65), np.zeros(64), executor=threads, **options)


def test_a_watch_of_this_process(threads: Executor) -> None:
    with pytest.raises(LaunchError, match="what watches it is in this process"):
        rounds_of(loops, 2, 1, np.full(2, 5), executor=threads)
    assert [loop.rounds for loop in rounds_of(loops, 2, 1, np.full(2, 5))] == [{1: 2}]


@needs_nvdisasm
def test_machine_code(threads: Executor, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = simt.load_cubin(DATA / "sm_90" / "kernels_O3.cubin")["reduceNeighbored"]
    data = np.arange(1 << 12, dtype=np.int32)
    both(
        lambda *args, **more: simt.launch(kernel, 16, 256, *args, 1 << 12, **more),
        lambda: (data.copy(), np.zeros(16, np.int32)),
        threads,
    )
    calls = simt.load_cubin(DATA.parent / "system" / "counts.cubin")
    both(lambda *args, **more: simt.launch(calls["print_some"], 2, 64, np.int32(40), **more), tuple, threads)
    printed = capsys.readouterr().out.splitlines()
    assert printed[: len(printed) // 2] == printed[len(printed) // 2 :]
    with pytest.raises(LaunchError, match="its blocks share the state of malloc"):
        simt.launch(calls["allocate"], 1, 32, np.zeros(64, np.uint64), np.int32(64), executor=threads)


@needs_nvdisasm
def test_variables(threads: Executor) -> None:
    module = simt.load_cubin(DATA / "sm_90" / "variables_O3.cubin")
    module["weigh"].module["weights"].view(np.float32)[:] = [1, 10, 100, 1000]
    data = np.arange(8, dtype=np.int32)
    both(
        lambda *args, **more: simt.launch(module["weigh"], 1, 8, *args, **more),
        lambda: (data, np.zeros(8, "f4")),
        threads,
    )
    simt.launch(module["count"], 1, 40, executor=threads)
    assert module["count"].module["counter"].tolist() == [40]
    simt.launch(module["count"], 2, 40, executor=threads)
    assert module["count"].module["counter"].tolist() == [120]


def test_a_device_keeps_what_the_workers_wrote(threads: Executor) -> None:
    gpu = simt.Device(executor=threads)
    x = gpu.array(np.arange(65.0))
    y = gpu.empty(64)
    gpu.launch(copies, 2, 32, x, y)
    np.testing.assert_array_equal(y.numpy(), np.arange(1.0, 65))


def test_a_timed_launch_is_one_task() -> None:
    here = Here()
    plans = [kernels.get("neighbored").plan(1 << 12, 128) for _ in range(2)]
    alone = simt.launch(plans[0].kernel, plans[0].grid, plans[0].block, *plans[0].args, timing=True)
    apart = simt.launch(plans[1].kernel, plans[1].grid, plans[1].block, *plans[1].args, timing=True, executor=here)
    assert here.count == 1
    assert alone.timing is not None
    assert apart.timing is not None
    assert alone.timing.totals == apart.timing.totals
    np.testing.assert_array_equal(alone.timing.stalls, apart.timing.stalls)
    np.testing.assert_array_equal(alone.result.counters, apart.result.counters)
    for mine, other in zip(plans[0].args, plans[1].args, strict=True):
        np.testing.assert_array_equal(mine, other)


def nobody_can_import() -> Any:
    def made(x):
        x[cuda.grid(1)] = 2.0

    return made


class Loses(ProcessPoolExecutor):
    """A pool whose first worker dies."""

    lost = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.lost:
            self.lost = True
            return super().submit(os._exit, 1)
        return super().submit(fn, *args, **kwargs)


def test_processes_and_one_that_dies() -> None:
    """The kernel need not exist there: what travels is its Program."""
    seen: list[tuple[int, int]] = []
    with Loses(1) as pool:
        x = np.zeros(256)
        simt.launch(nobody_can_import(), 8, 32, x, executor=pool, progress=lambda *done: seen.append(done))
    assert (x == 2).all()
    assert seen[-1] == (8, 8)
    assert seen == sorted(seen)


def test_workers_that_always_die(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "perform", die)
    with Processes(1) as pool, pytest.raises(LaunchError, match="died again and again"):
        simt.launch(nobody_can_import(), 2, 32, np.zeros(64), executor=pool)


def test_ctrl_c_is_not_for_our_own_processes() -> None:
    with Processes(1) as pool:
        assert pool.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


def test_a_pool_ends_its_own_processes_only() -> None:
    mine = Processes(1)
    with Processes(1) as other:
        theirs = other.submit(os.getpid).result()
        ours = mine.submit(os.getpid).result()
        mine.stop()
        mine.stop()  # once is enough, twice no error
        assert other.submit(os.getpid).result() == theirs != ours


def die(task: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_ctrl_c_takes_back_what_waits() -> None:
    begun, gate = [], threading.Event()

    def waits(task: Any) -> Any:
        begun.append(task)
        gate.wait()
        return perform(task)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    x = np.zeros(1024)
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(spread, "perform", waits)
        with pytest.raises(KeyboardInterrupt):
            simt.launch(nobody_can_import(), 32, 32, x, executor=pool, progress=interrupt)
        gate.set()
    assert len(begun) <= 1
    assert not x.any()


def test_no_executor() -> None:
    with pytest.raises(LaunchError, match=r"no concurrent.futures.Executor[\s\S]*ProcessPoolExecutor"):
        simt.launch(nobody_can_import(), 2, 32, np.zeros(64), executor=4)
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(LaunchError, match="cannot schedule new futures after shutdown"):
        simt.launch(nobody_can_import(), 2, 32, np.zeros(64), executor=closed)


def test_a_worker_of_another_version() -> None:
    other = Here(lambda task: spread.replace(task, version="engine-of-yesterday"))
    with pytest.raises(LaunchError, match="another version of simt"):
        simt.launch(nobody_can_import(), 2, 32, np.zeros(64), executor=other)


@pytest.mark.parametrize("text", ["dask", "dask://nowhere", "processes:0", "processes:many", "mpi:4"])
def test_texts_that_name_no_executor(text: str) -> None:
    with (
        pytest.raises(LaunchError, match=r"names no executor[\s\S]*processes:8 or dask://HOST:PORT"),
        executor_of(text),
    ):
        pass


def test_dask_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingError, match=r"pip install 'simt\[dask\]'"), executor_of("dask://127.0.0.1:8786"):
        pass


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs Dask (pip install 'simt[dask]')")
    monkeypatch.setattr("simt.calls.executors.connect.CONNECT_SECONDS", 0.2)
    with (
        pytest.raises(LaunchError, match="no Dask scheduler answers at 127"),
        executor_of("dask://127.0.0.1:9"),
    ):
        pass


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), max_size=6)


@given(SPANS, SPANS)
def test_overlaps(read: list[tuple[int, int]], written: list[tuple[int, int]]) -> None:
    """The first byte in both, found by looking at every byte."""
    masks = np.zeros((2, 40), bool)
    for mask, spans in zip(masks, (read, written), strict=True):
        for first, size in spans:
            mask[first : first + size] = True
    runs = [runs_of(mask, 2) for mask in masks]
    for mask, found in zip(masks, runs, strict=True):
        again = np.zeros(160, bool)
        for first, end in zip(*found, strict=True):
            again[first:end] = True
        np.testing.assert_array_equal(again, np.repeat(mask, 4))
    met = np.flatnonzero(masks.all(axis=0))
    overlap = merging._overlap(*runs)
    assert (None if overlap is None else overlap[0]) == (4 * int(met[0]) if len(met) else None)
