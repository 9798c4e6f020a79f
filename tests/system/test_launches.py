"""Launches from the device: against what an H200 did (tests/data/system), the order they run in, their errors."""

from __future__ import annotations

import gc
import io
import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.check import TrapError

DATA = Path(__file__).parent.parent / "data" / "system"
NESTED = json.loads((DATA / "h200" / "rows.json").read_text())["nested"]


@pytest.fixture
def launches() -> Any:
    return simt.load_cubin(DATA / "launches.cubin")


@pytest.fixture
def waiting() -> Any:
    return simt.load_cubin(DATA / "waiting.cubin")


def results(kernels: Any) -> list[int]:
    return kernels["bad"].module["result"].tolist()


@pytest.mark.parametrize(
    ("probe", "kernel", "grid", "block", "children"),
    [("hello", "hello", 2, 8, 6), ("reduce_16", "reduce", 16, 512, 128)],
)
def test_rows_are_those_of_nsight_compute(
    launches: Any, probe: str, kernel: str, grid: int, block: int, children: int
) -> None:
    """It counts a grid and those that it launches together."""
    data, out = np.ones(16 * 512, np.int32), np.zeros(4096, np.int32)
    args = {
        "hello": (np.int32(8), np.int32(0)),
        "reduce_16": (data, out, np.uint32(512)),
    }[probe]
    profile = simt.launch(launches[kernel], grid, block, *args)
    totals: dict[int, list[int]] = {}
    for each in (profile, *profile.launched):
        for line in each.lines:
            row = totals.setdefault(line.number, [0, 0])
            row[0] += line.counters["inst_executed"]
            row[1] += line.counters["thread_inst_executed"]
    name, rows = NESTED[probe][0]
    assert name == kernel
    assert [[at, *row] for at, row in totals.items() if row[0]] == rows
    if probe == "reduce_16":
        assert out[:16].tolist() == [512] * 16
    assert len(profile.launched) == children


def test_device_memory_goes_with_the_last_kernel() -> None:
    """Also after a kernel has launched itself: no circle of references is left for the garbage collection."""
    hello = simt.load_cubin(DATA / "launches.cubin")["hello"]
    memory = weakref.ref(hello.module.memory.context)
    gc.disable()
    try:
        profile = simt.launch(hello, 1, 4, np.int32(4), np.int32(0))
        assert [each.kernel for each in profile.launched] == ["hello", "hello"]
        del hello, profile
        assert memory() is None
    finally:
        gc.enable()


def test_the_order_of_streams(launches: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Launches of one stream one after the other, tail launches when the grid and all others have ended."""
    simt.launch(launches["streams"], 1, 1, np.int32(0))
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "parent begins"
    assert said.index("child 1 ends") < said.index("child 2 begins")
    assert said[-4:] == ["child 100 begins", "child 100 ends", "child 101 begins", "child 101 ends"]
    assert max(said.index(f"child {k} ends") for k in (1, 2, 3, 4)) < said.index("child 100 begins")


def test_depth_ends_at_the_pending_launches(launches: Any) -> None:
    """An H200 refuses level 2049 with cudaErrorLaunchPendingCountExceeded."""
    profile = simt.launch(launches["deep"], 1, 1, np.int32(0))
    assert results(launches)[:4] == [0, 2048, 2048, 69]
    assert len(profile.launched) == 2048


def test_more_tail_launches_than_can_wait(launches: Any) -> None:
    """The 2049th of 2100 is refused; the others run."""
    simt.launch(launches["pending"], 1, 1, np.int32(2100), np.int32(2), np.int32(0))
    assert results(launches)[:5] == [2048, 0, 52, 69, 2048]


def test_a_child_that_goes_wrong(launches: Any) -> None:
    gpu = simt.Device(stdout=(out := io.StringIO()))
    with pytest.raises(TrapError, match="the kernel stopped itself") as caught:
        gpu.launch(gpu.load(DATA / "launches.cubin")["parent_of_trap"], 1, 1, np.int32(0))
    assert out.getvalue().splitlines() == ["parent after", "child traps"]
    assert "a store through a null pointer" in caught.value.help


def test_children_are_activities_of_the_device() -> None:
    gpu = simt.Device(stdout=io.StringIO())
    profile = gpu.launch(gpu.load(DATA / "launches.cubin")["hello"], 1, 8, np.int32(8), np.int32(0))
    assert [each.by_device for each in gpu.activities.launched] == [False, True, True, True]
    assert [each.launches[0].block for each in profile.launched] == [(4, 1, 1), (2, 1, 1), (1, 1, 1)]


def test_timing_times_each_grid(launches: Any) -> None:
    profile = simt.launch(launches["hello"], 1, 4, np.int32(4), np.int32(0), timing=True)
    assert [each.timing is not None for each in profile.launched] == [True, True]
    data, out = np.ones(512, np.int32), np.zeros(1, np.int32)
    profile = simt.launch(launches["reduce"], 1, 512, data, out, np.uint32(512), timing=True)
    assert out.tolist() == [512]
    assert len(profile.launched) == 8


def test_a_block_waits_for_its_children(waiting: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """CDP1: what a child prints and writes stands between what its parent does before and after waiting."""
    cells, seen = np.zeros(3, np.int32), np.zeros(3, np.int32)
    profile = simt.launch(waiting["parent"], 3, 1, cells, seen)
    assert seen.tolist() == [10, 11, 12]
    expected = [line for k in range(3) for line in (f"parent {k} begins", f"child of {k}", f"parent {k} ends")]
    assert capsys.readouterr().out.splitlines() == expected
    assert len(profile.launched) == 3
    timed = simt.launch(waiting["parent"], 3, 1, cells, seen, timing=True)
    assert len(timed.launched) == 3
    assert len(capsys.readouterr().out.splitlines()) == 9


def test_nested_reduction_that_waits(waiting: Any) -> None:
    data, out = np.arange(4 * 64, dtype=np.int32), np.zeros(4, np.int32)
    expected = data.reshape(4, 64).sum(axis=1)
    profile = simt.launch(waiting["nested_reduce"], 4, 64, data, out, np.uint32(64))
    assert out.tolist() == expected.tolist()
    assert len(profile.launched) == 4 * 5


def test_levels_of_the_first_runtime(waiting: Any) -> None:
    """24 levels below the host's; two of all may wait (cudaErrorLaunchMaxDepthExceeded, cudaErrorSyncDepthExceeded)."""
    codes = np.full(100, -1, np.int32)
    profile = simt.launch(waiting["levels"], 1, 1, codes, np.int32(0))
    assert len(profile.launched) == 24
    assert codes[: 2 * 25 : 2].tolist() == [0] * 24 + [65]
    assert codes[1 : 2 * 25 : 2].tolist() == [0, 0] + [68] * 23
    assert (codes[50:] == -1).all()
