"""Arrays that are not copied on the host, and files that are only mapped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.lang import argument_types, compile
from simt.machine import DeviceMemory, Launch, RunResult
from simt.runtime import Arena, run, transfers
from simt.runtime.transfers import HostArray, Upload, scratch
from tests.machine_view import DATA, needs_nvdisasm

SIZE = 1 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.bin"
    np.arange(SIZE, dtype=np.int32).tofile(path)
    return path


def twice(x, out):
    i = cuda.grid(1)
    x[i] *= 2
    out[i] = x[i]


@pytest.mark.parametrize("writable", [True, False])
def test_what_a_kernel_writes_to_scratch_is_dropped(writable: bool) -> None:
    whole = np.arange(128)
    whole.flags.writeable = writable
    out = np.zeros(64, whole.dtype)
    simt.launch(twice, 2, 32, scratch(whole[32:96]), out)
    np.testing.assert_array_equal(out, 2 * np.arange(32, 96))
    np.testing.assert_array_equal(whole, np.arange(128))


@needs_nvdisasm
def test_nor_is_the_buffer_written_that_scratch_is_a_part_of() -> None:
    kernel = simt.load_cubin(DATA / "sm_90" / "kernels_O3.cubin")["reduceNeighbored"]
    whole, out = np.arange(512, dtype=np.int32), np.zeros(1, np.int32)
    simt.launch(kernel, 1, 256, scratch(whole[:256]), out, 256)
    assert out[0] == 255 * 128
    np.testing.assert_array_equal(whole, np.arange(512))


def resident(path: Path) -> int:
    """KiB of a mapped file in this process's memory."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    starts = [k for k, line in enumerate(lines) if line.endswith(str(path))]
    return sum(int(line.split()[1]) for k in starts for line in lines[k : k + 6] if line.startswith("Rss:"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_pages_of_a_mapped_file_leave_as_they_are_copied(
    file: Path, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "_PIECE", 1 << 16)
    data = np.memmap(file, np.int32, mode, offset=8)[3:-5]
    assert int(data.sum()) > 0
    assert resident(file) > SIZE * 4 / 1024 * 0.9
    arena = Arena()
    upload = Upload(arena, [HostArray("data", scratch(data))])
    assert resident(file) < 100
    memory = arena.memory()
    held = memory.bytes_of(memory.allocations[0]).view(np.int32)
    np.testing.assert_array_equal(held, np.arange(SIZE)[5:-5])
    np.testing.assert_array_equal(data, np.arange(SIZE)[5:-5])
    upload.free()


def test_changes_of_a_private_mapping_stay(file: Path) -> None:
    """They are nowhere else."""
    data = np.memmap(file, np.int32, "c")
    data[:] = 7
    total, _ = simt.reduce(data, kernel="shuffle")
    assert total == 7 * SIZE
    assert (data == 7).all()


def test_a_reduction_leaves_the_file_as_it_is(file: Path) -> None:
    before = file.read_bytes()
    readable, writable = (np.memmap(file, np.int32, mode, shape=SIZE // 8) for mode in ("r", "r+"))
    for data in (readable, writable[::2], writable):
        total, profile = simt.reduce(data, kernel="neighbored")
        copy, alone = simt.reduce(np.array(data), kernel="neighbored")
        assert total == copy == np.sum(data, dtype=np.int32)
        np.testing.assert_array_equal(profile.result.counters, alone.result.counters)
    assert file.read_bytes() == before


def doubled(x: Any, y: Any, out: Any) -> None:
    i = cuda.grid(1)
    out[i] = x[i] + y[i]


def test_a_second_run_finds_device_memory_as_it_was_and_leaves_no_trace() -> None:
    x, y, out = np.arange(64.0), np.arange(1 << 15) + 0.5, np.full(64, -1.0)
    program = compile(doubled, argument_types([x, y, out]))
    found = []

    def second(launch: Launch, memory: DeviceMemory, result: RunResult, rewind: Callable[[], None]) -> None:
        whole = [memory.bytes_of(each) for each in memory.allocations]
        found.append([each.copy() for each in whole])
        for each in whole:
            each[:] = 7
        rewind()
        found.append([each.copy() for each in whole])
        for each in whole:
            each[:] = 9

    run(program, Launch((2, 1, 1), (32, 1, 1), [x, y, out]), second=second)
    assert all(np.array_equal(*pair) for pair in zip(*found, strict=True))
    assert any(np.array_equal(each, np.full(64, -1.0).view(np.uint8)) for each in found[0])
    np.testing.assert_array_equal(x, np.arange(64.0))
    np.testing.assert_array_equal(y, np.arange(1 << 15) + 0.5)
    np.testing.assert_array_equal(out, x + y[:64])


def half(x: Any, y: Any) -> None:
    i = cuda.grid(1)
    x[i] += y[i]


def test_a_second_run_leaves_no_trace_where_arrays_overlap() -> None:
    whole = np.arange(96.0)
    x, y = whole[:64], whole[32:]  # y is not changed, but lies where x is
    program = compile(half, argument_types([x, y]))

    def second(launch: Launch, memory: DeviceMemory, result: RunResult, rewind: Callable[[], None]) -> None:
        for each in memory.allocations:
            memory.bytes_of(each)[:] = 9

    run(program, Launch((1, 1, 1), (32, 1, 1), [x, y]), second=second)
    np.testing.assert_array_equal(whole, np.arange(96.0) + np.where(np.arange(96) < 32, np.arange(32.0, 128.0), 0))
