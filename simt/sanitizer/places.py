"""Where something is wrong: each place once, with a count."""

from __future__ import annotations

import numpy as np

from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit


@jit
def found(kind, pc, block, warp, lane, other_pc, other_block, other, offset, size, space, more, HEAD, FOUND):
    """Note what *lane* of a warp did wrong at micro-op *pc*, and who else was in it (*other*: thread, -1: nobody)."""
    event = HEAD[Z.H_EVENT]
    for k in range(HEAD[Z.H_FOUND]):
        at = k * Z.N_FOUND
        if FOUND[at + Z.F_KIND] == kind and FOUND[at + Z.F_PC] == pc and FOUND[at + Z.F_OTHER_PC] == other_pc:
            if FOUND[at + Z.F_EVENT] != event:
                FOUND[at + Z.F_COUNT] += 1
                FOUND[at + Z.F_EVENT] = event
            elif FOUND[at + Z.F_COUNT] == 1 and lane >= 0:
                FOUND[at + Z.F_LANES] |= np.int64(1) << lane
                if other >= 0 and other_block == FOUND[at + Z.F_OTHER_BLOCK]:
                    if other >> 5 == FOUND[at + Z.F_OTHER_WARP]:
                        FOUND[at + Z.F_OTHER_LANES] |= np.int64(1) << (other & 31)
            return
    if HEAD[Z.H_FOUND] == Z.MOST_FOUND:
        return
    at = HEAD[Z.H_FOUND] * Z.N_FOUND
    HEAD[Z.H_FOUND] += 1
    FOUND[at + Z.F_KIND] = kind
    FOUND[at + Z.F_PC] = pc
    FOUND[at + Z.F_OTHER_PC] = other_pc
    FOUND[at + Z.F_BLOCK] = block
    FOUND[at + Z.F_WARP] = warp
    FOUND[at + Z.F_LANES] = np.int64(1) << lane if lane >= 0 else 0
    FOUND[at + Z.F_OTHER_BLOCK] = other_block
    FOUND[at + Z.F_OTHER_WARP] = other >> 5
    FOUND[at + Z.F_OTHER_LANES] = np.int64(1) << (other & 31) if other >= 0 else 0
    FOUND[at + Z.F_OFFSET] = offset
    FOUND[at + Z.F_SIZE] = size
    FOUND[at + Z.F_SPACE] = space
    FOUND[at + Z.F_MORE] = more
    FOUND[at + Z.F_COUNT] = 1
    FOUND[at + Z.F_EVENT] = event
