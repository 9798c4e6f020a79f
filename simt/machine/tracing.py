"""What the engine writes down of a warp that is traced: one record for each micro-op that retires."""

from __future__ import annotations

import numpy as np

from simt.machine import layout as L
from simt.machine.registers import row_at
from simt.ops.encoding import WHOLE
from simt.ops.jit import jit_part, jit_rare
from simt.ops.row import KIND_SHIFT
from simt.ops.table import MICRO_OPS, Kind

ROW, ELEMENT, MEMORY, CONTROL, IMAGE = (
    int(kind) for kind in (Kind.ROW, Kind.ELEMENT, Kind.MEMORY, Kind.CONTROL, Kind.IMAGE)
)
EXIT = MICRO_OPS["exit"].code
HIGH_B64 = MICRO_OPS["high.b64"].code


@jit_part
def is_traced(LAUNCH, w):
    """Whether the launch's trace has warp *w* of the block that runs."""
    block = LAUNCH[L.LAUNCH_TRACE_BLOCK]
    warp = LAUNCH[L.LAUNCH_TRACE_WARP]
    return (block == -1 or block == LAUNCH[L.LAUNCH_INDEX]) and (warp == -1 or warp == w)


@jit_rare
def record(w, pc, op, active, executing, pass_number, outcome, s):
    """Add a row to the trace: what the micro-op *pc* did with its lanes, and the register row that it wrote."""
    LAUNCH = s.LAUNCH
    WARPS = s.WARPS
    CODE = s.CODE
    TRACE = s.TRACE
    n = np.uint64(32)
    kind = op >> KIND_SHIFT
    wbase = w * L.N_WARP
    code = np.uint64(pc * L.N_CODE)
    exited = WARPS[wbase + L.W_EXITED]
    row = LAUNCH[L.LAUNCH_TRACED]
    LAUNCH[L.LAUNCH_TRACED] = row + 1
    TRACE[row, L.T_BLOCK] = LAUNCH[L.LAUNCH_INDEX]
    TRACE[row, L.T_WARP] = w
    TRACE[row, L.T_PC] = pc
    TRACE[row, L.T_ACTIVE] = active
    TRACE[row, L.T_EXEC] = executing
    TRACE[row, L.T_EXITED] = exited & ~executing if op == EXIT else exited
    TRACE[row, L.T_ABSENT] = WARPS[wbase + L.W_ABSENT]
    TRACE[row, L.T_PASS] = pass_number
    TRACE[row, L.T_TAKEN] = WARPS[wbase + L.W_JUMPED] if kind == CONTROL else outcome
    TRACE[row, L.T_DIVERGED] = WARPS[wbase + L.W_PARTED] if kind == CONTROL else 0
    memory = kind == MEMORY and executing != 0
    for k in range(L.N_MEMORY):
        TRACE[row, L.T_MEMORY + k] = s.X[k] if memory else 0
    if (kind == ROW or kind == ELEMENT or kind == MEMORY or kind == IMAGE) and CODE[code + L.C_DST] > 0:
        warp_rows = w * LAUNCH[L.LAUNCH_REGISTERS] * 32
        d = np.uint64(warp_rows + CODE[code + L.C_DST])
        if op == HIGH_B64 and CODE[code + L.C_MOD] == WHOLE:
            d = row_at(CODE[code + L.C_A], warp_rows, LAUNCH[L.LAUNCH_UNIFORM_END])
        for l in range(n):
            s.VALUES[row, l] = s.R[d + l]
    else:
        for l in range(n):
            s.VALUES[row, l] = 0
