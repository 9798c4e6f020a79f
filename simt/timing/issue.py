"""An issue: the engine executes an instruction, and this file says what it occupies and when its warp may go on.

The semantics are those of the engine (``door.step``): an instruction is executed at the moment of its issue, or before
if nobody can tell (ahead.py), and its latency only delays its dependents.
"""

from __future__ import annotations

import numpy as np

from simt.machine import door
from simt.timing import layout as L
from simt.timing.blocks import block_at, catch_up, end_warp, release, wait_at_barrier
from simt.timing.codes import (
    BARRIER,
    CONST,
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
    SHARED,
    SHORT,
    STALLED_BARRIER,
    TEX,
    WAIT,
)
from simt.timing.cycles import ceil
from simt.timing.gates import IS_STALLED, N_GATE
from simt.timing.jit import jit, jit_apart, jit_inline, jit_rare
from simt.timing.lines import meetings
from simt.timing.lsu import fence, global_access, shared_access
from simt.timing.pipes import freeze, hold_up_sending, keep_from_fma, occupy, read_registers
from simt.timing.queued import queued
from simt.timing.selection import NONE
from simt.timing.slots import end_of_issue, note_issue
from simt.timing.waits import awaits, hand_on, note_results

WINDOW = L.PLACE["register_window"]
FETCH_LATENCY = L.PLACE["fetch_latency"]
FETCH_INTERVAL = L.PLACE["fetch_interval"]
FETCH_NEXT = L.PLACE["fetch_next_latency"]
BRANCH_LATENCY = L.PLACE["branch_latency"]
NOT_TAKEN_LATENCY = L.PLACE["branch_not_taken_latency"]
REGISTER_LATENCY = L.PLACE["branch_register_latency"]
RECONVERGENCE_LATENCY = L.PLACE["reconvergence_latency"]
BARRIER_INTERVAL = L.PLACE["barrier_interval"]
BARRIER_LATENCY = L.PLACE["barrier_latency"]
FENCE_BLOCK = L.PLACE["fence_block_latency"]
MIO_INTERVAL = L.PLACE["mio_interval"]
OPERAND_LATENCY = L.PLACE["operand_latency"]


@jit_inline
def _requests(row, block, OPS):
    """Requests so far of the memory micro-ops of an instruction: of all, and of those that ask local memory."""
    total = np.int64(0)
    for pc in range(OPS[row + L.O_MEMORY_PC], OPS[row + L.O_MEMORY_END]):
        total += door.requests(pc, block)
    local = OPS[row + L.O_LOCAL_PC]
    return total, door.requests(local, block) if local >= 0 else np.int64(0)


@jit_rare
def _stage(block, t):
    """Keep the request for what a copy loads: the next one stores it to shared memory."""
    asked = door.request(block)
    for l in range(32):
        t.STAGED[l] = asked.addresses[l]
    t.STAGED_SIZE[0] = asked.sectors
    t.STAGED_SIZE[1] = asked.bytes


@jit_inline
def _begin_stretch(wi, pc, block, t):
    """Let the engine execute the instruction at *pc*, and what may be executed early behind it: W_BEHIND.

    Returns its status and the micro-op that follows, W_AFTER if there are instructions behind.
    """
    OPS = t.OPS
    row = wi * L.N_WARP
    op = pc * L.N_OP
    streak = t.WARPS[row + L.W_STREAK]
    behind = OPS[op + L.O_BEHIND] if streak + OPS[op + L.O_STRETCH] < door.QUANTUM else np.int64(0)
    limit = OPS[op + (L.O_STRETCH if behind else L.O_GROUP)]
    status = np.int64(door.PAUSED)
    at = np.int64(0)
    done = np.int64(0)
    if t.RUNS[pc] != 0 and behind == OPS[op + L.O_BEHIND] and streak + limit < door.QUANTUM:
        done, at = door.leap(t.RUNS[pc], t.WARPS[row + L.W_INDEX], limit, block)
        streak += done
    if done < limit:
        status, at, streak = door.step(t.WARPS[row + L.W_INDEX], limit - done, streak, block)
    if status == door.PAUSED:
        t.WARPS[row + L.W_STREAK] = streak
        if behind:
            t.WARPS[row + L.W_BEHIND] = behind
            t.WARPS[row + L.W_AFTER] = at
            at = OPS[op + L.O_FALL]
    return status, at


@jit
def _run_along(wi, at, now, block, t):
    """Execute the micro-ops from *at* on that take no issue slot: as :func:`_begin_stretch`."""
    door.set_clock(now, block)
    OPS = t.OPS
    row = wi * L.N_WARP
    status = np.int64(door.PAUSED)
    streak = t.WARPS[row + L.W_STREAK]
    while status == door.PAUSED and not (OPS[at * L.N_OP + L.O_ISSUES] or OPS[at * L.N_OP + L.O_CALLS]):
        limit = OPS[at * L.N_OP + L.O_GROUP]
        if OPS[at * L.N_OP + L.O_STAGES]:
            _stage(block, t)
        if t.CONFIG[L.G_CONTROL] == 0:
            hand_on(wi, at, at + limit, t.CONFIG, OPS, t.OPERANDS, t.REGISTERS)
        status, at, streak = door.step(t.WARPS[row + L.W_INDEX], limit, streak, block)
    if status == door.PAUSED:
        t.WARPS[row + L.W_STREAK] = streak
    return status, at


@jit_inline
def _behind(wi, pc, t):
    """The micro-op behind the instruction at *pc*, which the engine has executed together with one before it."""
    row = pc * L.N_OP
    return t.WARPS[wi * L.N_WARP + L.W_AFTER] if t.OPS[row + L.O_JUMPS] else t.OPS[row + L.O_FALL]


@jit_inline
def _execute(wi, pc, now, block, t):
    """Let the engine execute the instruction at *pc* of warp *wi*: (status, the micro-op that the warp goes on with).

    It may have executed that before, with another instruction.
    """
    OPS = t.OPS
    row = wi * L.N_WARP
    status = np.int64(door.PAUSED)
    if t.WARPS[row + L.W_BEHIND] > 0:
        t.WARPS[row + L.W_BEHIND] -= 1
        at = _behind(wi, pc, t)
    else:
        door.set_clock(now, block)
        status, at = _begin_stretch(wi, pc, block, t)
    if status == door.PAUSED and not (OPS[at * L.N_OP + L.O_ISSUES] or OPS[at * L.N_OP + L.O_CALLS]):
        status, at = _run_along(wi, at, now, block, t)
    return status, at


@jit_apart
def _complete_later(q, sm, wi, now, pc, executed, local, block, t):
    """:func:`_complete` of an instruction of no fixed latency.

    *executed*: it asked memory for something; *local*: of a generic address, local memory.
    """
    row = pc * L.N_OP
    unit = t.OPS[row + L.O_UNIT]
    pipe = t.OPS[row + L.O_PIPE]
    read = np.float64(now) + t.NUMBERS[OPERAND_LATENCY]
    sent = np.float64(now)
    if QUEUED <= unit <= GLOBAL and pipe == LSU:
        sent = np.float64(max(t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_SENT], now))
        t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_SENT] = np.int64(sent) + t.OPS[row + L.O_OPERANDS]
        number = t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_QUEUED]
        begins = max(t.SMS[sm * L.N_SM + L.M_LSU_FREE], sent, np.float64(t.WARPS[wi * L.N_WARP + L.W_SHARED_FREE]))
        t.QUEUED[q * L.QUEUE_ROOM + number % L.QUEUE_ROOM] = ceil(begins)
        t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_QUEUED] = number + 1
        if unit == GLOBAL:
            number = t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_QUEUED_GLOBAL]
            t.QUEUED_GLOBAL[q * L.QUEUE_ROOM + number % L.QUEUE_ROOM] = ceil(begins)
            t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_QUEUED_GLOBAL] = number + 1
    if QUEUED <= unit <= GLOBAL:
        t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_MIO_FREE] = now + np.int64(t.NUMBERS[MIO_INTERVAL])
        turn = q + 1 - sm * t.CONFIG[L.G_SCHEDULERS]
        t.SMS[sm * L.N_SM + L.M_TURN] = turn if turn < t.CONFIG[L.G_SCHEDULERS] else 0
        if unit == GLOBAL:
            read = max(read, t.SMS[sm * L.N_SM + L.M_LSU_FREE] + t.NUMBERS[OPERAND_LATENCY])
    if unit == QUEUED:
        return queued(q, sm, wi, now, sent, pc, block, t)
    asked = door.request(block)
    if unit == SHARED or (unit == GLOBAL and executed and asked.wavefronts > 0 and t.OPS[row + L.O_STAGES] == 0):
        kind = t.OPS[row + L.O_KIND]
        wavefronts = asked.wavefronts if executed else np.int64(1)
        if executed and kind == L.K_ATOMIC:  # K_COUNT adds them up instead
            wavefronts = max(wavefronts, meetings(asked.addresses, asked.bytes // t.OPS[row + L.O_SIZE]))
        return shared_access(sm, wi, now, sent, wavefronts, t.OPS[row + L.O_LATENCY], t), SHORT, read
    if unit == GLOBAL:
        if not executed:
            return read, LONG, read
        size = t.OPS[row + L.O_SIZE]
        kind = L.K_LOCAL if local else t.OPS[row + L.O_KIND]
        loads = t.OPS[row + L.O_LOADS] != 0
        if t.OPS[row + L.O_STAGES]:
            asked = door.Request(t.STAGED_SIZE[0], t.STAGED_SIZE[1], np.int64(0), t.STAGED)
        number = t.SLOTS[t.WARPS[wi * L.N_WARP + L.W_PLACE] * L.N_SLOT + L.S_BLOCK]
        done = global_access(pc, sm, wi, number, now, sent, kind, loads, asked, asked.bytes // size, t)
        if t.OPS[row + L.O_STAGES]:
            at = wi * L.N_WARP
            if done < L.PENDING:
                t.WARPS[at + L.W_COPIES] = max(t.WARPS[at + L.W_COPIES], ceil(done))
            t.WARPS[at + L.W_COPIED] = max(t.WARPS[at + L.W_COPIED], ceil(done))
        return done, LONG, read
    if unit == BARRIER:
        at = sm * L.N_SM + L.M_BARRIER_FREE
        t.SMS[at] = max(t.SMS[at], np.float64(now)) + t.NUMBERS[BARRIER_INTERVAL]
        return t.SMS[at] + t.NUMBERS[BARRIER_LATENCY], STALLED_BARRIER, read
    if unit == FENCE and t.OPS[row + L.O_KIND] == L.K_FENCE_BLOCK:
        return now + t.NUMBERS[FENCE_BLOCK], MEMBAR, read
    if unit == FENCE:
        return fence(sm, wi, pc, now, t), MEMBAR, read
    if unit == EXIT:
        return now + t.NUMBERS[BARRIER_LATENCY], STALLED_BARRIER, read
    return np.float64(now + 1), WAIT, read


@jit_inline
def _complete(q, sm, wi, now, late, pc, requests, local, block, t):
    """Occupy what the instruction at *pc* needs: (when its result is there, why a dependent waits, operands read).

    *requests* and *local*: of its micro-ops before, see :func:`_requests`.
    """
    row = pc * L.N_OP
    if t.OPS[row + L.O_UNIT] == FIXED:
        late = 0 if t.OPS[row + L.O_FREEZE] else late
        occupy(q, t.OPS[row + L.O_PIPE], now, late, t.OPS[row + L.O_INTERVAL], t.NUMBERS, t.GATES)
        read = np.float64(now) + t.NUMBERS[OPERAND_LATENCY]
        return np.float64(now + t.OPS[row + L.O_LATENCY]), WAIT, read
    executed = in_local = False
    if t.OPS[row + L.O_MEMORY_PC] >= 0:
        asked, asked_local = _requests(row, block, t.OPS)
        executed, in_local = asked > requests, asked_local > local
    return _complete_later(q, sm, wi, now, pc, executed, in_local, block, t)


@jit_inline
def _go_on(wi, pc, now, fixed, resolved, ready, reason, t):
    """Note that a warp has issued the instruction at *pc*, and what it waits for before the next, for *reason* last."""
    WARPS = t.WARPS
    at = wi * L.N_WARP
    WARPS[at + L.W_LAST] = now
    WARPS[at + L.W_YIELDS] = t.OPS[pc * L.N_OP + L.O_YIELDS]
    WARPS[at + L.W_FIXED] = fixed
    t.STANDING[WARPS[at + L.W_GROUP] + IS_STALLED] |= WARPS[at + L.W_BIT]
    WARPS[at + L.W_RESOLVED] = resolved
    member = WARPS[at + L.W_MEMBER]
    t.READY[member] = ready
    WARPS[at + L.W_REASON] = reason
    t.THROTTLE[member] = NOT_SELECTED  # unless a pipe is busy: the slot went to another instruction


@jit
def _in_turn(q, row, now, times, t):
    """When the branch unit of scheduler *q* comes to the instruction at *row*, which takes it so many *times*.

    Only branches to where a register says and BSYNC take it for long (targets.cu).
    """
    gate = q * N_GATE + t.OPS[row + L.O_PIPE]
    begin = max(t.GATES[gate], now)
    t.GATES[gate] = begin + times * t.OPS[row + L.O_INTERVAL]
    return begin


@jit
def _branch(wi, q, pc, after, now, fixed, parted, t):
    """Until when a warp waits for its branch at *pc*, and for *after*, where it goes on; why, if not for the branch.

    *parted*: to how many further places it has sent lanes, if it goes to where a register says.  It is issued anew for
    those of each.
    """
    OPS = t.OPS
    NUMBERS = t.NUMBERS
    at = wi * L.N_WARP
    taken = after != OPS[pc * L.N_OP + L.O_FALL]
    resolved = max(fixed, now + np.int64(NUMBERS[BRANCH_LATENCY if taken else NOT_TAKEN_LATENCY]))
    if not taken:
        return resolved, resolved, WAIT
    # The target is fetched anew: fetches of one scheduler follow each other, and the next line comes later.
    fetch = max(resolved, t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_FETCH_FREE])
    t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_FETCH_FREE] = fetch + np.int64(NUMBERS[FETCH_INTERVAL])
    if OPS[pc * L.N_OP + L.O_SPREADS] >= 0:  # later, without keeping those of other warps waiting
        begin = _in_turn(q, pc * L.N_OP, now, 1 + parted, t)
        resolved = max(resolved, begin + (1 + parted) * np.int64(NUMBERS[REGISTER_LATENCY]))
    ready = max(fetch, resolved) + np.int64(NUMBERS[FETCH_LATENCY])
    t.WARPS[at + L.W_NEXT_LINE] = OPS[max(after, 0) * L.N_OP + L.O_LINE] + 1
    t.WARPS[at + L.W_NEXT_LINE_AT] = ready + np.int64(NUMBERS[FETCH_NEXT])
    return resolved, ready, FETCHING


@jit
def _follow(wi, q, pc, after, now, done, parted, t):
    """When the warp may issue again as far as the instruction at *pc* decides it; *after* is what it goes on with.

    *parted*: as for :func:`_branch`.
    """
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
    if kind == L.K_COMMIT:
        t.COMMITTED[wi * L.GROUPS + WARPS[at + L.W_COMMITS] % L.GROUPS] = WARPS[at + L.W_COPIED]
        WARPS[at + L.W_COMMITS] += 1
    elif kind == L.K_RECONVERGE:
        resolved = max(fixed, _in_turn(q, row, now, 1, t) + np.int64(NUMBERS[RECONVERGENCE_LATENCY]))
    ready = resolved
    if unit == BARRIER and OPS[row + L.O_DEFERRED_STALL]:
        WARPS[at + L.W_HOLD] = ceil(done)
    elif unit == BARRIER:
        ready = max(ready, ceil(done))
        reason = STALLED_BARRIER
    elif unit == FENCE:
        if done < L.PENDING:
            ready = max(ready, ceil(done))
        else:
            WARPS[at + L.W_FENCE] = 1
        reason = MEMBAR
    elif kind == L.K_BRANCH:
        resolved, ready, reason = _branch(wi, q, pc, after, now, fixed, parted, t)
    if after >= 0 and OPS[after * L.N_OP + L.O_DUAL]:
        ready = now
        fixed = now
        resolved = now
    _go_on(wi, pc, now, fixed, resolved, ready, reason, t)


@jit_apart
def _issue_simple(q, sm, wi, at, now, t):
    """:func:`issue` of an O_SIMPLE instruction that has been executed; micro-op *at* follows."""
    warp = wi * L.N_WARP
    pc = t.WARPS[warp + L.W_PC]
    row = pc * L.N_OP
    kept = note_issue(q, wi, now, t)
    t.WARPS[warp + L.W_BEHIND] -= 1
    late = read_registers(q, row, now, kept, t.OPS, np.int64(t.NUMBERS[WINDOW]), t.SCHEDULERS)
    done = np.float64(now + 1)
    if t.OPS[row + L.O_UNIT] == FIXED:
        occupy(q, t.OPS[row + L.O_PIPE], now, late, t.OPS[row + L.O_INTERVAL], t.NUMBERS, t.GATES)
        done = np.float64(now + t.OPS[row + L.O_LATENCY])
    if t.CONFIG[L.G_CONTROL] == 0:
        note_results(wi, pc, done, WAIT, done, t.CONFIG, t.OPS, t.OPERANDS, t.WARPS, t.BOARDS, t.REGISTERS)
    fixed = now + max(t.OPS[row + L.O_STALL], 1)
    if t.OPS[row + L.O_KIND] == L.K_BRANCH:
        resolved, ready, reason = _branch(wi, q, pc, at, now, fixed, np.int64(0), t)
        _go_on(wi, pc, now, fixed, resolved, ready, reason, t)
    else:
        _go_on(wi, pc, now, fixed, fixed, fixed, WAIT, t)
    if late:
        freeze(q, now, late, t)
    awaits(wi, sm, at, now, t)
    end_of_issue(q, late == 0, t.READY[t.WARPS[warp + L.W_MEMBER]], t.SCHEDULERS)


@jit_apart
def issue(q, sm, wi, now, s, t):
    """Issue the next instruction of a warp: (DONE, FAILED or CALLED; the warp if another issues with it, else NONE)."""
    OPS = t.OPS
    WARPS = t.WARPS
    SCHEDULERS = t.SCHEDULERS
    pc = WARPS[wi * L.N_WARP + L.W_PC]
    ahead = WARPS[wi * L.N_WARP + L.W_AHEAD] > 0
    if OPS[pc * L.N_OP + L.O_SIMPLE] and WARPS[wi * L.N_WARP + L.W_BEHIND] > 0 and not ahead:
        at = _behind(wi, pc, t)
        if OPS[at * L.N_OP + L.O_ISSUES] and OPS[at * L.N_OP + L.O_DUAL] == 0:
            _issue_simple(q, sm, wi, at, now, t)
            return L.DONE, np.int64(NONE)
    member = WARPS[wi * L.N_WARP + L.W_MEMBER]
    row = pc * L.N_OP
    issues = OPS[row + L.O_ISSUES] == 1 and not ahead
    settled = issues  # how long the scheduler's other warps wait did not change
    forced = np.int64(NONE)
    place = WARPS[wi * L.N_WARP + L.W_PLACE]
    block = block_at(place, s, t)
    memory_pc = OPS[row + L.O_MEMORY_PC]
    requests = local = parted = np.int64(0)
    spreads = OPS[row + L.O_SPREADS]
    kept = False
    if memory_pc >= 0:
        requests, local = _requests(row, block, OPS)
    if OPS[row + L.O_PIPE] == TEX or OPS[row + L.O_PIPE] == CONST:
        door.forget(block)
    if issues:
        kept = note_issue(q, wi, now, t)
    if spreads >= 0:
        parted = door.partings(spreads, block)
    status, at = _execute(wi, pc, now, block, t)
    if spreads >= 0:
        parted = door.partings(spreads, block) - parted
    if status == door.CALLED:  # it did not issue, and nothing has happened: it comes again
        t.CHIP[L.C_CALLS] = place
        return L.CALLED, forced
    if status == door.FAILED:
        return L.FAILED, forced
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
        late = read_registers(q, row, now, kept, OPS, np.int64(t.NUMBERS[WINDOW]), SCHEDULERS)
        if OPS[row + L.O_FREEZE]:
            hold_up_sending(q, now, SCHEDULERS)
        if OPS[row + L.O_KEEPS_FMA]:
            keep_from_fma(q, now + 1 + OPS[row + L.O_KEEPS_FMA], SCHEDULERS, t.GATES)
        done, why, read = _complete(q, sm, wi, now, late, pc, requests, local, block, t)
        note_results(wi, pc, done, why, read, t.CONFIG, OPS, t.OPERANDS, WARPS, t.BOARDS, t.REGISTERS)
        _follow(wi, q, pc, at, now, done, parted, t)
        if late + OPS[row + L.O_FREEZE]:
            freeze(q, now, late + OPS[row + L.O_FREEZE], t)
            settled = False
    if status == door.DONE:
        end_warp(wi, sm, pc, now, t)
    elif status == door.BLOCKED:
        wait_at_barrier(wi, q, pc, now, t)
    else:
        awaits(wi, sm, at, now, t)
        if OPS[at * L.N_OP + L.O_DUAL] and issues:
            forced = wi
    if unit in (BARRIER, EXIT):
        settled = False
        if unit == EXIT or status != door.BLOCKED:  # a warp that waits at a barrier has opened none
            release(sm, place, ceil(done), now, s, t)
    end_of_issue(q, settled and forced < 0, t.READY[member], SCHEDULERS)
    return L.DONE, forced
