"""Floating-point arithmetic, comparison and selection: float32, float64, MUFU; packed float16 is in half.py."""

from __future__ import annotations

from dataclasses import replace

from simt.ops.encoding import MUFU_FUNCTIONS, rounded
from simt.program import PT, RZ
from simt.sass.architectures import BLACKWELL, VOLTA
from simt.sass.lowering import AND, OR, Kind, Lowering
from simt.sass.modifiers import Combine, Compare, Flag, Float, Function, MinMax, Round, Scale
from simt.sass.opcodes.integer import FALSE, min_or_max, write_comparison
from simt.sass.operands import Constant, FloatImmediate, Operand, Predicate, Register
from simt.sass.table import Source, opcode

_ARITHMETIC = (Round, Flag.FTZ, Flag.SAT)

ONE_F32 = 0x3F800000
NAN_F32 = 0x7FFFFFFF
TWO_TO_16 = 0x40F0000000000000
"""65,536 as a float64: what no float16 reaches."""


def rounding_of(x: Lowering) -> str:
    """The rounding of a floating-point result, as the micro-ops name it."""
    return x.modifiers.one(Round, Round.RN).value.lower()


def _flushes(x: Lowering) -> bool:
    return Flag.FTZ in x.modifiers or Flag.FMZ in x.modifiers


def as_float64(x: Lowering, operand: Operand, form: Float) -> int:
    """A source of any format as float64, which holds it exactly."""
    if form is Float.F64:
        return x.source64(operand, Kind.F64)
    if form in (Float.F16, Float.BF16):
        negated, absolute = False, False
        if isinstance(operand, Register | Constant):
            negated, absolute = operand.negated, operand.absolute
            operand = replace(operand, negated=False, absolute=False)
        if isinstance(operand, FloatImmediate):
            bits = x.constant(x.float_bits(operand, Kind.F16X2 if form is Float.F16 else Kind.BF16X2))
        else:
            bits = x.source(operand)
        if form is Float.F16:
            row = x.compute("cvt.f64.f32", x.compute("cvt.f32.f16", x.compute("cvt.u16", bits)))
        else:
            row = x.compute("cvt.f64.f32", x.compute("shl.b32", bits, x.constant(16)))
        row = x.compute("abs.f64", row) if absolute else row
        return x.compute("neg.f64", row) if negated else row
    row = x.source(operand, Kind.F32)
    if Flag.FTZ in x.modifiers:
        row = x.compute("ftz.f32", row)
    return x.compute("cvt.f64.f32", row)


def source32(x: Lowering, operand: Operand) -> int:
    """A float32 source, flushed if the instruction says FTZ."""
    row = x.source(operand, Kind.F32)
    return x.compute("ftz.f32", row) if _flushes(x) and row != RZ else row


def write32(x: Lowering, d: Register, op: str, rows: tuple[int, ...], imm: int = 0) -> None:
    """A float32 micro-op, then what FTZ and SAT ask for, into a register."""
    after = ["ftz.f32"] * _flushes(x) + ["sat.f32"] * (Flag.SAT in x.modifiers)
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


@opcode("FMUL", "FMUL32I", source=Source.H200_VALUES, takes=(*_ARITHMETIC, Flag.FMZ, Scale))
@opcode("UFMUL", source=Source.NAMES, takes=_ARITHMETIC, since=VOLTA, uniform=True)
def multiply32(x: Lowering) -> None:
    """``d = a * b``; with a Scale the exact product times a power of two, rounded once (float64 holds it).

    FMZ: as FTZ, and zero times anything, infinity and NaN too, is +0.
    """
    scale, zeroes = x.modifiers.maybe(Scale), Flag.FMZ in x.modifiers
    if scale is None and not zeroes:
        _arithmetic32(x, "mul", 2)
        return
    d = x.take_register()
    a, b = source32(x, x.take()), source32(x, x.take())
    x.done()
    row = x.compute("mul.f64", x.compute("cvt.f64.f32", a), x.compute("cvt.f64.f32", b))
    if scale is not None:
        row = x.compute("mul.f64", row, x.constant(x.float_bits(FloatImmediate(str(scale.factor)), Kind.F64)))
    if zeroes:
        nothing = x.logic(x.test("eq.f32", a, RZ), x.test("eq.f32", b, RZ), OR)
        row = x.compute("selp", RZ, row, nothing)
    write32(x, d, "cvt.rnd.f64", (row,), rounded("f32", rounding_of(x)))


@opcode("FFMA", "FFMA32I", source=Source.NAMES, takes=_ARITHMETIC)
@opcode("UFFMA", source=Source.NAMES, takes=_ARITHMETIC, since=VOLTA, uniform=True)
def fused32(x: Lowering) -> None:
    _arithmetic32(x, "fma", 3)


_EXTREME = (Flag.FTZ, Flag.NAN, Flag.XORSIGN)


@opcode("FMNMX", source=Source.PTX, takes=_EXTREME)
@opcode("UFMNMX", source=Source.PTX, takes=_EXTREME, since=VOLTA, uniform=True)
@opcode("FMNMX3", source=Source.PTX, takes=_EXTREME, since=BLACKWELL)
def minimum32(x: Lowering) -> None:
    """Of two numbers or three.  A NaN loses; with NAN it wins.  XORSIGN: of magnitudes, with the product's sign."""
    d = x.take_register()
    rows = [source32(x, x.take()) for _ in range(max(len(x.operands) - 1, 2))]
    p = x.take_predicate()
    x.done()
    if len(rows) == 2 and not {Flag.NAN, Flag.XORSIGN} & set(x.modifiers.values):
        min_or_max(x, x.destination(d), rows[0], rows[1], p, ".f32")
        return
    magnitudes = [x.compute("abs.f32", row) for row in rows] if Flag.XORSIGN in x.modifiers else rows
    result = magnitudes[0]
    for row in magnitudes[1:]:
        target = x.new()
        min_or_max(x, target, result, row, p, ".f32")
        result = target
    if Flag.XORSIGN in x.modifiers:
        sign = RZ
        for row in rows:
            sign = x.compute("xor.b64", sign, row)
        sign = x.compute("and.b64", sign, x.constant(0x80000000))
        ordered = x.test("eq.f32", result, result)
        result = x.compute("selp", x.compute("or.b64", result, sign), result, ordered)
    if Flag.NAN in x.modifiers:
        for row in rows:
            result = x.compute("selp", result, x.constant(NAN_F32), x.test("eq.f32", row, row))
    x.emit("mov", x.destination(d), result)


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


@opcode("MUFU", source=Source.H200_VALUES, takes=(Function, Float.F16, Float.BF16))
def multi_function(x: Lowering) -> None:
    """Approximations, with an H200's bits whatever the architecture: other GPUs were not measured.

    Denormal operands and results are flushed, except by TANH, which gives small operands back.  SIN and COS take
    turns (revolutions), RCP64H and RSQ64H upper words.  Of 16-bit operands the result is that of the same float32, cut
    off after the bits that it has; beyond all finite numbers it is infinite.
    """
    d = x.take_register()
    operand = x.take()
    x.done()
    function = x.modifiers.one(Function, Function.RCP)
    index = MUFU_FUNCTIONS.index(function.value.lower())
    form = x.modifiers.one(Float, Float.F32)
    if form is not Float.F32:
        row = x.compute("cvt.rnd.f64", as_float64(x, operand, form), imm=rounded("f32", "rn"))
        row = x.compute("cvt.f64.f32", x.compute("mufu.b32", row, imm=index))
        cut = rounded(form.value.lower(), "rz")
        if form is Float.BF16:  # its numbers reach as far as those of float32
            x.emit("cvt.rnd.f64", x.destination(d), row, imm=cut)
        else:
            below, beyond = (x.compute("cvt.rnd.f64", row, imm=imm) for imm in (cut, rounded("f16", "rn")))
            ends = x.test("lt.f64", x.compute("abs.f64", row), x.constant(TWO_TO_16))
            x.emit("selp", x.destination(d), below, beyond, ends)
        return
    if function not in (Function.RCP64H, Function.RSQ64H):
        row = x.source(operand, Kind.F32)
    elif isinstance(operand, FloatImmediate):  # written as the float64 whose upper word it is
        row = x.constant(x.float_bits(operand, Kind.F64) >> 32)
    else:
        row = x.source(operand)
    x.emit("mufu.b32", x.destination(d), row, imm=index)


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
