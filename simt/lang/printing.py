"""print(): a format, and what fills it in, as Numba's CUDA target makes them of the arguments' types."""

from __future__ import annotations

import sys

from numba.core import types

from simt.lang import numba_types as nt
from simt.lang.builder import Builder
from simt.lang.convert import convert
from simt.lang.diagnostics import wrong
from simt.lang.dialect import DIMENSIONS
from simt.lang.intrinsic import Intrinsic, special_register
from simt.lang.ir import Operand
from simt.lang.values import NONE, Constant, Object, Scalar, Tuple, Value, describe

MOST_ARGUMENTS = 32
"""With more Numba prints the format as it stands (a limit of CUDA's ``vprintf``)."""


def _print(b: Builder, name: str, args: list[Value], _: object) -> Value:
    """One instruction, and those of the conversions to what the format takes."""
    pieces = [_piece(b, value) for value in args]
    template = " ".join(text for text, _ in pieces) + "\n"
    operands = [operand for _, operands in pieces for operand in operands]
    if len(args) > MOST_ARGUMENTS:
        template, operands = template.replace("%", "%%"), []
    b.emit("nop")
    b.system_call(name, [b.operand(Constant(types.int64, b.text(template))), *operands])
    return NONE


def _piece(b: Builder, value: Value) -> tuple[str, list[Operand]]:
    """The format of a value, and the 64-bit slots that fill it in."""
    if isinstance(value, Object) and isinstance(value.value, str):
        return "%s", [b.operand(Constant(types.int64, b.text(value.value)))]
    if isinstance(value, Object) and value.symbol in DIMENSIONS:
        registers = (special_register(b, f"{DIMENSIONS[value.symbol]}.{axis}") for axis in "xyz")
        return "(%d, %d, %d)", [register.operand for register in registers]
    if isinstance(value, Tuple) and not value.names:
        pieces = [_piece(b, item) for item in value.items]
        text = ", ".join(text for text, _ in pieces) + ("," if len(pieces) == 1 else "")
        return f"({text})", [operand for _, operands in pieces for operand in operands]
    if isinstance(value, Scalar | Constant):
        return _number(b, value)
    wrong(b.place, f"print() of {describe(value)}", help="Numba prints numbers, constant strings and tuples of them")


def _number(b: Builder, value: Scalar | Constant) -> tuple[str, list[Operand]]:
    kind = nt.storage_class(value.type)
    if kind == nt.BOOL:
        truth, lie = (b.operand(Constant(types.int64, b.text(text))) for text in ("True", "False"))
        return "%s", [b.value("selp", types.int64, truth, lie, b.operand(value), retires=False).operand]
    if kind in nt.FLOATS:
        return "%f", [b.operand(convert(b, value, types.float64))]
    return "%lld" if nt.is_signed(value.type) else "%llu", [b.operand(value)]


ROWS = [Intrinsic("print", _print, range(sys.maxsize))]
