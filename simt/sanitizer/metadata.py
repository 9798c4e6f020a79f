"""What the judges know of each micro-op of a Program."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.machine.rows import reads, writes
from simt.ops.encoding import ATOMICS, AWAIT, COMMIT, FENCE, MEMORY_TYPES
from simt.program import PT, RZ, Instruction, Program
from simt.sanitizer import layout as Z

_SHUFFLES = {
    "shfl.idx": Z.SHUFFLE_IDX,
    "shfl.up": Z.SHUFFLE_UP,
    "shfl.down": Z.SHUFFLE_DOWN,
    "shfl.bfly": Z.SHUFFLE_BFLY,
}
_SIZES = dict(MEMORY_TYPES.values())
_SMALL = ("ld.global", "ld.shared", "ld.generic", "st.global", "st.shared", "st.generic")


def compares_lanes(program: Program) -> bool:
    """Whether the code has an order of the lanes of a warp: since Volta, where lanes no longer run in step."""
    return program.view == "source" or int(program.view.removeprefix("sm_")) >= _VOLTA


_VOLTA = 70


def _left_out(program: Program) -> list[int]:
    """Micro-ops in whose place there was a warp barrier.

    Where ptxas proves that the lanes of a ``__syncwarp`` are together it leaves a NOP (ptxas 13.0, sm_75 to sm_120: one
    for each), which has no other use before the end of the code.
    """
    if program.view == "source" or not compares_lanes(program):
        return []
    return [
        pc
        for pc, instruction in enumerate(program.instructions)
        if instruction.op == "nop" and program.listing[instruction.line].text.strip(" ;") == "NOP"
    ]


def _rejoins(program: Program) -> list[int]:
    """Warp barriers of all lanes: ptxas puts some in where lanes must be together, whoever has exited."""
    return [
        pc
        for pc, instruction in enumerate(program.instructions)
        if instruction.op == "warpsync" and program.listing[instruction.line].text.strip(" ;") == "WARPSYNC.ALL"
    ]


def _guesses(program: Program) -> list[int]:
    """Loads whose value a compare-and-swap compares with: if another thread writes between the two, it tries again.

    Loops that make an atomic of one begin so (CUDA C++ Programming Guide, "Atomic Functions"; what ptxas makes of
    adding halves, or doubles in shared memory).
    """
    code, found = program.instructions, set[int]()
    for at, swap in enumerate(code):
        if not swap.op.startswith("atom.") or swap.mod >> 4 != _SWAP:
            continue
        wanted = {swap.c}
        for pc in range(at - 1, max(at - _NEAR, -1), -1):
            sets = wanted.intersection(writes(code[pc], program.n_registers))
            if not sets:
                continue
            if code[pc].guard == PT:
                wanted -= sets
            if code[pc].op.startswith("ld."):
                found.add(pc)
            elif code[pc].op in _COPIES:
                wanted.update(reads(code[pc], program.n_registers))
    return sorted(found)


_SWAP = ATOMICS.index("cas")
_COPIES = ("mov", "pack.b64", "high.b64", "cvt.s32", "cvt.u32")
"""Micro-ops that pass a value on, or halves of it."""
_NEAR = 64
"""Micro-ops between the two at most: the operation, conversions, and what was scheduled among them."""


def _kind(instruction: Instruction) -> int:
    op = instruction.op
    if op.startswith("bar."):
        return Z.ARRIVES if op == "bar.arrive" else Z.BARRIER
    if op == "nop":
        return {FENCE: Z.FENCE, COMMIT: Z.COMMITS, AWAIT: Z.AWAITS | instruction.imm << Z.LEFT_SHIFT}.get(
            instruction.mod, Z.NOTHING
        )
    if op.startswith(("vote.", "match.", "redux.")) or op == "ballot":
        return Z.TOGETHER
    return {"warpsync": Z.WARP_BARRIER, "exit": Z.EXIT, **_SHUFFLES}.get(op, Z.NOTHING)


def marks(instruction: Instruction, text: str) -> int:
    """Bits of M_KIND: what kind of access it is, by its *text* in the listing."""
    marks = Z.IS_STRONG * instruction.strong
    if (instruction.strong or instruction.op.startswith("atom.")) and _OF_BLOCK in text:
        marks |= Z.IS_NARROW
    if instruction.op == "st.shared" and instruction.copies:
        marks |= Z.IS_COPY
    elif instruction.op == "bulk.generic":
        marks |= Z.IS_BULK
    elif instruction.op == "state.shared":
        marks |= Z.ASKS_PHASE
    elif instruction.op == "arrive.shared":
        marks |= Z.IS_ARRIVAL | Z.TAKES_COPIES * ("ARRIVES." in text) | Z.TAKES_BULK * ("UBLKCP" in text)
    return marks


_OF_BLOCK = ".STRONG.SM "
"""In the text of an atomic access that is one for the threads of its block only."""


def metadata(program: Program) -> npt.NDArray[np.int64]:
    """A row for each micro-op: int64 [micro-ops, N_META]."""
    table = np.full((len(program.instructions), Z.N_META), -1, np.int64)
    places: dict[object, int] = {}
    for pc, instruction in enumerate(program.instructions):
        line = program.listing[instruction.line]
        place = line.source if line.source is not None else instruction.line
        table[pc, Z.M_KIND] = _kind(instruction) | marks(instruction, line.text)
        table[pc, Z.M_LINE] = places.setdefault(place, len(places))
        table[pc, Z.M_EXITS] = 0
    table[_left_out(program), Z.M_KIND] = Z.LEFT_OUT
    table[_rejoins(program), Z.M_KIND] = Z.REJOINS
    table[_guesses(program), Z.M_KIND] |= Z.IS_GUESS
    exits = {pc: 1 << n for n, pc in enumerate(_where(program, "exit")[:_MOST_EXITS])}
    for pc, bit in exits.items():
        table[pc, Z.M_EXITS] = bit
    for pc in _where(program, "bar."):
        table[pc, Z.M_EXITS] = sum(exits.get(other, 0) for other in _reached(program, pc))
    return table


_MOST_EXITS = 62
"""Exits that are told apart; threads that leave at others are not missed at barriers."""


def _where(program: Program, op: str) -> list[int]:
    return [pc for pc, instruction in enumerate(program.instructions) if instruction.op.startswith(op)]


def _reached(program: Program, start: int) -> set[int]:
    """Micro-ops that a thread may come to after *start*; indirect branches are taken to lead nowhere."""
    code, seen, waiting = program.instructions, set[int](), [start + 1]
    while waiting:
        pc = waiting.pop()
        if pc in seen or pc >= len(code):
            continue
        seen.add(pc)
        instruction = code[pc]
        always = instruction.guard == PT and instruction.a == PT
        if instruction.op == "bra":
            waiting += [instruction.imm] if always else [instruction.imm, pc + 1]
        elif instruction.op not in ("exit", "brx", "trap") or instruction.guard != PT:
            waiting.append(pc + 1)
    return seen


def has_copies(program: Program) -> bool:
    """Whether it copies to shared memory asynchronously."""
    return any(each.copies or each.op == "bulk.generic" for each in program.instructions)


def granule(program: Program) -> int:
    """log2 of the smallest access to global or shared memory, in bytes: the unit of what racecheck remembers."""
    sizes = [_SIZES[each.mod] for each in program.instructions if each.op.startswith(_SMALL)]
    return min([4, *sizes]).bit_length() - 1


def has_partial_barriers(program: Program) -> bool:
    """Whether there is a block barrier for some threads of the block."""
    barriers = [each for each in program.instructions if each.op.startswith("bar.")]
    return any(each.op == "bar.arrive" or each.b != RZ for each in barriers)


def is_fenced(program: Program) -> bool:
    """Whether threads can publish what they wrote: the program has a memory fence."""
    return any(_kind(instruction) == Z.FENCE for instruction in program.instructions)
