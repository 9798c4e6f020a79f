"""The host threads of a simulation: each sees to some SMs, and has arrays of its own for what is not of one SM."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.machine import door
from simt.machine.compiled.code import Native
from simt.machine.layout import N_LAUNCH
from simt.machine.prepare import state_arrays
from simt.machine.prepared import Prepared
from simt.machine.threads import host_threads
from simt.timing import layout
from simt.timing.arrays import SUMS, for_thread, lines_of, own_sizes

NAP = 1e-4
"""Seconds that a thread sleeps that has found nothing to do for a while."""


class Crew:
    """*threads* host threads for a simulation that has begun with *state* and *clock*, between two epochs.

    The first is the one that calls; the others help it as long as the crew is at work (a context manager).
    """

    def __init__(self, prepared: Prepared, state: door.State, clock: layout.Clock, threads: int) -> None:
        sync = lines_of(threads * layout.THREAD_ROOM, np.int64)
        self.clocks = [for_thread(clock, k, threads, sync) for k in range(threads)]
        fresh = [state_arrays(prepared, 0, 0, state.STOP) for _ in range(1, threads)]
        self.states = [state, *(door.beside(state, one) for one in fresh)]
        self._native: Native | None = None
        self._over = False
        self._pending: set[Future[None]] = set()

    def equip(self, native: Native, first: int = 0) -> None:
        """Have the threads from *first* on go on with native code."""
        self._native = native
        for k in range(first, len(self.states)):
            self.states[k] = door.equip(self.states[k], native, self._places(k), *own_sizes(self.clocks[0]))
            self.clocks[k].BLOCKS[:] = 0  # laid out anew: those have other arrays

    def _sms(self, k: int) -> tuple[int, int]:
        """The SMs that a thread sees to, as :mod:`simt.timing.core` has it: the first, and one past the last."""
        sms, threads = int(self.clocks[0].CONFIG[layout.G_SMS]), len(self.clocks)
        return k * sms // threads, (k + 1) * sms // threads

    def _places(self, k: int) -> range:
        """The places for blocks on the SMs of a thread."""
        places = int(self.clocks[0].CONFIG[layout.G_PLACES])
        first, end = self._sms(k)
        return range(first * places, end * places)

    def begin(self, function: Callable[..., Any]) -> None:
        """Let the other threads help with *function*, the compiled :func:`simt.timing.core.run`."""
        for state, clock in zip(self.states[1:], self.clocks[1:], strict=True):
            self._pending.add(host_threads().submit(self._help, function, state, clock))

    def _help(self, function: Callable[..., Any], state: door.State, clock: layout.Clock) -> None:
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
        """The sum of a column of TOTALS over all threads."""
        return sum(int(clock.TOTALS[column]) for clock in self.clocks)

    def drain(self) -> list[npt.NDArray[np.int64]]:
        """The issues that the threads have recorded, which they forget."""
        found = []
        for clock in self.clocks:
            n = int(clock.TOTALS[layout.N_EVENTS])
            if n:
                found.append(clock.EVENTS[: n * layout.N_EVENT].reshape(n, -1).copy())
                clock.TOTALS[layout.N_EVENTS] = 0
        return found

    def of_failed(self) -> door.State:
        """The State of the thread whose SM has failed: the first such SM."""
        failed = self.clocks[0].FRONTS.reshape(-1, layout.N_FRONT)[:, layout.F_STATUS] == layout.FAILED
        return next(
            (state for k, state in enumerate(self.states) if failed[slice(*self._sms(k))].any()), self.states[0]
        )

    def add_up(self) -> None:
        """Bring the sums of all threads into the arrays of the first."""
        if self._native is not None:
            for k, state in enumerate(self.states):  # the first was alone before, and saw to all SMs
                places = self._places(k) if k else range(len(state.LAUNCH) // N_LAUNCH)
                door.count(state, self._native, places, *own_sizes(self.clocks[0]))
        for state, clock in zip(self.states[1:], self.clocks[1:], strict=True):
            self.states[0].COUNTS[:] += state.COUNTS
            for name in SUMS:
                getattr(self.clocks[0], name)[:] += getattr(clock, name)
