"""Types of launch arguments, as Numba types them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.types import containers

from simt.check.errors import LaunchError
from simt.lang import numba_types as nt


def argument_types(args: Sequence[Any]) -> tuple[Any, ...]:
    """The Numba type of each launch argument.

    Python ints are int64, floats float64, bools boolean; NumPy scalars and arrays have their own types,
    read-only arrays a type that says so; tuples have those of their items.  Raises LaunchError for anything else.
    """
    return tuple(_argument_type(position, value) for position, value in enumerate(args))


def flat_arguments(args: Sequence[Any]) -> list[Any]:
    """The arguments with the items of tuples in the tuples' places: what ``Uniform`` and ``ArrayRef`` number."""
    flat: list[Any] = []
    for value in args:
        flat += flat_arguments(value) if isinstance(value, tuple) else [value]
    return flat


def _argument_type(position: int, value: Any) -> Any:
    if isinstance(value, tuple):
        return containers.Tuple([_argument_type(position, item) for item in value])
    if isinstance(value, np.ndarray):
        return _array_type(position, value)
    ty = nt.constant_type(value)
    if ty is None:
        raise LaunchError(
            f"argument {position + 1} has type {type(value).__name__}",
            details=(f"value: {value!r:.60}",),
            help="pass NumPy arrays, int, float or bool scalars, or tuples of them",
        )
    return ty


def _array_type(position: int, array: np.ndarray) -> Any:
    what = f"argument {position + 1} is an array of {array.dtype}"
    if array.dtype.hasobject:
        raise LaunchError(what, help="object arrays hold Python objects; use a numeric dtype")
    if array.dtype.fields is not None:
        raise LaunchError(what, help="pass one array per field: a['x'].copy()")
    if not array.dtype.isnative:
        raise LaunchError(what, help="convert to native byte order: a.astype(a.dtype.newbyteorder('='))")
    try:
        ty = typeof(array)
    except (ValueError, NumbaError) as error:
        raise LaunchError(what, details=(str(error),), help=_DTYPES) from None
    if not isinstance(ty, types.Array) or ty.dtype not in nt.MEMORY_TYPE:
        raise LaunchError(what, help=_DTYPES)
    return ty


_DTYPES = "use bool, int8 to int64, uint8 to uint64, float32 or float64"
