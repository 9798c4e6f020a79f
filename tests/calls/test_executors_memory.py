"""What launches on executors do with memory: mapped, not copied; and atomics of several processes, put together."""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.calls.executors.reductions import reductions
from simt.calls.executors.task import NotFound, perform
from simt.check import LaunchError
from simt.program import Instruction
from simt.runtime import MemoryFile, SharedFile
from tests.calls.spreading import Here, both
from tests.machine_view import needs_numba_cuda

needs_files = pytest.mark.skipif(MemoryFile.create() is None, reason="no files in memory here")


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def adds_one(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + 1


class Weighs(Here):
    """Notes how many bytes go each way."""

    def __init__(self) -> None:
        super().__init__(self._weigh)
        self.most = 0

    def _weigh(self, value: Any) -> Any:
        self.most = max(self.most, len(pickle.dumps(value)))
        return value

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future = super().submit(fn, *args, **kwargs)
        self._weigh(future.result())
        return future


@needs_files
def test_arrays_do_not_travel() -> None:
    """Neither to the workers nor back."""
    pool = Weighs()
    x, y = np.arange(1 << 19, dtype=np.int64), np.zeros(1 << 19, np.int64)
    simt.launch(adds_one, 1 << 12, 128, x, y, executor=pool)
    np.testing.assert_array_equal(y, x + 1)
    assert 0 < pool.most < x.nbytes // 16
    gpu = simt.Device(executor=pool)
    on_device = gpu.array(x), gpu.empty(1 << 19, np.int64)
    gpu.launch(adds_one, 1 << 12, 128, *on_device)
    np.testing.assert_array_equal(on_device[1].numpy(), x + 1)
    assert pool.most < x.nbytes // 16


@needs_files
def test_workers_on_another_computer(threads: Executor) -> None:
    """They do not find the file, or find another one: then what it holds travels."""
    found: list[Any] = []

    def elsewhere(task: Any) -> Any:
        found.append(task)
        if not isinstance(task.contents, SharedFile):
            return task
        wrong = [
            SharedFile("/proc/self/fd/no such file", task.contents.identity),
            SharedFile(task.results.path, task.contents.identity),
        ][len(found) % 2]
        return replace(task, contents=wrong)

    pool = Here(elsewhere)
    both(
        lambda *args, **more: simt.launch(adds_one, 10, 32, *args, **more),
        lambda: (np.arange(320.0), np.zeros(320)),
        pool,
    )
    assert pool.count == 2 * 10
    assert isinstance(perform(elsewhere(found[0])), NotFound)


@needs_files
@pytest.mark.parametrize("options", [{}, {"timing": True}, {"check": "initcheck"}], ids=str)
def test_files_are_closed(threads: Executor, options: dict[str, Any]) -> None:
    """At once, not when Python next looks for garbage."""

    def launch() -> None:
        x = np.arange(320.0)
        simt.launch(adds_one, 10, 32, x, x, executor=threads, **options)
        assert (x == np.arange(1.0, 321)).all()

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), Path("/proc/self/maps").read_text().count("memfd:simt")

    launch()
    gc.collect()
    before = held()
    gc.disable()
    try:
        for _ in range(5):
            launch()
        threads.submit(int).result()
        assert held() == before
    finally:
        gc.enable()


def histogram(x, out, more):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, x[i] % 7, x[i])
        cuda.atomic.sub(out, 7, x[i])
        cuda.atomic.min(more, 0, x[i])
        cuda.atomic.max(more, 1, x[i])
        cuda.atomic.and_(more, 2, x[i])
        cuda.atomic.or_(more, 3, x[i])
        cuda.atomic.xor(more, 4 + x[i] % 2, x[i])


TYPES = ["int32", "uint32", "int64", "uint64"]


@given(st.data(), st.sampled_from(TYPES), st.sampled_from([1, 3, 40]), st.sampled_from([1, 20, 64]))
def test_atomics_that_commute(data: st.DataObject, name: str, blocks: int, threads: int) -> None:
    limits = np.iinfo(name)
    numbers = st.sampled_from([limits.min, limits.max, 0, 1]) | st.integers(int(limits.min), int(limits.max))
    x = np.array(data.draw(st.lists(numbers, min_size=1, max_size=90)), name)
    start = np.array(data.draw(st.lists(numbers, min_size=14, max_size=14)), name)
    both(
        lambda *args, **more: simt.launch(histogram, blocks, threads, *args, **more),
        lambda: (x.copy(), start[:8].copy(), start[8:].copy()),
        Here(),
    )


@needs_numba_cuda
@pytest.mark.parametrize("name", TYPES)
def test_atomics_of_machine_code(threads: Executor, name: str) -> None:
    x = np.random.default_rng(1).integers(np.iinfo(name).min, np.iinfo(name).max, 999, name, endpoint=True)
    both(
        lambda *args, **more: simt.launch(histogram, 16, 64, *args, view="sm_90", **more),
        lambda: (x.copy(), np.ones(8, name), np.ones(6, name)),
        threads,
    )


def sums_floats(x, y):
    cuda.atomic.add(x, 0, 1.5)


def uses_the_old_value(x, y):
    y[cuda.grid(1)] = cuda.atomic.add(x, 0, 1)


def exchanges(x, y):
    cuda.atomic.exch(x, 0, cuda.grid(1))


def reads_the_sum(x, y):
    cuda.atomic.add(x, 0, 1)
    y[cuda.grid(1)] = x[0]


def reads_first(x, y):
    y[cuda.grid(1)] = x[0]
    cuda.atomic.add(x, 0, 1)


def reads_what_others_add(x, y):
    if cuda.blockIdx.x % 2:
        y[0] = x[0]
    else:
        cuda.atomic.add(x, 0, 1)


def writes_elsewhere(x, y):
    if cuda.blockIdx.x % 2:
        x[0] = 1
    else:
        cuda.atomic.add(x, 0, 1)


def adds_or_takes_the_larger(x, y):
    if cuda.blockIdx.x % 2:
        cuda.atomic.max(x, 0, 1)
    else:
        cuda.atomic.add(x, 0, 1)


ORDERED = {
    sums_floats: "an atomic on floats",
    uses_the_old_value: "whose old value the kernel uses",
    exchanges: "whose result depends on the order",
    reads_the_sum: "",
    reads_first: "",
    reads_what_others_add: "",
    writes_elsewhere: "",
    adds_or_takes_the_larger: "",
}


@pytest.mark.parametrize("kernel", ORDERED, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("blocks", [2, 128])
def test_atomics_that_do_not_commute(threads: Executor, kernel: Any, blocks: int) -> None:
    x = np.zeros(4, np.float64 if kernel is sums_floats else np.int64)
    with pytest.raises(LaunchError, match=r"communicate[\s\S]*`x`, byte 0: ") as failed:
        simt.launch(kernel, blocks, 32, x, np.zeros(blocks * 32), executor=threads)
    if blocks == 128:  # both blocks of a pair are in one part
        assert ORDERED[kernel] in str(failed.value)
    assert not x.any()


def each_its_own(x, y):
    cuda.atomic.add(x, cuda.blockIdx.x, cuda.threadIdx.x)
    cuda.syncthreads()
    y[cuda.grid(1)] = x[cuda.blockIdx.x]
    cuda.atomic.max(x, cuda.blockIdx.x, 7)


def test_a_block_may_read_what_it_alone_changes(threads: Executor) -> None:
    both(
        lambda *args, **more: simt.launch(each_its_own, 64, 32, *args, **more),
        lambda: (np.arange(64), np.zeros(64 * 32, np.int64)),
        threads,
    )


def test_which_atomics_commute() -> None:
    """Those whose old value is not read on any way."""
    program = simt.launch(histogram, 1, 1, np.ones(1, np.int32), np.ones(8, np.int32), np.ones(6, np.int32)).program
    atomics = [each.op.startswith("atom.") for each in program.instructions]
    assert sum(atomics) == 7
    np.testing.assert_array_equal(reductions(program) > 0, atomics)
    last = max(k for k, is_one in enumerate(atomics) if is_one)
    old = program.instructions[last].dst
    read = [*program.instructions[: last + 1], Instruction("mov", old + 1, old), *program.instructions[last + 1 :]]
    assert reductions(replace(program, instructions=read))[last] == 0


def test_processes_that_count_together() -> None:
    x = np.arange(20_000, dtype=np.int32)
    counted = np.zeros(8, np.int32), np.zeros(6, np.int32)
    alone = np.zeros(8, np.int32), np.zeros(6, np.int32)
    with ProcessPoolExecutor(2) as pool:
        simt.launch(histogram, 160, 128, x, *counted, executor=pool)
    simt.launch(histogram, 160, 128, x, *alone)
    np.testing.assert_array_equal(counted[0], alone[0])
    np.testing.assert_array_equal(counted[1], alone[1])
