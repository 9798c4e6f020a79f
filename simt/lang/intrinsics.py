"""Functions that a kernel may call, each declared once: Numba's CUDA dialect, builtins, math, NumPy scalars.

A row of :data:`INTRINSICS` names the function, the signatures that Numba's CUDA target declares for it (empty
where the types are free), and what it becomes.  Every call counts one instruction unless the row's function
says otherwise.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
from numba.core import types

from simt.lang import (
    atomic_functions,
    attributes,
    bit_functions,
    block_functions,
    float_bits,
    half_functions,
    libdevice_functions,
    library,
    math_functions,
    printing,
    tuple_functions,
    warp_functions,
)
from simt.lang.builder import Builder
from simt.lang.convert import number
from simt.lang.diagnostics import wrong
from simt.lang.dialect import DIMENSIONS
from simt.lang.intrinsic import Emit, Intrinsic, call, i4, special_register
from simt.lang.numeric import absolute, minmax, rounded
from simt.lang.operators import BINARY, COMPARISONS, compare, operate
from simt.lang.values import Array, Constant, Object, Value, describe

__all__ = ["INTRINSICS", "Intrinsic", "attribute_register", "call", "find"]


def _operator(text: str) -> Emit:
    """A function of the operator module: ``operator.add(a, b)`` is ``a + b``."""
    apply = operate if text in BINARY else compare

    def emit(b: Builder, name: str, args: list[Value], _: Any) -> Value:
        return apply(b, text, number(b, args[0]), number(b, args[1]))

    return emit


_REDUCTIONS = (*library.REDUCTIONS, *library.WITHOUT_NANS)


def _reduction(name: str) -> Emit:
    def emit(b: Builder, _: str, args: list[Value], signature: Any) -> Value:
        if not isinstance(args[0], Array):
            wrong(b.place, f"numpy.{name} of {describe(args[0])}")
        if name in library.WITHOUT_NANS:
            result: Value = b.inline(library.WITHOUT_NANS[name], args)
            return result
        return attributes.METHODS[name](b, args[0], [])

    return emit


_COMPLEX: dict[Any, Any] = {
    cmath.exp: library.exponential,
    cmath.log: library.logarithm,
    cmath.isnan: library.is_nan,
    cmath.isinf: library.is_infinite,
    cmath.isfinite: library.is_finite,
}
"""Functions of the cmath module that Numba has not in Python."""

_COMPLEX_CASES = (types.complex64(types.complex64), types.complex128(types.complex128))


def _complex_arguments(function: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """How many arguments a function of the cmath module takes, and its signatures."""
    if function is not cmath.log:
        return (1,), _COMPLEX_CASES
    return (1, 2), (*_COMPLEX_CASES, *(ty(ty, ty) for ty in (types.complex64, types.complex128)))


def _complex_function(function: Any) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        result: Value = b.inline(function, args)
        return result

    return emit


_BUILTINS = [
    *(Intrinsic(f"numpy.{name}", _reduction(name), (1,)) for name in _REDUCTIONS),
    *(
        Intrinsic(f"cmath.{python.__name__}", _complex_function(own), *_complex_arguments(python))
        for python, own in _COMPLEX.items()
    ),
    Intrinsic("min", minmax, tuple(range(1, 65))),
    Intrinsic("max", minmax, tuple(range(1, 65))),
    *(
        Intrinsic(f"operator.{row.function.__name__}", _operator(text), (2,))
        for text, row in (BINARY | COMPARISONS).items()
    ),
    Intrinsic("abs", absolute, (1,)),
    Intrinsic("round", rounded, (1, 2)),
    Intrinsic("pow", _operator("**"), (2,)),
]


INTRINSICS = {
    row.name: row
    for rows in (
        block_functions.ROWS,
        warp_functions.ROWS,
        bit_functions.ROWS,
        atomic_functions.ROWS,
        math_functions.ROWS,
        half_functions.ROWS,
        libdevice_functions.ROWS,
        float_bits.ROWS,
        printing.ROWS,
        tuple_functions.ROWS,
        _BUILTINS,
    )
    for row in rows
}
"""Every callable by name: ``cuda.atomic.add``, ``math.sqrt``, ``min``."""


def _by_object() -> dict[Any, Intrinsic]:
    table: dict[Any, Intrinsic] = {
        function: INTRINSICS[function.__name__] for function in (min, max, abs, round, pow, print)
    }
    for name, intrinsic in INTRINSICS.items():
        if name.startswith("math.") and hasattr(math, name.removeprefix("math.")):  # exp2: from Python 3.11 on
            table[getattr(math, name.removeprefix("math."))] = intrinsic
    operations = [row.function for row in BINARY.values()] + [row.function for row in COMPARISONS.values()]
    for function in operations:
        table[function] = INTRINSICS[f"operator.{function.__name__}"]
    for name, equivalent in math_functions.NUMPY.items():
        table[getattr(np, name)] = INTRINSICS[f"math.{equivalent}"]
    table[np.abs] = INTRINSICS["abs"]
    table |= {getattr(np, name): INTRINSICS[f"numpy.{name}"] for name in _REDUCTIONS}
    table |= {function: INTRINSICS[f"cmath.{function.__name__}"] for function in _COMPLEX}
    return table


_OBJECTS = _by_object()


def find(value: Object) -> Intrinsic | None:
    """The intrinsic that *value* is, by its dialect name or as a Python object."""
    if value.symbol is not None:
        return INTRINSICS.get(f"cuda.{value.symbol}")
    name = _in_library(value.value)
    if name is not None:
        return INTRINSICS.get(name)
    try:
        return _OBJECTS.get(value.value)
    except TypeError:
        return None


_LIBRARIES = {
    "cuda.libdevice": "libdevice", "cuda._internal.cuda_fp16": "fp16", "cuda.fp16": "fp16",
    "np.unsafe.ndarray": "unsafe", "cpython.unsafe.tuple": "unsafe",
}  # fmt: skip
"""Modules of Numba whose functions have no Python in them, by the ends of their names."""


def _in_library(value: Any) -> str | None:
    """The name of a function of one of these modules: ``fp16.hadd``, ``libdevice.sinf``."""
    module = getattr(value, "__module__", None)
    if not isinstance(module, str):
        return None
    found = [short for end, short in _LIBRARIES.items() if module.startswith("numba") and module.endswith(f".{end}")]
    return f"{found[0]}.{value.__name__.strip('_')}" if found and hasattr(value, "__name__") else None


def attribute_register(b: Builder, symbol: str) -> Value | None:
    """The value of a name that is a register: ``threadIdx.x``, ``laneid``, ``warpsize``; else None."""
    if symbol == "laneid":
        return special_register(b, "laneid")
    if symbol == "warpsize":
        return Constant(i4, 32)
    base, _, axis = symbol.partition(".")
    if base in DIMENSIONS and axis in ("x", "y", "z"):
        return special_register(b, f"{DIMENSIONS[base]}.{axis}")
    return None
