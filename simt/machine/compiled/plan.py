"""Which micro-ops of a Program native code executes, and the basic blocks that they form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, takewhile

import numpy as np
import numpy.typing as npt

from simt.machine import layout as L
from simt.machine.coalescing import SECTOR_SHIFT
from simt.machine.compiled.accesses import ANY, FUNCTIONS, TELLING, TYPES, whole
from simt.machine.compiled.context import Helper
from simt.machine.compiled.control import ACROSS, BEGUN, CALLED, EMITTED, JOIN, LATE, NEWEST, PASSED, TURN
from simt.machine.compiled.lanes import is_lane_wise
from simt.machine.compiled.liveness import Rows, live_rows, zeroed_rows
from simt.machine.compiled.shapes import words_of
from simt.machine.encode import Encoded, encode
from simt.machine.warp import COORDINATES, OF_LANE
from simt.ops.row import Kind, MicroOp
from simt.ops.table import MICRO_OPS
from simt.program import Instruction, Program

_BY_NAME = CALLED | ACROSS | EMITTED
"""Micro-ops that native code executes, but for memory's and those that work lane by lane."""

MOST_BLOCK = 64
"""Micro-ops of a block at most: LLVM's time grows faster than its input."""

Runs = tuple[tuple[int, int], ...]
Tally = tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64], int]


@dataclass(frozen=True)
class Step:
    """A micro-op as the code table has it; register operands are offsets of lane 0."""

    pc: int
    row: MicroOp
    dst: int
    a: int
    b: int
    c: int
    guard: int
    imm: int
    mod: int
    retires: bool
    uniform: bool

    @property
    def sources(self) -> list[tuple[str, str, int]]:
        """Its operands: name, letter of its kind, number."""
        letters = self.row.operands[1:]
        return [
            (name, letter, value)
            for name, letter, value in zip("abc", letters, (self.a, self.b, self.c), strict=True)
            if letter != "-"
        ]


class Plan:
    """A Program taken apart for :mod:`simt.machine.compiled.emit`."""

    functions = FUNCTIONS
    """The faster functions of accesses."""

    def __init__(self, program: Program) -> None:
        self.encoded: Encoded = encode(program)
        self.steps = [
            _step(pc, one, row)
            for pc, (one, row) in enumerate(zip(program.instructions, self.encoded.code[:-1].tolist(), strict=True))
        ]
        self.uniform_end = 32 * len(self.encoded.uniform_rows)
        values = {uniform.row: uniform.value for uniform in program.uniforms if uniform.kind == "const"}
        rows = enumerate(self.encoded.uniform_rows)
        self.constants = {32 * place: values[row] for place, row in rows if row in values}
        self.constants[0] = 0
        """Values of the uniform rows that are the same in every launch, by offset."""
        first, self.live = live_rows(program)
        self.staying = self._staying()
        self.zeroed = zeroed_rows(program, first)

    def is_live(self, row: int, after: int) -> bool:
        """Whether a register row, by its offset, may be read after a micro-op."""
        return bool(self.live[after] >> (row >> 5) & 1)

    def is_predicate_live(self, number: int, after: int) -> bool:
        """The same for a predicate."""
        return self.is_live(32 * (self.encoded.n_registers + number), after)

    def _staying(self) -> Rows:
        """The rows that may be read later where lanes wait for others."""
        found = 0
        for step in self.steps:
            if step.row.kind is Kind.CONTROL:
                found |= self.live[step.pc] | (self.live[step.pc - 1] if step.pc else 0)
        return found

    def is_passing(self, row: int) -> bool:
        """Whether lanes that do not run have no use for a register row: none waits where it may be read later."""
        return not self.staying >> (row >> 5) & 1

    def is_native(self, step: Step) -> bool:
        """Whether native code executes a micro-op; the interpreter executes all others."""
        if step.uniform and step.guard:
            return False
        if step.row.kind in (Kind.MEMORY, Kind.ELEMENT) or step.row.name in _BY_NAME:
            return True
        return is_lane_wise(step.row) or is_place(step)

    @cached_property
    def helpers(self) -> set[Helper]:
        """Functions that its native code may call."""
        found: set[Helper] = {(TURN, 0), (JOIN, 0), (BEGUN, 0), (LATE, 0), (NEWEST, 0)}
        accesses: set[tuple[int, int]] = set()
        for step in (step for block in self.blocks for step in block):
            if step.row.name in CALLED | ACROSS:
                found.add((step.row.name, 0))
            elif step.row.kind is Kind.MEMORY:
                accesses.add((step.row.number, step.mod))
        for access in accesses:
            if access in self.functions:
                found |= {self.functions[access], ANY, ("units", SECTOR_SHIFT)}
                shift = TYPES[access[1]][1].bit_length() - 1
                found |= {("units", shift), ("wavefronts", shift)}
            else:
                found.add(whole(*access))
        return found

    @cached_property
    def _shape_words(self) -> dict[int, int]:
        """Words of the shape of each access that has one, by micro-op."""
        steps = (step for block in self.blocks for step in block if step.row.kind is Kind.MEMORY)
        kinds = {step.pc: (step.row.number, step.mod) for step in steps}
        return {pc: words_of(*kind) for pc, kind in kinds.items() if kind in self.functions}

    @cached_property
    def shapes(self) -> dict[int, int]:
        """Where these shapes stand, one behind the other: the first word of each."""
        words = self._shape_words
        return dict(zip(words, accumulate(words.values(), initial=0), strict=False))

    @property
    def shapes_end(self) -> int:
        """Words of all of them."""
        return sum(self._shape_words.values())

    @cached_property
    def tallies(self) -> list[Tally]:
        """What the counters of blocks say of their micro-ops: a column, micro-ops, their blocks, and which counter."""
        steps = [(step, k) for k, block in enumerate(self.blocks) for step in block]
        unguarded = [(step, k) for step, k in steps if not step.guard]
        branches = [(step, k) for step, k in steps if step.row.name == "bra"]
        told = [(steps, L.N_EXECUTED, 0), (steps, L.N_THREADS, 1), (steps, L.N_ABSENT, 2), (steps, L.N_EXITED, 3)]
        return [
            (int(column), np.array([step.pc for step, _ in some]), np.array([k for _, k in some]), counter)
            for some, column, counter in [*told, (unguarded, L.N_PRED_ON, 1), (branches, L.N_BRANCHES, 0)]
            if some
        ]

    @property
    def starts(self) -> set[int]:
        """Micro-ops that begin a block, if native code executes them."""
        ends = {step.pc + 1 for step in self.steps if step.row.kind is Kind.CONTROL and step.row.name not in EMITTED}
        return {step.imm for step in self.steps if step.row.name == "bra"} | ends

    @cached_property
    def blocks(self) -> list[list[Step]]:
        """Micro-ops that are executed one after the other: entered at the first only, control at the end only."""
        found: list[list[Step]] = []
        starts = self.starts
        for step in self.steps:
            if not self.is_native(step):
                continue
            follows = bool(found) and found[-1][-1].pc + 1 == step.pc and step.pc not in starts
            if not follows or len(found[-1]) == MOST_BLOCK:
                found.append([])
            found[-1].append(step)
        return found


class Stretches(Plan):
    """A Program of which native code executes some runs of micro-ops, each by itself.

    For who looks at a warp in between: *runs* are the first micro-op of each, and one past the last.  They may have
    micro-ops in common.  A branch or a wait is the last of its run.
    """

    functions = TELLING

    def __init__(self, program: Program, runs: Runs) -> None:
        super().__init__(program)
        pieces = {first: self._pieces(first, end) for first, end in runs}
        self.runs = {first: found for first, found in pieces.items() if found}
        """Of each run the parts that are executed whole or not at all, up to what is left to the interpreter."""

    def is_native(self, step: Step) -> bool:
        name = step.row.name
        return super().is_native(step) and (name not in CALLED or name in ("bra", *PASSED))

    def _pieces(self, first: int, end: int) -> list[list[Step]]:
        """What works lane by lane stays together, but for who has a guard that it writes; all else is for itself."""
        found: list[list[Step]] = []
        written: set[int] = set()
        for step in takewhile(self.is_native, self.steps[first:end]):
            follows = found and works_by_lane(step) and works_by_lane(found[-1][-1])
            if not follows or len(found[-1]) == MOST_BLOCK or (step.guard and step.guard >> 1 in written):
                found.append([])
                written = set()
            found[-1].append(step)
            if step.row.operands[0] == "p":
                written.add(step.dst)
        return found

    @cached_property
    def blocks(self) -> list[list[Step]]:
        return [piece for pieces in self.runs.values() for piece in pieces]


def works_by_lane(step: Step) -> bool:
    """Whether a micro-op does the same in each lane, and looks at no other."""
    return step.row.kind not in (Kind.MEMORY, Kind.CONTROL) and step.row.name not in ACROSS


def _step(pc: int, one: Instruction, code: list[int]) -> Step:
    _, dst, a, b, c, guard, imm, mod = code
    return Step(pc, MICRO_OPS[one.op], dst, a, b, c, guard, imm, mod, one.retires, one.uniform)


def is_place(step: Step) -> bool:
    """Whether a micro-op reads a special register that says where a thread is: in its warp, block or grid."""
    return step.row.name == "sreg" and (step.imm < COORDINATES or step.imm in OF_LANE)
