"""The operations that the reduction family can carry out, and its host references.

An operation is a two-argument function that Numba's CUDA target and :mod:`simt.lang` both know by identity
(``operator.add``, ``operator.mul``, the builtins ``max`` and ``min``), so a kernel can take it through its
closure and use it like any other operator of the line it stands on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simt.check import LaunchError

DTYPES = ("int32", "int64", "float32", "float64")
"""Element types that every kernel of the reduction family handles."""


@dataclass(frozen=True)
class Operation:
    """One way to combine two elements: associative and commutative (for floats, up to rounding).

    ``combine`` is what the kernels call; ``ufunc`` is NumPy's counterpart on whole arrays.
    """

    name: str
    combine: Callable[[Any, Any], Any]
    ufunc: np.ufunc

    def identity(self, dtype: str) -> np.generic:
        """The element that changes nothing, as a NumPy scalar of *dtype*."""
        kind = np.dtype(dtype)
        value: float
        if self.name in ("sum", "product"):
            value = int(self.name == "product")
        elif kind.kind == "f":
            value = -np.inf if self.name == "max" else np.inf
        else:
            value = np.iinfo(kind).min if self.name == "max" else np.iinfo(kind).max
        scalar: np.generic = kind.type(value)
        return scalar

    def reduce(self, data: NDArray[Any]) -> np.generic:
        """NumPy's reduction of *data* in its own dtype: integers wrap around as they do on the GPU.

        An empty array gives the identity.
        """
        if data.size == 0:
            return self.identity(data.dtype.name)
        total: np.generic = self.ufunc.reduce(data, axis=None, dtype=data.dtype)
        return total


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("sum", operator.add, np.add),
        Operation("max", max, np.maximum),
        Operation("min", min, np.minimum),
        Operation("product", operator.mul, np.multiply),
    )
}
"""Every operation by the name that ``simt reduce --op`` takes."""


def operation(name: str) -> Operation:
    """The operation called *name*; :class:`LaunchError` names the choices otherwise."""
    if name not in OPERATIONS:
        raise LaunchError(f"there is no operation {name!r}", help="choose one of " + ", ".join(OPERATIONS))
    return OPERATIONS[name]


def recursive(data: NDArray[Any], op: str = "sum") -> np.generic:
    """The CPU reference: interleaved pairs, the size halving each round, on a copy of *data* (1-d).

    An odd size folds its last element into element 0 first, so that the rest pairs up.  The recursion is a
    loop over rounds; each round is one NumPy operation, in which integers wrap around.  An empty array gives
    the identity of *op*.
    """
    chosen = operation(op)
    part = np.array(data)
    if part.size == 0:
        return chosen.identity(part.dtype.name)
    while part.size > 1:
        if part.size % 2:
            part[:1] = chosen.ufunc(part[:1], part[-1:])
            part = part[:-1]
        if part.size > 1:
            half = part.size // 2
            part = chosen.ufunc(part[:half], part[half:])
    total: np.generic = part[0]
    return total


def agrees(total: np.generic, data: NDArray[Any], op: str = "sum") -> tuple[np.generic, bool]:
    """``(expected, correct)``: NumPy's reduction of *data*, and whether *total* is that.

    Integers, max and min are exact.  A float sum or product depends on its order, on both sides.  Every order
    of the family is a tree of short chains, so a sum may differ by ``4 * (log2(n) + 1)`` roundings of the sum
    of magnitudes; a product takes ``n`` roundings in any order and may differ by twice that, relative to
    itself.  Where either side is infinite or NaN, both must be.
    """
    expected = operation(op).reduce(data)
    if data.dtype.kind != "f" or op in ("max", "min"):
        return expected, bool(np.array_equal(total, expected, equal_nan=data.dtype.kind == "f"))
    if not (np.isfinite(expected) and np.isfinite(total)):
        return expected, bool(np.array_equal(total, expected, equal_nan=True))
    if op == "sum":
        roundings = 4 * (np.log2(max(data.size, 1)) + 1)
        scale = float(np.abs(data).sum(dtype=np.float64))
    else:
        roundings = 2 * data.size
        scale = abs(float(expected))
    unit = float(np.finfo(data.dtype).eps)
    return expected, bool(abs(float(total) - float(expected)) <= roundings * unit * scale)
