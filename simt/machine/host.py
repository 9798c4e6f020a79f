"""Run a Program on host threads, deterministically: the same counts and trace for any number of threads."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from simt.check import LaunchError, SimtError
from simt.machine import layout
from simt.machine.device_memory import DeviceMemory
from simt.machine.early import ENGINE, SLICE, SLICES
from simt.machine.encode import encode
from simt.machine.findings import deadlock, failure
from simt.machine.launch import Launch, parse_order
from simt.machine.prepare import begin_watch, prepare, state_arrays
from simt.machine.prepared import Prepared
from simt.machine.result import RunResult, TraceRecords
from simt.machine.schedule import PAUSES, Resident, Turns
from simt.machine.start import start_block
from simt.machine.syscalls import serve, uneven
from simt.ops.encoding import GRID_BARRIER
from simt.program import COUNTERS, Program

TRACE_ROWS = 1 << 14
MAX_TRACE_ROWS = 2_000_000
"""Trace records kept at most (about 0.4 KiB each)."""

MAX_HOST_THREADS = 1024
"""Host threads kept at most; they start when launches need them, and wait for the next one."""

SMALL_BLOCKS, SMALL_THREADS, SMALL_INSTRUCTIONS = 32, 4096, 1 << 14
"""A launch of at most so many blocks and threads begins on the thread that asks for it.  A block that executes more
warp instructions goes on elsewhere: ctrl-C is not heard of before the engine returns."""

JUDGED_TURNS = 256
"""Turns of a schedule after which a watch is given what they told."""

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def _host_threads() -> ThreadPoolExecutor:
    """The threads that all launches share: starting some anew took a third of a small launch."""
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(MAX_HOST_THREADS, thread_name_prefix="simt")
        return _pool


def _forget_threads() -> None:
    """A forked process has none of its parent's threads."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def run(program: Program, launch: Launch, device: DeviceMemory) -> RunResult:
    """Execute *program* on what *device* holds and return its counts.

    Arrays among the arguments are :class:`~simt.machine.launch.DeviceArray`.  After an error or ctrl-C device memory
    is as the kernel left it, and no host thread works on it any more.  Kernels with atomics on global memory, and
    traced launches, use one host thread.

    Raises the errors of :mod:`simt.check`, and KeyboardInterrupt.
    """
    parse_order(launch.order)
    traced = launch.trace is not False
    waits = launch.cooperative or GRID_BARRIER in program.syscalls
    together = waits or launch.schedule is not None
    watch = launch.watch
    alone = traced or (watch is not None and watch.in_order) or encode(program).communicates
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
    seconds = time.perf_counter() - start
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
        trace=trace if traced else None,
        work=team.work.reshape(-1, layout.N_WORK) if launch.per_block else None,
    )


def _workers(launch: Launch) -> int:
    wanted = launch.threads if launch.threads is not None else (os.cpu_count() or 1)
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
    """Whether a launch begins on the thread that asks for it."""
    return (
        launch.threads is None
        and launch.trace is False
        and launch.watch is None
        and launch.blocks <= SMALL_BLOCKS
        and launch.blocks * launch.threads_per_block <= SMALL_THREADS
        and launch.max_instructions > SMALL_INSTRUCTIONS  # what ends it is not the launch's own budget
        and parse_order(launch.order)[0] <= layout.PROFILER  # in others a new turn would be another one
    )


class _Team:
    """Host threads that take chunks of blocks in ascending order; of a small launch only the one that asks for it.

    *together*: the blocks wait for each other.  Each has a state of its own, and one thread runs them in turns.
    """

    def __init__(self, prepared: Prepared, workers: int, together: bool) -> None:
        self.prepared = prepared
        self.workers = workers
        self.together = together
        schedule = prepared.launch.schedule
        self.turns = None if schedule is None else Turns(schedule)
        self.stop = np.full(1, 0 if schedule is None else PAUSES)
        self.work = np.zeros(prepared.launch.blocks * layout.N_WORK if prepared.launch.per_block else 0, np.int64)
        self.states = [self._state(0)]
        self.blocks = prepared.launch.blocks
        self.next_block = 0
        self.finished = 0
        self.failed: dict[int, Exception] = {}
        self.lock = threading.Lock()
        self.rows: list[tuple[np.ndarray, np.ndarray]] = []
        self.n_rows = 0
        self.slices = 0

    def _state(self, worker: int) -> layout.State:
        rows = TRACE_ROWS if self.prepared.launch.trace is not False else 0
        state = state_arrays(self.prepared, worker, rows, self.stop, self.work)
        return state._replace(EVENTS=self.states[0].EVENTS) if self.together and worker else state

    def compile(self) -> None:
        """Load the engine, before the clock starts; if it is not compiled yet, a launch may begin without it."""
        waits = self.prepared.encoded.by_library or self.turns is not None
        ready = ENGINE.load if waits else ENGINE.ready
        ready(0, 0, self.states[0])

    def run(self) -> TraceRecords:
        """Run all blocks.  The error of the lowest block is raised, whichever thread met it first."""
        progress = self.prepared.launch.progress
        pending: set[Future[None]] = set()
        begun = self._begin() if _is_small(self.prepared.launch) and not self.together else None
        try:
            if self.together:
                self.states += [self._state(worker) for worker in range(1, self.workers)]
                work = self._work_together if self.turns is None else self._work_scheduled
                pending.add(_host_threads().submit(work))
            elif self.next_block < self.blocks or begun:
                self.states += [self._state(worker) for worker in range(1, self.workers)]
                for worker, state in enumerate(self.states):
                    pending.add(_host_threads().submit(self._work, worker, state, begun))
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
            raise self.failed[block]
        return self._trace()

    def _begin(self) -> tuple[int, int] | None:
        """Run a small launch on this thread; of a block that turns out long its number and the next one's."""
        launch, state = self.prepared.launch, self.states[0]
        state.LAUNCH[layout.LAUNCH_BUDGET] = SMALL_INSTRUCTIONS
        status, block = self._run(0, self.blocks, state)
        state.LAUNCH[layout.LAUNCH_BUDGET] = launch.max_instructions
        self.finished, self.next_block = block, self.blocks
        if status == layout.FAILED and state.ERROR[layout.E_REASON] == layout.R_BUDGET:
            self.next_block = block + 1
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
        """Run blocks as :meth:`_run` does, take what they trace, and give the watch what they tell.

        STOPPED, too, if what it finds ends the launch.  *judge*: also after the end of a warp's turn (STOPPED).
        """
        block, status = first, layout.TRACE_FULL
        while status == layout.TRACE_FULL:
            status, block = self._run(block, end, state)
            self._drain(state)
            if (judge or status != layout.STOPPED) and self._judged(worker, min(block, end - 1), state):
                status = layout.STOPPED
        return status, block

    def _run_some(self, first: int, end: int, state: layout.State) -> tuple[int, int]:
        """Run blocks compiled; a while as plain Python if the engine is not compiled yet."""
        if self.slices == SLICES:
            ENGINE.load(0, 0, state)
        compiled = ENGINE.ready(0, 0, state)
        self.slices += not compiled
        state.LAUNCH[layout.LAUNCH_LEFT] = layout.UNLIMITED if compiled else SLICE
        with np.errstate(all="ignore"):  # plain Python: wrap-around is meant
            found: tuple[int, int] = (ENGINE.function if compiled else ENGINE.plain)(first, end, state)
        return found

    def _take(self) -> tuple[int, int]:
        with self.lock:
            size = max(1, min(64, self.blocks // (len(self.states) * 16)))
            first = self.next_block
            end = self.blocks if self.failed else min(first + size, self.blocks)
            self.next_block = end
            return (end, end) if self.failed else (first, end)

    def _work(self, worker: int, state: layout.State, begun: tuple[int, int] | None) -> None:
        """Run blocks until there are no more; *begun*: one that is under way in *state*, and the next one's number."""
        while True:
            first, end = begun or self._take()
            resumed = begun is not None  # within a round of the warps: only a whole one without progress is a deadlock
            begun = None
            if first >= end:
                return
            status, block = self._run_told(worker, first, end, state)
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
        if self.next_block < self.blocks:
            start_block(self.next_block, self.states[slot])
            resident.began(slot, self.next_block)
            self.next_block += 1

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
        """No warp can run: let those go on that wait for the whole grid; False if the launch has ended."""
        running = list(resident.running())
        held = {slot for slot, _ in resident.held}
        stuck = [(slot, block) for slot, block in running if slot not in held]
        if self._judged(0, 0, self.states[0]):
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
        """Keep the error of a block that went wrong; whether it did."""
        if status not in (layout.FAILED, layout.DEADLOCK):
            return False
        stuck = status == layout.DEADLOCK
        self._keep(block, deadlock(self.prepared, state, block) if stuck else failure(self.prepared, state))
        return True

    def _judged(self, worker: int, block: int, state: layout.State) -> bool:
        """Give the watch what the launch has told; whether what it found ends the launch."""
        watch, events = self.prepared.launch.watch, state.EVENTS
        if watch is None or events[0] == 1:
            return False
        error = watch.judge(worker, events[1 : events[0]])
        events[0] = 1
        if error is not None:
            self._keep(block, error)
        return error is not None

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

    def _trace(self) -> TraceRecords:
        if self.rows:
            table = np.concatenate([rows for rows, _ in self.rows])
            values = np.concatenate([values for _, values in self.rows])
        else:
            table, values = np.zeros((0, layout.N_TRACE), np.int64), np.zeros((0, 32), np.int64)
        order = np.lexsort((table[:, layout.T_WARP], table[:, layout.T_BLOCK]))  # stable: keeps the order in a warp
        table, values = table[order], values[order]

        def mask(column: int) -> np.ndarray:
            return table[:, column].astype(np.uint32)

        return TraceRecords(
            step=order,
            block=table[:, layout.T_BLOCK],
            warp=table[:, layout.T_WARP],
            pc=table[:, layout.T_PC],
            active=mask(layout.T_ACTIVE),
            executed=mask(layout.T_EXEC),
            exited=mask(layout.T_EXITED),
            absent=mask(layout.T_ABSENT),
            split_pass=table[:, layout.T_PASS],
            taken=mask(layout.T_TAKEN),
            diverged=table[:, layout.T_DIVERGED].astype(bool),
            memory=table[:, layout.T_MEMORY :],
            values=values,
        )
