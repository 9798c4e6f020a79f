"""The host threads of a launch: what they share, and how one of them runs blocks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait

import numpy as np

from simt.check import LaunchError, SimtError
from simt.machine import layout
from simt.machine.alike import Group, groups, is_worth_a_look
from simt.machine.compiled.choice import Choice
from simt.machine.early import ENGINE, SLICE, SLICES
from simt.machine.findings import deadlock, failure
from simt.machine.launch import Launch, parse_order
from simt.machine.outlook import Outlook, TooLong
from simt.machine.prepare import state_arrays
from simt.machine.prepared import Prepared
from simt.machine.result import TraceRecords, trace_records
from simt.machine.rotation import longest_turn
from simt.machine.schedule import PAUSES, Turns
from simt.machine.syscalls import serve
from simt.machine.threads import host_threads

TRACE_ROWS = 1 << 14
MAX_TRACE_ROWS = 2_000_000
"""Trace records kept at most (about 0.4 KiB each)."""

SMALL_BLOCKS, SMALL_THREADS, SMALL_INSTRUCTIONS = 32, 4096, 1 << 14
"""A launch with at most this many blocks and threads starts on the calling thread.  A block that executes more warp
instructions moves to another thread, because ctrl-C is only noticed when the engine returns."""

_CAN_WAIT = (layout.STOPPED, layout.DONE, layout.INTERRUPTED)
"""What blocks came to after which the watch can have their events later."""

Begun = tuple[int, int] | None
"""The block that is under way in a worker's state, and the number of the next one."""


def _units(prepared: Prepared) -> int:
    """REACH bytes from the begin of the arena to the end of its last allocation."""
    return int(prepared.memory.ends.max(initial=layout.ADDRESS_BASE) - layout.ADDRESS_BASE >> layout.REACH_SHIFT) + 1


def _wait_out(pending: set[Future[None]]) -> None:
    """Wait until no thread works on a stopped launch, however often ctrl-C is pressed: its memory is used again."""
    while pending:
        try:
            _, pending = wait(pending)
        except KeyboardInterrupt:
            continue


def _is_small(launch: Launch) -> bool:
    """Whether a launch starts on the calling thread."""
    blocks = launch.blocks
    return (
        launch.threads is None
        and launch.trace is False
        and launch.watch is None
        and launch.chosen is None
        and blocks <= SMALL_BLOCKS
        and blocks * launch.threads_per_block <= SMALL_THREADS
        and launch.max_instructions > SMALL_INSTRUCTIONS  # else the launch's own budget would end it
        and parse_order(launch.order)[0] <= layout.PROFILER  # in the others a new turn would change the order
    )


class Team:
    """Host threads that take chunks of blocks in ascending order; a small launch uses only the calling thread.

    *together*: the blocks wait for each other.  Each has a state of its own, and one thread runs them in turns.
    """

    def __init__(self, prepared: Prepared, workers: int, together: bool) -> None:
        self.prepared = prepared
        self.workers = workers
        self.together = together
        schedule = prepared.launch.schedule
        self.turns = None if schedule is None else Turns(schedule)
        self.stop = layout.on_lines(np.full(1, 0 if schedule is None else PAUSES))
        self.choice = Choice(prepared)
        self.work = np.zeros(prepared.launch.blocks * layout.N_WORK if prepared.launch.per_block else 0, np.int64)
        self.reached = np.zeros(_units(prepared) if prepared.launch.per_block else 0, np.uint8)
        self.states = [self._state(0)]
        self._beside: list[layout.State] = []
        """States of blocks beside those that the workers run."""
        self.blocks = prepared.launch.blocks
        chosen = prepared.launch.chosen
        self.spans = [prepared.launch.span] if chosen is None else [(block, block + 1) for block in sorted(chosen)]
        """Blocks that nobody has taken yet, in ascending order."""
        self.alike: list[Group] = []
        self.finished = 0
        self.failed: dict[int, Exception] = {}
        self.lock = threading.Lock()
        self.rows: list[tuple[np.ndarray, np.ndarray]] = []
        self.n_rows = 0
        self.slices = 0
        self.place = workers
        """The next free place for a block beside those that the workers run."""
        most = len(prepared.memory.shared_at) - workers + 1
        self.room = most - workers
        """Blocks that can begin while others are under way."""
        several = most > 1 and not together
        self.patience = longest_turn(prepared.launch.max_instructions) if several else layout.UNLIMITED
        """Micro-ops of a block after which others get turns."""
        self.waited = 0.0
        """Seconds that the launch waited for the compiled engine."""

    def _state(self, worker: int) -> layout.State:
        rows = TRACE_ROWS if self.prepared.launch.trace is not False else 0
        state = state_arrays(self.prepared, worker, rows, self.stop, self.work, self.reached)
        return state._replace(EVENTS=self.states[0].EVENTS) if self.together and worker else state

    def compile(self) -> None:
        """Load the engine, before the clock starts; if it is not compiled yet, a launch may begin without it."""
        waits = self.prepared.encoded.by_library or self.turns is not None
        ready = ENGINE.load if waits else ENGINE.ready
        ready(0, 0, self.states[0])

    def count(self) -> None:
        """Bring the counters of native code, and of blocks that others stand for, into those of the micro-ops."""
        self.choice.count()
        work = self.work.reshape(-1, layout.N_WORK)
        for group in self.alike:
            if group.like is None:
                continue
            self.states[0].COUNTS[:] += group.like.counts * group.blocks
            for first, end in group.spans() if self.prepared.launch.per_block else ():
                work[first:end] = group.like.work

    def _recognise(self) -> None:
        """Find the blocks that do the same, and leave the others in ``spans``."""
        self._await_engine(self.states[0])
        self.alike = groups(self.prepared)
        self.spans = sorted(span for group in self.alike if group.like is None for span in group.spans())
        self.finished = sum(group.blocks for group in self.alike if group.like is not None)

    def run(self, work: Callable[[Team, int, layout.State, Begun], None]) -> TraceRecords | None:
        """Run all blocks: *work* is what each host thread does.

        The error of the lowest block is raised, whichever thread met it first.
        """
        progress = self.prepared.launch.progress
        pending: set[Future[None]] = set()
        begun = None
        if not self.together and is_worth_a_look(self.prepared.launch):
            self._recognise()
        elif not self.together and _is_small(self.prepared.launch):
            begun = self._begin()
        most, start = self.prepared.launch.most_seconds, time.perf_counter()
        outlook = None if most is None else Outlook(self.blocks - self.finished, most)
        try:
            if self.together:
                self.states += [self._state(worker) for worker in range(1, self.workers)]
                pending.add(host_threads().submit(work, self, 0, self.states[0], None))
            elif self.spans or begun:
                self.states += [self._state(worker) for worker in range(1, self.workers)]
                for worker, state in enumerate(self.states):
                    pending.add(host_threads().submit(work, self, worker, state, begun))
                    begun = None
            elif progress:
                progress(self.finished, self.blocks)
            while pending:
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                if progress:
                    progress(self.finished, self.blocks)
                for future in done:
                    future.result()
                if outlook is not None and pending:
                    self._look_ahead(outlook, time.perf_counter() - start)
        except BaseException:
            self.stop[0] = PAUSES + 1
            _wait_out(pending)
            raise
        if self.failed:
            block = min(self.failed)
            if self.prepared.launch.services is not None:
                self.prepared.launch.services.cut(block)
            raise self.failed.pop(block)  # kept, it would hold this frame, and that the device memory
        return trace_records(self.rows) if self.prepared.launch.trace is not False else None

    def _look_ahead(self, outlook: Outlook, seconds: float) -> None:
        """Raise TooLong if, *seconds* after the start, the blocks look as if they took too long."""
        each = self.work.reshape(-1, layout.N_WORK)
        executed = each[each[:, 0] > 0, 0]
        ended = float(len(executed))
        if ended:  # what the others have done counts, too: blocks that take turns end late, but then all at once
            begun = [state.LAUNCH for state in (*self.states, *self._beside)]
            under_way = sum(int(one[layout.LAUNCH_EXECUTED] * one[layout.LAUNCH_STARTED]) for one in begun)
            ended += under_way / float(executed.mean())
        if outlook.is_hopeless(seconds - self.waited, ended, self.choice.is_settled):
            raise TooLong(outlook.blocks_per_second, each)

    def _begin(self) -> tuple[int, int] | None:
        """Run a small launch on this thread.  Returns the number of a block that turns out long, and the next one's."""
        launch, state = self.prepared.launch, self.states[0]
        first, end = self.spans.pop()
        state.LAUNCH[layout.LAUNCH_BUDGET] = SMALL_INSTRUCTIONS
        status, block = self._run(first, end, state)
        state.LAUNCH[layout.LAUNCH_BUDGET] = launch.max_instructions
        self.finished = block - first
        if status == layout.FAILED and state.ERROR[layout.E_REASON] == layout.R_BUDGET:
            if block + 1 < end:
                self.spans.append((block + 1, end))
            return block, block + 1
        self.note_failure(status, block, state)
        return None

    def _run(self, first: int, end: int, state: layout.State, until: int = layout.UNLIMITED) -> tuple[int, int]:
        """Run blocks up to *end* - 1, from *first* on, and serve their system calls; see :func:`run_blocks`.

        An error that a call ends with is a failure of its block, which is then STOPPED.  At the barrier of the grid a
        block is CALLED, and goes on when it is run again; and INTERRUPTED when it has executed *until* micro-ops.
        """
        while True:
            status, block = self._run_some(first, end, state, until)
            if status not in (layout.CALLED, layout.INTERRUPTED):
                return status, block
            first = block
            if status == layout.INTERRUPTED:
                if self.stop[0] > PAUSES:
                    return layout.STOPPED, block
                if state.LAUNCH[layout.LAUNCH_STEPS] >= until:
                    return status, block
                continue
            try:
                if not serve(self.prepared, state):
                    return status, block
            except SimtError as error:
                self.keep(block, error)
                return layout.STOPPED, block

    def run_told(
        self,
        worker: int,
        first: int,
        end: int,
        state: layout.State,
        judge: bool = True,
        until: int = layout.UNLIMITED,
    ) -> tuple[int, int]:
        """Run blocks as :meth:`_run` does, collect their trace, and give the watch their events.

        STOPPED, too, if what it finds ends the launch.  *judge*: also where the events can wait: after the end of a
        warp's turn (STOPPED) or of a block's (INTERRUPTED), and of the blocks (DONE).
        """
        block, status = first, layout.TRACE_FULL
        while status == layout.TRACE_FULL:
            status, block = self._run(block, end, state, until)
            self._drain(state)
            if (judge or status not in _CAN_WAIT) and self.judged(worker, state):
                status = layout.STOPPED
        return status, block

    def _run_some(self, first: int, end: int, state: layout.State, until: int) -> tuple[int, int]:
        """Run blocks in the compiled engine, or for a slice in plain Python while it is not compiled yet."""
        if self.slices == SLICES:
            self._await_engine(state)
        found: tuple[int, int]
        if ENGINE.ready(0, 0, state):
            state = self.choice.begin(state)
            turn = until - int(state.LAUNCH[layout.LAUNCH_STEPS]) * int(state.LAUNCH[layout.LAUNCH_STARTED])
            left = state.LAUNCH[layout.LAUNCH_LEFT] = max(1, min(int(state.LAUNCH[layout.LAUNCH_LEFT]), turn))
            found = ENGINE.function(first, end, state)
            self.choice.note(left - int(state.LAUNCH[layout.LAUNCH_LEFT]))
        else:
            state.LAUNCH[layout.LAUNCH_LEFT] = SLICE
            self.slices += 1
            with np.errstate(all="ignore"):  # wrap-around is meant
                found = ENGINE.plain(first, end, state)
        return found

    def _await_engine(self, state: layout.State) -> None:
        """Wait for the compiled engine; the first of several threads waits longest, for what all wait for."""
        start = time.perf_counter()
        ENGINE.load(0, 0, state)
        with self.lock:
            self.waited = max(self.waited, time.perf_counter() - start)

    def take(self, most: int = 64) -> tuple[int, int]:
        """The next blocks to run, *most* at most; none if all are taken or one has gone wrong."""
        with self.lock:
            if self.failed or not self.spans:
                return self.blocks, self.blocks
            size = max(1, min(most, self.blocks // (len(self.states) * 16)))
            first, last = self.spans.pop(0)
            end = min(first + size, last)
            if end < last:
                self.spans.insert(0, (end, last))
            return first, end

    def next_beside(self) -> int | None:
        """A block to begin while others are under way; None if there is none, or no room for it."""
        with self.lock:
            if self.room <= 0:
                return None
            self.room -= 1
        block, end = self.take(1)
        if block < end:
            return block
        self.leave()
        return None

    def leave(self) -> None:
        """There is room for another block beside those under way."""
        with self.lock:
            self.room += 1

    def another(self, state: layout.State) -> layout.State:
        """A state for another block of the worker that has *state*."""
        with self.lock:
            place, self.place = self.place, self.place + 1
        own = state_arrays(self.prepared, place, 0, self.stop)
        self._beside.append(state._replace(**{name: getattr(own, name) for name in layout.OWN}))
        return self._beside[-1]

    def note_failure(self, status: int, block: int, state: layout.State) -> bool:
        """Keep the error of a block that failed; returns whether it failed."""
        if status not in (layout.FAILED, layout.DEADLOCK):
            return False
        stuck = status == layout.DEADLOCK
        self.keep(block, deadlock(self.prepared, state, block) if stuck else failure(self.prepared, state))
        return True

    def judged(self, worker: int, state: layout.State) -> bool:
        """Give the watch the events so far; returns whether what it found ends the launch."""
        watch, events = self.prepared.launch.watch, state.EVENTS
        if watch is None or events[0] == 1:
            return False
        found = watch.judge(worker, events[1 : events[0]])
        events[0] = 1
        if found is not None:
            self.keep(*found)
        return found is not None

    def keep(self, block: int, error: Exception) -> None:
        with self.lock:
            self.failed[block] = error

    def _drain(self, state: layout.State) -> None:
        n = int(state.LAUNCH[layout.LAUNCH_TRACED])
        if n == 0:
            return
        self.rows.append((state.TRACE[:n].copy(), state.VALUES[:n].copy()))
        state.LAUNCH[layout.LAUNCH_TRACED] = 0
        self.n_rows += n
        if self.n_rows > MAX_TRACE_ROWS:
            raise LaunchError(
                f"the trace is longer than {MAX_TRACE_ROWS} records",
                help="trace one warp, for instance trace=(0, 0) for warp 0 of block 0, or a smaller launch",
            )
