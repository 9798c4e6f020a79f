"""The heap of ``malloc`` and ``free`` in kernels: which bytes of one piece of device memory are taken."""

from __future__ import annotations

from bisect import bisect_right

from simt.machine.device_memory import align

ALIGNMENT = 16
"""Bytes to which ``malloc`` aligns (CUDA C++ Programming Guide, "Heap Memory Allocation")."""
HEADER, LEAST = 16, 64
"""Bytes before each block, and of the smallest one: an H200 gives small blocks 80 bytes apart."""


class InvalidFreeError(Exception):
    """The address is not one of a live block of ``malloc``; the message says what it is."""


class Heap:
    """Blocks of *size* bytes from device address *start* on; the same calls get the same addresses."""

    def __init__(self, start: int, size: int) -> None:
        self.start, self.end = start, start + size
        self._top = start
        self._taken: dict[int, int] = {}  # address: bytes, with the header
        self._free: dict[int, list[int]] = {}  # bytes: addresses

    @property
    def taken(self) -> int:
        """Bytes in blocks that have not been freed."""
        return sum(self._taken.values())

    def size_of(self, address: int) -> int:
        """Bytes of the live block at an address, 0: there is none."""
        return max(self._taken.get(address, 0) - HEADER, 0)

    def copy(self) -> Heap:
        """A heap in the same state."""
        made = Heap(self.start, self.end - self.start)
        made.restore(self)
        return made

    def restore(self, other: Heap) -> None:
        """Take over the state of a copy."""
        self._top, self._taken = other._top, dict(other._taken)
        self._free = {size: list(addresses) for size, addresses in other._free.items()}

    def allocate(self, size: int) -> int:
        """The address of *size* bytes; 0 if there is no room.  No bytes have an address, too, as on an H200."""
        room = HEADER + align(max(size, LEAST), ALIGNMENT)
        if room > self.end - self.start:
            return 0
        address = self._fit(room)
        if not address:
            self._gather()
            address = self._fit(room)
        if not address:
            return 0
        self._taken[address + HEADER] = room
        return address + HEADER

    def _fit(self, room: int) -> int:
        """A free block of exactly so many bytes, else new ones at the top, else a part of a larger block."""
        if self._free.get(room):
            return self._free[room].pop()
        if self._top + room <= self.end:
            self._top += room
            return self._top - room
        larger = min((size for size, addresses in self._free.items() if addresses and size > room), default=0)
        if not larger:
            return 0
        address = self._free[larger].pop()
        self._free.setdefault(larger - room, []).append(address + room)
        return address

    def _gather(self) -> None:
        """Join free blocks that touch."""
        self._free.clear()
        at = self.start
        for address in sorted(self._taken):
            begin = address - HEADER
            if begin > at:
                self._free.setdefault(begin - at, []).append(at)
            at = begin + self._taken[address]
        self._top = at

    def free(self, address: int) -> None:
        """Give a block back; nothing for the null pointer.  Raises InvalidFreeError."""
        if address == 0:
            return
        room = self._taken.pop(address, None)
        if room is None:
            raise InvalidFreeError(self._what(address))
        self._free.setdefault(room, []).append(address - HEADER)

    def _what(self, address: int) -> str:
        if not self.start <= address < self.end:
            return "malloc gives no such address: it is not in the device heap"
        blocks = sorted(self._taken)
        before = bisect_right(blocks, address) - 1
        if before >= 0 and address < blocks[before] + self._taken[blocks[before]] - HEADER:
            return f"it is {address - blocks[before]} bytes inside of the block at {blocks[before]:#x}"
        if address < self._top:
            return "no block begins there; if one did, it was freed before"
        return "no block was ever given out there"
