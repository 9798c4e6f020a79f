"""Which bytes of global memory the blocks of a launch read and write, and whether two blocks meet there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simt.calls.executors.marks import MANY, PAGE_SHIFT, touch
from simt.calls.executors.reductions import reductions, why_in_order
from simt.check import Finding, LaunchError
from simt.machine.device_memory import Allocation
from simt.machine.events import WATCH_GLOBAL
from simt.machine.images import DeviceImage
from simt.machine.layout import ADDRESS_BASE
from simt.machine.prepared import Prepared
from simt.program import Program
from simt.sanitizer.metadata import granule
from simt.sanitizer.sanitizer import Sanitizer

_BASE = int(ADDRESS_BASE)


class Runs(NamedTuple):
    """Bytes of the arena as runs that do not touch: int64 positions of the first and one past the last, ascending."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @classmethod
    def none(cls) -> Runs:
        """No bytes."""
        return cls(*np.zeros((2, 0), np.int64))


def runs_of(flags: npt.NDArray[np.bool_], shift: int) -> Runs:
    """The runs of the granules of 2**shift bytes that *flags* has, one after the other from position 0 on."""
    edges = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    first = [0] if len(flags) and flags[0] else []
    last = [len(flags)] if len(flags) and flags[-1] else []
    found = np.concatenate([np.array(first, np.int64), edges, np.array(last, np.int64)]) << shift
    return Runs(found[::2], found[1::2])


def _holding(address: int, allocations: Sequence[Allocation]) -> Allocation | None:
    """The allocation that holds the byte at an address."""
    return next((each for each in allocations if each.start <= address < each.end), None)


def refused(address: int, allocations: Sequence[Allocation], who: str, why: str = "") -> LaunchError:
    """The error of a launch whose blocks communicate; *who*: in words, which of them meet at *address*, *why*: how."""
    held = _holding(address, allocations)
    where = f"`{held.name}`, byte {address - held.start}" if held is not None else f"address {address:#x}"
    return LaunchError(
        "the blocks of this launch communicate, so they cannot be spread over an executor",
        details=[f"{where}: {who}", *([why] if why else [])],
        help="launch it without an executor",
    )


class Touched:
    """A watch that notes which block reads and writes what, and ends a launch in which two blocks meet.

    It is a :class:`simt.machine.launch.Watch`.  *checks*: what else is to be looked for, or None.
    """

    in_order = True

    def __init__(self, checks: Sanitizer | None) -> None:
        self._checks = checks
        self._met = np.zeros(4, np.int64)
        self._reduces = np.zeros(0, np.int32)
        self._program: Program | None = None
        self._allocations: Sequence[Allocation] = ()
        self.writer = np.zeros(0, np.int32)
        self.reader = np.zeros(0, np.int32)
        self._pages = np.zeros(0, np.uint8)
        self._shift = 0
        self.found: Sequence[Finding] = ()
        """What the checks found."""

    @property
    def told(self) -> int:
        """Accesses to global memory, and the events that the checks ask for."""
        return WATCH_GLOBAL | (self._checks.told if self._checks is not None else 0)

    @property
    def sees_writes(self) -> bool:
        """Whether the checks track memory that has not been written."""
        return self._checks is not None and self._checks.sees_writes

    @property
    def variables(self) -> npt.NDArray[np.int64]:
        """The micro-ops whose variables the checks ask for."""
        return self._checks.variables if self._checks is not None else np.zeros(0, np.int64)

    @property
    def needless(self) -> npt.NDArray[np.int64]:
        """None: every access counts."""
        return np.zeros(0, np.int64)

    def begin(self, prepared: Prepared, workers: int) -> None:
        """Nobody has touched anything, but all blocks may read what textures and surfaces show."""
        self._program, self._allocations = prepared.program, prepared.device.allocations
        self._shift = granule(prepared.program)
        self._reduces = reductions(prepared.program)
        size = -(-prepared.device.end >> self._shift)
        self.writer, self.reader = np.zeros(size, np.int32), np.zeros(size, np.int32)
        self._pages = np.zeros((size >> PAGE_SHIFT) + 1, np.uint8)
        images = [each for each in prepared.launch.arguments if isinstance(each, DeviceImage)]
        for image in images:
            held = _holding(image.address, self._allocations)
            assert held is not None  # the launch has placed its images
            first, end = (held.start - _BASE) >> self._shift, -(-(held.end - _BASE) >> self._shift)
            self.reader[first:end] = MANY
            self._pages[first >> PAGE_SHIFT : (end >> PAGE_SHIFT) + 1] = 1
        if self._checks is not None:
            self._checks.begin(prepared, workers)

    def judge(self, worker: int, events: npt.NDArray[np.int64]) -> tuple[int, Exception] | None:
        """Note what the events touch; the error that ends the launch, if any, and its block."""
        if touch(events, self._shift, self._reduces, self.writer, self.reader, self._pages, self._met):
            return int(self._met[1]), self._refused()
        return self._checks.judge(worker, events) if self._checks is not None else None

    def read(self, block: int, address: int, size: int) -> None:
        """A system call of a block reads bytes at a generic address.  Raises LaunchError if others wrote them."""
        first = (address - _BASE) >> self._shift
        last = min((address - _BASE + size - 1) >> self._shift, len(self.writer) - 1)
        if not 0 <= first <= last:
            return  # shared or local memory, or what the launch has for itself
        writers, readers = self.writer[first : last + 1], self.reader[first : last + 1]
        writers[:] = np.where(writers < 0, readers, writers)
        met = np.flatnonzero((writers != 0) & (writers != block + 1))
        if len(met):
            other = int(writers[met[0]])
            self._met[:] = first + int(met[0]), block, other - 1 if other != MANY else MANY, -1
            raise self._refused()
        self._pages[first >> PAGE_SHIFT : (last >> PAGE_SHIFT) + 1] = 1
        readers[:] = np.where((readers == 0) | (readers == block + 1), block + 1, MANY)

    def _refused(self) -> LaunchError:
        assert self._program is not None  # the launch has begun
        place, block, other, pc = (int(value) for value in self._met)
        who = "another block" if other == MANY else f"block {other}"
        address = _BASE + (place << self._shift)
        why = why_in_order(self._program, pc) if pc >= 0 else ""
        return refused(address, self._allocations, f"touched by block {block} and by {who}", why)

    def meet_grid(self) -> None:
        """Blocks that meet at the barrier of the grid run together, in one process."""
        raise AssertionError("a launch with a barrier of the grid is not spread")

    def finish(self) -> Sequence[Finding]:
        """What the checks found."""
        self.found = self._checks.finish() if self._checks is not None else ()
        return self.found

    @property
    def written(self) -> Runs:
        """What has been written, but for :attr:`reduced`."""
        return self._runs(lambda writer, reader: writer > 0)

    @property
    def read_bytes(self) -> Runs:
        """What has been read, and what textures show."""
        return self._runs(lambda writer, reader: (reader != 0) & (writer >= 0))

    @property
    def reduced(self) -> Mapping[int, Runs]:
        """What atomics that commute have changed, and nothing else has touched, by their kind."""
        kinds = np.unique(self._reduces[self._reduces > 0]).tolist()
        found = {kind: self._runs(lambda writer, reader, kind=kind: writer == -kind) for kind in kinds}
        return {kind: runs for kind, runs in found.items() if len(runs.starts)}

    def _runs(self, which: Callable[..., npt.NDArray[np.bool_]]) -> Runs:
        """The granules that *which* finds, given their writers and readers."""
        found = [Runs.none()]
        for first, end in zip(*runs_of(self._pages != 0, PAGE_SHIFT), strict=True):
            runs = runs_of(which(self.writer[first:end], self.reader[first:end]), self._shift)
            found.append(Runs(runs.starts + (first << self._shift), runs.ends + (first << self._shift)))
        return Runs(*map(np.concatenate, zip(*found, strict=True)))
