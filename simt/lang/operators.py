"""Python's operators on scalars: Numba's result type, then one micro-op each."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba.core import types

from simt.lang import complexes
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import Number, ScalarValue, convert, narrow, scalar, truth
from simt.lang.diagnostics import wrong
from simt.lang.ir import (
    PLOP_AND,
    PLOP_LESS,
    PLOP_LESS_EQUAL,
    PLOP_NOT,
    PLOP_OR,
    PLOP_XNOR,
    PLOP_XOR,
    ZERO,
    PredRef,
    UniformRef,
)
from simt.lang.values import Complex, Constant, Scalar, Value
from simt.ops.encoding import ZERO_DIVISION


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operator: its text, Python's function, and its micro-op per kind of result.

    ``signed``/``unsigned`` act on 64-bit integers (``**`` picks its own, see :func:`_power`), ``floating`` is the
    stem of the float micro-op, ``table`` the truth table on booleans.
    """

    text: str
    function: Callable[[Any, Any], Any]
    signed: str = ""
    unsigned: str = ""
    floating: str = ""
    table: int = 0


BINARY = {
    row.text: row
    for row in (
        Binary("+", operator.add, "add.s64", "add.s64", "add"),
        Binary("-", operator.sub, "sub.s64", "sub.s64", "sub"),
        Binary("*", operator.mul, "mul.s64", "mul.s64", "mul"),
        Binary("/", operator.truediv, floating="div"),
        Binary("//", operator.floordiv, "floordiv.s64", "div.u64", "floordiv"),
        Binary("%", operator.mod, "floormod.s64", "rem.u64", "floormod"),
        Binary("**", operator.pow, "pow.s64", "pow.u64", "pow"),
        Binary("<<", operator.lshift, "shl.b64", "shl.b64"),
        Binary(">>", operator.rshift, "shr.s64", "shr.u64"),
        Binary("&", operator.and_, "and.b64", "and.b64", table=PLOP_AND),
        Binary("|", operator.or_, "or.b64", "or.b64", table=PLOP_OR),
        Binary("^", operator.xor, "xor.b64", "xor.b64", table=PLOP_XOR),
    )
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison: Python's function, the micro-op's stem, whether operands swap, its table on booleans."""

    text: str
    function: Callable[[Any, Any], Any]
    stem: str
    swapped: bool
    table: int


COMPARISONS = {
    row.text: row
    for row in (
        Comparison("==", operator.eq, "eq", False, PLOP_XNOR),
        Comparison("!=", operator.ne, "ne", False, PLOP_XOR),
        Comparison("<", operator.lt, "lt", False, PLOP_LESS),
        Comparison("<=", operator.le, "le", False, PLOP_LESS_EQUAL),
        Comparison(">", operator.gt, "lt", True, PLOP_LESS),
        Comparison(">=", operator.ge, "le", True, PLOP_LESS_EQUAL),
    )
}


def operate(b: Builder, text: str, left: Number, right: Number) -> Value:
    """``left <text> right`` on numbers of any type."""
    row = BINARY[text]
    signature = nt.operator_signature(row.function, (left.type, right.type))
    if signature is not None and isinstance(signature.return_type, types.Complex):
        return complexes.binary(b, text, left, right, signature)
    return binary(b, text, scalar(b, left), scalar(b, right))


def binary(b: Builder, text: str, left: ScalarValue, right: ScalarValue) -> ScalarValue:
    """``left <text> right``: one instruction, and one per operand that has to be converted."""
    row = BINARY[text]
    signature = nt.operator_signature(row.function, (left.type, right.type))
    if signature is None:
        wrong(b.place, f"operator {text} on {left.type} and {right.type}", help=_OPERAND_HELP)
    result = nt.plain(signature.return_type)
    if isinstance(left, Constant) and isinstance(right, Constant):
        folded = _fold_binary(row, left, right, signature, result)
        if folded is not None:
            return folded
    if row.text == "**":
        return _power(b, left, right, signature, result)
    kind = nt.storage_class(result)
    if kind == nt.F16:
        return half_op(b, row.floating, result, convert(b, left, result), convert(b, right, result))
    if kind in (nt.F32, nt.F64):
        left, right = convert(b, left, result), convert(b, right, result)
        _check_divisor(b, text, right, f"eq.{kind}")
        return b.value(f"{row.floating}.{kind}", result, b.operand(left), b.operand(right))
    left, right = (convert(b, value, ty) for value, ty in zip((left, right), signature.args, strict=True))
    if kind == nt.BOOL:
        return b.value("plop", result, b.operand(left), b.operand(right), imm=row.table)
    _check_divisor(b, text, right, "eq.s64")
    name = row.signed if result.signed else row.unsigned
    return b.value(name, result, b.operand(left), b.operand(right))


def _check_divisor(b: Builder, text: str, divisor: ScalarValue, equals: str) -> None:
    """With ``debug=True`` stop at a divisor of zero, where Numba raises ZeroDivisionError."""
    if b.debug and text in ("/", "//", "%"):
        zero = b.operand(Constant(divisor.type, nt.cast_constant(0, divisor.type)))
        _stop(b, b.value(equals, types.boolean, b.operand(divisor), zero, retires=False))


def _stop(b: Builder, where: Scalar) -> None:
    assert isinstance(where.operand, PredRef)
    b.emit("trap", imm=ZERO_DIVISION, retires=False).guard = where.operand


_OPERAND_HELP = "Numba has no such operator; convert an operand, e.g. int32(x) or float32(x)"


def _fold_binary(row: Binary, left: Constant, right: Constant, signature: Any, result: Any) -> Constant | None:
    """The constant result, or None where Python's differs from the machine's, which then has to say."""
    kind = nt.storage_class(result)
    if row.text in ("<<", ">>") and not 0 <= right.value < 64:
        return None
    if row.text in ("//", "%") and kind != nt.INT:
        return None
    squares = row.text == "**" and nt.storage_class(signature.args[1]) == nt.INT
    if squares and (kind != nt.INT or not 0 <= right.value < 64):
        return None
    try:
        operands = zip((left, right), (result, result) if kind == nt.INT else signature.args, strict=True)
        value = row.function(*(nt.cast_constant(v.value, t, v.type) for v, t in operands))
    except ArithmeticError:
        return None
    if isinstance(value, complex) or (row.text == "//" and value > _INT64_MAX and result.signed):
        return None
    return Constant(result, nt.cast_constant(value, result))


_INT64_MAX = 2**63 - 1


def _power(b: Builder, left: ScalarValue, right: ScalarValue, signature: Any, result: Any) -> Scalar:
    """``**``: integer exponents by Numba's squaring, float exponents in float64 (rounded once to float32)."""
    kind = nt.storage_class(result)
    exponent_type = signature.args[1]
    base = convert(b, left, result if kind == nt.INT else signature.args[0])
    exponent = convert(b, right, exponent_type)
    if nt.storage_class(exponent_type) != nt.INT:
        return float64_op(b, "pow", result, base, exponent)
    _end_at_overflow(b, right, exponent, exponent_type)
    if kind == nt.INT:
        _check_base(b, base, exponent, exponent_type)
        name = "pow.u64" if not result.signed else "pow.s64" if exponent_type.signed else "pow.s64.u64"
        return b.value(name, result, b.operand(base), b.operand(exponent))
    operand = b.operand(exponent)
    if right.type == types.uint64:
        # powi takes a signed exponent; every float to the power of 2**63 - 1 is what it is to any higher one.
        limit = b.operand(Constant(types.uint64, _INT64_MAX))
        operand = b.value("min.u64", types.uint64, operand, limit, retires=False).operand
    return b.value(f"powi.{kind}", result, b.operand(base), operand)


def _check_base(b: Builder, base: ScalarValue, exponent: ScalarValue, ty: Any) -> None:
    """With ``debug=True`` stop at an integer 0 with a negative exponent, where Numba raises ZeroDivisionError."""
    if b.debug and ty.signed:
        is_zero = b.value("eq.s64", types.boolean, b.operand(base), ZERO, retires=False)
        is_negative = b.value("lt.s64", types.boolean, b.operand(exponent), ZERO, retires=False)
        operands = is_zero.operand, is_negative.operand
        _stop(b, b.value("plop", types.boolean, *operands, imm=PLOP_AND, retires=False))


def _end_at_overflow(b: Builder, given: ScalarValue, exponent: ScalarValue, ty: Any) -> None:
    """End the threads whose exponent has no negative: there Numba raises, which ends a thread silently."""
    least, _ = nt.integer_range(ty)
    if not ty.signed or nt.storage_class(given.type) != nt.INT or nt.integer_range(given.type)[0] > least:
        return
    if isinstance(exponent, Constant) and exponent.value != least:
        return
    bound = b.operand(Constant(ty, least))
    raises = b.value("eq.s64", types.boolean, b.operand(exponent), bound, retires=False)
    assert isinstance(raises.operand, PredRef)
    b.emit("exit", retires=False).guard = raises.operand


def half_op(b: Builder, stem: str, result: Any, *args: ScalarValue) -> Scalar:
    """Apply ``<stem>.f32`` to float16 *args*, and round once more: the bits of the operation in float16."""
    wide = [b.operand(convert(b, arg, types.float32, counted=False)) for arg in args]
    value = b.value(f"{stem}.f32", types.float32, *wide, retires=False)
    return b.value("cvt.f16.f32", result, value.operand)


def float64_op(b: Builder, stem: str, result: Any, *args: ScalarValue) -> Scalar:
    """Apply ``<stem>.f64`` to *args* for a result of any float type.

    Narrower operands are computed in float64 and rounded once, which counts; the conversions to float64 do not.
    """
    wide = [b.operand(convert(b, arg, types.float64, counted=False)) for arg in args]
    narrow = nt.storage_class(result) != nt.F64
    value = b.value(f"{stem}.f64", types.float64, *wide, retires=not narrow)
    if not narrow:
        return value
    rounded = convert(b, value, result)
    assert isinstance(rounded, Scalar)
    return rounded


def compare(b: Builder, text: str, left: Number, right: Number) -> ScalarValue:
    """``left <text> right`` as a boolean: one instruction, and one per operand that has to be converted."""
    row = COMPARISONS[text]
    signature = nt.operator_signature(row.function, (left.type, right.type))
    if signature is None:
        wrong(b.place, f"comparison {text} of {left.type} and {right.type}", help=_OPERAND_HELP)
    ty = nt.plain(signature.args[0])
    if isinstance(ty, types.Complex):
        return complexes.compare(b, text, left, right, signature)
    left, right = scalar(b, left), scalar(b, right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        values = (nt.cast_constant(left.value, ty), nt.cast_constant(right.value, ty))
        return Constant(types.boolean, bool(row.function(*values)))
    left, right = convert(b, left, ty), convert(b, right, nt.plain(signature.args[1]))
    if row.swapped:
        left, right = right, left
    kind = nt.storage_class(ty)
    if kind == nt.F16:
        left, right = (convert(b, value, types.float32, counted=False) for value in (left, right))
        kind = nt.F32
    operands = b.operand(left), b.operand(right)
    if kind == nt.BOOL:
        return b.value("plop", types.boolean, *operands, imm=row.table)
    if kind == nt.INT:
        kind = "s64" if ty.signed or row.stem in ("eq", "ne") else "u64"
    return b.value(f"{row.stem}.{kind}", types.boolean, *operands)


def logical_not(b: Builder, value: Number) -> ScalarValue:
    """``not value``: one instruction."""
    if isinstance(value, Complex):
        return logical_not(b, truth(b, value))
    if isinstance(value, Constant):
        return Constant(types.boolean, not value.value)
    kind = nt.storage_class(value.type)
    if kind == nt.BOOL:
        return b.value("plop", types.boolean, b.operand(value), imm=PLOP_NOT)
    return compare(b, "==", value, Constant(value.type, 0))


UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}


def unary(b: Builder, text: str, value: Number) -> Number:
    """``-value``, ``+value``, ``~value``: one instruction (for each part of a complex number)."""
    if isinstance(value, Complex):
        if text == "~":
            wrong(b.place, f"operator ~ on {value.type}", help=_OPERAND_HELP)
        return value if text == "+" else complexes.negative(b, value)
    signature = nt.operator_signature(UNARY[text], (value.type,))
    if signature is None:
        wrong(b.place, f"operator {text} on {value.type}", help=_OPERAND_HELP)
    result = nt.plain(signature.return_type)
    kind = nt.storage_class(result)
    if isinstance(value, Constant) and kind != nt.BOOL:
        narrowed = nt.cast_constant(UNARY[text](value.value), value.type if _is_narrow(value.type) else result)
        return Constant(result, nt.cast_constant(narrowed, result))
    if kind == nt.BOOL:
        return logical_not(b, truth(b, value))
    operand = b.operand(convert(b, value, result))
    if text == "+":
        return b.value("mov", result, operand)
    if kind == nt.F16:
        return b.value("xor.b64", result, operand, UniformRef("const", 0x8000))
    if kind != nt.INT:
        return b.value(f"neg.{kind}", result, operand)
    name = "not.b64" if text == "~" else "neg.s64"
    if not _is_narrow(value.type):
        return b.value(name, result, operand)
    wide = b.value(name, result, operand, retires=False)  # Numba: at the operand's width, then widened
    return Scalar(result, narrow(b, wide, value.type, retires=True).operand)


def _is_narrow(ty: Any) -> bool:
    return nt.storage_class(ty) == nt.INT and ty.bitwidth < 64
