"""Attributes and methods of values: of arrays, records, tuples with names, and numbers."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from numba.core import types

from simt.lang import arrays, block_functions, complexes, elements, library
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.dtypes import dtype_object, element_type
from simt.lang.values import (
    NONE,
    Array,
    Complex,
    Constant,
    Flat,
    GridGroup,
    Method,
    Object,
    Record,
    Scalar,
    Tuple,
    Value,
    describe,
)


def attribute(b: Builder, base: Value, name: str) -> Value | None:
    """``base.name``; None if it is not among the attributes here."""
    if isinstance(base, Array):
        return _of_array(b, base, name)
    if isinstance(base, Method) and base.name == "ctypes" and isinstance(base.owner, Array) and name == "data":
        return arrays.address(b, base.owner)
    if isinstance(base, Record):
        found = field(b, base, name)
        if found is None:
            wrong(b.place, f"{describe(base)} has no field {name!r}")
        return elements.load(b, found)
    if isinstance(base, Tuple) and name in base.names:
        return base.items[base.names.index(name)]
    if isinstance(base, Complex | Scalar | Constant):
        found_part = _of_number(base, name)
        if found_part is not None:
            return found_part
    return None


def field(b: Builder, base: Value, name: str) -> Array | None:
    """The field *name* of a record, or of each record of an array; None if there is none."""
    if isinstance(base, Record):
        return elements.field(b, base.element, name)
    return elements.field(b, base, name) if isinstance(base, Array) else None


def _of_array(b: Builder, array: Array, name: str) -> Value | None:
    found = field(b, array, name)
    if found is not None:
        return found if found.ndim else elements.load(b, found)
    match name:
        case "shape":
            return arrays.shape(array)
        case "strides":
            return arrays.strides(b, array)
        case "size":
            return arrays.size(b, array)
        case "ndim":
            return Constant(types.int64, array.ndim)
        case "itemsize":
            return Constant(types.int64, nt.as_dtype(array.type).itemsize)
        case "nbytes":
            return arrays.size_in_bytes(b, array)
        case "dtype":
            return dtype_object(array.type)
        case "T":
            return arrays.transposed(array)
        case "real" | "imag":
            return elements.part(array, name)
        case "flat":
            return Flat(array)
    return None


HELP = "arrays have .shape, .strides, .size, .ndim, .dtype, .T, .flat, .reshape(), .ravel(), .view() and len()"
"""What to use instead of an unsupported attribute or method."""


def _of_number(value: Complex | Scalar | Constant, name: str) -> Value | None:
    if name == "real":
        return value.real if isinstance(value, Complex) else value
    if name == "imag":
        return value.imag if isinstance(value, Complex) else Constant(value.type, nt.cast_constant(0, value.type))
    return None


def call(b: Builder, method: Method, args: list[Value]) -> Value | None:
    """The result of a method; None if it is not among the methods here."""
    owner = method.owner
    if isinstance(owner, Array):
        emit = METHODS.get(method.name)
        return None if emit is None else emit(b, owner, args)
    if isinstance(owner, GridGroup) and method.name == "sync" and not args:
        return block_functions.grid_barrier(b)
    if args or not isinstance(owner, Complex | Scalar | Constant):
        return None
    if method.name not in ("conjugate", "item"):
        return None
    return complexes.conjugate(b, owner) if isinstance(owner, Complex) and method.name == "conjugate" else owner


def _reshape(b: Builder, array: Array, args: list[Value]) -> Value:
    return arrays.reshaped(b, array, args[0] if len(args) == 1 else Tuple(tuple(args)))


def _ravel(b: Builder, array: Array, args: list[Value]) -> Value:
    if args or array.layout != "C":
        unsupported(b.place, "ravel() of an array whose elements do not lie one after the other: it would be a copy")
    return arrays.contiguous(b, array, [arrays.size(b, array)])


def _view(b: Builder, array: Array, args: list[Value]) -> Value:
    ty = element_type(args[0]) if len(args) == 1 else None
    if ty is None:
        wrong(b.place, "view() takes a dtype", help="use e.g. a.view(np.int32)")
    return arrays.viewed(b, array, ty)


def _transpose(b: Builder, array: Array, args: list[Value]) -> Value:
    if args:
        unsupported(b.place, "transpose() with axes", help="use .T, or index the elements")
    return arrays.transposed(array)


def _item(b: Builder, array: Array, args: list[Value]) -> Value:
    index = args[0] if len(args) == 1 else Tuple((Constant(types.int64, 0),) * array.ndim)
    return elements.load(b, arrays.subscript(b, array, index))


def _reduction(name: str) -> Callable[[Builder, Array, list[Value]], Value]:
    """A reduction: a function of the library.  Sums and products start with a number of the type that Numba gives."""

    def reduce(b: Builder, array: Array, args: list[Value]) -> Value:
        if args:
            unsupported(b.place, f"{name}() along an axis", help="reduce in a loop")
        start: list[Value] = []
        if name in ("sum", "prod", "mean"):
            ty = nt.reduced(array.type, name)
            start = [convert(b, Constant(types.int64, int(name == "prod")), ty)]
        result: Value = b.inline(library.REDUCTIONS[name], [array, *start])
        return result

    return reduce


METHODS: dict[str, Callable[[Builder, Array, list[Value]], Value]] = {
    "reshape": _reshape, "ravel": _ravel, "view": _view, "transpose": _transpose, "item": _item,
    **{name: _reduction(name) for name in library.REDUCTIONS},
}  # fmt: skip
"""Methods of arrays."""


def same(left: Value, right: Value) -> bool | None:
    """Whether two values that are known as Python objects (members of an enumeration, dtypes) are equal; else None."""
    if isinstance(left, Object) and isinstance(right, Object):
        if isinstance(left.value, Enum) or left.value is right.value:
            return bool(left.value is right.value)
        mine, other = element_type(left), element_type(right)
        return mine == other if mine is not None and other is not None else bool(left.value == right.value)
    if NONE in (left, right):
        return left == right
    return None


def alignment_of(b: Builder, value: Value) -> int:
    """The ``alignment`` of an array constructor; 1 for None."""
    if value == NONE:
        return 1
    if not isinstance(value, Constant) or nt.storage_class(value.type) != nt.INT:
        wrong(b.place, "an alignment has to be a constant integer")
    if value.value <= 0 or value.value & (value.value - 1):
        wrong(b.place, f"an alignment of {value.value}; it has to be a power of two")
    return int(value.value)
