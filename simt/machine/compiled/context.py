"""Columns of ``State.NATIVE`` behind those of layout.py: what the engine need not know of."""

from __future__ import annotations

from simt.machine import layout as L

V_ERROR = L.N_NATIVE
"""Address of ERROR."""
FIRST_TIMES = V_ERROR + 1
"""Where the counters of the blocks begin."""
TIMES = 4
"""Counters of a block: how often it was executed, and the lanes that were active, absent and exited then."""
