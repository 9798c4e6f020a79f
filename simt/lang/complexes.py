"""Operators on complex numbers: one instruction for each operation on their parts, in Numba's order."""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang import library
from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import Number, as_complex
from simt.lang.diagnostics import wrong
from simt.lang.ir import PLOP_AND, PLOP_OR
from simt.lang.values import Complex, Constant, Scalar, Value


def binary(b: Builder, text: str, left: Number, right: Number, signature: Any) -> Value:
    """``left <text> right``: 2 instructions for + and -, 6 for *; / and ** count what their functions do."""
    ty = signature.return_type
    x, y = as_complex(b, left, ty), as_complex(b, right, ty)
    if text in ("+", "-"):
        name = "add" if text == "+" else "sub"
        return Complex(ty, _part(b, name, x.real, y.real), _part(b, name, x.imag, y.imag))
    if text == "*":
        real = _part(b, "sub", _part(b, "mul", x.real, y.real), _part(b, "mul", x.imag, y.imag))
        imag = _part(b, "add", _part(b, "mul", x.real, y.imag), _part(b, "mul", x.imag, y.real))
        return Complex(ty, real, imag)
    if text == "/":
        return as_complex(b, b.inline(library.divide, [x, y]), ty)
    if text == "**":
        if isinstance(right, Constant) and right.value == 2:
            return binary(b, "*", x, x, signature)
        return as_complex(b, b.inline(library.power, [x, y]), ty)
    wrong(b.place, f"operator {text} on complex numbers")


def _part(b: Builder, name: str, left: Scalar | Constant, right: Scalar | Constant) -> Scalar:
    kind = nt.storage_class(left.type)
    return b.value(f"{name}.{kind}", left.type, b.operand(left), b.operand(right))


def compare(b: Builder, text: str, left: Number, right: Number, signature: Any) -> Scalar:
    """``==`` and ``!=``: two comparisons, and what joins them."""
    ty = nt.plain(signature.args[0])
    x, y = as_complex(b, left, ty), as_complex(b, right, ty)
    kind = nt.storage_class(ty.underlying_float)
    stem = "eq" if text == "==" else "ne"
    parts = [
        b.value(f"{stem}.{kind}", types.boolean, b.operand(one), b.operand(other))
        for one, other in ((x.real, y.real), (x.imag, y.imag))
    ]
    table = PLOP_AND if text == "==" else PLOP_OR
    return b.value("plop", types.boolean, *(part.operand for part in parts), imm=table)


def negative(b: Builder, value: Complex) -> Complex:
    """``-value``: two instructions."""
    kind = nt.storage_class(value.real.type)
    parts = [b.value(f"neg.{kind}", part.type, b.operand(part)) for part in (value.real, value.imag)]
    return Complex(value.type, *parts)


def conjugate(b: Builder, value: Complex) -> Complex:
    """``value.conjugate()``: one instruction."""
    kind = nt.storage_class(value.real.type)
    return Complex(value.type, value.real, b.value(f"neg.{kind}", value.imag.type, b.operand(value.imag)))
