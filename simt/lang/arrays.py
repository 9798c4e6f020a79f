"""Element addresses, loads and stores: one multiply-add per dimension, then one access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, convert
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.ir import REGISTER, ZERO, UniformRef, VReg
from simt.lang.values import Array, Constant, Scalar, Tuple, Value, describe
from simt.ops.encoding import MEMORY_TYPES


def subscript(b: Builder, array: Array, index: Value) -> Array:
    """``array[index]`` before it is loaded or stored: the element (0 axes left), or the row it names."""
    items = index.items if isinstance(index, Tuple) else (index,)
    if len(items) > array.ndim:
        wrong(b.place, f"{len(items)} indices for {describe(array)}")
    base = array.base
    for position, item in enumerate(items):
        if not isinstance(item, Scalar | Constant) or nt.storage_class(item.type) != nt.INT:
            wrong(b.place, f"{describe(item)} is not an index", help="array indices are integers")
        negative = nt.is_signed(item.type) and not (isinstance(item, Constant) and item.value >= 0)
        slot = b.arrays[array.number].slot + array.axis + position
        address = VReg(REGISTER)
        b.emit("index", address, base, b.operand(item), imm=slot, mod=int(negative))
        base = address
    taken = len(items)
    shape = array.shape[taken:] if array.shape is not None else None
    return replace(array, base=base, axis=array.axis + taken, ndim=array.ndim - taken, shape=shape)


def load(b: Builder, element: Array) -> Value:
    """The value of *element*; an array with axes left is itself (a view)."""
    if element.ndim:
        return element
    memory = MEMORY_TYPES[nt.MEMORY_TYPE[element.type]][0]
    op = f"ld.{element.space}"
    if nt.storage_class(element.type) != nt.BOOL:
        return b.value(op, element.type, element.base, mod=memory)
    byte = b.value(op, types.uint8, element.base, mod=memory)
    return b.value("ne.s64", types.boolean, byte.operand, ZERO, retires=False)


def store(b: Builder, element: Array, value: ScalarValue) -> None:
    """Store *value*, converted to the element type, into *element*."""
    if element.readonly:
        wrong(
            b.place,
            f"array {element.name} is read-only, and the kernel stores into it",
            help="pass a writeable array (a copy, or flags.writeable = True)",
        )
    if element.ndim:
        unsupported(b.place, "assignment to a whole array", help="assign the elements in a loop")
    memory = MEMORY_TYPES[nt.MEMORY_TYPE[element.type]][0]
    kind = nt.storage_class(element.type)
    if kind == nt.INT and nt.storage_class(value.type) == nt.INT:
        operand = b.operand(value)  # the store keeps the low bits
    else:
        operand = b.operand(convert(b, value, element.type))
    if kind == nt.BOOL:
        one = UniformRef("const", 1)
        operand = b.value("selp", types.uint8, one, ZERO, operand, retires=False).operand
    b.emit(f"st.{element.space}", None, element.base, operand, mod=memory)


def shape(array: Array) -> Tuple:
    """``array.shape``: free."""
    return Tuple(tuple(axis_size(array, axis) for axis in range(array.ndim)))


def axis_size(array: Array, axis: int) -> ScalarValue:
    """The size of one axis as an int64."""
    if array.shape is not None and array.shape[axis] >= 0:
        return Constant(types.int64, array.shape[axis])
    return Scalar(types.int64, UniformRef("shape", array.number, array.axis + axis))


def size(b: Builder, array: Array) -> ScalarValue:
    """``array.size``: free."""
    if array.axis == 0 and (array.shape is None or -1 in array.shape):
        return Scalar(types.int64, UniformRef("size", array.number))
    total: ScalarValue = Constant(types.int64, 1)
    for axis in range(array.ndim):
        factor = axis_size(array, axis)
        if isinstance(total, Constant) and isinstance(factor, Constant):
            total = Constant(types.int64, total.value * factor.value)
        else:
            total = b.value("mul.s64", types.int64, b.operand(total), b.operand(factor), retires=False)
    return total


def element_of(b: Builder, array: Value, index: Value, what: str) -> Array:
    """The element that *what* (``cuda.atomic.add``) acts on."""
    if not isinstance(array, Array):
        wrong(b.place, f"{what} needs an array, not {describe(array)}")
    element = subscript(b, array, index)
    if element.ndim:
        wrong(b.place, f"{what} needs {array.ndim} indices for {describe(array)}")
    return element


def constant_shape(b: Builder, value: Value) -> Sequence[int]:
    """The static shape that an array constructor asks for."""
    items = value.items if isinstance(value, Tuple) else (value,)
    sizes = []
    for item in items:
        if not isinstance(item, Constant) or nt.storage_class(item.type) != nt.INT or item.value < 0:
            wrong(
                b.place,
                "the shape of a shared or local array has to be a constant",
                help="use a literal, or a global or closure constant; a shape of 0 is dynamic shared memory",
            )
        sizes.append(int(item.value))
    return sizes
