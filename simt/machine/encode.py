"""From a Program to the engine's code table: the only way into the engine, and where every number is checked.

The engine trusts its code table: it indexes registers, predicates, barriers and dimensions without looking.  So
:func:`encode` refuses each micro-op that names what the Program does not have, whatever view it came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine import layout
from simt.ops.encoding import (
    ATOMIC_TYPES,
    ATOMICS,
    AWAIT,
    COLLECTIVE,
    COPY_GROUPS,
    INDEPENDENT_CALLS,
    INTEGER_TYPES,
    MEETINGS,
    MEMORY_TYPES,
    MUFU_FUNCTIONS,
    PRMT_MODES,
    ROUNDED_FORMATS,
    ROUNDINGS,
    SCOPES,
    SPECIAL_REGISTERS,
    SURFACE_FORMS,
    SYSCALL,
    TEXTURE_FORMS,
    UNCOUNTED,
    WHOLE,
)
from simt.ops.mbarrier import DROPS
from simt.ops.table import MICRO_OPS, TABLES, Family
from simt.program import RZ, Instruction, Program

_TRUTH_TABLE = 256
_ROUNDED = len(ROUNDED_FORMATS) * len(ROUNDINGS) * 2
_IMMEDIATES = {
    "sreg": len(SPECIAL_REGISTERS),
    "lop3.b32": _TRUTH_TABLE,
    "plop": _TRUTH_TABLE,
    "prmt.b32": len(PRMT_MODES),
    **dict.fromkeys(("tex", "tld", "tld4", "txq"), TEXTURE_FORMS),
    **dict.fromkeys(("suld", "sust", "suatom"), SURFACE_FORMS),
    "dp4a.b32": 4,
    "mufu.b32": len(MUFU_FUNCTIONS),
    **dict.fromkeys(("add.rnd", "mul.rnd", "fma.rnd", "cvt.rnd.f64", "cvt.rnd.s64", "cvt.rnd.u64"), _ROUNDED),
    "cvt.int.f64": len(INTEGER_TYPES) * len(ROUNDINGS) * 2,
    "nop": len(SCOPES),
    **dict.fromkeys(("bar.sync", "bar.red.popc", "bar.red.and", "bar.red.or", "bar.arrive"), layout.BLOCK_BARRIERS),
}
"""One past the greatest ``imm`` of micro-ops whose ``imm`` is an index."""
_STORES = frozenset({"st.global", "st.generic", "atom.global", "atom.generic", "sust", "suatom"})
_CAS = ATOMICS.index("cas")
_CONVERGENCE = frozenset({"bssy", "bsync", "break", "bmov.get", "bmov.set"})
_MODES = {
    "index": 1,
    "within": 1,
    "high.b64": WHOLE,
    "nop": AWAIT,
    "bra": UNCOUNTED,
    "warpsync": max(MEETINGS.values()),
    "brx": COLLECTIVE,
    "bmov.get": 1,
    "arrive.shared": DROPS,
}
"""The greatest ``mod`` of micro-ops for which it is a mode."""
_BY_NUMBER = {number: (name, size) for name, (number, size) in MEMORY_TYPES.items()}
_VECTOR_ROWS = {"v2": 2, "v4": 4}
_VECTOR_ATOMICS = {"f32x2": 2, "f32x4": 4}


@dataclass(frozen=True)
class Encoded:
    """A Program as the engine takes it; the same for every launch.

    ``code`` is int64 [micro-ops + 1, N_CODE]; its last row stops code that runs past its end.  ``uniform_rows`` are
    the Program's rows that stand once for all warps, in their order in the register file, RZ first; ``n_registers``
    counts all rows.  ``targets``: micro-op per 8 bytes of machine code from ``code_start`` on, -1 where none starts.
    ``communicates``: blocks may act on each other through atomics or system calls; ``by_library``: see
    :class:`~simt.ops.row.Table`; ``stores``: it may change global memory; ``swaps``: it is machine code that compares
    and swaps.
    """

    code: npt.NDArray[np.int64]
    uniform_rows: tuple[int, ...]
    n_registers: int
    n_predicates: int
    n_barriers: int
    n_dimensions: int
    targets: npt.NDArray[np.int64]
    code_start: int
    communicates: bool
    by_library: bool
    stores: bool
    swaps: bool


def _swaps(instruction: Instruction) -> bool:
    return instruction.op.startswith("atom.") and instruction.mod >> 4 == _CAS


def encode(program: Program) -> Encoded:
    """The Program's code table, made once.

    Raises LaunchError for a micro-op that names a register, predicate, barrier or anything else that is not there.
    """
    if program.encoded is None:
        program.encoded = _Encoder(program).encode()
    found: Encoded = program.encoded
    return found


MOST_ROWS = 1 << 16
"""Upper limit of registers, predicates and convergence barriers: each takes room in every warp of a block."""


class _Encoder:
    """Renumbers rows, so that the uniform ones come first, and checks every field."""

    def __init__(self, program: Program) -> None:
        self.program = program
        for name in ("n_registers", "n_predicates", "n_barriers"):
            if getattr(program, name) > MOST_ROWS:
                raise LaunchError(f"{program.name} has {name} = {getattr(program, name)}; the limit is {MOST_ROWS}")
        self.rows = (RZ, *sorted({uniform.row for uniform in program.uniforms} - {RZ}))
        self.places: list[int] = self._places().tolist()
        self.n_predicates = max(program.n_predicates, 1)
        self.n_barriers = max(program.n_barriers, 1)
        self.n_dimensions = max((array.slot + array.ndim for array in program.arrays), default=0)

    def _places(self) -> npt.NDArray[np.int64]:
        n = max(self.program.n_registers, 1)
        if not 0 <= self.rows[-1] < n:
            raise LaunchError(f"{self.program.name}: constant row {self.rows[-1]} of {n} registers")
        place = np.full(n, -1, np.int64)
        place[list(self.rows)] = np.arange(len(self.rows))
        others = place < 0
        place[others] = np.arange(len(self.rows), n)
        return place

    def encode(self) -> Encoded:
        program = self.program
        n = len(program.instructions)
        code = np.zeros((n + 1, layout.N_CODE), np.int64)
        code[n, 0] = MICRO_OPS["trap"].code  # for code that runs past its end
        for pc, instruction in enumerate(program.instructions):
            problem = next(self._problems(instruction), None)
            if problem is not None:
                raise self._refused(pc, problem)
            code[pc] = self._row(instruction)
        targets, code_start = _targets(program)
        ops = {instruction.op for instruction in program.instructions}
        acts = not INDEPENDENT_CALLS.issuperset(program.syscalls)
        return Encoded(
            code=code,
            uniform_rows=self.rows,
            n_registers=len(self.places),
            n_predicates=self.n_predicates,
            n_barriers=self.n_barriers,
            n_dimensions=self.n_dimensions,
            targets=targets,
            code_start=code_start,
            by_library=not ops.isdisjoint(row.name for table in TABLES if table.by_library for row in table.rows),
            communicates=not ops.isdisjoint({"atom.global", "atom.generic", "suatom"}) or acts,
            stores=not ops.isdisjoint(_STORES) or acts,
            swaps=program.view != "source" and any(map(_swaps, program.instructions)),
        )

    def _row(self, instruction: Instruction) -> list[int]:
        spec = MICRO_OPS[instruction.op]
        values = (instruction.dst, instruction.a, instruction.b, instruction.c)
        fields = [
            self.places[value] * 32 if letter == "r" else value
            for letter, value in zip(spec.operands, values, strict=True)
        ]
        flags = layout.RETIRES * instruction.retires | layout.UNIFORM * instruction.uniform | _told(instruction)
        op = spec.code | flags << layout.FLAGS_SHIFT
        return [op, *fields, instruction.guard, instruction.imm, instruction.mod]

    def _refused(self, pc: int, problem: str) -> LaunchError:
        program, instruction = self.program, self.program.instructions[pc]
        known = 0 <= instruction.line < len(program.listing)
        return LaunchError(
            f"invalid instruction: {problem}",
            location=program.place(program.listing[instruction.line]) if known else None,
            details=[f"micro-op {pc}: {instruction.op}"],
            help="no compiler emits such code; the file or the listing is damaged",
        )

    def _problems(self, i: Instruction) -> Iterator[str]:
        if not 0 <= i.line < len(self.program.listing):
            yield f"it belongs to line {i.line} of {len(self.program.listing)}"
        if i.op == SYSCALL and i.retires:
            yield "a system call that counts as an instruction"
        yield from self._mode_problems(i)
        yield from self._operand_problems(i)
        if not 0 <= i.guard < 2 * self.n_predicates:
            yield f"guard predicate {i.guard >> 1} of {self.n_predicates}"
        yield from self._immediate_problems(i)

    def _operand_problems(self, i: Instruction) -> Iterator[str]:
        letters = MICRO_OPS[i.op].operands
        for k, (letter, value) in enumerate(zip(letters, (i.dst, i.a, i.b, i.c), strict=True)):
            if letter == "r":
                is_written = k == 0 or (k == 1 and i.op == SYSCALL)
                yield from self._register_problems(value, rows_of(i, k), is_written)
            elif letter == "p" and not 0 <= value < (self.n_predicates if k == 0 else 2 * self.n_predicates):
                yield f"predicate {value if k == 0 else value >> 1} of {self.n_predicates}"
            elif letter == "-" and value:  # the engine would take dst for a row to write to
                yield f"operand {value}, which the micro-op does not take"
        if (i.op.startswith("shfl.") or i.op == "match.all") and not 0 <= i.mod < self.n_predicates:
            yield f"predicate {i.mod} of {self.n_predicates}"

    def _register_problems(self, first: int, count: int, is_written: bool) -> Iterator[str]:
        n = len(self.places)
        if is_written and first == RZ:
            return
        if not 0 <= first <= n - count:
            name = f"rows {first} to {first + count - 1}" if count > 1 else f"row {first}"
            yield f"register {name} of {n}"
            return
        places = self.places[first : first + count]
        constants = sum(place < len(self.rows) for place in places)
        if places != list(range(places[0], places[0] + count)) or 0 < constants < count:
            yield f"register rows {first} to {first + count - 1}, of which some are constants"
        elif is_written and constants:
            yield f"a result in register row {first}, which is a constant"

    def _mode_problems(self, i: Instruction) -> Iterator[str]:
        """Of ``mod``: access types and atomic operations too."""
        most = _MODES.get(i.op)
        if most is not None:
            if not 0 <= i.mod <= most:
                yield f"mode {i.mod} of {i.op}"
        elif i.op.startswith(("atom.", "suatom")):
            if not (0 <= i.mod >> 4 < len(ATOMICS) and i.mod & 15 < len(ATOMIC_TYPES)):
                yield f"atomic operation {i.mod >> 4} on type {i.mod & 15}"
        elif i.op.startswith(("ld.", "st.", "suld", "sust")):
            if i.mod not in _BY_NUMBER:
                yield f"an access of type {i.mod}"
        elif not (1 if i.op == SYSCALL else -(2**63)) <= i.mod < 2**63:
            yield f"mode {i.mod}"

    def _immediate_problems(self, i: Instruction) -> Iterator[str]:
        end = _IMMEDIATES.get(i.op)
        what = f"the number {i.imm} in {i.op}"
        if i.op == "index":
            end, what = self.n_dimensions, f"dimension {i.imm} of {self.n_dimensions}"
        elif i.op == "within":
            end, what = len(self.program.arrays), f"array {i.imm} of {len(self.program.arrays)}"
        elif i.op in _CONVERGENCE:
            end, what = self.n_barriers, f"convergence barrier {i.imm} of {self.n_barriers}"
        elif i.op == SYSCALL:
            end, what = len(self.program.syscalls), f"system call {i.imm} of {len(self.program.syscalls)}"
        elif i.op == "nop" and i.mod == AWAIT:
            end = COPY_GROUPS
        elif i.op == "bra":
            end, what = len(self.program.instructions) + 1, f"a branch to micro-op {i.imm}"
        elif i.op.startswith("bar."):
            what = f"block barrier {i.imm} of {layout.BLOCK_BARRIERS}"
        if not (0 <= i.imm < end if end is not None else -(2**63) <= i.imm < 2**63):
            yield what


def rows_of(i: Instruction, operand: int) -> int:
    """Consecutive rows that operand number *operand* of a micro-op (0 is the destination) takes."""
    if MICRO_OPS[i.op].family is Family.IMAGE:
        return _image_rows(i, operand)
    if i.op.startswith("atom."):
        return _VECTOR_ATOMICS.get(ATOMIC_TYPES[i.mod & 15], 1) if operand in (0, 2) else 1
    if i.op == SYSCALL:
        return i.mod if operand == 1 else 1
    if i.op.startswith("ld.") and operand == 0:
        return _VECTOR_ROWS.get(_BY_NUMBER[i.mod][0], 1)
    if i.op.startswith("st.") and operand == 2 and i.b != RZ:  # all words of RZ are zero
        return _VECTOR_ROWS.get(_BY_NUMBER[i.mod][0], 1)
    return 1


def _image_rows(i: Instruction, operand: int) -> int:
    """The same for textures and surfaces."""
    if i.op.startswith("t"):
        return {0: (i.imm & 15).bit_count(), 1: 1 if i.op == "txq" else 4}.get(operand, 1)
    words = 1 if i.op == "suatom" else _VECTOR_ROWS.get(_BY_NUMBER[i.mod][0], 1)
    data = 2 if i.op == "suatom" else 4 if i.imm >> 6 & 1 else words
    return (words, (i.imm & 3) + (i.imm >> 2 & 1), 1, data)[operand]


def _targets(program: Program) -> tuple[npt.NDArray[np.int64], int]:
    """Micro-op index per 8 bytes of machine code, from the lowest code address on; -1 where none starts."""
    if not program.addresses:
        return np.full(1, -1, np.int64), 0
    start = min(program.addresses)
    table = np.full((max(program.addresses) - start) // 8 + 1, -1, np.int64)
    for address, pc in program.addresses.items():
        if not 0 <= pc <= len(program.instructions):
            raise LaunchError(f"{program.name}: code address {address:#x} stands for micro-op {pc}")
        table[(address - start) // 8] = pc
    return table, start


def _told(instruction: Instruction) -> int:
    """How a watch is told of a micro-op that orders threads, or whose lanes name others; see events.py."""
    if instruction.op.startswith("shfl."):
        return layout.SHUFFLES
    if instruction.op == "warpsync":
        return layout.NAMES
    orders = instruction.op.startswith(("bar.", "match.", "redux.", "vote.")) or instruction.op in ("ballot", "exit")
    if instruction.op == "selp":
        return layout.CHOOSES
    return layout.ORDERS if orders or (instruction.op == "nop" and instruction.mod) else 0
