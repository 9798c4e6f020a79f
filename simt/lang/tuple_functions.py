"""Functions on tuples that Numba has in LLVM code only: those that its own kernels are made of."""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang import arrays, elements
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert, scalar
from simt.lang.diagnostics import wrong
from simt.lang.intrinsic import Intrinsic
from simt.lang.numeric import select
from simt.lang.operators import compare
from simt.lang.values import Array, Constant, Tuple, Value, describe


def _to_fixed_tuple(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    """The first elements of an array, loaded one by one."""
    array, length = args
    if not isinstance(array, Array) or array.ndim != 1 or not isinstance(length, Constant):
        wrong(
            b.place, f"{name} of {describe(array)} and {describe(length)}", help="it takes a 1-d array and a constant"
        )
    positions = (Constant(types.int64, position) for position in range(int(length.value)))
    return Tuple(tuple(elements.load(b, arrays.subscript(b, array, position)) for position in positions))


def _tuple_setitem(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    """A tuple of numbers with another one at a position; free where that is a constant."""
    given, position, value = args
    if not isinstance(given, Tuple):
        wrong(b.place, f"{name} of {describe(given)}")
    index = scalar(b, position)
    if isinstance(index, Constant):
        items = list(given.items)
        items[int(index.value)] = value
        return Tuple(tuple(items), given.names, given.type)
    changed = []
    for place, item in enumerate(given.items):
        old = scalar(b, item)
        is_here = compare(b, "==", index, Constant(types.int64, place))
        changed.append(select(b, is_here, convert(b, scalar(b, value), nt.plain(old.type)), old))
    return Tuple(tuple(changed), given.names, given.type)


ROWS = [
    Intrinsic("unsafe.to_fixed_tuple", _to_fixed_tuple, (2,)),
    Intrinsic("unsafe.tuple_setitem", _tuple_setitem, (3,)),
]
