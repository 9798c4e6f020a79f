"""Counting bits, and what else is one instruction of the hardware."""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang import elements
from simt.lang import numba_types as nt
from simt.lang.arrays import element_of
from simt.lang.builder import Builder
from simt.lang.convert import convert, scalar, truth
from simt.lang.diagnostics import wrong
from simt.lang.intrinsic import INTEGERS, Intrinsic, f4, f8, u4, u8
from simt.lang.ir import UniformRef
from simt.lang.operators import float64_op
from simt.lang.values import NONE, Array, Value, describe


def _zero_extended(b: Builder, value: Value) -> Any:
    value = scalar(b, value)
    if value.type.bitwidth < 64 and value.type.signed:
        value = convert(b, value, getattr(types, f"uint{value.type.bitwidth}"))
    return b.operand(value)


def _popc(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return b.value("popc.b64", signature.return_type, _zero_extended(b, args[0]))


def _clz(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    result = signature.return_type
    operand = _zero_extended(b, args[0])
    if result.bitwidth == 64:
        return b.value("clz.b64", result, operand)
    zeros = b.value("clz.b32", result, operand)
    if result.bitwidth == 32:
        return zeros
    extra = UniformRef("const", 32 - result.bitwidth)
    return b.value("sub.s64", result, zeros.operand, extra, retires=False)


def _brev(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    result = signature.return_type
    return b.value(f"brev.b{result.bitwidth}", result, b.operand(args[0]))


def _ffs(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    return b.value("ffs.b64", u4, b.operand(args[0]))


def fma(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    """a * b + c with one rounding."""
    ty = signature.return_type
    return b.value(f"fma.{nt.storage_class(ty)}", ty, *(b.operand(arg) for arg in args))


def cube_root(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    """The cube root."""
    return float64_op(b, "cbrt", signature.return_type, scalar(b, args[0]))


def _selp(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    test, yes, no = (scalar(b, arg) for arg in args)
    if yes.type != no.type or nt.storage_class(yes.type) == nt.BOOL:
        wrong(b.place, f"{name} takes two numbers of one type, not {yes.type} and {no.type}")
    condition = truth(b, test, counted=False)
    return b.value("selp", yes.type, b.operand(yes), b.operand(no), b.operand(condition))


_LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
_STORES = ("stcg", "stcs", "stwb", "stwt")


def _hinted_load(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    """A load with a cache hint, which changes nothing that is modelled."""
    return elements.load(b, _hinted(b, name, args))


def _hinted_store(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    elements.store(b, _hinted(b, name, args), args[2])
    return NONE


def _hinted(b: Builder, name: str, args: list[Value]) -> Array:
    element = element_of(b, args[0], args[1], name)
    if element.type not in nt.MEMORY_TYPE or element.space != "global":
        wrong(b.place, f"{name} on {describe(args[0])}", help="Numba has it for numbers in global arrays")
    return element


ROWS = [
    *(Intrinsic(f"cuda.{name}", _hinted_load, (2,)) for name in _LOADS),
    *(Intrinsic(f"cuda.{name}", _hinted_store, (3,)) for name in _STORES),
    Intrinsic("cuda.cbrt", cube_root, (1,), (f4(f4), f8(f8))),
    Intrinsic("cuda.popc", _popc, (1,), tuple(t(t) for t in INTEGERS)),
    Intrinsic("cuda.clz", _clz, (1,), tuple(t(t) for t in INTEGERS)),
    Intrinsic("cuda.ffs", _ffs, (1,), tuple(u4(t) for t in INTEGERS)),
    Intrinsic("cuda.brev", _brev, (1,), (u4(u4), u8(u8))),
    Intrinsic("cuda.fma", fma, (3,), (f4(f4, f4, f4), f8(f8, f8, f8))),
    Intrinsic("cuda.selp", _selp, (3,)),
]
