"""Columns of ``State.NATIVE`` behind those of layout.py: what the engine need not know of."""

from __future__ import annotations

from simt.machine.coalescing import SECTOR_SHIFT
from simt.machine.compiled.accesses import ACCESSES, ANY, TYPES, WHOLE, WHOLES
from simt.machine.compiled.control import CALLS, V_STATE

Helper = tuple[str, int]
"""A function that native code calls, compiled once for all Programs: one of ACCESSES (:mod:`memory`), or name and imm
(:func:`lanes.lane_module`)."""

HELPERS: dict[Helper, int] = {
    helper: V_STATE + 1 + k
    for k, helper in enumerate(
        [
            *((name, 0) for name in sorted(CALLS - {WHOLE})),
            *(("units", shift) for shift in range(SECTOR_SHIFT + 1)),
            *(("wavefronts", shift) for shift in sorted({size.bit_length() - 1 for _, size in TYPES.values()})),
            *ACCESSES,
            ANY,
            *WHOLES,
        ]
    )
}
"""The columns with their addresses."""
FIRST_TIMES = V_STATE + 1 + len(HELPERS)
"""Where the counters of the blocks begin."""
TIMES = 4
"""Counters of a block: how often it was executed, and the lanes that were active, absent and exited then."""
