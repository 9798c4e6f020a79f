"""The engine: fetch, count, dispatch; and the loop over the warps of a block.

``advance`` runs one warp until it cannot go on or its quantum is used up; ``run_blocks`` runs blocks to their
end.  What micro-ops do is in :mod:`simt.ops` and, for control, in control.py; interpreter.py has made functions of it.
All state is in flat arrays (see layout.py), so a run can pause anywhere and go on later: that is how
traces are drained, ctrl-C is noticed, and the timing model steps one instruction at a time.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.control import CALL, FAIL, LEAVE, RESUME, current
from simt.machine.counting import note_execution
from simt.machine.events import is_full, tell_order, tell_variable
from simt.machine.image_access import image_access, image_rows
from simt.machine.interpreter import go_on, masks, rows
from simt.machine.memory import access, rows_loaded, step_index, step_within
from simt.machine.native import left_by_native, run_native, turn_of_native
from simt.machine.registers import predicate, row_at
from simt.machine.splits import choose, join_fresh, next_random
from simt.machine.start import sectors_so_far, start_block
from simt.machine.tracing import is_traced, record
from simt.machine.turns import (
    ENDED,
    QUANTUM,
    account,
    another,
    can_run,
    end_of,
    goes_on,
    hand_warp,
    is_over,
    may_go_round,
    resume,
    turn_length,
)
from simt.ops.integer import INDEX
from simt.ops.jit import jit, jit_part, jit_rare, jit_shared
from simt.ops.row import KIND_SHIFT, NUMBER_MASK
from simt.ops.scalar import popcount
from simt.ops.table import MICRO_OPS, Kind

ROW, MASK, ELEMENT, MEMORY, CONTROL, IMAGE = (
    int(kind) for kind in (Kind.ROW, Kind.MASK, Kind.ELEMENT, Kind.MEMORY, Kind.CONTROL, Kind.IMAGE)
)
LD_CONST = MICRO_OPS["ld.const"].code


@jit_part
def _write_row(R, O, row, source, lanes):
    """Write the result of a micro-op, which stands in O from *source* on, to these lanes of a register row."""
    n = np.uint64(32)
    if lanes == L.FULL:
        for l in range(n):
            R[row + l] = O[source + l]
    else:
        for l in range(n):
            R[row + l] = O[source + l] if (lanes >> np.int64(l)) & 1 else R[row + l]


@jit_part
def _write_predicate(P, at, lanes, mask):
    """Write a mask to these lanes of a predicate."""
    P[at] = (P[at] & ~lanes) | (mask & lanes)


@jit_part
def _compute(op, kind, flags, w, code, warp_rows, uniform_end, predicates, active, executing, s):
    """Execute a micro-op that computes, for the exec lanes (not empty): the predicate that it wrote, -1: an error."""
    CODE = s.CODE
    a = row_at(CODE[code + L.C_A], warp_rows, uniform_end)
    b = row_at(CODE[code + L.C_B], warp_rows, uniform_end)
    dst = CODE[code + L.C_DST]
    written = L.FULL if flags & L.UNIFORM else executing
    if kind == MASK:
        outcome = masks(op, s, w, code, predicates, a, b, executing) & written
        if dst > 0:
            _write_predicate(s.P, predicates + dst, written, outcome)
        return outcome
    if kind == ELEMENT:
        wraps = CODE[code + L.C_MOD]
        if op & NUMBER_MASK == INDEX:
            slot = CODE[code + L.C_IMM]
            wrong = step_index(s.R, s.O, a, b, s.DIMS[slot, 0], s.DIMS[slot, 1], wraps, executing, s.ERROR)
        else:
            wrong = step_within(s.R, s.O, a, b, wraps, executing, s.ERROR)
        if wrong:
            return np.int64(-1)
    else:
        c = row_at(CODE[code + L.C_C], warp_rows, uniform_end)
        second = rows(op, s, w, code, predicates, a, b, c, active, executing)
        if second >= 0 and CODE[code + L.C_MOD] > 0:
            _write_predicate(s.P, predicates + CODE[code + L.C_MOD], executing, second)
    if dst > 0:
        _write_row(s.R, s.O, np.uint64(warp_rows + dst), np.uint64(0), written)
    return np.int64(0)


@jit_part
def do_access(op, mod, w, pc, code, count, warp_rows, uniform_end, executing, watched, s):
    """A memory micro-op, for the exec lanes (not empty).  False if it was an error, and then it has done nothing."""
    CODE = s.CODE
    a = row_at(CODE[code + L.C_A], warp_rows, uniform_end)
    b = row_at(CODE[code + L.C_B], warp_rows, uniform_end)
    c = row_at(CODE[code + L.C_C], warp_rows, uniform_end)
    if access(op, mod, CODE[code + L.C_IMM], pc, w, a, b, c, executing, watched, s) != L.R_NONE:
        return False
    for k in range(L.N_MEMORY):
        s.COUNTS[count + L.N_REQUESTS + np.uint64(k)] += s.X[k]
    if CODE[code + L.C_DST] > 0:
        for k in range(rows_loaded(op, mod)):
            d = np.uint64(warp_rows + CODE[code + L.C_DST] + 32 * k)
            _write_row(s.R, s.O, d, np.uint64(32 * k), executing)
    return True


@jit_rare
def _sample(op, w, code, warp_rows, uniform_end, executing, s):
    """A micro-op of textures and surfaces, for the exec lanes (not empty).  False if it was an error."""
    CODE = s.CODE
    mod = CODE[code + L.C_MOD]
    form = CODE[code + L.C_IMM]
    a = row_at(CODE[code + L.C_A], warp_rows, uniform_end)
    b = row_at(CODE[code + L.C_B], warp_rows, uniform_end)
    c = row_at(CODE[code + L.C_C], warp_rows, uniform_end)
    if image_access(op, mod, form, a, b, c, executing, s) != L.R_NONE:
        return False
    if CODE[code + L.C_DST] > 0:
        for k in range(image_rows(op, mod, form)):
            d = np.uint64(warp_rows + CODE[code + L.C_DST] + 32 * k)
            _write_row(s.R, s.O, d, np.uint64(32 * k), executing)
    return True


@jit_part
def _moved(op, kind, w, pc, code, count, warp_rows, uniform_end, executing, watched, s):
    """A micro-op of memory or images, for the exec lanes (not empty).  False if it was an error."""
    if kind == MEMORY:
        mod = s.CODE[code + L.C_MOD]
        return do_access(op, mod, w, pc, code, count, warp_rows, uniform_end, executing, watched, s)
    return _sample(op, w, code, warp_rows, uniform_end, executing, s)


@jit_rare
def _tell(flags, w, pc, code, warp_rows, uniform_end, predicates, executing, s):
    """Record a micro-op that may order threads for the launch's watch."""
    CODE = s.CODE
    if flags & L.VARIABLE:
        chosen = predicate(s.P, predicates, CODE[code + L.C_C]) if flags & L.CHOOSES else np.int64(0)
        tell_variable(pc, w, executing, chosen, s.LAUNCH, s.WARPS, s.EVENTS)
    if flags & (L.ORDERS | L.NAMES | L.SHUFFLES):
        a = row_at(CODE[code + L.C_A], warp_rows, uniform_end)
        b = row_at(CODE[code + L.C_B], warp_rows, uniform_end)
        c = row_at(CODE[code + L.C_C], warp_rows, uniform_end)
        tell_order(flags, pc, w, executing, a, b, c, CODE[code + L.C_IMM], s.LAUNCH, s.WARPS, s.EVENTS, s.R)


@jit_part
def _end_of_turn(w, pc, active, retired, executed, status, s):
    """Note what a turn used of the block's budget, and where it ended early; returns the status, FAILED over budget."""
    LAUNCH = s.LAUNCH
    ERROR = s.ERROR
    account(s.WARPS, LAUNCH, w, executed, retired, status)
    if status != L.FAILED and status != L.DONE and is_over(LAUNCH, 0, 0):
        ERROR[L.E_REASON] = L.R_BUDGET
        ERROR[L.E_MASK] = active
        status = L.FAILED
    if status == L.FAILED or status == L.CALLED:
        ERROR[L.E_PC] = pc
        ERROR[L.E_WARP] = w
        ERROR[L.E_BLOCK] = LAUNCH[L.LAUNCH_INDEX]
    return status


@jit_part
def _places(LAUNCH, w):
    """Where warp *w* has its row of WARPS, its registers and its predicates."""
    return w * L.N_WARP, w * LAUNCH[L.LAUNCH_REGISTERS] * 32, w * LAUNCH[L.LAUNCH_PREDICATES]


@jit_shared
def advance(w, quantum, s):
    """Run warp *w* for at most *quantum* micro-ops.

    DONE, BLOCKED, PAUSED, TRACE_FULL, CALLED, INTERRUPTED or FAILED.  With native code also the turns of the warps
    behind it: NATIVE[V_WARP] is the last warp that had its turn, whose status this is.
    """
    CODE = s.CODE
    SPLITS = s.SPLITS
    WARPS = s.WARPS
    LAUNCH = s.LAUNCH
    wbase, warp_rows, predicates = _places(LAUNCH, w)
    order = LAUNCH[L.LAUNCH_ORDER]
    uniform_end = LAUNCH[L.LAUNCH_UNIFORM_END]
    n_barriers = LAUNCH[L.LAUNCH_BARRIERS]
    n_absent = popcount(WARPS[wbase + L.W_ABSENT])
    n_exited = np.int64(0)
    traced = is_traced(LAUNCH, w)
    watched = LAUNCH[L.LAUNCH_WATCH] != 0
    drains = traced or watched
    NATIVE = s.NATIVE
    NATIVE[L.V_WARP] = w
    native = NATIVE[L.V_CODE] != 0  # choice.py gives it to no launch that it cannot run
    executed = WARPS[wbase + L.W_USED]  # micro-ops of this turn
    end = end_of(LAUNCH, quantum, executed)
    retired = np.int64(0)

    if WARPS[wbase + L.W_SPLITS] == 0:
        return L.DONE
    if not can_run(SPLITS, WARPS, w, order):
        return L.BLOCKED
    if native:
        hand_warp(NATIVE, WARPS, LAUNCH, w)
    status = L.PAUSED
    pc = np.int64(0)
    active = np.int64(0)
    n_active = np.int64(0)
    pass_number = np.int64(0)
    where = np.int64(RESUME)
    while True:
        if where == RESUME:
            pc, active, pass_number = resume(SPLITS, WARPS, w)
            n_active = popcount(active)
            n_exited = popcount(WARPS[wbase + L.W_EXITED])
        else:
            pc = where
        if native and executed < end and (CODE[np.uint64(pc * L.N_CODE) + L.C_OP] >> L.FLAGS_SHIFT) & L.ENTERS:
            if WARPS[wbase + L.W_RELEASED] == 0:
                NATIVE[L.V_EXITED] = n_exited
                where = run_native(pc, active, end, executed, retired, s)
                if where == ENDED:
                    return L.BLOCKED
                quantum = quantum if NATIVE[L.V_WARP] == w else turn_length(LAUNCH)
                w, pc, active, n_exited, n_absent = left_by_native(NATIVE)
                wbase, warp_rows, predicates = _places(LAUNCH, w)
                n_active = popcount(active)
                end, executed, retired = turn_of_native(NATIVE)
                if where == LEAVE:
                    status = another(SPLITS, WARPS, s.PARTICIPANTS, w, n_barriers, order)
                    if status != L.PAUSED:
                        break
                if where < 0:
                    where = np.int64(RESUME)
                    continue
        if executed >= end:
            whole = quantum == QUANTUM or quantum == LAUNCH[L.LAUNCH_ROUND]
            gives_way = order <= L.PROFILER and whole and end >= quantum and WARPS[wbase + L.W_SPLITS] > 1
            if not gives_way or may_go_round(CODE, pc):
                SPLITS[current(WARPS, w) + L.S_PC] = pc
                status = L.INTERRUPTED if end < quantum else L.PAUSED
                if gives_way:
                    choose(SPLITS, WARPS, w, L.INTERLEAVED)  # a split may be spinning on what another one writes
                break
            end = executed + 1
        if drains and ((traced and LAUNCH[L.LAUNCH_TRACED] == len(s.TRACE)) or (watched and is_full(s.EVENTS))):
            SPLITS[current(WARPS, w) + L.S_PC] = pc
            status = L.TRACE_FULL
            break
        executed += 1

        code = np.uint64(pc * L.N_CODE)
        count = np.uint64(pc * L.N_COUNT)
        op = CODE[code + L.C_OP]
        guard = CODE[code + L.C_GUARD]
        flags = op >> L.FLAGS_SHIFT
        op &= L.OP_MASK
        kind = op >> KIND_SHIFT
        executing = active
        n_executing = n_active
        if guard != 0:
            executing &= predicate(s.P, predicates, guard)
            n_executing = popcount(executing)
        note_execution(s.COUNTS, count, n_active, n_executing, n_absent, n_exited)
        retired += flags & L.RETIRES
        if flags & L.TOLD and watched and executing != 0:
            _tell(flags, w, pc, code, warp_rows, uniform_end, predicates, executing, s)
        outcome = np.int64(0)  # for the trace: the predicate written
        where = pc + 1

        if kind < MEMORY:
            if executing != 0:
                outcome = _compute(op, kind, flags, w, code, warp_rows, uniform_end, predicates, active, executing, s)
                if outcome < 0:
                    status = L.FAILED
                    break
        elif kind == MEMORY or kind == IMAGE:
            if order == L.PROFILER and WARPS[wbase + L.W_SPLITS] > 1 and op != LD_CONST:
                join_fresh(SPLITS, WARPS, w, order)
            if executing != 0 and not _moved(
                op, kind, w, pc, code, count, warp_rows, uniform_end, executing, watched, s
            ):
                status = L.FAILED
                break
        else:
            if traced:
                WARPS[wbase + L.W_JUMPED] = 0
                WARPS[wbase + L.W_PARTED] = 0
            where = go_on(
                op,
                s,
                w,
                pc,
                code,
                count,
                flags,
                warp_rows,
                uniform_end,
                predicates,
                n_barriers,
                active,
                executing,
                order,
            )
            if where <= FAIL:
                status = L.CALLED if where == CALL else L.FAILED
                break

        if traced and flags & L.RETIRES:
            record(w, pc, op, active, executing, pass_number, outcome, s)

        if where == LEAVE:
            status = another(SPLITS, WARPS, s.PARTICIPANTS, w, n_barriers, order)
            if status != L.PAUSED:
                break
            where = np.int64(RESUME)
        elif order >= L.INTERLEAVED and flags & L.RETIRES and WARPS[wbase + L.W_SPLITS] > 1:
            if where != RESUME:
                SPLITS[current(WARPS, w) + L.S_PC] = where
            choose(SPLITS, WARPS, w, order)
            where = np.int64(RESUME)
    return _end_of_turn(w, pc, active, retired, executed, status, s)


@jit_part
def _note_work(index, s):
    """Note what block *index*, which has ended, was."""
    LAUNCH = s.LAUNCH
    at = index * L.N_WORK
    longest = np.int64(0)
    for w in range(LAUNCH[L.LAUNCH_WARPS]):
        longest = max(longest, s.WARPS[w * L.N_WARP + L.W_RETIRED])
    s.WORK[at + L.WORK_EXECUTED] = LAUNCH[L.LAUNCH_EXECUTED]
    s.WORK[at + L.WORK_SECTORS] = sectors_so_far(s) - LAUNCH[L.LAUNCH_SECTORS]
    s.WORK[at + L.WORK_LONGEST] = longest


@jit
def run_blocks(first, end, s):
    """Run blocks *first* to *end* - 1; (status, the block it came to).  A started block is taken up again.

    Status: L.DONE; L.TRACE_FULL (drain the trace, call again); L.CALLED (serve the call in ERROR, call again);
    L.INTERRUPTED (LAUNCH_LEFT micro-ops have been executed, call again);
    L.PAUSED (after a round of the warps, if LAUNCH has how long a turn is); L.FAILED and L.DEADLOCK (see ERROR);
    L.STOPPED.
    """
    LAUNCH = s.LAUNCH
    WARPS = s.WARPS
    order = LAUNCH[L.LAUNCH_ORDER]
    for index in range(first, end):
        if LAUNCH[L.LAUNCH_STARTED] == 0:
            start_block(index, s)
        warps = LAUNCH[L.LAUNCH_WARPS]
        while True:
            alive = False
            LAUNCH[L.LAUNCH_PROGRESS] = 0
            w = LAUNCH[L.LAUNCH_NEXT_WARP]
            while w < warps:
                if WARPS[w * L.N_WARP + L.W_SPLITS] > 0:
                    alive = True
                    quantum = WARPS[w * L.N_WARP + L.W_QUANTUM]
                    if quantum == 0:  # a new turn
                        quantum = turn_length(LAUNCH)
                        if order == L.INTERLEAVED:
                            quantum = 1
                        elif order == L.RANDOM:
                            quantum = 1 + next_random(WARPS, w) % 16
                    status = advance(w, quantum, s)
                    if s.NATIVE[L.V_WARP] != w:
                        w = s.NATIVE[L.V_WARP]
                        quantum = turn_length(LAUNCH)
                    WARPS[w * L.N_WARP + L.W_QUANTUM] = quantum if goes_on(status) else 0
                    if status == L.FAILED or goes_on(status):
                        LAUNCH[L.LAUNCH_NEXT_WARP] = w
                        return status, index
                    if s.STOP[0]:
                        return L.STOPPED, index
                w += 1
            LAUNCH[L.LAUNCH_NEXT_WARP] = 0
            if not alive:
                break
            if LAUNCH[L.LAUNCH_PROGRESS] == 0:
                return L.DEADLOCK, index
            if LAUNCH[L.LAUNCH_ROUND] != 0:
                return L.PAUSED, index
        LAUNCH[L.LAUNCH_STARTED] = 0
        if len(s.WORK):
            _note_work(index, s)
    return L.DONE, end
