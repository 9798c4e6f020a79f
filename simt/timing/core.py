"""The loop over cycles: schedulers pick warps, the engine executes, and this file says when what follows may issue.

Time is discrete, but cycles in which nothing can happen are skipped.  The semantics are those of the engine
(``advance``): an instruction is executed at the moment of its issue, and its latency only delays its dependents.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as machine
from simt.machine.engine import QUANTUM, advance
from simt.machine.splits import choose
from simt.timing.blocks import catch_up, end_warp, release, start_blocks, wait_at_barrier
from simt.timing.classes import PIPES
from simt.timing.codes import (
    BARRIER,
    BRANCHING,
    EXIT,
    FENCE,
    FETCHING,
    FIXED,
    GLOBAL,
    LG,
    LONG,
    LSU,
    MATH,
    MEMBAR,
    MIO,
    NOT_SELECTED,
    QUEUED,
    SELECTED,
    SHARED,
    SHORT,
    STALLED_BARRIER,
    TEX,
    WAIT,
)
from simt.timing.jit import jit
from simt.timing.layout import *
from simt.timing.lsu import global_access, meetings, shared_access
from simt.timing.pipes import freeze, occupy, pay, pipe_free, read_registers
from simt.timing.slots import slot_state
from simt.timing.waits import awaits, ceil, hand_on, note_results

POLICY = PLACE["scheduler_policy"]
WINDOW = PLACE["register_window"]
FETCH_LATENCY = PLACE["fetch_latency"]
FETCH_INTERVAL = PLACE["fetch_interval"]
FETCH_NEXT = PLACE["fetch_next_latency"]
BRANCH_LATENCY = PLACE["branch_latency"]
NOT_TAKEN_LATENCY = PLACE["branch_not_taken_latency"]
RECONVERGENCE_LATENCY = PLACE["reconvergence_latency"]
BARRIER_INTERVAL = PLACE["barrier_interval"]
BARRIER_LATENCY = PLACE["barrier_latency"]
BARRIER_QUEUE = PLACE["barrier_queue"]
FENCE_BLOCK = PLACE["fence_block_latency"]
FENCE_LATENCY = PLACE["fence_latency"]
MIO_INTERVAL = PLACE["mio_interval"]
MIO_QUEUE = PLACE["mio_queue"]
MIO_SHARE = PLACE["mio_share"]
WARP_QUEUE = PLACE["warp_queue"]
XU_QUEUE = PLACE["xu_queue"]
STORE_DRAIN = PLACE["store_drain_latency"]
OPERAND_LATENCY = PLACE["operand_latency"]

AHEAD_OF_ALL, AHEAD = np.int64(1) << 61, np.int64(1) << 60
"""What the last warp, and others that have not yielded, are ahead by when a scheduler selects; ages are below 2^60."""


@jit
def _select(q, now, t):
    """The warp that scheduler *q* issues from in this cycle, or -1; then Q_NEXT says when to look again."""
    CONFIG = t.CONFIG
    NUMBERS = t.NUMBERS
    OPS = t.OPS
    WARPS = t.WARPS
    SMS = t.SMS
    SCHEDULERS = t.SCHEDULERS
    MEMBERS = t.MEMBERS
    members = CONFIG[G_MEMBERS]
    sm = q // CONFIG[G_SCHEDULERS]
    last = SCHEDULERS[q * N_SCHEDULER + Q_LAST]
    policy = np.int64(NUMBERS[POLICY])
    mio_free = SCHEDULERS[q * N_SCHEDULER + Q_MIO_FREE]
    lsu_free = ceil(SMS[sm * N_SM + M_LSU_FREE] - NUMBERS[MIO_QUEUE])
    following = np.int64(NEVER)
    best = np.int64(-1)
    best_key = np.int64(NEVER)
    eligible = 0
    for j in range(members):
        wi = MEMBERS[q * members + j]
        if wi < 0:
            break
        row = wi * N_WARP
        ready = WARPS[row + W_READY]
        if ready > now:
            following = min(following, ready)
            continue
        op = WARPS[row + W_PC] * N_OP
        unit = OPS[op + O_UNIT]
        free = now
        why = MATH
        if FIXED <= unit <= GLOBAL or unit == FENCE:
            pipe = OPS[op + O_PIPE]
            if unit == FIXED:
                free = max(free, pipe_free(q, pipe, now, t.PIPES))
            else:
                why = MIO
                if pipe != LSU:
                    free = max(free, t.PIPES[q * len(PIPES) + pipe] - np.int64(NUMBERS[XU_QUEUE]))
                free = max(free, mio_free)
                if pipe == LSU:
                    begins = max(lsu_free, WARPS[row + W_SHARED_FREE] - np.int64(NUMBERS[WARP_QUEUE]))
                    if begins > free:
                        free = begins
                        why = LG if unit == GLOBAL else MIO
        elif unit == BARRIER:
            free = max(free, ceil(SMS[sm * N_SM + M_BARRIER_FREE] - NUMBERS[BARRIER_QUEUE]))
            why = STALLED_BARRIER
        if free > now:
            following = min(following, free)
            WARPS[row + W_THROTTLE] = why
            continue
        eligible += 1
        if policy == 1:
            key = np.int64(-1) if wi == last else WARPS[row + W_AGE]
        else:
            key = wi - last - 1 if wi > last else wi - last - 1 + (np.int64(1) << 24)
            loads = OPS[op + O_KIND] in (K_LOAD, K_LOAD_L2, K_LOAD_SYSTEM)
            ahead = policy == 3 and not WARPS[row + W_YIELDS] and not (loads and unit == SHARED)
            by_age = unit == BARRIER if ahead else loads or unit != GLOBAL
            if policy >= 2 and by_age:
                key += WARPS[row + W_AGE] // CONFIG[G_WARPS] << 25
            if ahead:
                key -= AHEAD_OF_ALL if wi == last else AHEAD
        if key < best_key:
            best_key = key
            best = wi
    t.TOTALS[N_ELIGIBLE] += eligible
    if eligible > 1:
        for j in range(members):
            row = MEMBERS[q * members + j] * N_WARP
            if row >= 0 and WARPS[row + W_READY] <= now and row != best * N_WARP:
                WARPS[row + W_PASSED] += 1
    SCHEDULERS[q * N_SCHEDULER + Q_NEXT] = now + 1 if best >= 0 else following
    return best


@jit
def _account(wi, now, WARPS, STALLS):
    """Attribute the cycles since the last issue of a warp to their reasons, at the instruction that waited."""
    row = wi * N_WARP
    at = WARPS[row + W_PC] * N_REASONS
    since = WARPS[row + W_LAST] + 1
    if WARPS[row + W_REASON] == STALLED_BARRIER:
        # On an H200 the barrier counts while it is closed, not the stall counts that elapse meanwhile.
        opened = min(max(WARPS[row + W_HOLD], since), now)
        STALLS[at + STALLED_BARRIER] += opened - since
        since = opened
    fixed = min(max(WARPS[row + W_FIXED], since), now)
    resolved = min(max(WARPS[row + W_RESOLVED], fixed), now)
    ready = min(max(WARPS[row + W_READY], resolved), now)
    passed = min(WARPS[row + W_PASSED], now - ready)
    STALLS[at + WAIT] += fixed - since
    STALLS[at + BRANCHING] += resolved - fixed
    STALLS[at + WARPS[row + W_REASON]] += ready - resolved
    STALLS[at + NOT_SELECTED] += passed
    STALLS[at + WARPS[row + W_THROTTLE]] += now - ready - passed
    STALLS[at + SELECTED] += 1


@jit
def _record(wi, q, now, CONFIG, WARPS, SLOTS, TOTALS, EVENTS):
    """Note an issue for the timeline."""
    row = wi * N_WARP
    at = TOTALS[N_EVENTS] * N_EVENT
    TOTALS[N_EVENTS] += 1
    EVENTS[at + E_SM] = q // CONFIG[G_SCHEDULERS]
    EVENTS[at + E_SCHEDULER] = q % CONFIG[G_SCHEDULERS]
    EVENTS[at + E_WARP] = wi % CONFIG[G_WARPS]
    EVENTS[at + E_NUMBER] = wi
    EVENTS[at + E_BLOCK] = SLOTS[wi // CONFIG[G_WARPS] * N_SLOT + S_BLOCK]
    EVENTS[at + E_PC] = WARPS[row + W_PC]
    EVENTS[at + E_SINCE] = WARPS[row + W_LAST] + 1
    EVENTS[at + E_FIXED] = WARPS[row + W_FIXED]
    EVENTS[at + E_RESOLVED] = WARPS[row + W_RESOLVED]
    EVENTS[at + E_READY] = WARPS[row + W_READY]
    EVENTS[at + E_REASON] = WARPS[row + W_REASON]
    EVENTS[at + E_CYCLE] = now


@jit
def _complete(q, sm, wi, now, late, pc, executed, s, t):
    """Occupy what the instruction at *pc* needs: (when its result is there, why a dependent waits, operands read)."""
    row = pc * N_OP
    unit = t.OPS[row + O_UNIT]
    pipe = t.OPS[row + O_PIPE]
    place = wi // t.CONFIG[G_WARPS]
    read = np.float64(now) + t.NUMBERS[OPERAND_LATENCY]
    if unit == FIXED:
        occupy(q, pipe, now, 0 if t.OPS[row + O_FREEZE] else late, t.OPS[row + O_INTERVAL], t.PIPES)
        return np.float64(now + t.OPS[row + O_LATENCY]), WAIT, read
    if QUEUED <= unit <= GLOBAL:
        t.SCHEDULERS[q * N_SCHEDULER + Q_MIO_FREE] = now + np.int64(t.NUMBERS[MIO_INTERVAL])
        t.SMS[sm * N_SM + M_TURN] = (q + 1) % t.CONFIG[G_SCHEDULERS]
        if unit == GLOBAL:
            read = max(read, t.SMS[sm * N_SM + M_LSU_FREE] + t.NUMBERS[OPERAND_LATENCY])
    if unit == QUEUED:
        begin = np.float64(now)
        if pipe == LSU:
            begin = max(begin, t.SMS[sm * N_SM + M_LSU_FREE])
            t.SMS[sm * N_SM + M_LSU_FREE] = begin + t.OPS[row + O_INTERVAL]
        else:
            at = q * len(PIPES) + pipe
            begin = np.float64(max(now, t.PIPES[at]))
            t.PIPES[at] = max(now, t.PIPES[at]) + t.OPS[row + O_INTERVAL]
            at = sm * N_SM + M_LSU_FREE
            t.SMS[at] = max(t.SMS[at], np.float64(now)) + t.NUMBERS[MIO_SHARE]
        return begin + t.OPS[row + O_LATENCY], LONG if pipe == TEX else SHORT, begin + t.NUMBERS[OPERAND_LATENCY]
    if unit == SHARED or (unit == GLOBAL and executed and s.X[4] > 0):
        kind = t.OPS[row + O_KIND]
        wavefronts = s.X[4] if executed else np.int64(1)
        if executed and kind == K_ATOMIC:  # K_COUNT adds them up instead
            wavefronts = max(wavefronts, meetings(s.ADDRESSES, s.X[1] // t.OPS[row + O_SIZE]))
        return shared_access(sm, wi, now, wavefronts, t.OPS[row + O_LATENCY], t), SHORT, read
    if unit == GLOBAL:
        if not executed:
            return read, LONG, read
        size = t.OPS[row + O_SIZE]
        kind = t.OPS[row + O_KIND]
        done = global_access(
            sm, wi, t.SLOTS[place * N_SLOT + S_BLOCK], now, kind, s.X[2], s.X[1], s.X[1] // size, s.ADDRESSES, t
        )
        if kind not in (K_LOAD, K_LOAD_L2, K_LOAD_SYSTEM, K_LOCAL):
            t.CHIP[C_DRAINED] = max(t.CHIP[C_DRAINED], done)
            sent = t.SMS[sm * N_SM + M_LSU_FREE] if kind == K_REDUCTION else done  # L2 adds without being waited for
            at = wi * N_WARP + W_DRAINED
            t.WARPS[at] = max(t.WARPS[at], ceil(sent + t.NUMBERS[STORE_DRAIN]))
        return done, LONG, read
    if unit == BARRIER:
        at = sm * N_SM + M_BARRIER_FREE
        t.SMS[at] = max(t.SMS[at], np.float64(now)) + t.NUMBERS[BARRIER_INTERVAL]
        return t.SMS[at] + t.NUMBERS[BARRIER_LATENCY], STALLED_BARRIER, read
    if unit == FENCE and t.OPS[row + O_KIND] == K_FENCE_BLOCK:
        return now + t.NUMBERS[FENCE_BLOCK], MEMBAR, read
    if unit == FENCE:
        drained = np.float64(t.WARPS[wi * N_WARP + W_DRAINED])
        return max(now + t.NUMBERS[FENCE_LATENCY], drained), MEMBAR, read
    if unit == EXIT:
        return now + t.NUMBERS[BARRIER_LATENCY], STALLED_BARRIER, read
    return np.float64(now + 1), WAIT, read


@jit
def _follow(wi, q, pc, after, now, done, t):
    """When the warp may issue again as far as the instruction at *pc* decides it; *after* is what it goes on with."""
    NUMBERS = t.NUMBERS
    OPS = t.OPS
    WARPS = t.WARPS
    row = pc * N_OP
    at = wi * N_WARP
    unit = OPS[row + O_UNIT]
    kind = OPS[row + O_KIND]
    fixed = now + max(OPS[row + O_STALL], 1)
    resolved = fixed
    reason = WAIT
    taken = False
    if kind == K_BRANCH:
        taken = after != OPS[row + O_FALL]
        resolved = max(fixed, now + np.int64(NUMBERS[BRANCH_LATENCY if taken else NOT_TAKEN_LATENCY]))
    elif kind == K_RECONVERGE:
        resolved = max(fixed, now + np.int64(NUMBERS[RECONVERGENCE_LATENCY]))
    ready = resolved
    if unit == BARRIER and OPS[row + O_DEFERRED_STALL]:
        WARPS[at + W_HOLD] = ceil(done)
    elif unit == BARRIER:
        ready = max(ready, ceil(done))
        reason = STALLED_BARRIER
    elif unit == FENCE:
        ready = max(ready, ceil(done))
        reason = MEMBAR
    elif kind == K_BRANCH and taken:
        # The target is fetched anew: fetches of one scheduler follow each other, and the next line comes later.
        fetch = max(resolved, t.SCHEDULERS[q * N_SCHEDULER + Q_FETCH_FREE])
        t.SCHEDULERS[q * N_SCHEDULER + Q_FETCH_FREE] = fetch + np.int64(NUMBERS[FETCH_INTERVAL])
        ready = fetch + np.int64(NUMBERS[FETCH_LATENCY])
        reason = FETCHING
        WARPS[at + W_NEXT_LINE] = OPS[max(after, 0) * N_OP + O_LINE] + 1
        WARPS[at + W_NEXT_LINE_AT] = ready + np.int64(NUMBERS[FETCH_NEXT])
    if after >= 0 and OPS[after * N_OP + O_DUAL]:
        ready = now
        fixed = now
        resolved = now
    WARPS[at + W_LAST] = now
    WARPS[at + W_YIELDS] = OPS[row + O_YIELDS]
    WARPS[at + W_FIXED] = fixed
    WARPS[at + W_RESOLVED] = resolved
    WARPS[at + W_READY] = ready
    WARPS[at + W_REASON] = reason
    WARPS[at + W_THROTTLE] = NOT_SELECTED  # unless a pipe is busy: the slot went to another instruction


@jit
def run(until, total_blocks, s, t):
    """Simulate up to cycle *until*; FINISHED, PAUSED, FAILED (see ERROR), STUCK (nobody moves) or FULL (drain EVENTS).

    ``total_blocks`` is when to stop, *s* the engine's State of all places for blocks, *t* the Clock.
    """
    CONFIG = t.CONFIG
    OPS = t.OPS
    WARPS = t.WARPS
    SCHEDULERS = t.SCHEDULERS
    SMS = t.SMS
    TOTALS = t.TOTALS
    schedulers = CONFIG[G_SCHEDULERS]
    warps = CONFIG[G_WARPS]
    window = np.int64(t.NUMBERS[WINDOW])
    capacity = len(t.EVENTS) // N_EVENT
    now = np.int64(t.CHIP[C_NOW])
    while True:
        if TOTALS[N_BLOCKS] == total_blocks:
            return FINISHED
        if now >= until or s.STOP[0]:
            return PAUSED
        following = np.int64(NEVER)
        first = np.int64(t.CHIP[C_NEXT_BLOCK]) % CONFIG[G_SMS]
        for k in range(CONFIG[G_SMS]):
            sm = (first + k) % CONFIG[G_SMS]  # after the one that got the last block: blocks go round
            if SMS[sm * N_SM + M_EVENT] <= now:
                start_blocks(sm, now, s, t)
            ahead_of_others = np.int64(SMS[sm * N_SM + M_TURN])
            for turn in range(schedulers):
                # Schedulers take turns at the load/store unit.
                q = sm * schedulers + (turn + ahead_of_others) % schedulers
                forced = np.int64(-1)
                while SCHEDULERS[q * N_SCHEDULER + Q_NEXT] <= now or forced >= 0:
                    if TOTALS[N_EVENTS] == capacity:
                        return FULL
                    if forced >= 0:
                        wi = forced
                    else:
                        wi = _select(q, now, t)
                    if wi < 0:
                        break
                    forced = np.int64(-1)
                    pc = WARPS[wi * N_WARP + W_PC]
                    row = pc * N_OP
                    ahead = WARPS[wi * N_WARP + W_AHEAD] > 0
                    issues = OPS[row + O_ISSUES] == 1 and not ahead
                    place = wi // warps
                    w = wi % warps
                    memory_pc = OPS[row + O_MEMORY_PC]
                    requests = np.int64(0)
                    kept = False
                    count = np.uint64(0)
                    if memory_pc >= 0:
                        count = np.uint64(memory_pc * machine.N_COUNT) + machine.N_REQUESTS
                        requests = s.COUNTS[count]
                    if issues:
                        _account(wi, now, WARPS, t.STALLS)
                        if CONFIG[G_FROM] <= now < CONFIG[G_TO]:
                            _record(wi, q, now, CONFIG, WARPS, t.SLOTS, TOTALS, t.EVENTS)
                        TOTALS[N_ISSUED] += 1
                        if SCHEDULERS[q * N_SCHEDULER + Q_LAST] != wi:
                            SCHEDULERS[q * N_SCHEDULER + Q_LAST] = wi
                            SCHEDULERS[q * N_SCHEDULER + Q_STREAK] = 0
                        kept = SCHEDULERS[q * N_SCHEDULER + Q_STREAK] >= OPS[row + O_KEPT]
                        SCHEDULERS[q * N_SCHEDULER + Q_STREAK] += 1
                        pay(q, now, SCHEDULERS)
                    at = pc
                    sl = slot_state(s, place, t)
                    sl.LAUNCH[machine.LAUNCH_CLOCK] = now
                    streak = WARPS[wi * N_WARP + W_STREAK] - sl.LAUNCH[machine.LAUNCH_STEPS]
                    while True:
                        if at != pc and CONFIG[G_CONTROL] == 0:
                            end = at + OPS[at * N_OP + O_GROUP]
                            hand_on(wi, at, end, CONFIG, OPS, t.OPERANDS, t.REGISTERS)
                        left = QUANTUM - streak - sl.LAUNCH[machine.LAUNCH_STEPS]
                        status = advance(w, min(OPS[at * N_OP + O_GROUP], left), sl)
                        if status != machine.PAUSED:
                            break
                        if streak + sl.LAUNCH[machine.LAUNCH_STEPS] == QUANTUM:
                            streak = -sl.LAUNCH[machine.LAUNCH_STEPS]
                            if sl.LAUNCH[machine.LAUNCH_ORDER] <= machine.HARDWARE:
                                choose(sl.SPLITS, sl.WARPS, w, machine.INTERLEAVED)
                        split = (w * 32 + sl.WARPS[w * machine.N_WARP + machine.W_CURRENT]) * machine.N_SPLIT
                        at = sl.SPLITS[split + machine.S_PC]
                        if OPS[at * N_OP + O_ISSUES]:
                            break
                    if status == machine.FAILED:
                        t.CHIP[C_NOW] = now
                        return FAILED
                    unit = OPS[row + O_UNIT]
                    if ahead:
                        catch_up(wi, pc, t)
                        SCHEDULERS[q * N_SCHEDULER + Q_NEXT] = now
                        unit = FIXED
                        done = np.float64(now)
                    elif not issues:
                        # Moves and jumps at the start of a kernel or behind a barrier: no issue slot, look again.
                        SCHEDULERS[q * N_SCHEDULER + Q_NEXT] = now
                        unit = FIXED
                        done = np.float64(now)
                    else:
                        late = read_registers(q, row, now, kept, OPS, window, SCHEDULERS)
                        executed = memory_pc >= 0 and s.COUNTS[count] > requests
                        done, why, read = _complete(q, sm, wi, now, late, pc, executed, s, t)
                        note_results(wi, pc, now, done, why, read, CONFIG, OPS, t.OPERANDS, t.BOARDS, t.REGISTERS)
                        after = at if status == machine.PAUSED else np.int64(-1)
                        _follow(wi, q, pc, after, now, done, t)
                        if late + OPS[row + O_FREEZE]:
                            freeze(q, now, late + OPS[row + O_FREEZE], t)
                    if status == machine.DONE:
                        end_warp(wi, sm, pc, now, CONFIG, t.NUMBERS, WARPS, t.SLOTS, SMS, TOTALS, t.STALLS)
                    elif status == machine.BLOCKED:
                        wait_at_barrier(wi, q, pc, now, t)
                    else:
                        awaits(wi, sm, at, now, t)
                        if OPS[at * N_OP + O_DUAL] and issues:
                            forced = wi
                        WARPS[wi * N_WARP + W_STREAK] = streak + sl.LAUNCH[machine.LAUNCH_STEPS]
                    if unit in (BARRIER, EXIT):
                        release(sm, place, ceil(done), now, s, t)
                following = min(following, SCHEDULERS[q * N_SCHEDULER + Q_NEXT])
            following = min(following, ceil(SMS[sm * N_SM + M_EVENT]))
        if following >= NEVER:
            return STUCK
        now = max(following, now)
        t.CHIP[C_NOW] = now
