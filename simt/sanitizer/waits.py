"""Who waits for whom where a launch never ends: what each warp polls, and which thread wrote that last.

A launch that ran over its budget is run again, shorter, with :class:`Waits` as its watch.  A warp polls if all that it
did to memory lately were loads and atomics of the same few words, again and again.  Whoever else wrote such a word last
(an atomic or a store) is who it waits for: the holder of a lock is the last one that took it and went on.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simt.check import BudgetError, Finding
from simt.machine import events as V
from simt.machine.places import coordinates, place_of, where
from simt.machine.prepared import Prepared
from simt.ops.memory import LOAD, LOCAL, STORE
from simt.sanitizer.report import Report

MAX_INSTRUCTIONS = 1 << 18
"""Warp instructions of a block of the second run: several turns of a warp that spins."""
MOST_EVENTS = 1 << 17
"""Accesses after which the second run ends: it takes about a second then."""
RECENT = 12
"""Accesses of a warp that show whether it polls."""
MOST_WORDS = 4
"""Words that a thread polls at most."""
MOST_TOLD = 8
"""Warps that are told of."""
MOST_WRITERS = 64

Thread = tuple[int, int, int]
"""Block, warp and lane."""
Word = tuple[int, int]
"""Space, and offset in the arena."""


class Accessed(NamedTuple):
    """An access of a warp: the micro-op, its kind, the lanes, and the words of each."""

    pc: int
    kind: int
    lanes: int
    words: tuple[Word, ...]


class Polled(NamedTuple):
    """A warp that waits: its block and number, the lanes that poll, the micro-op, the words."""

    block: int
    warp: int
    lanes: int
    pc: int
    words: tuple[Word, ...]


class Waits:
    """A watch that remembers what warps did lately, and who wrote each word."""

    told = V.WATCH_GLOBAL | V.WATCH_ORDER
    in_order = True
    sees_writes = False
    variables: npt.NDArray[np.int64] = np.zeros(0, np.int64)
    needless: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def __init__(self) -> None:
        self._prepared: Prepared | None = None
        self._events = 0
        self._recent: dict[tuple[int, int], deque[Accessed]] = defaultdict(lambda: deque(maxlen=RECENT))
        self._writers: dict[Word, dict[Thread, int]] = defaultdict(dict)  # in the order of their last writes: micro-op

    def begin(self, prepared: Prepared, workers: int) -> None:
        """The launch is about to run."""
        self._prepared = prepared

    def judge(self, worker: int, events: npt.NDArray[np.int64]) -> tuple[int, Exception] | None:
        """Remember accesses; an error that ends the launch after many."""
        at = 0
        while at < len(events):
            if self._events == MOST_EVENTS:
                return int(events[at + V.V_BLOCK]), BudgetError("enough is known")
            kind = int(events[at + V.V_KIND])
            if kind == V.ACCESS:
                self._remember([int(value) for value in events[at : at + V.N_EVENT]])
            at += V.N_EVENT if V.HAS_VALUES >> kind & 1 else V.N_HEADER
        return None

    def meet_grid(self) -> None:
        """Nothing is to be done where all blocks meet."""

    def finish(self) -> Sequence[Finding]:
        """It finds nothing."""
        return ()

    def _remember(self, event: Sequence[int]) -> None:
        access, space = event[V.V_WHAT] & 15, event[V.V_WHAT] >> 4 & 15
        if space == LOCAL:
            return
        self._events += 1
        block, warp, mask = event[V.V_BLOCK], event[V.V_WARP], event[V.V_LANES]
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        words = [(space, event[V.V_VALUES + lane] & (V.MATCHES - 1)) for lane in lanes]
        self._recent[block, warp].append(Accessed(event[V.V_PC], access, mask, tuple(dict.fromkeys(words))))
        if access != LOAD:
            for lane, word in zip(lanes, words, strict=True):
                writers = self._writers[word]
                writers.pop((block, warp, lane), None)
                writers[block, warp, lane] = event[V.V_PC]
                if len(writers) > MOST_WRITERS:
                    del writers[next(iter(writers))]

    def _polled(self) -> list[Polled]:
        """The warps that poll."""
        found = []
        for (block, warp), recent in self._recent.items():
            words = {word for each in recent for word in each.words}
            if len(recent) < RECENT or len(words) > MOST_WORDS or any(each.kind == STORE for each in recent):
                continue
            last = recent[-1]
            found.append(Polled(block, warp, last.lanes, last.pc, last.words))
        return found

    def _holder(self, word: Word, polled: Sequence[Polled]) -> tuple[Thread, int] | None:
        """The last thread to write a word that does not poll it, and its micro-op."""
        waiting = {
            (each.block, each.warp, lane)
            for each in polled
            if word in each.words
            for lane in range(32)
            if each.lanes >> lane & 1
        }
        others = [each for each in self._writers[word].items() if each[0] not in waiting]
        return others[-1] if others else None

    def details(self) -> list[str]:
        """Who polls what, who wrote that last, and who waits for whom in a circle."""
        if self._prepared is None:
            return []
        polled = self._polled()
        names = Report(self._prepared, "")
        lines, next_of = [], dict[int, tuple[str, int]]()
        for each in polled[:MOST_TOLD]:
            who = where(self._prepared, each.block, each.warp, each.lanes)
            for word in each.words:
                name = names.name_of(*word)
                text = f"{who} polls {name} at {place_of(self._prepared.program, each.pc)}"
                holder = self._holder(word, polled)
                if holder is None:
                    lines.append(f"{text}, which no other thread has written")
                    continue
                (other, other_warp, lane), pc = holder
                by = where(self._prepared, other, other_warp, 1 << lane)
                lines.append(f"{text}; last written by {by} at {place_of(self._prepared.program, pc)}")
                next_of.setdefault(each.block, (name, other))
        return [*self._circle(next_of), *lines]

    def _circle(self, next_of: dict[int, tuple[str, int]]) -> list[str]:
        """Blocks that wait for each other: each holds what the one before it waits for."""
        for first in next_of:
            path = [first]
            while path[-1] in next_of and (following := next_of[path[-1]][1]) not in path:
                path.append(following)
            if len(path) > 1 and next_of.get(path[-1], ("", -1))[1] == first:
                return [self._told(path, next_of)]
        return []

    def _told(self, path: Sequence[int], next_of: dict[int, tuple[str, int]]) -> str:
        assert self._prepared is not None  # the launch has begun
        parts = []
        for k, block in enumerate(path):
            held, wanted = next_of[path[k - 1]][0], next_of[block][0]
            parts.append(f"block {coordinates(block, self._prepared.launch.grid)} holds {held} and waits for {wanted}")
        return f"a deadlock: {', '.join(parts)}"
