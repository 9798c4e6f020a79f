"""The engine: counting, and the loop that executes micro-ops; splits and barriers are in files of their own.

``advance`` runs one warp until it cannot go on or its quantum is used up; ``run_blocks`` runs blocks to their
end.  All state is in flat arrays (see layout.py), so a run can pause anywhere and go on later: that is how
traces are drained, ctrl-C is noticed, and the timing model steps one instruction at a time.
"""

from __future__ import annotations

import numpy as np

from simt.machine.barriers import BAR_SYNC, arrive, is_complete, release
from simt.machine.image_access import image_access, image_rows
from simt.machine.jit import jit, jit_inline
from simt.machine.layout import *
from simt.machine.memory import ATOM_GLOBAL, LD_CONST, LD_GENERIC, access, rows_loaded, step_index
from simt.machine.ops_bits import bits
from simt.machine.ops_convert import compare, convert
from simt.machine.ops_float import float32, float64, math64
from simt.machine.ops_int import integer
from simt.machine.ops_warp import across, shuffle, special, truth_table, vote
from simt.machine.scalar import lowest, popcount
from simt.machine.splits import (
    add_split,
    choose,
    diverge,
    gave_way,
    give_way,
    go_without,
    join_fresh,
    let_through,
    meet_released,
    next_random,
    remove_split,
    settle,
    smallest_first,
    take_turns,
)
from simt.program import MICRO_OPS, WHOLE, Family


def _end(*families: Family) -> int:
    """One past the last code of these families, which are declared together."""
    return max(op.code for op in MICRO_OPS.values() if op.family in families) + 1


INT_END = _end(Family.INT)
BITS_END = _end(Family.BITS)
F64_END = MICRO_OPS["pow.f64"].code
MATH_END = _end(Family.F64)
F32_END = _end(Family.F32)
CONVERT_END = _end(Family.CONVERT)
COMPARE_END = _end(Family.COMPARE)
WARP_END = _end(Family.WARP)
MEMORY_END = _end(Family.MEMORY)
TEXTURE_END = _end(Family.TEXTURE)

INDEX = MICRO_OPS["index"].code
SELP = MICRO_OPS["selp"].code
PLOP = MICRO_OPS["plop"].code
SREG = MICRO_OPS["sreg"].code
SHFL_IDX = MICRO_OPS["shfl.idx"].code
SHFL_BFLY = MICRO_OPS["shfl.bfly"].code
VOTE_ALL = MICRO_OPS["vote.all"].code
VOTE_EQ = MICRO_OPS["vote.eq"].code
BALLOT = MICRO_OPS["ballot"].code
ACTIVEMASK = MICRO_OPS["activemask"].code
LIVEMASK = MICRO_OPS["livemask"].code
MATCH_ALL = MICRO_OPS["match.all"].code
NOP = MICRO_OPS["nop"].code
BRA = MICRO_OPS["bra"].code
BRX = MICRO_OPS["brx"].code
BSSY = MICRO_OPS["bssy"].code
BSYNC = MICRO_OPS["bsync"].code
BREAK = MICRO_OPS["break"].code
YIELD = MICRO_OPS["yield"].code
BMOV_GET = MICRO_OPS["bmov.get"].code
BMOV_SET = MICRO_OPS["bmov.set"].code
WARPSYNC = MICRO_OPS["warpsync"].code
BAR_ARRIVE = MICRO_OPS["bar.arrive"].code
EXIT = MICRO_OPS["exit"].code
TRAP = MICRO_OPS["trap"].code
HIGH_B64 = MICRO_OPS["high.b64"].code

QUANTUM = 1 << 16
"""Micro-ops a warp runs before others get a turn: spinning on what another warp writes then ends."""

STEPS_PER_INSTRUCTION = 16
"""The budget ends a loop that retires nothing (`while True: pass`) after this many micro-ops an instruction."""


@jit
def _row(offset, warp_rows, uniform_end):
    """Position in the register file of a row: uniform rows stand once, the others once per warp."""
    return np.uint64(offset + warp_rows if offset >= uniform_end else offset)


@jit
def _predicate(P, base, operand):
    """The lane mask of a predicate operand (``2 * index + negated``)."""
    value = P[base + (operand >> 1)]
    return value ^ FULL if operand & 1 else value


@jit
def _record(w, pc, op, active, exec_mask, pass_number, outcome, diverged, s):
    """Add a row to the trace: what the micro-op *pc* did with its lanes, and the register row that it wrote."""
    LAUNCH = s.LAUNCH
    WARPS = s.WARPS
    CODE = s.CODE
    TRACE = s.TRACE
    n = np.uint64(32)
    wbase = w * N_WARP
    code = np.uint64(pc * N_CODE)
    row = LAUNCH[LAUNCH_TRACED]
    LAUNCH[LAUNCH_TRACED] = row + 1
    TRACE[row, T_BLOCK] = LAUNCH[LAUNCH_INDEX]
    TRACE[row, T_WARP] = w
    TRACE[row, T_PC] = pc
    TRACE[row, T_ACTIVE] = active
    TRACE[row, T_EXEC] = exec_mask
    TRACE[row, T_EXITED] = WARPS[wbase + W_EXITED] & ~exec_mask if op == EXIT else WARPS[wbase + W_EXITED]
    TRACE[row, T_ABSENT] = WARPS[wbase + W_ABSENT]
    TRACE[row, T_PASS] = pass_number
    TRACE[row, T_TAKEN] = outcome
    TRACE[row, T_DIVERGED] = diverged
    memory = WARP_END <= op < MEMORY_END and exec_mask != 0
    for k in range(N_MEMORY):
        TRACE[row, T_MEMORY + k] = s.X[k] if memory else 0
    if op < TEXTURE_END and CODE[code + C_DST] > 0 and not CONVERT_END <= op <= PLOP:
        warp_rows = w * LAUNCH[LAUNCH_REGISTERS] * 32
        d = np.uint64(warp_rows + CODE[code + C_DST])
        if op == HIGH_B64 and CODE[code + C_MOD] == WHOLE:
            d = _row(CODE[code + C_A], warp_rows, LAUNCH[LAUNCH_UNIFORM_END])
        for l in range(n):
            s.VALUES[row, l] = s.R[d + l]
    else:
        for l in range(n):
            s.VALUES[row, l] = 0


@jit_inline
def advance(w, quantum, s):
    """Run warp *w* for at most *quantum* micro-ops: DONE, BLOCKED, PAUSED, TRACE_FULL or FAILED."""
    CODE = s.CODE
    COUNTS = s.COUNTS
    R = s.R
    O = s.O
    P = s.P
    PARTICIPANTS = s.PARTICIPANTS
    SPLITS = s.SPLITS
    WARPS = s.WARPS
    LAUNCH = s.LAUNCH
    X = s.X
    ERROR = s.ERROR
    TRACE = s.TRACE
    n = np.uint64(32)
    wbase = w * N_WARP
    order = LAUNCH[LAUNCH_ORDER]
    warp_rows = w * LAUNCH[LAUNCH_REGISTERS] * 32
    uniform_end = LAUNCH[LAUNCH_UNIFORM_END]
    predicate_base = w * LAUNCH[LAUNCH_PREDICATES]
    n_barriers = LAUNCH[LAUNCH_BARRIERS]
    absent_lanes = popcount(WARPS[wbase + W_ABSENT])
    exited_lanes = popcount(WARPS[wbase + W_EXITED])
    traced = (LAUNCH[LAUNCH_TRACE_BLOCK] == -1 or LAUNCH[LAUNCH_TRACE_BLOCK] == LAUNCH[LAUNCH_INDEX]) and (
        LAUNCH[LAUNCH_TRACE_WARP] == -1 or LAUNCH[LAUNCH_TRACE_WARP] == w
    )
    began = WARPS[wbase + W_USED]
    executed = began  # micro-ops of this turn
    retired = 0

    if WARPS[wbase + W_SPLITS] == 0:
        return DONE
    current = WARPS[wbase + W_CURRENT]
    if SPLITS[(w * 32 + current) * N_SPLIT + S_STATE] != READY and not choose(SPLITS, WARPS, w, order):
        return BLOCKED
    status = PAUSED
    at = np.int64(0)
    pc = np.int64(0)
    active = np.int64(0)
    n_active = np.int64(0)
    pass_number = np.int64(0)
    resume = True  # the current split changed: take over its state
    while True:
        if resume:
            at = (w * 32 + WARPS[wbase + W_CURRENT]) * N_SPLIT
            pc = SPLITS[at + S_PC]
            active = SPLITS[at + S_MASK]
            n_active = popcount(active)
            if SPLITS[at + S_PASS] == 0:
                WARPS[wbase + W_PASSES] += 1
                SPLITS[at + S_PASS] = WARPS[wbase + W_PASSES]
            pass_number = SPLITS[at + S_PASS]
            SPLITS[at + S_WAY] = ELSEWHERE
            SPLITS[at + S_FRESH] = 0
            SPLITS[at + S_YIELDED] = 0
            resume = False
        if executed == quantum:
            SPLITS[at + S_PC] = pc
            if order <= HARDWARE and quantum == QUANTUM and WARPS[wbase + W_SPLITS] > 1:
                choose(SPLITS, WARPS, w, INTERLEAVED)  # a split may be spinning on what another one does
            break
        if traced and LAUNCH[LAUNCH_TRACED] == len(TRACE):
            SPLITS[at + S_PC] = pc
            status = TRACE_FULL
            break
        executed += 1

        code = np.uint64(pc * N_CODE)
        count = np.uint64(pc * N_COUNT)
        op = CODE[code + C_OP]
        guard = CODE[code + C_GUARD]
        flags = op >> FLAGS_SHIFT
        op &= OP_MASK
        if guard == 0:
            exec_mask = active
            n_exec = n_active
        else:
            exec_mask = active & _predicate(P, predicate_base, guard)
            n_exec = popcount(exec_mask)
        COUNTS[count + N_EXECUTED] += 1
        COUNTS[count + N_THREADS] += n_active
        COUNTS[count + N_PRED_ON] += n_exec
        if absent_lanes:
            COUNTS[count + N_ABSENT] += absent_lanes
        if exited_lanes:
            COUNTS[count + N_EXITED] += exited_lanes
        retired += flags & RETIRES
        here = pc
        outcome = np.int64(0)  # for the trace: lanes that jumped, or the predicate written
        diverged = np.int64(0)
        leave = False  # the split stops running: it waits, ended, or another one is to run
        mask_at_start = active

        if op < WARP_END:
            if exec_mask != 0:
                a = _row(CODE[code + C_A], warp_rows, uniform_end)
                b = _row(CODE[code + C_B], warp_rows, uniform_end)
                c = _row(CODE[code + C_C], warp_rows, uniform_end)
                to_register = True
                if op < INT_END:
                    if op == INDEX:
                        slot = CODE[code + C_IMM]
                        if step_index(
                            R, O, a, b, s.DIMS[slot, 0], s.DIMS[slot, 1], CODE[code + C_MOD], exec_mask, ERROR
                        ):
                            ERROR[E_REASON] = R_INDEX
                            status = FAILED
                            break
                    elif op == SELP:
                        chosen = _predicate(P, predicate_base, CODE[code + C_C])
                        for l in range(n):
                            O[l] = R[a + l] if (chosen >> np.int64(l)) & 1 else R[b + l]
                    else:
                        integer(op, R, O, a, b, c)
                elif op < BITS_END:
                    bits(op, R, O, a, b, c, CODE[code + C_IMM])
                elif op < F64_END:
                    float64(op, R, O, s.F64, s.O64, a, b, c)
                elif op < MATH_END:
                    math64(op, s.F64, s.O64, a, b)
                elif op < F32_END:
                    float32(op, R, O, s.F32, s.O32, a, b, c)
                elif op < CONVERT_END:
                    convert(op, R, O, s.F64, s.O64, s.F32, s.O32, a)
                elif op < COMPARE_END:
                    outcome = compare(op, R, s.F64, s.F32, a, b)
                    to_register = False
                elif op == PLOP:
                    outcome = truth_table(
                        CODE[code + C_IMM],
                        _predicate(P, predicate_base, CODE[code + C_A]),
                        _predicate(P, predicate_base, CODE[code + C_B]),
                        _predicate(P, predicate_base, CODE[code + C_C]),
                    )
                    to_register = False
                elif op == SREG:
                    special(CODE[code + C_IMM], w, O, s.TID, LAUNCH)
                elif SHFL_IDX <= op <= SHFL_BFLY:
                    inside = shuffle(op, R, O, a, b, c)
                    if CODE[code + C_MOD] > 0:
                        p = predicate_base + CODE[code + C_MOD]
                        P[p] = (P[p] & ~exec_mask) | (inside & exec_mask)
                elif VOTE_ALL <= op <= VOTE_EQ:
                    outcome = FULL if vote(op, _predicate(P, predicate_base, CODE[code + C_A]), exec_mask) else 0
                    to_register = False
                elif op == BALLOT or op == ACTIVEMASK or op == LIVEMASK:
                    value = active
                    if op == LIVEMASK:
                        value = FULL & ~(WARPS[wbase + W_EXITED] | WARPS[wbase + W_ABSENT])
                    if op == BALLOT:
                        value = exec_mask & _predicate(P, predicate_base, CODE[code + C_A])
                    for l in range(n):
                        O[l] = value
                else:
                    same = across(op, R, O, a, exec_mask)
                    if op == MATCH_ALL and CODE[code + C_MOD] > 0:
                        p = predicate_base + CODE[code + C_MOD]
                        P[p] = (P[p] & ~exec_mask) | (same & exec_mask)
                dst = CODE[code + C_DST]
                written = FULL if flags & UNIFORM else exec_mask
                if to_register:
                    if dst > 0:
                        d = np.uint64(warp_rows + dst)
                        if written == FULL:
                            for l in range(n):
                                R[d + l] = O[l]
                        else:
                            for l in range(n):
                                R[d + l] = O[l] if (written >> np.int64(l)) & 1 else R[d + l]
                elif dst > 0:
                    p = predicate_base + dst
                    outcome &= written
                    P[p] = (P[p] & ~written) | outcome
            pc += 1
        elif op < MEMORY_END:
            if order == HARDWARE and WARPS[wbase + W_SPLITS] > 1:
                if op != LD_CONST:
                    join_fresh(SPLITS, WARPS, w)
                    at = (w * 32 + WARPS[wbase + W_CURRENT]) * N_SPLIT
            if exec_mask != 0:
                mod = CODE[code + C_MOD]
                reason = access(
                    op,
                    mod,
                    CODE[code + C_IMM],
                    pc,
                    w,
                    _row(CODE[code + C_A], warp_rows, uniform_end),
                    _row(CODE[code + C_B], warp_rows, uniform_end),
                    _row(CODE[code + C_C], warp_rows, uniform_end),
                    exec_mask,
                    s,
                )
                if reason != R_NONE:
                    status = FAILED
                    break
                for k in range(N_MEMORY):
                    COUNTS[count + N_REQUESTS + np.uint64(k)] += X[k]
                if (op <= LD_GENERIC or op >= ATOM_GLOBAL) and CODE[code + C_DST] > 0:
                    for k in range(rows_loaded(op, mod)):
                        d = np.uint64(warp_rows + CODE[code + C_DST] + 32 * k)
                        o = np.uint64(32 * k)
                        for l in range(n):
                            R[d + l] = O[o + l] if (exec_mask >> np.int64(l)) & 1 else R[d + l]
            pc += 1
        elif op < TEXTURE_END:
            if order == HARDWARE and WARPS[wbase + W_SPLITS] > 1:
                join_fresh(SPLITS, WARPS, w)
                at = (w * 32 + WARPS[wbase + W_CURRENT]) * N_SPLIT
            if exec_mask != 0:
                mod = CODE[code + C_MOD]
                reason = image_access(
                    op,
                    mod,
                    CODE[code + C_IMM],
                    _row(CODE[code + C_A], warp_rows, uniform_end),
                    _row(CODE[code + C_B], warp_rows, uniform_end),
                    _row(CODE[code + C_C], warp_rows, uniform_end),
                    exec_mask,
                    s,
                )
                if reason != R_NONE:
                    status = FAILED
                    break
                if CODE[code + C_DST] > 0:
                    for k in range(image_rows(op, mod, CODE[code + C_IMM])):
                        d = np.uint64(warp_rows + CODE[code + C_DST] + 32 * k)
                        o = np.uint64(32 * k)
                        for l in range(n):
                            R[d + l] = O[o + l] if (exec_mask >> np.int64(l)) & 1 else R[d + l]
            pc += 1
        elif op == BRA:
            COUNTS[count + N_BRANCHES] += 1
            taken = exec_mask
            if CODE[code + C_A] != 0:
                taken &= _predicate(P, predicate_base, CODE[code + C_A])
            outcome = taken
            if taken == 0:
                pc += 1
            elif taken == active:
                pc = CODE[code + C_IMM]
            else:
                COUNTS[count + N_DIVERGENT] += 1
                diverged = np.int64(1)
                diverge(SPLITS, WARPS, w, order, pc, CODE[code + C_IMM], taken)
                resume = True
            if WARPS[wbase + W_RELEASED] != 0:
                if order == HARDWARE:
                    if not resume:
                        SPLITS[at + S_PC] = pc
                    take_turns(SPLITS, WARPS, w, WARPS[wbase + W_RELEASED])
                    resume = True
                WARPS[wbase + W_RELEASED] = 0
        elif op == BRX:
            COUNTS[count + N_BRANCHES] += 1
            rest = exec_mask
            outcome = rest
            stay = active & ~exec_mask
            first = True
            groups = 0
            while rest != 0 or stay != 0:
                if rest != 0:
                    lane = lowest(rest)
                    address = R[_row(CODE[code + C_A], warp_rows, uniform_end) + np.uint64(lane)] + CODE[code + C_IMM]
                    group = np.int64(0)
                    for l in range(32):
                        if (rest >> l) & 1 and R[_row(CODE[code + C_A], warp_rows, uniform_end) + np.uint64(l)] + CODE[
                            code + C_IMM
                        ] == address:
                            group |= np.int64(1) << l
                    distance = address - LAUNCH[LAUNCH_CODE_START]
                    entry = distance >> 3
                    if distance & 7 or entry < 0 or entry >= len(s.TARGETS) or s.TARGETS[entry] < 0:
                        ERROR[E_REASON] = R_CODE_ADDRESS
                        ERROR[E_MASK] = group
                        ERROR[E_LANE] = lane
                        ERROR[E_ADDRESS] = address
                        status = FAILED
                        break
                    target = s.TARGETS[entry]
                    rest &= ~group
                else:
                    group = stay
                    stay = np.int64(0)
                    target = pc + 1
                groups += 1
                if first:
                    if order == HARDWARE and group != active:
                        join_fresh(SPLITS, WARPS, w)
                        at = (w * 32 + WARPS[wbase + W_CURRENT]) * N_SPLIT
                    active = group
                    SPLITS[at + S_PC] = target
                    first = False
                else:
                    add_split(SPLITS, WARPS, w, target, group)
            if status == FAILED:
                break
            if groups > 1:
                COUNTS[count + N_DIVERGENT] += groups - 1
                diverged = np.int64(1)
                SPLITS[at + S_MASK] = active
                SPLITS[at + S_PASS] = 0
                if order == HARDWARE:
                    smallest_first(SPLITS, WARPS, w, mask_at_start, groups)
            resume = True
        elif op == BSSY:
            start = (w * n_barriers + CODE[code + C_IMM]) * 32
            lane_0 = np.uint64(start)
            written = FULL if order == HARDWARE else exec_mask
            if exec_mask != 0:
                for l in range(n):
                    PARTICIPANTS[lane_0 + l] = exec_mask if (written >> np.int64(l)) & 1 else PARTICIPANTS[lane_0 + l]
            pc += 1
        elif op == BSYNC:
            if WARPS[wbase + W_SPLITS] == 1 or exec_mask == 0:
                pc += 1
            else:
                barrier = CODE[code + C_IMM]
                needed = PARTICIPANTS[(w * n_barriers + barrier) * 32 + lowest(active)]
                if needed & active == 0:
                    needed = np.int64(0)  # the barrier register names other lanes meanwhile: nothing to wait for
                yielded = gave_way(SPLITS, WARPS, w)
                needed &= ~(WARPS[wbase + W_EXITED] | WARPS[wbase + W_ABSENT] | yielded)
                if needed & ~active == 0:
                    if yielded != 0:
                        go_without(PARTICIPANTS, w * n_barriers + barrier, active)
                    pc += 1
                else:
                    SPLITS[at + S_PC] = pc
                    SPLITS[at + S_STATE] = WAIT_BSYNC
                    SPLITS[at + S_ARG] = barrier
                    settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
                    leave = True
        elif op == BREAK:
            start = (w * n_barriers + CODE[code + C_IMM]) * 32
            if exec_mask != 0:
                for l in range(32):
                    if (exec_mask >> l) & 1 and order != HARDWARE:
                        PARTICIPANTS[start + l] = 0
                    else:
                        PARTICIPANTS[start + l] &= ~exec_mask
                if WARPS[wbase + W_SPLITS] > 1:
                    SPLITS[at + S_PC] = pc + 1
                    if settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order):
                        last = (w * 32 + WARPS[wbase + W_SPLITS] - 1) * N_SPLIT
                        WARPS[wbase + W_RELEASED] = SPLITS[last + S_MASK]
                    resume = True
            pc += 1
        elif op == YIELD:
            pc += 1
            if order == HARDWARE and WARPS[wbase + W_SPLITS] > 1:
                SPLITS[at + S_PC] = pc
                SPLITS[at + S_YIELDED] = 1
                settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
                give_way(SPLITS, WARPS, w)
                resume = True
        elif op == BMOV_GET:
            start = (w * n_barriers + CODE[code + C_IMM]) * 32
            for l in range(32):
                if (exec_mask >> l) & 1:
                    if CODE[code + C_DST] > 0:
                        R[warp_rows + CODE[code + C_DST] + l] = PARTICIPANTS[start + l]
                if CODE[code + C_MOD] == 1 and ((exec_mask >> l) & 1 or (order == HARDWARE and exec_mask != 0)):
                    PARTICIPANTS[start + l] = 0
            pc += 1
        elif op == BMOV_SET:
            WARPS[wbase + W_MOVED] |= np.int64(exec_mask != 0)
            if order == HARDWARE and WARPS[wbase + W_SPLITS] > 1:
                join_fresh(SPLITS, WARPS, w)
                at = (w * 32 + WARPS[wbase + W_CURRENT]) * N_SPLIT
            start = (w * n_barriers + CODE[code + C_IMM]) * 32
            source = _row(CODE[code + C_A], warp_rows, uniform_end)
            for l in range(32):
                if order == HARDWARE and exec_mask != 0:  # one register per warp, set from the lowest lane
                    PARTICIPANTS[start + l] = R[source + np.uint64(lowest(exec_mask))] & FULL
                elif (exec_mask >> l) & 1:
                    PARTICIPANTS[start + l] = R[source + np.uint64(l)] & FULL
            pc += 1
        elif op == WARPSYNC:
            if exec_mask == 0:
                pc += 1
            else:
                WARPS[wbase + W_WARP_EPOCH] += flags & RETIRES  # not those that only bring shuffles together
                # Lanes may have masks of their own (tiles of a warp): the split waits for all that any of them names.
                masks = _row(CODE[code + C_A], warp_rows, uniform_end)
                mask = np.int64(0)
                unnamed = np.int64(0)
                for l in range(32):
                    if (exec_mask >> l) & 1:
                        mask |= R[masks + np.uint64(l)] & FULL
                        unnamed |= (~R[masks + np.uint64(l)] >> l & 1) << l
                gone = WARPS[wbase + W_EXITED] | WARPS[wbase + W_ABSENT]
                if unnamed:
                    ERROR[E_REASON] = R_WARPSYNC
                    ERROR[E_MASK] = unnamed
                    ERROR[E_LANE] = lowest(unnamed)
                    ERROR[E_ADDRESS] = R[masks + np.uint64(lowest(unnamed))] & FULL
                    status = FAILED
                    break
                if mask & ~gone & ~active == 0:
                    pc += 1
                else:
                    # Hardware issues the instruction again when the lanes are there (measured on an H200).
                    COUNTS[count + N_REPLAYS] += 1
                    diverged = np.int64(1)
                    SPLITS[at + S_PC] = pc
                    SPLITS[at + S_STATE] = WAIT_WARPSYNC
                    SPLITS[at + S_ARG] = mask | CODE[code + C_MOD] << 32
                    settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
                    leave = True
        elif BAR_SYNC <= op <= BAR_ARRIVE:
            if exec_mask == 0:
                pc += 1
            else:
                operand = np.int64(0)
                if op != BAR_SYNC and op != BAR_ARRIVE:
                    operand = _predicate(P, predicate_base, CODE[code + C_A])
                lane = np.uint64(lowest(exec_mask))
                expected = R[_row(CODE[code + C_B], warp_rows, uniform_end) + lane]
                added = R[_row(CODE[code + C_C], warp_rows, uniform_end) + lane]
                barrier = (CODE[code + C_IMM] + added) % BLOCK_BARRIERS
                if op == BAR_ARRIVE:
                    pc += 1
                else:
                    SPLITS[at + S_PC] = pc
                    SPLITS[at + S_STATE] = WAIT_BARRIER
                    SPLITS[at + S_ARG] = barrier
                    leave = True
                arrive(s.BARRIERS, barrier, n_exec, expected, operand, exec_mask)
                if is_complete(s.BARRIERS, LAUNCH[LAUNCH_LIVE], barrier):
                    release(s, barrier)
        elif op == EXIT:
            if exec_mask == 0:
                pc += 1
            else:
                WARPS[wbase + W_EXITED] |= exec_mask
                LAUNCH[LAUNCH_LIVE] -= n_exec
                exited_lanes += n_exec
                if exec_mask == active:
                    remove_split(SPLITS, WARPS, w, WARPS[wbase + W_CURRENT])
                    leave = True
                else:
                    SPLITS[at + S_MASK] = active & ~exec_mask
                    pc += 1
                    SPLITS[at + S_PC] = pc
                if WARPS[wbase + W_SPLITS] > 0:
                    released = settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
                    if not leave:
                        if released and order == HARDWARE:
                            meet_released(SPLITS, WARPS, w)
                        resume = True
                for barrier in range(BLOCK_BARRIERS):
                    if is_complete(s.BARRIERS, LAUNCH[LAUNCH_LIVE], barrier):
                        release(s, barrier)
        elif op == TRAP:
            if exec_mask != 0:
                ERROR[E_REASON] = R_TRAP
                ERROR[E_MASK] = exec_mask
                ERROR[E_LANE] = lowest(exec_mask)
                status = FAILED
                break
            pc += 1
        elif op == NOP:
            pc += 1
        else:
            ERROR[E_REASON] = R_UNKNOWN
            status = FAILED
            break

        if traced and flags & RETIRES:
            _record(w, here, op, mask_at_start, exec_mask, pass_number, outcome, diverged, s)

        if leave:
            WARPS[wbase + W_RELEASED] = 0
            if WARPS[wbase + W_SPLITS] == 0:
                status = DONE
                break
            if not choose(SPLITS, WARPS, w, order) and not let_through(
                SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order
            ):
                status = BLOCKED
                break
            resume = True
        elif order >= INTERLEAVED and flags & RETIRES and WARPS[wbase + W_SPLITS] > 1:
            if not resume:
                SPLITS[at + S_PC] = pc
            choose(SPLITS, WARPS, w, order)
            resume = True

    LAUNCH[LAUNCH_EXECUTED] += retired
    LAUNCH[LAUNCH_STEPS] += executed - began
    LAUNCH[LAUNCH_PROGRESS] += executed - began
    WARPS[wbase + W_USED] = executed if status == TRACE_FULL else 0
    if status == FAILED:
        ERROR[E_PC] = pc
        ERROR[E_WARP] = w
        ERROR[E_BLOCK] = LAUNCH[LAUNCH_INDEX]
    elif status != DONE and (
        LAUNCH[LAUNCH_EXECUTED] > LAUNCH[LAUNCH_BUDGET]
        or LAUNCH[LAUNCH_STEPS] > LAUNCH[LAUNCH_BUDGET] * STEPS_PER_INSTRUCTION
    ):
        ERROR[E_REASON] = R_BUDGET
        ERROR[E_PC] = pc
        ERROR[E_WARP] = w
        ERROR[E_MASK] = active
        ERROR[E_BLOCK] = LAUNCH[LAUNCH_INDEX]
        status = FAILED
    return status


@jit
def start_block(index, s):
    """Fresh warps for block *index*; uniform rows stay, all other state starts at zero."""
    R = s.R
    P = s.P
    WARPS = s.WARPS
    LAUNCH = s.LAUNCH
    threads = LAUNCH[LAUNCH_THREADS]
    registers = LAUNCH[LAUNCH_REGISTERS]
    predicates = LAUNCH[LAUNCH_PREDICATES]
    warps = LAUNCH[LAUNCH_WARPS]
    grid_x = LAUNCH[LAUNCH_BLOCK + 6]
    grid_y = LAUNCH[LAUNCH_BLOCK + 7]
    LAUNCH[LAUNCH_INDEX] = index
    LAUNCH[LAUNCH_BLOCK + 3] = index % grid_x
    LAUNCH[LAUNCH_BLOCK + 4] = (index // grid_x) % grid_y
    LAUNCH[LAUNCH_BLOCK + 5] = index // (grid_x * grid_y)
    LAUNCH[LAUNCH_LIVE] = threads
    LAUNCH[LAUNCH_EXECUTED] = 0
    LAUNCH[LAUNCH_STEPS] = 0
    LAUNCH[LAUNCH_NEXT_WARP] = 0
    for k in range(BLOCK_BARRIERS * N_BARRIER):
        s.BARRIERS[k] = 0
    for k in range(len(s.SHARED)):
        s.SHARED[k] = 0
    local = np.uint64(LAUNCH[LAUNCH_LOCAL] >> 3)
    for k in range(np.uint64(warps * 32 * LAUNCH[LAUNCH_LOCAL_STRIDE] >> 3)):
        s.M64[local + k] = 0
    for w in range(warps):
        start = np.uint64(LAUNCH[LAUNCH_UNIFORM_END] + w * registers * 32)
        for k in range(np.uint64(registers * 32)):
            R[start + k] = 0
        for p in range(1, predicates):
            P[w * predicates + p] = 0
        present = min(threads - w * 32, 32)
        mask = (np.int64(1) << present) - 1
        WARPS[w * N_WARP + W_SPLITS] = 0
        WARPS[w * N_WARP + W_CURRENT] = 0
        WARPS[w * N_WARP + W_EXITED] = 0
        WARPS[w * N_WARP + W_ABSENT] = FULL & ~mask
        WARPS[w * N_WARP + W_RANDOM] = (LAUNCH[LAUNCH_SEED] * 69069 + index * 7919 + w * 104729) % 0x7FFFFFFE + 1
        WARPS[w * N_WARP + W_PASSES] = 0
        WARPS[w * N_WARP + W_QUANTUM] = 0
        WARPS[w * N_WARP + W_USED] = 0
        WARPS[w * N_WARP + W_MOVED] = 0
        WARPS[w * N_WARP + W_RELEASED] = 0
        WARPS[w * N_WARP + W_BLOCK_EPOCH] = 0
        WARPS[w * N_WARP + W_WARP_EPOCH] = 0
        add_split(s.SPLITS, WARPS, w, 0, mask)
    LAUNCH[LAUNCH_STARTED] = 1


@jit
def run_blocks(first, end, s):
    """Run blocks *first* to *end* - 1; (status, the block it came to).  A started block is taken up again.

    Status: DONE; TRACE_FULL (drain the trace, call again); FAILED and DEADLOCK (see ERROR); STOPPED.
    """
    LAUNCH = s.LAUNCH
    WARPS = s.WARPS
    order = LAUNCH[LAUNCH_ORDER]
    for index in range(first, end):
        if LAUNCH[LAUNCH_STARTED] == 0:
            start_block(index, s)
        warps = LAUNCH[LAUNCH_WARPS]
        while True:
            alive = False
            LAUNCH[LAUNCH_PROGRESS] = 0
            w = LAUNCH[LAUNCH_NEXT_WARP]
            while w < warps:
                if WARPS[w * N_WARP + W_SPLITS] > 0:
                    alive = True
                    quantum = WARPS[w * N_WARP + W_QUANTUM]
                    if quantum == 0:  # a new turn
                        quantum = QUANTUM
                        if order == INTERLEAVED:
                            quantum = 1
                        elif order == RANDOM:
                            quantum = 1 + next_random(WARPS, w) % 16
                    status = advance(w, quantum, s)
                    WARPS[w * N_WARP + W_QUANTUM] = quantum if status == TRACE_FULL else 0
                    if status == FAILED or status == TRACE_FULL:
                        LAUNCH[LAUNCH_NEXT_WARP] = w
                        return status, index
                    if s.STOP[0]:
                        return STOPPED, index
                w += 1
            LAUNCH[LAUNCH_NEXT_WARP] = 0
            if not alive:
                break
            if LAUNCH[LAUNCH_PROGRESS] == 0:
                return DEADLOCK, index
        LAUNCH[LAUNCH_STARTED] = 0
    return DONE, end
