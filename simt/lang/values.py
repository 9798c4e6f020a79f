"""What an expression is worth at compile time: scalars, constants, tuples, arrays, Python objects."""

from __future__ import annotations

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
class Tuple:
    """A tuple of values; it exists at compile time only."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or the part of one that leading integer indices leave.

    ``number`` indexes ``Program.arrays``; ``type`` is the element type; ``base`` the address of the part's
    first element; ``axis`` the array's axis that is the part's first; ``shape`` is static for shared, local
    and constant arrays.
    """

    number: int
    name: str
    type: Any
    ndim: int
    space: str
    base: VReg | UniformRef
    axis: int = 0
    shape: tuple[int, ...] | None = None
    readonly: bool = False


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


Value = Scalar | Constant | Tuple | Array | Object | Undefined | Conflict


def describe(value: Value) -> str:
    """*value* in words, for messages: ``an int64``, ``array a``."""
    match value:
        case Scalar() | Constant():
            return f"{value.type}"
        case Tuple():
            return "(" + ", ".join(describe(item) for item in value.items) + ")"
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
