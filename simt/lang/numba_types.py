"""What Numba says about types, and how a type is kept in the machine.

Result types come from Numba itself: :func:`operator_signature` asks its typing context for operators and
builtins, :func:`overload` for the signatures that Numba's CUDA target declares (see
:mod:`simt.lang.intrinsics`), :func:`unify` for variables whose type differs between paths.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numba import typeof
from numba.core import config, types
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.typeconv import Conversion
from numba.np import numpy_support

INT = "int"
F16 = "f16"
F32 = "f32"
F64 = "f64"
BOOL = "bool"

FLOATS = (F16, F32, F64)
"""Storage classes of floating-point numbers."""

MEMORY_TYPE = {
    types.boolean: "u8",
    types.int8: "s8",
    types.uint8: "u8",
    types.int16: "s16",
    types.uint16: "u16",
    types.int32: "s32",
    types.uint32: "u32",
    types.int64: "b64",
    types.uint64: "b64",
    types.float16: "u16",
    types.float32: "u32",
    types.float64: "b64",
}
"""Access type (``program.MEMORY_TYPES``) of each number that is loaded and stored at once."""

ELEMENTS = "use bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, or records of them"
"""What arrays may have as elements, in words."""


def is_element(ty: Any) -> bool:
    """Whether arrays in the source view may have elements of type *ty*."""
    if isinstance(ty, types.Record):
        return all(is_element(field.type) for field in ty.fields.values())
    if isinstance(ty, types.NestedArray):
        return is_element(ty.dtype)
    return ty in MEMORY_TYPE or isinstance(ty, types.Complex)


def as_dtype(ty: Any) -> np.dtype[Any]:
    """The NumPy dtype of an element type."""
    return numpy_support.as_dtype(ty)


ATOMIC_TYPE = {
    types.int32: "s32",
    types.uint32: "u32",
    types.int64: "s64",
    types.uint64: "u64",
    types.float32: "f32",
    types.float64: "f64",
}
"""Operand type (``program.ATOMIC_TYPES``) of each element type that atomics take."""


def plain(ty: Any) -> Any:
    """*ty* without its literal value: ``Literal[int](2)`` becomes ``int64``."""
    return ty.literal_type if isinstance(ty, types.Literal) else ty


def natural_alignment(ty: Any) -> int:
    """What the addresses of values of type *ty* are multiples of where nothing packs them."""
    if isinstance(ty, types.Record):
        return max([1, *(natural_alignment(field.type) for field in ty.fields.values())]) if ty.aligned else 1
    if isinstance(ty, types.NestedArray):
        return natural_alignment(ty.dtype)
    if isinstance(ty, types.Complex):
        return natural_alignment(ty.underlying_float)
    return as_dtype(ty).itemsize


def element_of(array: np.ndarray) -> Any | None:
    """The Numba type of an array's elements; None if Numba has none."""
    try:
        return typeof(array).dtype
    except (ValueError, NumbaError):
        return None


@lru_cache(maxsize=1)
def _context() -> Any:
    context = cpu_target.typing_context
    context.refresh()
    return context


@contextmanager
def _typing() -> Iterator[Any]:
    """Numba's typing context, with the compiler on: ``min`` and its kin are typed by compiling them.

    ``NUMBA_DISABLE_JIT=1`` is for the engine, and would end that in an AttributeError.
    """
    before, config.DISABLE_JIT = config.DISABLE_JIT, 0
    try:
        yield _context()
    finally:
        config.DISABLE_JIT = before


@lru_cache(maxsize=4096)
def operator_signature(function: Callable[..., Any], argtypes: tuple[Any, ...]) -> Any | None:
    """Numba's signature (``.return_type``, ``.args``) of an operator or builtin; None if it has none."""
    if types.float16 in argtypes and function in _ON_HALVES:
        signature = _half_signature(_ON_HALVES[function], argtypes)
        if signature is not None:
            return signature
    try:
        with _typing() as context:
            return context.resolve_function_type(function, argtypes, {})
    except (NumbaError, NotImplementedError, ValueError):
        return None


_ON_HALVES: dict[Callable[..., Any], Any] = {
    **dict.fromkeys((abs, min, max, operator.neg, operator.pos), types.float16),
    **dict.fromkeys((operator.add, operator.sub, operator.mul, operator.truediv), types.float16),
    **dict.fromkeys((operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge), types.boolean),
}
"""Operators that Numba's CUDA target has for float16, and its CPU target has not; with the type of their result."""


def _half_signature(result: Any, argtypes: tuple[Any, ...]) -> Any | None:
    """Numba's signature of an operator on float16, if the other operand becomes one, too."""
    near = (Conversion.exact, Conversion.promote, Conversion.safe)
    if all(_context().can_convert(ty, types.float16) in near for ty in argtypes):
        return result(*(types.float16 for _ in argtypes))
    return None


@lru_cache(maxsize=4096)
def overload(name: str, cases: tuple[Any, ...], argtypes: tuple[Any, ...]) -> Any | None:
    """The declared signature of *cases* that Numba's rules choose for *argtypes*; None if none fits.

    Numba has functions of float16 apart: nothing else is converted to it where there are other cases.
    """
    if types.float16 not in argtypes:
        cases = tuple(case for case in cases if types.float16 not in case.args) or cases
    try:
        with _typing() as context:
            return context.resolve_overload(name, cases, argtypes, {})
    except (NumbaError, NotImplementedError, ValueError):
        return None


@lru_cache(maxsize=4096)
def unify(argtypes: tuple[Any, ...]) -> Any | None:
    """The type of a variable that has each of *argtypes* on some path; None if Numba finds none."""
    with _typing() as context:
        unified = context.unify_types(*argtypes)
    return None if unified is None or unified in (types.undefined, types.unknown) else unified


def unify_all(argtypes: Sequence[Any]) -> Any | None:
    """:func:`unify` without regard to order and repetition."""
    distinct = sorted(set(argtypes), key=str)
    return distinct[0] if len(distinct) == 1 else unify(tuple(distinct))


def reduced(ty: Any, name: str) -> Any:
    """The type that Numba gives the sum, product (``name``: ``"sum"``, ``"prod"``) or mean of elements of type *ty*."""
    if name == "mean":
        return ty if isinstance(ty, types.Float | types.Complex) else types.float64
    if storage_class(ty) not in (INT, BOOL):
        return ty
    return types.int64 if storage_class(ty) == BOOL or is_signed(ty) else types.uint64


def storage_class(ty: Any) -> str | None:
    """How a number of type *ty* is kept: INT, F16, F32, F64 in registers, BOOL in predicates; None if not in one."""
    if isinstance(ty, types.Boolean):
        return BOOL
    if isinstance(ty, types.Integer):
        return INT
    if ty == types.float16:
        return F16
    if ty == types.float32:
        return F32
    if ty == types.float64:
        return F64
    return None


def is_signed(ty: Any) -> bool:
    """True for signed integers."""
    return isinstance(ty, types.Integer) and integer_range(ty)[0] < 0


def dtype_name(ty: Any) -> str:
    """NumPy's name of a scalar type: ``int32``, ``float64``, ``bool``."""
    return "bool" if isinstance(ty, types.Boolean) else str(plain(ty))


def integer_range(ty: Any) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if ty.signed:
        return -(1 << (ty.bitwidth - 1)), (1 << (ty.bitwidth - 1)) - 1
    return 0, (1 << ty.bitwidth) - 1


def constant_type(value: Any) -> Any | None:
    """The scalar type Numba gives a Python or NumPy constant; None if *value* is not a scalar."""
    if isinstance(value, bool | np.bool_):
        return types.boolean
    if isinstance(value, np.generic):
        name = value.dtype.name
        ty = getattr(types, name, None)
        return ty if ty is not None and is_element(ty) else None
    if isinstance(value, int):
        if -(1 << 63) <= value < (1 << 63):
            return types.int64
        return types.uint64 if 0 <= value < (1 << 64) else None
    if isinstance(value, float):
        return types.float64
    if isinstance(value, complex):
        return types.complex128
    return None


def cast_constant(value: Any, ty: Any, source: Any = None) -> Any:
    """The Python value of constant *value* converted to scalar type *ty* as the machine converts.

    Floats are truncated and limited to :func:`conversion_type`, then cut to *ty*; what a NaN gives depends on
    *source*, the type of a float *value* (float64 if not given).  Integers are cut.
    """
    kind = storage_class(ty)
    if kind == BOOL:
        return bool(value)
    if kind == INT:
        low, _ = integer_range(ty)
        whole = _truncated(value, conversion_type(ty), source) if isinstance(value, float) else int(value)
        return (whole - low) % (1 << ty.bitwidth) + low
    if kind == F16:
        wide = value if isinstance(value, float) else cast_constant(value, types.float32)
        with np.errstate(over="ignore"):
            return float(np.float64(wide).astype(np.float16))
    if kind == F32:
        exact = value if isinstance(value, float) else np.array(value, np.uint64 if value > 0 else np.int64)
        with np.errstate(over="ignore"):
            return float(np.asarray(exact).astype(np.float32))  # one rounding, for integers too
    return float(value)


def conversion_type(ty: Any) -> Any:
    """The integer type that floats are converted to on the way to *ty*: the hardware has none of 8 bits."""
    return {types.int8: types.int16, types.uint8: types.uint16}.get(ty, ty)


def nan_gives_zero(ty: Any, source: Any) -> bool:
    """Whether a NaN of type *source* converts to 0 in integer type *ty*; otherwise to its top bit alone."""
    return bool(storage_class(source) in (F16, F32) and ty.bitwidth < 64)


def _truncated(value: float, ty: Any, source: Any) -> int:
    """A float as an integer of type *ty*: towards zero, from float16 to the nearest even one."""
    low, high = integer_range(ty)
    if math.isnan(value):
        return 0 if nan_gives_zero(ty, source) else low or (high + 1) // 2
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(round(value) if storage_class(source) == F16 else math.trunc(value), low), high)


def constant_bits(value: Any, ty: Any) -> int:
    """The 64-bit register pattern, as a signed int, of constant *value* of type *ty* (not a boolean)."""
    kind = storage_class(ty)
    if kind == F16:
        return int(np.float16(value).view(np.uint16))
    if kind == F32:
        return int(np.float32(value).view(np.uint32))
    if kind == F64:
        return int(np.float64(value).view(np.int64))
    bits = int(value) & 0xFFFFFFFFFFFFFFFF
    return bits - (1 << 64) if bits >> 63 else bits
