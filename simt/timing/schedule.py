"""What the scheduler knows of each instruction: issue slots, classes, control bits, operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine.compiled.plan import Runs
from simt.ops.encoding import ATOMIC_BYTES, ATOMIC_TYPES, AWAIT, COMMIT, MEMORY_TYPES, SPECIAL_REGISTERS, SYSCALL
from simt.ops.table import MICRO_OPS, Family
from simt.program import PT, RZ, Instruction, MachineCode, Program
from simt.timing import layout as L
from simt.timing.ahead import note_stretches, note_turns, runs
from simt.timing.classes import CLASSES, NUMBER, PIPES, Unit, of_micro_op, of_opcode
from simt.timing.gates import asks
from simt.timing.groups import SOURCE_VIEW, groups, issues_of
from simt.timing.operands import Kept, keep, passes, reads
from simt.timing.parameters import Parameters


class ControlBits(Protocol):
    """Scheduling bits of one SASS instruction, as :class:`simt.sass.grammar.Control` has them."""

    @property
    def stall(self) -> int: ...
    @property
    def write_barrier(self) -> int | None: ...
    @property
    def read_barrier(self) -> int | None: ...
    @property
    def wait_mask(self) -> int: ...
    @property
    def reuse(self) -> int: ...
    @property
    def yields(self) -> bool: ...


class MachineInstruction(Protocol):
    """One SASS instruction, in the order of the Program's listing."""

    @property
    def control(self) -> ControlBits | None: ...
    @property
    def dual(self) -> bool: ...


@dataclass(frozen=True)
class Schedule:
    """``ops`` is int64 [micro-ops * N_OP]; ``operands`` lists the scoreboard entries of each instruction.

    ``control`` says that the code's own control bits decide, not a scoreboard by register of ``registers`` entries.
    ``lines``, ``constants`` and ``variables``: lines of instructions and of constants that it uses, and lines of L2
    with ``__constant__`` variables.
    ``runs``: what is executed in one go, see :func:`simt.timing.ahead.runs`.
    """

    ops: npt.NDArray[np.int64]
    operands: npt.NDArray[np.int64]
    control: bool
    registers: int
    lines: int
    constants: int
    variables: int
    runs: Runs

    @property
    def writes(self) -> bool:
        """Whether it stores to global memory, or has atomics there."""
        rows = self.ops.reshape(-1, L.N_OP)
        kinds = np.isin(rows[:, L.O_KIND], (L.K_STORE, L.K_ATOMIC, L.K_REDUCTION))
        return bool(np.any(kinds & (rows[:, L.O_UNIT] == Unit.GLOBAL)))


_DEFERS = "DEFER_BLOCKING"
_INTEGERS = ("s32", "u32", "s64", "u64")
_PAST_L1 = frozenset(("CG", "CV", "BYPASS"))
_STRONG = (("STRONG", "SYS"), ("STRONG", "GPU"))
"""Modifiers of loads that must see what other SMs wrote (volatile, ``ld.cg``, ``ld.relaxed.gpu``): L1 may be stale."""
_REGISTER_PIPES = frozenset(
    PIPES.index(name) for name in ("alu", "fma", "fma_light", "fma_heavy", "fma_both", "half", "fp64")
)


def schedule(
    program: Program, numbers: Parameters, code: Sequence[MachineInstruction] | None, turns: bool = False
) -> Schedule:
    """The table of a Program.  *code* has the control bits of machine code; without, a scoreboard is used.

    *turns*: the splits of a warp take turns after every instruction.
    The last row is the engine's trap for code that runs past its end.
    """
    n = len(program.instructions)
    ops = np.zeros((n + 1, L.N_OP), np.int64)
    ops[n, [L.O_ISSUES, L.O_GROUP, L.O_FALL]] = 1, 1, n
    ops[:, [L.O_WRITE_BARRIER, L.O_READ_BARRIER, L.O_MEMORY_PC, L.O_MEMORY_END, L.O_LOCAL_PC, L.O_SPREADS]] = -1
    ops[:, L.O_STALL] = 1
    source = program.view == SOURCE_VIEW
    issues = issues_of(program)
    ops[:n, L.O_ISSUES] = issues
    ops[:n, L.O_CALLS] = [instruction.op == SYSCALL for instruction in program.instructions]
    groups(program, ops)
    note_turns(program, ops)
    if not turns:
        note_stretches(program, ops)
    for pc, instruction in enumerate(program.instructions):
        if issues[pc]:
            if source:
                _describe(program, pc, _class_of(instruction, of_micro_op(instruction.op)), True, numbers, ops)
            else:
                found = _code(program, instruction)
                number = _class_of(instruction, of_opcode(found.opcode, found.modifiers))
                _describe(program, pc, number, False, numbers, ops)
                _modify(pc, found, numbers, ops)
    ops[:, L.O_LOADS] |= np.isin(ops[:, L.O_KIND], L.LOADS)
    _send_operands(numbers, ops)
    policy = int(numbers["scheduler_policy"])
    for row in ops:
        asked = Unit(row[L.O_UNIT]), int(row[L.O_PIPE]), bool(row[L.O_LOADS]), policy
        of_block = bool(row[L.O_CLASS] == NUMBER["block_number"])
        row[L.O_ASKS : L.O_ASKS + 2] = [asks(*asked, yielded, of_block=of_block) for yielded in (False, True)]
    for pc, instruction in enumerate(program.instructions):
        ops[pc, L.O_DUAL] = code is not None and issues[pc] and code[instruction.line].dual
    control = bool(code) and all(entry.control is not None for entry in code or ())
    if code is not None and control:
        _control(program, code, numbers, ops)
        if numbers["register_window"]:
            _ports(program, code, numbers, ops)
        _fresh_operands(program, numbers, ops)
    _defer(ops)
    operands, registers = _operands(program, ops, source)
    size = int(numbers["instruction_line_bytes"])
    where = [
        program.listing[i.line].number if not source else pc * int(numbers["instruction_bytes"])
        for pc, i in enumerate(program.instructions)
    ]
    ops[:n, L.O_LINE] = np.array(where, np.int64) // size
    ops[:, L.O_SIMPLE] = _are_simple(ops)
    lines = int(ops[:, L.O_LINE].max(initial=0)) + 1
    constants, variables = _constants(program, ops, numbers)
    return Schedule(ops.reshape(-1), operands, control, registers, lines, constants, variables, runs(program, ops))


def _constants(program: Program, ops: npt.NDArray[np.int64], numbers: Parameters) -> tuple[int, int]:
    """Number the lines of constants that instructions read, and those of L2 that have them; returns how many there are.

    What the driver writes for a launch, bank 0, is near when it begins.
    """
    near: dict[tuple[int, int], int] = {}
    far: dict[tuple[int, int], int] = {}
    for pc in np.flatnonzero(ops[:-1, L.O_ISSUES]).tolist():
        code = program.listing[program.instructions[pc].line].code
        if code is None or code.constant is None:
            continue
        bank, offset = code.constant
        ops[pc, L.O_CONSTANT] = 1 + near.setdefault((bank, offset // int(numbers["constant_line_bytes"])), len(near))
        if bank:
            ops[pc, L.O_VARIABLE] = 1 + far.setdefault((bank, offset // int(numbers["constant_fetch_bytes"])), len(far))
    return len(near), len(far)


def _are_simple(ops: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which instructions need nothing but their registers, and their pipe or that they are a branch."""
    fixed = (ops[:, L.O_UNIT] == Unit.FIXED) & (ops[:, L.O_PIPE] != PIPES.index("tex")) & (ops[:, L.O_KIND] == L.K_NONE)
    branches = (ops[:, L.O_UNIT] == Unit.BRANCH) & (ops[:, L.O_KIND] == L.K_BRANCH)
    alone = (ops[:, L.O_MEMORY_PC] < 0) & (ops[:, L.O_FREEZE] == 0)
    boards = (ops[:, L.O_WRITE_BARRIER] < 0) & (ops[:, L.O_READ_BARRIER] < 0)
    found: npt.NDArray[np.bool_] = (ops[:, L.O_ISSUES] == 1) & (fixed | branches) & alone & boards
    return found


def _send_operands(numbers: Parameters, ops: npt.NDArray[np.int64]) -> None:
    """How long the operands of each instruction take to the load/store unit, and what waits at the FMA pipe for that.

    Measured on an H100 (queues.cu): one scheduler alone sends 64 bytes a cycle, so that it issues a load of a 64-bit
    address each 4 cycles, a store of 4 bytes each 6, and to shared memory, with 32-bit addresses, each 2 and each 4.
    """
    units = ops[:, L.O_UNIT]
    to_lsu = (ops[:, L.O_PIPE] == PIPES.index("lsu")) & (units >= Unit.QUEUED) & (units <= Unit.GLOBAL)
    wide = to_lsu & (units == Unit.GLOBAL) & (ops[:, L.O_KIND] != L.K_LOCAL)
    stored = (units != Unit.QUEUED) & (ops[:, L.O_LOADS] == 0)
    words = 1 + wide + np.where(stored, -(-ops[:, L.O_SIZE] // 4), 0)
    ops[:, L.O_OPERANDS] = np.where(to_lsu, words * round(numbers["operand_interval"]), 0)
    ops[:, L.O_KEEPS_FMA] = np.where(wide, round(numbers["address_stall"]), 0)


def _class_of(instruction: Instruction, number: int) -> int:
    """The class of an instruction that its opcode gives *number*: where a block is, the unit of constants knows."""
    is_block = instruction.op == "sreg" and SPECIAL_REGISTERS[instruction.imm].startswith("ctaid")
    return NUMBER["block_number"] if is_block else number


def _code(program: Program, instruction: Instruction) -> MachineCode:
    code = program.listing[instruction.line].code
    assert code is not None, "a listing of machine code has the code of each line"
    return code


def _modify(pc: int, code: MachineCode, numbers: Parameters, ops: npt.NDArray[np.int64]) -> None:
    """What the modifiers of an instruction change of its class."""
    words = set(code.modifiers)
    ops[pc, L.O_DEFERRED] = _DEFERS in words
    if code.opcode == "ATOMS" and "POPC" in words:
        ops[pc, L.O_KIND] = L.K_COUNT
    if code.opcode == "ATOMS" and words & {"CAS", "CAST"}:
        ops[pc, L.O_LATENCY] = round(numbers["shared_cas_latency"])
    elif code.opcode == "ATOMS" and not code.data:
        ops[pc, L.O_LATENCY] = round(numbers["shared_latency"])
    if code.opcode == "MEMBAR" and "CTA" in words:
        ops[pc, L.O_KIND] = L.K_FENCE_BLOCK
    strong = any(pair in _STRONG for pair in pairwise(code.modifiers))
    if ops[pc, L.O_KIND] == L.K_LOAD and (strong or words & _PAST_L1):
        ops[pc, L.O_KIND] = L.K_LOAD_SYSTEM if "SYS" in words else L.K_LOAD_L2


def _joined_from_elsewhere(program: Program) -> set[int]:
    """Micro-ops at which other control flow than that of the micro-op before may arrive."""
    return {i.imm for i in program.instructions if i.op in ("bra", "bssy")}


def _describe(
    program: Program, pc: int, number: int, high: bool, numbers: Parameters, ops: npt.NDArray[np.int64]
) -> None:
    row = CLASSES[number]
    ops[pc, L.O_CLASS] = number
    ops[pc, L.O_UNIT] = row.unit
    ops[pc, L.O_PIPE] = PIPES.index(row.pipe)
    if row.unit in (Unit.FIXED, Unit.QUEUED) and row.pipe != "none":
        ops[pc, L.O_LATENCY] = round(numbers[f"latency_{row.numbers}"])
        ops[pc, L.O_INTERVAL] = round(numbers[f"interval_{row.numbers}"])
    elif row.unit is Unit.FIXED:
        ops[pc, L.O_LATENCY] = 1
    elif row.unit in (Unit.SHARED, Unit.GLOBAL):  # the latter with addresses in shared memory
        atomic = row.name in ("shared_atomic", "atomic", "reduction")
        ops[pc, L.O_LATENCY] = round(numbers["shared_atomic_latency" if atomic else "shared_latency"])
    if row.name == "imad_wide":
        ops[pc, L.O_FREEZE] = round(numbers["high_stall" if high else "wide_stall"])
    if row.numbers == "fma" and numbers["interval_imad"] >= 2 * numbers["interval_fma"]:
        ops[pc, L.O_INTERVAL] *= 2  # each half of the pipe
    elif row.numbers == "fma":
        ops[pc, L.O_PIPE] = PIPES.index("fma_heavy")
    line = program.instructions[pc].line
    for at in range(pc, len(program.instructions)):
        i = program.instructions[at]
        if at > pc and (i.line != line or ops[at, L.O_ISSUES]):
            break
        if i.copies:
            ops[[pc, at], L.O_STAGES] = 1
        elif MICRO_OPS[i.op].family is Family.MEMORY and ops[pc, L.O_MEMORY_PC] < 0:
            ops[pc, L.O_MEMORY_PC] = at
            ops[pc, L.O_MEMORY_END] = at + 1
            ops[pc, L.O_SIZE] = _size(i)
            ops[pc, L.O_KIND] = _memory_kind(i, row.name)
            ops[pc, L.O_LOADS] = i.op == "ld.local"
            ops[pc, L.O_FLOAT] = i.op.startswith("atom") and ATOMIC_TYPES[i.mod & 15] not in _INTEGERS
        elif MICRO_OPS[i.op].family is Family.MEMORY:  # by a generic address: the same in another space
            ops[pc, L.O_MEMORY_END] = at + 1
            if i.op.endswith(".local"):
                ops[pc, L.O_LOCAL_PC] = at
        elif i.op == "sust":
            ops[pc, L.O_KIND] = L.K_STORE
        elif i.op == "nop" and i.mod == COMMIT:
            ops[pc, L.O_KIND] = L.K_COMMIT
        elif i.op == "nop" and i.mod == AWAIT:
            ops[pc, L.O_AWAITS] = 1 + i.imm
        elif i.op in ("bra", "brx"):
            ops[pc, L.O_KIND] = L.K_BRANCH
            if i.op == "brx" and _asks_register(program, i):
                ops[pc, L.O_SPREADS] = at
                ops[pc, L.O_INTERVAL] = round(numbers["branch_register_interval"])
        elif i.op in ("bsync", "warpsync", "bmov.get", "bmov.set") and ops[pc, L.O_KIND] == L.K_NONE:
            ops[pc, L.O_KIND] = L.K_RECONVERGE
            ops[pc, L.O_INTERVAL] = 0 if i.op == "warpsync" else round(numbers["reconvergence_interval"])


def _asks_register(program: Program, i: Instruction) -> bool:
    """Whether a jump goes to where a register says: CALL, BRX and RET since Volta, no collective region."""
    code = program.listing[i.line].code
    return code is not None and (code.opcode in ("CALL", "BRX") or (code.opcode == "RET" and bool(code.modifiers)))


def _memory_kind(i: Instruction, name: str) -> int:
    if i.op.endswith(".local"):
        return L.K_LOCAL
    if name == "reduction":
        return L.K_REDUCTION
    return {"ld": L.K_LOAD, "st": L.K_STORE}.get(i.op.partition(".")[0], L.K_ATOMIC)


def _size(i: Instruction) -> int:
    if i.op.startswith("atom"):
        return ATOMIC_BYTES[i.mod & 15]
    return next(size for number, size in MEMORY_TYPES.values() if number == i.mod)


def _control(
    program: Program, code: Sequence[MachineInstruction], numbers: Parameters, ops: npt.NDArray[np.int64]
) -> None:
    for pc, i in enumerate(program.instructions):
        bits = code[i.line].control
        if bits is None or not ops[pc, L.O_ISSUES]:
            continue
        _check_scoreboards(program, i, bits)
        ops[pc, L.O_YIELDS] = bits.yields and numbers["scheduler_policy"] == L.AHEAD_UNTIL_YIELD
        # A warp that yields issues two cycles later at the earliest.
        ops[pc, L.O_STALL] = max(bits.stall, 2) if ops[pc, L.O_YIELDS] else bits.stall
        ops[pc, L.O_WRITE_BARRIER] = -1 if bits.write_barrier is None else bits.write_barrier
        ops[pc, L.O_READ_BARRIER] = -1 if bits.read_barrier is None else bits.read_barrier
        ops[pc, L.O_WAIT_MASK] = bits.wait_mask


def _check_scoreboards(program: Program, i: Instruction, bits: ControlBits) -> None:
    """Raise LaunchError if control bits name a scoreboard that a warp does not have."""
    named = [board for board in (bits.write_barrier, bits.read_barrier) if board is not None]
    if max(named, default=0) >= L.SCOREBOARDS or bits.wait_mask >> L.SCOREBOARDS:
        raise LaunchError(
            f"invalid control bits: they name scoreboard {max(named, default=L.SCOREBOARDS)} of {L.SCOREBOARDS}",
            location=program.place(program.listing[i.line]),
            help="no compiler emits such code; the file or the listing is damaged",
        )


def _ports(
    program: Program, code: Sequence[MachineInstruction], numbers: Parameters, ops: npt.NDArray[np.int64]
) -> None:
    """Registers that instructions of fixed latency read, with and without what the one before keeps for them."""
    kept: Kept = {}
    since: dict[tuple[int, int], int] = {}
    number = 0
    targets = _joined_from_elsewhere(program)
    for pc, i in enumerate(program.instructions):
        if pc in targets:
            kept = {}
        if not ops[pc, L.O_ISSUES]:
            continue
        own = _code(program, i).sources
        if ops[pc, L.O_PIPE] in _REGISTER_PIPES:
            runs = passes(_code(program, i))
            ops[pc, [L.O_EVEN, L.O_ODD]] = reads(own, {}, runs)
            ops[pc, [L.O_EVEN_KEPT, L.O_ODD_KEPT]] = reads(own, kept, runs)
            used = [since[r % 2, k] for k, registers in enumerate(own) for r in registers if kept.get((r % 2, k)) == r]
            ops[pc, L.O_RESULT] = len(_code(program, i).results) > 0
            if ops[pc, L.O_CLASS] == NUMBER["half_matrix"]:
                ops[pc, L.O_WRITES_LATER] = round(numbers["latency_half_matrix"] - numbers["latency_fma"])
            ops[pc, L.O_KEPT] = number - min(used, default=number)
        bits = code[i.line].control
        kept = keep(own, 0 if bits is None else bits.reuse, kept)
        since.update({(r % 2, k): number for k, registers in enumerate(own) for r in registers})
        number += 1


def _fresh_operands(program: Program, numbers: Parameters, ops: npt.NDArray[np.int64]) -> None:
    """Lengthen the stall count before a wide multiply whose factors were computed just before it.

    Measured on an H200 with stall counts of 1 to 10 put in between: an IMAD.WIDE or IMAD.HI issues 7 cycles after the
    IADD3, VIADD, FFMA, HFMA2 or IMAD that computed a factor, 9 after an IMAD.HI, although the code says 4 to 6; the
    lower half of an IMAD.WIDE is there after 8 at the latest.  It does not wait for loads, nor for its addend.
    """
    computed: dict[int, int] = {}
    targets = _joined_from_elsewhere(program)
    now, before = 0, -1
    for pc in np.flatnonzero(ops[:-1, L.O_ISSUES]).tolist():
        if pc in targets:
            computed, before = {}, -1
        found = _code(program, program.instructions[pc])
        wide = ops[pc, L.O_CLASS] == NUMBER["imad_wide"]
        if wide and before >= 0:
            factors = [r for registers in found.sources[:2] for r in registers]
            there = max((computed[r] for r in factors if r in computed), default=now)
            ops[before, L.O_STALL] += max(there - now, 0)
            now = max(there, now)
        for r in found.results:
            computed.pop(r, None)
            if ops[pc, L.O_PIPE] in _REGISTER_PIPES:
                later = numbers["wide_stall"] if wide and "HI" in found.modifiers else 0
                computed[r] = now + round(numbers["wide_operand_latency"] + later)
        now += max(ops[pc, L.O_STALL], 1) + ops[pc, L.O_FREEZE]
        before = pc


def _defer(ops: npt.NDArray[np.int64]) -> None:
    """How far a warp runs on behind a barrier with deferred blocking: through what only computes in registers.

    Measured on an H200 by sampling program counters: arithmetic behind BAR.SYNC.DEFER_BLOCKING issues, and the first
    branch, memory or uniform instruction stalls for the barrier.
    """
    for pc in np.flatnonzero(ops[:, L.O_DEFERRED]):
        ops[pc, L.O_DEFERRED] = 0
        ops[pc, L.O_DEFERRED_STALL] = ops[pc, L.O_STALL]
        following = ops[pc, L.O_FALL]
        while following < len(ops) and ops[following, L.O_PIPE] in _REGISTER_PIPES:
            ops[pc, L.O_DEFERRED] += 1
            ops[pc, L.O_DEFERRED_MASK] |= ops[following, L.O_WAIT_MASK]
            ops[pc, L.O_DEFERRED_STALL] += ops[following, L.O_STALL]
            following = ops[following, L.O_FALL]


def _operands(program: Program, ops: npt.NDArray[np.int64], source: bool) -> tuple[npt.NDArray[np.int64], int]:
    """Scoreboard entries: register rows that change, then predicates.

    In the source view each micro-op has its own (moves hand on when a value is ready); in machine code an
    instruction has those of all its micro-ops.
    """
    constant = {uniform.row for uniform in program.uniforms} | {RZ}
    first_predicate = program.n_registers
    table: list[int] = []
    reads: list[set[int]] = []
    writes: list[set[int]] = []
    for i in program.instructions:
        read, written = _entries(i, constant, first_predicate)
        reads.append(read)
        writes.append(written)
    if not source:
        owner = -1
        for pc in range(len(program.instructions)):
            if ops[pc, L.O_ISSUES]:
                owner = pc
            elif owner >= 0:
                reads[owner] |= reads[pc] - writes[owner]
                writes[owner] |= writes[pc]
                reads[pc], writes[pc] = set(), set()
        used = set().union(*reads)
        writes = [written & used for written in writes]  # the others are temporaries, which instructions share
    for pc in range(len(program.instructions)):
        ops[pc, L.O_SOURCES] = len(table)
        table += sorted(reads[pc])
        ops[pc, L.O_SOURCES_END] = ops[pc, L.O_RESULTS] = len(table)
        table += sorted(writes[pc])
        ops[pc, L.O_RESULTS_END] = len(table)
    return np.array(table or [0], np.int64), first_predicate + program.n_predicates


def _entries(i: Instruction, constant: set[int], first_predicate: int) -> tuple[set[int], set[int]]:
    read: set[int] = set()
    written: set[int] = set()
    fields = (i.dst, i.a, i.b, i.c)
    for k, (letter, value) in enumerate(zip(MICRO_OPS[i.op].operands, fields, strict=True)):
        if letter == "r" and value not in constant:
            (written if k == 0 else read).add(value)
        elif letter == "p" and (value if k == 0 else value >> 1):
            (written if k == 0 else read).add(first_predicate + (value if k == 0 else value >> 1))
    if i.guard != PT:
        read.add(first_predicate + (i.guard >> 1))
    return read, written
