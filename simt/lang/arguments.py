"""Types of launch arguments, as Numba types them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any, Literal

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.types import containers
from numba.np.numpy_support import from_dtype, map_layout

from simt.check.errors import LaunchError, UnsupportedError
from simt.dispatcher import Signature, python_function, signatures_of
from simt.lang import numba_types as nt


def typed_arguments(
    kernel: Any, args: Sequence[Any], *, machine_code: bool = False
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The launch arguments and their Numba types, both as *kernel* declares them, if it declares signatures.

    Scalars are converted as Numba's launcher does: integers are cut, a float is not taken for an integer.  Raises as
    :func:`argument_types`, and LaunchError if no declared signature takes the arguments.
    """
    given = argument_types(args, machine_code=machine_code)
    signatures = signatures_of(kernel)
    if not signatures:
        return tuple(args), given
    found = choose(signatures, given)
    if found is None:
        raise LaunchError(
            f"{python_function(kernel).__name__} does not take ({', '.join(map(str, given))})",
            help=f"it is declared for {signatures_text(signatures)}",
        )
    return tuple(_as_declared(value, ty) for value, ty in zip(args, found.args, strict=True)), found.args


def choose(signatures: Sequence[Signature], given: Sequence[Any], *, launched: bool = True) -> Signature | None:
    """The declared signature that Numba's rules choose for arguments of types *given*; None if none fits.

    *launched*: by rules of its launcher; else by those of a call in a kernel, which cuts floats to integers.
    """
    fitting = {
        tuple(each.args): each
        for each in signatures
        if len(each.args) == len(given)
        and all(not launched or _fits(ty, declared) for ty, declared in zip(given, each.args, strict=True))
    }
    found = nt.overload("a kernel", tuple(types.void(*args) for args in fitting), tuple(given)) if fitting else None
    return None if found is None else fitting[tuple(found.args)]


def _fits(given: Any, declared: Any) -> bool:
    """False for a float where an integer is declared, at any depth: Numba's launcher does not cut floats."""
    if isinstance(given, containers.BaseTuple) and isinstance(declared, containers.BaseTuple):
        return len(given) == len(declared) and all(map(_fits, given, declared))
    return not (isinstance(given, types.Float) and isinstance(declared, types.Integer | types.Boolean))


def signatures_text(signatures: Sequence[Signature]) -> str:
    """Declared signatures in words: ``(float32, int32) or (float64, int64)``."""
    return " or ".join(f"({', '.join(map(str, each.args))})" for each in signatures)


def _as_declared(value: Any, ty: Any) -> Any:
    """An argument as the declared type *ty* has it."""
    if isinstance(value, tuple):
        items = [_as_declared(item, each) for item, each in zip(value, ty, strict=True)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if value is None or isinstance(value, np.ndarray | np.void | Enum):
        return value
    if isinstance(ty, types.Complex):
        return nt.as_dtype(ty).type(value)
    plain = value.item() if isinstance(value, np.generic) else value
    return np.dtype(nt.dtype_name(ty)).type(nt.cast_constant(plain, ty, nt.constant_type(value)))


def argument_types(args: Sequence[Any], *, machine_code: bool = False) -> tuple[Any, ...]:
    """The Numba type of each launch argument.

    Python ints are int64, floats float64, bools boolean; NumPy scalars and arrays have their own types,
    read-only arrays a type that says so; tuples have those of their items.  For *machine_code* arrays may have any
    elements that Numba knows, for the source view those of :data:`~simt.lang.numba_types.MEMORY_TYPE`.

    Raises LaunchError for what no kernel takes, UnsupportedError for elements that the source view does not have.
    """
    return tuple(_argument_type(position, value, machine_code) for position, value in enumerate(args))


def flat_arguments(args: Sequence[Any]) -> list[Any]:
    """The arguments as ``Uniform`` and ``ArrayRef`` number them.

    Items of tuples and parts of complex numbers stand in the place of these, None in none.
    """
    flat: list[Any] = []
    for value in args:
        if isinstance(value, tuple):
            flat += flat_arguments(value)
        elif isinstance(value, Enum):
            flat += flat_arguments([value.value])
        elif isinstance(value, complex | np.complexfloating):
            part = np.float32 if isinstance(value, np.complex64) else np.float64
            flat += [part(value.real), part(value.imag)]
        elif value is not None:
            flat.append(value)
    return flat


def _argument_type(position: int, value: Any, machine_code: bool) -> Any:
    if isinstance(value, tuple):
        items = [_argument_type(position, item, machine_code) for item in value]
        return containers.BaseTuple.from_types(items, type(value) if hasattr(value, "_fields") else None)
    if isinstance(value, np.ndarray):
        return _array_type(position, value, machine_code)
    if isinstance(value, np.void):
        return _record_type(position, value, machine_code)
    ty = typeof(value) if isinstance(value, Enum) else nt.constant_type(value)
    if ty is None:
        raise LaunchError(
            f"argument {position + 1} has type {type(value).__name__}",
            details=(f"value: {value!r:.60}",),
            help="pass NumPy arrays, int (64 bits), float or bool scalars, or tuples of them",
        )
    return ty


def _array_type(position: int, array: np.ndarray, machine_code: bool) -> Any:
    def what() -> str:
        return f"argument {position + 1} is an array of {array.dtype}"

    if array.dtype.hasobject:
        raise LaunchError(what(), help="object arrays hold Python objects; use a numeric dtype")
    if not array.dtype.isnative:
        raise LaunchError(what(), help="convert to native byte order: a.astype(a.dtype.newbyteorder('='))")
    plain = type(array) is np.ndarray
    try:
        if plain and array.dtype.isbuiltin:
            ty = _plain_array(array.dtype, array.ndim, map_layout(array), array.flags.writeable)
        else:
            ty = typeof(array)
    except (ValueError, NumbaError) as error:
        help = nt.ELEMENTS if plain else "pass a plain array: np.asarray(a)"
        raise LaunchError(what(), details=(str(error),), help=help) from None
    if not machine_code and not nt.is_element(ty.dtype):
        raise UnsupportedError(what(), help=f"{nt.ELEMENTS}; the machine view (view='sm_90') takes more")
    return ty


@cache
def _plain_array(dtype: np.dtype[Any], ndim: int, layout: Literal["C", "F", "A"], writeable: bool) -> Any:
    """Numba's type of a plain array, made once: making it took a twentieth of a small launch."""
    return types.Array(from_dtype(dtype), ndim, layout, readonly=not writeable)


def _record_type(position: int, record: np.void, machine_code: bool) -> Any:
    ty = nt.element_of(np.empty(1, record.dtype))
    if ty is None or not (machine_code or nt.is_element(ty)):
        raise UnsupportedError(f"argument {position + 1} is a record of {record.dtype}", help=nt.ELEMENTS)
    return ty
