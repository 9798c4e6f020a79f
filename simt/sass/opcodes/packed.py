"""The integer unit's V opcodes: sums, minimum and maximum, absolute differences and dot products, packed ones too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simt.program import RZ
from simt.sass.architectures import BLACKWELL, VOLTA
from simt.sass.lowering import Lowering
from simt.sass.modifiers import Flag, Integer, Packed
from simt.sass.opcodes.integer import extended, limited, min_or_max
from simt.sass.operands import Constant, Operand, Predicate, Register
from simt.sass.table import Source, opcode


@dataclass(frozen=True)
class _Parts:
    """Which integers a register holds: *bits* wide, signed or not."""

    bits: int
    signed: bool

    @staticmethod
    def of(x: Lowering, default: Integer = Integer.S32) -> _Parts:
        packed = x.modifiers.maybe(Packed)
        if packed is not None:
            return _Parts(packed.bits, packed.signed)
        typ = x.modifiers.one(Integer, default)
        return _Parts(typ.bits, typ.signed)

    def split(self, x: Lowering, operand: Operand) -> list[int]:
        """Rows of the parts, lowest first, each extended to 64 bits and negated as the operand says."""
        negated = False
        if isinstance(operand, Register | Constant):
            negated = operand.negated
            operand = replace(operand, negated=False)
        row = x.source(operand)
        parts = []
        for low in range(0, 32, self.bits):
            top = x.compute("shl.b64", row, x.constant(64 - self.bits - low))
            part = x.compute("shr.s64" if self.signed else "shr.u64", top, x.constant(64 - self.bits))
            parts.append(x.compute("neg.s64", part) if negated else part)
        return parts

    def wrapped(self, x: Lowering, row: int) -> int:
        """A part brought back to its width."""
        if self.bits == 32:
            return x.compute("cvt.s32" if self.signed else "cvt.u32", row)
        left = x.compute("shl.b64", row, x.constant(64 - self.bits))
        return x.compute("shr.s64" if self.signed else "shr.u64", left, x.constant(64 - self.bits))

    def write(self, x: Lowering, d: Register, parts: Sequence[int]) -> None:
        """Put parts together in a register."""
        if self.bits == 32:
            x.emit("cvt.u32", x.destination(d), parts[0])
            return
        total = RZ
        mask = x.constant((1 << self.bits) - 1)
        for k, part in enumerate(parts):
            cut = x.compute("and.b64", part, mask)
            total = x.compute("or.b64", total, x.compute("shl.b64", cut, x.constant(k * self.bits)))
        x.emit("mov", x.destination(d), total)


_SUM = (Integer.U32, Integer.S32, Packed, Flag.ISAT)


@opcode("VIADD", source=Source.H200, takes=_SUM, since=VOLTA)
@opcode("UVIADD", source=Source.H200, takes=_SUM, since=VOLTA, uniform=True)
def add(x: Lowering) -> None:
    """``a + b``; ISAT: limited to what the type holds."""
    d = x.take_register()
    if Flag.ISAT not in x.modifiers and x.modifiers.maybe(Packed) is None:
        a, b = x.source(x.take()), x.source(x.take())
        x.done()
        x.emit("add.u32", x.destination(d), a, b)
        return
    parts = _Parts.of(x)
    left, right = parts.split(x, x.take()), parts.split(x, x.take())
    x.done()
    sums = [x.compute("add.s64", p, q) for p, q in zip(left, right, strict=True)]
    parts.write(x, d, [limited(x, row, parts.bits, parts.signed) for row in sums] if Flag.ISAT in x.modifiers else sums)


# Minimum and maximum


def extreme(x: Lowering, a: int, b: int, p: Predicate, suffix: str = ".s64") -> int:
    """``p ? min : max`` in a new row."""
    row = x.new()
    min_or_max(x, row, a, b, p, suffix)
    return row


_EXTREME = (Integer.U32, Integer.S32, Packed, Flag.RELU)


@opcode("IMNMX", source=Source.NAMES, takes=(Integer.U32, Integer.S32), until=BLACKWELL - 1)
@opcode("VIMNMX", source=Source.NAMES, takes=_EXTREME, since=VOLTA)
@opcode("UIMNMX", source=Source.NAMES, takes=_EXTREME, since=VOLTA, until=BLACKWELL - 1, uniform=True)
@opcode("UVIMNMX", source=Source.NAMES, takes=_EXTREME, since=VOLTA, uniform=True)
def minimum(x: Lowering) -> None:
    """``d, [p, q,] a, b, r``: p says that the (lower) result is a's, or that a and b are equal; q of the upper one.

    RELU: a negative result becomes 0.
    """
    d = x.take_register()
    won = x.take_predicates()
    a, b = x.take(), x.take()
    r = x.take_predicate()
    x.done()
    simple = not x.modifiers.maybe(Packed) and Flag.RELU not in x.modifiers
    if simple and all(predicate.index is None for predicate in won):
        signed = x.modifiers.one(Integer, Integer.S32).signed
        min_or_max(x, x.destination(d), x.source(a), x.source(b), r, ".s32" if signed else ".u64")
        return
    parts = _Parts.of(x)
    left, right = parts.split(x, a), parts.split(x, b)
    results = [extreme(x, p, q, r) for p, q in zip(left, right, strict=True)]
    for predicate, result, mine in zip(won, results, left, strict=False):
        x.set_predicate(predicate, x.test("eq.s64", result, mine))
    parts.write(x, d, _positive(x, results))


def _positive(x: Lowering, rows: list[int]) -> list[int]:
    """With RELU, no less than 0."""
    return [x.compute("max.s64", row, RZ) for row in rows] if Flag.RELU in x.modifiers else rows


@opcode("IMNMX", source=Source.NAMES, takes=(Integer.U64, Integer.S64), since=BLACKWELL)
@opcode("UIMNMX", source=Source.NAMES, takes=(Integer.U64, Integer.S64), since=BLACKWELL, uniform=True)
def minimum_wide(x: Lowering) -> None:
    """``p, q, d, a, b, r, s`` with 64-bit operands; only the form without predicate results."""
    unused = [x.take_predicate(), x.take_predicate()]
    d = x.take_register()
    a, b = x.source64(x.take()), x.source64(x.take())
    p = x.take_predicate()
    x.take_predicate()
    x.done()
    if any(predicate.index is not None for predicate in unused):
        raise x.unsupported("the predicates of a 64-bit minimum are not supported")
    signed = x.modifiers.one(Integer, Integer.S64).signed
    x.write_pair(d, extreme(x, a, b, p, ".s64" if signed else ".u64"))


@opcode("VIMNMX3", source=Source.NAMES, takes=_EXTREME, since=VOLTA)
def minimum_of_three(x: Lowering) -> None:
    d = x.take_register()
    parts = _Parts.of(x)
    sources = [parts.split(x, x.take()) for _ in range(3)]
    p = x.take_predicate()
    x.done()
    results = [extreme(x, extreme(x, a, b, p), c, p) for a, b, c in zip(*sources, strict=True)]
    parts.write(x, d, _positive(x, results))


@opcode("VIADDMNMX", source=Source.NAMES, takes=_EXTREME, since=VOLTA)
def add_minimum(x: Lowering) -> None:
    """Minimum or maximum of ``a + b``, which wraps, and c."""
    d = x.take_register()
    parts = _Parts.of(x)
    sources = [parts.split(x, x.take()) for _ in range(3)]
    p = x.take_predicate()
    x.done()
    results = [extreme(x, parts.wrapped(x, x.compute("add.s64", a, b)), c, p) for a, b, c in zip(*sources, strict=True)]
    parts.write(x, d, _positive(x, results))


# Differences and products


@opcode("VABSDIFF", source=Source.PTX, takes=(Integer.U32,), since=VOLTA)
def absolute_difference(x: Lowering) -> None:
    """``|a - b| + c`` (PTX sad)."""
    d = x.take_register()
    signed = x.modifiers.maybe(Integer) is None
    a, b = extended(x, x.take(), signed), extended(x, x.take(), signed)
    c = x.source(x.take())
    x.done()
    x.emit("add.u32", x.destination(d), x.compute("abs.s64", x.compute("sub.s64", a, b)), c)


@opcode("VABSDIFF4", source=Source.PTX, takes=(Integer.U8, Integer.S8, Flag.ACC), since=VOLTA)
def absolute_difference_of_bytes(x: Lowering) -> None:
    """``|a - b|`` of each byte (PTX vabsdiff4); with ACC their sum plus c, which else is not used."""
    d = x.take_register()
    parts = _Parts.of(x, Integer.U8)
    left, right = parts.split(x, x.take()), parts.split(x, x.take())
    c = x.source(x.take())
    x.done()
    found = [x.compute("abs.s64", x.compute("sub.s64", p, q)) for p, q in zip(left, right, strict=True)]
    if Flag.ACC not in x.modifiers:
        parts.write(x, d, found)
        return
    for row in found:
        c = x.compute("add.s64", c, row)
    x.emit("cvt.u32", x.destination(d), c)


_PRODUCT = (Flag.IDP_4A, Flag.IDP_2A, Flag.LO, Flag.HI, Integer)


@opcode("IDP", source=Source.PTX, takes=_PRODUCT, since=VOLTA)
def dot_product(x: Lowering) -> None:
    """Dot product plus c: of four bytes (PTX dp4a), or of two halves of a and the LO or HI two bytes of b (dp2a)."""
    d = x.take_register()
    a, b, c = x.take(), x.take(), x.take()
    x.done()
    types = x.two(Integer)
    if Flag.IDP_2A not in x.modifiers:
        signs = sum(typ.signed << k for k, typ in enumerate(types))
        x.emit("dp4a.b32", x.destination(d), x.source(a), x.source(b), x.source(c), imm=signs)
        return
    halves = _Parts(types[0].bits, types[0].signed).split(x, a)
    four = _Parts(types[1].bits, types[1].signed).split(x, b)
    total = x.source(c)
    for half, byte in zip(halves, four[2:] if Flag.HI in x.modifiers else four[:2], strict=True):
        total = x.compute("mad.s64", half, byte, total)
    x.emit("cvt.u32", x.destination(d), total)


@opcode("I2I", source=Source.PTX, takes=(Integer, Flag.SAT), since=VOLTA)
def narrow(x: Lowering) -> None:
    """``I2I.destination.source.SAT``: an integer limited to what a narrower type holds."""
    d = x.take_register()
    to, of = x.two(Integer)
    row = extended(x, x.take(), of.signed)
    x.done()
    if Flag.SAT not in x.modifiers or of.bits != 32:
        raise x.unsupported("only I2I.SAT of 32-bit integers is supported")
    x.emit("cvt.u32", x.destination(d), limited(x, row, to.bits, to.signed))
