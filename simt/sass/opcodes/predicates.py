"""Logic on predicates, and predicates as bits of a register."""

from __future__ import annotations

from simt.program import RZ
from simt.sass.architectures import VOLTA
from simt.sass.lowering import MASK, Kind, Lowering
from simt.sass.modifiers import Flag
from simt.sass.operands import Immediate, Predicate, PredicateFile, Register, Suffix
from simt.sass.table import Source, opcode


@opcode("PLOP3", source=Source.H200, takes=(Flag.LUT,))
@opcode("UPLOP3", source=Source.H200, takes=(Flag.LUT,), since=VOLTA, uniform=True)
def predicate_logic(x: Lowering) -> None:
    """``p, q, a, b, c, table of p, table of q``: bit 4a + 2b + c.  A source ``R4.SIGN`` is a register's sign."""
    destinations = [x.take_predicate(), x.take_predicate()]
    sources = [_source(x) for _ in range(3)]
    tables = [x.take(), x.take()]
    x.done()
    for destination, table in zip(destinations, tables, strict=True):
        if not isinstance(table, Immediate):
            raise x.unsupported("the truth table must be an immediate")
        if destination.index is not None:
            x.set_predicate(destination, x.test("plop", *sources, imm=table.value & 0xFF))


def _source(x: Lowering) -> int:
    operand = x.next()
    if not isinstance(operand, Register):
        return x.predicate(x.take_predicate())
    if Suffix.SIGN not in x.take_register().suffixes or operand.negated or operand.inverted:
        raise x.unsupported(f"operand {operand} where a predicate is expected")
    return x.test("lt.s32", x.row(operand), RZ)


N_PREDICATES = 7


@opcode("P2R", source=Source.LISTINGS)
@opcode("UP2UR", source=Source.LISTINGS, since=VOLTA, uniform=True)
def predicates_to_register(x: Lowering) -> None:
    """``d = a with the bits of the mask replaced by P0, P1, ...``."""
    d = x.take_register()
    file = x.take()
    a, mask = x.take(), x.take()
    x.done()
    if not isinstance(file, PredicateFile) or not isinstance(mask, Immediate):
        raise x.unsupported("only P2R from all predicates with an immediate mask is supported")
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
