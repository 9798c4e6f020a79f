"""The loop over cycles: schedulers pick warps, the engine executes, and this file says when what follows may issue.

Time is discrete, but cycles in which nothing can happen are skipped.  The semantics are those of the engine
(``advance``): an instruction is executed at the moment of its issue, and its latency only delays its dependents.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as machine
from simt.machine.engine import QUANTUM, advance, start_block
from simt.machine.splits import choose
from simt.timing.classes import PIPES, Reason, Unit
from simt.timing.jit import jit, jit_inline
from simt.timing.layout import *
from simt.timing.lsu import global_access, meetings, shared_access
from simt.timing.slots import slot_state

FIXED = int(Unit.FIXED)
QUEUED = int(Unit.QUEUED)
SHARED = int(Unit.SHARED)
GLOBAL = int(Unit.GLOBAL)
BARRIER = int(Unit.BARRIER)
EXIT = int(Unit.EXIT)
FENCE = int(Unit.FENCE)
LSU = PIPES.index("lsu")
UNIFORM = PIPES.index("uniform")
FMA = PIPES.index("fma")
FMA_LIGHT = PIPES.index("fma_light")
FMA_HEAVY = PIPES.index("fma_heavy")
FMA_BOTH = PIPES.index("fma_both")

SELECTED = int(Reason.SELECTED)
NOT_SELECTED = int(Reason.NOT_SELECTED)
WAIT = int(Reason.WAIT)
LONG = int(Reason.LONG_SCOREBOARD)
SHORT = int(Reason.SHORT_SCOREBOARD)
STALLED_BARRIER = int(Reason.BARRIER)
BRANCHING = int(Reason.BRANCH_RESOLVING)
MATH = int(Reason.MATH_PIPE_THROTTLE)
MIO = int(Reason.MIO_THROTTLE)
LG = int(Reason.LG_THROTTLE)
FETCHING = int(Reason.NO_INSTRUCTION)
MEMBAR = int(Reason.MEMBAR)
DRAIN = int(Reason.DRAIN)

POLICY = PLACE["scheduler_policy"]
WINDOW = PLACE["register_window"]
FETCH_LATENCY = PLACE["fetch_latency"]
FETCH_INTERVAL = PLACE["fetch_interval"]
FETCH_NEXT = PLACE["fetch_next_latency"]
BRANCH_LATENCY = PLACE["branch_latency"]
NOT_TAKEN_LATENCY = PLACE["branch_not_taken_latency"]
RECONVERGENCE_LATENCY = PLACE["reconvergence_latency"]
MISS_LATENCY = PLACE["instruction_miss_latency"]
PREFETCH = PLACE["instruction_prefetch_lines"]
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
EXIT_LATENCY = PLACE["exit_latency"]
STORE_DRAIN = PLACE["store_drain_latency"]
OPERAND_LATENCY = PLACE["operand_latency"]
BLOCK_INTERVAL = PLACE["block_interval"]
BLOCK_LATENCY = PLACE["block_latency"]
WARP_INTERVAL = PLACE["warp_interval"]

AHEAD_OF_ALL, AHEAD = np.int64(1) << 61, np.int64(1) << 60
"""What the last warp, and others that have not yielded, are ahead by when a scheduler selects; ages are below 2^60."""


@jit_inline
def _ceil(x):
    return np.int64(np.ceil(x))


@jit
def _fetch(sm, line, now, CONFIG, NUMBERS, FETCHED):
    """When a line of instructions is there; the first warp of the SM that wants it waits, the next lines follow."""
    base = sm * CONFIG[G_LINES]
    if FETCHED[base + line] < 0:
        FETCHED[base + line] = now + np.int64(NUMBERS[MISS_LATENCY])
    for k in range(line + 1, min(line + 1 + np.int64(NUMBERS[PREFETCH]), CONFIG[G_LINES])):
        if FETCHED[base + k] < 0:
            FETCHED[base + k] = FETCHED[base + line] + (k - line)
    return FETCHED[base + line]


@jit
def _awaits(wi, sm, pc, now, t):
    """Set when the instruction at *pc*, next of warp *wi*, may issue: not before W_READY, its operands, its fetch."""
    CONFIG = t.CONFIG
    OPS = t.OPS
    WARPS = t.WARPS
    BOARDS = t.BOARDS
    REGISTERS = t.REGISTERS
    row = pc * N_OP
    at = wi * N_WARP
    ready = WARPS[at + W_READY]
    reason = WARPS[at + W_REASON]
    if CONFIG[G_CONTROL]:
        mask = OPS[row + O_WAIT_MASK]
        board = 0
        while mask:
            if mask & 1:
                k = (wi * SCOREBOARDS + board) * 2
                if BOARDS[k] > ready:
                    ready = BOARDS[k]
                    reason = BOARDS[k + 1]
            mask >>= 1
            board += 1
    else:
        for i in range(OPS[row + O_SOURCES], OPS[row + O_RESULTS_END]):
            k = (wi * CONFIG[G_REGISTERS] + t.OPERANDS[i]) * 2
            if REGISTERS[k] > ready:
                ready = REGISTERS[k]
                reason = REGISTERS[k + 1]
    unit = OPS[row + O_UNIT]
    if WARPS[at + W_HOLD] > ready and (unit != FIXED or OPS[row + O_PIPE] == UNIFORM):
        ready = WARPS[at + W_HOLD]
        reason = STALLED_BARRIER
    line = OPS[row + O_LINE]
    there = _fetch(sm, line, now, CONFIG, t.NUMBERS, t.FETCHED)
    if line == WARPS[at + W_NEXT_LINE]:
        there = max(there, WARPS[at + W_NEXT_LINE_AT])
    if there > ready:
        ready = there
        reason = FETCHING
    WARPS[at + W_READY] = ready
    WARPS[at + W_REASON] = reason
    WARPS[at + W_PC] = pc
    WARPS[at + W_PASSED] = 0


@jit
def _hand_on(wi, first, end, CONFIG, OPS, OPERANDS, REGISTERS):
    """Micro-ops without an issue slot: their results are ready when their sources are."""
    for pc in range(first, end):
        row = pc * N_OP
        when = np.int64(0)
        why = WAIT
        for i in range(OPS[row + O_SOURCES], OPS[row + O_SOURCES_END]):
            k = (wi * CONFIG[G_REGISTERS] + OPERANDS[i]) * 2
            if REGISTERS[k] > when:
                when = REGISTERS[k]
                why = REGISTERS[k + 1]
        for i in range(OPS[row + O_RESULTS], OPS[row + O_RESULTS_END]):
            k = (wi * CONFIG[G_REGISTERS] + OPERANDS[i]) * 2
            REGISTERS[k] = when
            REGISTERS[k + 1] = why


@jit
def _room_at(sm, now, t):
    """When the SM has room for the warps of a block: now, or not before its next warp has gone.

    On an H200 a block starts as soon as enough warps have gone, of whatever blocks (phases.cu: tails of one warp).
    """
    CONFIG = t.CONFIG
    warps = CONFIG[G_PLACES] * CONFIG[G_WARPS]
    free = CONFIG[G_ROOM]
    following = np.int64(NEVER)
    for wi in range(sm * warps, (sm + 1) * warps):
        gone = t.WARPS[wi * N_WARP + W_GONE_AT]
        if t.WARPS[wi * N_WARP + W_STATE] != EMPTY:
            free -= 1
        elif gone > now:
            free -= 1
            following = min(following, gone)
    return np.int64(now) if free >= CONFIG[G_WARPS] else following


@jit
def _start_blocks(sm, now, s, t):
    """Give the SM the blocks that are due, and say when to look again."""
    CONFIG = t.CONFIG
    SMS = t.SMS
    at = sm * N_SM
    dynamic = CONFIG[G_STRIDE] == 0
    event = np.float64(NEVER)
    for place in range(sm * CONFIG[G_PLACES], (sm + 1) * CONFIG[G_PLACES]):
        slot = place * N_SLOT
        if t.SLOTS[slot + S_BLOCK] >= 0:
            continue
        if dynamic:
            block = np.int64(t.CHIP[C_NEXT_BLOCK])
            free = t.CHIP[C_DISPATCH_FREE]
        else:
            block = CONFIG[G_FIRST] + sm + np.int64(SMS[at + M_NEXT_BLOCK]) * CONFIG[G_STRIDE]
            free = SMS[at + M_DISPATCH_FREE]
        if block >= CONFIG[G_BLOCKS]:
            break
        when = max(np.float64(max(t.SLOTS[slot + S_FREE_AT], _room_at(sm, now, t))), free)
        if when > now:
            event = min(event, np.ceil(when))
            continue
        SMS[at + M_NEXT_BLOCK] += 1
        if dynamic:
            t.CHIP[C_NEXT_BLOCK] += 1
            t.CHIP[C_DISPATCH_FREE] = max(free, now - 1.0) + t.NUMBERS[BLOCK_INTERVAL]
        else:
            SMS[at + M_DISPATCH_FREE] = max(free, now - 1.0) + t.NUMBERS[BLOCK_INTERVAL] * CONFIG[G_STRIDE]
        sl = slot_state(s, place, t)
        start_block(block, sl)
        sl.LAUNCH[machine.LAUNCH_SM] = sm
        sl.LAUNCH[machine.LAUNCH_FIRST_WARP] = place % CONFIG[G_PLACES] * CONFIG[G_WARPS]
        t.SLOTS[slot + S_BLOCK] = block
        t.SLOTS[slot + S_WARPS] = CONFIG[G_WARPS]
        _start_warps(sm, place, now, t)
    SMS[at + M_EVENT] = event


@jit
def _start_warps(sm, place, now, t):
    """The warps of a new block, one after the other."""
    CONFIG = t.CONFIG
    NUMBERS = t.NUMBERS
    WARPS = t.WARPS
    SMS = t.SMS
    SCHEDULERS = t.SCHEDULERS
    TOTALS = t.TOTALS
    at = sm * N_SM
    if SMS[at + M_RESIDENT] == 0:
        SMS[at + M_ACTIVE_SINCE] = now
    SMS[at + M_RESIDENT] += CONFIG[G_WARPS]
    for w in range(CONFIG[G_WARPS]):
        wi = place * CONFIG[G_WARPS] + w
        SMS[at + M_START_FREE] = max(SMS[at + M_START_FREE], np.float64(now)) + NUMBERS[WARP_INTERVAL]
        start = _ceil(SMS[at + M_START_FREE])
        row = wi * N_WARP
        WARPS[row + W_READY] = start
        WARPS[row + W_FIXED] = start
        WARPS[row + W_REASON] = WAIT
        WARPS[row + W_LAST] = start - 1
        WARPS[row + W_AGE] = TOTALS[N_AGE]
        TOTALS[N_AGE] += 1
        WARPS[row + W_START] = start
        WARPS[row + W_STATE] = RUNNING
        WARPS[row + W_STREAK] = 0
        WARPS[row + W_RESOLVED] = start
        WARPS[row + W_HOLD] = 0
        WARPS[row + W_SHARED_FREE] = 0
        WARPS[row + W_AHEAD] = 0
        WARPS[row + W_NEXT_LINE] = -1
        WARPS[row + W_DRAINED] = 0
        for k in range(SCOREBOARDS * 2):
            t.BOARDS[wi * SCOREBOARDS * 2 + k] = 0
        if CONFIG[G_CONTROL] == 0:
            for k in range(CONFIG[G_REGISTERS] * 2):
                t.REGISTERS[wi * CONFIG[G_REGISTERS] * 2 + k] = 0
        _awaits(wi, sm, 0, start, t)
        q = (sm * CONFIG[G_SCHEDULERS] + wi % CONFIG[G_SCHEDULERS]) * N_SCHEDULER
        SCHEDULERS[q + Q_NEXT] = min(SCHEDULERS[q + Q_NEXT], WARPS[row + W_READY])


@jit_inline
def _pipe_free(q, pipe, now, PIPES_FREE):
    """When a pipe of scheduler *q* takes an instruction: of FMAs, either half; of half-precision ones, both."""
    light = PIPES_FREE[q * len(PIPES) + FMA_LIGHT]
    heavy = PIPES_FREE[q * len(PIPES) + FMA_HEAVY]
    if pipe == FMA:
        return min(light, heavy)
    if pipe == FMA_BOTH:
        return max(light, heavy)
    return PIPES_FREE[q * len(PIPES) + pipe]


@jit_inline
def _occupy(q, pipe, now, late, interval, PIPES_FREE):
    """An instruction enters a pipe of scheduler *q*, *late* cycles after its issue if it waits for its registers.

    FMAs go to the light half if it is free, else to the other.
    """
    light = q * len(PIPES) + FMA_LIGHT
    heavy = q * len(PIPES) + FMA_HEAVY
    place = q * len(PIPES) + pipe
    if pipe == FMA:
        place = heavy if PIPES_FREE[light] > now and PIPES_FREE[heavy] < PIPES_FREE[light] else light
    until = max(_pipe_free(q, pipe, now, PIPES_FREE), now + late) + interval
    if pipe == FMA_BOTH:
        PIPES_FREE[light] = until
        PIPES_FREE[heavy] = until
    else:
        PIPES_FREE[place] = until


@jit_inline
def _read_registers(q, row, now, kept, OPS, WINDOW, SCHEDULERS):
    """Ports of the register file: for how many cycles the instruction at *row* keeps scheduler *q* from dispatching.

    Each bank delivers one register a cycle; *kept* says that the warp's instruction before it issued last, so that the
    registers marked for reuse need no port.  What is not read within the window, dispatch waits for.
    """
    even = OPS[row + (O_EVEN_KEPT if kept else O_EVEN)]
    odd = OPS[row + (O_ODD_KEPT if kept else O_ODD)]
    hidden = OPS[row + O_HIDES]
    at = q * N_SCHEDULER
    late = np.int64(0)
    if even:
        done = max(SCHEDULERS[at + Q_EVEN_FREE], now) + even
        SCHEDULERS[at + Q_EVEN_FREE] = done
        late = max(late, done - now - max(even, WINDOW) - hidden)
    if odd:
        done = max(SCHEDULERS[at + Q_ODD_FREE], now) + odd
        SCHEDULERS[at + Q_ODD_FREE] = done
        late = max(late, done - now - max(odd, WINDOW) - hidden)
    result = OPS[row + O_RESULT]
    if result:
        port = at + (Q_EVEN_WRITTEN if result == 1 else Q_ODD_WRITTEN)
        if OPS[row + O_WRITES_LATER]:
            SCHEDULERS[port] = now + OPS[row + O_WRITES_LATER]
        elif SCHEDULERS[port] == now:
            late += 1
    return late


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
    lsu_free = _ceil(SMS[sm * N_SM + M_LSU_FREE] - NUMBERS[MIO_QUEUE])
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
                free = max(free, _pipe_free(q, pipe, now, t.PIPES))
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
            free = max(free, _ceil(SMS[sm * N_SM + M_BARRIER_FREE] - NUMBERS[BARRIER_QUEUE]))
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
            ahead = policy == 3 and not WARPS[row + W_YIELDS]
            if policy >= 2 and (unit == BARRIER if ahead else loads or unit != GLOBAL):
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


@jit_inline
def _pay(q, now, SCHEDULERS):
    """Slots owed to instructions that ran on behind a barrier: idle cycles pay, else every other issue does."""
    at = q * N_SCHEDULER
    if SCHEDULERS[at + Q_OWED] > 0:
        idle = now - SCHEDULERS[at + Q_ISSUED_AT] - 1
        SCHEDULERS[at + Q_OWED] = max(SCHEDULERS[at + Q_OWED] - idle, 0)
        if SCHEDULERS[at + Q_OWED] > 0:
            SCHEDULERS[at + Q_OWED] -= 1
            SCHEDULERS[at + Q_NEXT] += 1
    SCHEDULERS[at + Q_ISSUED_AT] = now


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
        _occupy(q, pipe, now, 0 if t.OPS[row + O_FREEZE] else late, t.OPS[row + O_INTERVAL], t.PIPES)
        return np.float64(now + t.OPS[row + O_LATENCY]), WAIT, read
    if QUEUED <= unit <= GLOBAL:
        t.SCHEDULERS[q * N_SCHEDULER + Q_MIO_FREE] = now + np.int64(t.NUMBERS[MIO_INTERVAL])
        t.SMS[sm * N_SM + M_TURN] = (q + 1) % t.CONFIG[G_SCHEDULERS]
        read = max(read, t.SMS[sm * N_SM + M_LSU_FREE] + t.NUMBERS[OPERAND_LATENCY]) if pipe == LSU else read
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
        return begin + t.OPS[row + O_LATENCY], SHORT, begin + t.NUMBERS[OPERAND_LATENCY]
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
            t.WARPS[at] = max(t.WARPS[at], _ceil(sent + t.NUMBERS[STORE_DRAIN]))
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


@jit_inline
def _signal(wi, board, when, why, BOARDS):
    """A scoreboard (-1: none) is released at *when*, unless something else holds it for longer."""
    if board >= 0:
        k = (wi * SCOREBOARDS + board) * 2
        if _ceil(when) > BOARDS[k]:
            BOARDS[k] = _ceil(when)
            BOARDS[k + 1] = why


@jit
def _note(wi, pc, now, done, why, read, CONFIG, OPS, OPERANDS, BOARDS, REGISTERS):
    """Scoreboards of the instruction that issued: control bits, or its result registers."""
    row = pc * N_OP
    if CONFIG[G_CONTROL]:
        _signal(wi, OPS[row + O_WRITE_BARRIER], done, why, BOARDS)
        _signal(wi, OPS[row + O_READ_BARRIER], read, why, BOARDS)
    else:
        for i in range(OPS[row + O_RESULTS], OPS[row + O_RESULTS_END]):
            k = (wi * CONFIG[G_REGISTERS] + OPERANDS[i]) * 2
            REGISTERS[k] = _ceil(done)
            REGISTERS[k + 1] = why
        _hand_on(wi, pc + 1, pc + OPS[row + O_GROUP], CONFIG, OPS, OPERANDS, REGISTERS)


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
        WARPS[at + W_HOLD] = _ceil(done)
    elif unit == BARRIER:
        ready = max(ready, _ceil(done))
        reason = STALLED_BARRIER
    elif unit == FENCE:
        ready = max(ready, _ceil(done))
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
def _freeze(q, now, cycles, t):
    """Scheduler *q* dispatches one instruction for some cycles more: the stall counts of its warps stand still, too.

    Measured on an H200: a wide multiply lengthens every wait of its scheduler, not just that of its own warp.
    """
    WARPS = t.WARPS
    t.SCHEDULERS[q * N_SCHEDULER + Q_NEXT] += cycles
    for j in range(t.CONFIG[G_MEMBERS]):
        row = t.MEMBERS[q * t.CONFIG[G_MEMBERS] + j] * N_WARP
        if row < 0 or WARPS[row + W_STATE] != RUNNING or WARPS[row + W_FIXED] <= now:
            continue
        WARPS[row + W_FIXED] += cycles
        WARPS[row + W_RESOLVED] += cycles
        WARPS[row + W_READY] = max(WARPS[row + W_READY], WARPS[row + W_RESOLVED])


@jit
def _block(wi, q, pc, now, t):
    """The warp waits at a barrier.  What may run on behind it issues in the next cycles, and is executed later."""
    row = wi * N_WARP
    ahead = t.OPS[pc * N_OP + O_DEFERRED]
    t.WARPS[row + W_STATE] = AT_BARRIER
    t.WARPS[row + W_READY] = NEVER
    t.WARPS[row + W_STREAK] = 0
    t.WARPS[row + W_AHEAD] = ahead
    begin = np.int64(now)
    mask = t.OPS[pc * N_OP + O_DEFERRED_MASK]
    for board in range(SCOREBOARDS):
        if (mask >> board) & 1:
            begin = max(begin, t.BOARDS[(wi * SCOREBOARDS + board) * 2])
    t.WARPS[row + W_EARLIEST] = max(t.WARPS[row + W_FIXED], begin + t.OPS[pc * N_OP + O_DEFERRED_STALL])
    following = t.OPS[pc * N_OP + O_FALL]
    for _ in range(ahead):
        op = following * N_OP
        _occupy(q, t.OPS[op + O_PIPE], now, 0, t.OPS[op + O_INTERVAL], t.PIPES)
        following = t.OPS[op + O_FALL]
    t.SCHEDULERS[q * N_SCHEDULER + Q_OWED] += ahead


@jit
def _catch_up(wi, pc, t):
    """An instruction that issued behind a barrier before it opened is executed now; its cycles lie in the past."""
    row = wi * N_WARP
    at = pc * N_REASONS
    t.STALLS[at + SELECTED] += 1
    t.STALLS[at + WAIT] += t.WARPS[row + W_FIXED] - t.WARPS[row + W_LAST] - 1
    t.TOTALS[N_ISSUED] += 1
    t.WARPS[row + W_LAST] = t.WARPS[row + W_FIXED]
    t.WARPS[row + W_FIXED] += max(t.OPS[pc * N_OP + O_STALL], 1)
    t.WARPS[row + W_RESOLVED] = t.WARPS[row + W_FIXED]
    t.WARPS[row + W_AHEAD] -= 1
    t.WARPS[row + W_REASON] = STALLED_BARRIER


@jit
def _release(sm, place, when, now, s, t):
    """Warps of the block that waited at a barrier which is now open go on at *when*."""
    sl = slot_state(s, place, t)
    for w in range(t.CONFIG[G_WARPS]):
        wi = place * t.CONFIG[G_WARPS] + w
        row = wi * N_WARP
        if t.WARPS[row + W_STATE] != AT_BARRIER:
            continue
        if choose(sl.SPLITS, sl.WARPS, w, sl.LAUNCH[machine.LAUNCH_ORDER]):
            split = (w * 32 + sl.WARPS[w * machine.N_WARP + machine.W_CURRENT]) * machine.N_SPLIT
            t.WARPS[row + W_STATE] = RUNNING
            t.WARPS[row + W_READY] = max(t.WARPS[row + W_EARLIEST], when)
            t.WARPS[row + W_HOLD] = when
            t.WARPS[row + W_REASON] = STALLED_BARRIER
            _awaits(wi, sm, sl.SPLITS[split + machine.S_PC], now, t)
            q = (sm * t.CONFIG[G_SCHEDULERS] + wi % t.CONFIG[G_SCHEDULERS]) * N_SCHEDULER
            t.SCHEDULERS[q + Q_NEXT] = min(t.SCHEDULERS[q + Q_NEXT], t.WARPS[row + W_READY])


@jit
def _end_warp(wi, sm, pc, now, CONFIG, NUMBERS, WARPS, SLOTS, SMS, TOTALS, STALLS):
    """A warp has exited at *pc*; it stays until its stores are on their way.  After the last one its place is free."""
    row = wi * N_WARP
    exited = now + 1 + np.int64(NUMBERS[EXIT_LATENCY])
    end = max(exited, WARPS[row + W_DRAINED])
    STALLS[pc * N_REASONS + DRAIN] += end - exited
    WARPS[row + W_STATE] = EMPTY
    WARPS[row + W_READY] = NEVER
    TOTALS[N_WARP_CYCLES] += end - WARPS[row + W_START]
    at = sm * N_SM
    SMS[at + M_RESIDENT] -= 1
    if SMS[at + M_RESIDENT] == 0:
        SMS[at + M_ACTIVE] += end - SMS[at + M_ACTIVE_SINCE]
    slot = wi // CONFIG[G_WARPS] * N_SLOT
    SLOTS[slot + S_WARPS] -= 1
    WARPS[row + W_GONE_AT] = end + np.int64(NUMBERS[BLOCK_LATENCY])
    SLOTS[slot + S_FREE_AT] = max(SLOTS[slot + S_FREE_AT], WARPS[row + W_GONE_AT])
    SMS[at + M_EVENT] = min(SMS[at + M_EVENT], np.float64(WARPS[row + W_GONE_AT]))
    if SLOTS[slot + S_WARPS] == 0:
        SLOTS[slot + S_BLOCK] = -1
        TOTALS[N_BLOCKS] += 1


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
                _start_blocks(sm, now, s, t)
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
                        _pay(q, now, SCHEDULERS)
                    at = pc
                    sl = slot_state(s, place, t)
                    sl.LAUNCH[machine.LAUNCH_CLOCK] = now
                    streak = WARPS[wi * N_WARP + W_STREAK] - sl.LAUNCH[machine.LAUNCH_STEPS]
                    while True:
                        if at != pc and CONFIG[G_CONTROL] == 0:
                            end = at + OPS[at * N_OP + O_GROUP]
                            _hand_on(wi, at, end, CONFIG, OPS, t.OPERANDS, t.REGISTERS)
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
                        _catch_up(wi, pc, t)
                        SCHEDULERS[q * N_SCHEDULER + Q_NEXT] = now
                        unit = FIXED
                        done = np.float64(now)
                    elif not issues:
                        # Moves and jumps at the start of a kernel or behind a barrier: no issue slot, look again.
                        SCHEDULERS[q * N_SCHEDULER + Q_NEXT] = now
                        unit = FIXED
                        done = np.float64(now)
                    else:
                        late = _read_registers(q, row, now, kept, OPS, window, SCHEDULERS)
                        executed = memory_pc >= 0 and s.COUNTS[count] > requests
                        done, why, read = _complete(q, sm, wi, now, late, pc, executed, s, t)
                        _note(wi, pc, now, done, why, read, CONFIG, OPS, t.OPERANDS, t.BOARDS, t.REGISTERS)
                        after = at if status == machine.PAUSED else np.int64(-1)
                        _follow(wi, q, pc, after, now, done, t)
                        if late + OPS[row + O_FREEZE]:
                            _freeze(q, now, late + OPS[row + O_FREEZE], t)
                    if status == machine.DONE:
                        _end_warp(wi, sm, pc, now, CONFIG, t.NUMBERS, WARPS, t.SLOTS, SMS, TOTALS, t.STALLS)
                    elif status == machine.BLOCKED:
                        _block(wi, q, pc, now, t)
                    else:
                        _awaits(wi, sm, at, now, t)
                        if OPS[at * N_OP + O_DUAL] and issues:
                            forced = wi
                        WARPS[wi * N_WARP + W_STREAK] = streak + sl.LAUNCH[machine.LAUNCH_STEPS]
                    if unit in (BARRIER, EXIT):
                        _release(sm, place, _ceil(done), now, s, t)
                following = min(following, SCHEDULERS[q * N_SCHEDULER + Q_NEXT])
            following = min(following, _ceil(SMS[sm * N_SM + M_EVENT]))
        if following >= NEVER:
            return STUCK
        now = max(following, now)
        t.CHIP[C_NOW] = now
