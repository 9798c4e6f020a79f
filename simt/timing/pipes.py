"""The pipes and register ports of a scheduler, and what keeps it from dispatch."""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import lowest
from simt.timing import layout as L
from simt.timing.codes import FMA, FMA_BOTH, FMA_HEAVY, FMA_LIGHT
from simt.timing.gates import GROUP, IS_STALLED, N_GATE, N_STANDING, QUEUE
from simt.timing.jit import jit, jit_inline

XU_QUEUE = L.PLACE["xu_queue"]
BEING_SENT = 4
"""Cycles in which an address of 64 bits is sent (operand_interval)."""
SEVERAL = 4 * BEING_SENT
"""... and those of four, from which on a wide multiply holds them up for longer."""


@jit_inline
def _join_halves(q, GATES):
    """When the FMA pipe of scheduler *q* takes what either half, or both together, can do."""
    light = GATES[q * N_GATE + FMA_LIGHT]
    heavy = GATES[q * N_GATE + FMA_HEAVY]
    GATES[q * N_GATE + FMA] = min(light, heavy)
    GATES[q * N_GATE + FMA_BOTH] = max(light, heavy)


@jit_inline
def occupy(q, pipe, now, late, interval, NUMBERS, GATES):
    """An instruction enters a pipe of scheduler *q*, *late* cycles after its issue if it waits for its registers.

    FMAs go to the light half if it is free, else to the other; half-precision ones need both.  The queue before the
    pipe takes the next some cycles before the pipe does.
    """
    light = q * N_GATE + FMA_LIGHT
    heavy = q * N_GATE + FMA_HEAVY
    place = q * N_GATE + pipe
    until = max(GATES[place], now + late) + interval
    if pipe == FMA:
        place = heavy if GATES[light] > now and GATES[heavy] < GATES[light] else light
    GATES[place] = until
    GATES[q * N_GATE + QUEUE + pipe] = until - np.int64(NUMBERS[XU_QUEUE])
    if pipe == FMA_BOTH:
        GATES[light] = until
        GATES[heavy] = until
    _join_halves(q, GATES)


@jit_inline
def keep_from_fma(q, until, SCHEDULERS, GATES):
    """Scheduler *q* issues nothing to the FMA pipe until then.

    Measured on an H100 (products.cu): an FFMA a cycle, or an IMAD.WIDE each four, takes a cycle longer for each load
    of a 64-bit address, a PRMT each two does not.
    """
    SCHEDULERS[q * L.N_SCHEDULER + L.Q_KEPT_FROM_FMA] = until
    light = q * N_GATE + FMA_LIGHT
    heavy = q * N_GATE + FMA_HEAVY
    GATES[light] = max(GATES[light], until)
    GATES[heavy] = max(GATES[heavy], until)
    _join_halves(q, GATES)


@jit_inline
def hold_up_sending(q, now, SCHEDULERS):
    """Scheduler *q* reads the registers of a wide multiply: what waits to be sent to the load/store unit waits.

    Measured on an H100 (sends.cu): two loads with a wide multiply behind them take 9.4 cycles, four 17.7, with an FFMA
    8.1 and 16.4; in products.cu and busy.cu a wide multiply takes 1.2 to 1.7 cycles.  So one of two takes two cycles
    where several loads wait.  What is being sent has been read.
    """
    at = q * L.N_SCHEDULER
    waits = SCHEDULERS[at + L.Q_SENT] - now
    if waits > BEING_SENT:
        SCHEDULERS[at + L.Q_SENT] += 1 + (waits > SEVERAL and SCHEDULERS[at + L.Q_QUEUED] & 1)


@jit_inline
def send(q, now, cycles, SCHEDULERS):
    """Scheduler *q* sends an instruction for another pipe than the load/store unit's on its way: when it begins.

    Measured on an H100 (bodies.cu): 16 loads that L1 has and 8 MUFU, POPC, F2I or S2R take 4 cycles more for each of
    these, as much as an address, and 5 for a constant at a place that a register says.  If the loads keep the
    load/store unit for twice as long, they take nothing more.
    """
    sent = q * L.N_SCHEDULER + L.Q_SENT
    begin = max(SCHEDULERS[sent], now)
    SCHEDULERS[sent] = begin + cycles
    return np.float64(begin)


@jit_inline
def read_registers(q, row, now, kept, OPS, WINDOW, SCHEDULERS):
    """Ports of the register file: for how many cycles the instruction at *row* keeps scheduler *q* from dispatching.

    Each bank delivers one register a cycle; *kept* says that the warp's instruction before it issued last, so that the
    registers marked for reuse need no port.  What is not read within the window, dispatch waits for.
    """
    even = OPS[row + (L.O_EVEN_KEPT if kept else L.O_EVEN)]
    odd = OPS[row + (L.O_ODD_KEPT if kept else L.O_ODD)]
    at = q * L.N_SCHEDULER
    late = np.int64(0)
    starts = np.int64(now)
    if even:
        done = max(SCHEDULERS[at + L.Q_EVEN_FREE], now) + even
        SCHEDULERS[at + L.Q_EVEN_FREE] = done
        late = max(late, done - now - max(even, WINDOW))
        starts = max(starts, done - WINDOW)
    if odd:
        done = max(SCHEDULERS[at + L.Q_ODD_FREE], now) + odd
        SCHEDULERS[at + L.Q_ODD_FREE] = done
        late = max(late, done - now - max(odd, WINDOW))
        starts = max(starts, done - WINDOW)
    if OPS[row + L.O_WRITES_LATER]:
        SCHEDULERS[at + L.Q_WRITTEN] = starts + OPS[row + L.O_WRITES_LATER]
    elif OPS[row + L.O_RESULT] and SCHEDULERS[at + L.Q_WRITTEN] == starts:
        late += 1
    return late


@jit_inline
def pay(q, now, SCHEDULERS):
    """Slots owed to instructions that ran on behind a barrier: idle cycles pay, else every other issue does."""
    at = q * L.N_SCHEDULER
    if SCHEDULERS[at + L.Q_OWED] > 0:
        idle = now - SCHEDULERS[at + L.Q_ISSUED_AT] - 1
        SCHEDULERS[at + L.Q_OWED] = max(SCHEDULERS[at + L.Q_OWED] - idle, 0)
        if SCHEDULERS[at + L.Q_OWED] > 0:
            SCHEDULERS[at + L.Q_OWED] -= 1
            SCHEDULERS[at + L.Q_NEXT] += 1
    SCHEDULERS[at + L.Q_ISSUED_AT] = now


@jit
def freeze(q, now, cycles, t):
    """Scheduler *q* dispatches one instruction for some cycles more: the stall counts of its warps stand still, too.

    Measured on an H200: a wide multiply lengthens every wait of its scheduler, not just that of its own warp.
    """
    WARPS = t.WARPS
    members = t.CONFIG[L.G_MEMBERS]
    t.SCHEDULERS[q * L.N_SCHEDULER + L.Q_NEXT] += cycles
    for group in range(q * members, (q + 1) * members, GROUP):
        standing = group // GROUP * N_STANDING
        stalled = t.STANDING[standing + IS_STALLED]
        rest = stalled
        while rest:
            member = group + lowest(rest)
            row = t.MEMBERS[member] * L.N_WARP
            if WARPS[row + L.W_FIXED] <= now:
                stalled &= ~(rest & -rest)
            elif WARPS[row + L.W_STATE] == L.RUNNING:
                WARPS[row + L.W_FIXED] += cycles
                WARPS[row + L.W_RESOLVED] += cycles
                t.READY[member] = max(t.READY[member], WARPS[row + L.W_RESOLVED])
            rest &= rest - 1
        t.STANDING[standing + IS_STALLED] = stalled
