"""The heap of ``malloc``: blocks lie apart, aligned and inside; what is freed can be had again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.system.heap import ALIGNMENT, HEADER, Heap, InvalidFreeError

START, SIZE = 0x200000001000, 1 << 16


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5000)), max_size=200))
def test_any_order_of_calls(steps: list[tuple[bool, int]]) -> None:
    heap = Heap(START, SIZE)
    blocks: dict[int, int] = {}
    for frees, amount in steps:
        if frees and blocks:
            address = sorted(blocks)[amount % len(blocks)]
            del blocks[address]
            heap.free(address)
            continue
        address = heap.allocate(amount)
        if address:
            assert address % ALIGNMENT == 0
            assert START <= address <= START + SIZE - amount
            assert all(address + amount <= other or other + size <= address for other, size in blocks.items())
            blocks[address] = amount
        else:
            gaps = sorted([(START, 0), *((a, s) for a, s in blocks.items()), (START + SIZE, 0)])
            room = max(after - (at + size) for (at, size), (after, _) in pairwise(gaps))
            assert room < amount + 4 * max(HEADER, 64)
    for address in blocks:
        heap.free(address)
    assert heap.taken == 0
    assert heap.allocate(SIZE - HEADER) == START + HEADER


@given(st.integers(0, 300), st.integers(1, 299))
def test_wrong_addresses(amount: int, offset: int) -> None:
    heap = Heap(START, SIZE)
    address = heap.allocate(amount)
    with pytest.raises(InvalidFreeError):
        heap.free(address + offset)
    heap.free(0)
    heap.free(address)
    with pytest.raises(InvalidFreeError, match="freed before"):
        heap.free(address)
    with pytest.raises(InvalidFreeError, match="not in the device heap"):
        heap.free(START - 16)


def test_no_room_is_null() -> None:
    heap = Heap(START, SIZE)
    assert heap.allocate(SIZE) == 0
    assert heap.allocate(2**64 - 1) == 0
    assert heap.allocate(0) != heap.allocate(0)


def test_a_copy_has_a_life_of_its_own() -> None:
    heap = Heap(START, SIZE)
    heap.allocate(100)
    copy = heap.copy()
    assert copy.allocate(100) == heap.allocate(100)
    heap.free(heap.allocate(5))
    copy.restore(heap)
    assert copy.taken == heap.taken
