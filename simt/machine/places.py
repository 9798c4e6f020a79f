"""How messages name places: lines and instructions, threads, allocations."""

from __future__ import annotations

import numpy as np

from simt.check import Location, who_text
from simt.machine import layout
from simt.machine.prepared import Prepared
from simt.machine.registers import row_at
from simt.ops.encoding import SYSCALL
from simt.ops.scalar import lowest
from simt.program import RZ, Instruction, ListingLine, Program


def locate(prepared: Prepared, pc: int) -> Location:
    """Where micro-op *pc* stands in the user's code: the line, for machine code if the cubin knows it."""
    program = prepared.program
    instruction = program.instructions[pc]
    line = program.listing[instruction.line]
    if program.view != "source" and line.source is not None:
        return Location(*line.source, function=program.name)
    return program.place(line, instruction.column)


def row_of(prepared: Prepared, state: layout.State, column: np.uint64) -> int:
    """Where the row of an operand stands in the register file, for the micro-op and the warp that ERROR names."""
    pc, warp = int(state.ERROR[layout.E_PC]), int(state.ERROR[layout.E_WARP])
    own = warp * int(state.LAUNCH[layout.LAUNCH_REGISTERS]) * 32
    return int(row_at(int(prepared.encoded.code[pc, column]), own, int(state.LAUNCH[layout.LAUNCH_UNIFORM_END])))


def caller(prepared: Prepared, state: layout.State) -> int:
    """The micro-op that ERROR names; where that is a system call, the one before the address that it returns to."""
    pc = int(state.ERROR[layout.E_PC])
    instruction = prepared.program.instructions[pc]
    if instruction.op != SYSCALL or (instruction.b == RZ and instruction.c == RZ):
        return pc
    lane = lowest(int(state.ERROR[layout.E_MASK]))
    low, high = (int(state.R[row_of(prepared, state, column) + lane]) for column in (layout.C_B, layout.C_C))
    entry = (low | high << 32) - prepared.encoded.code_start >> 3
    targets = prepared.encoded.targets
    found = int(targets[entry]) if 0 <= entry < len(targets) else 0
    return found - 1 if found > 0 else pc


def _machine_text(line: ListingLine) -> str:
    return f"{line.number:#06x}  {line.text}"


def place_of(program: Program, pc: int) -> str:
    """The line or machine instruction of micro-op *pc*, in the words of a detail."""
    line = program.listing[program.instructions[pc].line]
    if program.view != "source":
        return _machine_text(line)
    return f"line {line.number}: {line.text.strip()}"


def coordinates(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """x, y and z of a block of a grid, or of a thread of a block, by its number."""
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def first_lane(mask: int) -> int:
    """The lowest lane of a mask; 0 of one without lanes."""
    return max((mask & -mask).bit_length() - 1, 0)


def where(prepared: Prepared, block: int, warp: int, mask: int) -> str:
    """The lanes of a warp of a block in words: :func:`simt.check.who_text`."""
    thread = coordinates(warp * 32 + first_lane(mask), prepared.launch.block)
    return who_text(coordinates(block, prepared.launch.grid), warp, mask, thread)


def access_text(instruction: Instruction) -> str:
    kind = instruction.op.split(".")[0]
    kinds = {"ld": "read", "st": "write", "atom": "atomic", "suld": "read", "sust": "write", "suatom": "atomic"}
    return kinds.get(kind, "access")


def with_article(instruction: Instruction) -> str:
    text = access_text(instruction)
    return f"an {text}" if text[0] == "a" else f"a {text}"
