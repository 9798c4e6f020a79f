"""The host threads of a simulation, and the groups of SMs that they go on with, whichever thread is free."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import config

from simt.machine import door
from simt.machine.compiled.code import NativeRuns
from simt.machine.layout import N_LAUNCH, own_lines
from simt.machine.prepare import state_arrays
from simt.machine.prepared import Prepared
from simt.machine.threads import host_threads
from simt.ops.arrays import record_of, record_words
from simt.timing import layout
from simt.timing.arrays import SUMS, for_group, own_sizes
from simt.timing.clock import Clock

NAP = 1e-4
"""Seconds that a thread sleeps that has found nothing to do for a while."""
GROUPS_OF_THREAD = 1 if config.BOUNDSCHECK else 8
"""Groups of SMs for each thread: so little one waits for the last of another.  Where arrays are checked there are no
records of them (:mod:`simt.ops.arrays`), and each thread has the group whose arrays it is called with."""


class Crew:
    """*threads* host threads for a simulation that has begun with *state* and *clock*, between two epochs.

    The first is the one that calls; the others help it until the crew ends.
    Which thread goes on with a group of SMs changes nothing: what is not of one SM each group has for itself, sums and
    scratch.  The first group's arrays are those that the simulation has begun with, which also serve for turns.
    """

    def __init__(self, prepared: Prepared, state: door.State, clock: Clock, threads: int) -> None:
        sms = int(clock.CONFIG[layout.G_SMS])
        groups = min(GROUPS_OF_THREAD * threads, sms) if threads > 1 else 1
        self.firsts = [k * groups // threads for k in range(threads)]
        """The group that each thread begins with."""
        clock.CONFIG[[layout.G_THREADS, layout.G_GROUPS]] = threads, groups
        sync = own_lines((1 + threads) * layout.THREAD_ROOM)
        sync[:] = groups  # there is none to take before the first epoch
        clock = clock._replace(
            SYNC=sync,
            STATES=np.zeros(groups * record_words(state), np.int64),
            CLOCKS=np.zeros(groups * record_words(clock), np.int64),
        )
        others = np.zeros_like(clock.BLOCKS)  # of all groups but the first: a place is in one of them
        self.states, self.clocks = [state], [clock]
        for thread, (first, end) in enumerate(pairwise([*self.firsts, groups])):
            for _ in range(max(first, 1), end):
                self.states.append(door.beside(state, state_arrays(prepared, 0, 0, state.STOP)))
                self.clocks.append(for_group(clock, thread, BLOCKS=others))
        self._native: NativeRuns | None = None
        self._over = self._is_described = False
        self._pending: set[Future[None]] = set()

    def equip(self, native: NativeRuns, first: int = 0) -> None:
        """Have the groups from *first* on go on with native code, between two epochs.

        The first has all places: it has begun alone, and its arrays serve for turns.
        """
        self._native = native
        for k in range(first, len(self.states)):
            places = self._places(k) if k else range(len(self.states[0].LAUNCH) // N_LAUNCH)
            like = self.states[1] if k > 1 else None
            self.states[k] = door.equip(self.states[k], native, places, *own_sizes(self.clocks[0]), like=like)
        begins, addresses = native.runs
        self.clocks[0].RUNS[begins] = addresses  # all have one array
        for clock in self.clocks[first : first + 2]:  # all but the first have one array
            clock.BLOCKS[:] = 0  # laid out anew: those have other arrays
        if self._is_described:
            self.describe()

    def describe(self) -> None:
        """Bring the records of all groups up to date."""
        known: dict[int, tuple[int, ...]] = {}  # groups share most arrays
        self.clocks[0].STATES[:] = np.array([record_of(state, known) for state in self.states]).reshape(-1)
        self.clocks[0].CLOCKS[:] = np.array([record_of(clock, known) for clock in self.clocks]).reshape(-1)
        self._is_described = True

    def _sms(self, k: int) -> tuple[int, int]:
        """The SMs of a group, as :mod:`simt.timing.core` has it: the first, and one past the last."""
        sms, groups = int(self.clocks[0].CONFIG[layout.G_SMS]), len(self.clocks)
        return k * sms // groups, (k + 1) * sms // groups

    def _places(self, k: int) -> range:
        """The places for blocks on the SMs of a group."""
        places = int(self.clocks[0].CONFIG[layout.G_PLACES])
        first, end = self._sms(k)
        return range(first * places, end * places)

    @property
    def is_many(self) -> bool:
        """Whether there are several threads."""
        return len(self.firsts) > 1

    def begin(self, function: Callable[..., Any]) -> None:
        """Let the other threads help with *function*, the compiled :func:`simt.timing.core.run`."""
        self.describe()
        for first in self.firsts[1:]:
            self._pending.add(host_threads().submit(self._help, function, self.states[first], self.clocks[first]))

    def _help(self, function: Callable[..., Any], state: door.State, clock: Clock) -> None:
        while not self._over:
            function(0, 0, state, clock)
            time.sleep(NAP)

    def end(self) -> None:
        """Wait until no other thread works any more, however often ctrl-C is pressed."""
        self._over = True
        while self._pending:
            try:
                _, self._pending = wait(self._pending)
            except KeyboardInterrupt:
                continue

    def total(self, column: int) -> int:
        """The sum of a column of TOTALS over all groups."""
        return sum(int(clock.TOTALS[column]) for clock in self.clocks)

    def totals(self) -> npt.NDArray[np.int64]:
        """The same of all columns."""
        made: npt.NDArray[np.int64] = np.sum([clock.TOTALS for clock in self.clocks], axis=0)
        return made

    def drain(self) -> list[npt.NDArray[np.int64]]:
        """The issues that the groups have recorded, which they forget."""
        found = []
        for clock in self.clocks:
            n = int(clock.TOTALS[layout.N_EVENTS])
            if n:
                found.append(clock.EVENTS[: n * layout.N_EVENT].reshape(n, -1).copy())
                clock.TOTALS[layout.N_EVENTS] = 0
        return found

    def of_failed(self) -> door.State:
        """The State of the group whose SM has failed: the first such SM."""
        failed = self.clocks[0].FRONTS.reshape(-1, layout.N_FRONT)[:, layout.F_STATUS] == layout.FAILED
        return next(
            (state for k, state in enumerate(self.states) if failed[slice(*self._sms(k))].any()), self.states[0]
        )

    def add_up(self) -> None:
        """Bring the sums of all groups into the arrays of the first."""
        if self._native is not None:
            for state in self.states[:2]:  # all but the first count together
                door.count(state, self._native)
        for state, clock in zip(self.states[1:], self.clocks[1:], strict=True):
            self.states[0].COUNTS[:] += state.COUNTS
            for name in SUMS:
                getattr(self.clocks[0], name)[:] += getattr(clock, name)
