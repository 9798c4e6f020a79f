"""What an expression is worth at compile time: numbers, tuples, arrays and parts of them, Python objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from simt.lang.ir import PredRef, UniformRef, VReg


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time scalar of Numba type ``type``: a register or uniform, or a predicate for booleans."""

    type: Any
    operand: VReg | UniformRef | PredRef


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A scalar known at compile time: ``value`` is an int, float or bool of Numba type ``type``."""

    type: Any
    value: Any

    def __eq__(self, other: object) -> bool:
        """Equal type and representation: 0.0 is not -0.0, a NaN is itself."""
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, str]:
        return self.type, repr(self.value)


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number of Numba type ``type``: two floats."""

    type: Any
    real: Scalar | Constant
    imag: Scalar | Constant


def complex_of(ty: Any, parts: Iterable[Value]) -> Complex:
    """The complex number of these two parts, which are numbers."""
    real, imag = parts
    assert isinstance(real, Scalar | Constant)
    assert isinstance(imag, Scalar | Constant)
    return Complex(ty, real, imag)


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of values; it exists at compile time only.

    ``names`` are the fields of a namedtuple or a vector (``x``, ``y`` ...), ``type`` is the class of the former, or
    the type that all items of the latter have, with its name.
    """

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    type: Any = None


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step``; None where a part is left out."""

    start: Scalar | Constant | None
    stop: Scalar | Constant | None
    step: Scalar | Constant | None


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of an array: its size, and where the element at a position is.

    With a ``slot`` (of the Program's dimension table) position *i* is *start* + *i* * *step* of that dimension
    (*i* itself, where there is no ``start``); without, elements are ``stride`` bytes apart.
    """

    size: Scalar | Constant
    slot: int | None = None
    start: Scalar | Constant | None = None
    step: Scalar | Constant | None = None
    stride: Scalar | Constant | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or a part of one: its element type, where it starts, and its axes.

    ``number`` indexes ``Program.arrays``: the array that it is or is a part of.  Elements begin at address
    ``base`` + ``offset``; ``alignment`` is what their addresses are known to be multiples of.  ``layout`` is
    Numba's: C where the elements lie one after the other.
    """

    number: int
    name: str
    type: Any
    axes: tuple[Axis, ...]
    space: str
    base: VReg | UniformRef
    offset: int = 0
    alignment: int = 16
    layout: str = "C"
    readonly: bool = False

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)


@dataclass(frozen=True, slots=True)
class Flat:
    """``array.flat``: the elements of an array one after the other, the last index going fastest."""

    array: Array


@dataclass(frozen=True, slots=True)
class Record:
    """A record in memory, which names refer to, as Numba does: ``element`` is where (without axes)."""

    element: Array


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """A Python object of compile time: module, function, type; ``path`` says how the kernel reaches it.

    ``symbol`` is its name in Numba's CUDA dialect (``"atomic.add"``) where it has one.
    """

    value: Any
    path: tuple[str, ...] = ()
    symbol: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self.value is other.value and self.symbol == other.symbol

    def __hash__(self) -> int:
        return hash((id(self.value), self.symbol))


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value, before it is called."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class GridGroup:
    """``cg.this_grid()``: all threads of the grid."""


@dataclass(frozen=True, slots=True)
class Closure:
    """A function that a function defines: its syntax, the values of its defaults, and the instance that defined it."""

    tree: ast.FunctionDef
    defaults: tuple[tuple[str, Value], ...]
    home: Any


NONE = Object(None)
"""The value ``None``: what a call that returns nothing gives, and a new axis in an index."""


@dataclass(eq=False, slots=True)
class Undefined:
    """A local variable without a value yet; ``touched`` notes that somebody looked at it.

    ``outer`` is the same variable's mark before the loop that this mark belongs to.
    """

    name: str
    outer: Undefined | None = None
    in_loop: bool = False
    touched: bool = False

    def touch(self) -> None:
        """Note that the value matters, here and in the loops around."""
        self.touched = True
        if self.outer is not None:
            self.outer.touch()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A local variable that is one thing on one path and an incompatible one on another."""

    name: str
    first: str
    second: str


Value = (
    Scalar
    | Constant
    | Complex
    | Tuple
    | Slice
    | Array
    | Flat
    | Record
    | Object
    | Method
    | Closure
    | GridGroup
    | Undefined
    | Conflict
)


def describe(value: Value) -> str:
    """*value* in words, for messages: ``an int64``, ``array a``."""
    match value:
        case Scalar() | Constant() | Complex():
            return f"{value.type}"
        case Tuple(names=names) if names:
            return f"{value.type.__name__ if isinstance(value.type, type) else value.type}"
        case Tuple():
            return "(" + ", ".join(describe(item) for item in value.items) + ")"
        case Method():
            return f"the method .{value.name} of {describe(value.owner)}"
        case Slice():
            return "a slice"
        case Closure(tree=tree):
            return f"the function {tree.name}"
        case GridGroup():
            return "the group of the grid"
        case Flat(array=array):
            return f"the elements of {describe(array)}"
        case Record():
            return f"a record of {value.element.name}"
        case Array():
            return f"{value.ndim}-d array {value.name} of {value.type}"
        case Object(value=None, symbol=None):
            return "None"
        case Object():
            return f"cuda.{value.symbol}" if value.symbol else _object_name(value.value)
        case _:
            return "undefined"


def _object_name(value: Any) -> str:
    """A function or type as one writes it, ``numpy.sum``; else what Python prints."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if name is None:
        return repr(value)
    return name if module in ("builtins", "__main__", None) else f"{module}.{name}"
