"""The loop over cycles: schedulers pick warps, the engine executes, and this file says when what follows may issue.

Time is discrete, but cycles in which nothing can happen are skipped.  The semantics are those of the engine
(``door.step``): an instruction is executed at the moment of its issue, and its latency only delays its dependents.
"""

from __future__ import annotations

import numpy as np

from simt.machine import door
from simt.timing import layout as L
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
    LONG,
    LSU,
    MEMBAR,
    NOT_SELECTED,
    QUEUED,
    SELECTED,
    SHARED,
    SHORT,
    STALLED_BARRIER,
    TEX,
    WAIT,
)
from simt.timing.jit import jit, jit_inline
from simt.timing.lsu import global_access, meetings, shared_access
from simt.timing.pipes import freeze, occupy, pay, read_registers
from simt.timing.selection import select
from simt.timing.waits import awaits, ceil, hand_on, note_results

WINDOW = L.PLACE["register_window"]
FETCH_LATENCY = L.PLACE["fetch_latency"]
FETCH_INTERVAL = L.PLACE["fetch_interval"]
FETCH_NEXT = L.PLACE["fetch_next_latency"]
BRANCH_LATENCY = L.PLACE["branch_latency"]
NOT_TAKEN_LATENCY = L.PLACE["branch_not_taken_latency"]
RECONVERGENCE_LATENCY = L.PLACE["reconvergence_latency"]
BARRIER_INTERVAL = L.PLACE["barrier_interval"]
BARRIER_LATENCY = L.PLACE["barrier_latency"]
FENCE_BLOCK = L.PLACE["fence_block_latency"]
FENCE_LATENCY = L.PLACE["fence_latency"]
MIO_INTERVAL = L.PLACE["mio_interval"]
MIO_SHARE = L.PLACE["mio_share"]
STORE_DRAIN = L.PLACE["store_drain_latency"]
L2_LATENCY = L.PLACE["l2_latency"]
OPERAND_LATENCY = L.PLACE["operand_latency"]


@jit
def _account(wi, now, WARPS, READY, PASSED, STALLS):
    """Attribute the cycles since the last issue of a warp to their reasons, at the instruction that waited."""
    row = wi * L.N_WARP
    member = WARPS[row + L.W_MEMBER]
    at = WARPS[row + L.W_PC] * L.N_REASONS
    since = WARPS[row + L.W_LAST] + 1
    if WARPS[row + L.W_REASON] == STALLED_BARRIER:
        # On an H200 the barrier counts while it is closed, not the stall counts that elapse meanwhile.
        opened = min(max(WARPS[row + L.W_HOLD], since), now)
        STALLS[at + STALLED_BARRIER] += opened - since
        since = opened
    fixed = min(max(WARPS[row + L.W_FIXED], since), now)
    resolved = min(max(WARPS[row + L.W_RESOLVED], fixed), now)
    ready = min(max(READY[member], resolved), now)
    passed = min(PASSED[member], now - ready)
    STALLS[at + WAIT] += fixed - since
    STALLS[at + BRANCHING] += resolved - fixed
    STALLS[at + WARPS[row + L.W_REASON]] += ready - resolved
    STALLS[at + NOT_SELECTED] += passed
    STALLS[at + WARPS[row + L.W_THROTTLE]] += now - ready - passed
    STALLS[at + SELECTED] += 1


@jit
def _record(wi, q, now, CONFIG, WARPS, READY, SLOTS, TOTALS, EVENTS):
    """Note an issue for the timeline."""
    row = wi * L.N_WARP
    at = TOTALS[L.N_EVENTS] * L.N_EVENT
    TOTALS[L.N_EVENTS] += 1
    EVENTS[at + L.E_SM] = q // CONFIG[L.G_SCHEDULERS]
    EVENTS[at + L.E_SCHEDULER] = q % CONFIG[L.G_SCHEDULERS]
    EVENTS[at + L.E_WARP] = WARPS[row + L.W_INDEX]
    EVENTS[at + L.E_NUMBER] = wi
    EVENTS[at + L.E_BLOCK] = SLOTS[WARPS[row + L.W_PLACE] * L.N_SLOT + L.S_BLOCK]
    EVENTS[at + L.E_PC] = WARPS[row + L.W_PC]
    EVENTS[at + L.E_SINCE] = WARPS[row + L.W_LAST] + 1
    EVENTS[at + L.E_FIXED] = WARPS[row + L.W_FIXED]
    EVENTS[at + L.E_RESOLVED] = WARPS[row + L.W_RESOLVED]
    EVENTS[at + L.E_READY] = READY[WARPS[row + L.W_MEMBER]]
    EVENTS[at + L.E_REASON] = WARPS[row + L.W_REASON]
    EVENTS[at + L.E_CYCLE] = now


@jit_inline
def _complete(q, sm, wi, now, late, pc, executed, s, t):
    """Occupy what the instruction at *pc* needs: (when its result is there, why a dependent waits, operands read)."""
    row = pc * L.N_OP
    unit = t.OPS[row + L.O_UNIT]
    pipe = t.OPS[row + L.O_PIPE]
    read = np.float64(now) + t.NUMBERS[OPERAND_LATENCY]
    if unit == FIXED:
        occupy(q, pipe, now, 0 if t.OPS[row + L.O_FREEZE] else late, t.OPS[row + L.O_INTERVAL], t.PIPES)
        return np.float64(now + t.OPS[row + L.O_LATENCY]), WAIT, read
    if QUEUED <= unit <= GLOBAL:
        t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_MIO_FREE] = now + np.int64(t.NUMBERS[MIO_INTERVAL])
        turn = q + 1 - sm * t.CONFIG[L.G_SCHEDULERS]
        t.SMS[sm * L.N_SM + L.M_TURN] = turn if turn < t.CONFIG[L.G_SCHEDULERS] else 0
        if unit == GLOBAL:
            read = max(read, t.SMS[sm * L.N_SM + L.M_LSU_FREE] + t.NUMBERS[OPERAND_LATENCY])
    if unit == QUEUED:
        begin = np.float64(now)
        if pipe == LSU:
            begin = max(begin, t.SMS[sm * L.N_SM + L.M_LSU_FREE])
            t.SMS[sm * L.N_SM + L.M_LSU_FREE] = begin + t.OPS[row + L.O_INTERVAL]
        else:
            at = q * len(PIPES) + pipe
            begin = np.float64(max(now, t.PIPES[at]))
            t.PIPES[at] = max(now, t.PIPES[at]) + t.OPS[row + L.O_INTERVAL]
            at = sm * L.N_SM + L.M_LSU_FREE
            t.SMS[at] = max(t.SMS[at], np.float64(now)) + t.NUMBERS[MIO_SHARE]
        return begin + t.OPS[row + L.O_LATENCY], LONG if pipe == TEX else SHORT, begin + t.NUMBERS[OPERAND_LATENCY]
    asked = door.request(s)
    if unit == SHARED or (unit == GLOBAL and executed and asked.wavefronts > 0):
        kind = t.OPS[row + L.O_KIND]
        wavefronts = asked.wavefronts if executed else np.int64(1)
        if executed and kind == L.K_ATOMIC:  # K_COUNT adds them up instead
            wavefronts = max(wavefronts, meetings(asked.addresses, asked.bytes // t.OPS[row + L.O_SIZE]))
        return shared_access(sm, wi, now, wavefronts, t.OPS[row + L.O_LATENCY], t), SHORT, read
    if unit == GLOBAL:
        if not executed:
            return read, LONG, read
        size = t.OPS[row + L.O_SIZE]
        kind = t.OPS[row + L.O_KIND]
        loads = t.OPS[row + L.O_LOADS] != 0
        block = t.SLOTS[t.WARPS[wi * L.N_WARP + L.W_PLACE] * L.N_SLOT + L.S_BLOCK]
        done = global_access(pc, sm, wi, block, now, kind, loads, asked, asked.bytes // size, t)
        if not loads and kind != L.K_LOCAL:
            answered = done + t.NUMBERS[L2_LATENCY] if kind == L.K_STORE else done
            t.CHIP[L.C_DRAINED] = max(t.CHIP[L.C_DRAINED], answered)
            sent = (
                t.SMS[sm * L.N_SM + L.M_LSU_FREE] if kind == L.K_REDUCTION else done
            )  # L2 adds without being waited for
            at = wi * L.N_WARP + L.W_DRAINED
            t.WARPS[at] = max(t.WARPS[at], ceil(sent + t.NUMBERS[STORE_DRAIN]))
        return done, LONG, read
    if unit == BARRIER:
        at = sm * L.N_SM + L.M_BARRIER_FREE
        t.SMS[at] = max(t.SMS[at], np.float64(now)) + t.NUMBERS[BARRIER_INTERVAL]
        return t.SMS[at] + t.NUMBERS[BARRIER_LATENCY], STALLED_BARRIER, read
    if unit == FENCE and t.OPS[row + L.O_KIND] == L.K_FENCE_BLOCK:
        return now + t.NUMBERS[FENCE_BLOCK], MEMBAR, read
    if unit == FENCE:
        drained = np.float64(t.WARPS[wi * L.N_WARP + L.W_DRAINED])
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
    row = pc * L.N_OP
    at = wi * L.N_WARP
    unit = OPS[row + L.O_UNIT]
    kind = OPS[row + L.O_KIND]
    fixed = now + max(OPS[row + L.O_STALL], 1)
    resolved = fixed
    reason = WAIT
    taken = False
    if kind == L.K_BRANCH:
        taken = after != OPS[row + L.O_FALL]
        resolved = max(fixed, now + np.int64(NUMBERS[BRANCH_LATENCY if taken else NOT_TAKEN_LATENCY]))
    elif kind == L.K_RECONVERGE:
        resolved = max(fixed, now + np.int64(NUMBERS[RECONVERGENCE_LATENCY]))
    ready = resolved
    if unit == BARRIER and OPS[row + L.O_DEFERRED_STALL]:
        WARPS[at + L.W_HOLD] = ceil(done)
    elif unit == BARRIER:
        ready = max(ready, ceil(done))
        reason = STALLED_BARRIER
    elif unit == FENCE:
        ready = max(ready, ceil(done))
        reason = MEMBAR
    elif kind == L.K_BRANCH and taken:
        # The target is fetched anew: fetches of one scheduler follow each other, and the next line comes later.
        fetch = max(resolved, t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_FETCH_FREE])
        t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_FETCH_FREE] = fetch + np.int64(NUMBERS[FETCH_INTERVAL])
        ready = fetch + np.int64(NUMBERS[FETCH_LATENCY])
        reason = FETCHING
        WARPS[at + L.W_NEXT_LINE] = OPS[max(after, 0) * L.N_OP + L.O_LINE] + 1
        WARPS[at + L.W_NEXT_LINE_AT] = ready + np.int64(NUMBERS[FETCH_NEXT])
    if after >= 0 and OPS[after * L.N_OP + L.O_DUAL]:
        ready = now
        fixed = now
        resolved = now
    WARPS[at + L.W_LAST] = now
    WARPS[at + L.W_YIELDS] = OPS[row + L.O_YIELDS]
    WARPS[at + L.W_FIXED] = fixed
    WARPS[at + L.W_RESOLVED] = resolved
    t.READY[WARPS[at + L.W_MEMBER]] = ready
    WARPS[at + L.W_REASON] = reason
    WARPS[at + L.W_THROTTLE] = NOT_SELECTED  # unless a pipe is busy: the slot went to another instruction


@jit
def run(until, total_blocks, s, t):
    """Simulate up to cycle *until*.

    FINISHED, PAUSED, FAILED (see ERROR), STUCK (no warp can go on), FULL (drain EVENTS) or CALLED (serve the call of
    the block in place C_CALLS).

    ``total_blocks`` is when to stop, *s* the engine's State of all places for blocks, *t* the Clock.
    """
    CONFIG = t.CONFIG
    OPS = t.OPS
    WARPS = t.WARPS
    SCHEDULERS = t.SCHEDULERS
    SMS = t.SMS
    TOTALS = t.TOTALS
    schedulers = CONFIG[L.G_SCHEDULERS]
    window = np.int64(t.NUMBERS[WINDOW])
    capacity = len(t.EVENTS) // L.N_EVENT
    now = np.int64(t.CHIP[L.C_NOW])
    while True:
        if TOTALS[L.N_BLOCKS] == total_blocks:
            return L.FINISHED
        if now >= until or s.STOP[0]:
            return L.PAUSED
        following = np.int64(L.NEVER)
        first = np.int64(t.CHIP[L.C_NEXT_BLOCK]) % CONFIG[L.G_SMS]
        for k in range(CONFIG[L.G_SMS]):
            sm = first + k  # after the one that got the last block: blocks go round
            if sm >= CONFIG[L.G_SMS]:
                sm -= CONFIG[L.G_SMS]
            if SMS[sm * L.N_SM + L.M_NEXT] > now:
                following = min(following, np.int64(SMS[sm * L.N_SM + L.M_NEXT]))
                continue
            sm_following = np.int64(L.NEVER)
            if SMS[sm * L.N_SM + L.M_EVENT] <= now:
                start_blocks(sm, now, s, t)
            ahead_of_others = np.int64(SMS[sm * L.N_SM + L.M_TURN])
            for turn in range(schedulers):
                # Schedulers take turns at the load/store unit.
                q = sm * schedulers + turn + ahead_of_others
                if q >= (sm + 1) * schedulers:
                    q -= schedulers
                forced = np.int64(-1)
                while SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT] <= now or forced >= 0:
                    if TOTALS[L.N_EVENTS] == capacity:
                        return L.FULL
                    if forced >= 0:
                        wi = forced
                    else:
                        wi = select(q, sm, now, t)
                    if wi < 0:
                        break
                    forced = np.int64(-1)
                    pc = WARPS[wi * L.N_WARP + L.W_PC]
                    row = pc * L.N_OP
                    ahead = WARPS[wi * L.N_WARP + L.W_AHEAD] > 0
                    issues = OPS[row + L.O_ISSUES] == 1 and not ahead
                    settled = issues  # how long the scheduler's other warps wait did not change
                    place = WARPS[wi * L.N_WARP + L.W_PLACE]
                    w = WARPS[wi * L.N_WARP + L.W_INDEX]
                    memory_pc = OPS[row + L.O_MEMORY_PC]
                    requests = np.int64(0)
                    kept = False
                    if memory_pc >= 0:
                        requests = door.requests(memory_pc, s)
                    if issues:
                        _account(wi, now, WARPS, t.READY, t.PASSED, t.STALLS)
                        if CONFIG[L.G_FROM] <= now < CONFIG[L.G_TO]:
                            _record(wi, q, now, CONFIG, WARPS, t.READY, t.SLOTS, TOTALS, t.EVENTS)
                        TOTALS[L.N_ISSUED] += 1
                        if SCHEDULERS[q * L.N_SCHEDULER + L.Q_LAST] != wi:
                            SCHEDULERS[q * L.N_SCHEDULER + L.Q_LAST] = wi
                            SCHEDULERS[q * L.N_SCHEDULER + L.Q_STREAK] = 0
                        kept = SCHEDULERS[q * L.N_SCHEDULER + L.Q_STREAK] >= OPS[row + L.O_KEPT]
                        SCHEDULERS[q * L.N_SCHEDULER + L.Q_STREAK] += 1
                        pay(q, now, SCHEDULERS)
                    at = pc
                    block = door.block_at(s, place, CONFIG[L.G_R], CONFIG[L.G_P], CONFIG[L.G_PARTICIPANTS])
                    door.set_clock(now, block)
                    streak = WARPS[wi * L.N_WARP + L.W_STREAK]
                    while True:
                        if at != pc and CONFIG[L.G_CONTROL] == 0:
                            end = at + OPS[at * L.N_OP + L.O_GROUP]
                            hand_on(wi, at, end, CONFIG, OPS, t.OPERANDS, t.REGISTERS)
                        status, at, streak = door.step(w, OPS[at * L.N_OP + L.O_GROUP], streak, block)
                        if status != door.PAUSED or OPS[at * L.N_OP + L.O_ISSUES] or OPS[at * L.N_OP + L.O_CALLS]:
                            break
                    if status == door.CALLED:  # it did not issue, and nothing has happened: it comes again
                        t.CHIP[L.C_CALLS] = place
                        return L.CALLED
                    if status == door.FAILED:
                        t.CHIP[L.C_NOW] = now
                        return L.FAILED
                    unit = OPS[row + L.O_UNIT]
                    if ahead:
                        catch_up(wi, pc, t)
                        SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT] = now
                        unit = FIXED
                        done = np.float64(now)
                    elif not issues:
                        # Moves and jumps at the start of a kernel or behind a barrier: no issue slot, look again.
                        SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT] = now
                        unit = FIXED
                        done = np.float64(now)
                    else:
                        late = read_registers(q, row, now, kept, OPS, window, SCHEDULERS)
                        executed = memory_pc >= 0 and door.requests(memory_pc, s) > requests
                        done, why, read = _complete(q, sm, wi, now, late, pc, executed, s, t)
                        note_results(wi, pc, now, done, why, read, CONFIG, OPS, t.OPERANDS, t.BOARDS, t.REGISTERS)
                        _follow(wi, q, pc, at, now, done, t)
                        if late + OPS[row + L.O_FREEZE]:
                            freeze(q, now, late + OPS[row + L.O_FREEZE], t)
                            settled = False
                    if status == door.DONE:
                        end_warp(
                            wi, sm, pc, now, CONFIG, t.NUMBERS, WARPS, t.READY, t.SLOTS, t.STAYS, SMS, TOTALS, t.STALLS
                        )
                    elif status == door.BLOCKED:
                        wait_at_barrier(wi, q, pc, now, t)
                    else:
                        awaits(wi, sm, at, now, t)
                        if OPS[at * L.N_OP + L.O_DUAL] and issues:
                            forced = wi
                        WARPS[wi * L.N_WARP + L.W_STREAK] = streak
                    if unit in (BARRIER, EXIT):
                        release(sm, place, ceil(done), now, s, t)
                        settled = False
                    if settled and forced < 0:
                        own = t.READY[WARPS[wi * L.N_WARP + L.W_MEMBER]]
                        at = q * L.N_SCHEDULER
                        soonest = min(own, SCHEDULERS[at + L.Q_OTHERS])
                        SCHEDULERS[at + L.Q_NEXT] = max(SCHEDULERS[at + L.Q_NEXT], soonest)
                sm_following = min(sm_following, SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT])
            sm_following = min(sm_following, ceil(SMS[sm * L.N_SM + L.M_EVENT]))
            SMS[sm * L.N_SM + L.M_NEXT] = sm_following
            following = min(following, sm_following)
        if following >= L.NEVER:
            return L.STUCK
        now = max(following, now)
        t.CHIP[L.C_NOW] = now
