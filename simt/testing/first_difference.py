"""Where two runs of one launch part: the first instruction of a thread that did something else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from simt.calls.session import Session, session
from simt.check import KernelError, LaunchError
from simt.machine.places import coordinates, place_of
from simt.machine.result import TraceRecords
from simt.program import Program
from simt.trace.values import decode, value_text


def first_difference(launch: Callable[[], object], schedule: str | None) -> str:
    """Where the run under *schedule* parts from the one without, in words; empty if the runs cannot be traced.

    Only the last launch of *launch* is compared.
    """
    runs = []
    for name in (None, schedule):
        with session(Session(schedule=name, trace=True)) as running:
            try:
                launch()
            except (KernelError, LaunchError):
                return ""
        profile = running.profile
        if profile is None or profile.result.trace is None:
            return ""
        runs.append(profile.result.trace)
        program, grid = profile.program, profile.grid
    plain, other = runs
    place = _parting(plain, other)
    return "" if place is None else _told(plain, other, *place, program, grid)


def _parting(plain: TraceRecords, other: TraceRecords) -> tuple[int, int, int] | None:
    """(record of one run, record of the other, lane) that differ: of all lanes the first in the other run."""
    best: tuple[int, tuple[int, int, int]] | None = None
    for block, warp in np.unique(np.column_stack([other.block, other.warp]), axis=0):
        ours = np.flatnonzero((plain.block == block) & (plain.warp == warp))
        theirs = np.flatnonzero((other.block == block) & (other.warp == warp))
        for lane in range(32):
            one, two = (rows[_lane(run, rows, lane)] for run, rows in ((plain, ours), (other, theirs)))
            count = min(len(one), len(two))
            same = plain.pc[one[:count]] == other.pc[two[:count]]
            same &= plain.values[one[:count], lane] == other.values[two[:count], lane]
            same &= _bit(plain.taken[one[:count]], lane) == _bit(other.taken[two[:count]], lane)
            if same.all():
                continue
            at = int(np.argmin(same))
            found = int(one[at]), int(two[at]), lane
            step = int(other.step[found[1]])
            if best is None or step < best[0]:
                best = step, found
    return None if best is None else best[1]


def _lane(run: TraceRecords, rows: npt.NDArray[np.int64], lane: int) -> npt.NDArray[np.bool_]:
    return _bit(run.executed[rows], lane)


def _bit(masks: npt.NDArray[np.uint32], lane: int) -> npt.NDArray[np.bool_]:
    bits: npt.NDArray[np.bool_] = (masks >> np.uint32(lane) & np.uint32(1)).astype(bool)
    return bits


def _told(
    plain: TraceRecords,
    other: TraceRecords,
    one: int,
    two: int,
    lane: int,
    program: Program,
    grid: tuple[int, int, int],
) -> str:
    block, pc = coordinates(int(other.block[two]), grid), int(other.pc[two])
    where = f"block {block}, warp {int(other.warp[two])}, lane {lane}"
    place = place_of(program, pc)
    if plain.pc[one] != pc:
        return f"{where} came to {place} only under the schedule"
    rows = plain.values[one], other.values[two]
    dtype = program.instructions[pc].dtype
    if dtype is None:
        values = [f"{int(row[lane]) & 0xFFFFFFFFFFFFFFFF:#x}" for row in rows]
    else:
        values = [value_text(decode(row, dtype)[lane]) for row in rows]
    return f"{where} at {place}: {values[0]} without the schedule, {values[1]} with it"
