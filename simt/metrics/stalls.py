"""Why a warp does not issue: every reason once, with its number, its names and its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Reason(IntEnum):
    """The state of a resident warp in a cycle, as compiled code numbers it; Nsight Compute's warp states."""

    SELECTED = 0
    NOT_SELECTED = 1
    WAIT = 2
    LONG_SCOREBOARD = 3
    SHORT_SCOREBOARD = 4
    BARRIER = 5
    BRANCH_RESOLVING = 6
    MATH_PIPE_THROTTLE = 7
    MIO_THROTTLE = 8
    LG_THROTTLE = 9
    NO_INSTRUCTION = 10
    MEMBAR = 11
    DRAIN = 12
    IMC_MISS = 13


@dataclass(frozen=True)
class Stall:
    """One row: nvprof's name (several of Nsight Compute's fall into one), the letter of timelines, what is waited for.

    ``shown`` is what tables call it, where that is not its name.
    """

    reason: Reason
    nvprof: str
    letter: str
    what: str
    shown: str = ""

    @property
    def name(self) -> str:
        """Nsight Compute's name: the end of ``smsp__average_warps_issue_stalled_*``."""
        return self.reason.name.lower()

    @property
    def words(self) -> str:
        """The name as tables show it."""
        return self.shown or self.name.replace("_", " ")


_ROWS = (
    Stall(Reason.SELECTED, "selected", "#", "nothing: it issues", "issuing"),
    Stall(
        Reason.WAIT,
        "stall_exec_dependency",
        "w",
        "a fixed number of cycles until the instruction before has its result",
    ),
    Stall(Reason.LONG_SCOREBOARD, "stall_memory_dependency", "L", "global or local memory"),
    Stall(
        Reason.SHORT_SCOREBOARD,
        "stall_exec_dependency",
        "S",
        "shared memory, a shuffle, a special function or a conversion",
    ),
    Stall(Reason.BARRIER, "stall_sync", "B", "other warps at a block barrier"),
    Stall(Reason.BRANCH_RESOLVING, "stall_inst_fetch", "j", "the target of a branch"),
    Stall(Reason.MATH_PIPE_THROTTLE, "stall_pipe_busy", "m", "a free arithmetic pipe"),
    Stall(
        Reason.MIO_THROTTLE,
        "stall_memory_throttle",
        "q",
        "room in the queue of shared memory, shuffles and special functions",
    ),
    Stall(Reason.LG_THROTTLE, "stall_memory_throttle", "g", "room in the queue of global and local memory"),
    Stall(Reason.NO_INSTRUCTION, "stall_inst_fetch", "i", "the instruction itself to be fetched"),
    Stall(Reason.IMC_MISS, "stall_constant_memory_dependency", "c", "a constant to be fetched", "constant miss"),
    Stall(Reason.MEMBAR, "stall_sync", "f", "a memory fence"),
    Stall(Reason.DRAIN, "stall_other", "d", "its stores, after it has ended"),
    Stall(
        Reason.NOT_SELECTED,
        "stall_not_selected",
        "-",
        "nothing: it was ready, but its scheduler issued another warp",
        "ready, not selected",
    ),
)

STATES: Mapping[Reason, Stall] = {row.reason: row for row in sorted(_ROWS, key=lambda row: row.reason)}
"""Every state of a warp, in the order of the numbers."""

STALLS: Mapping[str, Stall] = {row.name: row for row in _ROWS if row.reason is not Reason.SELECTED}
"""The states in which a warp does not issue, by Nsight Compute's name, in the order of tables."""

WAITS = tuple(name for name, row in STALLS.items() if row.reason is not Reason.NOT_SELECTED)
"""Those in which it waits for something."""


def words_of(name: str) -> str:
    """What tables call the state with Nsight Compute's name *name*; empty for an empty name."""
    return STATES[Reason[name.upper()]].words if name else ""


def main_stall(stalls: Mapping[str, int]) -> str:
    """The reason of most warp-cycles; empty if there are none."""
    return max(stalls, key=lambda reason: stalls[reason]) if any(stalls.values()) else ""
