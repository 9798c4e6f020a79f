"""The math module, and the NumPy functions on numbers that are the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numba.core import types
from numba.core.types import containers

from simt.lang import library
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert, scalar
from simt.lang.intrinsic import Emit, Intrinsic, b1, f4, f8, i4, i8, u8
from simt.lang.ir import ZERO
from simt.lang.operators import compare, float64_op
from simt.lang.values import Constant, Scalar, Tuple, Value

_UNARY = tuple(ret(arg) for ret, arg in ((f8, i8), (f8, u8), (f4, f4), (f8, f8)))
_UNARY_HALF = (types.float16(types.float16), *_UNARY)
_HALVES = ("sin", "cos", "tanh", "log", "log2", "log10", "exp", "exp2", "floor", "ceil", "trunc", "fabs", "sqrt")
"""Functions that Numba has for float16, too."""
_BINARY = (f4(f4, f4), f8(f8, f8))
_BINARY_INT = (f8(i8, i8), f8(u8, u8), *_BINARY)
_TEST = tuple(b1(arg) for arg in (i8, u8, f4, f8))


def _fold_math(name: str, args: Sequence[Value], ty: Any) -> Constant | None:
    """A math function of constants, where Python can say."""
    function = getattr(math, name.rsplit(".", 1)[1], None)
    if function is None or not all(isinstance(arg, Constant) for arg in args):
        return None
    try:
        value = function(*(arg.value for arg in args if isinstance(arg, Constant)))
        return Constant(ty, nt.cast_constant(value, ty))
    except (ArithmeticError, TypeError, ValueError):
        return None


def _math(stem: str) -> Emit:
    """A function computed by one float micro-op; integers are converted first, which counts."""

    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        ty = signature.return_type
        folded = _fold_math(name, args, ty)
        if folded is not None:
            return folded
        values = [scalar(b, arg) for arg in args]
        if nt.storage_class(ty) == nt.F32 and stem in ("sqrt", "abs"):
            return b.value(f"{stem}.f32", ty, b.operand(values[0]))
        if name == "math.pow" and nt.storage_class(values[1].type) == nt.INT:
            values[1] = convert(b, values[1], f8, counted=False)
        return float64_op(b, stem, ty, *(convert(b, value, ty) if value.type != f8 else value for value in values))

    return emit


def _power_of_two(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return float64_op(b, "pow", signature.return_type, Constant(f8, 2.0), scalar(b, args[0]))


def _of_library(function: Any) -> Emit:
    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        return convert(b, scalar(b, b.inline(function, args)), signature.return_type)

    return emit


def plain(emit: Emit, name: str) -> Emit:
    """*emit* under the name of the function of the math module that it is."""
    return lambda b, _, args, signature: emit(b, name, args, signature)


def _scaled(factor: float) -> Emit:
    """degrees and radians: a multiplication."""

    def emit(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
        ty = signature.return_type
        value = convert(b, scalar(b, args[0]), ty)
        if isinstance(value, Constant):
            return Constant(ty, nt.cast_constant(value.value * factor, ty))
        return b.value(f"mul.{nt.storage_class(ty)}", ty, b.operand(value), b.operand(Constant(ty, factor)))

    return emit


def _float_test(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    value = scalar(b, args[0])
    if nt.storage_class(value.type) == nt.INT:
        return Constant(b1, name == "math.isfinite")
    if isinstance(value, Constant):
        return Constant(b1, bool(getattr(math, name.removeprefix("math."))(value.value)))
    if name == "math.isnan":
        return compare(b, "!=", value, value)
    wide = b.operand(convert(b, value, f8, counted=False))
    if name == "math.isinf":
        return b.value("isinf.f64", b1, wide)
    difference = b.value("sub.f64", f8, wide, wide, retires=False)  # 0, or NaN if not finite
    return b.value("eq.f64", b1, difference.operand, ZERO)


def _modf(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    ty = args[0].type if isinstance(args[0], Scalar | Constant) else f8
    value = convert(b, scalar(b, args[0]), f8, counted=False)
    whole = b.value("trunc.f64", f8, b.operand(value), retires=False)
    remainder = b.value("sub.f64", f8, b.operand(value), whole.operand, retires=False)
    infinite = b.value("isinf.f64", b1, b.operand(value), retires=False)
    finite = b.value("selp", f8, ZERO, remainder.operand, infinite.operand, retires=False)
    fraction = b.value("copysign.f64", f8, finite.operand, b.operand(value))
    return Tuple((convert(b, fraction, ty, counted=False), convert(b, whole, ty, counted=False)))


def _ldexp(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    exponent = convert(b, scalar(b, args[1]), f8, counted=False)
    power = b.value("pow.f64", f8, b.operand(Constant(f8, 2.0)), b.operand(exponent), retires=False)
    return float64_op(b, "mul", signature.return_type, scalar(b, args[0]), power)


_MATH_UNARY = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "abs",
}  # fmt: skip

NUMPY = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "fabs",
}  # fmt: skip
"""NumPy functions on scalars and the math function each is."""


ROWS = [
    *(
        Intrinsic(f"math.{name}", _math(stem), (1,), _UNARY_HALF if name in _HALVES else _UNARY)
        for name, stem in _MATH_UNARY.items()
    ),
    Intrinsic("math.remainder", _of_library(library.remainder), (2,), _BINARY),
    Intrinsic("math.exp2", _power_of_two, (1,), _UNARY_HALF),
    Intrinsic("math.atan2", _math("atan2"), (2,), _BINARY_INT),
    Intrinsic("math.hypot", _math("hypot"), (2,), _BINARY_INT),
    Intrinsic("math.copysign", _math("copysign"), (2,), _BINARY),
    Intrinsic("math.fmod", _math("fmod"), (2,), _BINARY),
    Intrinsic("math.pow", _math("pow"), (2,), (*_BINARY, f4(f4, i4), f8(f8, i4))),
    Intrinsic("math.degrees", _scaled(180.0 / math.pi), (1,), _UNARY),
    Intrinsic("math.radians", _scaled(math.pi / 180.0), (1,), _UNARY),
    *(Intrinsic(f"math.{name}", _float_test, (1,), _TEST) for name in ("isnan", "isinf", "isfinite")),
    Intrinsic("math.modf", _modf, (1,), tuple(containers.UniTuple(t, 2)(t) for t in (f8, f4))),
    Intrinsic("math.ldexp", _ldexp, (2,), (f4(f4, i4), f8(f8, i4))),
]

EMITTED = {row.name.removeprefix("math."): row.emit for row in ROWS}
"""What each function of the math module becomes."""
