"""Small Programs written by hand, and what the machine makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.machine import Launch, RunResult
from simt.ops.encoding import SPECIAL_REGISTERS
from simt.ops.table import MICRO_OPS, Family
from simt.program import COUNTERS, PT, RZ, ArrayRef, Instruction, ListingLine, Program, Space, Uniform, pred
from simt.runtime import run

Words = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]

COPY_TABLE = 0xF0
"""Truth table of ``plop`` that copies its first operand."""


class Builder:
    """Writes the micro-ops of a Program; registers, predicates and barriers are numbered as they are asked for.

    Every micro-op is a listing line of its own, numbered from 1, so that findings name a micro-op.
    """

    def __init__(self, view: str = "source") -> None:
        self.view = view
        self.instructions: list[Instruction] = []
        self.uniforms: list[Uniform] = []
        self.arrays: list[ArrayRef] = []
        self.n_registers = 1
        self.n_predicates = 1
        self.n_barriers = 0
        self.shared_bytes = 0
        self.local_bytes = 0
        self.addresses: dict[int, int] = {}
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []
        self._constants: dict[int, int] = {}

    def reg(self, count: int = 1) -> int:
        """The first of *count* new consecutive register rows."""
        self.n_registers += count
        return self.n_registers - count

    def predicate(self) -> int:
        """A new predicate."""
        self.n_predicates += 1
        return self.n_predicates - 1

    def barrier(self) -> int:
        """A new convergence barrier."""
        self.n_barriers += 1
        return self.n_barriers - 1

    def _uniform(self, kind: str, value: int, axis: int = 0) -> int:
        row = self.reg()
        self.uniforms.append(Uniform(row, kind, value, axis))
        return row

    def const(self, value: int) -> int:
        """A row that holds *value* in all lanes."""
        value &= 2**64 - 1
        if value not in self._constants:
            self._constants[value] = self._uniform("const", value - 2**64 if value >> 63 else value)
        return self._constants[value]

    def argument(self, number: int) -> int:
        """A row that holds scalar argument *number*."""
        return self._uniform("arg", number)

    def array(self, argument: int, dtype: str = "uint64", ndim: int = 1, name: str = "") -> int:
        """Declare array argument *argument*; the row of its base address."""
        slot = sum(array.ndim for array in self.arrays)
        self.arrays.append(ArrayRef(name or f"a{argument}", dtype, ndim, Space.GLOBAL, slot, argument=argument))
        return self._uniform("base", len(self.arrays) - 1)

    def constant_array(self, data: npt.NDArray[Any]) -> int:
        """Declare constant memory with these contents; the row of its base address."""
        slot = sum(array.ndim for array in self.arrays)
        self.arrays.append(ArrayRef("constants", str(data.dtype), data.ndim, Space.CONST, slot, data=data))
        return self._uniform("base", len(self.arrays) - 1)

    def emit(self, op: str, dst: int = 0, a: int = 0, b: int = 0, c: int = 0, **fields: Any) -> None:
        """Append one micro-op."""
        fields.setdefault("line", len(self.instructions))
        self.instructions.append(Instruction(op, dst, a, b, c, **fields))

    def value(self, op: str, a: int = 0, b: int = 0, c: int = 0, **fields: Any) -> int:
        """Append one micro-op whose result goes to a new register (or predicate); its number."""
        dst = self.reg() if MICRO_OPS[op].operands[0] == "r" else self.predicate()
        self.emit(op, dst, a, b, c, **fields)
        return dst

    def label(self, name: str) -> None:
        """Name the place of the next micro-op."""
        self._labels[name] = len(self.instructions)

    def bra(self, name: str, condition: int = PT, **fields: Any) -> None:
        """Jump to a label where predicate operand *condition* holds."""
        self._jumps.append((len(self.instructions), name))
        self.emit("bra", a=condition, **fields)

    def special(self, name: str) -> int:
        """Read a special register."""
        return self.value("sreg", imm=SPECIAL_REGISTERS.index(name))

    def thread(self) -> int:
        """Index of the thread in a one-dimensional grid."""
        return self.value("mad.s64", self.special("ctaid.x"), self.special("ntid.x"), self.special("tid.x"))

    def element(self, base: int, index: int, size: int = 8) -> int:
        """Address of an element."""
        return self.value("mad.s64", index, self.const(size), base)

    def load(self, base: int, index: int) -> int:
        """Load a 64-bit element of a global array."""
        return self.value("ld.global", self.element(base, index), mod=type_number("b64"))

    def store(self, base: int, index: int, row: int, imm: int = 0) -> None:
        """Store a 64-bit element of a global array."""
        self.emit("st.global", a=self.element(base, index), b=row, mod=type_number("b64"), imm=imm)

    def truth(self, row: int) -> int:
        """The predicate ``row != 0``."""
        return self.value("ne.s64", row, RZ)

    def number(self, predicate: int) -> int:
        """1 where a predicate operand holds, else 0."""
        return self.value("selp", self.const(1), RZ, predicate)

    def build(self, name: str = "kernel") -> Program:
        """The finished Program; ends it with an ``exit``."""
        self.emit("exit")
        for at, label in self._jumps:
            self.instructions[at].imm = self._labels[label]
        listing = [ListingLine(str(i), number) for number, i in enumerate(self.instructions, 1)]
        arguments = [array.argument for array in self.arrays if array.argument is not None]
        parameters = [f"argument {k}" for k in range(max(arguments, default=-1) + 1)]
        for array in self.arrays:
            if array.argument is not None:
                parameters[array.argument] = array.name
        return Program(
            name=name,
            view=self.view,
            instructions=self.instructions,
            listing=listing,
            n_registers=self.n_registers,
            n_predicates=self.n_predicates,
            n_barriers=self.n_barriers,
            uniforms=self.uniforms,
            arrays=self.arrays,
            parameters=parameters,
            shared_bytes=self.shared_bytes,
            local_bytes=self.local_bytes,
            addresses=self.addresses,
            file="kernel.py",
        )


def type_number(name: str) -> int:
    """The ``mod`` of a load or store."""
    from simt.ops.encoding import MEMORY_TYPES

    return MEMORY_TYPES[name][0]


def launch(
    builder: Builder | Program,
    *arguments: Any,
    grid: int | tuple[int, int, int] = 1,
    block: int | tuple[int, int, int] = 32,
    **options: Any,
) -> RunResult:
    """Run a Program on a grid of blocks."""
    program = builder.build() if isinstance(builder, Builder) else builder
    grid = (grid, 1, 1) if isinstance(grid, int) else grid
    block = (block, 1, 1) if isinstance(block, int) else block
    return run(program, Launch(grid=grid, block=block, arguments=arguments, **options))


def column(result: RunResult, counter: str) -> npt.NDArray[np.int64]:
    """One counter of every micro-op."""
    return result.counters[:, COUNTERS.index(counter)]


def mask_of(lanes: Sequence[bool] | Bools) -> int:
    """The lane mask of 32 booleans."""
    return sum(1 << lane for lane, holds in enumerate(lanes) if holds)


@dataclass(frozen=True)
class Call:
    """A micro-op to execute on given operands; register operands are rows a, b, c, predicates pa, pb, pc."""

    op: str
    imm: int = 0
    uniform: bool = False

    @property
    def has_flag(self) -> bool:
        """Whether ``mod`` names a second, predicate result."""
        return self.op.startswith("shfl.") or self.op == "match.all"


@dataclass(frozen=True)
class Outcome:
    """What a micro-op left: a row (uint64) or predicate (bool), and its second predicate if it has one."""

    value: npt.NDArray[Any]
    flag: Bools | None


def evaluate(
    calls: Sequence[Call],
    rows: Words,
    predicates: Bools | None = None,
    initial: Words | None = None,
    guard: Bools | None = None,
    **options: Any,
) -> list[Outcome]:
    """Execute each micro-op on operand rows, one lane per column.

    ``rows`` uint64 [3, n], ``predicates`` bool [3, n], n a multiple of 32.  Destinations hold ``initial``
    before; predicate destinations its lowest bit.  ``guard`` bool [n] predicates the micro-op.
    """
    n = rows.shape[1]
    predicates = np.zeros((3, n), bool) if predicates is None else predicates
    initial = np.zeros(n, np.uint64) if initial is None else initial
    everyone = np.ones(n, bool) if guard is None else guard
    inputs = np.concatenate([rows, predicates.astype(np.uint64), initial[None], everyone[None].astype(np.uint64)])
    outputs = np.zeros((2 * len(calls), n), np.uint64)
    b = Builder()
    source, sink = b.array(0, ndim=2), b.array(1, ndim=2)
    index = b.thread()
    out = b.element(sink, index)
    loaded = [
        b.value("ld.global", b.element(source, index), mod=type_number("b64"), imm=k * n * 8)
        for k in range(len(inputs))
    ]
    start = loaded[6]
    truths = [b.truth(row) for row in loaded[3:6]]
    start_truth = b.truth(b.value("and.b64", start, b.const(1)))
    guarded = PT if guard is None else pred(b.truth(loaded[7]))
    register, predicate, flag = b.reg(), b.predicate(), b.predicate()
    for k, call in enumerate(calls):
        letters = MICRO_OPS[call.op].operands
        operands = [
            loaded[i] if letter == "r" else pred(truths[i]) if letter == "p" else 0
            for i, letter in enumerate(letters[1:])
        ]
        to_register = letters[0] == "r"
        b.emit("mov", register, start)
        b.emit("plop", predicate, pred(start_truth), imm=COPY_TABLE)
        b.emit("plop", flag, pred(start_truth), imm=COPY_TABLE)
        b.emit(
            call.op,
            register if to_register else predicate,
            *operands,
            guard=guarded,
            imm=call.imm,
            mod=flag if call.has_flag else 0,
            uniform=call.uniform,
        )
        result = register if to_register else b.number(pred(predicate))
        b.emit("st.global", a=out, b=result, mod=type_number("b64"), imm=2 * k * n * 8)
        b.emit("st.global", a=out, b=b.number(pred(flag)), mod=type_number("b64"), imm=(2 * k + 1) * n * 8)
    launch(b, inputs, outputs, grid=n // 32, **options)
    return [
        Outcome(
            outputs[2 * k] if MICRO_OPS[call.op].operands[0] == "r" else outputs[2 * k].astype(bool),
            outputs[2 * k + 1].astype(bool) if call.has_flag else None,
        )
        for k, call in enumerate(calls)
    ]


def ops_of(*families: Family) -> list[str]:
    """The micro-ops of these families, in order."""
    return [op.name for op in MICRO_OPS.values() if op.family in families]


ORDERS = ["then_first", "else_first", "hardware", "profiler", "interleaved", "random:3"]


def masks_at(b: Builder, pc: int, *arguments: np.ndarray, **options: object) -> list[int]:
    """The active masks of the executions of one micro-op."""
    trace = launch(b, *arguments, trace=True, **options).trace
    assert trace is not None
    return [int(mask) for mask in trace.active[trace.pc == pc]]


def lanes_below(b: Builder, count: int) -> int:
    """Predicate operand: lane < count."""
    return pred(b.value("lt.s64", b.special("laneid"), b.const(count)))


def mark(b: Builder) -> int:
    """A micro-op to watch; its index."""
    b.emit("nop")
    return len(b.instructions) - 1
