"""Control micro-ops: branches, convergence, barriers, exits.  Each is executed by the function of its name.

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
from simt.machine.meeting import all_wait_on, clear, gave_way, settle, waits_at_warpsync
from simt.machine.parting import part_lanes
from simt.machine.registers import predicate, row_at
from simt.machine.splits import (
    add_split,
    diverge,
    follows_gpu,
    give_way,
    goes_through,
    join_all,
    join_fresh,
    lanes_told,
    left_of,
    meet_released,
    newest_other,
    participants_at,
    remove_split,
    without,
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
def _issue_again(COUNTS, count, times, lanes):
    """Order HARDWARE: an instruction is issued so many times more, each for *lanes*."""
    COUNTS[count + L.N_REPLAYS] += times
    COUNTS[count + L.N_REPLAY_THREADS] += times * popcount(lanes)


@jit
def _fail(ERROR, reason, mask, address):
    ERROR[L.E_REASON] = reason
    ERROR[L.E_MASK] = mask
    ERROR[L.E_LANE] = lowest(mask)
    ERROR[L.E_ADDRESS] = address
    return FAIL


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
                return _fail(ERROR, L.R_CODE_ADDRESS, group, address)
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


@jit_inline
def bssy(CODE, WARPS, PARTICIPANTS, w, pc, code, n_barriers, executing, order):
    start = np.uint64(participants_at(w, n_barriers, CODE[code + L.C_IMM]))
    written = lanes_told(order, executing)
    if executing != 0:
        WARPS[w * L.N_WARP + L.W_BY_MOVE] = without(WARPS[w * L.N_WARP + L.W_BY_MOVE], CODE[code + L.C_IMM])
        for l in range(np.uint64(32)):
            PARTICIPANTS[start + l] = executing if (written >> np.int64(l)) & 1 else PARTICIPANTS[start + l]
    return pc + 1


@jit_inline
def bsync(CODE, COUNTS, SPLITS, WARPS, PARTICIPANTS, w, pc, code, count, n_barriers, active, executing, order):
    if goes_through(WARPS[w * L.N_WARP + L.W_SPLITS], order):
        return pc + 1
    barrier = CODE[code + L.C_IMM]
    moved = np.int64(0)
    if order == L.HARDWARE and executing != 0:
        moved = (WARPS[w * L.N_WARP + L.W_BY_MOVE] >> barrier) & 1
    if WARPS[w * L.N_WARP + L.W_SPLITS] == 1 or executing == 0:
        _issue_again(COUNTS, count, moved, active)
        return pc + 1
    where = pc + 1
    if order == L.HARDWARE and WARPS[w * L.N_WARP + L.W_PICKED] == pc:
        moved = np.int64(0)
        waited = join_all(SPLITS, WARPS, w, L.WAIT_BSYNC, pc)
        COUNTS[count + L.N_REPLAY_THREADS] += popcount(waited)
        active |= waited
        if waited != 0:
            SPLITS[current(WARPS, w) + L.S_PC] = where
            where = np.int64(RESUME)
    WARPS[w * L.N_WARP + L.W_PICKED] = -1
    needed = PARTICIPANTS[(w * n_barriers + barrier) * 32 + lowest(active)]
    if needed & active == 0:
        needed = np.int64(0)  # the barrier register names other lanes meanwhile: nothing to wait for
    elif part_lanes(SPLITS, WARPS, PARTICIPANTS, w, pc, participants_at(w, n_barriers, barrier), active, needed):
        return np.int64(RESUME)
    yielded = gave_way(SPLITS, WARPS, w, order)
    needed &= ~(WARPS[w * L.N_WARP + L.W_EXITED] | WARPS[w * L.N_WARP + L.W_ABSENT] | yielded)
    if needed & ~active == 0:
        if yielded != 0:
            clear(PARTICIPANTS, w * n_barriers + barrier)
        _issue_again(COUNTS, count, moved, active)
        return where
    wait(SPLITS, current(WARPS, w), pc, L.WAIT_BSYNC, barrier)
    if all_wait_on(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order, WARPS[w * L.N_WARP + L.W_CURRENT], needed):
        return np.int64(LEAVE)
    released = settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
    if released != 0:
        _issue_again(COUNTS, count, moved, released)
    return np.int64(LEAVE)


@jit_part
def wait(SPLITS, at, pc, state, argument):
    SPLITS[at + L.S_PC] = pc
    SPLITS[at + L.S_STATE] = state
    SPLITS[at + L.S_ARG] = argument


@jit
def break_(CODE, COUNTS, SPLITS, WARPS, PARTICIPANTS, w, pc, code, count, n_barriers, executing, order):
    if executing == 0:
        return pc + 1
    start = np.uint64(participants_at(w, n_barriers, CODE[code + L.C_IMM]))
    for l in range(np.uint64(32)):
        PARTICIPANTS[start + l] = left_of(PARTICIPANTS[start + l], np.int64(l), executing, order)
    if WARPS[w * L.N_WARP + L.W_SPLITS] == 1:
        return pc + 1
    SPLITS[current(WARPS, w) + L.S_PC] = pc + 1
    released = settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
    if released != 0 and order == L.HARDWARE:
        _issue_again(COUNTS, count, 1, released)  # those that waited issue their BSYNC again
        meet_released(SPLITS, WARPS, w, order)
    elif released != 0:
        last = (w * 32 + WARPS[w * L.N_WARP + L.W_SPLITS] - 1) * L.N_SPLIT
        WARPS[w * L.N_WARP + L.W_RELEASED] = SPLITS[last + L.S_MASK]
    return RESUME


@jit
def yield_(COUNTS, SPLITS, WARPS, PARTICIPANTS, w, pc, count, n_barriers, order):
    if not follows_gpu(order) or WARPS[w * L.N_WARP + L.W_SPLITS] == 1:
        return pc + 1
    SPLITS[current(WARPS, w) + L.S_PC] = pc + 1
    join_fresh(SPLITS, WARPS, w, L.HARDWARE)
    met = join_all(SPLITS, WARPS, w, L.READY, pc + 1)
    if met != 0 and newest_other(SPLITS, WARPS, w) < 0:
        return RESUME
    SPLITS[current(WARPS, w) + L.S_YIELDED] = 1
    released = settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
    if released != 0 and order == L.HARDWARE:
        _issue_again(COUNTS, count, 1, released)  # those that waited issue their BSYNC again
    give_way(SPLITS, WARPS, w)
    return RESUME


@jit
def bmov_get(CODE, R, PARTICIPANTS, w, pc, code, rows, n_barriers, executing, order):
    start = (w * n_barriers + CODE[code + L.C_IMM]) * 32
    for l in range(32):
        if (executing >> l) & 1 and CODE[code + L.C_DST] > 0:
            R[rows + CODE[code + L.C_DST] + l] = PARTICIPANTS[start + l]
        if CODE[code + L.C_MOD] == 1 and ((executing >> l) & 1 or (follows_gpu(order) and executing != 0)):
            PARTICIPANTS[start + l] = 0
    return pc + 1


@jit
def bmov_set(CODE, R, SPLITS, WARPS, PARTICIPANTS, w, pc, code, rows, uniform_end, n_barriers, executing, order):
    WARPS[w * L.N_WARP + L.W_MOVED] |= np.int64(executing != 0)
    where = pc + 1
    if executing != 0:
        WARPS[w * L.N_WARP + L.W_BY_MOVE] |= 1 << CODE[code + L.C_IMM]
    if order == L.PROFILER and WARPS[w * L.N_WARP + L.W_SPLITS] > 1:
        join_fresh(SPLITS, WARPS, w, order)
    start = (w * n_barriers + CODE[code + L.C_IMM]) * 32
    source = row_at(CODE[code + L.C_A], rows, uniform_end)
    for l in range(32):
        if follows_gpu(order) and executing != 0:  # one register per warp, set from the lowest lane
            PARTICIPANTS[start + l] = R[source + np.uint64(lowest(executing))] & L.FULL
        elif (executing >> l) & 1:
            PARTICIPANTS[start + l] = R[source + np.uint64(l)] & L.FULL
    return where


@jit_inline
def are_there(mask, gone, active):
    """Whether a warp barrier need not wait for any lane that *mask* names."""
    return mask & ~gone & ~active == 0


@jit_inline
def warpsync(
    CODE,
    COUNTS,
    R,
    SPLITS,
    WARPS,
    PARTICIPANTS,
    ERROR,
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
    if executing == 0:
        return pc + 1
    # Lanes may have masks of their own (tiles of a warp): the split waits for all that any of them names.
    masks = row_at(CODE[code + L.C_A], rows, uniform_end)
    mask = np.int64(0)
    unnamed = np.int64(0)
    for l in range(np.uint64(32)):
        own = (executing >> np.int64(l)) & 1
        mask |= R[masks + l] & L.FULL & -own
        unnamed |= ((~R[masks + l] >> np.int64(l)) & own) << np.int64(l)
    gone = WARPS[w * L.N_WARP + L.W_EXITED] | WARPS[w * L.N_WARP + L.W_ABSENT]
    if unnamed:
        return np.int64(_fail(ERROR, L.R_WARPSYNC, unnamed, R[masks + np.uint64(lowest(unnamed))] & L.FULL))
    if are_there(mask, gone, active):
        return pc + 1
    wait(SPLITS, current(WARPS, w), pc, L.WAIT_WARPSYNC, mask | CODE[code + L.C_MOD] << 32)
    settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
    if not waits_at_warpsync(SPLITS, WARPS, w, active):
        # Hardware issues the instruction once more, for all lanes, when the last ones came, but no collective one
        # (measured on an H200).
        _issue_again(COUNTS, count, np.int64(CODE[code + L.C_MOD] != COLLECTIVE), mask & ~gone)
        WARPS[w * L.N_WARP + L.W_PARTED] = 1
    return np.int64(LEAVE)


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
            _issue_again(COUNTS, count, 1, released)  # those that waited issue their BSYNC again
        if released != 0 and follows_gpu(order) and not ended:
            meet_released(SPLITS, WARPS, w, order)
    for barrier in range(L.BLOCK_BARRIERS):
        if is_complete(BARRIERS, LAUNCH[L.LAUNCH_LIVE], barrier):
            release(CODE, R, P, SPLITS, WARPS, BARRIERS, LAUNCH, barrier)
    return LEAVE if ended else RESUME
