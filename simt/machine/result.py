"""What a run of the machine gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.check import Finding
from simt.machine import layout


@dataclass(frozen=True)
class TraceRecords:
    """One row per executed, retiring micro-op, sorted by block, warp and order of execution.

    All columns have length *n*.  Masks are uint32, bit *l* is lane *l*; the others are int64.
    """

    step: npt.NDArray[np.int64]
    """When it executed: the number of records before it, of all warps."""
    block: npt.NDArray[np.int64]
    """Linear block index (x fastest)."""
    warp: npt.NDArray[np.int64]
    """Warp within the block."""
    pc: npt.NDArray[np.int64]
    """Index into ``program.instructions``."""
    active: npt.NDArray[np.uint32]
    """Lanes of the split that executed."""
    executed: npt.NDArray[np.uint32]
    """Active lanes whose guard predicate was true."""
    exited: npt.NDArray[np.uint32]
    """Lanes that had exited before."""
    absent: npt.NDArray[np.uint32]
    """Lanes without a thread (partial warp)."""
    split_pass: npt.NDArray[np.int64]
    """Pass number within the warp: a new one whenever another set of lanes starts to run."""
    taken: npt.NDArray[np.uint32]
    """Branches: lanes that jumped.  Micro-ops that write a predicate: lanes where it became true."""
    diverged: npt.NDArray[np.bool_]
    """Branches: whether the active lanes went more than one way.  Warp-level waits: whether the split was the last of
    several to come."""
    memory: npt.NDArray[np.int64]
    """[n, 6]: requests, bytes, sectors, sectors_ideal, wavefronts, wavefronts_ideal of this execution."""
    values: npt.NDArray[np.int64]
    """[n, 32]: the destination register row after the micro-op, zeros where it writes none."""

    def __len__(self) -> int:
        return len(self.pc)


@dataclass(frozen=True)
class RunResult:
    """Counts of one launch, per micro-op; ``counters`` is int64 [micro-ops, len(program.COUNTERS)]."""

    counters: npt.NDArray[np.int64]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    """Static and dynamic shared memory per block."""
    seconds: float
    """Wall time of the run on the host, without compilation, and without waiting for it."""
    host_threads: int
    findings: Sequence[Finding] = ()
    """What the launch's watch found."""
    preemptions: int = 0
    """How often a schedule switched away from a warp that could have gone on."""
    trace: TraceRecords | None = None
    work: npt.NDArray[np.int64] | None = None
    """[blocks, 3] of a launch with ``per_block``: warp instructions that the block executed, sectors of memory that it
    moved, warp instructions of its longest warp."""
    reached: npt.NDArray[np.uint8] | None = None
    """Of such a launch, for each REACH (layout.py) bytes of the arena: 1 if a block accessed them as global memory."""
    executed: int | None = None
    """Blocks that were executed, for which ``counters`` and ``work`` of all of them are an estimate (None: all were).

    ``reached`` then tells two halves of them apart: 1 and 2 for what only one of them accessed, 3 for both."""

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps_per_block(self) -> int:
        """Warps of a block, partial ones included."""
        return -(-self.threads_per_block // 32)

    @property
    def warps_launched(self) -> int:
        """Warps of the grid."""
        return self.blocks * self.warps_per_block


def trace_records(rows: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]) -> TraceRecords:
    """What the engine wrote into TRACE and VALUES, piece after piece, in the order of blocks and warps."""
    if rows:
        table = np.concatenate([table for table, _ in rows])
        values = np.concatenate([values for _, values in rows])
    else:
        table, values = np.zeros((0, layout.N_TRACE), np.int64), np.zeros((0, 32), np.int64)
    order = np.lexsort((table[:, layout.T_WARP], table[:, layout.T_BLOCK]))  # stable: keeps the order in a warp
    table, values = table[order], values[order]

    def mask(column: int) -> np.ndarray:
        return table[:, column].astype(np.uint32)

    return TraceRecords(
        step=order,
        block=table[:, layout.T_BLOCK],
        warp=table[:, layout.T_WARP],
        pc=table[:, layout.T_PC],
        active=mask(layout.T_ACTIVE),
        executed=mask(layout.T_EXEC),
        exited=mask(layout.T_EXITED),
        absent=mask(layout.T_ABSENT),
        split_pass=table[:, layout.T_PASS],
        taken=mask(layout.T_TAKEN),
        diverged=table[:, layout.T_DIVERGED].astype(bool),
        memory=table[:, layout.T_MEMORY :],
        values=values,
    )
