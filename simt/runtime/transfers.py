"""Host arrays to device memory and back."""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.machine import Allocation, DeviceArray, Unwritten
from simt.machine.differing import WORDS, differing, exchange, put
from simt.machine.layout import ADDRESS_BASE
from simt.runtime.arena import Arena
from simt.runtime.uninitialized import Uninitialized

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class HostArray:
    """An array argument: its name in messages, and whether the kernel may reach all of the buffer that it is part of.

    The source view keeps an array's axes; a pointer of machine code has none.
    """

    name: str
    array: Array
    whole_buffer: bool = False


def _first(array: Array) -> int:
    """Host address of the first element."""
    return int(array.__array_interface__["data"][0])


def span(array: Array) -> tuple[int, int]:
    """First and one-past-last host address of an array of any strides."""
    low = high = _first(array)
    if array.size:
        for size, stride in zip(array.shape, array.strides, strict=True):
            if stride < 0:
                low += (size - 1) * stride
            else:
                high += (size - 1) * stride
        high += array.itemsize
    return low, high


def buffer_of(array: Array) -> Array:
    """The NumPy array that owns the memory that *array* is a view of; *array* itself if there is none."""
    found: Array = array
    base: Any = array.base
    low, high = span(array)
    while base is not None:
        if isinstance(base, np.ndarray) and not base.dtype.hasobject:
            first, last = span(base)
            if first <= low and high <= last and (base.flags.writeable or not array.flags.writeable):
                found = base
        base = getattr(base, "base", None)
    return found


class Scratch(np.ndarray):
    """An array that a launch copies to device memory and not back; :func:`scratch` makes it."""


class _Writable:
    """The memory of an array in the form of one that may be written."""

    def __init__(self, base: Array) -> None:
        at, _ = base.__array_interface__["data"]
        self.__array_interface__ = {**base.__array_interface__, "data": (at, False)}
        self.base = base


def scratch(array: Array) -> Scratch:
    """A view of an array for a launch whose kernel may write to it; what it writes is dropped.

    The kernel writes to device memory only, so the array itself may be read-only.
    """
    return np.asarray(_Writable(array)).view(Scratch)


_PIECE = 1 << 26
"""Bytes of a mapped file that are in memory at a time while they are copied."""


_MANY = 1 << 11
"""Parts of an array that differ before all others are taken to."""

_Held = tuple[Array, npt.NDArray[np.int64] | None, Array]
"""Memory of the host, which parts of it (None: all), and what belongs there."""


def _mapping_of(array: Array) -> mmap.mmap | None:
    """The mapping of a file that an array lies in, if it is shared: its pages can be read again at any time."""
    base: Any = array
    while base is not None:
        owner: Any = getattr(base, "base", None)
        if isinstance(base, np.memmap) and isinstance(owner, mmap.mmap):
            return owner if base.mode != "c" else None
        base = owner
    return None


def _copy_in(device: Array, host: Array) -> None:
    """Copy an array to device memory.  Pages of a mapped file leave this process as soon as they are copied."""
    mapping = _mapping_of(host)
    if mapping is None or not host.flags.c_contiguous or not hasattr(mmap, "MADV_DONTNEED"):
        device[...] = host
        return
    begin = _first(host) - _first(np.frombuffer(mapping, np.uint8))
    to, source = device.reshape(-1).view(np.uint8), np.asarray(host).reshape(-1).view(np.uint8)
    for first in range(0, len(to), _PIECE):
        end = min(first + _PIECE, len(to))
        to[first:end] = source[first:end]
        low = (begin + first) // mmap.PAGESIZE * mmap.PAGESIZE
        mapping.madvise(mmap.MADV_DONTNEED, low, begin + end - low)


def _parts(array: Array) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """The words of an array without gaps, as many as whole parts have, and the bytes that are left over."""
    flat = np.asarray(array).reshape(-1).view(np.uint8)
    end = len(flat) // (8 * WORDS) * 8 * WORDS
    return flat[:end].view(np.uint64), flat[end:]


def _is_compared(array: Array) -> bool:
    """Whether an array is one piece of memory, of whole words of the host."""
    return _mapping_of(array) is None and array.flags.c_contiguous and _first(array) % 8 == 0


def _exchanged(device: Array, host: Array) -> list[_Held]:
    """Have a compared array in device memory as the host has it; what was there, where it was something else."""
    (ours, rest), (theirs, their_rest) = _parts(device), _parts(host)
    found: list[_Held] = []
    numbers = np.empty(len(ours) // WORDS, np.int64)
    numbers = numbers[: differing(ours, theirs, numbers, _MANY)]
    if len(numbers):
        held = np.empty(len(numbers) * WORDS, np.uint64)
        exchange(ours, theirs, numbers, held)
        found.append((theirs, numbers, held))
    if not np.array_equal(rest, their_rest):
        found.append((their_rest, None, rest.copy()))
        rest[:] = their_rest
    return found


def _put(held: _Held) -> None:
    """Have memory of the host hold what belongs there."""
    there, numbers, contents = held
    if numbers is None:
        np.copyto(there, contents)  # unlike an assignment no write for Uninitialized
    else:
        put(there, numbers, contents)


def _is_wanted(host: Array) -> bool:
    """Whether what a kernel writes to an argument is copied to it."""
    return host.flags.writeable and not isinstance(host, Scratch)


class Upload:
    """Host arrays in device memory, for one launch.  Arrays that overlap on the host overlap there, too.

    ``arguments`` are the device arrays, in the order given; ``unwritten``: bytes that nothing has written.  An array of
    the arena's own bytes is there already.
    """

    def __init__(self, arena: Arena, arrays: Sequence[HostArray]) -> None:
        self._arena = arena
        self._allocations: list[Allocation] = []
        self._copies: list[tuple[Array, Array, Allocation]] = []  # host, device, and what that is in
        self._aside: list[_Held] | None = None
        self.unwritten: list[Unwritten] = []
        self.arguments: list[DeviceArray] = [DeviceArray(0, (), ())] * len(arrays)
        self._places = [_first(each.array) for each in arrays]
        elsewhere = {}
        for k, each in enumerate(arrays):
            address = arena.address_of(self._places[k])
            if address is None:
                whole = each.whole_buffer and not isinstance(each.array, Scratch)
                elsewhere[k] = buffer_of(each.array) if whole else each.array
            else:
                self.arguments[k] = DeviceArray(address, each.array.shape, each.array.strides)
        try:
            for low, high, members in _merged(elsewhere):
                self._place(low, high, [(k, arrays[k], elsewhere[k]) for k in members])
            self.repeat()
        except BaseException:
            self.free()
            raise

    def _place(self, low: int, high: int, members: list[tuple[int, HostArray, Array]]) -> None:
        """Allocate for the host's bytes from *low* to *high*, which hold these arguments (number, array, source)."""
        writable = any(each.array.flags.writeable for _, each, _ in members)
        made = self._arena.allocate(high - low, ", ".join(each.name for _, each, _ in members), writable)
        self._allocations.append(made)
        memory = self._arena.memory()
        if not all(source.flags.forc for _, _, source in members):
            memory.bytes_of(made)[:] = 0  # bytes between elements
        for k, each, _ in members:
            self.arguments[k] = DeviceArray(made.start + self._places[k] - low, each.array.shape, each.array.strides)
        masks = {
            id(each.array.unwritten): each.array for _, each, _ in members if isinstance(each.array, Uninitialized)
        }
        for array in masks.values():
            if array.unwritten is not None:
                begin, end = max(low, array.first), min(high, array.first + len(array.unwritten))
                mask = array.unwritten[begin - array.first : max(end, begin) - array.first]
                self.unwritten.append(Unwritten(made.start + begin - low, mask))
        for source in {id(source): source for _, _, source in members}.values():
            at = made.start - int(ADDRESS_BASE) + _first(source) - low
            device: Array = np.ndarray(source.shape, source.dtype, memory.words.M8.data, at, source.strides)
            self._copies.append((source, device, made))

    def holds(self, allocation: Allocation) -> bool:
        """Whether an allocation is one of the upload's."""
        return allocation in self._allocations

    def repeat(self) -> None:
        """Copy the host's arrays once more."""
        for host, device, _ in self._copies:
            _copy_in(device, host)

    def exchange(self) -> None:
        """Have device memory as at the start of the launch, but keep what :meth:`download` is to copy to the host.

        What has not changed is left alone: to compare costs less than each of the copies that are spared.  Arrays of
        mapped files and with gaps are not compared.  They may share memory with others, so they are kept before
        anything is changed; so may arrays whose results nobody wants, which come last.
        """
        self._aside = []
        compared: list[tuple[Array, Array]] = []
        copied: list[tuple[Array, Array]] = []
        for host, device, place in sorted(self._copies, key=lambda each: not _is_wanted(each[0])):
            if place.writable:
                (compared if _is_compared(host) and _is_compared(device) else copied).append((host, device))
        self._aside += [(host, None, device.copy("K")) for host, device in copied if _is_wanted(host)]
        for host, device in compared:
            held = _exchanged(device, host)
            self._aside += held if _is_wanted(host) else []
        for host, device in copied:
            _copy_in(device, host)

    def download(self) -> None:
        """Copy device memory to the host's arrays, or what was kept of it."""
        if self._aside is not None:
            for held in reversed(self._aside):  # what arrays share is as the kernel left it where it was kept first
                _put(held)
            return
        for host, device, place in self._copies:
            if _is_wanted(host) and place.writable:
                np.copyto(host, device)

    def free(self) -> None:
        """Give the device memory back."""
        self._copies.clear()
        self._aside = None
        while self._allocations:
            self._arena.free(self._allocations.pop())


def _merged(sources: Mapping[int, Array]) -> list[tuple[int, int, list[int]]]:
    """Host memory by pieces that do not overlap: low, high, and the numbers of the arrays in it."""
    merged: list[tuple[int, int, list[int]]] = []
    for k, source in sources.items():
        low, high = span(source)
        members = [k]
        for other in [group for group in merged if group[0] < high and low < group[1]]:
            merged.remove(other)
            low, high, members = min(low, other[0]), max(high, other[1]), other[2] + members
        merged.append((low, high, members))
    return merged
