"""When calls of the system return: ``malloc``, ``free`` and ``printf``, which execute code of the driver's.

That code is not in the program.  What an H100 takes for it was measured from outside (calls.cu): most of it is done for
one warp of the chip after the other, so how many call at the same time decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from simt.machine.services import Services, SystemCall
from simt.timing import layout as L
from simt.timing.clock import Clock
from simt.timing.codes import LONG
from simt.timing.parameters import Parameters

MALLOC, FREE, PRINT = "malloc", "free", "print"
"""Kinds of calls, as in the names of their numbers."""
_MALLOCS = ("malloc", "cudaMalloc", "cudaMalloc_ptsz", "__cudaCDP2Malloc", "__cudaCDP2Malloc_ptsz")
_FREES = ("free", "cudaFree", "cudaFree_ptsz", "__cudaCDP2Free", "__cudaCDP2Free_ptsz")
_KINDS = {**dict.fromkeys(_MALLOCS, MALLOC), **dict.fromkeys(_FREES, FREE), "vprintf": PRINT, "print": PRINT}

_CLASSES = (
    *((64, 24, 2), (144, 11, 2), (304, 6, 2), (544, 3, 2), (1984, 1, 2)),
    *((2192, 24, 1), (4400, 12, 1), (8816, 6, 1), (17648, 3, 1), (52000, 1, 1)),
    *((53200, 24, 0), (106528, 12, 0), (213000, 6, 0), (426000, 3, 0)),
)
"""Blocks of up to so many bytes share a chunk with so many, which is itself in so many levels of larger ones.

By the addresses that an H100 gives, and after how many blocks the next takes longer.  Larger blocks have one each.
"""
_WORD = (1 << 32) - 1
_AT_ONCE = 4
"""So many calls at the same time take as long as one."""
_JOINS = 0.64
"""What a call takes, beside its further lanes, while another is under way: it leaves the rest to that one."""
_SERVED = 0.4
"""Calls of malloc by one lane have been given their blocks in such a share of the time until all work is done."""

_TOGETHER = 0.75
"""Frees by n warps of an SM at the same time take as long as by so many SMs: n to this power."""


@dataclass
class _Queue:
    """The calls of a kind.

    ``calls``: how many came before all work of those before was done, ``of_sm``: by SM; ``until``: when it is;
    ``staying``: warps that wait for that; ``warm``: SMs that have had one.
    """

    calls: float = 0.0
    of_sm: Counter[int] = field(default_factory=Counter)
    until: float = 0.0
    staying: list[tuple[int, int]] = field(default_factory=list)
    warm: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class _Cost:
    """Cycles of a call.

    ``alone``: if no other is under way, of that ``further`` for lanes after the first; ``interval``: by how much all
    work is done later.  ``share`` of the time until then has passed when the call is through, if it is not the first.
    """

    alone: float
    further: float
    interval: float
    share: float


class Calls:
    """The calls of the simulated SMs.  *stands*: for how many of a function one of theirs stands."""

    def __init__(
        self, numbers: Parameters, clock: Clock, services: Services | None, stands: Mapping[str, float]
    ) -> None:
        self._numbers, self._clock, self._services, self._stands = numbers, clock, services, stands
        self._alike = int(clock.CONFIG[L.G_CHIP]) / int(clock.CONFIG[L.G_SMS])
        self._queues = {kind: _Queue() for kind in (MALLOC, FREE, PRINT)}

    def note(self, call: SystemCall, place: int) -> None:
        """Let the warp of *call*, which is about to be served, wait in its *place* for blocks until it is through."""
        kind = _KINDS.get(call.function)
        if kind is None:
            return
        clock, queue = self._clock, self._queues[kind]
        sm = place // int(clock.CONFIG[L.G_PLACES])
        alone = int(clock.CONFIG[L.G_SMS]) == 1
        now = int(clock.CHIP[L.C_NOW] if alone else clock.FRONTS[sm * L.N_FRONT + L.F_NEXT])
        cold = 0.0 if sm in queue.warm else self._numbers[f"{kind}_cold_latency"]
        queue.warm.add(sm)
        cost = self._cost(kind, call)
        row = self._row(place, call.warp)
        is_first = queue.until <= now
        if is_first:
            queue.calls, queue.staying, queue.until = 0.0, [], now + cold + cost.alone
            queue.of_sm.clear()
        before = max(queue.calls, _AT_ONCE)
        queue.calls += self._stands.get(call.function, self._alike)
        queue.of_sm[sm] += 1
        n = queue.of_sm[sm]
        part = n**_TOGETHER - (n - 1) ** _TOGETHER if kind == FREE else 1.0
        queue.until += max(queue.calls - before, 0.0) * cost.interval * part
        if is_first or kind == PRINT:
            queue.staying.append((row, int(clock.WARPS[row + L.W_AGE])))
        else:
            own = now + cold + _JOINS * (cost.alone - cost.further) + cost.further
            self._wait(row, max(own, now + cost.share * (queue.until - now)))
        for each, age in queue.staying:
            is_new = each == row and age == clock.WARPS[row + L.W_AGE]
            if is_new or self._still_waits(each, age, now):
                self._wait(each, queue.until)

    def _cost(self, kind: str, call: SystemCall) -> _Cost:
        """What a call takes, by its lanes, and how large the blocks are that these ask for or give back."""
        n, others = self._numbers, len(call.lanes) - 1
        further = others * n[f"{kind}_lane_latency"]
        if kind == PRINT:
            return _Cost(
                n["print_latency"] + further, further, n["print_interval"] + others * n["print_lane_interval"], 1.0
            )
        slots, level = self._class_of(kind, call)
        chunks = -(-len(call.lanes) // slots)
        further += (chunks - 1) * n[f"{kind}_chunk_latency"]
        interval = n[f"{kind}_interval"] + level * n[f"{kind}_level_interval"]
        if kind == MALLOC:
            further += n["malloc_chunk_interval"] * chunks * (chunks - 1)
            interval += n["malloc_chunk_interval"] * (chunks * chunks - 1)
        else:
            if self._queues[MALLOC].until:  # who waits for blocks takes one of them as it is
                interval *= others / len(call.lanes)
            interval += n["free_chunk_interval"] * (chunks - 1)
        alone = n[f"{kind}_latency"] + level * n[f"{kind}_level_latency"] + further
        return _Cost(alone, further, interval, 1 - (1 - _SERVED) / chunks**0.5 if kind == MALLOC else 0.0)

    def _class_of(self, kind: str, call: SystemCall) -> tuple[int, int]:
        """Of the largest block: how many share a chunk with it, and how many levels of chunks that is in."""
        if kind == FREE:
            address = call.rows[3] & _WORD | (call.rows[4] & _WORD) << 32
            services = self._services
            size = max((services.block_bytes(int(address[l])) for l in call.lanes), default=0) if services else 0
        else:
            where = 3 if call.function == "malloc" else 5
            size = max(int(call.rows[where][l] & _WORD | (call.rows[where + 1][l] & _WORD) << 32) for l in call.lanes)
        return next(((slots, level) for most, slots, level in _CLASSES if size <= most), (1, 0))

    def _row(self, place: int, index: int) -> int:
        """Where WARPS has a warp of the block in a place."""
        rows = self._clock.WARPS.reshape(-1, L.N_WARP)
        found = (rows[:, L.W_PLACE] == place) & (rows[:, L.W_INDEX] == index) & (rows[:, L.W_STATE] != L.EMPTY)
        return int(np.flatnonzero(found)[0]) * L.N_WARP

    def _wait(self, row: int, until: float) -> None:
        self._clock.WARPS[row + L.W_REASON] = LONG
        self._clock.READY[self._clock.WARPS[row + L.W_MEMBER]] = ceil(until)

    def _still_waits(self, row: int, age: int, now: int) -> bool:
        """Whether a warp that waited for its call does so until its SM hears of more."""
        clock = self._clock
        ready = clock.READY[clock.WARPS[row + L.W_MEMBER]]
        return bool(clock.WARPS[row + L.W_AGE] == age and now + clock.CHIP[L.C_EPOCH] < ready < L.PENDING)
