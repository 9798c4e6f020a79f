"""The arena: all device memory, in one mapping whose addresses never change."""

from __future__ import annotations

import mmap
import os
import sys
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simt.check import LaunchError
from simt.machine import Allocation, DeviceMemory, Unwritten
from simt.machine.device_memory import ALIGNMENT, GUARD_GAP, Words, align
from simt.machine.layout import ADDRESS_BASE

MAX_BYTES = 1 << 36
"""Addresses of an arena; the host's memory is only taken for what is touched.  Less where the host refuses so much."""
_MIN_BYTES = 1 << 28
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0
"""MAP_NORESERVE, which Python's mmap does not name: without it Linux refuses more addresses than it has memory."""
_LARGE = 1 << 22
"""Allocations from here on ask for huge pages, as NumPy's do, and give their pages back when they are freed."""
_KEPT = 1 << 28
"""... but not those of the first so many bytes of the arena, where most launches lie: to have the host find and clear
64 MB anew took as long as to copy them, and on a busy host ten times as long."""


def _map(file: int | None, size: int) -> mmap.mmap:
    """Zeros that take no memory until they are touched: of *file*, else private; *size* bytes, or fewer.

    Raises LaunchError if the host refuses even a little.
    """
    while size >= _MIN_BYTES:
        try:
            if file is not None:
                os.ftruncate(file, size)
                return mmap.mmap(file, size, flags=mmap.MAP_SHARED | _NO_RESERVE)
            if sys.platform == "win32":
                return mmap.mmap(-1, size)
            return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANON | _NO_RESERVE)
        except (OSError, ValueError, OverflowError):
            size //= 2
    raise LaunchError(f"the host cannot reserve {_MIN_BYTES} bytes of address space", help="see `ulimit -v`")


class Arena:
    """Allocations with guard gaps between them; the lowest gap that is large enough is taken.

    The same allocations in the same order get the same addresses.  ``file``: one in memory (``memfd``) that is to hold
    the arena's bytes, so that another process can map them.  ``size``: bytes of addresses, if the host has so many.
    """

    def __init__(self, file: int | None = None, size: int = MAX_BYTES) -> None:
        self._mapping = _map(file, size)
        # The pages of a file stay until it has holes in their place.
        self._drop = getattr(mmap, "MADV_DONTNEED" if file is None else "MADV_REMOVE", None)
        words = np.frombuffer(self._mapping, np.uint8)
        self._words = Words.of(words)
        self._first = int(words.__array_interface__["data"][0])
        self._allocations: list[Allocation] = []

    @property
    def end(self) -> int:
        """Position behind the last allocation and its guard gap."""
        last = self._allocations[-1].end - int(ADDRESS_BASE) if self._allocations else 0
        return align(last + GUARD_GAP, ALIGNMENT)

    def memory(self, unwritten: Sequence[Unwritten] = ()) -> DeviceMemory:
        """Device memory as a launch finds it now; *unwritten*: parts that have not been written."""
        return DeviceMemory(self._words, tuple(self._allocations), self.end, unwritten)

    def memory_like(self, other: DeviceMemory) -> DeviceMemory:
        """Device memory with the allocations of *other*, for an arena that has none of its own.

        Raises LaunchError if the arena has too few addresses.
        """
        if other.end > self.size:
            raise LaunchError(
                f"the launch needs {other.end} bytes of device memory; this computer gives {self.size}",
                help="launch it with smaller arrays, or run the workers on computers with more memory",
            )
        return replace(other, words=self._words)

    @property
    def size(self) -> int:
        """Bytes of addresses."""
        return len(self._mapping)

    @property
    def allocated(self) -> int:
        """Bytes that are allocated, without the gaps."""
        return sum(allocation.end - allocation.start for allocation in self._allocations)

    def find(self, address: int) -> Allocation | None:
        """The allocation that holds the byte at a device address."""
        before = bisect_right(self._allocations, address, key=lambda allocation: allocation.start) - 1
        found = self._allocations[before] if before >= 0 else None
        return found if found is not None and address < found.end else None

    def address_of(self, host: int) -> int | None:
        """Device address of the byte that this process has at address *host*; None if it is not the arena's."""
        position = host - self._first
        return int(ADDRESS_BASE) + position if 0 <= position < self.size else None

    def allocate(
        self, size: int, name: str, writable: bool = True, alignment: int = ALIGNMENT, host: bool = False
    ) -> Allocation:
        """Reserve *size* bytes at a multiple of 256, as cudaMalloc does, or more; what they hold is not defined.

        *host*: they are memory of the host.  Raises LaunchError if there is no room.
        """
        at = align(GUARD_GAP, alignment)
        for allocation in self._allocations:
            if at + size + GUARD_GAP <= allocation.start - int(ADDRESS_BASE):
                break
            at = align(allocation.end - int(ADDRESS_BASE) + GUARD_GAP, alignment)
        if at + size + GUARD_GAP > len(self._words.M8):
            raise LaunchError(
                f"{name}: {size} bytes do not fit into device memory, which has {len(self._words.M8)}",
                help="use smaller arrays",
            )
        start = at + int(ADDRESS_BASE)
        made = Allocation(start, start + size, writable, name, host)
        insort(self._allocations, made)
        if size >= _LARGE:
            self._advise(getattr(mmap, "MADV_HUGEPAGE", None), made)
        return made

    def clear(self, allocation: Allocation) -> None:
        """Fill an allocation with zeros."""
        contents = self.memory().bytes_of(allocation)
        if len(contents) >= _LARGE and sys.platform == "linux":  # pages given back there are zeros when touched again
            self._advise(self._drop, allocation)
            contents[: mmap.PAGESIZE], contents[-mmap.PAGESIZE :] = 0, 0
        else:
            contents[:] = 0

    def free(self, allocation: Allocation) -> None:
        """Give an allocation back; its addresses may be used again."""
        self._allocations.remove(allocation)
        if allocation.end - allocation.start >= _LARGE:
            self._advise(self._drop, allocation, _KEPT)

    def trim(self) -> None:
        """Give the host's memory behind the last allocation back, which launches had for themselves: most of it."""
        if self._drop is not None:
            first = max(align(self.end, _LARGE), _KEPT)
            self._mapping.madvise(self._drop, first, len(self._mapping) - first)

    def _advise(self, advice: int | None, allocation: Allocation, least: int = 0) -> None:
        """Tell the host about the whole pages of an allocation, from position *least* on, if it knows the advice."""
        if advice is None:
            return
        first = max(align(allocation.start - int(ADDRESS_BASE), mmap.PAGESIZE), least)
        last = (allocation.end - int(ADDRESS_BASE)) // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            self._mapping.madvise(advice, first, last - first)
