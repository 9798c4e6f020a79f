"""The typed three-address code between Python and micro-ops: blocks of operations over virtual registers.

An operation is a micro-op of :mod:`simt.program` whose operands are not yet numbered: virtual registers
(:class:`VReg`), uniform values (:class:`UniformRef`), and predicate operands
(:class:`PredRef`).  Numbers are given by :mod:`simt.lang.registers` and :mod:`simt.lang.emit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

REGISTER = "r"
PREDICATE = "p"

PLOP_MOVE, PLOP_NOT = 0xF0, 0x0F
PLOP_AND, PLOP_OR, PLOP_XOR, PLOP_XNOR = 0xC0, 0xFC, 0x3C, 0xC3
PLOP_LESS, PLOP_LESS_EQUAL = 0x0C, 0xCF
"""Truth tables of ``plop`` over (a, b, c): bit 4a + 2b + c."""


@dataclass(eq=False, slots=True)
class VReg:
    """A virtual register (``kind`` REGISTER) or predicate (PREDICATE).

    ``name`` is the Python variable it stands for; temporaries have none.
    """

    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class UniformRef:
    """An operand that is a :class:`simt.program.Uniform`: same meaning of the fields."""

    kind: str
    value: int = 0
    axis: int = 0


ZERO = UniformRef("const", 0)
"""Integer zero (and the bits of 0.0): row RZ."""


@dataclass(frozen=True, slots=True)
class PredRef:
    """A predicate operand: ``reg`` (None for PT), possibly negated."""

    reg: VReg | None = None
    negated: bool = False

    def inverted(self) -> PredRef:
        return PredRef(self.reg, not self.negated)


TRUE = PredRef()
FALSE = PredRef(None, True)

Operand = VReg | UniformRef | PredRef | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operation comes from: source file, function, 1-based line, 0-based column."""

    file: str
    function: str
    line: int
    column: int


@dataclass(eq=False, slots=True)
class Op:
    """One operation; the fields are those of :class:`simt.program.Instruction` before numbering.

    ``dst2`` is a second, predicate destination (``mod`` of shuffles and ``match.all``).  ``args`` are what a
    ``syscall`` passes; it gets them in consecutive rows.
    """

    op: str
    place: Place
    dst: VReg | None = None
    a: Operand = None
    b: Operand = None
    c: Operand = None
    guard: PredRef = TRUE
    imm: int = 0
    mod: int = 0
    retires: bool = True
    dst2: VReg | None = None
    variable: str | None = None
    dtype: str | None = None
    unset: str | None = None
    args: Sequence[Operand] = ()

    def definitions(self) -> Iterator[VReg]:
        """The virtual registers written."""
        if self.dst is not None:
            yield self.dst
        if self.dst2 is not None:
            yield self.dst2

    def uses(self) -> Iterator[VReg]:
        """The virtual registers read.

        A guarded write to a variable keeps the other lanes' value, so it reads too; temporaries written under
        a guard are only read under the same guard.
        """
        for operand in (self.a, self.b, self.c, *self.args, self.guard):
            if isinstance(operand, VReg):
                yield operand
            elif isinstance(operand, PredRef) and operand.reg is not None:
                yield operand.reg
        if self.guard != TRUE:
            yield from (register for register in self.definitions() if register.name)


@dataclass(eq=False, slots=True)
class Branch:
    """End of a block: to ``then`` where ``condition`` holds, else to ``other``.  Counts one instruction."""

    condition: PredRef
    then: Block
    other: Block
    place: Place

    def targets(self) -> tuple[Block, ...]:
        return (self.then, self.other)


@dataclass(eq=False, slots=True)
class Jump:
    """End of a block: to ``target``; free."""

    target: Block
    place: Place

    def targets(self) -> tuple[Block, ...]:
        return (self.target,)


@dataclass(eq=False, slots=True)
class Exit:
    """End of a block: the lanes end.  Counts one instruction."""

    place: Place

    def targets(self) -> tuple[Block, ...]:
        return ()


@dataclass(eq=False, slots=True)
class Block:
    """A straight line of operations and its end (None while it is being filled)."""

    name: str
    ops: list[Op] = field(default_factory=list)
    end: Branch | Jump | Exit | None = None

    def targets(self) -> tuple[Block, ...]:
        return self.end.targets() if self.end is not None else ()

    def __repr__(self) -> str:
        return self.name


def is_move(op: Op) -> bool:
    """True for an uncounted, unguarded copy."""
    return not op.retires and op.guard == TRUE and (op.op == "mov" or (op.op == "plop" and op.imm == PLOP_MOVE))


def source_of(move: Op) -> VReg | None:
    """The virtual register that a move copies; None for a uniform or constant."""
    if isinstance(move.a, VReg):
        return move.a
    if isinstance(move.a, PredRef) and not move.a.negated:
        return move.a.reg
    return None
