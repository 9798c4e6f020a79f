"""How often a micro-op was executed, and by how many lanes."""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.ops.jit import jit, jit_part
from simt.ops.scalar import popcount


@jit_part
def note_execution(COUNTS, at, n_active, n_executing, n_absent, n_exited):
    """Count one execution of the micro-op whose counters stand at *at*."""
    COUNTS[at + L.N_EXECUTED] += 1
    COUNTS[at + L.N_THREADS] += n_active
    COUNTS[at + L.N_PRED_ON] += n_executing
    if n_absent:
        COUNTS[at + L.N_ABSENT] += n_absent
    if n_exited:
        COUNTS[at + L.N_EXITED] += n_exited


@jit
def count_begun(NATIVE, CODE, COUNTS, first, pc):
    """Count the micro-ops of a block, from *first* on, that native code executed before it left at *pc*.

    The exec lanes of those with a guard it has counted itself.  Returns how many of them are instructions.
    """
    n_active = popcount(NATIVE[L.V_ACTIVE])
    retired = np.int64(0)
    for each in range(first, pc):
        code = np.uint64(each * L.N_CODE)
        n_executing = n_active if CODE[code + L.C_GUARD] == 0 else np.int64(0)
        note_execution(
            COUNTS, np.uint64(each * L.N_COUNT), n_active, n_executing, NATIVE[L.V_ABSENT], NATIVE[L.V_EXITED]
        )
        retired += CODE[code + L.C_OP] >> L.FLAGS_SHIFT & L.RETIRES
    return retired
