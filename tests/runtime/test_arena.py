"""Laws of allocation and transfer."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.check import LaunchError
from simt.machine import Allocation
from simt.machine.device_memory import ALIGNMENT, GUARD_GAP
from simt.machine.layout import ADDRESS_BASE
from simt.runtime import Arena, transfers
from simt.runtime.transfers import HostArray, Upload, buffer_of

ARENA = Arena()

ALLOCATE = st.tuples(st.just("allocate"), st.integers(0, 1 << 18))
FREE = st.tuples(st.just("free"), st.integers(0, 50))
steps = st.lists(st.one_of(ALLOCATE, FREE), max_size=30)


def run(arena: Arena, script: list[tuple[str, int]]) -> list[Allocation]:
    held: list[Allocation] = []
    for what, number in script:
        if what == "allocate":
            held.append(arena.allocate(number, f"n{number}"))
        elif held:
            arena.free(held.pop(number % len(held)))
    return held


def test_memory_like_that_of_a_larger_arena() -> None:
    small = Arena(size=1 << 28)
    assert small.memory_like(replace(ARENA.memory(), end=small.size)).end == small.size
    with pytest.raises(LaunchError, match="workers on computers with more memory"):
        small.memory_like(replace(ARENA.memory(), end=small.size + 1))


@given(script=steps)
def test_allocations_stand_apart_and_keep_what_they_hold(script: list[tuple[str, int]]) -> None:
    held: list[Allocation] = []
    marks: dict[Allocation, int] = {}
    for step, (what, number) in enumerate(script):
        if what == "allocate":
            made = ARENA.allocate(number, "some")
            held.append(made)
            marks[made] = step % 251 + 1
            ARENA.memory().bytes_of(made)[:] = marks[made]
        elif held:
            ARENA.free(held.pop(number % len(held)))
        ordered = sorted(held)
        assert list(ARENA.memory().allocations) == ordered
        assert all(before.end + GUARD_GAP <= after.start for before, after in pairwise(ordered))
    for each in held:
        assert each.start % ALIGNMENT == 0
        assert (ARENA.memory().bytes_of(each) == marks[each]).all()
        ARENA.free(each)
    assert ARENA.memory().end == ARENA.end == GUARD_GAP


@given(script=steps)
def test_the_same_history_gives_the_same_addresses(script: list[tuple[str, int]]) -> None:
    first = run(ARENA, script)
    for each in first:
        ARENA.free(each)
    second = run(ARENA, script)
    for each in second:
        ARENA.free(each)
    assert first == second


def test_pages_of_the_first_bytes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena(size=1 << 28)
    monkeypatch.setattr("simt.runtime.arena._KEPT", 1 << 23)
    for allocation in (arena.allocate(1 << 24, "one"), arena.allocate(1 << 22, "two")):
        arena.memory().bytes_of(allocation)[:] = 1
    for allocation in arena.memory().allocations:
        arena.free(allocation)
    held = arena.memory().words.M8[GUARD_GAP : 1 << 24]
    kept = (1 << 23) - GUARD_GAP
    assert held[:kept].all()
    assert sys.platform != "linux" or not held[kept:].any()
    held[:] = 1
    arena.trim()
    assert held[:kept].all()
    assert sys.platform != "linux" or not held[kept:].any()


def test_no_room() -> None:
    with pytest.raises(LaunchError, match="x: 4611686018427387904 bytes do not fit into device memory"):
        ARENA.allocate(1 << 62, "x")


@st.composite
def views(draw: st.DrawFn) -> tuple[npt.NDArray[Any], list[npt.NDArray[Any]]]:
    """A buffer and views of it: strided, reversed, overlapping, of other types, empty."""
    buffer = np.arange(draw(st.integers(1, 400)), dtype=np.int64)
    found = []
    for _ in range(draw(st.integers(1, 4))):
        view: npt.NDArray[Any] = buffer.view(draw(st.sampled_from(["i8", "u1", "f4", "i2"])))
        start, stop = sorted((draw(st.integers(0, len(view))), draw(st.integers(0, len(view)))))
        step = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        found.append(view[start:stop][::step])
    return buffer, found


@given(made=views(), whole=st.booleans())
def test_what_goes_up_comes_down(made: tuple[npt.NDArray[Any], list[npt.NDArray[Any]]], whole: bool) -> None:
    buffer, arrays = made
    before, contents = buffer.copy(), [array.copy() for array in arrays]
    upload = Upload(ARENA, [HostArray(f"a{k}", array, whole) for k, array in enumerate(arrays)])
    try:
        memory = ARENA.memory()
        for array, there in zip(arrays, upload.arguments, strict=True):
            assert (there.shape, there.strides) == (array.shape, array.strides)
            at = there.address - int(ADDRESS_BASE)
            device: npt.NDArray[Any] = np.ndarray(array.shape, array.dtype, memory.words.M8.data, at, array.strides)
            np.testing.assert_array_equal(device, array)
            holder = next(each for each in memory.allocations if each.start <= there.address <= each.end)
            if whole:
                assert holder.end - holder.start == buffer.nbytes
        buffer[:] = -1  # what the host does meanwhile is lost where the kernel may write
        upload.download()
    finally:
        upload.free()
    if whole:
        np.testing.assert_array_equal(buffer, before)
    for array, expected in zip(arrays, contents, strict=True):
        np.testing.assert_array_equal(array, expected)
    assert not ARENA.memory().allocations


@given(
    size=st.integers(0, 3 * 8 * transfers.WORDS),
    repeated=st.integers(1, 4),
    at=st.lists(st.integers(0), max_size=30),
    odd=st.booleans(),
    many=st.sampled_from([1, 3, 512]),
)
def test_what_is_exchanged_is_what_has_changed(size: int, repeated: int, at: list[int], odd: bool, many: int) -> None:
    """Device memory is as the host has it, and what it was before goes down, however little of it has changed."""
    whole = np.resize(np.arange(251, dtype=np.uint8), size * repeated * repeated + 8)
    host, part = whole[odd:], whole[5 : len(whole) // 2]  # they overlap
    scratched = transfers.scratch(host[3:])
    before, expected = host.copy(), host.copy()
    upload = Upload(ARENA, [HostArray("scratch", scratched), HostArray("host", host), HostArray("part", part)])
    try:
        first = upload.arguments[1].address - int(ADDRESS_BASE)
        device = ARENA.memory().words.M8[first : first + len(host)]
        for each in at:
            device[each % len(host)] ^= 255
        expected[:] = device
        with patch.object(transfers, "_MANY", many):
            upload.exchange()
        np.testing.assert_array_equal(device, before)
        np.testing.assert_array_equal(host, before)
        device[:] = 7
        upload.download()
        np.testing.assert_array_equal(host, expected)
    finally:
        upload.free()


@given(made=views(), seed=st.integers(0, 2**32 - 1), lost=st.integers(0, 3))
def test_views_that_overlap_are_exchanged(
    made: tuple[npt.NDArray[Any], list[npt.NDArray[Any]]], seed: int, lost: int
) -> None:
    """Each view gets what the device had there, and device memory what the host has; bytes between are left alone."""
    buffer, arrays = made
    upload = Upload(
        ARENA,
        [HostArray(f"a{k}", array if k != lost else transfers.scratch(array), False) for k, array in enumerate(arrays)],
    )
    try:
        memory = ARENA.memory()

        def there(k: int) -> npt.NDArray[Any]:
            one = upload.arguments[k]
            at = one.address - int(ADDRESS_BASE)
            return np.ndarray(one.shape, arrays[k].dtype, memory.words.M8.data, at, one.strides)

        random = np.random.default_rng(seed)
        for k, array in enumerate(arrays):
            there(k)[...] = random.integers(0, 100, array.shape)
        before, wanted = buffer.copy(), [there(k).copy() for k in range(len(arrays))]
        upload.exchange()
        np.testing.assert_array_equal(buffer, before)
        assert [there(k).tobytes() for k in range(len(arrays))] == [array.tobytes() for array in arrays]
        for k in range(len(arrays)):
            there(k)[...] = 7
        upload.download()
        for k, array in enumerate(arrays):
            assert k == lost or array.tobytes() == wanted[k].tobytes()
    finally:
        upload.free()


def test_the_buffer_of_a_view() -> None:
    buffer = np.zeros((8, 8))
    assert buffer_of(buffer[2:, 3][::-1].view("i8")) is buffer
    assert buffer_of(np.lib.stride_tricks.sliding_window_view(buffer, (2, 2))) is buffer
    assert buffer_of(buffer) is buffer
    still_writable = buffer[:2]
    buffer.flags.writeable = False  # results cannot go through it any more
    assert buffer_of(still_writable) is still_writable
