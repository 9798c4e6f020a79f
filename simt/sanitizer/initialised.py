"""Initcheck: reads of bytes that nobody has written.

Compilers load local memory before they know whether what it holds is wanted, and choose afterwards.  So in machine code
such a read is no finding by itself: what it gave is followed through registers to its use (undefined.py).
"""

from __future__ import annotations

import numpy as np

from simt.machine import events as V
from simt.ops.memory import LOAD, LOCAL, STORE
from simt.sanitizer import layout as Z
from simt.sanitizer.jit import jit, jit_inline
from simt.sanitizer.places import found
from simt.sanitizer.undefined import put_loaded


@jit
def _is_unwritten(offset, size, wide, POISON, POISON32, POISON64):
    """Whether nobody has written one of the bytes of an access; if *wide*, one of each of its words."""
    if size == 4:
        return POISON32[np.uint64(offset >> 2)] != 0
    if size >= 8 and wide:
        for word in range(size >> 2):
            if POISON32[np.uint64((offset >> 2) + word)] == 0:
                return False
        return True
    if size == 8:
        return POISON64[np.uint64(offset >> 3)] != 0
    if size == 16:
        return POISON64[np.uint64(offset >> 3)] != 0 or POISON64[np.uint64((offset >> 3) + 1)] != 0
    return POISON[np.uint64(offset)] != 0 or (size == 2 and POISON[np.uint64(offset + 1)] != 0)


@jit
def _write(offset, size, POISON, POISON32, POISON64):
    if size == 4:
        POISON32[np.uint64(offset >> 2)] = 0
    elif size == 8:
        POISON64[np.uint64(offset >> 3)] = 0
    else:
        for k in range(size):
            POISON[np.uint64(offset + k)] = 0


@jit_inline
def judge_written(EVENTS, at, place, HEAD, POISON, POISON32, POISON64, REGISTERS, USES, FOUND):
    """Whether what an access reads was written; what it writes is."""
    pc, block, w = EVENTS[at + V.V_PC], EVENTS[at + V.V_BLOCK], EVENTS[at + V.V_WARP]
    what = EVENTS[at + V.V_WHAT]
    lanes = EVENTS[at + V.V_LANES]
    access, space, size = what & 15, (what >> 4) & 15, what >> 8
    wide = access == LOAD and HEAD[Z.H_WIDE] != 0
    followed = wide and space == LOCAL and USES[pc * Z.N_USE + Z.U_SETS] >= 0
    for l in range(32):
        if (lanes >> l) & 1:
            offset = EVENTS[at + V.V_VALUES + l] & (V.MATCHES - 1)
            if access != STORE and _is_unwritten(offset, size, wide, POISON, POISON32, POISON64):
                if followed:
                    put_loaded(pc, place, w, l, offset, HEAD, REGISTERS, USES)
                    continue
                found(Z.UNWRITTEN, pc, block, w, l, -1, -1, -1, offset, size, space, 0, HEAD, FOUND)
            if access != LOAD:
                _write(offset, size, POISON, POISON32, POISON64)


@jit
def forget_written(first, size, POISON):
    """Bytes that a block gets for itself: nobody has written them."""
    for k in range(np.uint64(size)):
        POISON[np.uint64(first) + k] = 1


@jit
def note_written(first, size, POISON):
    """Bytes that a system call wrote."""
    for k in range(np.uint64(size)):
        POISON[np.uint64(first) + k] = 0
