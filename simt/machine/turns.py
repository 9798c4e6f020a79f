"""Turns of splits and warps: which split of a warp runs next, and what its turn uses of the block's budget.

The functions take the flat arrays that they need, because native code calls them, too: see
:mod:`simt.machine.compiled.control`.
"""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.control import LEAVE, RESUME, current, wait
from simt.machine.meeting import settle
from simt.machine.splits import choose, diverge, follows_gpu
from simt.ops.jit import jit, jit_part
from simt.ops.scalar import popcount
from simt.ops.table import MICRO_OPS

BRA, BRX = np.int64(MICRO_OPS["bra"].code), np.int64(MICRO_OPS["brx"].code)

QUANTUM = 1 << 16
"""Micro-ops of one turn of a warp: a warp that spins on what another one writes lets that one run."""

STEPS_PER_INSTRUCTION = 16
"""The budget ends a loop that retires nothing (`while True: pass`) after this many micro-ops an instruction."""

ENDED = -5
"""What native code came to: the turns of all warps up to V_WARP have ended, and are accounted for."""


@jit_part
def resume(SPLITS, WARPS, w):
    """The current split of a warp runs: its micro-op, its lanes and the number of its pass."""
    at = current(WARPS, w)
    if SPLITS[at + L.S_PASS] == 0:
        WARPS[w * L.N_WARP + L.W_PASSES] += 1
        SPLITS[at + L.S_PASS] = WARPS[w * L.N_WARP + L.W_PASSES]
    SPLITS[at + L.S_WAY] = L.ELSEWHERE
    SPLITS[at + L.S_FRESH] = 0
    SPLITS[at + L.S_YIELDED] = 0
    return SPLITS[at + L.S_PC], SPLITS[at + L.S_MASK], SPLITS[at + L.S_PASS]


@jit
def _warpsyncs_give_way(SPLITS, WARPS, w, yielded):
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        at = (w * 32 + i) * L.N_SPLIT
        if SPLITS[at + L.S_STATE] == L.WAIT_WARPSYNC:
            SPLITS[at + L.S_YIELDED] = yielded


@jit
def let_through(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order):
    """Orders of a GPU, no split can run: whether one that waits at a convergence barrier goes on.

    Convergence barriers do not wait for lanes at a warpsync then: lanes that return early wait at the end of a kernel
    for those before a block barrier, whose warpsync waits for them (on an H200 the former leave together).

    Else the newest goes on, if all wait at such, or if barriers were moved: splits that set one barrier register in
    turn, as in a recursion, may wait for each other, or for lanes that passed.  On an H200 such code ends, too.
    """
    if not follows_gpu(order):
        return False
    _warpsyncs_give_way(SPLITS, WARPS, w, 1)
    if settle(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order) != 0:
        return choose(SPLITS, WARPS, w, order)
    _warpsyncs_give_way(SPLITS, WARPS, w, 0)
    waiting = -1
    others = False
    for i in range(WARPS[w * L.N_WARP + L.W_SPLITS]):
        if SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.WAIT_BSYNC:
            waiting = i
        else:
            others = True
    if waiting < 0 or (others and WARPS[w * L.N_WARP + L.W_MOVED] == 0):
        return False
    at = (w * 32 + waiting) * L.N_SPLIT
    SPLITS[at + L.S_PC] += 1
    SPLITS[at + L.S_STATE] = L.READY
    WARPS[w * L.N_WARP + L.W_CURRENT] = waiting
    return True


@jit_part
def another(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order):
    """After a split that waits or has ended: PAUSED if another one is current now, else DONE or BLOCKED."""
    WARPS[w * L.N_WARP + L.W_RELEASED] = 0
    n = WARPS[w * L.N_WARP + L.W_SPLITS]
    if n == 0:
        return L.DONE
    if n == 1 and SPLITS[current(WARPS, w) + L.S_STATE] == L.WAIT_BARRIER:
        return L.BLOCKED
    if choose(SPLITS, WARPS, w, order) or let_through(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order):
        return L.PAUSED
    return L.BLOCKED


@jit
def is_newest(SPLITS, WARPS, w):
    """Whether the current split of a warp is the newest that can run."""
    for i in range(WARPS[w * L.N_WARP + L.W_CURRENT] + 1, WARPS[w * L.N_WARP + L.W_SPLITS]):
        if SPLITS[(w * 32 + i) * L.N_SPLIT + L.S_STATE] == L.READY:
            return False
    return True


@jit
def part_late(CODE, SPLITS, WARPS, w, pc, code, first, executing, order):
    """Native code has run lanes that parted at branch *pc* without noting that: see :mod:`compiled.parting`.

    Lanes *executing* jump; they run now if the others wait already, at the BSYNC *first* (-1: these run).
    """
    diverge(SPLITS, WARPS, w, order, pc, CODE[code + L.C_IMM], executing)
    resume(SPLITS, WARPS, w)
    if first >= 0:
        wait(SPLITS, current(WARPS, w), first, L.WAIT_BSYNC, CODE[np.uint64(first * L.N_CODE) + L.C_IMM])
        choose(SPLITS, WARPS, w, order)
        resume(SPLITS, WARPS, w)
    return 0


@jit_part
def may_go_round(CODE, pc):
    """Whether micro-op *pc* may begin another round of a loop: where a split that may be spinning gives way.

    Not anywhere: the splits of a warp share uniform registers, which code sets and uses a few instructions later.
    """
    code = np.uint64(pc * L.N_CODE)
    op = CODE[code + L.C_OP] & L.OP_MASK
    return op == BRX or (op == BRA and CODE[code + L.C_IMM] <= pc)


@jit_part
def goes_on(status):
    """Whether a turn that ended with this status continues at the next call of the engine."""
    return status == L.TRACE_FULL or status == L.CALLED or status == L.INTERRUPTED


@jit_part
def account(WARPS, LAUNCH, w, executed, retired, status):
    """Note what a turn used of the block's budget, and where it ended early."""
    wbase = w * L.N_WARP
    steps = executed - WARPS[wbase + L.W_USED]
    LAUNCH[L.LAUNCH_EXECUTED] += retired
    WARPS[wbase + L.W_RETIRED] += retired
    LAUNCH[L.LAUNCH_STEPS] += steps
    LAUNCH[L.LAUNCH_PROGRESS] += steps
    LAUNCH[L.LAUNCH_LEFT] -= steps
    WARPS[wbase + L.W_USED] = executed - (status == L.CALLED) if goes_on(status) else 0


@jit_part
def is_over(LAUNCH, retired, steps):
    """Whether a block that executes so much more is over its budget."""
    budget = LAUNCH[L.LAUNCH_BUDGET]
    too_many = LAUNCH[L.LAUNCH_EXECUTED] + retired > budget
    return too_many or LAUNCH[L.LAUNCH_STEPS] + steps > budget * STEPS_PER_INSTRUCTION


@jit_part
def turn_length(LAUNCH):
    """Micro-ops of a new turn, in orders without turns after every instruction."""
    return QUANTUM if LAUNCH[L.LAUNCH_ROUND] == 0 else LAUNCH[L.LAUNCH_ROUND]


@jit_part
def end_of(LAUNCH, quantum, executed):
    """After how many micro-ops a turn ends that has executed some already.

    A split that is to give way goes on to the end of its round, so that nothing, or less, may be left.
    """
    return min(quantum, executed + max(LAUNCH[L.LAUNCH_LEFT], 0))


@jit_part
def can_run(SPLITS, WARPS, w, order):
    """Whether a warp with splits can run, its current split then."""
    return SPLITS[current(WARPS, w) + L.S_STATE] == L.READY or choose(SPLITS, WARPS, w, order)


@jit_part
def hand_warp(NATIVE, WARPS, LAUNCH, w):
    """Tell native code where warp *w* has its registers and predicates."""
    NATIVE[L.V_WARP] = w
    NATIVE[L.V_ABSENT] = popcount(WARPS[w * L.N_WARP + L.W_ABSENT])
    NATIVE[L.V_ROWS] = NATIVE[L.V_UNIFORM] + 8 * 32 * w * LAUNCH[L.LAUNCH_REGISTERS]
    NATIVE[L.V_PREDICATES] = NATIVE[L.V_ALL_PREDICATES] + 8 * w * LAUNCH[L.LAUNCH_PREDICATES]


@jit_part
def _next_warp(NATIVE, SPLITS, WARPS, LAUNCH, STOP, w, order):
    """Begin the turn of the next warp that can run in native code; whether there is one.

    After the last warp a new round begins, as in run_blocks; that no warp can run is left to that to find out.
    """
    warps = LAUNCH[L.LAUNCH_WARPS]
    around = False
    for _ in range(warps):
        after = w + 1
        if after == warps and LAUNCH[L.LAUNCH_ROUND] == 0:
            after = 0
            around = True
        if STOP[0] != 0 or after == warps or WARPS[after * L.N_WARP + L.W_QUANTUM] != 0:  # an interrupted turn goes on
            break
        w = after
        if WARPS[w * L.N_WARP + L.W_SPLITS] != 0 and can_run(SPLITS, WARPS, w, order):
            if around:
                LAUNCH[L.LAUNCH_PROGRESS] = 0
            hand_warp(NATIVE, WARPS, LAUNCH, w)
            NATIVE[L.V_END] = end_of(LAUNCH, turn_length(LAUNCH), 0)
            NATIVE[L.V_LEFT] = NATIVE[L.V_END]
            NATIVE[L.V_RETIRED] = 0
            return True
    NATIVE[L.V_WARP] = warps - 1 if around else w
    return False


@jit
def turn(NATIVE, SPLITS, WARPS, PARTICIPANTS, LAUNCH, STOP, w, n_barriers, order, where):
    """In native code, after a control micro-op that came to *where* (RESUME or LEAVE): which split runs now.

    If the warp has none that can, its turn ends, and that of the next warp begins.  Returns the micro-op at which
    native code goes on, or, if the engine is to go on, *where*, or ENDED.
    """
    if where == LEAVE:
        executed = NATIVE[L.V_END] - NATIVE[L.V_LEFT]
        if is_over(LAUNCH, NATIVE[L.V_RETIRED], executed - WARPS[w * L.N_WARP + L.W_USED]):
            return np.int64(LEAVE)
        status = another(SPLITS, WARPS, PARTICIPANTS, w, n_barriers, order)
        if status != L.PAUSED:
            account(WARPS, LAUNCH, w, executed, NATIVE[L.V_RETIRED], status)
            WARPS[w * L.N_WARP + L.W_QUANTUM] = 0
            if not _next_warp(NATIVE, SPLITS, WARPS, LAUNCH, STOP, w, order):
                return np.int64(ENDED)
            w = NATIVE[L.V_WARP]
    if WARPS[w * L.N_WARP + L.W_RELEASED] != 0:
        return np.int64(RESUME)
    pc, active, _ = resume(SPLITS, WARPS, w)
    NATIVE[L.V_ACTIVE] = active
    NATIVE[L.V_EXITED] = popcount(WARPS[w * L.N_WARP + L.W_EXITED])
    return pc
