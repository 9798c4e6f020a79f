"""What an SM asks L2 for, and what comes of the answers.

An SM does by itself what is its own: it looks lines up in its L1 and notes what that lacks as a *request* with its
lines.  L2 answers the requests of all SMs in the order of their cycles (:func:`answer`); then each SM takes its answers
(:func:`take`), before the first of them has an effect.  If one SM is simulated alone, both happen at once.
"""

from __future__ import annotations

import numpy as np

from simt.ops.scalar import popcount
from simt.timing import layout as L
from simt.timing.codes import LONG, MEMBAR
from simt.timing.cycles import ceil
from simt.timing.dirty import written
from simt.timing.jit import jit, jit_inline, jit_rare
from simt.timing.keeping import lose
from simt.timing.l2 import (
    FEW_LINES,
    STORED_UNEVEN,
    bytes_of,
    fetch,
    l2_join,
    l2_place,
    l2_read,
    l2_write,
    look_up,
    received,
    stands_for,
    unevenly,
)
from simt.timing.mates import manner_by_rows
from simt.timing.others import FIRST, LATER, LOADED, SCATTERED, note_touch
from simt.timing.owners import is_neighbours, note_owner
from simt.timing.slices import awaited, leads, note_row, note_writer, serialised
from simt.timing.waits import settle, signal

L1_LATENCY = L.PLACE["l1_latency"]
L2_LATENCY = L.PLACE["l2_latency"]
STORE_DRAIN = L.PLACE["store_drain_latency"]
SOME = 64
"""Lines that L2 gets before it is looked at what it has lost."""
QUEUED = 128.0
"""Cycles that a request may wait in its SM before L2, where several SMs are simulated, has its work all the same."""


@jit_inline
def is_load(kind):
    """Whether a request of *kind* loads, and is not an atomic."""
    return kind in L.LOADS


@jit_inline
def is_alone(t):
    """Whether only one SM is simulated: L2 answers at once."""
    return t.CONFIG[L.G_SMS] == 1


@jit
def request(sm, wi, pc, now, kind, block, manner, word, t):
    """A new request of warp *wi* at *now*, whose first lane asks for *word*: its number among those of the SM."""
    front = sm * L.N_FRONT
    r = t.FRONTS[front + L.F_ASKED]
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    t.REQUESTED[at + L.R_CYCLE] = now
    t.REQUESTED[at + L.R_WARP] = wi
    t.REQUESTED[at + L.R_PC] = pc
    t.REQUESTED[at + L.R_KIND] = kind
    t.REQUESTED[at + L.R_FIRST] = t.FRONTS[front + L.F_LINES]
    t.REQUESTED[at + L.R_LINES] = 0
    t.REQUESTED[at + L.R_BLOCK] = block
    t.REQUESTED[at + L.R_MANNER] = manner
    t.REQUESTED[at + L.R_MOST] = 1
    t.REQUESTED[at + L.R_LANES] = 32
    t.REQUESTED[at + L.R_ROW] = 0
    t.REQUESTED[at + L.R_WORD] = word
    t.REQUESTED[at + L.R_AHEAD] = L.NEVER
    t.REQUESTED[at + L.R_WORDS] = 0
    t.REQUESTED[at + L.R_PITCH] = 0
    t.REQUESTED[at + L.R_SPACED] = 1
    at = (sm * L.REQUESTS + r) * L.N_REQUEST_AT
    t.REQUESTED_AT[at + L.T_SOONEST] = 0.0
    t.REQUESTED_AT[at + L.T_SPREAD] = 0.0
    t.REQUESTED_AT[at + L.T_LATER] = 0.0
    t.FRONTS[front + L.F_ASKED] += 1
    return r


@jit_inline
def _writers(at, a, t):
    """How many blocks use L2 where the request at *at* writes, by what is known of its instruction.

    Once blocks have added to the same few words, others that are farther apart are no sign: they are words anywhere.
    """
    pc = t.REQUESTED[at + L.R_PC]
    if a == t.REQUESTED[at + L.R_FIRST]:
        index = t.WARPS[t.REQUESTED[at + L.R_WARP] * L.N_WARP + L.W_INDEX]
        behind = leads(pc, index, t.REQUESTED[at + L.R_LANES], t.REQUESTED[at + L.R_ROW], t)
        if behind == 0:
            before = t.WRITERS[pc]
            note_writer(pc, t.REQUESTED[at + L.R_BLOCK], t.REQUESTED[at + L.R_WORD], t)
            if before == L.NEVER and t.REQUESTED[at + L.R_KIND] in (L.K_ATOMIC, L.K_REDUCTION):
                t.WRITERS[pc] = before
        elif behind == 1 or (behind > 0 and behind == t.CONFIG[L.G_LAYER]):
            note_row(pc, t.REQUESTED[at + L.R_BLOCK], behind, t.REQUESTED[at + L.R_WORD], t)
    return t.WRITERS[pc]


@jit_inline
def _note_part(at, a, line, size, t):
    """Note what a block stores of a line: *size* bytes, if line *a*, *line*, is the first of the request at *at*.

    Warps that have rows of a block's threads each may fill it together.  One block of each wave is looked at.
    """
    if a != t.REQUESTED[at + L.R_FIRST]:
        return
    pc, block = t.REQUESTED[at + L.R_PC], t.REQUESTED[at + L.R_BLOCK]
    part = L.N_PART * pc
    index = t.WARPS[t.REQUESTED[at + L.R_WARP] * L.N_WARP + L.W_INDEX]
    if t.PARTS[part + L.P_BLOCK] == 0 or block >= t.PARTS[part + L.P_BLOCK] + t.CONFIG[L.G_FIRST_WAVE]:
        if index != t.LEADER[pc]:
            return
        t.PARTS[part + L.P_BLOCK] = block + 1
        t.PARTS[part + L.P_LINE] = line
        t.PARTS[part + L.P_WORDS] = 0
        t.PARTS[part + L.P_BYTES] = 0
    if block + 1 == t.PARTS[part + L.P_BLOCK] and line == t.PARTS[part + L.P_LINE]:
        words = t.REQUESTED[at + L.R_WORDS]
        new = words & ~t.PARTS[part + L.P_WORDS]
        t.PARTS[part + L.P_WORDS] |= words
        t.PARTS[part + L.P_BYTES] += size * popcount(new) // max(popcount(words), 1)
        t.WIDEST[pc] = max(t.WIDEST[pc], t.PARTS[part + L.P_BYTES])


@jit
def _from_l2(sm, a, at, t):
    """When the line *a* of the request at *at* is there for its use; of a store or an atomic, when L2 has it."""
    row = (sm * L.REQUEST_LINES + a) * L.N_LINE
    times = (sm * L.REQUEST_LINES + a) * L.N_LINE_AT
    do = t.ASKED[row + L.A_DO]
    line = t.ASKED[row + L.A_LINE]
    mask = t.ASKED[row + L.A_MASK]
    extra = t.ASKED[row + L.A_EXTRA]
    start = t.ASKED_AT[times + L.T_START]
    sent = t.ASKED_AT[times + L.T_SENT]
    ready = t.ASKED_AT[times + L.T_READY]
    manner = t.REQUESTED[at + L.R_MANNER]
    block = t.REQUESTED[at + L.R_BLOCK]
    if t.ASKED[row + L.A_AFTER] >= 0:
        before = (sm * L.REQUEST_LINES + t.ASKED[row + L.A_AFTER]) * L.N_LINE_AT
        ready = max(ready, t.ASKED_AT[before + L.T_READY])
    down_rows = t.REQUESTED[at + L.R_LINES] > FEW_LINES
    if do == L.D_READ:
        if a == t.REQUESTED[at + L.R_FIRST]:
            word, pitch = t.REQUESTED[at + L.R_WORD], t.REQUESTED[at + L.R_PITCH]
            note_owner(t.REQUESTED[at + L.R_PC], t.REQUESTED[at + L.R_WARP], block, word, pitch, start, t)
        manner = manner_by_rows(t.REQUESTED[at + L.R_PC], t.REQUESTED[at + L.R_WARP], block, line, manner, start, t)
        if manner in (FIRST, LATER) and is_neighbours(line, t.REQUESTED[at + L.R_WARP], block, start, t):
            manner = np.int64(LOADED)
        ready = max(ready, l2_read(sm, line, mask, manner, down_rows, sent, t.REQUESTED[at + L.R_AHEAD], t))
    elif do == L.D_WRITE:
        writers = _writers(at, a, t)
        pc = t.REQUESTED[at + L.R_PC]
        spaced = t.REQUESTED[at + L.R_SPACED]
        size = bytes_of(mask, extra) * spaced
        t.WIDEST[pc] = max(t.WIDEST[pc], size)
        _note_part(at, a, line, size, t)
        columns = extra != 0 and down_rows
        uneven = STORED_UNEVEN if columns else 1.0
        if extra and manner == SCATTERED:
            uneven = unevenly(line, t)
        arrival = received((popcount(mask) + (extra != 0)) * uneven, sent, t)
        ready = l2_write(line, mask, extra, spaced, manner, block, writers, t.WIDEST[pc], columns, arrival, t)
    elif do == L.D_JOIN:
        pc = t.REQUESTED[at + L.R_PC]
        spaced = t.REQUESTED[at + L.R_SPACED]
        _note_part(at, a, line, bytes_of(mask, extra) * spaced, t)
        l2_join(line, mask, extra, spaced, t.WRITERS[pc], t.WIDEST[pc], start, t)
    elif do == L.D_ATOMIC:
        arrival = received(extra, sent, t)
        way = l2_place(line, arrival, t)
        missing, _ = look_up(way, line, mask, manner, arrival, t)
        writers = _writers(at, a, t)
        if t.REQUESTED[at + L.R_LINES] > 1 and t.L2_WRITER[way] == -2:  # warps of several blocks add all over it
            writers = np.float64(L.NEVER)
        real = t.OPS[t.REQUESTED[at + L.R_PC] * L.N_OP + L.O_FLOAT] != 0
        busy = t.ASKED_AT[times + L.T_BUSY]
        if real:
            word = t.REQUESTED[at + L.R_WORD] if t.REQUESTED[at + L.R_LANES] == 1 else np.int64(-1)
            busy += awaited(way, block, mask, word, t.ASKED_AT[times + L.T_AGAIN], writers, t)
        ready = serialised(way, block, writers, t.REQUESTED[at + L.R_MOST], busy, arrival, t)
        if missing:
            ready = max(ready, fetch(sm, way, line, missing, manner, arrival, t) - t.NUMBERS[L2_LATENCY])
        owed = l2_place(stands_for(line, t), arrival, t) if manner == SCATTERED else way
        ready = max(ready, written(owed, mask, np.int64(0), False, False, arrival, t))
    t.ASKED_AT[times + L.T_READY] = ready
    if do <= L.D_READ and t.ASKED[row + L.A_WAY] >= 0:
        return max(start + t.NUMBERS[L1_LATENCY], ready)
    return ready


@jit
def result_of(sm, r, touches, t):
    """When request *r* of *sm* has its result, after L2 has done what it asks; *touches*: loads are noted, too."""
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    times = (sm * L.REQUESTS + r) * L.N_REQUEST_AT
    kind = t.REQUESTED[at + L.R_KIND]
    first = t.REQUESTED[at + L.R_FIRST]
    loads = is_load(kind)
    done = 0.0
    soonest = np.float64(L.NEVER)
    for a in range(first, first + t.REQUESTED[at + L.R_LINES]):
        if loads and touches:
            row = (sm * L.REQUEST_LINES + a) * L.N_LINE
            begin = t.ASKED_AT[(sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_START]
            note_touch(t.REQUESTED[at + L.R_WARP], t.ASKED[row + L.A_LINE], begin, t)
        back = _from_l2(sm, a, at, t)
        done = max(done, back)
        soonest = min(soonest, back)
    if loads:
        done = max(done, max(soonest, t.REQUESTED_AT[times + L.T_SOONEST]) + t.REQUESTED_AT[times + L.T_SPREAD])
    else:
        done = max(done, t.REQUESTED_AT[times + L.T_SOONEST])
    return done + t.REQUESTED_AT[times + L.T_LATER]


@jit
def answer(sm, r, t):
    """L2 answers request *r* of *sm*: when it has its result, or L2 the store, which is kept as T_DONE, too."""
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    times = (sm * L.REQUESTS + r) * L.N_REQUEST_AT
    kind = t.REQUESTED[at + L.R_KIND]
    wi = t.REQUESTED[at + L.R_WARP]
    own = wi * L.N_WARP
    t.CHIP[L.C_DUE] = L.NEVER if is_alone(t) else t.REQUESTED[at + L.R_CYCLE] + QUEUED
    if kind == L.K_TOUCH:
        _touch(sm, at, t)
        return t.REQUESTED_AT[times + L.T_DONE]
    if kind == L.K_FENCE:
        done = max(t.REQUESTED_AT[times + L.T_SOONEST], np.float64(t.WARPS[own + L.W_STORED]))
        t.CHIP[L.C_FENCED] = 1
        t.REQUESTED_AT[times + L.T_DONE] = done
        return done
    if SOME <= t.CHIP[L.C_PLACED] < L.NEVER:
        lose(np.float64(t.REQUESTED[at + L.R_CYCLE]), t)
    sectors, hits = t.TOTALS[L.N_L2_SECTORS], t.TOTALS[L.N_L2_HITS]
    done = result_of(sm, r, True, t)
    t.REQUESTED_AT[times + L.T_DONE] = done
    if kind == L.K_TEXTURE:
        return done
    stores = kind == L.K_STORE or kind == L.K_SURFACE
    if kind != L.K_SURFACE:
        noted = t.REQUESTED[at + L.R_PC] * len(L.ACCESSES)
        t.ACCESSES[noted + 2] += t.TOTALS[L.N_L2_SECTORS] - sectors
        t.ACCESSES[noted + 3] += t.TOTALS[L.N_L2_HITS] - hits
    if not is_load(kind):
        answered = done + t.NUMBERS[L2_LATENCY] if stores else done
        t.CHIP[L.C_DRAINED] = max(t.CHIP[L.C_DRAINED], answered)
        if kind != L.K_REDUCTION:  # L2 adds without being waited for
            t.WARPS[own + L.W_STORED] = max(t.WARPS[own + L.W_STORED], ceil(done + t.NUMBERS[STORE_DRAIN]))
            t.WARPS[own + L.W_STORING] -= 1
    return done


@jit
def _touch(sm, at, t):
    """Note the lines of a load that found all of them in L1."""
    first = t.REQUESTED[at + L.R_FIRST]
    for a in range(sm * L.REQUEST_LINES + first, sm * L.REQUEST_LINES + first + t.REQUESTED[at + L.R_LINES]):
        begin = t.ASKED_AT[a * L.N_LINE_AT + L.T_START]
        note_touch(t.REQUESTED[at + L.R_WARP], t.ASKED[a * L.N_LINE + L.A_LINE], begin, t)


@jit
def take_to_l1(sm, r, t):
    """What the answer to request *r* does to L1 and the way to L2."""
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    first = t.REQUESTED[at + L.R_FIRST]
    for a in range(first, first + t.REQUESTED[at + L.R_LINES]):
        row = (sm * L.REQUEST_LINES + a) * L.N_LINE
        way = t.ASKED[row + L.A_WAY]
        ready = t.ASKED_AT[(sm * L.REQUEST_LINES + a) * L.N_LINE_AT + L.T_READY]
        if t.ASKED[row + L.A_SENT] >= 0:
            t.SENT_DONE[t.ASKED[row + L.A_SENT]] = ready
        elif t.ASKED[row + L.A_DO] == L.D_READ and way >= 0 and t.L1_ASKED[way] == a:
            t.L1_READY[way] = ready
            t.L1_ASKED[way] = -1


@jit
def _take_copies(wi, r, done, t):
    """Request *r* of a warp, which copies to shared memory, is *done*: so are the groups of which it is the last."""
    at = wi * L.N_WARP
    t.WARPS[at + L.W_COPIES] = max(t.WARPS[at + L.W_COPIES], done)
    if t.WARPS[at + L.W_COPIED] == L.PENDING + r:
        t.WARPS[at + L.W_COPIED] = t.WARPS[at + L.W_COPIES]
    for k in range(wi * L.GROUPS, (wi + 1) * L.GROUPS):
        if t.COMMITTED[k] == L.PENDING + r:
            t.COMMITTED[k] = t.WARPS[at + L.W_COPIES]


@jit
def _take(sm, r, t):
    """SM *sm* takes the answer to request *r*: what its warp waits for is known now."""
    at = (sm * L.REQUESTS + r) * L.N_REQUEST
    done = t.REQUESTED_AT[(sm * L.REQUESTS + r) * L.N_REQUEST_AT + L.T_DONE]
    wi = t.REQUESTED[at + L.R_WARP]
    kind = t.REQUESTED[at + L.R_KIND]
    if kind == L.K_TOUCH:
        return
    take_to_l1(sm, r, t)
    if kind == L.K_SURFACE:
        return
    if t.OPS[t.REQUESTED[at + L.R_PC] * L.N_OP + L.O_STAGES]:
        _take_copies(wi, r, ceil(done), t)
    if kind == L.K_FENCE:
        t.WARPS[wi * L.N_WARP + L.W_BASE] = max(t.WARPS[wi * L.N_WARP + L.W_BASE], ceil(done))
        t.WARPS[wi * L.N_WARP + L.W_FENCE] = 0
    if t.CONFIG[L.G_CONTROL]:
        board = t.OPS[t.REQUESTED[at + L.R_PC] * L.N_OP + L.O_WRITE_BARRIER]
        if board >= 0:
            t.WARPS[wi * L.N_WARP + L.W_AWAITED] -= np.int64(1) << (board * L.AWAITED_BITS)
            signal(wi, board, done, MEMBAR if kind == L.K_FENCE else LONG, t.BOARDS)
    else:
        registers = t.CONFIG[L.G_REGISTERS]
        for k in range(wi * registers, (wi + 1) * registers):
            if t.REGISTERS[k * 2] == L.PENDING + r:
                t.REGISTERS[k * 2] = ceil(done)


@jit_rare
def take_answers(sm, t):
    """SM *sm* takes the answers that have come, and its warps that wait for them are told when they may go on."""
    front = sm * L.N_FRONT
    for r in range(t.FRONTS[front + L.F_TAKEN], t.FRONTS[front + L.F_ANSWERED]):
        _take(sm, r, t)
    t.FRONTS[front + L.F_TAKEN] = t.FRONTS[front + L.F_ANSWERED]
    if t.FRONTS[front + L.F_TAKEN] == t.FRONTS[front + L.F_ASKED]:
        forget(sm, t)
    warps = t.CONFIG[L.G_PLACES] * t.CONFIG[L.G_WARPS]
    for wi in range(sm * warps, (sm + 1) * warps):
        if t.WARPS[wi * L.N_WARP + L.W_UNSETTLED]:
            t.FRONTS[front + L.F_NEXT] = min(t.FRONTS[front + L.F_NEXT], settle(wi, sm, t))


@jit_inline
def forget(sm, t):
    """All requests of an SM are dealt with: there is room for others."""
    front = sm * L.N_FRONT
    t.FRONTS[front + L.F_TAKEN] = 0
    t.FRONTS[front + L.F_ANSWERED] = 0
    t.FRONTS[front + L.F_ASKED] = 0
    t.FRONTS[front + L.F_LINES] = 0
