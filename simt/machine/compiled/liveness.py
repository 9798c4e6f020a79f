"""Which register rows are read later: native code need not store the others.

Each lane goes its own way, so this is the liveness of one thread's registers; but rows of which micro-ops read other
lanes than those that execute (shuffles, votes, uniform results) stay alive everywhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.machine.encode import rows_of
from simt.ops.encoding import SYSCALL
from simt.ops.row import Effect, Family
from simt.ops.table import MICRO_OPS
from simt.program import Instruction, Program

Rows = int
"""A set of register rows: bit r stands for row r of the code table."""


def live_rows(program: Program) -> tuple[Rows, list[Rows]]:
    """The rows that may be read before they are written, and for each micro-op those that may be read after it."""
    code = program.encoded.code.tolist()
    reads = [_operands(one, code[pc], sources=True) for pc, one in enumerate(program.instructions)]
    kills = [_killed(one, code[pc]) for pc, one in enumerate(program.instructions)]
    everywhere = 0
    for one, rows in zip(program.instructions, reads, strict=True):
        row = MICRO_OPS[one.op]
        if one.uniform or row.effects & Effect.CROSSES_LANES or row.family in (Family.WARP, Family.CONTROL):
            everywhere |= rows
    leaders = _leaders(program)
    reads += [0, 0]
    kills += [0, 0]
    after = [everywhere] * len(leaders)
    before = [everywhere | rows for rows in reads]
    waits = [True] * len(leaders)
    while any(waits):
        for pc in reversed(range(len(leaders))):
            if waits[pc]:
                waits[pc] = False
                live = before[pc] = before[pc] | (after[pc] & ~kills[pc])
                for leader in leaders[pc]:
                    if live & ~after[leader]:
                        after[leader] |= live
                        waits[leader] = True
    return before[0], after[:-2]


def zeroed_rows(program: Program, first: Rows) -> npt.NDArray[np.int64]:
    """Register rows that a block finds zero, by offset: those of *first*, which may be read before they are written."""
    places = range(32 * len(program.encoded.uniform_rows), 32 * program.encoded.n_registers, 32)
    return np.array([row for row in places if first >> (row >> 5) & 1], np.int64)


def _leaders(program: Program) -> list[list[int]]:
    """For each micro-op, and the end of the code, those after which a lane may go on there.

    Behind the end stands one more: there go all indirect branches, and from there on to all their targets.
    """
    end = len(program.instructions)
    found: list[list[int]] = [[] for _ in range(end + 2)]
    for pc, one in enumerate(program.instructions):
        found[pc + 1].append(pc)
        if one.op == "bra":
            found[one.imm].append(pc)
        elif one.op == "brx":
            found[end + 1].append(pc)
    for target in program.addresses.values():
        found[target].append(end + 1)
    return found


def _operands(one: Instruction, code: list[int], sources: bool) -> Rows:
    """Rows of an instruction's sources, or of its destination."""
    letters = MICRO_OPS[one.op].operands
    rows = 0
    for k in range(1, 4) if sources else (0,):
        first = code[1 + k] >> 5
        if letters[k] == "r" and first:
            rows |= ((1 << rows_of(one, k)) - 1) << first
    return rows


def _killed(one: Instruction, code: list[int]) -> Rows:
    """Rows that a micro-op overwrites in all lanes that execute it."""
    if one.guard or one.op == SYSCALL or MICRO_OPS[one.op].family is Family.CONTROL:
        return 0
    return _operands(one, code, sources=False)
