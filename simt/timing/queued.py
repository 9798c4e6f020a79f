"""Instructions that pass the queue of an SM and ask for no memory but constants: which pipe takes them, and when."""

from __future__ import annotations

import numpy as np

from simt.machine import door
from simt.timing import layout as L
from simt.timing.codes import LDC, LONG, LSU, SHORT, SREG, TEX
from simt.timing.cycles import ceil
from simt.timing.gates import N_GATE
from simt.timing.jit import jit, jit_apart, jit_rare
from simt.timing.lines import distinct_words
from simt.timing.lsu import dispatch, keep_lsu, texture_access
from simt.timing.pipes import occupy, send
from simt.timing.waits import constant_at

MIO_SEND = L.PLACE["mio_send_interval"]
OPERAND_LATENCY = L.PLACE["operand_latency"]
WORD_INTERVAL = L.PLACE["constant_word_interval"]
WORD_LATENCY = L.PLACE["constant_word_latency"]
JOINING, CONSTANT_JOINING = 1.0, 0.125
"""Cycles of the load/store unit for which one for another pipe counts where stores join, and a constant.

Of 1000 blocks that add to a counter without atomics (same.cu) an H100 sends 21 stores an SM, here 4 if both are one.
"""


@jit_rare
def _fetch_texels(sm, wi, now, done, pc, block, t):
    """When the result of the texture or surface instruction at *pc* is there: at *done* if L1 has its texels."""
    asked = door.request(block)
    if asked.bytes == 0:
        return done
    stores = t.OPS[pc * L.N_OP + L.O_KIND] == L.K_STORE
    number = t.SLOTS[t.WARPS[wi * L.N_WARP + L.W_PLACE] * L.N_SLOT + L.S_BLOCK]
    return texture_access(sm, wi, pc, number, now, done, stores, asked, t)


@jit_apart
def _read_words(sm, now, begin, size, block, t):
    """When the unit of constants has the last place that the lanes of an LDC ask for, of *size* bytes each.

    It has one word after the other, of any scheduler of the SM, and comes back to an instruction only after some time
    (indexed.cu): those of a warp that waits alone follow each other 11 cycles apart, those of many 2.
    """
    asked = door.request(block)
    if asked.addresses[0] < 0:  # no lane executed it
        return begin
    places = distinct_words(asked.addresses)
    at = sm * L.N_SM + L.M_CONSTANT_FREE
    work = places * max(size >> 2, 1) * t.NUMBERS[WORD_INTERVAL]
    first = max(t.SMS[at], begin)
    t.SMS[at] = max(t.SMS[at], np.float64(now)) + work
    return max(first + work - t.NUMBERS[WORD_INTERVAL], begin + (places - 1) * t.NUMBERS[WORD_LATENCY])


@jit
def queued(q, sm, wi, now, sent, pc, block, t):
    """When the result of the instruction at *pc* is there, why a dependent waits, when its operands have been read.

    *sent*: when it comes to the load/store unit, if it is for that one.
    """
    row = pc * L.N_OP
    pipe = t.OPS[row + L.O_PIPE]
    begin = np.float64(now)
    if pipe == LSU:
        begin = max(keep_lsu(sm, begin, np.float64(t.OPS[row + L.O_INTERVAL]), t), sent)
        t.TOTALS[L.N_WAVEFRONTS] += 1
    else:
        begin = np.float64(max(now, t.GATES[q * N_GATE + pipe]))
        if t.OPS[row + L.O_CONSTANT]:
            begin = np.float64(constant_at(sm, -1, row, ceil(begin), t))
        first, end = q, q + 1
        if pipe == TEX:  # one for all schedulers (H200, paths.cu)
            first = sm * t.CONFIG[L.G_SCHEDULERS]
            end = first + t.CONFIG[L.G_SCHEDULERS]
        for each in range(first, end):
            occupy(each, pipe, now, 0, t.OPS[row + L.O_INTERVAL], t.NUMBERS, t.GATES)
        has_index = t.OPS[row + L.O_CLASS] == LDC and t.OPS[row + L.O_CONSTANT] == 0
        begin = max(begin, send(q, now, np.int64(t.NUMBERS[MIO_SEND]) + has_index, t.SCHEDULERS))
        if has_index and t.OPS[row + L.O_MEMORY_PC] >= 0:
            begin = _read_words(sm, now, begin, t.OPS[row + L.O_SIZE], block, t)
        dispatch(sm, now, t)
        t.SMS[sm * L.N_SM + L.M_LSU_BUSY] += CONSTANT_JOINING if t.OPS[row + L.O_CLASS] == LDC else JOINING
        t.TOTALS[L.N_WAVEFRONTS] += pipe == SREG
    done = begin + t.OPS[row + L.O_LATENCY]
    if pipe == TEX:
        return _fetch_texels(sm, wi, now, done, pc, block, t), LONG, begin + t.NUMBERS[OPERAND_LATENCY]
    return done, SHORT, begin + t.NUMBERS[OPERAND_LATENCY]
