"""What may be executed before its time: what an SM does ahead of others, and a warp ahead of its issues."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.machine.compiled.control import PASSED
from simt.ops.encoding import CLOCKS, SPECIAL_REGISTERS, SYSCALL
from simt.ops.table import MICRO_OPS, Kind
from simt.program import Instruction, Program
from simt.timing import layout as L

_ORDERED = frozenset(("atom.global", "atom.generic", "suatom", SYSCALL))
"""Micro-ops whose results or effects depend on their order among all SMs."""
_IN_RUNS = PASSED | {"bra", "bssy"}
"""Micro-ops of control that may be part of a run, most of them at its end."""


def note_turns(program: Program, ops: npt.NDArray[np.int64]) -> None:
    """Which instructions wait for their SM's turn, themselves or for micro-ops up to the next that issues.

    What they do depends on when other SMs do the same: atomics, accesses that are strong for more than the block,
    system calls.
    """
    following = False
    for pc in range(len(program.instructions) - 1, -1, -1):
        i = program.instructions[pc]
        ordered = i.op in _ORDERED or (MICRO_OPS[i.op].kind is Kind.MEMORY and _is_strong(program, i))
        ops[pc, L.O_IN_TURN] = following or ordered
        following = bool(ops[pc, L.O_IN_TURN]) and not ops[pc, L.O_ISSUES]


def _is_strong(program: Program, i: Instruction) -> bool:
    code = program.listing[i.line].code
    words = set(code.modifiers) if code is not None else set()
    return "STRONG" in words and not words & {"CTA", "SM"}


def note_stretches(program: Program, ops: npt.NDArray[np.int64]) -> None:
    """How far the engine may execute at once: what neither time nor other warps matter to.

    That is what only computes, and what notes who takes part in a convergence barrier.  An access to memory, which is
    executed when it issues, may begin it, and a branch may end it.
    """
    instructions = program.instructions
    computes = [_only_computes(i) for i in instructions]
    accesses = [MICRO_OPS[i.op].kind is Kind.MEMORY and not i.copies for i in instructions]
    early = np.zeros(len(ops), np.bool_)
    for pc in np.flatnonzero(ops[: len(instructions), L.O_ISSUES])[::-1]:
        end = pc + ops[pc, L.O_GROUP]
        last = instructions[end - 1].op
        ops[pc, L.O_JUMPS] = last == "bra" and all(computes[pc : end - 1])
        early[pc] = all(computes[pc : end - 1]) and (computes[end - 1] or last in ("bra", "bssy"))
        goes_on = early[end] and not ops[pc, L.O_JUMPS]
        if early[pc] or (goes_on and all(computes[each] or accesses[each] for each in range(pc, end))):
            ops[pc, L.O_STRETCH] = ops[pc, L.O_GROUP]
            if goes_on:
                ops[pc, L.O_STRETCH] += ops[end, L.O_STRETCH]
                ops[pc, L.O_BEHIND] = ops[end, L.O_BEHIND] + 1


def runs(program: Program, ops: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """What is executed in one go when a warp comes to an instruction: its first micro-op, and one past the last.

    Of the instructions that a warp may so come to, those that compute, access memory, jump, or mostly pass: a
    convergence barrier, say.
    """
    table = ops.reshape(-1, L.N_OP)
    instructions = program.instructions
    if not table[:, L.O_STRETCH].any():
        return ()
    found = {}
    ahead = [0, *(i.imm for i in instructions if i.op == "bra")]
    ahead += [pc + 1 for pc, i in enumerate(instructions) if MICRO_OPS[i.op].kind is Kind.CONTROL]
    seen = set()
    while ahead:
        first = ahead.pop()
        if first >= len(instructions) or first in seen:
            continue
        seen.add(first)
        end = first + int(table[first, L.O_STRETCH] or table[first, L.O_GROUP])
        ahead.append(end)
        if table[first, L.O_ISSUES] and all(_may_run(i) for i in instructions[first:end]):
            found[first] = end
    return tuple(sorted(found.items()))


def _may_run(i: Instruction) -> bool:
    """Whether a micro-op may be part of a run."""
    accesses = MICRO_OPS[i.op].kind is Kind.MEMORY and not i.copies
    return _only_computes(i) or accesses or i.op in _IN_RUNS


def _only_computes(i: Instruction) -> bool:
    """Whether a micro-op depends on nothing but the registers of its warp and what is the same all the time."""
    if i.op == "sreg":
        return SPECIAL_REGISTERS[i.imm] not in CLOCKS
    return MICRO_OPS[i.op].kind in (Kind.ROW, Kind.MASK, Kind.ELEMENT)
