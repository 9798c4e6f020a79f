"""Arrays that count as unwritten for the check of uninitialised memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError


class Uninitialized(np.ndarray):
    """What :func:`uninitialized` gives: an array that knows which of its bytes are unwritten.

    A launch with ``check="initcheck"`` writes some, an assignment to elements (``array[...] = x``) writes them, and any
    other launch that takes the array counts as writing all of it.  Views know the same.
    """

    unwritten: npt.NDArray[np.uint8] | None = None
    """1 for each unwritten byte, of the array that this one is a view of."""
    first: int = 0
    """Host address of that array."""

    def __array_finalize__(self, base: Any) -> None:
        if isinstance(base, Uninitialized):
            self.unwritten, self.first = base.unwritten, base.first

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        mask = self._mask()
        if mask is not None:
            mask[key] = 0

    def _mask(self) -> npt.NDArray[np.uint8] | None:
        """The bytes of each element in ``unwritten``; None for an array that has memory of its own meanwhile."""
        offset = int(self.__array_interface__["data"][0]) - self.first
        if self.unwritten is None or not 0 <= offset < max(len(self.unwritten), 1):
            return None
        shape, strides = (*self.shape, self.itemsize), (*self.strides, 1)
        found: npt.NDArray[np.uint8] = np.ndarray(shape, np.uint8, self.unwritten.data, offset, strides)
        return found


def uninitialized(shape: int | tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> Uninitialized:
    """An array of zeros whose elements count as not written: for outputs, under ``check="initcheck"``.

    ``np.empty`` says the same to a reader, but an array does not remember how it was made.  ``fill`` of a launch gives
    such arrays, and shared and local memory, other contents than zeros.  Raises LaunchError for Python objects.
    """
    made = np.zeros(shape, dtype)
    if made.dtype.hasobject:
        raise LaunchError(f"an array of {made.dtype} holds Python objects", help="use a numeric dtype")
    found = made.view(Uninitialized)
    found.unwritten = np.ones(made.nbytes, np.uint8)
    found.first = int(made.__array_interface__["data"][0])
    return found
