"""When a warp may issue its next instruction: stall counts, scoreboards, operands and the fetch of instructions."""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.codes import BARRIER, FETCHING, FIXED, GLOBAL, LONG, SHARED, STALLED_BARRIER, UNIFORM, WAIT
from simt.timing.cycles import ceil
from simt.timing.gates import KEEPS, TO_LSU
from simt.timing.jit import jit, jit_inline

MISS_LATENCY = L.PLACE["instruction_miss_latency"]
PREFETCH = L.PLACE["instruction_prefetch_lines"]
POLICY = L.PLACE["scheduler_policy"]
WARP_QUEUE = L.PLACE["warp_queue"]

AHEAD = np.int64(1) << 60
"""What warps that have not yielded are ahead by; ages are below 2^60."""


@jit
def _fetch(sm, before, line, now, CONFIG, NUMBERS, FETCHED):
    """When a line of instructions is there; the first warp of the SM that wants it waits, the next lines follow.

    *before*: the line that the warp wanted last.
    """
    base = sm * CONFIG[L.G_LINES]
    if FETCHED[base + line] < 0:
        FETCHED[base + line] = now + np.int64(NUMBERS[MISS_LATENCY])
    elif before == line:  # what it would prefetch is on its way
        return FETCHED[base + line]
    for k in range(line + 1, min(line + 1 + np.int64(NUMBERS[PREFETCH]), CONFIG[L.G_LINES])):
        if FETCHED[base + k] < 0:
            FETCHED[base + k] = FETCHED[base + line] + (k - line)
    return FETCHED[base + line]


@jit_inline
def _stand_in_line(member, at, row, t):
    """What a scheduler is to know of the instruction at *row*, next of the warp at *at*, when it selects one."""
    OPS = t.OPS
    WARPS = t.WARPS
    policy = np.int64(t.NUMBERS[POLICY])
    asks = OPS[row + L.O_ASKS]
    unit = OPS[row + L.O_UNIT]
    loads = OPS[row + L.O_LOADS] != 0
    key = np.int64(0)
    ahead = policy == L.AHEAD_UNTIL_YIELD and not WARPS[at + L.W_YIELDS] and not (loads and unit == SHARED)
    by_age = unit == BARRIER if ahead else loads or unit != GLOBAL
    if policy == L.OLDEST:
        key = WARPS[at + L.W_AGE]
    elif policy >= L.OLDEST_BLOCK and by_age:
        key = WARPS[at + L.W_BLOCK_AGE] << L.KEY_AGE
    if ahead:
        key -= AHEAD
    if ahead or policy == L.OLDEST:
        asks |= KEEPS
    t.ASKS[member] = asks
    t.KEYS[member] = key
    t.OWN_FREE[member] = 0
    if asks & TO_LSU:
        t.OWN_FREE[member] = WARPS[at + L.W_SHARED_FREE] - np.int64(t.NUMBERS[WARP_QUEUE])


@jit
def awaits(wi, sm, pc, now, t):
    """Set when the instruction at *pc*, next of warp *wi*, may issue: not before READY, its operands, its fetch."""
    CONFIG = t.CONFIG
    OPS = t.OPS
    WARPS = t.WARPS
    BOARDS = t.BOARDS
    REGISTERS = t.REGISTERS
    row = pc * L.N_OP
    at = wi * L.N_WARP
    member = WARPS[at + L.W_MEMBER]
    ready = t.READY[member]
    reason = WARPS[at + L.W_REASON]
    if CONFIG[L.G_CONTROL]:
        mask = OPS[row + L.O_WAIT_MASK]
        board = 0
        while mask:
            if mask & 1:
                k = (wi * L.SCOREBOARDS + board) * 2
                if BOARDS[k] > ready:
                    ready = BOARDS[k]
                    reason = BOARDS[k + 1]
            mask >>= 1
            board += 1
        groups = OPS[row + L.O_AWAITS]
        commits = WARPS[at + L.W_COMMITS]
        if 0 < groups <= commits and groups <= L.GROUPS:
            there = t.COMMITTED[wi * L.GROUPS + (commits - groups) % L.GROUPS]
            if there > ready:
                ready = there
                reason = np.int64(LONG)
    else:
        for i in range(OPS[row + L.O_SOURCES], OPS[row + L.O_RESULTS_END]):
            k = (wi * CONFIG[L.G_REGISTERS] + t.OPERANDS[i]) * 2
            if REGISTERS[k] > ready:
                ready = REGISTERS[k]
                reason = REGISTERS[k + 1]
    unit = OPS[row + L.O_UNIT]
    if WARPS[at + L.W_HOLD] > ready and (unit != FIXED or OPS[row + L.O_PIPE] == UNIFORM):
        ready = WARPS[at + L.W_HOLD]
        reason = STALLED_BARRIER
    line = OPS[row + L.O_LINE]
    before = OPS[WARPS[at + L.W_PC] * L.N_OP + L.O_LINE]
    there = _fetch(sm, before, line, now, CONFIG, t.NUMBERS, t.FETCHED)
    if line == WARPS[at + L.W_NEXT_LINE]:
        there = max(there, WARPS[at + L.W_NEXT_LINE_AT])
    if there > ready:
        ready = there
        reason = FETCHING
    t.READY[member] = ready
    WARPS[at + L.W_REASON] = reason
    WARPS[at + L.W_PC] = pc
    t.PASSED[member] = 0
    _stand_in_line(member, at, row, t)


@jit
def hand_on(wi, first, end, CONFIG, OPS, OPERANDS, REGISTERS):
    """Micro-ops without an issue slot: their results are ready when their sources are."""
    for pc in range(first, end):
        row = pc * L.N_OP
        when = np.int64(0)
        why = WAIT
        for i in range(OPS[row + L.O_SOURCES], OPS[row + L.O_SOURCES_END]):
            k = (wi * CONFIG[L.G_REGISTERS] + OPERANDS[i]) * 2
            if REGISTERS[k] > when:
                when = REGISTERS[k]
                why = REGISTERS[k + 1]
        for i in range(OPS[row + L.O_RESULTS], OPS[row + L.O_RESULTS_END]):
            k = (wi * CONFIG[L.G_REGISTERS] + OPERANDS[i]) * 2
            REGISTERS[k] = when
            REGISTERS[k + 1] = why


@jit_inline
def _signal(wi, board, when, why, BOARDS):
    """A scoreboard (-1: none) is released at *when*, unless something else holds it for longer."""
    if board >= 0:
        k = (wi * L.SCOREBOARDS + board) * 2
        if ceil(when) > BOARDS[k]:
            BOARDS[k] = ceil(when)
            BOARDS[k + 1] = why


@jit
def note_results(wi, pc, now, done, why, read, CONFIG, OPS, OPERANDS, BOARDS, REGISTERS):
    """Scoreboards of the instruction that issued: control bits, or its result registers."""
    row = pc * L.N_OP
    if CONFIG[L.G_CONTROL]:
        _signal(wi, OPS[row + L.O_WRITE_BARRIER], done, why, BOARDS)
        _signal(wi, OPS[row + L.O_READ_BARRIER], read, why, BOARDS)
    else:
        for i in range(OPS[row + L.O_RESULTS], OPS[row + L.O_RESULTS_END]):
            k = (wi * CONFIG[L.G_REGISTERS] + OPERANDS[i]) * 2
            REGISTERS[k] = ceil(done)
            REGISTERS[k + 1] = why
        hand_on(wi, pc + 1, pc + OPS[row + L.O_GROUP], CONFIG, OPS, OPERANDS, REGISTERS)
