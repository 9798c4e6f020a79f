"""When calls of the system return: ``malloc``, ``free`` and ``printf``, which execute code of the driver's.

That code is not in the program, and most of it is done by one warp of the chip after the other: how many there are at a
time decides.  What it takes was measured (calls.cu).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from simt.machine.services import SystemCall
from simt.timing import layout as L
from simt.timing.clock import Clock
from simt.timing.codes import LONG
from simt.timing.parameters import Parameters

Stands = Callable[[str], float]
"""For how many calls of a function each one of the simulated SMs stands."""


@dataclass(frozen=True)
class _Kind:
    """Calls that wait for each other.

    ``name``: as in the names of their numbers.  ``share``: of the time until all are through in which each of them is,
    but for the first: it stays to do what the others have left to it.  ``together``: none is before all are.
    """

    name: str
    share: float
    together: bool = False


_MALLOC, _FREE, _PRINT = _Kind("malloc", 0.45), _Kind("free", 0.02), _Kind("print", 1.0, together=True)
_KINDS: Mapping[str, _Kind] = {
    "malloc": _MALLOC,
    "free": _FREE,
    "vprintf": _PRINT,
    "print": _PRINT,
    **{f"{prefix}{name}{suffix}": kind
       for name, kind in (("Malloc", _MALLOC), ("Free", _FREE))
       for prefix in ("cuda", "__cudaCDP2")
       for suffix in ("", "_ptsz")},
}


@dataclass
class _Queue:
    """The calls of a kind: ``until``: when all so far are through; ``staying``: warps that are not before that."""

    until: float = 0.0
    staying: list[tuple[int, int]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)


class Calls:
    """The calls of the simulated SMs."""

    def __init__(self, numbers: Parameters, clock: Clock, stands: Stands) -> None:
        self._numbers, self._clock, self._stands = numbers, clock, stands
        self._queues: dict[str, _Queue] = {}

    def served(self, call: SystemCall, place: int) -> None:
        """Let the warp that *call* is of, in a *place* for blocks, wait until it is through."""
        kind = _KINDS.get(call.function)
        if kind is None:
            return
        clock = self._clock
        sm = place // int(clock.CONFIG[L.G_PLACES])
        alone = int(clock.CONFIG[L.G_SMS]) == 1
        now = int(clock.CHIP[L.C_NOW] if alone else clock.FRONTS[sm * L.N_FRONT + L.F_NEXT])
        queue = self._queues.setdefault(kind.name, _Queue())
        cold = 0.0 if sm in queue.seen else self._numbers[f"{kind.name}_cold_latency"]
        queue.seen.add(sm)
        others = len(call.lanes) - 1
        own = now + cold + self._of(kind, "latency", others)
        work = self._of(kind, "interval", others)
        is_first = queue.until <= now
        if is_first:
            queue.staying.clear()
            queue.until = own + (self._stands(call.function) - 1) * work
        else:
            queue.until = max(queue.until + self._stands(call.function) * work, own)
        warp = self._warp(place, call.warp)
        until = queue.until if is_first else max(own, now + kind.share * (queue.until - now))
        self._wait(warp, until)
        if is_first or kind.together:
            queue.staying.append((warp, int(clock.WARPS[warp * L.N_WARP + L.W_AGE])))
        for each, age in queue.staying:
            self._stay(each, age, now, queue.until)

    def _of(self, kind: _Kind, what: str, others: int) -> float:
        """A number of a call by one lane and so many others."""
        return self._numbers[f"{kind.name}_{what}"] + others * self._numbers[f"{kind.name}_lane_{what}"]

    def _warp(self, place: int, index: int) -> int:
        rows = self._clock.WARPS.reshape(-1, L.N_WARP)
        found = (rows[:, L.W_PLACE] == place) & (rows[:, L.W_INDEX] == index) & (rows[:, L.W_STATE] != L.EMPTY)
        return int(np.flatnonzero(found)[0])

    def _wait(self, warp: int, until: float) -> None:
        row = warp * L.N_WARP
        self._clock.WARPS[row + L.W_REASON] = LONG
        self._clock.READY[self._clock.WARPS[row + L.W_MEMBER]] = ceil(until)

    def _stay(self, warp: int, age: int, now: int, until: float) -> None:
        """Let a warp wait longer, unless it may be through before its SM hears of that."""
        row = warp * L.N_WARP
        member = self._clock.WARPS[row + L.W_MEMBER]
        waits = self._clock.WARPS[row + L.W_AGE] == age and self._clock.READY[member] > now + self._clock.CHIP[L.C_EPOCH]
        if waits and self._clock.READY[member] < L.PENDING:
            self._wait(warp, until)
