"""Conversions between scalar types.

Counting: a conversion between integer and floating point, between float32 and float64, or of a boolean to a
number is one instruction; widening an integer is free, and so is narrowing where a store or an atomic does
it. An explicit conversion is always one.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.diagnostics import wrong
from simt.lang.ir import ZERO, Operand, UniformRef
from simt.lang.values import Constant, Scalar, Value, describe
from simt.ops.encoding import integer_conversion

ScalarValue = Scalar | Constant


def scalar(b: Builder, value: Value) -> ScalarValue:
    """*value*, which has to be a scalar."""
    if isinstance(value, Scalar | Constant):
        return value
    wrong(b.place, f"a number is needed here, not {describe(value)}")


def convert(b: Builder, value: ScalarValue, ty: Any, *, counted: bool = True) -> ScalarValue:
    """*value* as type *ty*, implicitly: integers are narrowed free, other conversions count if *counted*."""
    ty = nt.plain(ty)
    if value.type == ty:
        return value
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


def cast(b: Builder, value: ScalarValue, ty: Any) -> ScalarValue:
    """*value* explicitly converted to *ty*: exactly one instruction, unless it is a constant."""
    ty = nt.plain(ty)
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


def truth(b: Builder, value: ScalarValue, *, counted: bool = True) -> ScalarValue:
    """*value* as a condition: a number is compared with zero, which is one instruction."""
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
    operand: Operand = value.operand
    if source == nt.F32:
        operand = b.value("cvt.f64.f32", types.float64, operand, retires=False).operand
    direct = _DIRECT.get((ty, source))
    if direct is not None:
        return b.value(direct, ty, operand, retires=retires)
    if ty == types.int32:  # as below for float32, in fast micro-ops: this is the usual one
        integer = b.value("cvt.s32.f64", ty, operand, retires=False)
        number = b.value("eq.f32", types.boolean, value.operand, value.operand, retires=False)
        return b.value("selp", ty, integer.operand, ZERO, number.operand, retires=retires)
    wide = nt.conversion_type(ty)
    name = f"{'s' if wide.signed else 'u'}{wide.bitwidth}"
    how = integer_conversion(name, "rz", nt.nan_gives_zero(wide, value.type))
    exact = wide == ty and not ty.signed  # cvt.int.f64 leaves narrow integers zero-extended
    integer = b.value("cvt.int.f64", ty, operand, imm=how, retires=retires and exact)
    return integer if exact else narrow(b, integer, ty, retires=retires)
