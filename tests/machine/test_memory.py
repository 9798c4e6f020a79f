"""Loads and stores: data and counters against a model, access by access."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.machine.layout import ADDRESS_BASE
from simt.ops.encoding import MEMORY_TYPES
from simt.program import COUNTERS
from tests.machine.harness import Builder, launch, type_number
from tests.machine.memory_model import (
    SENTINEL,
    Access,
    accesses,
    execute,
    expected_counters,
    memory_counters,
    model,
)
from tests.machine.patterns import M32, M64


@pytest.mark.parametrize("name", MEMORY_TYPES)
@pytest.mark.parametrize("space", ["global", "shared", "local"])
@settings(max_examples=12)
@given(data=st.data())
def test_loads_and_stores(space: str, name: str, data: st.DataObject) -> None:
    for kind in ("ld", "st"):
        for op, via in ((f"{kind}.{space}", ""), (f"{kind}.generic", space)):
            access = data.draw(accesses(op, name, space))
            result = execute(access, via)
            rows, memory = model(access, name, space)
            np.testing.assert_array_equal(result.rows, rows)
            np.testing.assert_array_equal(result.memory, memory)
            assert memory_counters(result) == expected_counters(access, MEMORY_TYPES[name][1], space)


@pytest.mark.parametrize("name", MEMORY_TYPES)
def test_constant_memory(name: str) -> None:
    size = MEMORY_TYPES[name][1]
    contents = np.random.default_rng(1).integers(0, 256, 512, np.uint8)
    offsets = [(7 * lane) % (512 // size) * size for lane in range(32)]
    b = Builder()
    base, sink, lane_offsets = b.constant_array(contents), b.array(0, ndim=2), b.array(1)
    lane, results = b.special("tid.x"), b.reg(4)
    address = b.value("add.s64", base, b.load(lane_offsets, lane))
    pc = len(b.instructions)
    b.emit("ld.const", results, address, mod=type_number(name))
    for k in range(4):
        b.store(sink, lane, results + k, imm=k * 256)
    found = np.zeros((4, 32), np.uint64)
    counters = launch(b, found, np.array(offsets)).counters[pc]
    access = Access("ld.const", 0, offsets, M32, np.zeros((4, 32)), contents)
    expected = model(access, name, "const")[0]
    expected[expected == SENTINEL] = 0
    np.testing.assert_array_equal(found, expected)
    assert not counters[COUNTERS.index("requests") :].any()


@pytest.mark.parametrize("bytes_of_thread", [4, 12, 20, 36])
def test_local_memory_of_any_size(bytes_of_thread: int) -> None:
    """Threads' memories must not overlap, nor may 64-bit accesses miss, when a thread has no multiple of 8."""
    rng = np.random.default_rng(2)
    for name in ("u32", "b64") if bytes_of_thread >= 8 else ("u32",):
        size = MEMORY_TYPES[name][1]
        access = Access(
            "st.local",
            type_number(name),
            [(lane * size) % (bytes_of_thread // size * size) for lane in range(32)],
            M32,
            rng.integers(0, M64, (4, 32), np.uint64),
            rng.integers(0, 256, (32, bytes_of_thread), np.uint8),
        )
        np.testing.assert_array_equal(execute(access).memory, model(access, name, "local")[1])


def test_shared_memory_starts_at_zero_in_every_block() -> None:
    b = Builder()
    b.shared_bytes = 256
    sink = b.array(0)
    lane, thread = b.special("tid.x"), b.thread()
    own = b.value("mul.s64", lane, b.const(8))
    before = b.value("ld.shared", own, mod=type_number("b64"))
    b.emit("st.shared", a=own, b=b.const(M64), mod=type_number("b64"))
    b.store(sink, thread, before)
    found = np.full(32 * 7, 9, np.uint64)
    launch(b, found, grid=7, threads=1)
    assert not found.any()


def test_local_memory_is_private_and_starts_at_zero_in_every_block() -> None:
    b = Builder()
    b.local_bytes = 8
    sink = b.array(0, ndim=2)
    thread = b.thread()
    before = b.value("ld.local", 0, mod=type_number("b64"))
    b.emit("st.local", a=0, b=thread, mod=type_number("b64"))
    b.emit("bar.sync")
    b.store(sink, thread, before)
    b.store(sink, thread, b.value("ld.local", 0, mod=type_number("b64")), imm=8 * 64 * 5)
    found = np.full((2, 64 * 5), 9, np.uint64)
    launch(b, found, grid=5, block=64, threads=1)
    assert not found[0].any()
    np.testing.assert_array_equal(found[1], np.arange(64 * 5))


@pytest.mark.parametrize(("first", "second"), [((0, 40), (8, 64)), ((8, 64), (0, 40)), ((0, 64), (4, 64))])
def test_overlapping_host_arrays_overlap_on_the_device(first: tuple[int, int], second: tuple[int, int]) -> None:
    values = np.arange(64, dtype=np.uint64)
    expected = values.copy()
    b = Builder()
    one, other = b.array(0), b.array(1)
    lane = b.special("tid.x")
    b.store(one, lane, b.const(7))
    b.store(other, lane, b.value("add.s64", b.load(other, lane), b.const(100)))
    launch(b, values[slice(*first)], values[slice(*second)], block=16)
    expected[slice(*first)][:16] = 7
    expected[slice(*second)][:16] += np.uint64(100)
    np.testing.assert_array_equal(values, expected)


def test_arrays_are_placed_as_cuda_malloc_does() -> None:
    b = Builder()
    rows = [b.array(k) for k in range(3)]
    sink, lane = b.array(3, ndim=2), b.special("tid.x")
    for k, row in enumerate(rows):
        b.store(sink, lane, row, imm=256 * k)
    found = np.zeros((3, 32), np.uint64)
    launch(b, np.zeros(3, np.int8), np.zeros(0, np.float64), np.zeros((5, 5), np.float32)[1:, 2:], found)
    assert (found % 256 == 0).all()
    assert (found >= int(ADDRESS_BASE)).all()
    assert len({int(row[0]) for row in found}) == 3
