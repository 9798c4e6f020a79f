"""Run a Program on host threads, deterministically: the same counts and trace for any number of threads."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache

import numpy as np

from simt.check import LaunchError, SimtError
from simt.machine import layout
from simt.machine.alike import Range, is_worth_a_look, ranges
from simt.machine.compiled.choice import Choice
from simt.machine.device_memory import DeviceMemory
from simt.machine.early import ENGINE, SLICE, SLICES
from simt.machine.encode import encode
from simt.machine.findings import deadlock, failure
from simt.machine.launch import Launch, parse_order
from simt.machine.prepare import begin_watch, prepare, state_arrays
from simt.machine.prepared import Prepared
from simt.machine.result import RunResult, TraceRecords, trace_records
from simt.machine.schedule import PAUSES, Resident, Turns
from simt.machine.start import start_block
from simt.machine.syscalls import serve, uneven
from simt.machine.threads import host_threads
from simt.ops.encoding import GRID_BARRIER
from simt.program import COUNTERS, Program

TRACE_ROWS = 1 << 14
MAX_TRACE_ROWS = 2_000_000
"""Trace records kept at most (about 0.4 KiB each)."""

SMALL_BLOCKS, SMALL_THREADS, SMALL_INSTRUCTIONS = 32, 4096, 1 << 14
"""A launch with at most this many blocks and threads starts on the calling thread.  A block that executes more warp
instructions moves to another thread, because ctrl-C is only noticed when the engine returns."""

JUDGED_TURNS = 256
"""The watch gets its events after this many turns of a schedule."""


def run(program: Program, launch: Launch, device: DeviceMemory) -> RunResult:
    """Execute *program* on what *device* holds and return its counts.

    Arrays among the arguments are :class:`~simt.machine.launch.DeviceArray`.  After an error or ctrl-C device memory
    is as the kernel left it, and no host thread works on it any more.  Kernels with atomics on global memory, and
    traced launches, use one host thread.

    Raises the errors of :mod:`simt.check`, and KeyboardInterrupt.
    """
    parse_order(launch.order)
    waits = launch.cooperative or GRID_BARRIER in program.syscalls
    together = waits or launch.schedule is not None
    watch = launch.watch
    in_order = watch is not None and (watch.in_order or bool(program.syscalls))  # their effects are events, too
    alone = launch.trace is not False or in_order or encode(program).communicates
    if together:
        workers = launch.blocks if waits else min(launch.blocks, launch.resident)
    else:
        workers = 1 if alone else _workers(launch)
    prepared = prepare(program, launch, workers, device)
    if watch is not None:
        prepared = begin_watch(prepared, watch, 1 if together else workers)
    team = _Team(prepared, workers, together)
    team.compile()
    start = time.perf_counter()
    try:
        trace = team.run()
    except SimtError as error:
        error.findings = watch.finish() if watch is not None else ()
        raise
    seconds = time.perf_counter() - start - team.waited
    team.count()
    counts = team.states[0].COUNTS
    for state in team.states[1:]:
        counts += state.COUNTS
    return RunResult(
        counters=counts.reshape(-1, layout.N_COUNT)[:-1, : len(COUNTERS)],
        grid=launch.grid,
        block=launch.block,
        shared_bytes=prepared.program.shared_bytes + prepared.launch.shared_bytes,
        seconds=seconds,
        host_threads=1 if together else len(team.states),
        findings=watch.finish() if watch is not None else (),
        preemptions=team.turns.preemptions if team.turns is not None else 0,
        trace=trace,
        work=team.work.reshape(-1, layout.N_WORK) if launch.per_block else None,
    )


@cache
def _cores() -> int:
    return os.cpu_count() or 1


def _workers(launch: Launch) -> int:
    wanted = launch.threads if launch.threads is not None else _cores()
    if wanted < 1:
        raise LaunchError(f"threads must be at least 1, not {wanted}")
    return min(wanted, launch.blocks)


def _wait_out(pending: set[Future[None]]) -> None:
    """Wait until no thread works on a stopped launch, however often ctrl-C is pressed: its memory is used again."""
    while pending:
        try:
            _, pending = wait(pending)
        except KeyboardInterrupt:
            continue


def _is_small(launch: Launch) -> bool:
    """Whether a launch starts on the calling thread."""
    return (
        launch.threads is None
        and launch.trace is False
        and launch.watch is None
        and launch.blocks <= SMALL_BLOCKS
        and launch.blocks * launch.threads_per_block <= SMALL_THREADS
        and launch.max_instructions > SMALL_INSTRUCTIONS  # else the launch's own budget would end it
        and parse_order(launch.order)[0] <= layout.PROFILER  # in the others a new turn would change the order
    )


class _Team:
    """Host threads that take chunks of blocks in ascending order; a small launch uses only the calling thread.

    *together*: the blocks wait for each other.  Each has a state of its own, and one thread runs them in turns.
    """

    def __init__(self, prepared: Prepared, workers: int, together: bool) -> None:
        self.prepared = prepared
        self.workers = workers
        self.together = together
        schedule = prepared.launch.schedule
        self.turns = None if schedule is None else Turns(schedule)
        self.stop = np.full(1, 0 if schedule is None else PAUSES)
        self.choice = Choice(prepared)
        self.work = np.zeros(prepared.launch.blocks * layout.N_WORK if prepared.launch.per_block else 0, np.int64)
        self.states = [self._state(0)]
        self.blocks = prepared.launch.blocks
        self.spans = [prepared.launch.span]
        """Blocks that nobody has taken yet, in ascending order."""
        self.alike: list[Range] = []
        self.finished = 0
        self.failed: dict[int, Exception] = {}
        self.lock = threading.Lock()
        self.rows: list[tuple[np.ndarray, np.ndarray]] = []
        self.n_rows = 0
        self.slices = 0
        self.waited = 0.0
        """Seconds that the launch waited for the compiled engine."""

    def _state(self, worker: int) -> layout.State:
        rows = TRACE_ROWS if self.prepared.launch.trace is not False else 0
        state = state_arrays(self.prepared, worker, rows, self.stop, self.work)
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
        for first, end, like in self.alike:
            if like is not None:
                self.states[0].COUNTS[:] += like.counts * (end - first)
                if self.prepared.launch.per_block:
                    work[first:end] = like.work

    def _recognise(self) -> None:
        """Find the blocks that do the same, and leave the others in ``spans``."""
        self._await_engine(self.states[0])
        self.alike = list(ranges(self.prepared))
        self.spans = [(first, end) for first, end, like in reversed(self.alike) if like is None]
        self.finished = sum(end - first for first, end, like in self.alike if like is not None)

    def run(self) -> TraceRecords | None:
        """Run all blocks.  The error of the lowest block is raised, whichever thread met it first."""
        progress = self.prepared.launch.progress
        pending: set[Future[None]] = set()
        begun = None
        if not self.together and is_worth_a_look(self.prepared.launch):
            self._recognise()
        elif not self.together and _is_small(self.prepared.launch):
            begun = self._begin()
        try:
            if self.together:
                self.states += [self._state(worker) for worker in range(1, self.workers)]
                work = self._work_together if self.turns is None else self._work_scheduled
                pending.add(host_threads().submit(work))
            elif self.spans or begun:
                self.states += [self._state(worker) for worker in range(1, self.workers)]
                for worker, state in enumerate(self.states):
                    pending.add(host_threads().submit(self._work, worker, state, begun))
                    begun = None
            elif progress:
                progress(self.finished, self.blocks)
            while pending:
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                if progress:
                    progress(self.finished, self.blocks)
                for future in done:
                    future.result()
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
        self._note_failure(status, block, state)
        return None

    def _run(self, first: int, end: int, state: layout.State) -> tuple[int, int]:
        """Run blocks up to *end* - 1, from *first* on, and serve their system calls; see :func:`run_blocks`.

        An error that a call ends with is a failure of its block, which is then STOPPED.  At the barrier of the grid a
        block is CALLED, and goes on when it is run again.
        """
        while True:
            status, block = self._run_some(first, end, state)
            if status not in (layout.CALLED, layout.INTERRUPTED):
                return status, block
            first = block
            if status == layout.INTERRUPTED:
                if self.stop[0] > PAUSES:
                    return layout.STOPPED, block
                continue
            try:
                if not serve(self.prepared, state):
                    return status, block
            except SimtError as error:
                self._keep(block, error)
                return layout.STOPPED, block

    def _run_told(self, worker: int, first: int, end: int, state: layout.State, judge: bool = True) -> tuple[int, int]:
        """Run blocks as :meth:`_run` does, collect their trace, and give the watch their events.

        STOPPED, too, if what it finds ends the launch.  *judge*: also where the events can wait: after the end of a
        warp's turn (STOPPED), and of the blocks (DONE).
        """
        block, status = first, layout.TRACE_FULL
        while status == layout.TRACE_FULL:
            status, block = self._run(block, end, state)
            self._drain(state)
            if (judge or status not in (layout.STOPPED, layout.DONE)) and self._judged(worker, state):
                status = layout.STOPPED
        return status, block

    def _run_some(self, first: int, end: int, state: layout.State) -> tuple[int, int]:
        """Run blocks in the compiled engine, or for a slice in plain Python while it is not compiled yet."""
        if self.slices == SLICES:
            self._await_engine(state)
        found: tuple[int, int]
        if ENGINE.ready(0, 0, state):
            state = self.choice.begin(state)
            left = int(state.LAUNCH[layout.LAUNCH_LEFT])
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

    def _take(self, most: int = 64) -> tuple[int, int]:
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

    def _work(self, worker: int, state: layout.State, begun: tuple[int, int] | None) -> None:
        """Run blocks until none are left; *begun*: the one already under way in *state*, and the number of the next."""
        while True:
            first, end = begun or self._take()
            resumed = begun is not None  # within a round of the warps: only a whole one without progress is a deadlock
            begun = None
            if first >= end:
                self._judged(worker, state)
                return
            status, block = self._run_told(worker, first, end, state, judge=False)
            if status == layout.DEADLOCK and resumed:
                status, block = self._run_told(worker, block, end, state)
            if status == layout.STOPPED or self._note_failure(status, block, state):
                return
            with self.lock:
                self.finished += end - first

    def _work_together(self) -> None:
        """Run the blocks in turns, from one barrier of the grid to the next."""
        reached = [layout.PAUSED] * self.blocks
        running = list(range(self.blocks))
        while running:
            for block in running:
                state = self.states[block]
                status, _ = self._run_told(0, block, block + 1, state)
                if status == layout.STOPPED or self._note_failure(status, block, state):
                    return
                reached[block] = status
            running = [block for block in running if reached[block] == layout.PAUSED]
            if running:
                continue
            running = [block for block in range(self.blocks) if reached[block] == layout.CALLED]
            if 0 < len(running) < self.blocks:
                ended = reached.index(layout.DONE)
                self._keep(ended, uneven(self.prepared, self.states[running[0]], ended))
                return
            if self.prepared.launch.watch is not None:
                self.prepared.launch.watch.meet_grid()
        self.finished = self.blocks

    def _work_scheduled(self) -> None:
        """Run as many blocks together as are resident, in the turns of a schedule."""
        assert self.turns is not None
        resident = Resident(self.states)
        for slot in range(len(self.states)):
            self._start_next(resident, slot)
        count = 0
        while self.stop[0] == PAUSES:
            if not resident.ready.any():
                if not self._go_on(resident):
                    return
                continue
            (slot, warp), length = self.turns.next(resident.ready)
            count += 1
            if not self._turn(resident, slot, warp, length, judge=count % JUDGED_TURNS == 0):
                return

    def _start_next(self, resident: Resident, slot: int) -> None:
        """Start the next block of the grid in a state, if there is one."""
        block, end = self._take(1)
        if block < end:
            start_block(block, self.states[slot])
            resident.began(slot, block)

    def _turn(self, resident: Resident, slot: int, warp: int, length: int, judge: bool) -> bool:
        """Run a warp for at most *length* micro-ops; False if that ended the launch."""
        state, block = self.states[slot], resident.blocks[slot]
        assert block is not None
        state.LAUNCH[layout.LAUNCH_NEXT_WARP] = warp
        state.WARPS[warp * layout.N_WARP + layout.W_QUANTUM] = length
        status, _ = self._run_told(0, block, block + 1, state, judge)
        if block in self.failed or self._note_failure(status, block, state):
            return False
        if status == layout.CALLED:
            resident.held.add((slot, warp))
        resident.look(slot)
        if resident.has_ended(slot):
            resident.ended(slot)
            self.finished += 1
            self._start_next(resident, slot)
        return True

    def _go_on(self, resident: Resident) -> bool:
        """No warp can run: release those that wait for the whole grid.  False if the launch has ended."""
        running = list(resident.running())
        held = {slot for slot, _ in resident.held}
        stuck = [(slot, block) for slot, block in running if slot not in held]
        if self._judged(0, self.states[0]):
            return False
        if stuck:
            self._note_failure(layout.DEADLOCK, stuck[0][1], self.states[stuck[0][0]])
        elif running and self.finished:
            ended = next(block for block in range(self.blocks) if block not in resident.blocks)
            self._keep(ended, uneven(self.prepared, self.states[running[0][0]], ended))
        elif running:
            if self.prepared.launch.watch is not None:
                self.prepared.launch.watch.meet_grid()
            resident.release()
            return True
        return False

    def _note_failure(self, status: int, block: int, state: layout.State) -> bool:
        """Keep the error of a block that failed; returns whether it failed."""
        if status not in (layout.FAILED, layout.DEADLOCK):
            return False
        stuck = status == layout.DEADLOCK
        self._keep(block, deadlock(self.prepared, state, block) if stuck else failure(self.prepared, state))
        return True

    def _judged(self, worker: int, state: layout.State) -> bool:
        """Give the watch the events so far; returns whether what it found ends the launch."""
        watch, events = self.prepared.launch.watch, state.EVENTS
        if watch is None or events[0] == 1:
            return False
        found = watch.judge(worker, events[1 : events[0]])
        events[0] = 1
        if found is not None:
            self._keep(*found)
        return found is not None

    def _keep(self, block: int, error: Exception) -> None:
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
