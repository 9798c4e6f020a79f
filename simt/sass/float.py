"""Floating-point arithmetic, comparison and selection: float32, float64, packed float16, MUFU."""

from __future__ import annotations

from dataclasses import replace

from simt.program import MUFU_FUNCTIONS, PT, RZ, rounded
from simt.sass.integer import FALSE, min_or_max, write_comparison
from simt.sass.lowering import AND, OR, Kind, Lowering
from simt.sass.modifiers import Combine, Compare, Flag, Float, Function, MinMax, Round
from simt.sass.operands import Constant, FloatImmediate, Operand, Predicate, Register, Suffix
from simt.sass.table import VOLTA, Source, opcode

_ARITHMETIC = (Round, Flag.FTZ, Flag.SAT)

ONE_F32 = 0x3F800000
ONE_F16 = 0x3C00
ONE_BF16 = 0x3F80
NAN_HALF = 0x7FFF


def rounding_of(x: Lowering) -> str:
    """The rounding of a floating-point result, as the micro-ops name it."""
    return x.modifiers.one(Round, Round.RN).value.lower()


def source32(x: Lowering, operand: Operand) -> int:
    """A float32 source, flushed if the instruction says FTZ."""
    row = x.source(operand, Kind.F32)
    return x.compute("ftz.f32", row) if Flag.FTZ in x.modifiers and row != RZ else row


def write32(x: Lowering, d: Register, op: str, rows: tuple[int, ...], imm: int = 0) -> None:
    """A float32 micro-op, then what FTZ and SAT ask for, into a register."""
    after = [name for flag, name in ((Flag.FTZ, "ftz.f32"), (Flag.SAT, "sat.f32")) if flag in x.modifiers]
    row = x.emit(op, x.new() if after else x.destination(d), *rows, imm=imm)
    for k, name in enumerate(after):
        row = x.emit(name, x.destination(d) if k == len(after) - 1 else x.new(), row)


def _arithmetic32(x: Lowering, name: str, sources: int) -> None:
    d = x.take_register()
    rows = tuple(source32(x, x.take()) for _ in range(sources))
    x.done()
    rounding = rounding_of(x)
    if rounding == "rn":
        write32(x, d, f"{name}.f32", rows)
    else:
        write32(x, d, f"{name}.rnd", rows, rounded("f32", rounding))


@opcode("FADD", "FADD32I", source=Source.NAMES, takes=_ARITHMETIC)
@opcode("UFADD", source=Source.NAMES, takes=_ARITHMETIC, since=VOLTA, uniform=True)
def add32(x: Lowering) -> None:
    _arithmetic32(x, "add", 2)


@opcode("FMUL", "FMUL32I", source=Source.NAMES, takes=_ARITHMETIC)
@opcode("UFMUL", source=Source.NAMES, takes=_ARITHMETIC, since=VOLTA, uniform=True)
def multiply32(x: Lowering) -> None:
    _arithmetic32(x, "mul", 2)


@opcode("FFMA", "FFMA32I", source=Source.NAMES, takes=_ARITHMETIC)
@opcode("UFFMA", source=Source.NAMES, takes=_ARITHMETIC, since=VOLTA, uniform=True)
def fused32(x: Lowering) -> None:
    _arithmetic32(x, "fma", 3)


@opcode("FMNMX", source=Source.PTX, takes=(Flag.FTZ,))
@opcode("UFMNMX", source=Source.PTX, takes=(Flag.FTZ,), since=VOLTA, uniform=True)
def minimum32(x: Lowering) -> None:
    d = x.take_register()
    a, b = source32(x, x.take()), source32(x, x.take())
    p = x.take_predicate()
    x.done()
    min_or_max(x, x.destination(d), a, b, p, ".f32")


@opcode("FSEL", source=Source.NAMES, takes=(Flag.FTZ,))
@opcode("UFSEL", source=Source.NAMES, takes=(Flag.FTZ,), since=VOLTA, uniform=True)
def select32(x: Lowering) -> None:
    d = x.take_register()
    a, b = source32(x, x.take()), source32(x, x.take())
    p = x.predicate(x.take_predicate())
    x.done()
    x.emit("selp", x.destination(d), a, b, p)


def compare_floats(x: Lowering, compare: Compare, a: int, b: int, suffix: str) -> int:
    """Predicate operand of a floating-point comparison.  The micro-ops ``lt``, ``le``, ``eq`` are ordered."""
    lt, le, eq = (f"{name}.{suffix}" for name in ("lt", "le", "eq"))
    if compare is Compare.T:
        return PT
    if compare is Compare.F:
        return FALSE
    if compare in (Compare.NUM, Compare.NAN):
        both = x.test(eq, a, a)
        if b != a:
            both = x.logic(both, x.test(eq, b, b), AND)
        return both ^ (compare is Compare.NAN)
    if compare in (Compare.NE, Compare.EQU):
        unequal = x.logic(x.test(lt, a, b), x.test(lt, b, a), OR)
        return unequal ^ (compare is Compare.EQU)
    op, swap, negate = {
        Compare.LT: (lt, False, False),
        Compare.GT: (lt, True, False),
        Compare.LE: (le, False, False),
        Compare.GE: (le, True, False),
        Compare.EQ: (eq, False, False),
        Compare.NEU: (eq, False, True),
        Compare.GEU: (lt, False, True),
        Compare.LEU: (lt, True, True),
        Compare.GTU: (le, False, True),
        Compare.LTU: (le, True, True),
    }[compare]
    return (x.test(op, b, a) if swap else x.test(op, a, b)) ^ negate


@opcode("FSETP", source=Source.PTX, takes=(Compare, Flag.FTZ, Combine))
@opcode("UFSETP", source=Source.PTX, takes=(Compare, Flag.FTZ, Combine), since=VOLTA, uniform=True)
def set_predicate32(x: Lowering) -> None:
    destinations = [x.take_predicate(), x.take_predicate()]
    a, b = source32(x, x.take()), source32(x, x.take())
    other = x.predicate(x.take_predicate())
    x.done()
    result = compare_floats(x, x.modifiers.one(Compare, Compare.F), a, b, "f32")
    write_comparison(x, destinations, result, x.modifiers.one(Combine, Combine.AND), other)


@opcode("FSET", source=Source.PTX, takes=(Flag.BF, Compare, Flag.FTZ, Combine))
def set32(x: Lowering) -> None:
    """The comparison as a number: 1.0 with BF, else all ones."""
    d = x.take_register()
    a, b = source32(x, x.take()), source32(x, x.take())
    other = x.predicate(x.take_predicate())
    x.done()
    result = compare_floats(x, x.modifiers.one(Compare, Compare.F), a, b, "f32")
    table = {Combine.AND: AND, Combine.OR: OR}.get(x.modifiers.one(Combine, Combine.AND))
    if table is None:
        raise x.unsupported("FSET.XOR is not supported")
    true = x.constant(ONE_F32 if Flag.BF in x.modifiers else 0xFFFFFFFF)
    x.emit("selp", x.destination(d), true, RZ, x.logic(result, other, table))


@opcode("FCHK", source=Source.H200_VALUES)
def check_division(x: Lowering) -> None:
    """Whether ``a / b`` needs the slow path of a float32 division.

    Measured on an H200 for all pairs of exponents, with eight pairs of significands, which do not matter: the fast
    path is taken for 25 <= ea <= 254, 2 <= eb <= 251 and -124 <= ea - eb <= 126 (biased exponents).
    """
    p = x.take_predicate()
    a, b = x.source(x.take(), Kind.F32), x.source(x.take(), Kind.F32)
    x.done()
    exponents = [x.compute("and.b64", x.compute("shr.u64", row, x.constant(23)), x.constant(255)) for row in (a, b)]
    distance = x.compute("sub.s64", *exponents)
    slow = FALSE
    for row, low, high in ((exponents[0], 25, 254), (exponents[1], 2, 251), (distance, -124, 126)):
        slow = x.logic(slow, x.test("lt.s64", row, x.constant(low)), OR)
        slow = x.logic(slow, x.test("lt.s64", x.constant(high), row), OR)
    x.set_predicate(p, slow)


@opcode("MUFU", source=Source.H200_VALUES, takes=(Function,))
def multi_function(x: Lowering) -> None:
    """Approximations, with an H200's bits whatever the architecture: other GPUs were not measured.

    Denormal operands and results are flushed, except by TANH, which gives small operands back.  SIN and COS take
    turns (revolutions), RCP64H and RSQ64H upper words.
    """
    d = x.take_register()
    operand = x.take()
    x.done()
    function = x.modifiers.one(Function, Function.RCP)
    row = x.source(operand) if function in (Function.RCP64H, Function.RSQ64H) else x.source(operand, Kind.F32)
    x.emit("mufu.b32", x.destination(d), row, imm=MUFU_FUNCTIONS.index(function.value.lower()))


# float64


def _source64(x: Lowering, operand: Operand) -> int:
    """A float64 source of arithmetic.  A NaN passes with its own sign, whatever the operand's (H200)."""
    row = x.source64(operand, Kind.F64)
    if isinstance(operand, Register | Constant) and (operand.negated or operand.absolute):
        bare = x.source64(replace(operand, negated=False, absolute=False), Kind.F64)
        row = x.compute("selp", row, bare, x.test("eq.f64", bare, bare)) if bare != RZ else row
    return row


def _arithmetic64(x: Lowering, name: str, sources: int) -> None:
    d = x.take_register()
    rows = tuple(_source64(x, x.take()) for _ in range(sources))
    x.done()
    rounding = rounding_of(x)
    if rounding == "rn":
        x.write_pair(d, x.compute(f"{name}.f64", *rows))
    else:
        x.write_pair(d, x.compute(f"{name}.rnd", *rows, imm=rounded("f64", rounding)))


@opcode("DADD", source=Source.NAMES, takes=(Round,))
def add64(x: Lowering) -> None:
    _arithmetic64(x, "add", 2)


@opcode("DMUL", source=Source.NAMES, takes=(Round,))
def multiply64(x: Lowering) -> None:
    _arithmetic64(x, "mul", 2)


@opcode("DFMA", source=Source.NAMES, takes=(Round,))
def fused64(x: Lowering) -> None:
    _arithmetic64(x, "fma", 3)


@opcode("DMNMX", source=Source.PTX)
def minimum64(x: Lowering) -> None:
    d = x.take_register()
    a, b = x.source64(x.take(), Kind.F64), x.source64(x.take(), Kind.F64)
    p = x.take_predicate()
    x.done()
    row = x.new()
    min_or_max(x, row, a, b, p, ".f64")
    x.write_pair(d, row)


@opcode("DSETP", source=Source.PTX, takes=(Compare, MinMax, Combine))
def set_predicate64(x: Lowering) -> None:
    destinations = [x.take_predicate(), x.take_predicate()]
    a, b = x.source64(x.take(), Kind.F64), x.source64(x.take(), Kind.F64)
    other = x.predicate(x.take_predicate())
    x.done()
    extreme = x.modifiers.maybe(MinMax)
    if extreme is not None:
        _choose_extreme(x, destinations, a, b, extreme)
        return
    result = compare_floats(x, x.modifiers.one(Compare, Compare.F), a, b, "f64")
    write_comparison(x, destinations, result, x.modifiers.one(Combine, Combine.AND), other)


def _choose_extreme(x: Lowering, destinations: list[Predicate], a: int, b: int, extreme: MinMax) -> None:
    """First half of a float64 minimum or maximum: p = a is the one to take, q = the taken one is a NaN.

    The code around it selects a or b by p and, where q, makes the result quiet.  A NaN loses; -0 is below +0.
    """
    chosen = x.compute("min.f64" if extreme is MinMax.MIN else "max.f64", a, b)
    takes_a = x.test("eq.s64", chosen, a)
    x.set_predicate(destinations[0], takes_a)
    x.set_predicate(destinations[1], x.test("eq.f64", chosen, chosen) ^ 1)


# Packed float16 or (BF16_V2) bfloat16: two to a register


def _form(x: Lowering) -> str:
    return "bf16" if Flag.BF16_V2 in x.modifiers else "f16"


def _widen(x: Lowering, row: int) -> int:
    """A half as float32, which holds it exactly."""
    if _form(x) == "bf16":
        return x.compute("shl.b32", row, x.constant(16))
    return x.compute("cvt.f32.f16", row)


def _narrow(x: Lowering, row: int) -> int:
    """A float32 as half."""
    if _form(x) == "bf16":
        return x.compute("cvt.rnd.f64", x.compute("cvt.f64.f32", row), imm=rounded("bf16", "rn"))
    return x.compute("cvt.f16.f32", row)


def _immediate(x: Lowering, operand: FloatImmediate) -> int:
    """Bits of an immediate half."""
    return x.float_bits(operand, Kind.F32) >> 16 if _form(x) == "bf16" else x.float_bits(operand, Kind.F16X2)


def _halves(x: Lowering, operand: Operand) -> tuple[int, int]:
    """Low and high half of a packed operand as rows; two immediates make one operand, high half first."""
    if isinstance(operand, FloatImmediate):
        other = x.take()
        if not isinstance(other, FloatImmediate):
            raise x.unsupported(f"operand {other} where the immediate of the low half is expected")
        return x.constant(_immediate(x, other)), x.constant(_immediate(x, operand))
    if isinstance(operand, Register) and operand.index is None:
        low = high = RZ
    else:
        if not isinstance(operand, Register | Constant):
            raise x.unsupported(f"operand {operand} where packed halves are expected")
        row = x.bank(operand, 4) if isinstance(operand, Constant) else x.row(operand)
        suffixes = operand.suffixes
        if Suffix.F32 in suffixes:
            wide = x.compute("cvt.f64.f32", row)
            low = high = x.compute("cvt.rnd.f64", wide, imm=rounded(_form(x), "rn"))
        elif Suffix.H0_H0 in suffixes:
            low = high = x.compute("cvt.u16", row)
        elif Suffix.H1_H1 in suffixes:
            low = high = x.compute("shr.u64", row, x.constant(16))
        else:
            low, high = x.compute("cvt.u16", row), x.compute("shr.u64", row, x.constant(16))
    pair = (low, high)
    if operand.absolute:
        pair = _each(x, "and.b64", pair, 0x7FFF)
    return _each(x, "xor.b64", pair, 0x8000) if operand.negated else pair


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
    if Flag.FTZ in x.modifiers:
        raise x.unsupported("packed float16 with FTZ is not supported")
    if Float.F32 in x.modifiers:
        rows = [_widen(x, low) for low, _ in operands]
        x.emit(f"{name}.f32", x.destination(d), *rows)
        return
    results = []
    for lane in (0, 1):
        row = x.compute(f"{name}.rnd", *(pair[lane] for pair in operands), imm=rounded(_form(x), "rn"))
        if Flag.SAT in x.modifiers:
            row = _narrow(x, x.compute("sat.f32", _widen(x, row)))
        if Flag.RELU in x.modifiers:
            negative = x.test("le.f32", _widen(x, row), RZ)  # -0 becomes +0, too
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
        d = x.take_register()
        high, low = (_immediate(x, operand) for operand in operands[3:] if isinstance(operand, FloatImmediate))
        x.emit("mov", x.destination(d), x.constant(high << 16 | low))
        return
    _packed(x, "fma", 3)


@opcode("HMNMX2", source=Source.H200_VALUES, takes=(Flag.FTZ, Flag.BF16_V2, Compare.NAN), since=VOLTA)
def minimum16(x: Lowering) -> None:
    """A NaN loses against a number, and wins with NAN."""
    d = x.take_register()
    a, b = _halves(x, x.take()), _halves(x, x.take())
    p = x.take_predicate()
    x.done()
    if Flag.FTZ in x.modifiers:
        raise x.unsupported("packed float16 with FTZ is not supported")
    results = []
    for lane in (0, 1):
        row = x.new()
        wide = _widen(x, a[lane]), _widen(x, b[lane])
        min_or_max(x, row, *wide, p, ".f32")
        result = _narrow(x, row)
        if x.modifiers.maybe(Compare) is not None:
            first, second = (x.test("eq.f32", each, each) for each in wide)
            ordered = x.logic(first, second, AND)
            result = x.compute("selp", result, x.constant(NAN_HALF), ordered)
        results.append(result)
    _join(x, d, *results)


def _compare16(x: Lowering) -> list[int]:
    """Predicate operands of the comparison of the low and of the high halves."""
    a, b = _halves(x, x.take()), _halves(x, x.take())
    compare = x.modifiers.one(Compare, Compare.F)
    rows = [[_widen(x, row) for row in pair] for pair in (a, b)]
    return [compare_floats(x, compare, rows[0][lane], rows[1][lane], "f32") for lane in (0, 1)]


@opcode("HSETP2", source=Source.H200_VALUES, takes=(Compare, Combine, Flag.BF16_V2))
def set_predicate16(x: Lowering) -> None:
    """``p, q, a, b, r``: p the low halves, q the high ones."""
    destinations = [x.take_predicate(), x.take_predicate()]
    results = _compare16(x)
    other = x.predicate(x.take_predicate())
    x.done()
    combine = x.modifiers.one(Combine, Combine.AND)
    for destination, result in zip(destinations, results, strict=True):
        write_comparison(x, [destination], result, combine, other)


@opcode("HSET2", source=Source.H200_VALUES, takes=(Flag.BF, Compare, Combine, Flag.BF16_V2))
def set16(x: Lowering) -> None:
    """Per half: 1.0 with BF, else all ones, where the comparison holds."""
    d = x.take_register()
    results = _compare16(x)
    other = x.predicate(x.take_predicate())
    x.done()
    if x.modifiers.one(Combine, Combine.AND) is not Combine.AND:
        raise x.unsupported("only HSET2 with AND is supported")
    one = ONE_BF16 if Flag.BF16_V2 in x.modifiers else ONE_F16
    true = x.constant(one if Flag.BF in x.modifiers else 0xFFFF)
    low, high = (x.compute("selp", true, RZ, x.logic(result, other, AND)) for result in results)
    _join(x, d, low, high)
