"""Counting bits, and what else is one instruction of the hardware."""

from __future__ import annotations

from typing import Any

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert, scalar, truth
from simt.lang.diagnostics import wrong
from simt.lang.intrinsic import INTEGERS, Intrinsic, f4, f8, u4, u8
from simt.lang.ir import UniformRef
from simt.lang.values import Value


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


def _fma(b: Builder, name: str, args: list[Value], signature: Any) -> Value:
    ty = signature.return_type
    return b.value(f"fma.{nt.storage_class(ty)}", ty, *(b.operand(arg) for arg in args))


def _selp(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    test, yes, no = (scalar(b, arg) for arg in args)
    if yes.type != no.type or nt.storage_class(yes.type) == nt.BOOL:
        wrong(b.place, f"{name} takes two numbers of one type, not {yes.type} and {no.type}")
    condition = truth(b, test, counted=False)
    return b.value("selp", yes.type, b.operand(yes), b.operand(no), b.operand(condition))


ROWS = [
    Intrinsic("cuda.popc", _popc, (1,), tuple(t(t) for t in INTEGERS)),
    Intrinsic("cuda.clz", _clz, (1,), tuple(t(t) for t in INTEGERS)),
    Intrinsic("cuda.ffs", _ffs, (1,), tuple(u4(t) for t in INTEGERS)),
    Intrinsic("cuda.brev", _brev, (1,), (u4(u4), u8(u8))),
    Intrinsic("cuda.fma", _fma, (3,), (f4(f4, f4, f4), f8(f8, f8, f8))),
    Intrinsic("cuda.selp", _selp, (3,)),
]
