"""Atomic operations."""

from __future__ import annotations

from typing import Any

from simt.lang import numba_types as nt
from simt.lang.arrays import element_of
from simt.lang.builder import Builder
from simt.lang.convert import convert, scalar
from simt.lang.diagnostics import unsupported, wrong
from simt.lang.intrinsic import Intrinsic, i4, i8, u4, u8
from simt.lang.values import Constant, Value
from simt.ops.encoding import ATOMIC_TYPES, ATOMICS


def _atomic(b: Builder, name: str, args: list[Value], _: Any) -> Value:
    operation = name.rsplit(".", 1)[1].rstrip("_")
    if operation == "compare_and_swap":
        operation, args = "cas", [args[0], Constant(i8, 0), *args[1:]]
    element = element_of(b, args[0], args[1], name)
    if element.space not in ("global", "shared"):
        unsupported(b.place, f"{name} on a {element.space} array", help="use a global or shared array")
    if element.readonly:
        wrong(b.place, f"array {element.name} is read-only, and {name} changes it")
    ty = element.type
    allowed = {"inc": (u4, u8), "dec": (u4, u8)}.get(
        operation,
        (i4, u4, i8, u8) if operation in ("and", "or", "xor", "exch", "cas") else tuple(nt.ATOMIC_TYPE),
    )
    if ty not in allowed:
        names = ", ".join(str(item) for item in allowed)
        wrong(b.place, f"{name} on elements of type {ty}", help=f"Numba has it for {names}")
    values = [convert(b, scalar(b, arg), ty) for arg in args[2:]]
    if operation == "cas":
        values.reverse()
    operands = [b.operand(value) for value in values]
    mod = ATOMICS.index(operation) << 4 | ATOMIC_TYPES.index(nt.ATOMIC_TYPE[ty])
    return b.value(f"atom.{element.space}", ty, element.base, *operands, imm=element.offset, mod=mod)


ROWS = [
    *(
        Intrinsic(f"cuda.atomic.{name}", _atomic, (3,))
        for name in [
            "add",
            "sub",
            "and_",
            "or_",
            "xor",
            "inc",
            "dec",
            "exch",
            "max",
            "min",
            "nanmax",
            "nanmin",
            "compare_and_swap",
        ]
    ),
    Intrinsic("cuda.atomic.cas", _atomic, (4,)),
]
