"""Integer arithmetic, comparison and selection (also the uniform datapath's forms)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simt.program import PT, RZ, pred
from simt.sass.architectures import BLACKWELL, VOLTA
from simt.sass.lowering import AND, MASK, OR, XOR, Lowering
from simt.sass.modifiers import Combine, Compare, Flag, Integer, Width
from simt.sass.operands import Constant, Immediate, Operand, Predicate, Register, Suffix
from simt.sass.rows import Hidden
from simt.sass.table import Source, opcode

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
    addends = [x.take() for _ in range(len(x.operands))]
    add_wide(x, d, carries, addends)


_ADD = (Width.W64, Flag.X)


@opcode("IADD", source=Source.LISTINGS, takes=_ADD, since=BLACKWELL)
@opcode("UIADD", source=Source.LISTINGS, takes=_ADD, since=BLACKWELL, uniform=True)
def add_blackwell(x: Lowering) -> None:
    """``d, [carry out,] a, b [, carry in]``."""
    d = x.take_register()
    carries = x.take_predicates()
    a, b = x.take(), x.take()
    carry_in = x.take_predicates()
    x.done()
    if Width.W64 in x.modifiers:
        add_wide(x, d, carries, [a, b], carry_in)
        return
    extra = [carry_value(x, carry) for carry in carry_in if x.predicate(carry) != FALSE]
    if extra or any(carry.index is not None for carry in carries):
        write_sum(x, d, [addend(x, a), addend(x, b), *extra], carries)
    else:
        x.emit("add.u32", x.destination(d), x.source(a), x.source(b))


def add_wide(
    x: Lowering,
    d: Register,
    carries: list[Predicate],
    addends: list[Operand],
    carry_in: Sequence[Predicate] = (),
) -> None:
    """A 64-bit sum into a register pair.  A carry out is that of two addends; ``-b`` counts as ``~b + 1``."""
    rows = [x.source64(operand) for operand in addends]
    total = sum_of(x, rows)
    extra = [carry_value(x, carry) for carry in carry_in if x.predicate(carry) != FALSE]
    with_carry = sum_of(x, [total, *extra])
    wanted = [carry for carry in carries if carry.index is not None]
    if wanted:
        negated = [isinstance(o, Register | Constant) and o.negated for o in addends]
        if len(rows) != 2 or negated[0] or (negated[1] and extra):
            raise x.unsupported("the carry out of this 64-bit sum is not supported")
        if negated[1]:  # a - b: no borrow
            carry = x.test("le.u64", x.compute("neg.s64", rows[1]), rows[0])
        else:
            carry = x.logic(x.test("lt.u64", total, rows[0]), x.test("lt.u64", with_carry, total), OR)
        x.set_predicate(wanted[0], carry)
    x.write_pair(d, with_carry)


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


def limited(x: Lowering, row: int, bits: int, signed: bool) -> int:
    """A 64-bit number limited to what an integer of so many bits holds."""
    low = -(1 << bits - 1) if signed else 0
    high = (1 << bits - signed) - 1
    return x.compute("max.s64", x.compute("min.s64", row, x.constant(high)), x.constant(low))


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
    if compare not in _LESS:
        raise x.unsupported(f"the comparison {compare.value} of integers is not supported")
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
        if len(others) < 2:
            raise x.unsupported("too few operands")
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
