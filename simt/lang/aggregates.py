"""Values with items: tuples, namedtuples, vectors such as ``cuda.float32x4``, and complex numbers from their parts."""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import Number, ScalarValue, cast, convert, number, scalar
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.environment import kind_of
from simt.lang.values import Complex, Constant, Object, Scalar, Tuple, Value, describe

VECTOR_ITEMS = ("x", "y", "z", "w")


def fields_of(value: tuple[Any, ...]) -> tuple[tuple[str, ...], Any]:
    """Names of the fields and class of a namedtuple; nothing for a plain tuple."""
    names = getattr(value, "_fields", ())
    return tuple(names), type(value) if names else None


def item(b: Builder, base: Tuple, index: ScalarValue) -> Value:
    """The item of a tuple of numbers of one type at a run-time position: one instruction."""
    kinds = {kind_of(each) for each in base.items}
    if len(kinds) != 1 or not is_number(*kinds):
        help = "Numba takes tuples of numbers of one type"
        unsupported(b.place, f"an index that is not a constant, of {describe(base)}", help=help)
    with b.one_instruction():
        size = b.operand(Constant(types.int64, len(base.items)))
        negative = b.value("lt.s64", types.boolean, b.operand(index), b.operand(Constant(types.int64, 0)))
        turned = b.value("add.s64", types.int64, b.operand(index), size)
        position = b.value("selp", types.int64, turned.operand, b.operand(index), negative.operand)
        return picked(b, base, position)


def is_number(kind: Any) -> bool:
    """Whether values of this kind are numbers that one can choose among."""
    return isinstance(kind, types.Complex) or nt.storage_class(kind) not in (None, nt.BOOL)


def picked(b: Builder, base: Tuple, position: Scalar) -> Number:
    """The item at *position* of a tuple of numbers of one type; free of charge."""
    first = base.items[0]
    if isinstance(first, Complex):
        pairs = [(each.real, each.imag) for each in base.items if isinstance(each, Complex)]
        parts = [scalar(b, picked(b, Tuple(column), position)) for column in zip(*pairs, strict=True)]
        return Complex(first.type, *parts)
    found = scalar(b, base.items[0])
    for place, each in enumerate(base.items[1:], 1):
        here = b.operand(Constant(types.int64, place))
        is_here = b.value("eq.s64", types.boolean, position.operand, here, retires=False)
        operands = (b.operand(value) for value in (each, found, is_here))
        found = b.value("selp", nt.plain(found.type), *operands, retires=False)
    return found


def construct(b: Builder, function: Object, args: list[Value]) -> Value | None:
    """The tuple, vector or complex number that a call of *function* makes; None if it makes none."""
    if function.value is complex or function.value in (types.complex64, types.complex128):
        return _complex(b, function.value, args)
    if function.value is tuple and len(args) == 1 and isinstance(args[0], Tuple):
        return Tuple(args[0].items)
    if isinstance(function.value, type) and issubclass(function.value, tuple) and hasattr(function.value, "_fields"):
        names = function.value._fields
        if len(args) != len(names):
            wrong(b.place, f"{function.value.__name__} takes {', '.join(names)}")
        return Tuple(tuple(args), tuple(names), function.value)
    vector = vector_of(function.value)
    return None if vector is None else _vector(b, *vector, args)


def vector_of(function: Any) -> tuple[str, Any, int] | None:
    """Name, type of the items and their number of one of Numba's vector types (``cuda.float32x4``)."""
    name = getattr(function, "__name__", "")
    base, _, count = name.rpartition("x")
    ty = getattr(types, base, None) if hasattr(function, "aliases") else None
    return (name, ty, int(count)) if ty is not None and count.isdigit() else None


def _vector(b: Builder, name: str, ty: Any, count: int, args: list[Value]) -> Tuple:
    """A vector from numbers and vectors that have *count* items together; conversions count."""
    items: list[Value] = []
    for arg in args:
        items += arg.items if isinstance(arg, Tuple) else [arg]
    if len(items) == 1 and count > 1 and len(args) == 1 and not isinstance(args[0], Tuple):
        items *= count
    if len(items) != count:
        wrong(b.place, f"{name} takes {count} numbers, not {len(items)}")
    converted = tuple(convert(b, scalar(b, each), ty) for each in items)
    return Tuple(converted, VECTOR_ITEMS[:count], name)


def _complex(b: Builder, target: Any, args: list[Value]) -> Number | None:
    """``complex(re, im)``, ``complex(z)``, ``complex64(z)``."""
    if len(args) == 1:
        given = number(b, args[0])
        if target is complex:
            target = given.type if isinstance(given, Complex) else _complex_of(given.type)
        return cast(b, given, target)
    if len(args) != 2:
        wrong(b.place, f"a complex number has 2 parts, not {len(args)}")
    parts = [scalar(b, arg) for arg in args]
    if target is complex:
        target = _complex_of(nt.unify_all([part.type for part in parts]))
    real, imag = (convert(b, part, target.underlying_float) for part in parts)
    return Complex(target, real, imag)


def _complex_of(ty: Any) -> Any:
    """The complex type with parts as wide as *ty*: that of float32 is complex64."""
    return types.complex64 if ty == types.float32 else types.complex128
