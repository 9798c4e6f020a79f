"""Loads and stores of elements: numbers, complex numbers (two accesses), records and their fields.

Where a packed record puts a number at an address that is not a multiple of its size, it is accessed in pieces, as Numba
does; only the last piece counts as an instruction.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from numba.core import types

from simt.lang import library
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import Number, convert, number
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.ir import ZERO, UniformRef
from simt.lang.values import Array, Axis, Complex, Constant, Record, Scalar, Value, describe
from simt.ops.encoding import MEMORY_TYPES

_PIECES = {1: "u8", 2: "u16", 4: "u32"}
"""Access types of the pieces of a number, by their bytes."""


def load(b: Builder, element: Array) -> Value:
    """The value of *element*; an array with axes left is itself (a view), a record a reference to itself."""
    if element.ndim:
        return element
    ty = element.type
    if isinstance(ty, types.Record):
        return Record(element)
    if isinstance(ty, types.NestedArray):
        return nested(element)
    if isinstance(ty, types.Complex):
        real, imag = (_load(b, item) for item in _parts(element))
        return Complex(ty, real, imag)
    return _load(b, element)


def nested(element: Array) -> Array:
    """The array that is a field of a record."""
    ty = element.type
    stride = nt.as_dtype(ty.dtype).itemsize
    axes: list[Axis] = []
    for size in reversed(ty.shape):
        axes.insert(0, Axis(Constant(types.int64, size), stride=Constant(types.int64, stride)))
        stride *= size
    alignment = math.gcd(element.alignment, nt.as_dtype(ty.dtype).itemsize)
    return replace(element, type=ty.dtype, axes=tuple(axes), alignment=alignment, layout="C")


def field(b: Builder, array: Array, name: str) -> Array | None:
    """The part of each element of *array* (or of its one element) that is its field *name*; None if it has none."""
    if not isinstance(array.type, types.Record) or name not in array.type.fields:
        return None
    found = array.type.fields[name]
    offset = array.offset + found.offset
    named = replace(
        array,
        name=f"{array.name}.{name}",
        type=found.type,
        offset=offset,
        alignment=math.gcd(array.alignment, found.offset),
        layout="A" if array.ndim else "C",
    )
    if isinstance(found.type, types.NestedArray) and array.ndim:
        inner = nested(replace(named, axes=()))
        return replace(inner, axes=(*array.axes, *inner.axes), layout="A")
    return named


def part(array: Array, name: str) -> Array:
    """The ``real`` or ``imag`` part of each element of a complex array (or of its one element)."""
    if not isinstance(array.type, types.Complex):
        return array
    ty = array.type.underlying_float
    offset = array.offset + (ty.bitwidth // 8 if name == "imag" else 0)
    return replace(array, type=ty, offset=offset, layout="A" if array.ndim else "C")


def _parts(element: Array) -> tuple[Array, Array]:
    return part(element, "real"), part(element, "imag")


def _load(b: Builder, element: Array) -> Scalar:
    memory = nt.MEMORY_TYPE[element.type]
    number, size = MEMORY_TYPES[memory]
    op, piece = f"ld.{element.space}", math.gcd(size, element.alignment)
    boolean = nt.storage_class(element.type) == nt.BOOL
    ty = types.uint8 if boolean else element.type
    if piece == size:
        value = b.value(op, ty, element.base, imm=element.offset, mod=number)
    else:
        value = _load_pieces(b, op, element, ty, size, piece)
    if not boolean:
        return value
    return b.value("ne.s64", types.boolean, value.operand, ZERO, retires=False)


def _load_pieces(b: Builder, op: str, element: Array, ty: Any, size: int, piece: int) -> Scalar:
    """A number that lies across natural boundaries."""
    number = MEMORY_TYPES[_PIECES[piece]][0]
    whole = Scalar(types.uint64, ZERO)
    for at in range(0, size, piece):
        last = at + piece == size
        part = b.value(op, types.uint64, element.base, imm=element.offset + at, mod=number, retires=last)
        shift = UniformRef("const", 8 * at)
        moved = b.value("shl.b64", types.uint64, part.operand, shift, retires=False)
        whole = b.value("or.b64", types.uint64, whole.operand, moved.operand, retires=False)
    if nt.is_signed(ty) and size < 8:
        whole = b.value(f"cvt.s{8 * size}", ty, whole.operand, retires=False)
    return Scalar(ty, whole.operand)


def store(b: Builder, element: Array, value: Value) -> None:
    """Store *value*, converted to the element type, into *element*."""
    if element.readonly:
        wrong(
            b.place,
            f"array {element.name} is read-only, and the kernel stores into it",
            help="pass a writeable array (a copy, or flags.writeable = True)",
        )
    if element.ndim:
        unsupported(b.place, "assignment to a whole array", help="assign the elements in a loop")
    ty = element.type
    if isinstance(ty, types.Record):
        _copy(b, element, value)
    elif isinstance(ty, types.NestedArray):
        _fill(b, element, value)
    elif isinstance(ty, types.Complex):
        given = convert(b, number(b, value), ty)
        assert isinstance(given, Complex)
        for target, item in zip(_parts(element), (given.real, given.imag), strict=True):
            _store(b, target, item)
    else:
        _store(b, element, number(b, value))


def _store(b: Builder, element: Array, value: Number) -> None:
    number, size = MEMORY_TYPES[nt.MEMORY_TYPE[element.type]]
    kind = nt.storage_class(element.type)
    if kind == nt.INT and not isinstance(value, Complex) and nt.storage_class(value.type) == nt.INT:
        operand = b.operand(value)  # the store keeps the low bits
    else:
        operand = b.operand(convert(b, value, element.type))
    if kind == nt.BOOL:
        one = UniformRef("const", 1)
        operand = b.value("selp", types.uint8, one, ZERO, operand, retires=False).operand
    op, piece = f"st.{element.space}", math.gcd(size, element.alignment)
    if piece == size:
        b.emit(op, None, element.base, operand, imm=element.offset, mod=number)
        return
    for at in range(0, size, piece):
        part = b.value("shr.u64", types.uint64, operand, UniformRef("const", 8 * at), retires=False)
        mod = MEMORY_TYPES[_PIECES[piece]][0]
        b.emit(op, None, element.base, part.operand, imm=element.offset + at, mod=mod, retires=at + piece == size)


def _copy(b: Builder, element: Array, value: Value) -> None:
    """Copy a record field by field."""
    if not isinstance(value, Record) or value.element.type.fields.keys() != element.type.fields.keys():
        wrong(b.place, f"{describe(value)} is assigned to a record of {element.name}")
    for name in element.type.fields:
        source, target = field(b, value.element, name), field(b, element, name)
        assert source is not None
        assert target is not None
        store(b, target, load(b, source))


def _fill(b: Builder, element: Array, value: Value) -> None:
    """Copy an array of the same shape into a field that is an array."""
    target = nested(element)
    if isinstance(value, Array) and value.ndim == target.ndim and not _is_static(value):
        b.inline(library.COPY[target.ndim - 1], [target, value])
        return
    sizes = [axis.size for axis in target.axes]
    if not isinstance(value, Array) or [axis.size for axis in value.axes] != sizes:
        wrong(b.place, f"{describe(value)} is assigned to {describe(target)}", help="assign the elements in a loop")
    _fill_axes(b, target, value)


def _is_static(array: Array) -> bool:
    return all(isinstance(axis.size, Constant) and isinstance(axis.stride, Constant) for axis in array.axes)


def _fill_axes(b: Builder, target: Array, value: Array) -> None:
    if not target.axes:
        store(b, target, load(b, value))
        return
    size = target.axes[0].size
    assert isinstance(size, Constant)
    for position in range(size.value):
        _fill_axes(b, _at(target, position), _at(value, position))


def _at(array: Array, position: int) -> Array:
    """One position along the first axis of an array with constant strides."""
    stride = array.axes[0].stride
    assert isinstance(stride, Constant)
    return replace(array, axes=array.axes[1:], offset=array.offset + position * stride.value)
