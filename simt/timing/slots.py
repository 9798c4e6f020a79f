"""The engine's state of one resident block, as a view of arrays that hold all of them side by side."""

from __future__ import annotations

from typing import Any

from simt.machine.layout import (
    BLOCK_BARRIERS,
    LAUNCH_SHARED,
    LAUNCH_SHARED_BYTES,
    LAUNCH_WARPS,
    N_BARRIER,
    N_LAUNCH,
    N_SPLIT,
    State,
)
from simt.machine.layout import N_WARP as N_ENGINE_WARP
from simt.timing.jit import jit_inline
from simt.timing.layout import G_P, G_PARTICIPANTS, G_R

SLICED = ("R", "F64", "F32", "P", "PARTICIPANTS", "SPLITS", "WARPS", "BARRIERS", "LAUNCH", "SHARED")
"""Fields of State that each block has for itself; the others are shared."""


@jit_inline
def slot_state(s: Any, k: Any, t: Any) -> Any:
    """State of the block in place *k*.  No data is copied."""
    r = t.CONFIG[G_R]
    p = t.CONFIG[G_P]
    participants = t.CONFIG[G_PARTICIPANTS]
    launch = s.LAUNCH[k * N_LAUNCH : (k + 1) * N_LAUNCH]
    warps = launch[LAUNCH_WARPS]
    shared = launch[LAUNCH_SHARED] >> 3
    return State(
        s.CODE,
        s.COUNTS,
        s.R[k * r : (k + 1) * r],
        s.F64[k * r : (k + 1) * r],
        s.F32[2 * k * r : 2 * (k + 1) * r],
        s.O,
        s.O64,
        s.O32,
        s.P[k * p : (k + 1) * p],
        s.PARTICIPANTS[k * participants : (k + 1) * participants],
        s.SPLITS[k * warps * 32 * N_SPLIT : (k + 1) * warps * 32 * N_SPLIT],
        s.WARPS[k * warps * N_ENGINE_WARP : (k + 1) * warps * N_ENGINE_WARP],
        s.BARRIERS[k * BLOCK_BARRIERS * N_BARRIER : (k + 1) * BLOCK_BARRIERS * N_BARRIER],
        s.TID,
        launch,
        s.DIMS,
        s.TEXTURES,
        s.TARGETS,
        s.X,
        s.ADDRESSES,
        s.WORDS,
        s.FILL,
        s.M8,
        s.M16,
        s.M32,
        s.M64,
        s.MF32,
        s.MF64,
        s.STARTS,
        s.ENDS,
        s.WRITABLE,
        s.HINTS,
        s.M64[shared : shared + ((launch[LAUNCH_SHARED_BYTES] + 7) >> 3)],
        s.TRACE,
        s.VALUES,
        s.ERROR,
        s.SHADOW,
        s.STOP,
    )
