"""What a function that kernels may call is: a row that names it, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert, number
from simt.lang.diagnostics import wrong
from simt.lang.values import Scalar, Value
from simt.ops.encoding import SPECIAL_REGISTERS

i4, i8, u4, u8 = types.int32, types.int64, types.uint32, types.uint64
f4, f8, b1 = types.float32, types.float64, types.boolean
INTEGERS = (types.int8, types.int16, i4, i8, types.uint8, types.uint16, u4, u8)
"""In Numba's order of preference."""

Emit = Callable[[Builder, str, list[Value], Any], Value]


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A callable: ``emit(builder, name, args, signature)`` lowers it.

    ``counts`` are the allowed numbers of arguments; ``cases`` Numba's signatures, to which the arguments are
    converted before ``emit`` sees them.
    """

    name: str
    emit: Emit
    counts: Sequence[int]
    cases: tuple[Any, ...] = ()


def call(b: Builder, intrinsic: Intrinsic, args: list[Value]) -> Value:
    """Lower a call of *intrinsic*; KernelError for a wrong number or type of arguments."""
    if len(args) not in intrinsic.counts:
        expected = " or ".join(str(count) for count in intrinsic.counts)
        wrong(b.place, f"{intrinsic.name} takes {expected} arguments, not {len(args)}")
    signature = None
    if intrinsic.cases:
        given = [number(b, arg) for arg in args]
        argtypes = tuple(value.type for value in given)
        signature = nt.overload(intrinsic.name, intrinsic.cases, argtypes)
        if signature is None:
            listed = ", ".join(str(ty) for ty in argtypes)
            wrong(b.place, f"{intrinsic.name} does not take ({listed})", help="convert the arguments first")
        args = [convert(b, value, ty) for value, ty in zip(given, signature.args, strict=True)]
    return intrinsic.emit(b, intrinsic.name, args, signature)


def special_register(b: Builder, name: str, ty: Any = i4) -> Scalar:
    """Read a special register, by its PTX name: one instruction."""
    return b.value("sreg", ty, imm=SPECIAL_REGISTERS.index(name))
