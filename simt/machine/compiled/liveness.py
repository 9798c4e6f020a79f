"""Which register rows and predicates are read later: native code need not store the others.

Each lane goes its own way, so this is the liveness of one thread's registers; but rows and predicates of which
micro-ops read other lanes than those that execute (shuffles, votes, uniform results) stay alive everywhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.machine.encode import rows_of
from simt.ops.encoding import SYSCALL
from simt.ops.row import Effect, Family, Kind
from simt.ops.table import MICRO_OPS
from simt.program import Instruction, Program

Rows = int
"""A set of register rows and predicates: bit r stands for row r of the code table, the bits behind for predicates."""

FAR = 64
"""Micro-ops in a row among which it is looked for who writes, or overwrites, a result."""


def live_rows(program: Program) -> tuple[Rows, list[Rows]]:
    """The rows that may be read before they are written, and for each micro-op those that may be read after it."""
    code, predicates = program.encoded.code.tolist(), program.encoded.n_registers
    reads = [_read(one, code[pc], predicates) for pc, one in enumerate(program.instructions)]
    kills = _kills(program, code, reads, predicates)
    everywhere = 0
    leaders = _leaders(program)
    for pc, (one, rows) in enumerate(zip(program.instructions, reads, strict=True)):
        row = MICRO_OPS[one.op]
        alone = one.op == "bra" or row.family not in (Family.WARP, Family.CONTROL)
        if row.effects & Effect.CROSSES_LANES or not alone:
            everywhere |= rows
        elif one.uniform:
            everywhere |= rows & ~_whole(program, code, leaders, pc, predicates)
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


def _read(one: Instruction, code: list[int], predicates: int) -> Rows:
    """Rows and predicates that a micro-op reads; *predicates*: the bit of the first one."""
    rows = 1 << predicates + (one.guard >> 1)
    for k, letter in enumerate(MICRO_OPS[one.op].operands[1:], 1):
        value = code[1 + k]
        if letter == "p":
            rows |= 1 << predicates + (value >> 1)
        elif letter == "r" and value:
            rows |= ((1 << rows_of(one, k)) - 1) << (value >> 5)
    return rows


def _whole(program: Program, code: list[list[int]], leaders: list[list[int]], pc: int, predicates: int) -> Rows:
    """The rows and predicates that a uniform micro-op just before *pc* has written, in all lanes."""
    found = written = 0
    for before in range(pc - 1, max(pc - 1 - FAR, -1), -1):
        one = program.instructions[before]
        if MICRO_OPS[one.op].family is Family.CONTROL or leaders[before + 1] != [before]:
            break
        rows = _written(one, code[before], predicates) & ~written
        written |= rows
        if one.uniform and not one.guard and MICRO_OPS[one.op].kind is not Kind.MEMORY:
            found |= rows
    return found


def _kills(program: Program, code: list[list[int]], reads: list[Rows], predicates: int) -> list[Rows]:
    """For each micro-op the rows and predicates of which nobody reads later what they were before.

    It overwrites them in all lanes that execute it; or under a guard, and up to where they are overwritten for the
    others, too, they are read under the same guard only, as the temporary rows of a guarded instruction are.
    """
    kills = [0] * len(reads)
    for pc in reversed(range(len(reads))):
        one = program.instructions[pc]
        written = _written(one, code[pc], predicates)
        if not one.guard or not written:
            kills[pc] = written
            continue
        guard = 1 << predicates + (one.guard >> 1)
        for later in range(pc + 1, min(pc + 1 + FAR, len(reads))):
            other = program.instructions[later]
            # Those across lanes may write a predicate that is none of their operands.
            changes = guard & _written(other, code[later], predicates)
            leads_on = MICRO_OPS[other.op].family not in (Family.CONTROL, Family.WARP) and not changes
            if not leads_on or (written & reads[later] and other.guard != one.guard):
                break
            if written & ~kills[later] == 0:
                kills[pc] = written
                break
    return kills


def _written(one: Instruction, code: list[int], predicates: int) -> Rows:
    """Rows or the predicate that a micro-op overwrites in all lanes that execute it."""
    row, to = MICRO_OPS[one.op], code[1]
    if one.op == SYSCALL or row.family is Family.CONTROL or not to:
        return 0
    if row.operands[0] == "p":
        return 1 << predicates + to
    return ((1 << rows_of(one, 0)) - 1) << (to >> 5) if row.operands[0] == "r" else 0
