"""The protocol between the machine and the services that execute system calls; the machine knows no function itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from simt.check import KernelError, Location
from simt.machine.device_memory import DeviceMemory

Finding = TypeVar("Finding", bound=KernelError)


class SystemCall(Protocol):
    """Lanes of one split of a warp that call a function together, while the engine waits.

    ``function``: its name; ``block``: linear index; ``warp`` within the block; ``lanes`` in ascending order.
    """

    @property
    def function(self) -> str: ...
    @property
    def block(self) -> int: ...
    @property
    def warp(self) -> int: ...
    @property
    def lanes(self) -> Sequence[int]: ...
    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The rows of the arguments, int64 [rows, 32 lanes], to read and to write: what is returned goes there."""

    @property
    def strings(self) -> Sequence[str]:
        """The texts of the Program, which arguments name by their number."""

    @property
    def location(self) -> Location:
        """Where the call stands in the user's code."""

    @property
    def room(self) -> int:
        """Device address of the memory that the services asked for."""

    @property
    def memory(self) -> DeviceMemory:
        """Device memory, whose ``end`` is behind all that the launch has for itself."""

    def block_index(self) -> tuple[int, int, int]:
        """blockIdx."""

    def thread_index(self, lane: int) -> tuple[int, int, int]:
        """threadIdx of a lane."""

    def read(self, lane: int, address: int, size: int) -> bytes | None:
        """*size* bytes at a generic address of a lane; None if not all of them are memory of the launch."""

    def check(self, lane: int, address: int, size: int, writes: bool) -> None:
        """Raise OutOfBoundsError if not all of *size* bytes at a generic address are memory, writable if *writes*."""

    def store(self, lane: int, address: int, data: bytes) -> None:
        """Put bytes at a generic address of a lane.  Raises OutOfBoundsError if not all are writable memory."""

    def gave(self, lane: int, address: int, size: int) -> None:
        """Memory at a generic address is now the lane's: nobody has touched it."""

    def text(self, lane: int, address: int) -> bytes | None:
        """The zero-terminated string at a generic address of a lane; None if memory ends before it does."""

    def error(
        self, kind: type[Finding], title: str, lanes: Sequence[int], details: Sequence[str] = (), help: str = ""
    ) -> Finding:
        """An error about these lanes, with the place of the call and the threads that made it."""


class Services(Protocol):
    """Serves the system calls of one launch."""

    @property
    def called(self) -> Mapping[str, Mapping[int, int]]:
        """How often each block has called a function, by the function; of a rehearsal, in the run that it repeats."""

    def block_bytes(self, address: int) -> int:
        """How large the block is that ``malloc`` gave at an address, 0: it gave none."""

    def serve(self, call: SystemCall) -> None:
        """Do what a function does, for each lane of the call.  Raises the errors of :mod:`simt.check`."""

    def room(self, functions: Sequence[str]) -> int:
        """Bytes of device memory that these functions need during the launch."""

    def finish(self, memory: DeviceMemory) -> None:
        """A launch of the host has ended: do what it left undone."""

    def cut(self, block: int) -> None:
        """The launch failed in *block*: discard what later blocks did."""

    def rehearsal(self) -> Services:
        """Services as they are now, for a second run of the launch (the timing model's) that leaves no trace."""
