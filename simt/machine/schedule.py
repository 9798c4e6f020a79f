"""Schedules: which warp of which block runs next, and how long, where a launch does not run block after block.

A schedule decides between micro-ops, so every interleaving of warps that a GPU may show is possible.  The same text
always gives the same schedule: a finding can be reproduced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.machine import layout as L
from simt.machine.turns import QUANTUM

ROUND_ROBIN, ADVERSARIAL, RANDOM = "round_robin", "adversarial", "random"
HELP = "choose round_robin, adversarial, random:SEED, or random:SEED:N, which preempts a warp at most N times"

FAIR = QUANTUM
"""Micro-ops after which a warp yields though it could go on: it may be spinning on what another one writes."""

PAUSES = 1
"""In State.STOP: run_blocks returns after the turn of one warp.  Larger numbers end the launch."""

Place = tuple[int, int]
"""Resident block and warp."""


@dataclass(frozen=True)
class Schedule:
    """``kind`` (RANDOM, ...), the seed of a random one, and how often that preempts at most (None: any number)."""

    kind: str
    seed: int = 0
    preemptions: int | None = None

    @property
    def order(self) -> str:
        """The order of a warp's splits that goes with it."""
        if self.kind == RANDOM and self.preemptions is None:
            return f"random:{self.seed}"
        backwards = self.kind == ADVERSARIAL or (self.kind == RANDOM and self.seed % 2 == 1)
        return "interleaved" if self.kind == ROUND_ROBIN else "else_first" if backwards else "then_first"


def parse_schedule(text: str) -> Schedule:
    """A schedule by name.  Raises LaunchError."""
    kind, *numbers = text.split(":")
    if kind in (ROUND_ROBIN, ADVERSARIAL) and not numbers:
        return Schedule(kind)
    if kind == RANDOM and 1 <= len(numbers) <= 2 and all(number.isdecimal() for number in numbers):
        seed, *most = map(int, numbers)
        return Schedule(kind, seed, most[0] if most else None)
    raise LaunchError(f"unknown schedule {text!r}", help=HELP)


class Turns:
    """Which warp runs next, and for how many micro-ops.

    ``preemptions`` counts the switches away from a warp that could go on, except those after FAIR micro-ops, which keep
    a spinning warp from blocking the others.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.preemptions = 0
        self._random = np.random.default_rng(schedule.seed)
        self._runs: Place | None = None
        self._used = 0
        self._tired: set[Place] = set()  # gave way after FAIR micro-ops, and have not run since

    def next(self, ready: npt.NDArray[np.bool_]) -> tuple[Place, int]:
        """The place to run of those *ready* (bool [resident blocks, warps], not all False), and for how long."""
        runs = self._runs
        can_go_on = runs is not None and bool(ready[runs])
        if runs is not None and can_go_on and self._used >= FAIR:
            self._tired.add(runs)
        place = self._place(self._fresh(ready), runs if can_go_on else None)
        if can_go_on and place != runs and self._used < FAIR:
            self.preemptions += 1
        self._used = self._used if place == runs else 0
        self._runs = place
        length = self._length()
        self._used += length
        return place, length

    def _fresh(self, ready: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Those of the ready ones that are not tired; all, if there are no others.

        A warp that spins would else come first whenever the one that it waits for waits itself.
        """
        if not self._tired:
            return ready
        fresh: npt.NDArray[np.bool_] = ready.copy()
        for place in self._tired:
            fresh[place] = False
        if fresh.any():
            return fresh
        self._tired.clear()
        return ready

    def _place(self, ready: npt.NDArray[np.bool_], runs: Place | None) -> Place:
        """Which of the ready ones is next; *runs* is the one that can go on."""
        kind = self.schedule.kind
        places = np.flatnonzero(ready)
        warps = ready.shape[1]
        tired = self._used >= FAIR
        if kind == ROUND_ROBIN:
            last = -1 if self._runs is None else self._runs[0] * warps + self._runs[1]
            later = places[places > last]
            found = later[0] if len(later) else places[0]
        elif kind == ADVERSARIAL:
            if runs is not None and not tired:
                return runs
            last = runs[0] * warps + runs[1] if runs is not None else ready.size
            earlier = places[places < last]
            found = earlier[-1] if len(earlier) else places[-1]
        else:
            most = self.schedule.preemptions
            if runs is not None and most is not None and self.preemptions >= most and not tired:
                return runs
            found = places[self._random.integers(len(places))]
        return int(found) // warps, int(found) % warps

    def _length(self) -> int:
        """How long the next turn is, in micro-ops."""
        if self.schedule.kind == ROUND_ROBIN:
            return 1
        most = self.schedule.preemptions
        preempts = most is None or self.preemptions < most
        if self.schedule.kind == RANDOM and preempts and self._used < FAIR:
            # Of every size: some bugs need two warps in step, others one far ahead.
            return int(2 ** self._random.uniform(0, 4 if most is None else 9))
        return FAIR


class Resident:
    """The blocks that run together, each in a state of its own, and which of their warps can run.

    ``blocks``: the number of each one's block, None where there is none; ``held``: warps at the barrier of the grid.
    """

    def __init__(self, states: list[L.State]) -> None:
        self.states = states
        warps = int(states[0].LAUNCH[L.LAUNCH_WARPS])
        self.ready = np.zeros((len(states), warps), np.bool_)
        self.blocks: list[int | None] = [None] * len(states)
        self.held: set[Place] = set()
        self._lanes = np.arange(32)

    def began(self, slot: int, block: int) -> None:
        """Block *block* has started in a state."""
        self.blocks[slot] = block
        self.look(slot)

    def look(self, slot: int) -> None:
        """See which warps of a block can run, after one has."""
        state = self.states[slot]
        splits = state.SPLITS.reshape(-1, 32, L.N_SPLIT)[:, :, L.S_STATE]
        counts = state.WARPS.reshape(-1, L.N_WARP)[:, L.W_SPLITS, None]
        self.ready[slot] = ((splits == L.READY) & (self._lanes < counts)).any(axis=1)
        for place in self.held:
            if place[0] == slot:
                self.ready[place] = False

    def has_ended(self, slot: int) -> bool:
        """Whether all threads of a block have exited."""
        return not self.states[slot].WARPS.reshape(-1, L.N_WARP)[:, L.W_SPLITS].any()

    def ended(self, slot: int) -> None:
        """A block has ended: there is room for another."""
        self.states[slot].LAUNCH[L.LAUNCH_STARTED] = 0
        self.blocks[slot] = None
        self.ready[slot] = False

    def running(self) -> Iterator[tuple[int, int]]:
        """States in use with their blocks."""
        return ((slot, block) for slot, block in enumerate(self.blocks) if block is not None)

    def release(self) -> None:
        """Release all warps that wait at the barrier of the grid."""
        slots = {slot for slot, _ in self.held}
        self.held.clear()
        for slot in slots:
            self.look(slot)
