"""Packed float16 and bfloat16, two to a register: arithmetic, minimum and maximum, comparison."""

from __future__ import annotations

from simt.ops.encoding import rounded
from simt.program import RZ
from simt.sass.architectures import VOLTA
from simt.sass.lowering import AND, MASK, OR, XOR, Kind, Lowering
from simt.sass.modifiers import Combine, Compare, Flag, Float
from simt.sass.opcodes.float import compare_floats
from simt.sass.opcodes.integer import min_or_max, write_comparison
from simt.sass.operands import Constant, FloatImmediate, Operand, Register, Suffix
from simt.sass.table import Source, opcode

_TABLES = {Combine.AND: AND, Combine.OR: OR, Combine.XOR: XOR}
_ONE = {"f16": 0x3C00, "bf16": 0x3F80}
_NAN = 0x7FFF
_LEAST_NORMAL_F16 = 0x0400


def _format(x: Lowering) -> str:
    return "bf16" if Flag.BF16_V2 in x.modifiers else "f16"


def _kind(x: Lowering) -> Kind:
    return Kind.BF16X2 if _format(x) == "bf16" else Kind.F16X2


def _wide(x: Lowering, row: int) -> int:
    """A 16-bit number as float32, which holds it exactly."""
    if _format(x) == "bf16":
        return x.compute("shl.b32", row, x.constant(16))
    return x.compute("cvt.f32.f16", row)


def _flushed(x: Lowering, row: int) -> int:
    """With FTZ, a denormal float16 replaced by zero of its sign."""
    if Flag.FTZ not in x.modifiers or row == RZ:
        return row
    if _format(x) != "f16":
        raise x.unsupported("packed bfloat16 with FTZ is not supported")
    magnitude = x.compute("and.b64", row, x.constant(0x7FFF))
    zero = x.compute("and.b64", row, x.constant(0x8000))
    return x.compute("selp", zero, row, x.test("lt.s64", magnitude, x.constant(_LEAST_NORMAL_F16)))


def _halves(x: Lowering, operand: Operand) -> tuple[int, int]:
    """Low and high half of a packed operand; two immediates make one operand, high half first."""
    if isinstance(operand, FloatImmediate):
        other = x.take()
        if not isinstance(other, FloatImmediate):
            raise x.unsupported(f"operand {other} where the lower half of an immediate is expected")
        return x.constant(x.float_bits(other, _kind(x))), x.constant(x.float_bits(operand, _kind(x), upper=True))
    if isinstance(operand, Register) and operand.index is None:
        low_row = high_row = RZ
    else:
        if not isinstance(operand, Register | Constant):
            raise x.unsupported(f"operand {operand} where packed halves are expected")
        row = x.bank(operand, 4) if isinstance(operand, Constant) else x.row(operand)
        suffixes = operand.suffixes
        if Suffix.F32 in suffixes:
            # Towards zero: on sm_75 the compiler makes `cvt.rz.f16.f32` of it, and of `cvt.rn` another instruction.
            wide = x.compute("cvt.f64.f32", row)
            low_row = high_row = x.compute("cvt.rnd.f64", wide, imm=rounded(_format(x), "rz"))
        elif Suffix.H0_H0 in suffixes:
            low_row = high_row = x.compute("cvt.u16", row)
        elif Suffix.H1_H1 in suffixes:
            low_row = high_row = x.compute("shr.u64", row, x.constant(16))
        else:
            low_row, high_row = x.compute("cvt.u16", row), x.compute("shr.u64", row, x.constant(16))
    pair = (low_row, high_row)
    if operand.absolute:
        pair = _each(x, "and.b64", pair, 0x7FFF)
    if operand.negated:
        pair = _each(x, "xor.b64", pair, 0x8000)
    low = _flushed(x, pair[0])
    return low, low if pair[1] == pair[0] else _flushed(x, pair[1])


def _each(x: Lowering, op: str, pair: tuple[int, int], value: int) -> tuple[int, int]:
    low = x.compute(op, pair[0], x.constant(value))
    return low, low if pair[1] == pair[0] else x.compute(op, pair[1], x.constant(value))


def _join(x: Lowering, d: Register, low: int, high: int) -> None:
    x.emit("prmt.b32", x.destination(d), low, x.constant(0x5410), high)


_PACKED = (Flag.SAT, Flag.RELU, Flag.MMA, Float.F32, Flag.FTZ, Flag.BF16_V2)


def _packed(x: Lowering, name: str, sources: int) -> None:
    """Arithmetic on both halves with one rounding each."""
    d = x.take_register()
    operands = [_halves(x, x.take()) for _ in range(sources)]
    x.done()
    if Float.F32 in x.modifiers:
        rows = [_wide(x, low) for low, _ in operands]
        x.emit(f"{name}.f32", x.destination(d), *rows)
        return
    form = rounded(_format(x), "rn")
    results = []
    for lane in (0, 1):
        row = x.compute(f"{name}.rnd", *(pair[lane] for pair in operands), imm=form)
        row = _flushed(x, row)
        if Flag.SAT in x.modifiers:
            limited = x.compute("cvt.f64.f32", x.compute("sat.f32", _wide(x, row)))
            row = x.compute("cvt.rnd.f64", limited, imm=form)
        if Flag.RELU in x.modifiers:
            negative = x.test("le.f32", _wide(x, row), RZ)  # -0 becomes +0, too
            row = x.compute("selp", RZ, row, negative)
        results.append(row)
    _join(x, d, *results)


@opcode("HADD2", source=Source.PTX, takes=_PACKED)
def add16(x: Lowering) -> None:
    _packed(x, "add", 2)


@opcode("HMUL2", source=Source.PTX, takes=_PACKED)
def multiply16(x: Lowering) -> None:
    _packed(x, "mul", 2)


@opcode("HFMA2", source=Source.H200, takes=_PACKED)
def fused16(x: Lowering) -> None:
    """``a * b + c``; with a = b = 0 the compiler's way to load two float16 constants, or any 32 bits."""
    operands = x.instruction.operands
    zeros = [isinstance(operand, Register) and operand.index is None for operand in operands[1:3]]
    if all(zeros) and len(operands) == 5 and all(str(operand) != "-0" for operand in operands[3:]):
        high, low = operands[3:]
        if isinstance(high, FloatImmediate) and isinstance(low, FloatImmediate):
            bits = x.float_bits(high, _kind(x), upper=True) << 16 | x.float_bits(low, _kind(x))
            x.emit("mov", x.destination(x.take_register()), x.constant(bits))
            return
    _packed(x, "fma", 3)


@opcode("HMNMX2", source=Source.PTX, takes=(Flag.FTZ, Flag.NAN, Flag.XORSIGN, Flag.BF16_V2), since=VOLTA)
def minimum16(x: Lowering) -> None:
    """Per half; a NaN loses, with NAN it wins.  XORSIGN: of magnitudes, with the product's sign."""
    d = x.take_register()
    a, b = _halves(x, x.take()), _halves(x, x.take())
    p = x.take_predicate()
    x.done()
    form = rounded(_format(x), "rn")
    results = []
    for left, right in zip(a, b, strict=True):
        wide = [_wide(x, row) for row in (left, right)]
        magnitudes = [x.compute("abs.f32", row) for row in wide] if Flag.XORSIGN in x.modifiers else wide
        extreme = x.new()
        min_or_max(x, extreme, magnitudes[0], magnitudes[1], p, ".f32")
        result = x.compute("cvt.rnd.f64", x.compute("cvt.f64.f32", extreme), imm=form)
        if Flag.XORSIGN in x.modifiers:
            sign = x.compute("and.b64", x.compute("xor.b64", left, right), x.constant(0x8000))
            signed = x.compute("or.b64", result, sign)
            result = x.compute("selp", signed, result, x.test("eq.f32", extreme, extreme))
        if Flag.NAN in x.modifiers:
            for row in wide:
                result = x.compute("selp", result, x.constant(_NAN), x.test("eq.f32", row, row))
        results.append(result)
    _join(x, d, *results)


def _compare16(x: Lowering) -> list[int]:
    """Predicate operands of the comparison of the low and of the high halves."""
    a, b = _halves(x, x.take()), _halves(x, x.take())
    compare = x.modifiers.one(Compare, Compare.F)
    rows = [[_wide(x, row) for row in pair] for pair in (a, b)]
    return [compare_floats(x, compare, rows[0][lane], rows[1][lane], "f32") for lane in (0, 1)]


_COMPARISON = (Flag.BF16_V2, Flag.FTZ, Flag.BF, Compare, Combine)


@opcode("HSETP2", source=Source.PTX, takes=_COMPARISON)
def set_predicate16(x: Lowering) -> None:
    """``p, q, a, b, r``: p the low halves, q the high ones."""
    destinations = [x.take_predicate(), x.take_predicate()]
    results = _compare16(x)
    other = x.predicate(x.take_predicate())
    x.done()
    combine = x.modifiers.one(Combine, Combine.AND)
    for destination, result in zip(destinations, results, strict=True):
        write_comparison(x, [destination], result, combine, other)


@opcode("HSET2", source=Source.PTX, takes=_COMPARISON)
def set16(x: Lowering) -> None:
    """Per half: 1.0 with BF, else all ones, where the comparison holds."""
    d = x.take_register()
    results = _compare16(x)
    other = x.predicate(x.take_predicate())
    x.done()
    table = _TABLES[x.modifiers.one(Combine, Combine.AND)]
    true = x.constant(_ONE[_format(x)] if Flag.BF in x.modifiers else MASK >> 16)
    low, high = (x.compute("selp", true, RZ, x.logic(result, other, table)) for result in results)
    _join(x, d, low, high)
