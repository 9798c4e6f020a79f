"""Where registers, predicates, constants and temporaries of machine code stand in the rows of a Program.

Register *n* is row ``1 + n``, uniform register *n* row ``257 + n``; predicates P0 to P6 are 1 to 7, UP0 to UP6 8 to
14; then the carry flag of Pascal's condition code and what BAR.RED left for B2R.  Constants and temporaries have rows
above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from simt.ops.encoding import ROUNDED_FORMATS
from simt.ops.table import MICRO_OPS, Family
from simt.program import RZ, Instruction, Uniform

REGISTERS = 256
FIRST_UNIFORM = 1 + REGISTERS
FIRST_FREE = FIRST_UNIFORM + 256
FIRST_UNIFORM_PREDICATE = 8
_FLOATS = (Family.F32, Family.F64)
SYMBOL_BANK = 100
"""A bank that no hardware has: addresses of global variables, which are known only at launch."""


class Hidden(IntEnum):
    """Predicates that code cannot name; plain indices."""

    CARRY = 16  # Pascal's condition code, carry flag
    BARRIER = 17  # result of BAR.RED.AND and BAR.RED.OR
    FIRST_TEMPORARY = 18


@dataclass
class Rows:
    """Rows and predicates of one Program under construction."""

    symbols: dict[tuple[int, int], int] = field(default_factory=dict)  # symbol number and addend: slot
    uniforms: list[Uniform] = field(default_factory=list)
    next_row: int = FIRST_FREE
    most_predicates: int = Hidden.FIRST_TEMPORARY
    _known: dict[tuple[str, int, int, int], int] = field(default_factory=dict)
    _zeros: int | None = None
    _barrier: int | None = None
    _after_collective: int | None = None
    _texture: int | None = None
    _temporaries: list[int] = field(default_factory=list)

    def constant(self, value: int) -> int:
        """Row that holds *value* (64 bits, given as unsigned or signed)."""
        value &= (1 << 64) - 1
        return RZ if value == 0 else self._uniform("const", value, 0, 8)

    @staticmethod
    def register(number: int) -> int:
        """Row of a register."""
        return 1 + number

    def bank(self, number: int, offset: int, size: int) -> int:
        """Row that holds *size* bytes of a constant bank."""
        return self._uniform("bank", number, offset, size)

    def bank_base(self, number: int) -> int:
        """Row that holds the address of a constant bank."""
        return self._uniform("bank_base", number, 0, 8)

    def symbol(self, number: int, addend: int, part: str) -> int:
        """Row that holds half an address of a global variable, by its symbol's number, plus *addend*."""
        slot = self.symbols.setdefault((number, addend), len(self.symbols))
        return self.bank(SYMBOL_BANK, 8 * slot + (4 if part == "hi" else 0), 4)

    def zeros(self) -> int:
        """First of four consecutive rows that hold zero."""
        if self._zeros is None:
            self._zeros = self.next_row
            for _ in range(4):
                self.uniforms.append(Uniform(self.next_row, "const", 0))
                self.next_row += 1
        return self._zeros

    def barrier_result(self) -> int:
        """Row that keeps what BAR.RED.POPC counted until B2R reads it."""
        if self._barrier is None:
            self._barrier = self.next_row
            self.next_row += 1
        return self._barrier

    def after_collective(self) -> int:
        """Row that keeps where a lane goes on after ENDCOLLECTIVE."""
        if self._after_collective is None:
            self._after_collective = self.next_row
            self.next_row += 1
        return self._after_collective

    def texture(self) -> int:
        """First of eight rows for coordinates and results of textures, which each instruction uses afresh."""
        if self._texture is None:
            self._texture = self.consecutive(8)
        return self._texture

    def consecutive(self, count: int) -> int:
        """First of *count* consecutive temporary rows, which belong to one instruction only."""
        self.next_row += count
        return self.next_row - count

    def temporary(self, number: int) -> int:
        """Temporary row *number* of an instruction; every instruction starts again at 0."""
        while len(self._temporaries) <= number:
            self._temporaries.append(self.next_row)
            self.next_row += 1
        return self._temporaries[number]

    def _uniform(self, kind: str, value: int, axis: int, size: int) -> int:
        key = (kind, value, axis, size)
        if key not in self._known:
            self._known[key] = self.next_row
            signed = value - (1 << 64) if kind == "const" and value >> 63 else value
            self.uniforms.append(Uniform(self.next_row, kind, signed, axis, size))
            self.next_row += 1
        return self._known[key]


def named(micro_op: Instruction) -> tuple[str | None, str | None]:
    """What a trace calls the destination of a micro-op, if it is a register or predicate, and its type."""
    kind, number = MICRO_OPS[micro_op.op].operands[0], micro_op.dst
    if kind == "p" and 0 < number < Hidden.CARRY:
        return (f"P{number - 1}" if number < FIRST_UNIFORM_PREDICATE else f"UP{number - FIRST_UNIFORM_PREDICATE}"), None
    if kind == "r" and 0 < number < FIRST_FREE:
        name = f"R{number - 1}" if number < FIRST_UNIFORM else f"UR{number - FIRST_UNIFORM}"
        return name, dtype_of(micro_op)
    return None, None


def dtype_of(micro_op: Instruction) -> str | None:
    """The floating-point type of a result, None for integers and bits."""
    if "rnd" in micro_op.op:
        form = ROUNDED_FORMATS[micro_op.imm & 3]
    else:
        form = micro_op.op.rpartition(".")[2] if MICRO_OPS[micro_op.op].family in _FLOATS else ""
    return {"f16": "float16", "f32": "float32", "f64": "float64"}.get(form)
