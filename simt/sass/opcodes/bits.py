"""Shifts, logic, permutation of bytes, bit fields and bit counting (also the uniform datapath's forms)."""

from __future__ import annotations

from simt.program import RZ
from simt.sass.architectures import VOLTA
from simt.sass.lowering import AND, MASK, OR, Lowering
from simt.sass.modifiers import Flag, Integer, Permute, Side
from simt.sass.opcodes.integer import FALSE
from simt.sass.operands import Immediate, Operand
from simt.sass.table import Source, opcode

_SHF = (Side, Integer.U32, Integer.S32, Integer.U64, Integer.S64, Flag.HI, Flag.W)


@opcode("SHF", source=Source.LISTINGS, takes=_SHF)
@opcode("USHF", source=Source.LISTINGS, takes=_SHF, since=VOLTA, uniform=True)
def funnel_shift(x: Lowering) -> None:
    """Shift of the pair ``{c:a}``; the low word, or the upper one with HI.

    Amounts saturate at the width of the type (PTX shf.clamp, shl, shr), or wrap at 32 with W (shf.wrap).
    """
    d = x.take_register()
    a, s, c = x.source(x.take()), x.take(), x.source(x.take())
    x.done()
    typ = x.modifiers.one(Integer, Integer.U32)
    left = x.modifiers.one(Side, Side.L) is Side.L
    high = Flag.HI in x.modifiers
    amount = _shift_amount(x, s, typ)
    plain = Flag.W not in x.modifiers and typ.bits == 32
    if plain and left and not high:
        x.emit("shl.b32", x.destination(d), a, x.source(s))
        return
    if plain and not left and high and a == RZ:
        x.emit("shr.s32" if typ.signed else "shr.u64", x.destination(d), c, x.source(s))
        return
    wide = x.compute("pack.b64", a, c)
    op = "shl.b64" if left else "shr.s64" if typ.signed else "shr.u64"
    x.emit("high.b64" if high else "cvt.u32", x.destination(d), x.compute(op, wide, amount))


def _shift_amount(x: Lowering, s: Operand, typ: Integer) -> int:
    limit = 32 if typ.bits == 32 else 64
    wraps = Flag.W in x.modifiers
    if isinstance(s, Immediate):
        value = s.value & MASK
        return x.constant(value & (limit - 1) if wraps else min(value, limit))
    if wraps:
        return x.compute("and.b64", x.source(s), x.constant(limit - 1))
    return x.compute("min.u64", x.source(s), x.constant(limit)) if limit == 32 else x.source(s)


_LOP3 = (Flag.LUT, Flag.PAND)


@opcode("LOP3", source=Source.LISTINGS, takes=_LOP3)
@opcode("ULOP3", source=Source.LISTINGS, takes=_LOP3, since=VOLTA, uniform=True)
def logic3(x: Lowering) -> None:
    """``[p,] d, a, b, c, table [, q]``: bit 4a + 2b + c of the table; p: d is not zero, OR (PAND: and) q."""
    predicates = x.take_predicates()
    d = x.take_register()
    a, b, c = x.source(x.take()), x.source(x.take()), x.source(x.take())
    table = x.take()
    others = x.take_predicates()
    x.done()
    if not isinstance(table, Immediate):
        raise x.unsupported("the truth table must be an immediate")
    row = x.new() if predicates else x.destination(d)
    _lop3(x, row, (a, b, c), table.value & 0xFF)
    if predicates:
        other = x.predicate(others[0]) if others else FALSE
        found = x.test("ne.s64", row, RZ)
        x.set_predicate(predicates[0], x.logic(found, other, AND if Flag.PAND in x.modifiers else OR))
        if d.index is not None:
            x.emit("mov", x.destination(d), row)


def _lop3(x: Lowering, d: int, rows: tuple[int, int, int], table: int) -> None:
    """A truth table; the common two-operand ones have cheaper micro-ops."""
    a, b, c = rows
    if c == RZ:
        cheap = {0xC0: "and.b64", 0xFC: "or.b64", 0x3C: "xor.b64"}.get(table)
        if cheap:
            x.emit(cheap, d, a, b)
            return
    x.emit("lop3.b32", d, a, b, c, imm=table)


@opcode("PRMT", source=Source.PTX, takes=(Permute,))
@opcode("UPRMT", source=Source.PTX, takes=(Permute,), since=VOLTA, uniform=True)
def permute(x: Lowering) -> None:
    d = x.take_register()
    a, selector, c = x.source(x.take()), x.source(x.take()), x.source(x.take())
    x.done()
    mode = x.modifiers.maybe(Permute)
    number = 0 if mode is None else 1 + list(Permute).index(mode)
    x.emit("prmt.b32", x.destination(d), a, selector, c, imm=number)


@opcode("IABS", source=Source.LISTINGS)
@opcode("UIABS", source=Source.LISTINGS, since=VOLTA, uniform=True)
def absolute(x: Lowering) -> None:
    d = x.take_register()
    x.emit("abs.s32", x.destination(d), x.source(x.take()))
    x.done()


@opcode("POPC", source=Source.PTX)
@opcode("UPOPC", source=Source.PTX, since=VOLTA, uniform=True)
def count_ones(x: Lowering) -> None:
    d = x.take_register()
    x.emit("popc.b64", x.destination(d), x.source(x.take()))
    x.done()


@opcode("BREV", source=Source.PTX)
@opcode("UBREV", source=Source.PTX, since=VOLTA, uniform=True)
def reverse_bits(x: Lowering) -> None:
    d = x.take_register()
    x.emit("brev.b32", x.destination(d), x.source(x.take()))
    x.done()


@opcode("FLO", source=Source.PTX, takes=(Integer.U32, Integer.S32, Flag.SH))
@opcode("UFLO", source=Source.PTX, takes=(Integer.U32, Integer.S32, Flag.SH), since=VOLTA, uniform=True)
def find_leading_one(x: Lowering) -> None:
    """Place of the highest one bit (S32: highest bit unlike the sign), all ones if none; SH: distance from the
    top.
    """
    d = x.take_register()
    p = x.take_predicates()
    row = x.source(x.take())
    x.done()
    if p and p[0].index is not None:
        raise x.unsupported("the predicate of FLO is not supported")
    if x.modifiers.one(Integer, Integer.S32).signed:
        row = x.compute("xor.b64", row, x.compute("shr.s32", row, x.constant(31)))
    zeros = x.compute("clz.b32", row)
    if Flag.SH in x.modifiers:
        none = x.test("eq.s64", row, RZ)
        x.emit("selp", x.destination(d), x.constant(MASK), zeros, none)
    else:
        x.emit("sub.u32", x.destination(d), x.constant(31), zeros)


@opcode("SGXT", source=Source.LISTINGS, takes=(Integer.U32, Flag.W))
@opcode("USGXT", source=Source.LISTINGS, takes=(Integer.U32, Flag.W), since=VOLTA, uniform=True)
def sign_extend(x: Lowering) -> None:
    """The low *b* bits of a, sign-extended (U32: zero-extended)."""
    d = x.take_register()
    a, width = x.source(x.take()), x.source(x.take())
    x.done()
    if Flag.W in x.modifiers:
        width = x.compute("and.b64", width, x.constant(31))
    else:
        width = x.compute("min.u64", width, x.constant(32))
    shift = x.compute("sub.s64", x.constant(64), width)
    top = x.compute("shl.b64", a, shift)
    op = "shr.u64" if x.modifiers.maybe(Integer) else "shr.s64"
    x.emit("cvt.u32", x.destination(d), x.compute(op, top, shift))


@opcode("BMSK", source=Source.LISTINGS, takes=(Flag.W,))
@opcode("UBMSK", source=Source.LISTINGS, takes=(Flag.W,), since=VOLTA, uniform=True)
def bit_mask(x: Lowering) -> None:
    """*b* ones from bit *a* on (PTX bmsk)."""
    d = x.take_register()
    start, width = x.source(x.take()), x.source(x.take())
    x.done()
    if Flag.W in x.modifiers:
        start, width = (x.compute("and.b64", row, x.constant(31)) for row in (start, width))
    else:
        width = x.compute("min.u64", width, x.constant(32))
    ones = x.compute("sub.s64", x.compute("shl.b64", x.constant(1), width), x.constant(1))
    x.emit("cvt.u32", x.destination(d), x.compute("shl.b64", ones, start))
