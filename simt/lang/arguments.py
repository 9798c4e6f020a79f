"""Types of launch arguments, as Numba types them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import typeof
from numba.core.errors import NumbaError
from numba.core.types import containers

from simt.check.errors import LaunchError, UnsupportedError
from simt.lang import numba_types as nt


def argument_types(args: Sequence[Any], *, machine_code: bool = False) -> tuple[Any, ...]:
    """The Numba type of each launch argument.

    Python ints are int64, floats float64, bools boolean; NumPy scalars and arrays have their own types,
    read-only arrays a type that says so; tuples have those of their items.  For *machine_code* arrays may have any
    elements that Numba knows, for the source view those of :data:`~simt.lang.numba_types.MEMORY_TYPE`.

    Raises LaunchError for what no kernel takes, UnsupportedError for elements that the source view does not have.
    """
    return tuple(_argument_type(position, value, machine_code) for position, value in enumerate(args))


def flat_arguments(args: Sequence[Any]) -> list[Any]:
    """The arguments with the items of tuples in the tuples' places: what ``Uniform`` and ``ArrayRef`` number."""
    flat: list[Any] = []
    for value in args:
        flat += flat_arguments(value) if isinstance(value, tuple) else [value]
    return flat


def _argument_type(position: int, value: Any, machine_code: bool) -> Any:
    if isinstance(value, tuple):
        return containers.Tuple([_argument_type(position, item, machine_code) for item in value])
    if isinstance(value, np.ndarray):
        return _array_type(f"argument {position + 1} is an array of {value.dtype}", value, machine_code)
    ty = nt.constant_type(value)
    if ty is None:
        raise LaunchError(
            f"argument {position + 1} has type {type(value).__name__}",
            details=(f"value: {value!r:.60}",),
            help="pass NumPy arrays, int (64 bits), float or bool scalars, or tuples of them",
        )
    return ty


def _array_type(what: str, array: np.ndarray, machine_code: bool) -> Any:
    if array.dtype.hasobject:
        raise LaunchError(what, help="object arrays hold Python objects; use a numeric dtype")
    if not array.dtype.isnative:
        raise LaunchError(what, help="convert to native byte order: a.astype(a.dtype.newbyteorder('='))")
    try:
        ty = typeof(array)
    except (ValueError, NumbaError) as error:
        plain = type(array) is np.ndarray
        help = _DTYPES if plain else "pass a plain array: np.asarray(a)"
        raise LaunchError(what, details=(str(error),), help=help) from None
    if ty.dtype not in nt.MEMORY_TYPE and not machine_code:
        fields = "pass one array per field, a['x'].copy(), or " if array.dtype.fields is not None else ""
        raise UnsupportedError(what, help=f"{fields}{_DTYPES}; the machine view (view='sm_90') takes more")
    return ty


_DTYPES = "use bool, int8 to int64, uint8 to uint64, float32 or float64"
