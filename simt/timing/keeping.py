"""What L2 has lost of the data of a launch whose allocations all have room there, if halves of L2 keep some twice.

Each line has a way of its own then (arrays.py), and goes when the lines used since then need all room.  Data that SMs
of both halves read are there twice; what one SM reads is half of the times in the other half, too.
"""

from __future__ import annotations

import numpy as np

from simt.timing import layout as L
from simt.timing.dirty import write_back
from simt.timing.jit import jit, jit_rare
from simt.timing.others import LOST, allocation, exceeds_l2, is_private

L2_WAYS = L.PLACE["l2_ways"]
BY_ALL, BY_ONE, STORED_ONLY = 1.5, 1.0, 1.5
"""Room for a line that all SMs read, that one reads, and that is only stored to, in lines of l2_bytes."""
HOLDS, SPREAD = 1.12, 0.07
"""Of l2_bytes, what was used since then if half of such lines are lost, and the scale of a logistic curve."""
FULL = 0.6
"""Below such a share of L2 nothing is lost."""
STEPS = 64.0
"""So often is it looked at while L2 is filled once."""


@jit
def _room_of(k, t):
    """Room that allocation *k* takes of L2 by now, in lines of l2_bytes.

    The simulated SMs may never ask for all that others bring, so their blocks' share counts, behind the first wave.
    """
    kept = t.PLACED_OF[k] / max(t.PLACED_OF[k] + t.LOST_OF[k], 1.0)
    scale = kept * t.CONFIG[L.G_CHIP] / t.CONFIG[L.G_SMS] / 4.0
    brought = max(t.FETCHED_OF[k], t.STORED_TO[k])
    started = t.CHIP[L.C_NEXT_BLOCK]
    if started * t.CONFIG[L.G_CHIP] > t.CONFIG[L.G_FIRST_WAVE] * t.CONFIG[L.G_SMS]:
        brought = max(brought, min(t.FETCHED_OF[k] + t.DENIED[k], t.QUOTAS[k] * started / t.CONFIG[L.G_BLOCKS]))
    lines = max(brought * scale, t.PLACED_OF[k])
    lines = min(lines, np.float64(t.ACCESSED[k]))
    if t.FETCHED_OF[k] == 0:
        return STORED_ONLY * lines
    return (BY_ONE if is_private(k, t) else BY_ALL) * lines


@jit
def _drop(way, k, arrival, t):
    """L2 loses a way, of allocation *k*."""
    if t.L2_DIRTY[way]:
        write_back(way, arrival, t)
    t.OWNED[t.L2_TAGS[way]] |= LOST
    t.PLACED_OF[k] -= 1
    t.LOST_OF[k] += 1
    t.L2_TAGS[way] = -1
    t.L2_SECTORS[way] = 0
    t.L2_PARTIAL[way] = 0
    t.L2_COMING[way] = 0


@jit
def _is_lost(behind, number, t):
    """Whether a line is lost if the lines used since then take so much room."""
    return exceeds_l2(behind, HOLDS, SPREAD, number + (np.int64(1) << 45), t)


@jit
def _lose_left(taken, t):
    """Of what ran before, write to DRAM what goes if L2 is so full."""
    ways = np.int64(t.NUMBERS[L2_WAYS])
    lost = 0
    for way in range(t.CONFIG[L.G_L2_SETS] * ways):
        if t.L2_TAGS[way] < 0 and t.L2_DIRTY[way]:
            if _is_lost(taken, way, t):
                t.L2_DIRTY[way] = 0
                lost += 1
    t.CHIP[L.C_LEFT] += lost * t.CONFIG[L.G_SMS] / t.CONFIG[L.G_CHIP]
    whole = np.int64(t.CHIP[L.C_LEFT])
    t.CHIP[L.C_LEFT] -= whole
    t.TOTALS[L.N_DRAM_WRITE] += 4 * whole


@jit_rare
def lose(arrival, t):
    """Let L2 lose what it has no more room for, if it has got much since this was last looked at."""
    t.CHIP[L.C_PLACED] = 0
    taken = 0.0
    for k in range(len(t.QUOTAS)):
        t.ROOM_OF[k] = _room_of(k, t)
        taken += t.ROOM_OF[k]
    if taken < FULL * t.CONFIG[L.G_L2_LINES] or taken < t.CHIP[L.C_TAKEN] + t.CONFIG[L.G_L2_LINES] / STEPS:
        return
    t.CHIP[L.C_TAKEN] = taken
    _lose_left(taken, t)
    ways = t.CONFIG[L.G_L2_SETS] * np.int64(t.NUMBERS[L2_WAYS])
    ages = len(t.BEHIND) - 1
    for age in range(ages + 1):
        t.BEHIND[age] = 0.0
    now = t.TOTALS[L.N_L2_SECTORS] + 1
    for way in range(ways):
        if t.L2_TAGS[way] >= 0:
            k = allocation(t.L2_TAGS[way], t)
            if k >= 0:
                t.BEHIND[t.L2_USED[way] * ages // now] += t.ROOM_OF[k] / t.PLACED_OF[k]
    for age in range(ages - 1, -1, -1):
        t.BEHIND[age] += t.BEHIND[age + 1]
    for way in range(ways):
        if t.L2_TAGS[way] >= 0:
            k = allocation(t.L2_TAGS[way], t)
            if k >= 0 and _is_lost(t.BEHIND[t.L2_USED[way] * ages // now], t.L2_TAGS[way], t):
                t.CHIP[L.C_TAKEN] -= t.ROOM_OF[k] / t.PLACED_OF[k]
                _drop(way, k, arrival, t)
