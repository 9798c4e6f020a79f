"""The engine of the first minutes: a launch begins in plain Python and goes on compiled; see :mod:`simt.ops.early`."""

from __future__ import annotations

from simt.machine.engine import run_blocks
from simt.ops.early import Early
from simt.ops.jit import FOLDER

ENGINE = Early("the engine", run_blocks, "simt.runtime.build", FOLDER)
"""Its ``function`` is :func:`simt.machine.engine.run_blocks`."""

SLICE, SLICES = 1 << 8, 1 << 8
"""Micro-ops in one slice of plain Python (some ten milliseconds), and slices before a launch waits for compiled code,
which executes as many in less time than it takes to load."""
