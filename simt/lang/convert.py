"""Conversions between scalar types.

Counting: a conversion between integer and floating point, between float32 and float64, or of a boolean to a
number is one instruction; widening an integer is free, and so is narrowing where a store or an atomic does
it. An explicit conversion is always one.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.diagnostics import wrong
from simt.lang.ir import PLOP_OR, ZERO, Operand, UniformRef
from simt.lang.values import Complex, Constant, Scalar, Value, describe
from simt.ops.encoding import integer_conversion, rounded

ScalarValue = Scalar | Constant
Number = Scalar | Constant | Complex


def constant(value: Any) -> Constant | Complex | None:
    """A Python or NumPy number as a value; None if *value* is no number that kernels have."""
    ty = nt.constant_type(value)
    if ty is None:
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(ty, types.Complex):
        return Constant(ty, plain)
    part = ty.underlying_float
    return Complex(ty, Constant(part, plain.real), Constant(part, plain.imag))


def number(b: Builder, value: Value) -> Number:
    """*value*, which has to be a number."""
    if isinstance(value, Complex):
        return value
    return scalar(b, value)


def scalar(b: Builder, value: Value) -> ScalarValue:
    """*value*, which has to be a number that is not complex."""
    if isinstance(value, Scalar | Constant):
        return value
    if isinstance(value, Complex):
        wrong(b.place, f"a {value.type} does not fit here", help="use .real, .imag or abs()")
    wrong(b.place, f"a number is needed here, not {describe(value)}")


@overload
def convert(b: Builder, value: ScalarValue, ty: Any, *, counted: bool = True) -> ScalarValue: ...


@overload
def convert(b: Builder, value: Number, ty: Any, *, counted: bool = True) -> Any: ...


def convert(b: Builder, value: Number, ty: Any, *, counted: bool = True) -> Any:
    """*value* as type *ty*, implicitly: integers are narrowed free, other conversions count if *counted*.

    A complex number is converted part by part; the imaginary part of another number is a constant.
    """
    ty = nt.plain(ty)
    if value.type == ty:
        return value
    if isinstance(ty, types.Complex):
        part = ty.underlying_float
        real, imag = (value.real, value.imag) if isinstance(value, Complex) else (value, Constant(part, 0.0))
        return Complex(ty, convert(b, real, part, counted=counted), convert(b, imag, part, counted=counted))
    if isinstance(value, Complex):
        wrong(b.place, f"cannot convert {value.type} to {ty}", help="use .real, .imag or abs()")
    if isinstance(value, Constant):
        return Constant(ty, nt.cast_constant(value.value, ty, value.type))
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    if target is None or source is None:
        wrong(b.place, f"cannot convert {value.type} to {ty}")
    if source == target == nt.INT:
        if _holds(ty, value.type):
            return Scalar(ty, value.operand)
        return narrow(b, value, ty, retires=False)
    return _change(b, value, ty, retires=counted)


def as_complex(b: Builder, value: Number, ty: Any, *, counted: bool = True) -> Complex:
    """*value* as a complex number of type *ty*."""
    result = convert(b, value, ty, counted=counted)
    assert isinstance(result, Complex)
    return result


def cast(b: Builder, value: Number, ty: Any) -> Number:
    """*value* explicitly converted to *ty*: exactly one instruction, unless it is a constant; for each part."""
    ty = nt.plain(ty)
    if isinstance(ty, types.Complex):
        part = ty.underlying_float
        real, imag = (value.real, value.imag) if isinstance(value, Complex) else (value, Constant(part, 0.0))
        parts = [cast(b, item, part) for item in (real, imag)]
        return Complex(ty, scalar(b, parts[0]), scalar(b, parts[1]))
    if isinstance(value, Complex):
        wrong(b.place, f"cannot convert {value.type} to {ty}", help="use .real, .imag or abs()")
    if isinstance(value, Constant):
        return Constant(ty, nt.cast_constant(value.value, ty, value.type))
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    if source == target == nt.BOOL:
        return b.value("plop", ty, b.operand(value), imm=0xF0)
    if source == target:
        if target == nt.INT and not _holds(ty, value.type):
            return narrow(b, value, ty, retires=True)
        return b.value("mov", ty, b.operand(value))
    return _change(b, value, ty, retires=True)


def truth(b: Builder, value: Number, *, counted: bool = True) -> ScalarValue:
    """*value* as a condition: a number is compared with zero, which is one instruction (two for a complex one)."""
    if isinstance(value, Complex):
        parts = [b.operand(truth(b, part, counted=counted)) for part in (value.real, value.imag)]
        return b.value("plop", types.boolean, *parts, imm=PLOP_OR, retires=False)
    return convert(b, value, types.boolean, counted=counted)


def _holds(ty: Any, source: Any) -> bool:
    """True if the 64-bit form of every *source* integer is that of the same value in *ty*, modulo 2**64."""
    if ty.bitwidth == 64:
        return True
    low, high = nt.integer_range(ty)
    source_low, source_high = nt.integer_range(source)
    return bool(low <= source_low and source_high <= high)


def narrow(b: Builder, value: Scalar, ty: Any, *, retires: bool) -> Scalar:
    """The low bits of an integer as type *ty* of at most 32 bits."""
    sign = "s" if ty.signed else "u"
    return b.value(f"cvt.{sign}{ty.bitwidth}", ty, value.operand, retires=retires)


def _change(b: Builder, value: Scalar, ty: Any, *, retires: bool) -> Scalar:
    """Convert between storage classes; only the last operation may retire."""
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    operand: Operand = value.operand
    if nt.F16 in (source, target):
        return _change_half(b, value, ty, retires=retires)
    if target == nt.BOOL:
        kind = "s64" if source == nt.INT else source
        return b.value(f"ne.{kind}", ty, operand, ZERO, retires=retires)
    if source == nt.BOOL:
        one = UniformRef("const", nt.constant_bits(1, ty))
        return b.value("selp", ty, one, ZERO, operand, retires=retires)
    if source == nt.INT:
        sign = "s64" if nt.is_signed(value.type) else "u64"
        return b.value(f"cvt.{target}.{sign}", ty, operand, retires=retires)
    if target != nt.INT:
        return b.value(f"cvt.{target}.{source}", ty, operand, retires=retires)
    return _truncate(b, value, ty, retires=retires)


def _change_half(b: Builder, value: Scalar, ty: Any, *, retires: bool) -> Scalar:
    """Convert from or to float16, through float32 or (in one rounding) from float64."""
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    if source == nt.F16:
        wide = b.value("cvt.f32.f16", types.float32, value.operand, retires=retires and target == nt.F32)
        if target == nt.F32:
            return wide
        if target == nt.INT:
            nearest = b.value("cvt.f64.f32", types.float64, wide.operand, retires=False)
            return _to_integer(b, nearest, ty, "rn", nt.nan_gives_zero(nt.conversion_type(ty), value.type), retires)
        return _change(b, wide, ty, retires=retires)
    if source == nt.F64:
        return b.value("cvt.rnd.f64", ty, value.operand, imm=rounded("f16", "rn"), retires=retires)
    if source == nt.BOOL:
        one = UniformRef("const", nt.constant_bits(1, ty))
        return b.value("selp", ty, one, ZERO, value.operand, retires=retires)
    wide = value if source == nt.F32 else _change(b, value, types.float32, retires=False)
    return b.value("cvt.f16.f32", ty, wide.operand, retires=retires)


_DIRECT: dict[tuple[Any, str | None], str] = {
    (types.int64, nt.F32): "cvt.s64.f64",
    (types.int64, nt.F64): "cvt.s64.f64",
    (types.uint64, nt.F32): "cvt.u64.f64",
    (types.uint64, nt.F64): "cvt.u64.f64",
    (types.int32, nt.F64): "cvt.s32.f64",
    (types.uint32, nt.F32): "cvt.u32.f64",
}
"""Conversions that one micro-op does, NaN included."""


def _truncate(b: Builder, value: Scalar, ty: Any, *, retires: bool) -> Scalar:
    """A float as an integer (see :func:`simt.lang.numba_types.cast_constant` for the rule)."""
    source = nt.storage_class(value.type)
    operand = value.operand
    if source == nt.F32:
        operand = b.value("cvt.f64.f32", types.float64, operand, retires=False).operand
    direct = _DIRECT.get((ty, source))
    if direct is not None:
        return b.value(direct, ty, operand, retires=retires)
    if ty == types.int32:  # as below for float32, in fast micro-ops: this is the usual one
        integer = b.value("cvt.s32.f64", ty, operand, retires=False)
        number = b.value("eq.f32", types.boolean, value.operand, value.operand, retires=False)
        return b.value("selp", ty, integer.operand, ZERO, number.operand, retires=retires)
    zero = nt.nan_gives_zero(nt.conversion_type(ty), value.type)
    return _to_integer(b, Scalar(types.float64, operand), ty, "rz", zero, retires)


def _to_integer(b: Builder, value: Scalar, ty: Any, rounding: str, nan_gives_zero: bool, retires: bool) -> Scalar:
    """A float64 as an integer, limited to the range of the type that the hardware converts to."""
    wide = nt.conversion_type(ty)
    name = f"{'s' if wide.signed else 'u'}{wide.bitwidth}"
    how = integer_conversion(name, rounding, nan_gives_zero)
    exact = wide == ty and (not ty.signed or ty.bitwidth == 64)  # it leaves narrow integers zero-extended
    integer = b.value("cvt.int.f64", ty, value.operand, imm=how, retires=retires and exact)
    return integer if exact else narrow(b, integer, ty, retires=retires)
