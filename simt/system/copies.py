"""Copies and fills that code on the device asks for: ``cudaMemcpyAsync`` and its kin.

They wait beside the grids that the device launches, and all run in the order in which they were asked for.  Copies and
fills count nothing.  Their error codes are those of an H200 (tests/data/system/h200/copies.txt).  With CUDA 13.0 its
fills write zeros whatever the value is; these write the value, as CUDA documents it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.check import OutOfBoundsError
from simt.machine import DeviceMemory
from simt.machine.layout import ADDRESS_BASE
from simt.machine.services import SystemCall
from simt.ops.encoding import LOCAL_WINDOW, SHARED_WINDOW
from simt.system.grid import Child, Grid
from simt.system.launches import INVALID_VALUE, fail, is_stream, waits_for_grid

INVALID_PITCH, INVALID_DIRECTION, UNKNOWN = 12, 21, 999
_DIRECTIONS = frozenset((3, 4))
"""cudaMemcpyDeviceToDevice and cudaMemcpyDefault."""
Arguments = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Rectangle:
    """*height* rows of *width* bytes in global memory, the first at device address *start*, *pitch* bytes apart."""

    start: int
    pitch: int
    width: int
    height: int

    @classmethod
    def line(cls, start: int, size: int) -> Rectangle:
        """*size* bytes in one row."""
        return cls(start, size, size, 1)

    @property
    def span(self) -> int:
        """Bytes from the first of all to the last."""
        return self.pitch * (self.height - 1) + self.width

    def of(self, flat: npt.NDArray[np.uint8], base: int) -> npt.NDArray[np.uint8]:
        """Its part, uint8 [height, width], of bytes that begin at device address *base*, to read and to write."""
        first = self.start - base
        return np.lib.stride_tricks.as_strided(
            flat[first : first + self.span], (self.height, self.width), (self.pitch, 1)
        )


@dataclass(frozen=True)
class Transfer:
    """Bytes to write, and what to write there: what other bytes hold, or one value."""

    to: Rectangle
    source: Rectangle | int

    def run(self, memory: DeviceMemory) -> None:
        """Do it.  All that it writes counts as written."""
        flat, base, source = memory.words.M8, int(ADDRESS_BASE), self.source
        self.to.of(flat, base)[:] = source.of(flat, base).copy() if isinstance(source, Rectangle) else source
        for part in memory.unwritten:
            if part.start <= self.to.start < part.start + len(part.mask):
                self.to.of(part.mask, part.start)[:] = 0


def _queue(grid: Grid, call: SystemCall, lane: int, transfer: Transfer, stream: int) -> int:
    """Let a transfer wait for its turn; return an error code.  Raises OutOfBoundsError for what is not in memory."""
    sides = [transfer.to, *([transfer.source] if isinstance(transfer.source, Rectangle) else [])]
    if not is_stream(stream):
        return fail(grid, call, lane, UNKNOWN)
    if any(each.width > each.pitch for each in sides):
        return fail(grid, call, lane, INVALID_PITCH if len(sides) > 1 else INVALID_VALUE)
    if transfer.to.width and transfer.to.height:
        for each in sides:
            if each.start >= min(SHARED_WINDOW, LOCAL_WINDOW):
                title = f"{call.function} of shared or local memory: {each.start:#x}"
                raise call.error(OutOfBoundsError, title, [lane], help="pass pointers to global memory")
            call.check(lane, each.start, each.span, writes=each is transfer.to)
        grid.queue(Child(transfer, call.block, waits_for_grid(call, stream)))
    return 0


def _copied(grid: Grid, call: SystemCall, lane: int, to: Rectangle, source: Rectangle, kind: int, stream: int) -> int:
    if kind not in _DIRECTIONS:
        return fail(grid, call, lane, INVALID_DIRECTION)
    return _queue(grid, call, lane, Transfer(to, source), stream)


def copy(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaMemcpyAsync(void *to, const void *source, size_t size, cudaMemcpyKind, cudaStream_t)``."""
    return [
        _copied(grid, call, lane, Rectangle.line(to, size), Rectangle.line(source, size), kind, stream)
        for lane, (to, source, size, kind, stream) in zip(call.lanes, arguments, strict=True)
    ]


def copy_2d(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaMemcpy2DAsync(to, pitch, source, source_pitch, width, height, kind, stream)``."""
    results = []
    for lane, (to, pitch, source, other, width, height, kind, stream) in zip(call.lanes, arguments, strict=True):
        there, here = Rectangle(to, pitch, width, height), Rectangle(source, other, width, height)
        results.append(_copied(grid, call, lane, there, here, kind, stream))
    return results


def fill(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t)``."""
    return [
        _queue(grid, call, lane, Transfer(Rectangle.line(to, size), value & 0xFF), stream)
        for lane, (to, value, size, stream) in zip(call.lanes, arguments, strict=True)
    ]


def fill_2d(grid: Grid, call: SystemCall, arguments: Arguments) -> list[int]:
    """``cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, stream)``."""
    return [
        _queue(grid, call, lane, Transfer(Rectangle(to, pitch, width, height), value & 0xFF), stream)
        for lane, (to, pitch, value, width, height, stream) in zip(call.lanes, arguments, strict=True)
    ]
