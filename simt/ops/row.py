"""How a micro-op is declared: a row of a :class:`Table`.

The row of a micro-op that computes lane by lane is a *lane function*, named like the micro-op (``add_s64`` is
``add.s64``).  Its annotations say how it reads its operands a, b, c and what it gives, its docstring what it means::

    @TABLE.lanes(timing="alu")
    def add_u32(a: B64, b: B64) -> U32:
        \"\"\"d = a + b, modulo 2**32\"\"\"
        return a + b

A lane function consists of assignments and one ``return``, without branches and loops: the interpreter puts it into a
loop over 32 lanes (:mod:`simt.machine.interpreter`), and what is put into a loop can be vectorised.  What needs control
flow is a jitted function that it calls.  All other micro-ops are rows of text (:meth:`Table.declare`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, auto
from functools import cached_property
from keyword import iskeyword
from typing import Any, TypeVar

# How a lane function sees an operand or a result.  To type checkers they are all alike: NumPy scalars.
S64 = Any
"""The 64-bit slot, signed; as a result: written as it is."""
U64 = Any
"""The 64-bit slot, unsigned."""
S32 = Any
"""The low 32 bits, signed.  An operand only."""
U32 = Any
"""The low 32 bits, zero-extended."""
F64 = Any
F32 = Any
"""float32; a result that is a NaN becomes the one NaN that NVIDIA GPUs give (measured on an H200)."""
F32_BITS = Any
"""float32 as a result, the payload of a NaN kept."""
PREDICATE = Any
"""Of one lane: a bool."""
MASK = Any
"""A predicate of all lanes as a mask: such a function is called once, not once a lane."""
IMM = Any
"""Not an operand but ``imm``, the same in all lanes; ``executing``, so annotated, are the exec lanes."""
LANE = Any
"""Of shuffles: lane numbers."""


class Family(Enum):
    """What a micro-op works on."""

    INT = "int"  # 64-bit integers
    BITS = "bits"  # 32-bit registers of machine code, bit counting
    F64 = "f64"
    F32 = "f32"
    CONVERT = "convert"
    COMPARE = "compare"  # registers -> predicate
    PREDICATE = "predicate"  # predicates -> predicate
    WARP = "warp"  # shuffle, vote, match, reduce across lanes
    MEMORY = "memory"
    IMAGE = "image"  # textures and surfaces
    CONTROL = "control"


class Kind(IntEnum):
    """Which part of the machine executes a micro-op: the engine dispatches by it, then by table and number."""

    ROW = 0  # computes a register row
    MASK = 1  # computes a predicate
    ELEMENT = 2  # computes the address of an array element, and checks the index
    MEMORY = 3
    CONTROL = 4
    IMAGE = 5


class Effect(Flag):
    """What a micro-op does beside computing its destination from its operands."""

    NONE = 0
    LOADS = auto()
    STORES = auto()
    CROSSES_LANES = auto()  # reads other lanes' values, or which lanes there are
    JUMPS = auto()  # lanes may go on elsewhere, wait or end
    FAILS = auto()  # may be an error of the kernel


NUMBER_BITS, TABLE_BITS = 8, 4
NUMBER_MASK = (1 << NUMBER_BITS) - 1
TABLE_MASK = (1 << TABLE_BITS) - 1
KIND_SHIFT = NUMBER_BITS + TABLE_BITS


@dataclass(frozen=True)
class MicroOp:
    """One declared micro-op.

    ``operands`` lists destination and sources as letters: ``r`` register row, ``p`` predicate (a plain
    index as destination, an encoded operand as source), ``-`` unused.  Order: dst, a, b, c.
    ``code`` is the number that the engine dispatches by: kind, table, number in the table.
    ``timing`` names its class in the timing model's source view (:data:`simt.timing.classes.CLASSES`).
    ``lane`` is its lane function; ``all_lanes`` (condition, lane function) is one that gives the same, but faster, if
    the condition holds in all lanes.
    """

    code: int
    name: str
    family: Family
    operands: str
    meaning: str
    timing: str
    effects: Effect
    lane: Callable[..., Any] | None = None
    all_lanes: tuple[Callable[..., Any], Callable[..., Any]] | None = None

    @cached_property
    def kind(self) -> Kind:
        """The part of the machine that executes it."""
        return Kind(self.code >> KIND_SHIFT)

    @property
    def number(self) -> int:
        """Its number in its table."""
        return self.code & NUMBER_MASK

    @property
    def function(self) -> str:
        """The name of its lane function, or of the machine's function that executes it."""
        name = self.name.replace(".", "_")
        return name + "_" if iskeyword(name) else name


Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass
class Table:
    """The rows of one file.  ``number`` sets it apart from the other tables of its *kind*."""

    name: str
    family: Family
    kind: Kind
    number: int
    effects: Effect = Effect.NONE
    inline: bool = False
    """Whether the interpreter's loops are inlined where they are called: for what runs often and is small."""
    by_library: bool = False
    """Whether mathematical libraries compute its rows: NumPy's and that of compiled code differ in the last bits."""
    rows: list[MicroOp] = field(default_factory=list)

    @property
    def code(self) -> int:
        """Code of its first row."""
        return (self.kind << TABLE_BITS | self.number) << NUMBER_BITS

    def _add(
        self,
        name: str,
        operands: str,
        meaning: str,
        timing: str,
        effects: Effect,
        family: Family | None = None,
        **more: Any,
    ) -> None:
        code = self.code + self.number_of(name)
        operands = (operands + "---")[:4]
        self.rows.append(MicroOp(code, name, family or self.family, operands, meaning, timing, effects, **more))

    def number_of(self, name: str) -> int:
        """The number of a new row in the table: any that is free."""
        return len(self.rows)

    def lanes(
        self,
        timing: str,
        operands: str = "",
        family: Family | None = None,
        all_lanes: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
    ) -> Callable[[Function], Function]:
        """Declare the decorated lane function as a row.  *operands* where they are not those of its signature."""

        def declare(function: Function) -> Function:
            types = dict(function.__annotations__)
            given = "p" if types.pop("return") in ("PREDICATE", "MASK") else "r"
            letters = {"PREDICATE": "p", "MASK": "p"}
            taken = "".join(letters.get(types[name], "r") for name in "abc" if name in types)
            self._add(
                function.__name__.replace("_", "."),
                operands or given + taken,
                (function.__doc__ or "").strip(),
                timing,
                self.effects,
                family,
                lane=function,
                all_lanes=all_lanes,
            )
            return function

        return declare

    def declare(self, rows: str) -> None:
        """Declare rows without lane functions, one a line: name, operands, timing class, effects or -, meaning."""
        for row in rows.strip().splitlines():
            name, operands, timing, effects, meaning = row.split(maxsplit=4)
            flags = self.effects
            for effect in () if effects == "-" else effects.split("+"):
                flags |= Effect[effect.upper()]
            self._add(name, operands, meaning, timing, flags)
