"""Functions that take a float apart: math.frexp and math.nextafter.  Each is one instruction."""

from __future__ import annotations

import math
from typing import Any

from numba.core.types import containers

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import ScalarValue, convert, scalar
from simt.lang.intrinsic import Intrinsic, b1, f4, f8, i4, i8
from simt.lang.ir import PLOP_AND, PLOP_XNOR, ZERO
from simt.lang.numeric import select
from simt.lang.values import Constant, Scalar, Tuple, Value

_FRACTION_BITS, _EXPONENT = 52, 0x7FF
_BIAS = 1022
"""What the exponent field of a float64 between 0.5 and 1 holds."""
_SHIFT = 54
"""Denormals are multiplied by 2 to this power first."""

FREXP = tuple(containers.Tuple((ty, i4))(ty) for ty in (f4, f8))
NEXTAFTER = (f4(f4, f4), f8(f8, f8))


def _whole(value: int) -> Constant:
    return Constant(i8, value)


def _op(b: Builder, name: str, ty: Any, *values: ScalarValue, imm: int = 0) -> Scalar:
    return b.value(name, ty, *(b.operand(value) for value in values), imm=imm)


def _bits(b: Builder, value: ScalarValue) -> Scalar:
    """The bits of a float as an integer: the same row."""
    return Scalar(i8, b.operand(value))


def frexp(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    """Fraction and exponent of a float; those of 0, NaN and infinity are the number itself and 0."""
    value = scalar(b, args[0])
    with b.one_instruction():
        x = convert(b, value, f8)
        size = _op(b, "abs.f64", f8, x)
        is_small = _op(b, "lt.f64", b1, size, Constant(f8, 2.0**-_BIAS))
        scaled = _op(b, "mul.f64", f8, x, Constant(f8, 2.0**_SHIFT))
        bits = _bits(b, select(b, is_small, scaled, x))
        field = _op(b, "and.b64", i8, _op(b, "shr.u64", i8, bits, _whole(_FRACTION_BITS)), _whole(_EXPONENT))
        exponent = _op(b, "sub.s64", i8, field, select(b, is_small, _whole(_BIAS + _SHIFT), _whole(_BIAS)))
        rest = _op(b, "and.b64", i8, bits, _whole(~(_EXPONENT << _FRACTION_BITS)))
        fraction = _op(b, "or.b64", i8, rest, _whole(_BIAS << _FRACTION_BITS))
        some, finite = (
            _op(b, "lt.f64", b1, *pair) for pair in ((Constant(f8, 0.0), size), (size, Constant(f8, math.inf)))
        )
        has_parts = _op(b, "plop", b1, some, finite, imm=PLOP_AND)
        whole = select(b, has_parts, Scalar(i4, exponent.operand), Constant(i4, 0))
        part = convert(b, select(b, has_parts, Scalar(f8, fraction.operand), x), value.type)
    return Tuple((part, whole))


def nextafter(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    """The float next to the first argument in the direction of the second."""
    ty = signature.return_type
    kind = nt.storage_class(ty)
    x, y = (scalar(b, arg) for arg in args)
    sign = -(2**63) if ty == f8 else 2**31
    with b.one_instruction():
        bits = _bits(b, x)
        rises = _op(b, f"lt.{kind}", b1, x, y)
        positive = b.value(f"lt.{kind}", b1, ZERO, b.operand(x))
        grows = _op(b, "plop", b1, rises, positive, imm=PLOP_XNOR)
        moved: ScalarValue = select(
            b, grows, _op(b, "add.s64", i8, bits, _whole(1)), _op(b, "sub.s64", i8, bits, _whole(1))
        )
        least = _op(b, "or.b64", i8, _op(b, "and.b64", i8, _bits(b, y), _whole(sign)), _whole(1))
        is_zero = b.value(f"eq.{kind}", b1, b.operand(x), ZERO)
        moved = select(b, is_zero, least, moved)
        moved = select(b, _op(b, f"eq.{kind}", b1, x, y), _bits(b, y), moved)
        ordered = _op(b, "plop", b1, *(_op(b, f"eq.{kind}", b1, each, each) for each in (x, y)), imm=PLOP_AND)
        total = _op(b, f"add.{kind}", ty, x, y)
        return select(b, ordered, Scalar(ty, b.operand(moved)), total)


ROWS = [
    Intrinsic("math.frexp", frexp, (1,), FREXP),
    Intrinsic("math.nextafter", nextafter, (2,), NEXTAFTER),
    *(Intrinsic(f"libdevice.frexp{end}", frexp, (1,), (case,)) for end, case in zip(("f", ""), FREXP, strict=True)),
    *(
        Intrinsic(f"libdevice.nextafter{end}", nextafter, (2,), (case,))
        for end, case in zip(("f", ""), NEXTAFTER, strict=True)
    ),
]
