"""Arrays in the memory of a :class:`simt.Device`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from simt.check import LaunchError
from simt.machine import Allocation

if TYPE_CHECKING:
    from simt.runtime import Context


class DeviceArray:
    """An array in device memory, until :meth:`free` or until the device closes.

    ``np.asarray(it)`` and :meth:`numpy` download a copy.
    """

    def __init__(self, memory: Context, allocation: Allocation, like: npt.NDArray[Any]) -> None:
        self._memory = memory
        self._allocation: Allocation | None = allocation
        self.shape, self.dtype = like.shape, like.dtype
        self.address = allocation.start
        self._view: npt.NDArray[Any] = memory.bytes_of(allocation).view(like.dtype).reshape(like.shape)

    def in_memory(self, memory: Context | None) -> npt.NDArray[Any]:
        """The array itself, not a copy, if *memory* is where it is.  Raises LaunchError if not, and if it is freed."""
        if self._allocation is None:
            raise LaunchError(f"the array of {self.dtype} at {self.address:#x} was freed")
        if memory is not self._memory:
            raise LaunchError(
                f"the array at {self.address:#x} is in the memory of a device that this launch is not for",
                help="launch with the launch() of the simt.Device that made it, or pass array.numpy()",
            )
        return self._view

    def numpy(self) -> npt.NDArray[Any]:
        """What the array holds now."""
        held: npt.NDArray[Any] = self.in_memory(self._memory).copy()
        return held

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        held = self.numpy()
        return held if dtype is None else held.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self._view)

    def write(self, values: npt.ArrayLike) -> None:
        """Upload *values*, which have the array's shape or can be repeated to have it."""
        self.in_memory(self._memory)[...] = values
        if self._allocation is not None:
            self._memory.written(self._allocation)

    def free(self) -> None:
        """Give the memory back.  Raises LaunchError the second time."""
        self.in_memory(self._memory)
        if self._allocation is not None:
            self._memory.free(self._allocation)
        self._allocation = None

    def __repr__(self) -> str:
        state = "" if self._allocation else ", freed"
        return f"<array of {self.dtype}, shape {self.shape}, at {self.address:#x}{state}>"


def in_memory(value: object, memory: Context | None) -> object:
    """An argument with the arrays themselves for :class:`DeviceArray`, also in tuples and dictionaries.

    Raises LaunchError for an array that is not in *memory*.
    """
    if isinstance(value, DeviceArray):
        return value.in_memory(memory)
    if isinstance(value, tuple):
        make: Callable[[Iterable[object]], object] = getattr(value, "_make", tuple)
        return make(in_memory(each, memory) for each in value)
    if isinstance(value, dict):
        return {name: in_memory(each, memory) for name, each in value.items()}
    return value
