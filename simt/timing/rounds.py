"""Loads by which blocks go round an allocation again and again: of which round a block's are."""

from __future__ import annotations

from simt.timing import layout as L
from simt.timing.chance import share
from simt.timing.jit import jit, jit_inline
from simt.timing.others import AGAIN, AGAIN_NOW, ONCE, SCATTERED, allocation, exceeds_l2, manner_of

L2_WAYS = L.PLACE["l2_ways"]
L2_FETCH = L.PLACE["l2_fetch_bytes"]
HOLDS, HOLDS_SPREAD = 1.06, 0.09
"""Of l2_bytes: rounds of which L2 has lost half until the next one, and the scale of a logistic curve about that."""
BESIDE = 0.69
"""Of l2_bytes, what L2 holds of rounds, of which both halves have a copy, and of what is stored, together."""
ROUNDS = 1.5
"""Loads that would reach so many times as far as the allocation goes, if nothing brought them back, go round it."""


@jit
def _note_reader(pc, wi, block, word, words, t):
    """Note at which *word* of an allocation of so many *words* warps of blocks begin to load at *pc*.

    The first two warps of a block say how far it is to the next block.  A block that begins nearer than that has gone
    round: the allocation, or less.
    """
    at = L.N_READER * pc
    index = t.WARPS[wi * L.N_WARP + L.W_INDEX]
    step = t.READERS[at + L.B_STEP]
    if index == 0 and t.READERS[at + L.B_BLOCK] == 0:
        t.READERS[at + L.B_BLOCK] = block + 1
        t.READERS[at + L.B_WORD] = word
    elif index == 1 and step == 0 and t.READERS[at + L.B_BLOCK] == block + 1:
        apart = (word - t.READERS[at + L.B_WORD]) * t.CONFIG[L.G_WARPS]
        t.READERS[at + L.B_STEP] = apart if apart > 0 else -1
    elif index == 0 and step > 0 and block >= t.READERS[at + L.B_BLOCK]:
        back = t.READERS[at + L.B_WORD] + step * (block + 1 - t.READERS[at + L.B_BLOCK]) - word
        if back < 0:  # blocks are farther apart than that
            t.READERS[at + L.B_STEP] = -1
        t.READERS[at + L.B_BLOCK] = block + 1
        t.READERS[at + L.B_WORD] = word
        rounds = -(-back // words)
        if back > 0 and rounds * words - back >= 32 * rounds:  # the last line of an allocation may be part of a line
            t.READERS[at + L.B_BACK] = min(back, t.READERS[at + L.B_BACK]) if t.READERS[at + L.B_BACK] else back


@jit_inline
def _stride(pc, t):
    """Words from one thread to the next."""
    return max(t.READERS[L.N_READER * pc + L.B_STEP] // (32 * t.CONFIG[L.G_WARPS]), 1)


@jit
def _is_lost(wi, block, lines, t):
    """Whether L2 has lost what a warp loads, of a round of so many *lines*: drawn.

    Fitted to rounds of 8 to 64 MiB (wraps.cu on an H100).  L2 keeps whole lines.
    """
    number = (block << 6) + t.WARPS[wi * L.N_WARP + L.W_INDEX] + (1 << 44)
    return exceeds_l2(lines, HOLDS, HOLDS_SPREAD, number, t)


@jit
def _is_new(pc, wi, block, words, t):
    """Whether a warp loads what nobody has loaded before, of a round of so many *words*: drawn.

    The blocks that the SMs run at one time may be of the first round in part.  Rounds of whole strides come back to the
    same words; else DRAM sends 16 words at once, and what is between them is new.
    """
    step, chip = t.READERS[L.N_READER * pc + L.B_STEP], t.CONFIG[L.G_CHIP]
    drawn = share((block << 6) + t.WARPS[wi * L.N_WARP + L.W_INDEX])
    before = block // chip * chip * step
    if before + drawn * chip * step < words:
        return True
    stride = _stride(pc, t)
    return words % stride != 0 and drawn >= step * block // words * t.NUMBERS[L2_FETCH] / (4 * stride)


@jit
def manner_of_load(pc, wi, n, block, word, t):
    """The manner of a load of a warp of *block* at *pc*, of the first *n* of LINES from *word* on.

    If the launch goes round an allocation, blocks of the first round bring their lines to L2, and later ones have
    others before them, who may be of the same time.
    """
    manner = manner_of(n, t.LINES, block, t)
    if manner == SCATTERED or len(t.QUOTAS) == 0 or t.CONFIG[L.G_SMS] > 1 or t.CONFIG[L.G_GRID_X] > 1:
        return manner
    k = allocation(t.LINES[0], t)
    if k < 0:
        return manner
    words = 32 * (t.EXTENTS[2 * k + 1] - t.EXTENTS[2 * k])
    _note_reader(pc, wi, block, word, words, t)
    step = t.READERS[L.N_READER * pc + L.B_STEP]
    if t.READERS[L.N_READER * pc + L.B_BACK]:
        words = t.READERS[L.N_READER * pc + L.B_BACK]
        if words < step * t.CONFIG[L.G_CHIP]:  # no round: rows of blocks
            return manner
    if step <= 0 or step * t.CONFIG[L.G_LAUNCHED] < ROUNDS * words:
        return manner
    lines = words // max(_stride(pc, t), 32)
    if _is_new(pc, wi, block, words, t) or _is_lost(wi, block, lines, t):
        return ONCE
    t.CHIP[L.C_DIRTY_WAYS] = max((BESIDE - lines / t.CONFIG[L.G_L2_LINES]) * t.NUMBERS[L2_WAYS], 1.0)
    return AGAIN_NOW if block < t.CONFIG[L.G_FIRST_WAVE] else AGAIN
