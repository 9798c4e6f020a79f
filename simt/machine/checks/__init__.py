"""Checks that look at every access to memory: each gets the access as a record, before it changes anything."""

from __future__ import annotations

from typing import Any, NamedTuple

from simt.machine import layout as L
from simt.machine.checks.races import check_races
from simt.ops.jit import jit
from simt.ops.memory import GLOBAL, SHARED


class Access(NamedTuple):
    """What one memory micro-op does, for the lanes that execute (not none); its addresses are found to be right.

    ``kind`` is LOAD, STORE or ATOMIC, ``space`` GLOBAL, SHARED, LOCAL or CONST (:mod:`simt.ops.memory`);
    ``positions`` int64[32] places in the arena, idle lanes repeat another lane's; ``size`` bytes of a lane;
    ``type`` the ``mod`` of the micro-op; ``values`` where the row stands in R that a store writes.
    """

    kind: Any
    space: Any
    positions: Any
    size: Any
    type: Any
    values: Any
    lanes: Any
    pc: Any
    warp: Any


@jit
def observe(access, s):
    """Show an access to the checks that are switched on: the reason of an error, with ERROR filled in, or R_NONE."""
    if s.LAUNCH[L.LAUNCH_RACES] and (access.space == GLOBAL or access.space == SHARED):
        return check_races(access, s)
    return L.R_NONE
