"""Conversions between integers and floating-point numbers, and between formats."""

from __future__ import annotations

from simt.ops.encoding import integer_conversion, rounded
from simt.program import RZ
from simt.sass.architectures import VOLTA
from simt.sass.lowering import Lowering
from simt.sass.modifiers import Flag, Float, Integer, Round, RoundInteger
from simt.sass.opcodes.float import as_float64, rounding_of
from simt.sass.operands import Operand, Register
from simt.sass.table import Source, opcode

_ROUNDING = {
    RoundInteger.ROUND: "rn",
    RoundInteger.FLOOR: "rm",
    RoundInteger.CEIL: "rp",
    RoundInteger.TRUNC: "rz",
}
_ROUND_OPS = {"rn": "rint.f64", "rm": "floor.f64", "rp": "ceil.f64", "rz": "trunc.f64"}


def write_float(x: Lowering, d: Register, row: int, form: Float, rounding: str = "rn", keeps_nan: bool = False) -> None:
    """Write a float64 row in another format."""
    if form is Float.F64:
        x.write_pair(d, row)
        return
    steps = [flag for flag in (Flag.FTZ, Flag.SAT) if flag in x.modifiers and form is Float.F32]
    target = x.new() if steps else x.destination(d)
    row = x.emit("cvt.rnd.f64", target, row, imm=rounded(form.value.lower(), rounding, keeps_nan))
    for k, flag in enumerate(steps):
        name = "ftz.f32" if flag is Flag.FTZ else "sat.f32"
        row = x.emit(name, x.destination(d) if k == len(steps) - 1 else x.new(), row)


def _integer_source(x: Lowering, operand: Operand, typ: Integer) -> int:
    """An integer source extended to 64 bits by its own type."""
    if typ.bits == 64:
        return x.source64(operand)
    row = x.source(operand)
    if typ is Integer.U32 or row == RZ:
        return row
    return x.compute(f"cvt.{typ.value.lower()}", row)


@opcode("I2F", source=Source.PTX, takes=(Float, Integer, Round))
@opcode("I2FP", source=Source.H200, takes=(Float, Integer, Round), since=VOLTA)
@opcode("UI2F", "UI2FP", source=Source.H200, takes=(Float, Integer, Round), since=VOLTA, uniform=True)
def integer_to_float(x: Lowering) -> None:
    d = x.take_register()
    typ = x.modifiers.one(Integer, Integer.S32)
    form = x.modifiers.one(Float, Float.F32)
    row = _integer_source(x, x.take(), typ)
    x.done()
    imm = rounded(form.value.lower(), rounding_of(x))
    op = "cvt.rnd.s64" if typ.signed else "cvt.rnd.u64"
    if form is Float.F64:
        x.write_pair(d, x.compute(op, row, imm=imm))
    else:
        x.emit(op, x.destination(d), row, imm=imm)


@opcode("F2I", source=Source.PTX, takes=(Float, Integer, RoundInteger, Flag.FTZ, Flag.NTZ))
def float_to_integer(x: Lowering) -> None:
    """Saturating.  NaN gives 0 with NTZ, and on Pascal for float32 sources; else only the top bit."""
    d = x.take_register()
    typ = x.modifiers.one(Integer, Integer.S32)
    form = x.modifiers.one(Float, Float.F32)
    row = as_float64(x, x.take(), form)
    x.done()
    zero = Flag.NTZ in x.modifiers or (x.place.architecture < VOLTA and form is not Float.F64)
    rounding = _ROUNDING[x.modifiers.one(RoundInteger, RoundInteger.ROUND)]
    imm = integer_conversion(typ.value.lower(), rounding, zero)
    if typ.bits == 64:
        x.write_pair(d, x.compute("cvt.int.f64", row, imm=imm))
    else:
        x.emit("cvt.int.f64", x.destination(d), row, imm=imm)


@opcode("FRND", source=Source.PTX, takes=(Float, RoundInteger, Flag.FTZ), since=VOLTA)
def round_to_integer(x: Lowering) -> None:
    d = x.take_register()
    form = x.modifiers.one(Float, Float.F32)
    row = as_float64(x, x.take(), form)
    x.done()
    rounding = _ROUNDING[x.modifiers.one(RoundInteger, RoundInteger.ROUND)]
    write_float(x, d, x.compute(_ROUND_OPS[rounding], row), form)


@opcode("F2F", source=Source.PTX, takes=(Float, Round, RoundInteger, Flag.FTZ, Flag.SAT))
def float_to_float(x: Lowering) -> None:
    """``F2F.destination.source``; Pascal also rounds to integers with it."""
    d = x.take_register()
    to, of = x.two(Float)
    row = as_float64(x, x.take(), of)
    x.done()
    whole = x.modifiers.maybe(RoundInteger)
    if whole is not None:
        row = x.compute(_ROUND_OPS[_ROUNDING[whole]], row)
    # Conversions from float64 keep the sign and payload of a NaN, those from float32 do not (H200).
    write_float(x, d, row, to, rounding_of(x), keeps_nan=of is Float.F64)


@opcode(
    "F2IP", source=Source.PTX, takes=(Integer.U8, Integer.S8, Float.F32, RoundInteger, Flag.FTZ, Flag.NTZ), since=86
)
def pack_bytes(x: Lowering) -> None:
    """Two float32 as saturated bytes, a above b, below the lower half of c; NaN gives 0."""
    d = x.take_register()
    a, b = (as_float64(x, x.take(), Float.F32) for _ in range(2))
    c = x.source(x.take())
    x.done()
    typ = x.modifiers.one(Integer, Integer.U8)
    rounding = _ROUNDING[x.modifiers.one(RoundInteger, RoundInteger.ROUND)]
    imm = integer_conversion(typ.value.lower(), rounding, nan_to_zero=True)
    high, low = (x.compute("cvt.int.f64", row, imm=imm) for row in (a, b))
    x.emit("prmt.b32", x.destination(d), x.compute("prmt.b32", low, x.constant(0x0040), high), x.constant(0x5410), c)
