"""Integer arithmetic, logic, shifts, bit fields, comparisons and selection (also the uniform datapath's forms)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simt.program import PT, RZ, pred
from simt.sass.lowering import AND, MASK, OR, XOR, Hidden, Kind, Lowering
from simt.sass.modifiers import Combine, Compare, Flag, Integer, Packed, Permute, Side, Width
from simt.sass.operands import Constant, Immediate, Operand, Predicate, PredicateFile, Register, Suffix
from simt.sass.table import BLACKWELL, VOLTA, Source, opcode

FALSE = pred(0, True)
_TABLES = {Combine.AND: AND, Combine.OR: OR, Combine.XOR: XOR}


@opcode("MOV", source=Source.NAMES, takes=(Width.W64,))
@opcode("UMOV", source=Source.NAMES, takes=(Width.W64,), since=VOLTA, uniform=True)
def move(x: Lowering) -> None:
    if Width.W64 in x.modifiers:
        move_wide(x)
        return
    d = x.take_register()
    x.emit("mov", x.destination(d), x.source(x.take()))
    if x.operands:  # a mask of bytes to write; compilers always write all four
        mask = x.take()
        if not isinstance(mask, Immediate) or mask.value != 15:
            raise x.unsupported("MOV of single bytes is not supported")
    x.done()


def move_wide(x: Lowering) -> None:
    d = x.take_register()
    a = x.source64(x.take())
    x.done()
    x.write_pair(d, a)


def carry_value(x: Lowering, carry: Predicate) -> int:
    """1 in the lanes where a carry is set, as a row."""
    return x.compute("selp", x.constant(1), RZ, x.predicate(carry))


def addend(x: Lowering, operand: Operand) -> int:
    """An addend of a sum with carry out: ``-b`` is ``~b + 1``, that is ``2**32 - b``, which carries for b = 0."""
    if isinstance(operand, Register | Constant) and operand.negated:
        bare = replace(operand, negated=False)
        return x.compute("sub.s64", x.constant(1 << 32), x.source(bare))
    return x.source(operand)


def write_carries(x: Lowering, total: int, carries: list[Predicate]) -> None:
    """Write the carries out of a sum of up to three 32-bit addends (0, 1 or 2): one predicate counts each."""
    for k, carry in enumerate(carries):
        if carry.index is not None:
            limit = x.constant(((k + 1) << 32) - 1)
            x.set_predicate(carry, x.test("lt.s64", limit, total))


@opcode("IADD3", source=Source.LISTINGS, takes=(Flag.X,), since=VOLTA)
@opcode("UIADD3", source=Source.LISTINGS, takes=(Flag.X, Width.W64), since=VOLTA, uniform=True)
def add3(x: Lowering) -> None:
    """``d, [carry out, [carry out,]] a, b, c [, carry in, carry in]``."""
    if Width.W64 in x.modifiers:
        add3_wide(x)
        return
    d = x.take_register()
    carries = x.take_predicates()
    addends = [x.take(), x.take(), x.take()]
    carry_in = x.take_predicates()
    x.done()
    if not any(carry.index is not None for carry in carries):
        rows = [x.source(operand) for operand in addends]
        for carry in carry_in:
            if x.predicate(carry) != FALSE:
                rows.append(carry_value(x, carry))
        rows = [row for row in rows if row != RZ]
        if len(rows) > 3:
            rows = [x.compute("add3.u32", *rows[:3]), *rows[3:]]
        op = "add3.u32" if len(rows) == 3 else "add.u32"
        x.emit(op, x.destination(d), *rows)
        return
    rows = [addend(x, operand) for operand in addends]
    rows += [carry_value(x, carry) for carry in carry_in if x.predicate(carry) != FALSE]
    write_sum(x, d, rows, carries)


def write_sum(x: Lowering, d: Register, rows: list[int], carries: list[Predicate]) -> None:
    """Write a 32-bit sum of zero-extended rows and its carries.  On Pascal, the carry flag comes in and goes out."""
    if x.place.architecture < VOLTA and Flag.X in x.modifiers:
        rows = [*rows, x.compute("selp", x.constant(1), RZ, pred(Hidden.CARRY))]
    total = sum_of(x, rows)
    x.emit("cvt.u32", x.destination(d), total)
    write_carries(x, total, carries)
    if Suffix.CC in d.suffixes:
        x.set_hidden(Hidden.CARRY, x.test("lt.s64", x.constant(MASK), total))


def sum_of(x: Lowering, rows: list[int]) -> int:
    """64-bit sum of rows."""
    rows = [row for row in rows if row != RZ] or [RZ]
    total = rows[0]
    for row in rows[1:]:
        total = x.compute("add.s64", total, row)
    return total


def add3_wide(x: Lowering) -> None:
    d = x.take_register()
    carries = x.take_predicates()
    rows = [x.source64(x.take()) for _ in range(len(x.operands))]
    if any(carry.index is not None for carry in carries):
        raise x.unsupported("carry out of a 64-bit sum is not supported")
    x.write_pair(d, sum_of(x, rows))


@opcode("IADD", source=Source.LISTINGS, takes=(Width.W64,), since=BLACKWELL)
def add_blackwell(x: Lowering) -> None:
    d = x.take_register()
    if Width.W64 in x.modifiers:
        a, b = x.source64(x.take()), x.source64(x.take())
        x.write_pair(d, x.compute("add.s64", a, b))
    else:
        a, b = x.source(x.take()), x.source(x.take())
        x.emit("add.u32", x.destination(d), a, b)
    x.done()


@opcode("VIADD", source=Source.H200, takes=(Integer.U32, Integer.S32, Packed), since=VOLTA)
@opcode("UVIADD", source=Source.H200, takes=(Integer.U32, Integer.S32), since=VOLTA, uniform=True)
def vector_add(x: Lowering) -> None:
    d = x.take_register()
    packed = x.modifiers.maybe(Packed)
    if packed is not None:
        a, b = _bare_and_negated(x), _bare_and_negated(x)
        x.done()
        _each_part(x, d, packed, (a, b), lambda left, right: x.compute("add.s64", left, right))
        return
    left, right = x.source(x.take()), x.source(x.take())
    x.done()
    x.emit("add.u32", x.destination(d), left, right)


def _bare_and_negated(x: Lowering) -> tuple[int, bool]:
    """A packed source: its row, and whether each part is negated."""
    operand = x.take()
    if isinstance(operand, Register | Constant) and operand.negated:
        return x.source(replace(operand, negated=False)), True
    return x.source(operand), False


def _each_part(
    x: Lowering,
    d: Register,
    packed: Packed,
    sources: tuple[tuple[int, bool], tuple[int, bool]],
    combine: Callable[[int, int], int],
) -> None:
    """Apply *combine* to each part of two packed registers."""
    bits = packed.bits
    total = RZ
    for low in range(0, 32, bits):
        parts = []
        for row, negated in sources:
            top = x.compute("shl.b64", row, x.constant(64 - bits - low))
            part = x.compute("shr.s64" if packed.signed else "shr.u64", top, x.constant(64 - bits))
            parts.append(x.compute("neg.s64", part) if negated else part)
        part = x.compute("and.b64", combine(*parts), x.constant((1 << bits) - 1))
        total = x.compute("or.b64", total, x.compute("shl.b64", part, x.constant(low)))
    x.emit("mov", x.destination(d), total)


@opcode("VABSDIFF4", source=Source.PTX, takes=(Integer.U8, Integer.S8), since=VOLTA)
def absolute_difference_of_bytes(x: Lowering) -> None:
    """``|a - b|`` of each byte (PTX vabsdiff4 without mask and accumulation: c is not used)."""
    d = x.take_register()
    a, b = x.source(x.take()), x.source(x.take())
    x.take()
    x.done()
    packed = Packed.S8X4 if x.modifiers.one(Integer, Integer.U8).signed else Packed.U8X4
    _each_part(x, d, packed, ((a, False), (b, False)), lambda p, q: x.compute("abs.s64", x.compute("sub.s64", p, q)))


_IMAD = (
    Flag.MOV, Flag.SHL, Flag.IADD, Flag.X, Flag.HI, Flag.WIDE, Integer.U32, Integer.S32,
)  # fmt: skip


@opcode("IMAD", source=Source.LISTINGS, takes=_IMAD, since=VOLTA)
@opcode("UIMAD", source=Source.LISTINGS, takes=_IMAD, since=VOLTA, uniform=True)
def multiply_add(x: Lowering) -> None:
    """``a * b + c``: the low word; with WIDE 64 bits plus a pair; with HI the upper word of that."""
    d = x.take_register()
    carries = x.take_predicates()
    a, b, c = x.take(), x.take(), x.take()
    carry_in = x.take_predicates()
    x.done()
    if Flag.WIDE in x.modifiers or Flag.HI in x.modifiers:
        _multiply_wide(x, d, carries, (a, b, c), carry_in)
        return
    if any(carry.index is not None for carry in carries):
        raise x.unsupported("carry out of a 32-bit multiply-add is not supported")
    rows = x.source(a), x.source(b), x.source(c)
    extra = [carry_value(x, carry) for carry in carry_in if x.predicate(carry) != FALSE]
    target = x.new() if extra else x.destination(d)
    one = x.constant(1)
    if RZ in rows[:2]:
        x.emit("mov", target, rows[2])
    elif one in rows[:2]:
        x.emit("add.u32", target, rows[0] if rows[1] == one else rows[1], rows[2])
    else:
        x.emit("mad.u32", target, *rows)
    for row in extra:
        x.emit("add.u32", x.destination(d), target, row)


def _multiply_wide(
    x: Lowering,
    d: Register,
    carries: list[Predicate],
    sources: tuple[Operand, Operand, Operand],
    carry_in: list[Predicate],
) -> None:
    signed = x.modifiers.one(Integer, Integer.S32).signed
    a, b = (extended(x, operand, signed) for operand in sources[:2])
    addend = sources[2]
    c = x.source64(addend)
    extra = [carry_value(x, carry) for carry in carry_in if x.predicate(carry) != FALSE]
    wants_carry = any(carry.index is not None for carry in carries)
    if wants_carry:
        # (2**32 - 1)**2 + 1 fits in 64 bits: only the addition of c can carry.
        product = x.compute("mad.s64", a, b, extra[0] if extra else RZ)
        total = x.compute("add.s64", product, c)
        x.set_predicate(carries[0], x.test("lt.u64", total, c))
    else:
        total = x.compute("mad.s64", a, b, c)
        for row in extra:
            total = x.compute("add.s64", total, row)
    if Flag.HI in x.modifiers:
        x.emit("high.b64", x.destination(d), total)
    else:
        x.write_pair(d, total)


def extended(x: Lowering, operand: Operand, signed: bool) -> int:
    """A 32-bit source extended to 64 bits."""
    if isinstance(operand, Immediate):
        value = operand.value & MASK
        return x.constant(value - (value >> 31 << 32) if signed else value)
    row = x.source(operand)
    return x.compute("cvt.s32", row) if signed and row != RZ else row


@opcode("LEA", source=Source.LISTINGS, takes=(Flag.HI, Flag.X, Flag.SX32))
@opcode("ULEA", source=Source.LISTINGS, takes=(Flag.HI, Flag.X, Flag.SX32), since=VOLTA, uniform=True)
def load_effective_address(x: Lowering) -> None:
    """``(a << shift) + b``; HI: upper word of ``{c:a} << shift`` (SX32: of sign-extended a) plus b."""
    d = x.take_register()
    carries = x.take_predicates()
    a, b = x.take(), x.take()
    if Flag.HI in x.modifiers:
        low = x.source(a)
        extends = Flag.SX32 in x.modifiers
        wide = x.compute("cvt.s32", low) if extends else x.compute("pack.b64", low, x.source(x.take()))
        shift = x.source(x.take())
        shifted = x.compute("high.b64", x.compute("shl.b64", wide, shift))
    else:
        if isinstance(a, Register | Constant) and a.negated:
            # Negated after the shift, and as in addend(): what is subtracted from carries.
            shifted = x.compute("shl.b32", x.source(replace(a, negated=False)), x.source(x.take()))
            shifted = x.compute("sub.s64", x.constant(1 << 32), shifted)
        else:
            shifted = x.compute("shl.b32", x.source(a), x.source(x.take()))
    carry_in = x.take_predicates()
    x.done()
    rows = [shifted, addend(x, b)]
    rows += [carry_value(x, carry) for carry in carry_in if x.predicate(carry) != FALSE]
    write_sum(x, d, rows, carries)


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


@opcode("VABSDIFF", source=Source.PTX, takes=(Integer.U32,), since=VOLTA)
def absolute_difference(x: Lowering) -> None:
    """``|a - b| + c`` (PTX sad)."""
    d = x.take_register()
    signed = x.modifiers.maybe(Integer) is None
    a, b = extended(x, x.take(), signed), extended(x, x.take(), signed)
    c = x.source(x.take())
    x.done()
    x.emit("add.u32", x.destination(d), x.compute("abs.s64", x.compute("sub.s64", a, b)), c)


@opcode("IDP", source=Source.PTX, takes=(Flag.IDP_4A, Integer.U8, Integer.S8), since=VOLTA)
def dot_product(x: Lowering) -> None:
    """Dot product of four bytes, plus c (PTX dp4a)."""
    d = x.take_register()
    rows = x.source(x.take()), x.source(x.take()), x.source(x.take())
    x.done()
    types = x.modifiers.all(Integer)
    signs = sum(typ.signed << k for k, typ in enumerate(types))
    x.emit("dp4a.b32", x.destination(d), *rows, imm=signs)


# Comparison and selection

_LESS = {
    Compare.LT: (False, False),
    Compare.GT: (True, False),
    Compare.GE: (False, True),
    Compare.LE: (True, True),
}
"""Comparison as ``lt`` with operands swapped, then negated."""


def compare_rows(x: Lowering, compare: Compare, a: int, b: int, less: str, equal: str) -> int:
    """Predicate operand of a comparison of two rows, by a less-than and an equality micro-op."""
    if compare is Compare.F:
        return FALSE
    if compare is Compare.T:
        return PT
    if compare in (Compare.EQ, Compare.NE):
        return x.test(equal, a, b) ^ (compare is Compare.NE)
    swap, negate = _LESS[compare]
    return x.test(less, b, a) ^ negate if swap else x.test(less, a, b) ^ negate


def write_comparison(x: Lowering, destinations: list[Predicate], result: int, combine: Combine, other: int) -> None:
    """``p = result op other; q = not result op other``."""
    table = _TABLES[combine]
    for destination, value in zip(destinations, (result, result ^ 1), strict=False):
        if destination.index is not None:
            x.set_predicate(destination, x.logic(value, other, table))


_ISETP = (
    Compare, Integer.U32, Integer.S32, Integer.U64, Integer.S64, Combine, Flag.EX,
)  # fmt: skip


_LESS_THAN = {
    Integer.U32: "lt.s64",  # zero-extended in their slots
    Integer.S32: "lt.s32",
    Integer.U64: "lt.u64",
    Integer.S64: "lt.s64",
}


@opcode("ISETP", source=Source.LISTINGS, takes=_ISETP)
@opcode("UISETP", source=Source.LISTINGS, takes=_ISETP, since=VOLTA, uniform=True)
def set_predicate(x: Lowering) -> None:
    """``p, q, a, b, r [, s]``: p = (a cmp b) op r.  EX: upper words; s is the comparison of the lower ones."""
    destinations = [x.take_predicate(), x.take_predicate()]
    typ = x.modifiers.one(Integer, Integer.S32)
    if typ.bits == 64:
        a, b = x.source64(x.take()), x.source64(x.take())
    else:
        a, b = x.source(x.take()), x.source(x.take())
    others = x.take_predicates()
    x.done()
    compare = x.modifiers.one(Compare, Compare.F)
    less = _LESS_THAN[typ]
    if Flag.EX in x.modifiers:
        result = _compare_upper(x, compare, a, b, x.predicate(others[1]), less)
    else:
        result = compare_rows(x, compare, a, b, less, "eq.s64")
    other = x.predicate(others[0]) if others else PT
    write_comparison(x, destinations, result, x.modifiers.one(Combine, Combine.AND), other)


def _compare_upper(x: Lowering, compare: Compare, a: int, b: int, lower: int, less: str) -> int:
    """Comparison of 64-bit values from that of the upper words, and the lower words' own in a predicate."""
    equal = x.test("eq.s64", a, b)
    if compare is Compare.EQ:
        return x.logic(equal, lower, AND)
    if compare is Compare.NE:
        return x.logic(equal ^ 1, lower, OR)
    strict = {Compare.GE: Compare.GT, Compare.LE: Compare.LT}.get(compare, compare)
    beyond = compare_rows(x, strict, a, b, less, "eq.s64")
    return x.logic(beyond, x.logic(equal, lower, AND), OR)


@opcode("SEL", source=Source.NAMES, takes=(Width.W64,))
@opcode("USEL", source=Source.NAMES, takes=(Width.W64,), since=VOLTA, uniform=True)
def select(x: Lowering) -> None:
    d = x.take_register()
    if Width.W64 in x.modifiers:
        a, b = x.source64(x.take()), x.source64(x.take())
        p = x.predicate(x.take_predicate())
        x.write_pair(d, x.compute("selp", a, b, p))
    else:
        a, b = x.source(x.take()), x.source(x.take())
        x.emit("selp", x.destination(d), a, b, x.predicate(x.take_predicate()))
    x.done()


def min_or_max(x: Lowering, d: int, a: int, b: int, p: Predicate, suffix: str) -> None:
    """``p ? min : max``; the predicate is nearly always constant."""
    operand = x.predicate(p)
    if operand in (PT, FALSE):
        x.emit(("min" if operand == PT else "max") + suffix, d, a, b)
        return
    low, high = x.compute("min" + suffix, a, b), x.compute("max" + suffix, a, b)
    x.emit("selp", d, low, high, operand)


@opcode("IMNMX", source=Source.NAMES, takes=(Integer.U32, Integer.S32), until=BLACKWELL - 1)
@opcode("VIMNMX", source=Source.NAMES, takes=(Integer.U32, Integer.S32, Packed), since=VOLTA)
@opcode("UIMNMX", source=Source.NAMES, takes=(Integer.U32, Integer.S32), since=VOLTA, uniform=True)
def minimum(x: Lowering) -> None:
    """``d, [p, q,] a, b, r``; only without predicate results."""
    d = x.take_register()
    if any(predicate.index is not None for predicate in x.take_predicates()):
        raise x.unsupported("the predicates of a minimum are not supported")
    a, b = x.source(x.take()), x.source(x.take())
    p = x.take_predicate()
    x.done()
    packed = x.modifiers.maybe(Packed)
    if packed is not None:

        def extreme(left: int, right: int) -> int:
            row = x.new()
            min_or_max(x, row, left, right, p, ".s64")
            return row

        _each_part(x, d, packed, ((a, False), (b, False)), extreme)
        return
    signed = x.modifiers.one(Integer, Integer.S32).signed
    min_or_max(x, x.destination(d), a, b, p, ".s32" if signed else ".u64")


@opcode("IMNMX", source=Source.NAMES, takes=(Integer.U64, Integer.S64), since=BLACKWELL)
def minimum_wide(x: Lowering) -> None:
    """``p, q, d, a, b, r, s`` with 64-bit operands; only the form without predicate results."""
    unused = [x.take_predicate(), x.take_predicate()]
    d = x.take_register()
    a, b = x.source64(x.take()), x.source64(x.take())
    p = x.take_predicate()
    x.take_predicate()
    x.done()
    if any(predicate.index is not None for predicate in unused):
        raise x.unsupported("the predicates of a 64-bit IMNMX are not supported")
    row = x.new()
    signed = x.modifiers.one(Integer, Integer.S64).signed
    min_or_max(x, row, a, b, p, ".s64" if signed else ".u64")
    x.write_pair(d, row)


@opcode("VIMNMX3", source=Source.NAMES, takes=(Integer.U32, Integer.S32), since=VOLTA)
def minimum_of_three(x: Lowering) -> None:
    d = x.take_register()
    a, b, c = x.source(x.take()), x.source(x.take()), x.source(x.take())
    p = x.take_predicate()
    x.done()
    suffix = ".s32" if x.modifiers.one(Integer, Integer.S32).signed else ".u64"
    row = x.new()
    min_or_max(x, row, a, b, p, suffix)
    min_or_max(x, x.destination(d), row, c, p, suffix)


@opcode("VIADDMNMX", source=Source.NAMES, takes=(Integer.U32, Integer.S32, Flag.RELU), since=VOLTA)
def add_minimum(x: Lowering) -> None:
    """``min or max of a + b and c``."""
    d = x.take_register()
    a, b, c = x.source(x.take()), x.source(x.take()), x.source(x.take())
    p = x.take_predicate()
    x.done()
    signed = x.modifiers.one(Integer, Integer.S32).signed
    row = x.new()
    min_or_max(x, row, x.compute("add.u32", a, b), c, p, ".s32" if signed else ".u64")
    if Flag.RELU in x.modifiers:
        row = x.compute("max.s32", row, RZ)
    x.emit("mov", x.destination(d), row)


# Predicates


@opcode("PLOP3", source=Source.H200, takes=(Flag.LUT,))
@opcode("UPLOP3", source=Source.H200, takes=(Flag.LUT,), since=VOLTA, uniform=True)
def predicate_logic(x: Lowering) -> None:
    """``p, q, a, b, c, table of p, table of q``: bit 4a + 2b + c."""
    destinations = [x.take_predicate(), x.take_predicate()]
    sources = [x.predicate(x.take_predicate()) for _ in range(3)]
    tables = [x.take(), x.take()]
    x.done()
    for destination, table in zip(destinations, tables, strict=True):
        if not isinstance(table, Immediate):
            raise x.unsupported("the truth table must be an immediate")
        if destination.index is not None:
            x.set_predicate(destination, x.test("plop", *sources, imm=table.value & 0xFF))


N_PREDICATES = 7


@opcode("P2R", source=Source.LISTINGS)
def predicates_to_register(x: Lowering) -> None:
    """``d = a with the bits of the mask replaced by P0, P1, ...``."""
    d = x.take_register()
    file = x.take()
    a, mask = x.take(), x.take()
    x.done()
    if not isinstance(file, PredicateFile) or not isinstance(mask, Immediate):
        raise x.unsupported("only P2R from PR with an immediate mask is supported")
    row = x.compute("and.b64", x.source(a), x.constant(MASK & ~mask.value))
    for index in range(N_PREDICATES):
        if mask.value >> index & 1:
            bit = x.compute("selp", x.constant(1 << index), RZ, x.predicate(Predicate(index, file.uniform)))
            row = x.compute("or.b64", row, bit)
    x.emit("mov", x.destination(d), row)


@opcode("R2P", source=Source.LISTINGS)
def register_to_predicates(x: Lowering) -> None:
    """P0, P1, ... where the mask has a one get that bit of a."""
    file, a, mask = x.take(), x.take(), x.take()
    x.done()
    if not isinstance(file, PredicateFile) or not isinstance(mask, Immediate):
        raise x.unsupported("only R2P to PR with an immediate mask is supported")
    row = x.source(a, Kind.INTEGER)
    for index in range(N_PREDICATES):
        if mask.value >> index & 1:
            bit = x.compute("and.b64", row, x.constant(1 << index))
            x.set_predicate(Predicate(index, file.uniform), x.test("ne.s64", bit, RZ))
