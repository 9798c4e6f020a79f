"""Device memory as a launch finds it; :mod:`simt.runtime` owns it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simt.machine import layout as L

GUARD_GAP = 1 << 16
"""Unmapped bytes between allocations, so that an access just past one is caught."""
ALIGNMENT = 256
"""Of allocations, as cudaMalloc has it."""


def align(value: int, to: int) -> int:
    """*value* rounded up to a multiple of *to*."""
    return -(-value // to) * to


class Allocation(NamedTuple):
    """Global memory that a launch may touch: first and one past the last device address.

    ``host``: it is memory of the host that the GPU reaches over its bus (pinned, ``cudaHostAlloc``).
    """

    start: int
    end: int
    writable: bool
    name: str
    host: bool = False


class Unwritten(NamedTuple):
    """Global memory from a device address on, a byte of ``mask`` for each: 1 where nobody has written.

    A watch that looks at what is written changes the mask.
    """

    start: int
    mask: npt.NDArray[np.uint8]


class Rows(NamedTuple):
    """Rows of bytes of global memory: the address of the first, bytes from row to row, rows from slice to slice."""

    start: int
    pitch: int
    height: int


class Words(NamedTuple):
    """The bytes of the arena under the types that the engine reads them with."""

    M8: npt.NDArray[np.uint8]
    M16: npt.NDArray[np.uint16]
    M32: npt.NDArray[np.uint32]
    M64: npt.NDArray[np.int64]
    MF32: npt.NDArray[np.float32]
    MF64: npt.NDArray[np.float64]

    @classmethod
    def of(cls, data: npt.NDArray[np.uint8]) -> Words:
        """*data* under each type."""
        narrow = data, data.view(np.uint16), data.view(np.uint32)
        return cls(*narrow, data.view(np.int64), data.view(np.float32), data.view(np.float64))


@dataclass(frozen=True)
class DeviceMemory:
    """Device memory as a launch finds it.

    ``words``: the whole arena, whose first byte has device address ``ADDRESS_BASE``; ``allocations`` in ascending
    order; ``unwritten``: parts of them; ``end``: the position in the arena from which on nothing is allocated, where
    the launch has its own memory.
    """

    words: Words
    allocations: Sequence[Allocation]
    end: int
    unwritten: Sequence[Unwritten] = ()

    def bytes_of(self, allocation: Allocation) -> npt.NDArray[np.uint8]:
        """The bytes of an allocation, to read and to write."""
        return self.words.M8[allocation.start - int(L.ADDRESS_BASE) : allocation.end - int(L.ADDRESS_BASE)]

    def snapshot(self, allocations: Sequence[Allocation] | None = None) -> Snapshot:
        """What these allocations (default: all) hold that a kernel can change."""
        among = self.allocations if allocations is None else allocations
        kept = [self.bytes_of(allocation) for allocation in among if allocation.writable]
        return Snapshot([(bytes_, bytes_.copy()) for bytes_ in kept])


@dataclass(frozen=True)
class Snapshot:
    """Bytes of device memory and what they held."""

    kept: Sequence[tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]]

    def restore(self) -> None:
        """Make device memory what it was."""
        for bytes_, before in self.kept:
            bytes_[:] = before
