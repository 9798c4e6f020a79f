"""Instructions that only Maxwell and Pascal have.

XMAD, IADD3.RS and the carry flag are as the published profile of nine kernels needs them (Source.PASCAL); the rest
follows PTX.  Control flow (SSY, SYNC, PBK, BRK, ...) is in tokens.py.
"""

from __future__ import annotations

from simt.program import RZ
from simt.sass.architectures import VOLTA
from simt.sass.lowering import AND, MASK, OR, XOR, Kind, Lowering
from simt.sass.modifiers import Combine, Compare, Flag, Integer, Logic
from simt.sass.opcodes.float import ONE_F32, compare_floats, source32
from simt.sass.opcodes.integer import addend, compare_rows, extended, limited, write_comparison, write_sum
from simt.sass.operands import Constant, Operand, Register, Suffix
from simt.sass.table import Source, opcode

LAST_PASCAL = VOLTA - 1
HALF = 16


@opcode("MOV32I", source=Source.NAMES, until=LAST_PASCAL)
def move_immediate(x: Lowering) -> None:
    d = x.take_register()
    x.emit("mov", x.destination(d), x.source(x.take()))
    x.done()


@opcode("IADD", "IADD32I", source=Source.PASCAL, takes=(Flag.X,), until=LAST_PASCAL)
def add(x: Lowering) -> None:
    """Also of float bits: IADD32I adds them as integers."""
    d = x.take_register()
    a, b = x.take(), x.take()
    x.done()
    if not d.suffixes and Flag.X not in x.modifiers:
        x.emit("add.u32", x.destination(d), x.source(a), x.source(b))
        return
    write_sum(x, d, [addend(x, a), addend(x, b)], [])


@opcode("IADD3", source=Source.PASCAL, takes=(Flag.X, Flag.RS, Flag.LS), until=LAST_PASCAL)
def add3(x: Lowering) -> None:
    """RS, LS: ``a + b``, kept at 33 bits, is shifted by 16 before c is added."""
    d = x.take_register()
    a, b, c = x.take(), x.take(), x.take()
    x.done()
    shift = {Flag.RS: "shr.u64", Flag.LS: "shl.b64"}
    for flag, op in shift.items():
        if flag in x.modifiers:
            partial = x.compute("add.s64", addend(x, a), addend(x, b))
            partial = x.compute("cvt.u32", x.compute(op, partial, x.constant(HALF)))
            write_sum(x, d, [partial, addend(x, c)], [])
            return
    if not d.suffixes and Flag.X not in x.modifiers:
        x.emit("add3.u32", x.destination(d), x.source(a), x.source(b), x.source(c))
        return
    write_sum(x, d, [addend(x, operand) for operand in (a, b, c)], [])


@opcode("ISCADD", "ISCADD32I", source=Source.PASCAL, until=LAST_PASCAL)
def shift_add(x: Lowering) -> None:
    """``(a << shift, to 32 bits) + b``."""
    d = x.take_register()
    a, b, shift = x.source(x.take()), x.take(), x.source(x.take())
    x.done()
    shifted = x.compute("shl.b32", a, shift)
    if d.suffixes:
        write_sum(x, d, [shifted, addend(x, b)], [])
    else:
        x.emit("add.u32", x.destination(d), shifted, x.source(b))


_XMAD = (Flag.PSL, Flag.CBCC, Flag.CHI, Flag.CLO, Flag.MRG)


@opcode("XMAD", source=Source.PASCAL, takes=_XMAD, until=LAST_PASCAL)
def multiply_halves(x: Lowering) -> None:
    """16 x 16 bits unsigned, plus c.

    PSL: product << 16.  CBCC: c += b << 16, with all of b's register.  CHI, CLO: upper, lower half of c.  MRG:
    the low half of the sum below the low half of b's register.
    """
    d = x.take_register()
    a, b, c = x.take(), x.take(), x.source(x.take())
    x.done()
    left, right = _half(x, a), _half(x, b)
    whole = _whole(x, b)
    if Flag.CBCC in x.modifiers:
        c = x.compute("add.u32", c, x.compute("shl.b32", whole, x.constant(HALF)))
    elif Flag.CHI in x.modifiers:
        c = x.compute("shr.u64", c, x.constant(HALF))
    elif Flag.CLO in x.modifiers:
        c = x.compute("cvt.u16", c)
    if Flag.PSL in x.modifiers:
        left = x.compute("shl.b32", left, x.constant(HALF))
    if Flag.MRG in x.modifiers:
        total = x.compute("mad.u32", left, right, c)
        x.emit("prmt.b32", x.destination(d), total, x.constant(0x5410), whole)
    else:
        x.emit("mad.u32", x.destination(d), left, right, c)


def _half(x: Lowering, operand: Operand) -> int:
    """The half of a source that ``.H1`` selects, the lower one without it."""
    row = x.source(operand)
    if isinstance(operand, Register | Constant) and Suffix.H1 in operand.suffixes:
        return row
    return row if row == RZ else x.compute("cvt.u16", row)


def _whole(x: Lowering, operand: Operand) -> int:
    """All 32 bits of the register or constant, whatever half is selected."""
    if isinstance(operand, Register):
        return x.row(operand)
    return x.bank(operand, 4) if isinstance(operand, Constant) else x.source(operand)


@opcode("SHL", source=Source.PTX, takes=(Flag.W,), until=LAST_PASCAL)
@opcode("SHR", source=Source.PTX, takes=(Integer.U32, Integer.S32, Flag.W), until=LAST_PASCAL)
def shift(x: Lowering) -> None:
    d = x.take_register()
    a, s = x.source(x.take()), x.source(x.take())
    x.done()
    if Flag.W in x.modifiers:
        s = x.compute("and.b64", s, x.constant(31))
    if x.instruction.opcode == "SHL":
        op = "shl.b32"
    else:
        op = "shr.s32" if x.modifiers.one(Integer, Integer.S32).signed else "shr.u64"
    x.emit(op, x.destination(d), a, s)


@opcode("LOP", "LOP32I", source=Source.PASCAL, takes=(Logic,), until=LAST_PASCAL)
def logic(x: Lowering) -> None:
    d = x.take_register()
    a, b = x.source(x.take()), x.source(x.take())
    x.done()
    kind = x.modifiers.one(Logic, Logic.AND)
    if kind is Logic.PASS_B:
        x.emit("mov", x.destination(d), b)
    else:
        x.emit(f"{kind.value.lower()}.b64", x.destination(d), a, b)


@opcode("BFE", source=Source.PTX, takes=(Integer.U32, Integer.S32), until=LAST_PASCAL)
def extract_field(x: Lowering) -> None:
    """Bits of a: place in the low byte of b, length in the next."""
    d = x.take_register()
    signed = x.modifiers.one(Integer, Integer.S32).signed
    a = extended(x, x.take(), signed)
    place, length = _field(x, x.source(x.take()))
    x.done()
    # Past bit 31 the field continues with the sign (or zeros), as the extended source does.
    room = x.compute("sub.s64", x.constant(64), length)
    moved = x.compute("shr.s64" if signed else "shr.u64", a, place)
    top = x.compute("shl.b64", moved, room)
    x.emit("cvt.u32", x.destination(d), x.compute("shr.s64" if signed else "shr.u64", top, room))


def _field(x: Lowering, row: int) -> tuple[int, int]:
    length = x.compute("cvt.u8", x.compute("shr.u64", row, x.constant(8)))
    return x.compute("cvt.u8", row), x.compute("min.u64", length, x.constant(32))


@opcode("BFI", source=Source.PTX, until=LAST_PASCAL)
def insert_field(x: Lowering) -> None:
    """c with the field described by b (see BFE) replaced by the low bits of a."""
    d = x.take_register()
    a = x.source(x.take())
    place, length = _field(x, x.source(x.take()))
    c = x.source(x.take())
    x.done()
    ones = x.compute("sub.s64", x.compute("shl.b64", x.constant(1), length), x.constant(1))
    mask = x.compute("shl.b64", ones, place)
    moved = x.compute("shl.b64", a, place)
    x.emit("lop3.b32", x.destination(d), mask, moved, c, imm=0xCA)


@opcode("PSETP", source=Source.PASCAL, takes=(Combine,), until=LAST_PASCAL)
def predicate_logic(x: Lowering) -> None:
    """``p, q, a, b, c``: p = (a op1 b) op2 c, q = not (a op1 b) op2 c."""
    destinations = [x.take_predicate(), x.take_predicate()]
    a, b, c = (x.predicate(x.take_predicate()) for _ in range(3))
    x.done()
    first, second = x.two(Combine)
    table = {Combine.AND: AND, Combine.OR: OR, Combine.XOR: XOR}[first]
    write_comparison(x, destinations, x.logic(a, b, table), second, c)


@opcode("ICMP", source=Source.NAMES, takes=(Compare, Integer.U32, Integer.S32), until=LAST_PASCAL)
def select_by_integer(x: Lowering) -> None:
    """``c cmp 0 ? a : b``."""
    d = x.take_register()
    a, b = x.source(x.take()), x.source(x.take())
    c = extended(x, x.take(), x.modifiers.one(Integer, Integer.S32).signed)
    x.done()
    result = compare_rows(x, x.modifiers.one(Compare, Compare.F), c, RZ, "lt.s64", "eq.s64")
    x.emit("selp", x.destination(d), a, b, result)


@opcode("FCMP", source=Source.NAMES, takes=(Compare, Flag.FTZ), until=LAST_PASCAL)
def select_by_float(x: Lowering) -> None:
    """``c cmp 0 ? a : b``."""
    d = x.take_register()
    a, b = x.source(x.take(), Kind.F32), x.source(x.take(), Kind.F32)
    c = source32(x, x.take())
    x.done()
    result = compare_floats(x, x.modifiers.one(Compare, Compare.F), c, RZ, "f32")
    x.emit("selp", x.destination(d), a, b, result)


@opcode("ISET", source=Source.NAMES, takes=(Flag.BF, Compare, Integer.U32, Combine), until=LAST_PASCAL)
def set_integer(x: Lowering) -> None:
    """The comparison as a number: 1.0 with BF, else all ones."""
    d = x.take_register()
    signed = x.modifiers.maybe(Integer) is None
    a, b = extended(x, x.take(), signed), extended(x, x.take(), signed)
    other = x.predicate(x.take_predicate())
    x.done()
    result = compare_rows(x, x.modifiers.one(Compare, Compare.F), a, b, "lt.s64", "eq.s64")
    table = {Combine.AND: AND, Combine.OR: OR, Combine.XOR: XOR}[x.modifiers.one(Combine, Combine.AND)]
    true = x.constant(ONE_F32 if Flag.BF in x.modifiers else MASK)
    x.emit("selp", x.destination(d), true, RZ, x.logic(result, other, table))


@opcode("I2I", source=Source.PASCAL, takes=(Integer, Flag.SAT), until=LAST_PASCAL)
def integer_to_integer(x: Lowering) -> None:
    """``I2I.destination.source``: the low bits; SAT: the nearest value of the type."""
    d = x.take_register()
    to, of = x.two(Integer)
    operand = x.take()
    x.done()
    bare = operand
    if isinstance(operand, Register):
        bare = Register(operand.index, suffixes=operand.suffixes)
    row = x.compute(f"cvt.{of.value.lower()}", x.source(bare))
    if isinstance(operand, Register):
        row = x.compute("abs.s64", row) if operand.absolute else row
        row = x.compute("neg.s64", row) if operand.negated else row
    if Flag.SAT in x.modifiers:
        row = limited(x, row, to.bits, to.signed)
    x.emit("cvt.u32", x.destination(d), x.compute(f"cvt.{to.value.lower()}", row))
