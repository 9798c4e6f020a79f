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
from simt.lang.ir import ZERO, UniformRef
from simt.lang.values import Constant, Scalar, Value, describe

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
        folded = _fold(value, ty)
        if folded is not None:
            return folded
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    if target is None or source is None:
        wrong(b.place, f"cannot convert {value.type} to {ty}")
    if source == target == nt.INT:
        if _holds(ty, value.type):
            return value if isinstance(value, Constant) else Scalar(ty, value.operand)
        return _narrow(b, value, ty, retires=False)
    return _change(b, value, ty, retires=counted)


def cast(b: Builder, value: ScalarValue, ty: Any) -> ScalarValue:
    """*value* explicitly converted to *ty*: exactly one instruction, unless it is a constant."""
    ty = nt.plain(ty)
    if isinstance(value, Constant):
        folded = _fold(value, ty)
        if folded is not None:
            return folded
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    if source == target == nt.BOOL:
        return b.value("plop", ty, b.operand(value), imm=0xF0)
    if source == target:
        if target == nt.INT and not _holds(ty, value.type):
            return _narrow(b, value, ty, retires=True)
        return b.value("mov", ty, b.operand(value))
    return _change(b, value, ty, retires=True)


def truth(b: Builder, value: ScalarValue, *, counted: bool = True) -> ScalarValue:
    """*value* as a condition: a number is compared with zero, which is one instruction."""
    return convert(b, value, types.boolean, counted=counted)


def _fold(value: Constant, ty: Any) -> Constant | None:
    try:
        return Constant(ty, nt.cast_constant(value.value, ty))
    except (OverflowError, ValueError):
        return None


def _holds(ty: Any, source: Any) -> bool:
    """True if the 64-bit form of every *source* integer is that of the same value in *ty*, modulo 2**64."""
    if ty.bitwidth == 64:
        return True
    low, high = nt.integer_range(ty)
    source_low, source_high = nt.integer_range(source)
    return bool(low <= source_low and source_high <= high)


def _narrow(b: Builder, value: ScalarValue, ty: Any, *, retires: bool) -> Scalar:
    sign = "s" if ty.signed else "u"
    return b.value(f"cvt.{sign}{ty.bitwidth}", ty, b.operand(value), retires=retires)


def _change(b: Builder, value: ScalarValue, ty: Any, *, retires: bool) -> Scalar:
    """Convert between storage classes; only the last operation may retire."""
    source, target = nt.storage_class(value.type), nt.storage_class(ty)
    operand = b.operand(value)
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
    if source == nt.F32:
        operand = b.value("cvt.f64.f32", types.float64, operand, retires=False).operand
    sign = "s" if ty.signed else "u"
    if ty.bitwidth >= 32:
        return b.value(f"cvt.{sign}{ty.bitwidth}.f64", ty, operand, retires=retires)
    wide = types.int32 if ty.signed else types.uint32
    integer = b.value(f"cvt.{sign}32.f64", wide, operand, retires=False)
    return _narrow(b, integer, ty, retires=retires)
