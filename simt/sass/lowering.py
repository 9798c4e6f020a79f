"""Lowering of one instruction to micro-ops: its operands in order, temporaries, guard, retirement.

32-bit values are zero-extended; 64-bit values live in register pairs and are packed into one row when they are
operated on.

All micro-ops of an instruction carry its guard.  The guard's own predicate must therefore be written last, which
:meth:`Lowering.set_predicate` sees to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeVar

import numpy as np

from simt.check import UnsupportedError
from simt.ops.encoding import WHOLE
from simt.program import PT, RZ, Instruction, pred
from simt.sass.grammar import SassInstruction, limits
from simt.sass.modifiers import Modifiers
from simt.sass.operands import (
    Constant,
    FloatImmediate,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Suffix,
)
from simt.sass.rows import FIRST_UNIFORM, FIRST_UNIFORM_PREDICATE, Hidden, Rows, dtype_of, named

MASK = 0xFFFFFFFF
_E = TypeVar("_E", bound=Enum)


class Kind(IntEnum):
    """How an operand is read."""

    INTEGER = 0
    F16X2 = 1
    F32 = 2
    F64 = 3
    BF16X2 = 4


AND, OR, XOR, COPY = 0b11000000, 0b11111100, 0b00111100, 0b11110000
"""Truth tables of ``plop`` and ``lop3`` over (a, b): bit 4a + 2b + c."""


@dataclass(frozen=True)
class Place:
    """Where an instruction stands, for error messages."""

    kernel: str
    architecture: int

    def unsupported(self, instruction: SassInstruction, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"{what} ({instruction.mnemonic} at {instruction.offset:#x} of {self.kernel}, sm_{self.architecture})",
            details=[f"instruction: {instruction.profiler_text()}"],
        )


@dataclass(frozen=True)
class Before:
    """A branch target inside an instruction: so many micro-ops before the branch."""

    count: int


class Lowering:
    """Context of one instruction: what its lowering function works with."""

    def __init__(
        self,
        instruction: SassInstruction,
        modifiers: Modifiers,
        rows: Rows,
        place: Place,
        uniform: bool,
        emit: Callable[[Instruction, int | Before | None], None],
    ) -> None:
        self.instruction = instruction
        self.modifiers = modifiers
        self.rows = rows
        self.place = place
        self.uniform = uniform
        self.guard = PT if instruction.guard is None else self.predicate(instruction.guard)
        self.operands = list(instruction.operands)
        self.emitted = 0
        self.retired = False
        self._emit = emit
        self._n_temporaries = 0
        self._n_predicates = 0
        self._pending: list[tuple[int, int]] = []
        self._written: dict[int, Instruction] = {}  # row: the micro-op that wrote it last

    # Operands in order

    def next(self) -> Operand:
        """The next operand, which is not taken."""
        if not self.operands:
            raise self.unsupported("too few operands")
        return self.operands[0]

    def take(self) -> Operand:
        """The next operand."""
        self.next()
        return self.operands.pop(0)

    def take_register(self) -> Register:
        """The next operand, which must be a register."""
        operand = self.take()
        if not isinstance(operand, Register):
            raise self.unsupported(f"operand {operand} where a register is expected")
        return operand

    def take_predicate(self) -> Predicate:
        """The next operand, which must be a predicate."""
        operand = self.take()
        if not isinstance(operand, Predicate):
            raise self.unsupported(f"operand {operand} where a predicate is expected")
        return operand

    def take_predicates(self) -> list[Predicate]:
        """All predicates that come next."""
        found = []
        while self.operands and isinstance(self.operands[0], Predicate):
            found.append(self.take_predicate())
        return found

    def done(self) -> None:
        """All operands must have been used."""
        if self.operands:
            raise self.unsupported(f"operand {self.operands[0]} is one too many")

    def two(self, kind: type[_E]) -> tuple[_E, _E]:
        """The modifiers of a kind of which there must be two."""
        found = self.modifiers.all(kind)
        if len(found) != 2:
            words = " and ".join(str(each.value) for each in found) or "none"
            raise self.unsupported(f"two types or operations are expected among its modifiers, found {words}")
        return found[0], found[1]

    def unsupported(self, what: str) -> UnsupportedError:
        """An error about this instruction."""
        return self.place.unsupported(self.instruction, what)

    # Micro-ops

    def emit(
        self,
        op: str,
        dst: int = 0,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        *,
        imm: int = 0,
        mod: int = 0,
        retires: bool = False,
        guard: int | None = None,
        target: int | Before | None = None,
        shows: Register | None = None,
        dtype: str | None = None,
        copies: bool = False,
        strong: bool = False,
    ) -> int:
        """Add a micro-op; returns *dst*.  ``target``: code offset (or distance) whose micro-op ``imm`` will hold.

        ``shows`` and ``dtype``: the register that a trace names, where it is not that of the row *dst*.
        """
        self.emitted += 1
        self.retired |= retires
        micro_op = Instruction(
            op,
            dst,
            a,
            b,
            c,
            guard=self.guard if guard is None else guard,
            imm=imm,
            mod=mod,
            retires=retires,
            uniform=self.uniform,
            copies=copies,
            strong=strong,
        )
        micro_op.variable, micro_op.dtype = named(micro_op)
        if shows is not None and shows.index is not None:
            pair = mod == WHOLE and op == "high.b64"
            micro_op.variable = f"{shows.name}:{shows.next().name}" if pair else shows.name
            micro_op.dtype = (dtype or "int64") if pair else dtype
        self._written[dst] = micro_op
        self._emit(micro_op, target)
        return dst

    def new(self) -> int:
        """A temporary row."""
        self._n_temporaries += 1
        return self.rows.temporary(self._n_temporaries - 1)

    def compute(self, op: str, a: int = 0, b: int = 0, c: int = 0, *, imm: int = 0, mod: int = 0) -> int:
        """Add a micro-op with a temporary as destination; returns its row."""
        return self.emit(op, self.new(), a, b, c, imm=imm, mod=mod)

    def new_predicate(self) -> int:
        """A temporary predicate (a plain index)."""
        index = Hidden.FIRST_TEMPORARY + self._n_predicates
        self._n_predicates += 1
        self.rows.most_predicates = max(self.rows.most_predicates, index + 1)
        return index

    def test(self, op: str, a: int = 0, b: int = 0, c: int = 0, *, imm: int = 0) -> int:
        """Add a micro-op with a temporary predicate as destination; returns it as an operand."""
        return pred(self.emit(op, self.new_predicate(), a, b, c, imm=imm))

    def logic(self, a: int, b: int, table: int) -> int:
        """``table`` (see AND, OR, XOR) over two predicate operands; folds what is known."""
        if table == AND:
            if PT in (a, b):
                return b if a == PT else a
        elif table == OR and pred(0, True) in (a, b):
            return b if a == pred(0, True) else a
        return self.test("plop", a, b, imm=table)

    def narrowed(self, condition: int) -> int:
        """The guard, restricted to lanes where a predicate operand is true: for micro-ops with another guard.

        Not itself guarded: a lane that does not execute must not keep what the predicate held before.
        """
        if PT in (self.guard, condition):
            return condition if self.guard == PT else self.guard
        return pred(self.emit("plop", self.new_predicate(), self.guard, condition, imm=AND, guard=PT))

    # Sources

    def constant(self, value: int) -> int:
        """Row of a constant."""
        return self.rows.constant(value)

    def row(self, register: Register, count: int = 1) -> int:
        """Row of a register, without its decorations; of *count* consecutive ones the first.

        Raises UnsupportedError if the register file ends before.
        """
        if register.index is None:
            return RZ
        there = limits(self.place.architecture)
        if register.index + count > (there.uniform if register.uniform else there.registers):
            raise self.unsupported(f"there is no register {register.next(count - 1).name}")
        return (FIRST_UNIFORM if register.uniform else 1) + register.index

    def predicate(self, operand: Predicate) -> int:
        """A predicate as an encoded operand."""
        return pred(self.predicate_index(operand), operand.negated)

    @staticmethod
    def barrier_predicate() -> int:
        """What BAR.RED.AND or BAR.RED.OR found, as an operand."""
        return pred(Hidden.BARRIER)

    @staticmethod
    def predicate_index(operand: Predicate) -> int:
        """A predicate as a plain index."""
        if operand.index is None:
            return 0
        return (FIRST_UNIFORM_PREDICATE if operand.uniform else 1) + operand.index

    def source(self, operand: Operand, kind: Kind = Kind.INTEGER) -> int:
        """Row of a 32-bit source with its decorations applied."""
        row = self._plain(operand, kind)
        if isinstance(operand, Register | Constant):
            row = self._select(row, operand)
            row = self._decorated(row, operand, kind)
        return row

    def _plain(self, operand: Operand, kind: Kind) -> int:
        if isinstance(operand, Register):
            return self.row(operand)
        if isinstance(operand, Constant):
            return self.bank(operand, 4)
        if isinstance(operand, Immediate):
            return self.constant(operand.value & MASK)
        if isinstance(operand, FloatImmediate):
            return self.constant(self.float_bits(operand, kind))
        if isinstance(operand, Label) and operand.part is not None and operand.number is not None:
            return self.rows.symbol(operand.number, operand.addend, operand.part)
        raise self.unsupported(f"operand {operand} where a value is expected")

    def bank(self, operand: Constant, size: int) -> int:
        """Row of a constant-bank operand at a fixed offset."""
        if isinstance(operand.bank, Register):
            raise self.unsupported("bindless constant banks (cx[...]) are not supported")
        if operand.base is not None and operand.base.index is not None:
            raise self.unsupported("an indexed constant as an operand is not supported")
        return self.rows.bank(operand.bank, operand.offset, size)

    def _select(self, row: int, operand: Register | Constant) -> int:
        """Apply ``.H1``, ``.B2`` and the like: the selected bits, zero-extended."""
        for suffix in operand.suffixes:
            if suffix in (Suffix.H0, Suffix.H0_H0):
                row = self.compute("cvt.u16", row)
            elif suffix in (Suffix.H1, Suffix.H1_H1):
                row = self.compute("shr.u64", row, self.constant(16))
            elif suffix in (Suffix.B0, Suffix.B1, Suffix.B2, Suffix.B3):
                shift = 8 * int(suffix.value[1])
                row = self.compute("cvt.u8", self.compute("shr.u64", row, self.constant(shift)))
            elif suffix not in (Suffix.REUSE, Suffix.CC):
                raise self.unsupported(f"operand suffix .{suffix.value} is not supported here")
        return row

    def _decorated(self, row: int, operand: Register | Constant, kind: Kind) -> int:
        if kind == Kind.F32:
            if operand.absolute:
                row = self.compute("abs.f32", row)
            return self.compute("neg.f32", row) if operand.negated else row
        if operand.absolute:
            row = self.compute("abs.s32", row)
        if operand.negated and row != RZ:
            row = self.compute("sub.u32", RZ, row)
        if operand.inverted:
            row = self.constant(MASK) if row == RZ else self.compute("xor.b64", row, self.constant(MASK))
        return row

    def pair(self, register: Register) -> int:
        """One 64-bit row for a register pair."""
        if register.index is None:
            return RZ
        low = self.row(register, 2)
        return self.compute("pack.b64", low, low + 1)

    def source64(self, operand: Operand, kind: Kind = Kind.INTEGER) -> int:
        """Row of a 64-bit source: a register pair, eight bytes of a constant bank, or an immediate."""
        if isinstance(operand, Register):
            row = self.pair(operand)
        elif isinstance(operand, Constant):
            row = self.bank(operand, 8)
        elif isinstance(operand, Immediate):
            # A float64 operand has room for its upper word only; integers are sign-extended.
            row = self.constant(operand.value << 32 if kind == Kind.F64 else operand.value)
        elif isinstance(operand, FloatImmediate):
            row = self.constant(self.float_bits(operand, kind))
        else:
            raise self.unsupported(f"operand {operand} where a 64-bit value is expected")
        if isinstance(operand, Register | Constant):
            if operand.absolute:
                row = self.compute("abs.f64" if kind == Kind.F64 else "abs.s64", row)
            if operand.negated:
                row = self.compute("neg.f64" if kind == Kind.F64 else "neg.s64", row)
        return row

    def float_bits(self, operand: FloatImmediate, kind: Kind, upper: bool = False) -> int:
        """Bits of a floating-point immediate.  The text of a NaN hides its bits: the encoding has them.

        ``upper``: it is the first, the upper one, of two 16-bit numbers.
        """
        text = operand.text.lstrip("+-")
        sign = -1.0 if operand.text.startswith("-") else 1.0
        if text.endswith("NAN"):
            if self.instruction.encoding is None:
                raise self.unsupported("a NaN immediate needs the encodings (disassemble with -hex)")
            bits = self.instruction.encoding >> 32 & MASK
            if kind in (Kind.F16X2, Kind.BF16X2):
                return bits >> 16 if upper else bits & 0xFFFF
            return bits << 32 if kind == Kind.F64 else bits
        value = sign * (float("inf") if text == "INF" else float(text))
        if kind == Kind.F64:
            return int(struct.unpack("<Q", struct.pack("<d", value))[0])
        if kind == Kind.F16X2:
            return int(np.float16(value).view(np.uint16))
        if kind == Kind.BF16X2:
            return int(np.float32(value).view(np.uint32)) >> 16
        # The text names the float32 itself; for an integer instruction it is the number that its bits spell.
        return int(np.float32(value).view(np.uint32))

    # Destinations

    def destination(self, register: Register, count: int = 1) -> int:
        """Row of a 32-bit destination (RZ discards), of *count* consecutive ones the first."""
        return self.row(register, count)

    def write_pair(self, register: Register, row: int) -> None:
        """Write a 64-bit row to a register pair."""
        if register.index is not None:
            low = self.row(register, 2)
            source = self._written.get(row)
            self.emit("cvt.u32", low, row)
            self.emit("high.b64", low + 1, row, mod=WHOLE, shows=register, dtype=dtype_of(source) if source else None)

    def set_predicate(self, destination: Predicate, operand: int) -> None:
        """Write a predicate operand to a predicate when all else is done."""
        if destination.index is not None:
            self._pending.append((self.predicate_index(destination), operand))

    def set_hidden(self, index: Hidden, operand: int) -> None:
        """The same for a predicate that code cannot name."""
        self._pending.append((index, operand))

    def finish(self) -> None:
        """Write the pending predicates, the guard's own last, and make sure that something retires."""
        own = self.guard >> 1
        for index, operand in sorted(self._pending, key=lambda item: item[0] == own):
            self.emit("plop", index, operand, imm=COPY)
        if self.emitted == 0:
            self.emit("nop")
