"""The counters of a launch recomputed from its trace: a check on the engine that shares none of its code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simt.program import COUNTERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from simt.machine.result import TraceRecords
    from simt.program import Program

_MEMORY = COUNTERS[COUNTERS.index("requests") : COUNTERS.index("replays")]
BRANCHES = ("bra", "brx")


def popcounts(masks: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Number of lanes in each mask."""
    lanes = np.unpackbits(np.ascontiguousarray(masks, dtype="<u4").view(np.uint8)).reshape(-1, 32)
    counts: npt.NDArray[np.int64] = lanes.sum(axis=1, dtype=np.int64)
    return counts


def replay_counters(trace: TraceRecords, program: Program) -> npt.NDArray[np.int64]:
    """Counter table int64 ``[len(program.instructions), len(COUNTERS)]`` of the traced executions.

    Equals the engine's table in the rows of retiring micro-ops if every block and warp was traced (a trace
    holds no micro-op that does not retire), but for ``replay_threads``, which is zero: a trace does not hold them.
    """
    is_branch = np.array([instruction.op in BRANCHES for instruction in program.instructions], dtype=bool)
    branches = is_branch[trace.pc]
    idle = ~trace.active
    per_row = {
        "inst_executed": np.ones(len(trace.pc), dtype=np.int64),
        "thread_inst_executed": popcounts(trace.active),
        "pred_on_thread_inst_executed": popcounts(trace.executed),
        "idle_no_thread": popcounts(trace.absent & idle),
        "idle_exited": popcounts(trace.exited & ~trace.absent & idle),
        "branches": branches.astype(np.int64),
        "divergent_branches": (branches & trace.diverged).astype(np.int64),
        "replays": (~branches & trace.diverged).astype(np.int64),
        "replay_threads": np.zeros(len(trace.pc), dtype=np.int64),
        **{name: trace.memory[:, column] for column, name in enumerate(_MEMORY)},
    }
    table = np.zeros((len(program.instructions), len(COUNTERS)), dtype=np.int64)
    for column, name in enumerate(COUNTERS):
        np.add.at(table[:, column], trace.pc, per_row[name])
    return table
