"""Run a Program on host threads, deterministically: the same counts and trace for any number of threads."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from simt.check import LaunchError
from simt.machine import layout
from simt.machine.engine import run_blocks
from simt.machine.findings import deadlock, failure
from simt.machine.jit import is_compiled
from simt.machine.launch import Launch, Prepared, parse_order, prepare, state_arrays
from simt.machine.result import RunResult, TraceRecords
from simt.program import COUNTERS, Program

TRACE_ROWS = 1 << 14
MAX_TRACE_ROWS = 2_000_000
"""Trace records kept at most (about 0.4 KiB each)."""

_compile_lock = threading.Lock()
_ready = False


def run(program: Program, launch: Launch, before_copy: Callable[[], None] | None = None) -> RunResult:
    """Execute *program* and return its counts.

    Array arguments are changed in place once the whole launch has succeeded; after an error or ctrl-C they are
    as they were.  Kernels with atomics on global memory, and traced launches, use one host thread.
    ``before_copy`` is called once the launch has succeeded, while the arrays still are as they were.

    Raises the errors of :mod:`simt.check`, and KeyboardInterrupt.
    """
    parse_order(launch.order)
    traced = launch.trace is not False
    workers = 1 if traced or launch.races or _communicates(program) else _workers(launch)
    prepared = prepare(program, launch, workers)
    stop = np.zeros(1, np.int64)
    states = [state_arrays(prepared, k, TRACE_ROWS if traced else 0, stop) for k in range(workers)]
    _compile(states[0])
    start = time.perf_counter()
    trace = _Team(prepared, states, stop).run()
    seconds = time.perf_counter() - start
    if before_copy:
        before_copy()
    prepared.memory.copy_back()
    return RunResult(
        counters=np.sum([state.COUNTS for state in states], axis=0).reshape(-1, layout.N_COUNT)[:-1, : len(COUNTERS)],
        grid=launch.grid,
        block=launch.block,
        shared_bytes=prepared.shared_bytes,
        seconds=seconds,
        host_threads=workers,
        trace=trace if traced else None,
    )


def _communicates(program: Program) -> bool:
    """Whether blocks may act on each other through atomics: then their order must not depend on threads."""
    return any(i.op.startswith(("atom.global", "atom.generic", "suatom")) for i in program.instructions)


def _workers(launch: Launch) -> int:
    wanted = launch.threads if launch.threads is not None else (os.cpu_count() or 1)
    if wanted < 1:
        raise LaunchError(f"threads must be at least 1, not {wanted}")
    return min(wanted, launch.blocks)


def _compile(state: layout.State) -> None:
    """Compile the engine, or load it from the cache, before the clock starts; say so if it takes long."""
    global _ready
    with _compile_lock:
        if _ready:
            return
        if not is_compiled():
            print("simt: compiling the engine (once; cached for later runs) ...", file=sys.stderr, flush=True)
        run_blocks(0, 0, state)
        _ready = True


class _Team:
    """Host threads that take chunks of blocks in ascending order."""

    def __init__(self, prepared: Prepared, states: list[layout.State], stop: np.ndarray) -> None:
        self.prepared = prepared
        self.states = states
        self.stop = stop
        self.blocks = prepared.launch.blocks
        self.next_block = 0
        self.finished = 0
        self.failed: dict[int, Exception] = {}
        self.lock = threading.Lock()
        self.rows: list[tuple[np.ndarray, np.ndarray]] = []
        self.n_rows = 0

    def run(self) -> TraceRecords:
        """Run all blocks.  The error of the lowest block is raised, whichever thread met it first."""
        progress = self.prepared.launch.progress
        with ThreadPoolExecutor(len(self.states)) as pool:
            pending: set[Future[None]] = {pool.submit(self._work, state) for state in self.states}
            try:
                while pending:
                    done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                    if progress:
                        progress(self.finished, self.blocks)
                    for future in done:
                        future.result()
            except BaseException:
                self.stop[0] = 1
                raise
        if self.failed:
            raise self.failed[min(self.failed)]
        return self._trace()

    def _take(self) -> tuple[int, int]:
        with self.lock:
            size = max(1, min(64, self.blocks // (len(self.states) * 16)))
            first = self.next_block
            end = self.blocks if self.failed else min(first + size, self.blocks)
            self.next_block = end
            return (end, end) if self.failed else (first, end)

    def _work(self, state: layout.State) -> None:
        while True:
            first, end = self._take()
            if first >= end:
                return
            block, status = first, layout.TRACE_FULL
            while status == layout.TRACE_FULL:
                with np.errstate(all="ignore"):  # plain-Python engine: wrap-around is meant
                    status, block = run_blocks(block, end, state)
                self._drain(state)
            if status == layout.STOPPED:
                return
            if status == layout.FAILED or status == layout.DEADLOCK:
                make = deadlock(self.prepared, state, block) if status == layout.DEADLOCK else None
                with self.lock:
                    self.failed[block] = make or failure(self.prepared, state)
                return
            with self.lock:
                self.finished += end - first

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
