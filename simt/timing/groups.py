"""Which micro-ops take an issue slot, and which run in one go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simt.ops.table import MICRO_OPS, Family
from simt.program import PT, Instruction, Program
from simt.timing import layout as L

SOURCE_VIEW = "source"
_CONTROL_FLOW = frozenset(name for name, op in MICRO_OPS.items() if op.family is Family.CONTROL and name != "nop")


def issues_of(program: Program) -> npt.NDArray[np.bool_]:
    """Which micro-ops take an issue slot: in the source view those that retire, else the first of each instruction.

    A line of machine code may have several copies in a row (one per token stack on Pascal): a new copy starts at the
    target of a jump, or behind one, after the copy before has retired.
    """
    instructions = program.instructions
    if program.view == SOURCE_VIEW:
        return np.array([i.retires for i in instructions], np.bool_)
    targets = {i.imm for i in instructions if i.op == "bra"}
    found = np.zeros(len(instructions), np.bool_)
    retired = True
    for pc, i in enumerate(instructions):
        before = instructions[pc - 1] if pc else None
        new_line = before is None or before.line != i.line
        new_copy = retired and before is not None and (pc in targets or _leaves(before))
        if (new_line or new_copy) and any(_until_next(instructions, pc)):
            found[pc] = True
            retired = False
        retired |= i.retires
    return found


def _leaves(i: Instruction) -> bool:
    return i.op in ("bra", "exit", "brx") and i.guard == PT and i.a == PT


def _until_next(instructions: Sequence[Instruction], pc: int) -> list[bool]:
    """Whether the micro-ops of one line from *pc* on retire (stubs of the token stack never do)."""
    line = instructions[pc].line
    found = []
    for i in instructions[pc:]:
        if i.line != line:
            break
        found.append(i.retires)
    return found


def groups(program: Program, ops: npt.NDArray[np.int64]) -> None:
    """Micro-ops that run in one go: up to the next that issues, or through the next control flow.

    A copy to shared memory is two accesses: the first one is looked at before the second.
    """
    instructions = program.instructions
    for pc in range(len(instructions) - 1, -1, -1):
        last = pc + 1 == len(instructions) or ops[pc + 1, L.O_ISSUES] or instructions[pc].op in _CONTROL_FLOW
        last = last or instructions[pc + 1].copies
        ops[pc, L.O_GROUP] = 1 if last else ops[pc + 1, L.O_GROUP] + 1
    for pc in range(len(instructions)):
        if ops[pc, L.O_ISSUES]:
            ops[pc, L.O_FALL] = _fall(instructions, ops, pc)


def _fall(instructions: Sequence[Instruction], ops: npt.NDArray[np.int64], pc: int) -> int:
    """The micro-op that issues next if no conditional branch is taken."""
    at = pc + 1
    for _ in range(len(instructions)):
        if at >= len(instructions) or ops[at, L.O_ISSUES]:
            return at
        following = instructions[at]
        at = following.imm if following.op == "bra" and following.a == PT and following.guard == PT else at + 1
    return at
