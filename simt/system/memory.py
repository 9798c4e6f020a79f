"""``malloc`` and ``free`` of kernels."""

from __future__ import annotations

from collections.abc import Sequence

from simt.check import FreeError
from simt.machine.services import SystemCall
from simt.system.grid import Grid
from simt.system.heap import Heap, InvalidFreeError
from simt.system.launches import fail

MEMORY_ALLOCATION = 2
"""cudaErrorMemoryAllocation."""


def heap_of(grid: Grid) -> Heap:
    """The device heap.  Whoever runs code that allocates gives one."""
    assert grid.world.heap is not None
    return grid.world.heap


def malloc(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> list[int]:
    """``void *malloc(size_t)``: null if the heap has no room."""
    return [_allocate(grid, call, lane, size) for lane, (size,) in zip(call.lanes, arguments, strict=True)]


def _allocate(grid: Grid, call: SystemCall, lane: int, size: int) -> int:
    """The address of memory of a lane's own; 0 if the heap has no room."""
    address = heap_of(grid).allocate(size)
    if address:
        call.gave(lane, address, size)
    return address


def free(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> None:
    """``void free(void *)``: a finding for what ``malloc`` did not give."""
    for lane, (address,) in zip(call.lanes, arguments, strict=True):
        try:
            heap_of(grid).free(address)
        except InvalidFreeError as problem:
            raise call.error(FreeError, f"free of {address:#x}: {problem}", [lane]) from None


def cuda_malloc(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> list[int]:
    """``cudaError_t cudaMalloc(void **, size_t)`` on the device takes from the same heap."""
    results = []
    for lane, (where, size) in zip(call.lanes, arguments, strict=True):
        address = _allocate(grid, call, lane, size)
        if address:
            call.store(lane, where, address.to_bytes(8, "little"))
        results.append(0 if address else fail(grid, call, lane, MEMORY_ALLOCATION))
    return results


def cuda_free(grid: Grid, call: SystemCall, arguments: Sequence[Sequence[int]]) -> list[int]:
    """``cudaError_t cudaFree(void *)`` on the device."""
    free(grid, call, arguments)
    return [0] * len(arguments)
