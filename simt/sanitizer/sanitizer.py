"""A watch of a launch that gives its events to the judges."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from simt.check import Finding, LaunchError, gathered
from simt.machine import events as V
from simt.machine.device_memory import Unwritten, align
from simt.machine.events import WATCH_ORDER
from simt.machine.layout import ADDRESS_BASE, BLOCK_BARRIERS
from simt.machine.prepare import local_stride
from simt.machine.prepared import Prepared
from simt.ops.jit import compilation, name_of
from simt.program import Program
from simt.sanitizer import layout as Z
from simt.sanitizer.jit import FOLDER
from simt.sanitizer.judge import judge
from simt.sanitizer.layout import Judge
from simt.sanitizer.metadata import compares_lanes, granule, has_copies, has_partial_barriers, is_fenced, metadata
from simt.sanitizer.needless import arrays_of, needless
from simt.sanitizer.pools import FIRST_PLACES, chain_places, pools, tables, with_room, words
from simt.sanitizer.registers import Watched, watched
from simt.sanitizer.report import Report
from simt.sanitizer.rooms import time_fits
from simt.sanitizer.tools import LANES, tools_of

WORD = 2
"""log2 of the bytes that share a cell at least."""

MOST_BLOCKS = 1 << (63 - Z.TIME_BITS - Z.THREAD_BITS)
"""Blocks that racecheck tells apart."""


class Sanitizer:
    """Looks for races, reads of what nobody has written, and barriers that are misused, in one launch.

    ``names``: of :func:`~simt.sanitizer.tools.names_of`.  ``keep_going``: findings are collected; else the first ends
    the launch.
    """

    def __init__(self, names: Sequence[str], keep_going: bool = False, schedule: str = "") -> None:
        self.names = tuple(names)
        self.keep_going = keep_going
        self.schedule = schedule
        self._asked = tools_of(names)
        self.tools = 0
        for tool in self._asked:
            self.tools |= tool.bit
        self._judges: list[Judge] = []
        self._report: Report | None = None
        self._watched: Watched | None = None
        self._arrays: Mapping[int, int | None] = {}
        self._meta = np.zeros((0, Z.N_META), np.int64)

    @property
    def told(self) -> int:
        """What the judges want to be told."""
        told = WATCH_ORDER
        for tool in self._asked:
            told |= tool.told
        return told

    @property
    def in_order(self) -> bool:
        """Whether a check compares blocks."""
        return any(tool.in_order for tool in self._asked)

    @property
    def sees_writes(self) -> bool:
        """Initcheck sees them."""
        return bool(self.tools & Z.INIT)

    @property
    def variables(self) -> npt.NDArray[np.int64]:
        """The micro-ops with a watched register, and those that took the place of a warp barrier."""
        assert self._watched is not None  # the launch has begun
        micro_ops = self._watched.micro_ops()
        if not self.tools & Z.RACES:
            return micro_ops
        return np.union1d(micro_ops, np.flatnonzero(self._meta[:, Z.M_KIND] == Z.LEFT_OUT))

    @property
    def needless(self) -> npt.NDArray[np.int64]:
        """The micro-ops of which nothing else has to be told."""
        assert self._report is not None  # the launch has begun
        assert self._watched is not None
        return needless(self._report.prepared, self.tools, self._watched.count > 0, self._arrays)

    def begin(self, prepared: Prepared, workers: int) -> None:
        """Make the judges' arrays.  Raises LaunchError for a launch that is too large."""
        blocks = prepared.launch.blocks
        if blocks > MOST_BLOCKS and self.tools & Z.RACES:
            raise LaunchError(
                f"racecheck takes at most {MOST_BLOCKS} blocks, and the launch has {blocks}",
                help="launch fewer blocks, and give each more to do; initcheck and synccheck take any number",
            )
        if len(prepared.program.instructions) >= 1 << Z.PC_BITS:
            raise LaunchError(f"checks take kernels of fewer than {1 << Z.PC_BITS} micro-operations")
        self._check_room(prepared)
        self._report = Report(prepared, self.schedule)
        self._watched, self._meta, self._arrays = _facts(
            prepared.program, bool(self.tools & Z.INIT), bool(self.tools & Z.SYNC)
        )
        poison = np.zeros(align(prepared.memory.end, 16) if self.tools & Z.INIT else 8, np.uint8)
        if self.tools & Z.INIT:
            for part, place in self._unwritten(prepared, poison):
                place[:] = part.mask
        head = self._head(prepared)
        shared = {} if self.tools & Z.RACES else tables(0)  # nobody writes to them: workers are many on large hosts
        self._judges = [self._judge(prepared, head.copy(), poison, shared) for _ in range(workers)]
        _compile(self._judges[0])

    @staticmethod
    def _unwritten(
        prepared: Prepared, poison: npt.NDArray[np.uint8]
    ) -> Iterator[tuple[Unwritten, npt.NDArray[np.uint8]]]:
        """Global memory that may not be written yet, and its bytes in POISON."""
        for part in prepared.device.unwritten:
            at = part.start - int(ADDRESS_BASE)
            yield part, poison[at : at + len(part.mask)]

    def _check_room(self, prepared: Prepared) -> None:
        """Raises LaunchError for more memory to shadow than this computer has."""
        given = sum(each.end - each.start for each in prepared.device.allocations)
        each_byte = (Z.N_CELL * 8 >> max(granule(prepared.program), WORD)) * bool(self.tools & Z.RACES)
        each_byte += bool(self.tools & Z.INIT)
        needed, has = given * each_byte, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if needed > has:
            raise LaunchError(
                f"{', '.join(self.names)}: {given} bytes of arrays need {needed} bytes of shadow memory; this computer "
                f"has {has}",
                help="use a smaller input",
            )

    def _head(self, prepared: Prepared) -> npt.NDArray[np.int64]:
        """The header of every judge."""
        program, launch = prepared.program, prepared.launch
        warps = -(-launch.threads_per_block // 32)
        assert self._watched is not None  # the launch has begun
        races = bool(self.tools & Z.RACES)
        head = np.zeros(Z.N_HEAD, np.int64)
        head[Z.H_TIME] = 1
        head[Z.H_STOPS] = not self.keep_going
        head[Z.H_TOOLS] = self.tools
        head[Z.H_LANES] = compares_lanes(program) or LANES.name in self.names
        head[Z.H_WIDE] = program.view != "source"
        fenced = is_fenced(program)
        head[Z.H_FENCED] = races and fenced
        head[Z.H_BARRIERS_ONLY] = not fenced and not has_partial_barriers(program)
        head[Z.H_THREADS] = launch.threads_per_block
        head[Z.H_WARPS] = warps
        head[Z.H_GRANULE] = max(granule(program), WORD)
        head[Z.H_FINE] = granule(program) < WORD
        head[Z.H_COPIES] = has_copies(program)
        head[Z.H_SHARED], head[Z.H_SYSTEM] = prepared.shared_bytes, program.system_shared_bytes
        head[Z.H_REGISTERS] = self._watched.count
        head[Z.H_LOCAL] = local_stride(program.local_bytes) * warps * 32
        return head

    def _judge(
        self,
        prepared: Prepared,
        head: npt.NDArray[np.int64],
        poison: npt.NDArray[np.uint8],
        shared: Mapping[str, npt.NDArray[np.int64]],
    ) -> Judge:
        launch, uses = prepared.launch, self._watched
        assert uses is not None  # the launch has begun
        places, warps, races = FIRST_PLACES, int(head[Z.H_WARPS]), bool(self.tools & Z.RACES)
        cells = align(prepared.memory.end, 16) >> int(head[Z.H_GRANULE]) if races else 0
        state = Judge(
            HEAD=head,
            SLOT=np.zeros(launch.blocks, np.int32),
            SEEN=np.zeros(launch.blocks, np.uint8),
            BLOCKS=words(places * Z.N_BLOCK),
            WARPS=words(places * warps * Z.N_WARP),
            KNOWN=words(places * warps * 1024),
            THREADS=words(places * warps * 32 * Z.N_THREAD),
            BARRIERS=words(places * BLOCK_BARRIERS * Z.N_BARRIER),
            ARRIVED=words(places * BLOCK_BARRIERS * warps * 2),
            CELLS=words(cells * Z.N_CELL),
            **(shared or tables(cells)),
            **pools(warps),
            POISON=poison,
            POISON32=poison.view(np.uint32),
            POISON64=poison.view(np.uint64),
            REGISTERS=words(places * warps * uses.count * Z.N_REGISTER),
            META=self._meta.reshape(-1),
            USES=uses.uses.reshape(-1),
            FOUND=words(Z.MOST_FOUND * Z.N_FOUND),
        )
        chain_places(state.BLOCKS, 0)
        return with_room(state)

    def judge(self, worker: int, events: npt.NDArray[np.int64]) -> tuple[int, Exception] | None:
        """Judge a worker's events; the error of its first finding and its block, unless findings are collected."""
        at = 0
        while True:
            state = self._judges[worker]
            with np.errstate(all="ignore"):
                at = judge(events, at, state)
            if state.HEAD[Z.H_FOUND] and not self.keep_going:
                assert self._report is not None  # the launch has begun
                first = [int(value) for value in state.FOUND[: Z.N_FOUND]]
                return first[Z.F_BLOCK], self._report.finding(first).error()
            if at >= len(events):
                return None
            if not time_fits(state.HEAD):
                return int(events[at + V.V_BLOCK]), LaunchError(
                    f"racecheck counts up to {1 << Z.TIME_BITS} barriers, fences and warp barriers of a launch",
                    help="use a smaller launch, or --tool initcheck,synccheck",
                )
            self._judges[worker] = with_room(state)

    def shadow_bytes(self) -> int:
        """Bytes that racecheck has used to remember accesses: cells, and what stands beside them."""
        used = 8 * Z.N_CELL * self.touched_words()
        for state in self._judges:
            used += 8 * (Z.N_READER + 2) * int(state.HEAD[Z.H_SETS])
            used += 8 * (Z.N_PATTERN + 2) * int(state.HEAD[Z.H_PATTERNS])
        return used

    def touched_words(self) -> int:
        """Words, or other units that share a cell, of which racecheck remembers accesses."""
        return sum(int(state.CELLS.reshape(-1, Z.N_CELL).any(axis=1).sum()) for state in self._judges)

    def meet_grid(self) -> None:
        """All blocks have met at the barrier of the grid."""
        for state in self._judges:
            state.HEAD[Z.H_TIME] += 1
            state.HEAD[Z.H_GRID] = state.HEAD[Z.H_TIME]

    def finish(self) -> Sequence[Finding]:
        """What was found, each place once, in the order in which it came; one worker after the other."""
        if self._report is None:
            return ()
        if self.tools & Z.INIT:
            for part, place in self._unwritten(self._report.prepared, self._judges[0].POISON):
                part.mask[:] = place
        rows = [
            [int(value) for value in row]
            for state in self._judges
            for row in state.FOUND.reshape(-1, Z.N_FOUND)[: state.HEAD[Z.H_FOUND]]
        ]
        merged: dict[tuple[int, ...], list[int]] = {}
        for row in rows:
            first = merged.setdefault((row[Z.F_KIND], row[Z.F_PC], row[Z.F_OTHER_PC]), row)
            if first is not row:
                first[Z.F_COUNT] += row[Z.F_COUNT]
        return gathered(map(self._report.finding, merged.values()))


Facts = tuple[Watched, npt.NDArray[np.int64], Mapping[int, int | None]]


def _facts(program: Program, variables: bool, shuffles: bool) -> Facts:
    """What :func:`watched`, :func:`metadata` and :func:`arrays_of` say of a Program: it is often launched again."""
    for known, *asked, facts in _known:
        if known is program and asked == [variables, shuffles]:
            return facts
    facts = watched(program, variables, shuffles), metadata(program), arrays_of(program)
    _known.append((program, variables, shuffles, facts))
    return facts


_known: deque[tuple[Program, bool, bool, Facts]] = deque(maxlen=16)


def _compile(state: Judge) -> None:
    """Compile the judges, or load them from the cache, before the launch."""
    with compilation("the checks", name_of(judge), FOLDER):
        judge(np.zeros(0, np.int64), 0, state)
