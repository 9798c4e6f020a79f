"""Arrays and parts of them: element addresses, slices and other views, and their attributes.

An index that leaves an array or a row of one costs one multiply-add per dimension.  A view costs one instruction per
dimension that it cuts at run-time bounds; the rest of its arithmetic is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, convert, scalar
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.ir import REGISTER, PredRef, UniformRef, VReg
from simt.lang.values import NONE, Array, Axis, Constant, Object, Scalar, Slice, Tuple, Value, describe
from simt.ops.encoding import LOCAL_WINDOW, SHARED_WINDOW
from simt.program import Space

i8 = types.int64
ZERO, ONE = Constant(i8, 0), Constant(i8, 1)


def subscript(b: Builder, array: Array, index: Value) -> Array:
    """``array[index]`` before it is loaded or stored: the element (no axes left), or the part that it names."""
    items = _without_ellipsis(b, array, list(index.items if isinstance(index, Tuple) else (index,)))
    base, axes, left = array.base, [], list(array.axes)
    whole = True
    for item in items:
        if item == NONE:
            axes.append(Axis(ONE, stride=ZERO))
            whole = False
        elif isinstance(item, Slice):
            axis = left.pop(0)
            cut = _cut(b, axis, item)
            whole = whole and cut is axis
            axes.append(cut)
        elif isinstance(item, Scalar | Constant) and nt.storage_class(item.type) == nt.INT:
            whole = whole and not axes
            base = _step(b, array, base, left.pop(0), item)
        else:
            wrong(b.place, f"{describe(item)} is not an index", help="array indices are integers, slices and ...")
    first = bool(items) and isinstance(items[0], Slice) and all(_is_full(item) for item in items[1:])
    keeps = array.layout == "C" and (whole or (first and not _strided(items[0])))
    return replace(array, base=base, axes=(*axes, *left), layout="C" if keeps else "A")


def _without_ellipsis(b: Builder, array: Array, items: list[Value]) -> list[Value]:
    """The items with full slices in the place of ``...``."""
    dots = [k for k, item in enumerate(items) if isinstance(item, Object) and item.value is Ellipsis]
    named = sum(item != NONE for item in items) - len(dots)
    if len(dots) > 1 or named > array.ndim:
        wrong(b.place, f"{named} indices for {describe(array)}")
    if dots:
        items[dots[0] : dots[0] + 1] = [Slice(None, None, None)] * (array.ndim - named)
    return items


def _is_full(item: Value) -> bool:
    return item == Slice(None, None, None)


def _strided(item: Value) -> bool:
    return isinstance(item, Slice) and item.step is not None and item.step != ONE


def _step(b: Builder, array: Array, base: VReg | UniformRef, axis: Axis, item: ScalarValue) -> VReg:
    """The address of the part of an array that the integer *item* picks along *axis*: one instruction."""
    negative = nt.is_signed(item.type) and not (isinstance(item, Constant) and item.value >= 0)
    address = VReg(REGISTER)
    if axis.slot is not None and axis.start is None:
        b.emit("index", address, base, b.operand(item), imm=axis.slot, mod=int(negative))
        return address
    with b.one_instruction():
        size = b.operand(axis.size)
        position = b.value("within", i8, b.operand(item), size, imm=array.number, mod=int(negative))
        if axis.start is not None:
            assert axis.step is not None
            position = b.value("mad.s64", i8, position.operand, b.operand(axis.step), b.operand(axis.start))
        if axis.slot is not None:
            b.emit("index", address, base, position.operand, imm=axis.slot)
        else:
            assert axis.stride is not None
            b.emit("mad.s64", address, position.operand, b.operand(axis.stride), base)
    return address


def element_at(b: Builder, array: Array, position: ScalarValue) -> Array:
    """The element at a position of ``array.flat``; the divisions that its indices take are free."""
    index = unravelled(b, [axis.size for axis in array.axes], position)
    return subscript(b, array, Tuple(tuple(index)))


def unravelled(b: Builder, sizes: Sequence[ScalarValue], position: ScalarValue) -> list[ScalarValue]:
    """The indices that number *position* has in an array of these sizes; free."""
    indices: list[ScalarValue] = []
    for size in reversed(sizes[1:]):
        indices.insert(0, _free(b, "floormod.s64", lambda x, y: x % y if y else 0, position, size))
        position = _free(b, "floordiv.s64", lambda x, y: x // y if y else 0, position, size)
    return [position, *indices] if sizes else []


# Slices


def _cut(b: Builder, axis: Axis, item: Slice) -> Axis:
    """The part of *axis* that a slice names, by Python's rules.

    One instruction, if its bounds are known at run time only.
    """
    step = ONE if item.step is None else _integer(b, item.step)
    if isinstance(step, Constant) and step.value == 0:
        wrong(b.place, "a slice with step 0")
    if _is_full(item):
        return axis
    if not isinstance(step, Constant):
        unsupported(b.place, "a slice whose step is not a constant", help="index the elements in a loop")
    before = len(b.here().ops)
    down = step.value < 0
    last = _add(b, axis.size, Constant(i8, -1))
    if down:
        start = last if item.start is None else _clamp(b, axis.size, item.start, Constant(i8, -1), last)
        stop = Constant(i8, -1) if item.stop is None else _clamp(b, axis.size, item.stop, Constant(i8, -1), last)
        span = _add(b, start, stop, subtract=True)
    else:
        start = ZERO if item.start is None else _clamp(b, axis.size, item.start, ZERO, axis.size)
        stop = axis.size if item.stop is None else _clamp(b, axis.size, item.stop, ZERO, axis.size)
        span = _add(b, stop, start, subtract=True)
    stride = abs(step.value)
    size = _largest(b, span, ZERO)
    if stride != 1:
        size = _divide(b, _add(b, size, Constant(i8, stride - 1)), stride)
    made = b.here().ops[before:]
    if made:
        made[-1].retires = True
    inner = axis.step if axis.step is not None else ONE
    first = multiply(b, start, inner)
    if axis.start is not None:
        first = _add(b, first, axis.start)
    return Axis(size, axis.slot, first, multiply(b, step, inner), axis.stride)


def _integer(b: Builder, value: ScalarValue) -> ScalarValue:
    """An index as an int64 that later assignments to variables do not change."""
    if nt.storage_class(value.type) != nt.INT:
        wrong(b.place, f"{describe(value)} is not an index", help="bounds of slices are integers")
    return b.snapshot(convert(b, value, i8))


def _clamp(b: Builder, size: ScalarValue, bound: ScalarValue, low: ScalarValue, high: ScalarValue) -> ScalarValue:
    """A slice's bound, counted from the end if negative, between *low* and *high*."""
    value = _integer(b, bound)
    if isinstance(value, Constant):
        if value.value < 0:
            return _largest(b, _add(b, size, value), low)
        return _smallest(b, value, high)
    negative = b.value("lt.s64", types.boolean, value.operand, b.operand(ZERO), retires=False)
    turned = _add(b, value, size)
    value = b.value("selp", i8, b.operand(turned), value.operand, negative.operand, retires=False)
    return _smallest(b, _largest(b, value, low), high)


def _free(b: Builder, op: str, fold: Any, left: ScalarValue, right: ScalarValue) -> ScalarValue:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(i8, fold(left.value, right.value))
    return b.value(op, i8, b.operand(left), b.operand(right), retires=False)


def _add(b: Builder, left: ScalarValue, right: ScalarValue, subtract: bool = False) -> ScalarValue:
    if isinstance(right, Constant) and right.value == 0:
        return left
    if subtract:
        return _free(b, "sub.s64", lambda x, y: x - y, left, right)
    return _free(b, "add.s64", lambda x, y: x + y, left, right)


def multiply(b: Builder, left: ScalarValue, right: ScalarValue) -> ScalarValue:
    if left == ONE or right == ONE:
        return right if left == ONE else left
    return _free(b, "mul.s64", lambda x, y: x * y, left, right)


def _largest(b: Builder, left: ScalarValue, right: ScalarValue) -> ScalarValue:
    return _free(b, "max.s64", max, left, right)


def _smallest(b: Builder, left: ScalarValue, right: ScalarValue) -> ScalarValue:
    return _free(b, "min.s64", min, left, right)


def _divide(b: Builder, left: ScalarValue, right: int) -> ScalarValue:
    return _free(b, "floordiv.s64", lambda x, y: x // y, left, Constant(i8, right))


# Other views


def transposed(array: Array) -> Array:
    """``array.T``: free."""
    turned = {"C": "F", "F": "C"}.get(array.layout, "A") if array.ndim > 1 else array.layout
    return replace(array, axes=array.axes[::-1], layout=turned)


def reshaped(b: Builder, array: Array, shape: Value) -> Array:
    """``array.reshape(shape)`` of a contiguous array: one instruction, none if the shape is constant."""
    if array.layout != "C":
        wrong(b.place, f"{describe(array)} is reshaped, and its elements do not lie one after the other")
    given = [_integer(b, scalar(b, item)) for item in (shape.items if isinstance(shape, Tuple) else (shape,))]
    total = size(b, array)
    known = [item for item in given if item != Constant(i8, -1)]
    if len(given) - len(known) > 1:
        wrong(b.place, "a shape with more than one -1")
    product: ScalarValue = ONE
    for item in known:
        product = multiply(b, product, item)
    if not all(isinstance(item, Constant) for item in given):
        return contiguous(b, array, _with_rest(b, total, given))
    if len(known) < len(given):
        rest = _free(b, "floordiv.s64", lambda x, y: x // y if y else 0, total, product)
        given[given.index(Constant(i8, -1))] = rest
    elif isinstance(product, Constant) and isinstance(total, Constant) and product.value != total.value:
        wrong(b.place, f"{total.value} elements do not fill a shape of {product.value}")
    return contiguous(b, array, given)


def _with_rest(b: Builder, total: ScalarValue, given: Sequence[ScalarValue]) -> list[ScalarValue]:
    """A shape of run-time sizes, the negative one of which stands for the rest."""
    signs = [b.value("lt.s64", types.boolean, b.operand(item), b.operand(ZERO), retires=False) for item in given]
    product: ScalarValue = ONE
    for item, negative in zip(given, signs, strict=True):
        operands = b.operand(ONE), b.operand(item), negative.operand
        product = multiply(b, product, b.value("selp", i8, *operands, retires=False))
    rest = b.value("floordiv.s64", i8, b.operand(total), b.operand(product), retires=False)
    return [
        b.value("selp", i8, rest.operand, b.operand(item), negative.operand, retires=False)
        for item, negative in zip(given, signs, strict=True)
    ]


def contiguous(b: Builder, array: Array, shape: Sequence[ScalarValue]) -> Array:
    """An array of *shape* over the memory of *array*, its elements one after the other."""
    stride: ScalarValue = Constant(i8, nt.as_dtype(array.type).itemsize)
    axes = []
    for item in reversed(shape):
        axes.append(Axis(item, stride=stride))
        stride = multiply(b, stride, item)
    return replace(flattened(b, array), axes=tuple(reversed(axes)), layout="C")


def viewed(b: Builder, array: Array, ty: Any) -> Array:
    """``array.view(dtype)``: the same bytes as other elements."""
    old, new = nt.as_dtype(array.type).itemsize, nt.as_dtype(ty).itemsize
    if old == new:
        return replace(array, type=ty)
    if array.layout != "C" or not array.ndim:
        wrong(b.place, f"{describe(array)} is viewed as {ty}, and its elements do not lie one after the other")
    *outer, last = (axis.size for axis in array.axes)
    size = _divide(b, multiply(b, last, Constant(i8, old)), new)
    return contiguous(b, replace(array, type=ty), [*outer, size])


def flattened(b: Builder, array: Array) -> Array:
    """The same array with an address that is complete and a stride for every axis; free."""
    base = array.base
    total: ScalarValue = Constant(i8, array.offset)
    axes = []
    for axis in array.axes:
        stride = _stride(b, replace(axis, start=None, step=None), array.number)
        if axis.start is not None:
            total = _add(b, multiply(b, axis.start, stride), total)
        axes.append(Axis(axis.size, stride=multiply(b, stride, axis.step or ONE)))
    if total != ZERO:
        start = b.value("add.s64", i8, base, b.operand(total), retires=False).operand
        assert not isinstance(start, PredRef)
        base = start
    return replace(array, base=base, offset=0, axes=tuple(axes))


# Attributes


def address(b: Builder, array: Array) -> ScalarValue:
    """``array.ctypes.data``, the generic address of the first element: free."""
    start = Scalar(types.uint64, flattened(b, array).base)
    window = {Space.SHARED.value: SHARED_WINDOW, Space.LOCAL.value: LOCAL_WINDOW}.get(array.space, 0)
    return _free(b, "add.s64", lambda x, y: x + y, start, Constant(types.uint64, window)) if window else start


def shape(array: Array) -> Tuple:
    """``array.shape``: free."""
    return Tuple(tuple(axis.size for axis in array.axes))


def strides(b: Builder, array: Array) -> Tuple:
    """``array.strides``: free."""
    return Tuple(tuple(multiply(b, _stride(b, axis, array.number), axis.step or ONE) for axis in array.axes))


def _stride(b: Builder, axis: Axis, number: int) -> ScalarValue:
    """Bytes between the elements of an axis of array *number*; of a slice, between those that it is cut from."""
    if axis.slot is None:
        assert axis.stride is not None
        return axis.stride
    return Scalar(i8, UniformRef("stride", number, axis.slot - b.arrays[number].slot))


def axis_size(array: Array, axis: int) -> ScalarValue:
    """The size of one axis as an int64."""
    return array.axes[axis].size


def size(b: Builder, array: Array) -> ScalarValue:
    """``array.size``: free."""
    slots = [axis.slot for axis in array.axes if axis.start is None]
    first = b.arrays[array.number].slot
    if slots == list(range(first, first + b.arrays[array.number].ndim)) and not all(
        isinstance(axis.size, Constant) for axis in array.axes
    ):
        return Scalar(i8, UniformRef("size", array.number))
    total: ScalarValue = ONE
    for axis in array.axes:
        total = multiply(b, total, axis.size)
    return total


def size_in_bytes(b: Builder, array: Array) -> ScalarValue:
    """``array.nbytes``: free."""
    return multiply(b, size(b, array), Constant(i8, nt.as_dtype(array.type).itemsize))


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
