"""Control micro-ops by which lanes of a warp meet again: convergence barriers and barriers of the warp.

Their functions are like those of :mod:`simt.machine.control`.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.control import LEAVE, RESUME, current, fail, issue_again, wait
from simt.machine.meeting import all_wait_on, clear, gave_way, settle, waits_at_warpsync
from simt.machine.parting import part_lanes
from simt.machine.registers import row_at
from simt.machine.splits import (
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
    without,
)
from simt.ops.encoding import COLLECTIVE
from simt.ops.jit import jit, jit_inline
from simt.ops.scalar import lowest, popcount


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
        issue_again(COUNTS, count, moved, active)
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
        issue_again(COUNTS, count, moved, active)
        return where
    wait(SPLITS, current(WARPS, w), pc, L.WAIT_BSYNC, barrier)
    if all_wait_on(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order, WARPS[w * L.N_WARP + L.W_CURRENT], needed):
        return np.int64(LEAVE)
    released = settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
    if released != 0:
        issue_again(COUNTS, count, moved, released)
    return np.int64(LEAVE)


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
        issue_again(COUNTS, count, 1, released)  # those that waited issue their BSYNC again
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
        issue_again(COUNTS, count, 1, released)  # those that waited issue their BSYNC again
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
        return np.int64(fail(ERROR, L.R_WARPSYNC, unnamed, R[masks + np.uint64(lowest(unnamed))] & L.FULL))
    if are_there(mask, gone, active):
        return pc + 1
    wait(SPLITS, current(WARPS, w), pc, L.WAIT_WARPSYNC, mask | CODE[code + L.C_MOD] << 32)
    settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
    if not waits_at_warpsync(SPLITS, WARPS, w, active):
        # Hardware issues the instruction once more, for all lanes, when the last ones came, but no collective one
        # (measured on an H200).
        issue_again(COUNTS, count, np.int64(CODE[code + L.C_MOD] != COLLECTIVE), mask & ~gone)
        WARPS[w * L.N_WARP + L.W_PARTED] = 1
    return np.int64(LEAVE)
