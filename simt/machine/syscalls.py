"""A system call at which the engine has stopped, as the services see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simt.check import DeadlockError, LaunchError, Location, OutOfBoundsError
from simt.machine import layout as L
from simt.machine.device_memory import DeviceMemory
from simt.machine.events import FILLED, FRESH, tell_served
from simt.machine.places import caller, coordinates, locate, row_of, where
from simt.machine.prepared import Prepared
from simt.machine.services import Finding
from simt.ops.encoding import GRID_BARRIER, LOCAL_WINDOW, SHARED_WINDOW

_WINDOW = 1 << 32
_BASE = int(L.ADDRESS_BASE)


@dataclass(frozen=True)
class Stopped:
    """The call that the engine stopped at in *state*; a :class:`simt.machine.services.SystemCall`."""

    prepared: Prepared
    state: L.State

    def _error(self, column: int) -> int:
        return int(self.state.ERROR[column])

    @property
    def _pc(self) -> int:
        return self._error(L.E_PC)

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.prepared.program.syscalls[self.prepared.program.instructions[self._pc].imm]

    @property
    def block(self) -> int:
        """Linear index of the block."""
        return self._error(L.E_BLOCK)

    @property
    def warp(self) -> int:
        """Warp within the block."""
        return self._error(L.E_WARP)

    @cached_property
    def lanes(self) -> list[int]:
        """The lanes that call, in ascending order."""
        mask = self._error(L.E_MASK)
        return [lane for lane in range(32) if mask >> lane & 1]

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """The rows of the arguments, int64 [rows, 32], to read and to write."""
        first = row_of(self.prepared, self.state, L.C_A)
        count = self.prepared.program.instructions[self._pc].mod
        rows: npt.NDArray[np.int64] = self.state.R[first : first + 32 * count].reshape(count, 32)
        return rows

    @property
    def strings(self) -> Sequence[str]:
        """The texts of the Program."""
        return self.prepared.program.strings

    @property
    def location(self) -> Location:
        """Where the call stands in the user's code: before the return address, or at the micro-op itself."""
        return locate(self.prepared, caller(self.prepared, self.state))

    @property
    def room(self) -> int:
        """Device address of the memory that the services asked for."""
        return self.prepared.memory.room

    @property
    def memory(self) -> DeviceMemory:
        """Device memory with room behind what the launch has for itself."""
        return replace(self.prepared.device, end=self.prepared.memory.end)

    def block_index(self) -> tuple[int, int, int]:
        """BlockIdx."""
        return coordinates(self.block, self.prepared.launch.grid)

    def thread_index(self, lane: int) -> tuple[int, int, int]:
        """ThreadIdx of a lane."""
        return coordinates(self.warp * 32 + lane, self.prepared.launch.block)

    def _bytes(self, lane: int, address: int, writes: bool = False) -> npt.NDArray[np.uint8]:
        """The bytes from an address to the end of the memory that it is in; none if it is in none."""
        info, arena = self.state.LAUNCH, self.prepared.memory.words.M8
        for window, at, size in (
            (SHARED_WINDOW, int(info[L.LAUNCH_SHARED]), int(info[L.LAUNCH_SHARED_BYTES])),
            (
                LOCAL_WINDOW,
                int(info[L.LAUNCH_LOCAL]) + (self.warp * 32 + lane) * int(info[L.LAUNCH_LOCAL_STRIDE]),
                int(info[L.LAUNCH_LOCAL_BYTES]),
            ),
        ):
            if window <= address < window + _WINDOW:
                return arena[at + min(address - window, size) : at + size]
        memory = self.prepared.memory
        k = int(np.searchsorted(memory.starts, address, "right")) - 1
        if k < 0 or address >= memory.ends[k] or (writes and not memory.writable[k]):
            return arena[:0]
        return arena[address - _BASE : int(memory.ends[k]) - _BASE]

    def read(self, lane: int, address: int, size: int) -> bytes | None:
        """*size* bytes at a generic address of a lane; None if not all of them are there."""
        found = self._bytes(lane, address)
        return found[:size].tobytes() if size <= len(found) else None

    def check(self, lane: int, address: int, size: int, writes: bool) -> None:
        """Raise OutOfBoundsError if not all of *size* bytes at a generic address are memory, writable if *writes*."""
        if size > len(self._bytes(lane, address, writes)):
            what = f"writes {size} bytes to" if writes else f"reads {size} bytes at"
            what = f"{self.function} {what} address {address:#x}, which is not allocated"
            raise self.error(OutOfBoundsError, what, [lane])

    def store(self, lane: int, address: int, data: bytes) -> None:
        """Put bytes at a generic address of a lane.  Raises OutOfBoundsError if not all are writable memory."""
        self.check(lane, address, len(data), writes=True)
        found = self._bytes(lane, address)[: len(data)]
        found[:] = np.frombuffer(data, np.uint8)
        self._tell(FILLED, found)

    def gave(self, lane: int, address: int, size: int) -> None:
        """Memory at a generic address is now the lane's: nobody has touched it."""
        self._tell(FRESH, self._bytes(lane, address)[:size])

    def _tell(self, what: int, part: npt.NDArray[np.uint8]) -> None:
        """Tell the watch, if there is one, of a part of the arena."""
        if self.prepared.launch.watch is not None:
            offset = part.ctypes.data - self.prepared.memory.words.M8.ctypes.data
            tell_served(self.state.EVENTS, what, self.block, offset, len(part))

    def text(self, lane: int, address: int) -> bytes | None:
        """The zero-terminated string at a generic address of a lane; None if memory ends before it does."""
        found = self._bytes(lane, address)
        for first in range(0, len(found), _PIECE):
            zeros = np.flatnonzero(found[first : first + _PIECE] == 0)
            if len(zeros):
                return found[: first + int(zeros[0])].tobytes()
        return None

    def error(
        self, kind: type[Finding], title: str, lanes: Sequence[int], details: Sequence[str] = (), help: str = ""
    ) -> Finding:
        """A finding about these lanes."""
        mask = sum(1 << lane for lane in lanes)
        return kind(
            title,
            location=self.location,
            details=[where(self.prepared, self.block, self.warp, mask), *details],
            help=help,
        )


_PIECE = 4096
"""Bytes that are searched at a time for the end of a string."""


def serve(prepared: Prepared, state: L.State) -> bool:
    """Serve the call at which the engine stopped.  Returns whether the split can go on: not at the grid barrier.

    Raises what the services raise.
    """
    call = Stopped(prepared, state)
    waits = call.function == GRID_BARRIER
    if not waits:
        services = prepared.launch.services
        if services is None:
            raise LaunchError(f"the kernel calls {call.function}, which this launch does not serve")
        services.serve(call)
    state.WARPS[call.warp * L.N_WARP + L.W_SERVED] = 1
    return not waits


def uneven(prepared: Prepared, waiting: L.State, ended: int) -> DeadlockError:
    """The finding for blocks that wait at the barrier of the grid, one of them in *waiting*, when another has ended."""
    call = Stopped(prepared, waiting)
    name = coordinates(ended, prepared.launch.grid)
    return DeadlockError(
        f"deadlock of the grid: block {name} ended without reaching the barrier of the grid",
        location=call.location,
        details=[f"block {call.block_index()} waits there"],
        help="the first thread of every block must reach every grid.sync()",
    )
