"""Control micro-ops: branches, barriers of the block, exits; converging.py has those by which lanes of a warp meet.

Each is executed by the function of its name.

A function returns where the warp goes on: a micro-op (0 or more), at which the same split goes on with the same lanes;
RESUME if the current split is another one or has changed; LEAVE if it waits or has ended, so that another one is to
run; FAIL if it was an error, which ERROR then tells; CALL if the host is to do something first.  A function takes what
it needs: its parameters are named as in :data:`simt.machine.interpreter.PLACES`.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.barriers import arrive, is_complete, release
from simt.machine.gpu_orders import leaders_first, share_barriers, smallest_first, take_turns
from simt.machine.meeting import settle
from simt.machine.registers import predicate, row_at
from simt.machine.splits import (
    add_split,
    diverge,
    follows_gpu,
    join_fresh,
    meet_released,
    remove_split,
)
from simt.ops.encoding import COLLECTIVE
from simt.ops.jit import jit, jit_inline, jit_part
from simt.ops.scalar import lowest, popcount

RESUME, LEAVE, FAIL, CALL = -1, -2, -3, -4


@jit_part
def current(WARPS, w):
    """Where the current split of warp *w* stands in SPLITS."""
    return (w * 32 + WARPS[w * L.N_WARP + L.W_CURRENT]) * L.N_SPLIT


@jit
def issue_again(COUNTS, count, times, lanes):
    """Order HARDWARE: an instruction is issued so many times more, each for *lanes*."""
    COUNTS[count + L.N_REPLAYS] += times
    COUNTS[count + L.N_REPLAY_THREADS] += times * popcount(lanes)


@jit
def fail(ERROR, reason, mask, address):
    ERROR[L.E_REASON] = reason
    ERROR[L.E_MASK] = mask
    ERROR[L.E_LANE] = lowest(mask)
    ERROR[L.E_ADDRESS] = address
    return FAIL


@jit_part
def wait(SPLITS, at, pc, state, argument):
    SPLITS[at + L.S_PC] = pc
    SPLITS[at + L.S_STATE] = state
    SPLITS[at + L.S_ARG] = argument


@jit_part
def nop(pc):
    return pc + 1


@jit_part
def trap(ERROR, pc, executing):
    if executing == 0:
        return pc + 1
    ERROR[L.E_REASON] = L.R_TRAP
    ERROR[L.E_MASK] = executing
    ERROR[L.E_LANE] = lowest(executing)
    return FAIL


@jit_part
def syscall(SPLITS, WARPS, ERROR, w, pc, executing):
    """The first time the engine stops here; once the host has served the call, the same lanes come again and go on."""
    if executing == 0:
        return pc + 1
    if WARPS[w * L.N_WARP + L.W_SERVED]:
        WARPS[w * L.N_WARP + L.W_SERVED] = 0
        return pc + 1
    SPLITS[current(WARPS, w) + L.S_PC] = pc
    ERROR[L.E_MASK] = executing
    ERROR[L.E_LANE] = lowest(executing)
    return np.int64(CALL)


@jit_inline
def bra(CODE, COUNTS, P, SPLITS, WARPS, w, pc, code, count, predicates, active, executing, order):
    COUNTS[count + L.N_BRANCHES] += 1
    taken = executing
    if CODE[code + L.C_A] != 0:
        taken &= predicate(P, predicates, CODE[code + L.C_A])
    WARPS[w * L.N_WARP + L.W_JUMPED] = taken
    where = pc + 1
    if taken == active and taken != 0:
        where = CODE[code + L.C_IMM]
    elif taken != 0:
        COUNTS[count + L.N_DIVERGENT] += 1
        WARPS[w * L.N_WARP + L.W_PARTED] = 1
        diverge(SPLITS, WARPS, w, order, pc, CODE[code + L.C_IMM], taken)
        where = np.int64(RESUME)
    released = WARPS[w * L.N_WARP + L.W_RELEASED]
    if released != 0:
        WARPS[w * L.N_WARP + L.W_RELEASED] = 0
        if order == L.PROFILER:
            if where != RESUME:
                SPLITS[current(WARPS, w) + L.S_PC] = where
            take_turns(SPLITS, WARPS, w, released)
            where = np.int64(RESUME)
    return where


@jit
def brx(
    CODE,
    COUNTS,
    R,
    SPLITS,
    WARPS,
    PARTICIPANTS,
    LAUNCH,
    ERROR,
    TARGETS,
    w,
    pc,
    code,
    count,
    rows,
    uniform_end,
    n_barriers,
    active,
    executing,
    order,
):
    COUNTS[count + L.N_BRANCHES] += 1
    WARPS[w * L.N_WARP + L.W_JUMPED] = executing
    addresses = row_at(CODE[code + L.C_A], rows, uniform_end)
    offset = CODE[code + L.C_IMM]
    rest = executing
    stay = active & ~executing
    groups = 0
    going_on = np.int64(0)
    others = np.int64(0)
    at = current(WARPS, w)
    while rest != 0 or stay != 0:
        if rest != 0:
            address = R[addresses + np.uint64(lowest(rest))] + offset
            group = np.int64(0)
            for l in range(32):
                if (rest >> l) & 1 and R[addresses + np.uint64(l)] + offset == address:
                    group |= np.int64(1) << l
            distance = address - LAUNCH[L.LAUNCH_CODE_START]
            entry = distance >> 3
            if distance & 7 or entry < 0 or entry >= len(TARGETS) or TARGETS[entry] < 0:
                return fail(ERROR, L.R_CODE_ADDRESS, group, address)
            target = TARGETS[entry]
            rest &= ~group
        else:
            group = stay
            stay = np.int64(0)
            target = pc + 1
        groups += 1
        others |= group if target != pc + 1 else np.int64(0)
        if groups == 1:
            if follows_gpu(order) and group != active:
                join_fresh(SPLITS, WARPS, w, order)
                at = current(WARPS, w)
            going_on = group
            SPLITS[at + L.S_PC] = target
        else:
            add_split(SPLITS, WARPS, w, target, group)
    if groups > 1:
        COUNTS[count + L.N_DIVERGENT] += groups - 1
        WARPS[w * L.N_WARP + L.W_PARTED] = 1
        SPLITS[at + L.S_MASK] = going_on
        SPLITS[at + L.S_PASS] = 0
        if order == L.HARDWARE:
            COUNTS[count + L.N_REPLAYS] += groups - 1
            issued = leaders_first(SPLITS, WARPS, w, active, groups)
            if CODE[code + L.C_MOD] == COLLECTIVE:
                issued = popcount(others)  # it is issued for all lanes, then for those of each other place
                share_barriers(WARPS, PARTICIPANTS, w, n_barriers, active, others)
            COUNTS[count + L.N_REPLAY_THREADS] += issued
        elif order == L.PROFILER:
            smallest_first(SPLITS, WARPS, w, active, groups)
    return RESUME


@jit
def _bar(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, executing, operand, waits):
    """Exec lanes arrive at the block barrier that a micro-op names, with *operand*; the last to come open it."""
    if executing == 0:
        return pc + 1
    lane = np.uint64(lowest(executing))
    expected = R[row_at(CODE[code + L.C_B], rows, uniform_end) + lane]
    added = R[row_at(CODE[code + L.C_C], rows, uniform_end) + lane]
    barrier = (CODE[code + L.C_IMM] + added) % L.BLOCK_BARRIERS
    if waits:
        wait(SPLITS, current(WARPS, w), pc, L.WAIT_BARRIER, barrier)
    arrive(BARRIERS, barrier, popcount(executing), expected, operand, executing)
    if is_complete(BARRIERS, LAUNCH[L.LAUNCH_LIVE], barrier):
        release(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, barrier)
    return np.int64(LEAVE) if waits else pc + 1


@jit_part
def bar_sync(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, executing):
    return _bar(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, executing, 0, True)


@jit_part
def bar_red(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, predicates, executing):
    operand = predicate(P, predicates, CODE[code + L.C_A])
    return _bar(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, executing, operand, True)


bar_red_popc = bar_red_and = bar_red_or = bar_red


@jit_part
def bar_arrive(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, executing):
    return _bar(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, w, pc, code, rows, uniform_end, executing, 0, False)


@jit
def exit(
    CODE,
    COUNTS,
    R,
    P,
    SPLITS,
    WARPS,
    PARTICIPANTS,
    BARRIERS,
    LAUNCH,
    w,
    pc,
    count,
    n_barriers,
    active,
    executing,
    order,
):
    if executing == 0:
        return pc + 1
    WARPS[w * L.N_WARP + L.W_EXITED] |= executing
    LAUNCH[L.LAUNCH_LIVE] -= popcount(executing)
    ended = executing == active
    if ended:
        remove_split(SPLITS, WARPS, w, WARPS[w * L.N_WARP + L.W_CURRENT])
    else:
        at = current(WARPS, w)
        SPLITS[at + L.S_MASK] = active & ~executing
        SPLITS[at + L.S_PC] = pc + 1
    if WARPS[w * L.N_WARP + L.W_SPLITS] > 0:
        released = settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
        if released != 0 and order == L.HARDWARE:
            issue_again(COUNTS, count, 1, released)  # those that waited issue their BSYNC again
        if released != 0 and follows_gpu(order) and not ended:
            meet_released(SPLITS, WARPS, w, order)
    for barrier in range(L.BLOCK_BARRIERS):
        if is_complete(BARRIERS, LAUNCH[L.LAUNCH_LIVE], barrier):
            release(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, barrier)
    return LEAVE if ended else RESUME
