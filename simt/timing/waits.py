"""When a warp may issue its next instruction: stall counts, scoreboards, operands and the fetch of instructions."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import lowest
from simt.timing import layout as L
from simt.timing.codes import CONST, FETCHING, FIXED, IMC_MISS, LONG, STALLED_BARRIER, UNIFORM, WAIT
from simt.timing.cycles import ceil
from simt.timing.gates import BY_AGE, BYTE, GOES_AHEAD, IS_AHEAD, IS_KEYED
from simt.timing.jit import jit, jit_inline

MISS_LATENCY = L.PLACE["instruction_miss_latency"]
PREFETCH = L.PLACE["instruction_prefetch_lines"]
CONSTANT_LATENCY = L.PLACE["constant_latency"]
CONSTANT_LOAD = L.PLACE["constant_load_latency"]
DRAM_LATENCY = L.PLACE["dram_latency"]

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
def scheduler_of(wi, sm, CONFIG):
    """The scheduler of warp *wi* of an SM, among those of all SMs, which take turns at places of warps (arrays.py)."""
    return sm * CONFIG[L.G_SCHEDULERS] + wi % CONFIG[L.G_SCHEDULERS]


@jit
def constant_at(sm, q, row, now, t):
    """When the constant is there that the instruction at *row* wants at *now*.

    *q*: the scheduler whose instructions have constants as operands; -1: LDC, which has a cache of the SM.  Each
    cache fetches a line for itself from that of the GPC, where other SMs want the same at the same time (constants.cu).
    """
    CONSTANTS = t.CONSTANTS
    cache = q if q >= 0 else t.CONFIG[L.G_SMS] * t.CONFIG[L.G_SCHEDULERS] + sm
    at = (cache * t.CONFIG[L.G_CONSTANTS] + t.OPS[row + L.O_CONSTANT] - 1) * L.N_CONSTANT
    if CONSTANTS[at + L.U_ASKED] == L.NEVER:
        begin = np.int64(now)
        if t.OPS[row + L.O_VARIABLE]:
            far = sm * t.CONFIG[L.G_VARIABLES] + t.OPS[row + L.O_VARIABLE] - 1
            t.VARIABLES[far] = min(t.VARIABLES[far], now + np.int64(t.NUMBERS[DRAM_LATENCY]))
            begin = max(begin, t.VARIABLES[far])
        latency = t.NUMBERS[CONSTANT_LATENCY] + (t.NUMBERS[CONSTANT_LOAD] if q >= 0 else 0.0)
        CONSTANTS[at + L.U_THERE] = begin + np.int64(latency)
        CONSTANTS[at + L.U_ASKED] = now
    elif now < CONSTANTS[at + L.U_ASKED]:  # who wants it later was looked at before
        CONSTANTS[at + L.U_THERE] -= CONSTANTS[at + L.U_ASKED] - now
        CONSTANTS[at + L.U_ASKED] = now
    return max(now, CONSTANTS[at + L.U_THERE])


@jit_inline
def _stand_in_line(member, at, row, t):
    """What a scheduler is to know of the instruction at *row*, next of the warp at *at*, when it selects one."""
    WARPS = t.WARPS
    asks = t.OPS[row + L.O_ASKS + WARPS[at + L.W_YIELDS]]
    key = WARPS[at + L.W_KEY] if asks & BY_AGE else np.int64(0)
    group = WARPS[at + L.W_GROUP]
    bit = WARPS[at + L.W_BIT]
    t.STANDING[group + (t.ASKS[member] & BYTE)] &= ~bit
    t.STANDING[group + (asks & BYTE)] |= bit
    t.STANDING[group + IS_AHEAD] = (t.STANDING[group + IS_AHEAD] & ~bit) | (bit if asks & GOES_AHEAD else 0)
    t.STANDING[group + IS_KEYED] = (t.STANDING[group + IS_KEYED] & ~bit) | (bit if key else 0)
    t.ASKS[member] = asks
    t.KEYS[member] = key - (AHEAD if asks & GOES_AHEAD else 0)


@jit_inline
def is_awaited(wi, board, WARPS):
    """Whether L2 has not answered all requests that a scoreboard waits for."""
    return (WARPS[wi * L.N_WARP + L.W_AWAITED] >> (board * L.AWAITED_BITS)) & ((1 << L.AWAITED_BITS) - 1) != 0


@jit_inline
def _behind_barrier(wi, t):
    """When a warp is through with what it may run on with behind a barrier, PENDING: that is not known yet."""
    pc = t.WARPS[wi * L.N_WARP + L.W_HELD] - 1
    mask = t.OPS[pc * L.N_OP + L.O_DEFERRED_MASK]
    begin = np.int64(0)
    for board in range(L.SCOREBOARDS):
        if (mask >> board) & 1:
            begin = max(begin, t.BOARDS[(wi * L.SCOREBOARDS + board) * 2])
            if is_awaited(wi, board, t.WARPS):
                begin = np.int64(L.PENDING)
    return begin + t.OPS[pc * L.N_OP + L.O_DEFERRED_STALL]


@jit_inline
def _ready(wi, sm, base, reason, there, t):
    """When the next instruction of warp *wi* may issue, and why not before: not before *base*, its operands, *there*.

    PENDING and more: that is not known yet.
    """
    CONFIG = t.CONFIG
    OPS = t.OPS
    WARPS = t.WARPS
    BOARDS = t.BOARDS
    REGISTERS = t.REGISTERS
    at = wi * L.N_WARP
    row = WARPS[at + L.W_PC] * L.N_OP
    ready = base
    if WARPS[at + L.W_HELD]:
        ready = max(ready, _behind_barrier(wi, t))
    if CONFIG[L.G_CONTROL]:
        mask = OPS[row + L.O_WAIT_MASK]
        while mask:
            board = lowest(mask)
            k = (wi * L.SCOREBOARDS + board) * 2
            if BOARDS[k] > ready:
                ready = BOARDS[k]
                reason = BOARDS[k + 1]
            if is_awaited(wi, board, WARPS):
                ready = np.int64(L.PENDING)
            mask &= mask - 1
        groups = OPS[row + L.O_AWAITS]
        commits = WARPS[at + L.W_COMMITS]
        if 0 < groups <= commits and groups <= L.GROUPS:
            copied = t.COMMITTED[wi * L.GROUPS + (commits - groups) % L.GROUPS]
            if copied > ready:
                ready = copied
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
    if there > ready:
        ready = there
        reason = FETCHING
    if OPS[row + L.O_CONSTANT] and OPS[row + L.O_PIPE] != CONST and ready < L.PENDING:
        fetched = constant_at(sm, scheduler_of(wi, sm, CONFIG), row, ready, t)
        if fetched > ready:
            ready = fetched
            reason = IMC_MISS
    return ready, reason


@jit
def awaits(wi, sm, pc, now, t):
    """Set when the instruction at *pc*, next of warp *wi*, may issue: not before READY, its operands, its fetch.

    What L2 has not answered it waits for without a time: :func:`settle`.
    """
    OPS = t.OPS
    WARPS = t.WARPS
    row = pc * L.N_OP
    at = wi * L.N_WARP
    member = WARPS[at + L.W_MEMBER]
    base = t.READY[member]
    line = OPS[row + L.O_LINE]
    before = OPS[WARPS[at + L.W_PC] * L.N_OP + L.O_LINE]
    there = _fetch(sm, before, line, now, t.CONFIG, t.NUMBERS, t.FETCHED)
    if line == WARPS[at + L.W_NEXT_LINE]:
        there = max(there, WARPS[at + L.W_NEXT_LINE_AT])
    WARPS[at + L.W_PC] = pc
    ready, reason = _ready(wi, sm, base, WARPS[at + L.W_REASON], there, t)
    unsettled = ready >= L.PENDING or WARPS[at + L.W_FENCE] != 0
    WARPS[at + L.W_UNSETTLED] = unsettled
    if unsettled:
        WARPS[at + L.W_BASE] = base
        WARPS[at + L.W_BASE_REASON] = WARPS[at + L.W_REASON]
        WARPS[at + L.W_THERE] = there
        ready = np.int64(L.NEVER)
    else:
        WARPS[at + L.W_HELD] = 0
    t.READY[member] = ready
    WARPS[at + L.W_REASON] = reason
    t.PASSED[member] = 0
    _stand_in_line(member, at, row, t)


@jit
def settle(wi, sm, t):
    """Set when a warp that waits for answers of L2 may issue, if it is known; returns when to look at its scheduler."""
    WARPS = t.WARPS
    at = wi * L.N_WARP
    ready, reason = _ready(wi, sm, WARPS[at + L.W_BASE], WARPS[at + L.W_BASE_REASON], WARPS[at + L.W_THERE], t)
    if ready >= L.PENDING or WARPS[at + L.W_FENCE]:
        return np.int64(L.NEVER)
    ready = max(ready, WARPS[at + L.W_RESOLVED])  # its scheduler stood still meanwhile
    WARPS[at + L.W_UNSETTLED] = 0
    WARPS[at + L.W_HELD] = 0
    WARPS[at + L.W_REASON] = reason
    t.READY[WARPS[at + L.W_MEMBER]] = ready
    q = scheduler_of(wi, sm, t.CONFIG) * L.N_SCHEDULER
    t.SCHEDULERS[q + L.Q_NEXT] = min(t.SCHEDULERS[q + L.Q_NEXT], max(t.SCHEDULERS[q + L.Q_FLOOR], ready))
    return t.SCHEDULERS[q + L.Q_NEXT]


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
def signal(wi, board, when, why, BOARDS):
    """A scoreboard (-1: none) is released at *when*, unless something else holds it for longer."""
    if board >= 0:
        k = (wi * L.SCOREBOARDS + board) * 2
        if ceil(when) > BOARDS[k]:
            BOARDS[k] = ceil(when)
            BOARDS[k + 1] = why


@jit
def note_results(wi, pc, done, why, read, CONFIG, OPS, OPERANDS, WARPS, BOARDS, REGISTERS):
    """Scoreboards of the instruction that issued: control bits, or its result registers."""
    row = pc * L.N_OP
    if CONFIG[L.G_CONTROL]:
        board = OPS[row + L.O_WRITE_BARRIER]
        if done < L.PENDING:
            signal(wi, board, done, why, BOARDS)
        elif board >= 0:
            WARPS[wi * L.N_WARP + L.W_AWAITED] += np.int64(1) << (board * L.AWAITED_BITS)
        signal(wi, OPS[row + L.O_READ_BARRIER], read, why, BOARDS)
    else:
        for i in range(OPS[row + L.O_RESULTS], OPS[row + L.O_RESULTS_END]):
            k = (wi * CONFIG[L.G_REGISTERS] + OPERANDS[i]) * 2
            REGISTERS[k] = ceil(done)
            REGISTERS[k + 1] = why
        hand_on(wi, pc + 1, pc + OPS[row + L.O_GROUP], CONFIG, OPS, OPERANDS, REGISTERS)
