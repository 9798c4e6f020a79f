"""Races: one SM stores what another loads in the same epoch, and nothing says which comes first.

Each line of memory has a word that says which SM loaded from it last and which stored to it, and in which epochs; if
those meet, the launch is *suspect*.  Whoever comes second sees that, so whether a launch is suspect does not depend on
how threads of the host take turns.  SMs that use different bytes of a line do not race: a suspect launch is simulated
again, on one thread, with such a word for each byte of the lines in question.
"""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.jit import jit_inline, jit_rare
from simt.timing.sync import exchanged, published

__all__ = ["LINE", "SUSPECT", "note_access"]

LINE = 128
"""Bytes."""
WHO_BITS, EPOCH_BITS = 9, 22
HALF_BITS = WHO_BITS + EPOCH_BITS
SEVERAL = (1 << WHO_BITS) - 1
"""Instead of 1 + the number of an SM.  Those of chips are smaller."""
HALF = (1 << HALF_BITS) - 1
SUSPECT = 1 << (2 * HALF_BITS)
"""Bit of a word: its uses have met.  Below: the last epoch of loads, and whose they were; the same of stores."""


@jit_inline
def _met(words, k, sm, epoch, stores):
    """Note that *sm* loads or stores what word *k* is for: whether another SM does the other in the same epoch."""
    own = (sm + 1) | (epoch << WHO_BITS)
    place = np.int64(HALF_BITS) if stores else np.int64(0)
    while True:
        old = published(words, k)
        half = (old >> place) & HALF
        other = (old >> (HALF_BITS - place)) & HALF
        if half != own:
            half = half | SEVERAL if half >> WHO_BITS == epoch else own
        met = other >> WHO_BITS == epoch and other != own
        new = (other << (HALF_BITS - place)) | (half << place) | (old & SUSPECT)
        if met:
            new |= SUSPECT
        if new == old or exchanged(words, k, old, new):
            return met


@jit_rare
def note_access(sm, pc, n, stores, size, ADDRESSES, t):
    """Note a plain load or store of micro-op *pc*, of *size* bytes a lane, to *n* lines (t.LINES)."""
    epoch = (np.int64(t.CHIP[L.C_NOW]) + 1) & ((1 << EPOCH_BITS) - 1)
    if len(t.WATCHED_BYTES) == 0:
        for k in range(n):
            if t.LINES[k] < len(t.WATCHED):
                t.TOTALS[L.N_SUSPECT] += np.int64(_met(t.WATCHED, t.LINES[k], sm, epoch, stores))
        return
    for l in range(32):
        line = ADDRESSES[l] // LINE
        watched = t.WATCHED[line] if line < len(t.WATCHED) else np.int64(0)
        if watched:
            at = (watched - 1) * LINE + ADDRESSES[l] % LINE
            for byte in range(at, at + size):
                t.RACING[pc] |= np.int64(_met(t.WATCHED_BYTES, byte, sm, epoch, stores))
