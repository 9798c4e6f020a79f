"""The builtins ``min``, ``max``, ``abs`` and ``round``, as Numba's CUDA target computes them."""

from __future__ import annotations

import math
from typing import Any

from numba.core import types

from simt.lang import library
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, convert, scalar
from simt.lang.diagnostics import wrong
from simt.lang.ir import UniformRef
from simt.lang.operators import binary, compare, half_op
from simt.lang.values import Complex, Constant, Scalar, Tuple, Value, describe

_MOST_DIGITS = 22
"""10.0 to this power is exact; more digits are scaled in two steps."""


def minmax(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    """``min`` and ``max``: one instruction per pair.

    Two floating-point arguments are CUDA's fmin and fmax (a NaN loses, -0.0 is below 0.0).  Everything else,
    longer lists of floats included, is Python's algorithm: the first one wins ties and against NaN.
    """
    spread = len(args) == 1 and isinstance(args[0], Tuple)
    values = [scalar(b, arg) for arg in (args[0].items if isinstance(args[0], Tuple) and spread else args)]
    signature = nt.operator_signature(min if name == "min" else max, tuple(value.type for value in values))
    if signature is None:
        wrong(b.place, f"{name} of {', '.join(describe(value) for value in values)}")
    ty = nt.plain(signature.return_type)
    if nt.storage_class(ty) == nt.BOOL:
        wrong(b.place, f"{name} of booleans", help="use 'and' or 'or'")
    floats = all(nt.storage_class(value.type) in nt.FLOATS for value in values)
    ieee = floats and len(values) == 2 and not spread
    result = values[0]
    for value in values[1:]:
        joint = nt.plain(nt.unify((result.type, value.type)))
        result = _pick(b, name, convert(b, result, joint), convert(b, value, joint), ieee)
    return convert(b, result, ty)


def _pick(b: Builder, name: str, first: ScalarValue, second: ScalarValue, ieee: bool) -> ScalarValue:
    """The smaller or larger of two numbers of one type; *ieee* says that a NaN loses and zeros are ordered."""
    ty = first.type
    lesser, greater = (second, first) if name == "min" else (first, second)
    if isinstance(lesser, Constant) and isinstance(greater, Constant):
        if lesser.value < greater.value:
            return second
        if not ieee or lesser.value > greater.value:
            return first
    kind = nt.storage_class(ty)
    operands = b.operand(first), b.operand(second)
    if kind == nt.INT:
        return b.value(f"{name}.{'s64' if ty.signed else 'u64'}", ty, *operands)
    if ieee and kind == nt.F16:
        return half_op(b, name, ty, first, second)
    if ieee:
        return b.value(f"{name}.{kind}", ty, *operands)
    with b.one_instruction():
        return select(b, compare(b, "<", lesser, greater), second, first)


def select(b: Builder, condition: ScalarValue, yes: ScalarValue, no: ScalarValue) -> ScalarValue:
    """*yes* where the boolean *condition* holds, else *no*, both of one type: one instruction."""
    if isinstance(condition, Constant):
        return yes if condition.value else no
    return b.value("selp", yes.type, b.operand(yes), b.operand(no), condition.operand)


def absolute(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    """``abs``: one instruction; that of the least integer is itself.  Of a complex number: a function."""
    if isinstance(args[0], Complex):
        size: Value = b.inline(library.absolute, args)
        return size
    value = scalar(b, args[0])
    signature = nt.operator_signature(abs, (value.type,))
    if signature is None:
        wrong(b.place, f"abs of {value.type}")
    ty = nt.plain(signature.return_type)
    if isinstance(value, Constant):
        return Constant(ty, nt.cast_constant(abs(value.value), ty))
    kind = nt.storage_class(ty)
    operand = b.operand(convert(b, value, ty))
    if kind == nt.F16:
        return b.value("and.b64", ty, operand, UniformRef("const", 0x7FFF))
    if kind != nt.INT:
        return b.value(f"abs.{kind}", ty, operand)
    if not ty.signed:
        return b.value("mov", ty, operand)
    return convert(b, b.value("abs.s64", types.int64, operand), ty)


def rounded(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    """``round(x)``, an int64, and ``round(x, n)``, a float: one instruction."""
    values = [scalar(b, arg) for arg in args]
    if nt.storage_class(values[0].type) == nt.BOOL:
        wrong(b.place, "round of a boolean")
    signature = nt.operator_signature(round, tuple(value.type for value in values))
    if signature is None:
        wrong(b.place, f"round of {', '.join(describe(value) for value in values)}")
    values = [convert(b, value, ty) for value, ty in zip(values, signature.args, strict=True)]
    with b.one_instruction():
        wide = convert(b, values[0], types.float64)
        if len(values) == 1:
            return _nearest(b, wide)
        return convert(b, _to_digits(b, wide, values[1]), signature.return_type)


def _nearest(b: Builder, value: ScalarValue) -> Scalar:
    """float64 to int64, halves to even, limited to the range of int64."""
    nearest = b.value("rint.f64", types.float64, b.operand(value))
    return b.value("cvt.s64.f64", types.int64, nearest.operand)


def _to_digits(b: Builder, x: ScalarValue, digits: ScalarValue) -> ScalarValue:
    """numba-cuda's ``round_ndigits``: scale by a power of ten, round to int64, scale back."""
    forward = compare(b, ">=", digits, Constant(types.int64, 0))
    many = compare(b, ">", digits, Constant(types.int64, _MOST_DIGITS))
    magnitude = scalar(b, absolute(b, "abs", [digits], None))
    fewer = binary(b, "-", magnitude, Constant(types.int64, _MOST_DIGITS))
    exponent = select(b, many, fewer, magnitude)
    power = b.value("powi.f64", types.float64, b.operand(_float(10.0)), b.operand(exponent))
    rest = select(b, many, _float(1e22), _float(1.0))
    up = binary(b, "*", binary(b, "*", x, power), rest)
    scaled = select(b, forward, up, binary(b, "/", x, power))

    whole = convert(b, _nearest(b, scaled), types.float64)
    halves = convert(b, _nearest(b, binary(b, "/", scaled, _float(2.0))), types.float64)
    is_half = compare(b, "==", _magnitude(b, binary(b, "-", scaled, whole)), _float(0.5))
    whole = select(b, is_half, binary(b, "*", _float(2.0), halves), whole)

    down = binary(b, "/", binary(b, "/", whole, rest), power)
    result = select(b, forward, down, binary(b, "*", whole, power))
    overflows = binary(b, "&", forward, compare(b, "==", _magnitude(b, scaled), _float(math.inf)))
    difference = binary(b, "-", x, x)  # 0, or NaN if x is not finite
    keeps = binary(b, "|", overflows, compare(b, "!=", difference, difference))
    return select(b, keeps, x, result)


def _float(value: float) -> Constant:
    return Constant(types.float64, value)


def _magnitude(b: Builder, value: ScalarValue) -> ScalarValue:
    return b.value("abs.f64", types.float64, b.operand(value))
