"""NumPy's universal functions in kernels: on numbers, and element by element into an array that the kernel has.

The types are those of the loop that Numba chooses (``ufunc_find_matching_loop``).  An array costs what the loop over
its elements costs that a kernel would write itself.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba.core import types
from numba.np import numpy_support

from simt.lang import complexes, implementations, library, math_functions, numeric, operators
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import Number, convert, number, truth
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.intrinsic import call as call_intrinsic
from simt.lang.values import NONE, Array, Complex, Flat, Object, Tuple, Value, describe

Emit = Callable[[Builder, list[Number]], Number]


class Elementwise:
    """A universal function of numbers of the loop's types, as the loops of the library call it."""

    def __init__(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        self.name, self.inputs, self.output = name, inputs, output

    def __call__(self, b: Builder, args: list[Value]) -> Value:
        """Its value: each number is converted to the loop's type first."""
        values = [convert(b, number(b, arg), ty) for arg, ty in zip(args, self.inputs, strict=True)]
        return convert(b, _scalar(b, self.name, values), self.output)


def call(b: Builder, ufunc: np.ufunc, args: list[Value]) -> Value:
    """A call of *ufunc* with numbers and arrays, the last array being the result where there is one more argument."""
    if ufunc.nout != 1 or len(args) not in (ufunc.nin, ufunc.nin + 1):
        wrong(b.place, f"numpy.{ufunc.__name__} takes {ufunc.nin} numbers or arrays, and an array for the result")
    given, out = args[: ufunc.nin], args[ufunc.nin :]
    kinds = tuple(arg.type if isinstance(arg, Array) else number(b, arg).type for arg in given)
    loop = numpy_support.ufunc_find_matching_loop(ufunc, (*map(nt.plain, kinds), *_result_type(out)))
    if loop is None:
        listed = ", ".join(map(str, kinds))
        wrong(b.place, f"numpy.{ufunc.__name__} does not take ({listed})")
    function = Elementwise(ufunc.__name__, tuple(loop.inputs), next(iter(loop.outputs)))
    if not out:
        if any(isinstance(arg, Array) for arg in given):
            help = "give the array for the result as the last argument"
            unsupported(b.place, f"numpy.{ufunc.__name__} of an array that makes a new array", help=help)
        return function(b, given)
    if not isinstance(out[0], Array):
        wrong(b.place, f"the result of numpy.{ufunc.__name__} goes into an array, not into {describe(out[0])}")
    items = [_items(b, arg, out[0].ndim) for arg in given]
    b.inline(library.APPLY[ufunc.nin - 1], [Flat(out[0]), Object(function), *items])
    return NONE


def _result_type(out: list[Value]) -> tuple[Any, ...]:
    return tuple(value.type for value in out if isinstance(value, Array))


def _items(b: Builder, value: Value, ndim: int) -> Value:
    """What a loop indexes for each element: an array's elements, or the same number each time."""
    if not isinstance(value, Array):
        return Tuple((value,))
    if value.ndim != ndim:
        unsupported(b.place, "a universal function that broadcasts arrays", help="use arrays of one shape, or a loop")
    return Flat(value)


def _scalar(b: Builder, name: str, values: list[Number]) -> Number:
    emit = _operations().get(name)
    if emit is not None:
        return emit(b, values)
    stem = _PYTHON_NAMES.get(name, name)
    if isinstance(values[0], Complex):
        function = _on_complex(stem, values)
        if function is not None:
            return number(b, b.inline(function, list(values)))
    row = next((row for row in math_functions.ROWS if row.name == f"math.{stem}"), None)
    if row is None or isinstance(values[0], Complex):
        unsupported(b.place, f"calling numpy.{name} of {values[0].type}")
    return number(b, call_intrinsic(b, row, list(values)))


_PYTHON_NAMES = math_functions.NUMPY | {"arctan2": "atan2", "deg2rad": "radians", "rad2deg": "degrees"}
"""Names that the math module has for functions of NumPy."""


def _on_complex(name: str, values: list[Number]) -> Any | None:
    own = library.COMPLEX.get(name)
    if own is not None:
        return own
    function = getattr(cmath, name, None)
    found = None
    if function is not None:
        found = implementations.of_function(function, tuple(value.type for value in values), {})
    return None if found is None else found[0]


def _binary(text: str) -> Emit:
    return lambda b, values: number(b, operators.operate(b, text, *values))


def _comparison(text: str) -> Emit:
    def emit(b: Builder, values: list[Number]) -> Number:
        if isinstance(values[0], Complex) and text not in ("==", "!="):
            return number(b, b.inline(library.COMPLEX_ORDER[text], list(values)))
        return operators.compare(b, text, *values)

    return emit


def _logical(text: str) -> Emit:
    def emit(b: Builder, values: list[Number]) -> Number:
        return number(b, operators.operate(b, text, *(truth(b, value, counted=False) for value in values)))

    return emit


def _extreme(name: str, of_floats: Any) -> Emit:
    def emit(b: Builder, values: list[Number]) -> Number:
        if isinstance(values[0], Complex):
            return number(b, b.inline(library.COMPLEX_EXTREMES[of_floats.__name__], list(values)))
        if nt.storage_class(values[0].type) == nt.BOOL:
            return number(b, operators.operate(b, "|" if name == "max" else "&", *values))
        if nt.storage_class(values[0].type) in nt.FLOATS and not of_floats.__name__.startswith("f"):
            return number(b, b.inline(of_floats, list(values)))
        return number(b, numeric.minmax(b, name, list(values), None))

    return emit


@lru_cache(maxsize=1)
def _operations() -> dict[str, Emit]:
    """Universal functions that are operators, by name."""
    texts = {
        "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "floor_divide": "//",
        "remainder": "%", "mod": "%", "power": "**", "left_shift": "<<", "right_shift": ">>",
        "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    }  # fmt: skip
    compared = {
        "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    }  # fmt: skip
    return {
        **{name: _binary(text) for name, text in texts.items()},
        **{name: _comparison(text) for name, text in compared.items()},
        **{name: _logical(text) for name, text in (("logical_and", "&"), ("logical_or", "|"), ("logical_xor", "^"))},
        "logical_not": lambda b, values: operators.logical_not(b, values[0]),
        "invert": lambda b, values: _inverted(b, values[0]),
        "negative": lambda b, values: operators.unary(b, "-", values[0]),
        "positive": lambda b, values: values[0],
        "absolute": lambda b, values: number(b, numeric.absolute(b, "abs", [values[0]], None)),
        "conjugate": lambda b, values: _conjugate(b, values[0]),
        "square": lambda b, values: number(b, operators.operate(b, "*", values[0], values[0])),
        "maximum": _extreme("max", library.maximum),
        "minimum": _extreme("min", library.minimum),
        "fmax": _extreme("max", library.fmax),
        "fmin": _extreme("min", library.fmin),
    }


def _conjugate(b: Builder, value: Number) -> Number:
    return complexes.conjugate(b, value) if isinstance(value, Complex) else value


def _inverted(b: Builder, value: Number) -> Number:
    if value.type == types.boolean:
        return operators.logical_not(b, value)
    return operators.unary(b, "~", value)
