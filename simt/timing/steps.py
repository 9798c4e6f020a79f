"""How far the blocks of a first wave are: what one loads that is behind, those that are ahead have brought to L2.

In a grid of several rows each of which loads the same (the columns of a matrix that is a factor), blocks of the first
row ask DRAM for it.  The scheduler lets the oldest blocks of an SM run ahead, on all SMs; the younger ones find their
data in L2, and catch up (products.cu on an H100: a step of the last blocks takes half as long as one of the first).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simt.timing import layout as L
from simt.timing.jit import jit

KNOWN = L.N_STEP // 2
"""Steps of a micro-op of which it is known when the first warp got there."""


def _has_rows(config: npt.NDArray[np.int64]) -> bool:
    """Whether blocks stand in rows of the grid, and their warps in whole rows of them."""
    return bool(config[L.G_LAYER] != 0 and min(config[L.G_GRID_X], config[L.G_GRID_Y]) > 1)


def steps_of(config: npt.NDArray[np.int64], ops: int, warps: int) -> dict[str, npt.NDArray[Any]]:
    """How far *warps* are at each of the *ops*; of several SMs, or without rows of blocks, nothing is noted."""
    ops = ops if config[L.G_SMS] == 1 and _has_rows(config) else 0
    return {
        "LOADED": np.zeros(ops * warps, np.int32),
        "STEPS": np.full(ops * L.N_STEP, -1, np.int64),
        "ROWS_ALIKE": np.zeros(ops, np.int64),
        "ROW_BLOCK": np.full(ops, -1, np.int64),
        "ROW_WORD": np.zeros(ops, np.int64),
    }


@jit
def _note_rows(pc, wi, block, word, t):
    """Note whether rows of blocks load the same words at *pc*: whether the first two warps of a block begin with one.

    A warp is whole rows of its block; block and thread are taken to count in the same way.
    """
    if t.WARPS[wi * L.N_WARP + L.W_INDEX] > 1:
        return
    if t.ROW_BLOCK[pc] < 0:
        t.ROW_BLOCK[pc] = block
        t.ROW_WORD[pc] = word
    elif block == t.ROW_BLOCK[pc]:
        t.ROWS_ALIKE[pc] = 1 if word == t.ROW_WORD[pc] else -1


@jit
def asked_ahead(pc, wi, block, now, word, is_first, t):
    """When SMs have asked for what warp *wi* of *block* loads *now* at *pc*, beginning at *word*; NEVER: none has.

    They do what the simulated one does: it was so far when its first warp was.  *is_first*: a load of plain memory by a
    block that starts with the launch, which is all that is looked at.
    """
    if not is_first or len(t.LOADED) == 0:
        return np.int64(L.NEVER)
    at = pc * (len(t.LOADED) // len(t.ROWS_ALIKE)) + wi
    times = np.int64(t.LOADED[at])
    t.LOADED[at] += 1
    if times == 0 and t.ROWS_ALIKE[pc] == 0:
        _note_rows(pc, wi, block, word, t)
    step = pc * L.N_STEP + times % KNOWN
    if t.STEPS[step] < times:
        t.STEPS[step] = times
        t.STEPS[step + KNOWN] = now
    first_row = block // t.CONFIG[L.G_GRID_X] % t.CONFIG[L.G_GRID_Y] == 0
    if t.ROWS_ALIKE[pc] < 1 or first_row:
        return np.int64(L.NEVER)
    return t.STEPS[step + KNOWN]
