"""A launch spread over an executor: its blocks in parts, or all of it as one task, with the results of one process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simt.calls.executors.connect import Processes
from simt.calls.executors.merging import check_apart, put_together
from simt.calls.executors.task import Model, NotFound, Outcome, Task, contents_of, perform, pickled, task_of
from simt.check import LaunchError, SimtError, gathered
from simt.devices import Gpu
from simt.machine import DeviceMemory, Launch, RunResult
from simt.ops.encoding import GRID_BARRIER, INDEPENDENT_CALLS
from simt.options import Timing
from simt.program import Program
from simt.runtime import MemoryFile, SharedFile
from simt.sanitizer.sanitizer import Sanitizer
from simt.system import Limits, SystemServices

if TYPE_CHECKING:
    from simt.timing import TimingResult
    from simt.timing.schedule import MachineInstruction

PARTS = 32
"""Most tasks of a launch.  An executor does not tell how many workers it has."""

ATTEMPTS = 3
"""How often a task may end its worker."""


class Spread:
    """Runs launches on an executor: call it as :func:`simt.machine.run`.

    A launch that is to be *timed*, on *device* and with the control bits of *code*, is one task.  Any other launch is
    one task for each block, PARTS at most.  ``timing`` is what the model found.  *file*: holds device memory,
    for workers on this computer.
    """

    timing: TimingResult | None = None

    def __init__(
        self,
        executor: Executor,
        limits: Limits,
        device: Gpu,
        code: Sequence[MachineInstruction] | None,
        timed: Timing | None,
        file: SharedFile | None = None,
    ) -> None:
        self._executor = executor
        self._file = file
        self._limits = limits
        self._model = Model(device, code, timed) if timed is not None else None

    def __call__(self, program: Program, launch: Launch, memory: DeviceMemory) -> RunResult:
        """Run a launch whose arrays are in *memory*, and leave there what it wrote.

        Raises what the launch would raise in this process, and LaunchError if it cannot be spread, if its blocks turn
        out to communicate, or if the executor fails.
        """
        why = self._obstacle(program, launch)
        if why:
            raise LaunchError(
                f"this launch cannot run on an executor: {why}", help="launch it without an executor, in this process"
            )
        start = time.perf_counter()
        first, end = launch.span
        parts = min(PARTS, end - first)
        bounds = [first + (end - first) * k // parts for k in range(parts + 1)]
        spans = [launch.part] if self._model else list(pairwise(bounds))
        checks = launch.watch if isinstance(launch.watch, Sanitizer) else None
        results = MemoryFile.create(memory.end) if self._file is not None else None
        files = (self._file, results.shared) if self._file is not None and results is not None else None
        whole = task_of(pickled(program), launch, memory, files, checks, self._limits, self._model)
        tasks = [replace(whole, launch=replace(whole.launch, part=span)) for span in spans]
        outcomes = _Gathering(self._executor, tasks, launch, memory).outcomes()
        if isinstance(outcomes[-1].error, LaunchError):
            raise outcomes[-1].error  # it is refused: memory stays as it was
        if self._model is None:
            check_apart(outcomes, spans, memory)
        put_together(outcomes, memory, results)
        return self._merged(outcomes, program, launch, time.perf_counter() - start)

    def _obstacle(self, program: Program, launch: Launch) -> str:
        """Why a launch has to run in this process; empty if it can be spread."""
        others = sorted(set(program.syscalls) - INDEPENDENT_CALLS - {GRID_BARRIER})
        if others:
            return f"its blocks share the state of {', '.join(others)}"
        if launch.watch is not None and not isinstance(launch.watch, Sanitizer):
            return "what watches it is in this process"
        if self._model is not None:
            return ""
        if launch.cooperative or GRID_BARRIER in program.syscalls:
            return "its blocks wait for each other at the barrier of the grid"
        if launch.schedule is not None:
            return "a schedule runs its blocks in turns"
        if launch.trace is not False:
            return "a trace is recorded in one process"
        if launch.watch is not None and launch.watch.in_order:
            return "racecheck compares its blocks with each other"
        if any(each.op in ("sust", "suatom") for each in program.instructions):
            return "it writes to a surface"
        return ""

    def _merged(self, outcomes: Sequence[Outcome], program: Program, launch: Launch, seconds: float) -> RunResult:
        """What the parts did, as if one process had run them; raises the error of the last one, if it has one."""
        for outcome in outcomes:
            if isinstance(launch.services, SystemServices) and outcome.printed:
                launch.services.print(0, outcome.printed)
        found = gathered(finding for outcome in outcomes for finding in outcome.findings)
        error = outcomes[-1].error
        if error is not None:
            if self._model is None:
                error.findings = found
            raise error
        timing = outcomes[-1].timing
        self.timing = replace(timing, program=program, launch=launch) if timing is not None else None
        results = [outcome.result for outcome in outcomes if outcome.result is not None]
        return replace(
            results[0],
            counters=np.sum([result.counters for result in results], axis=0),
            seconds=seconds,
            host_threads=sum(result.host_threads for result in results),
            findings=found if self._model is None else results[0].findings,
        )


_Answer = Future[Outcome | NotFound]


class _Gathering:
    """Tasks under way, until the launch has its result or its error."""

    def __init__(self, executor: Executor, tasks: Sequence[Task], launch: Launch, memory: DeviceMemory) -> None:
        self._executor = executor
        self._tasks = list(tasks)
        self._launch = launch
        self._memory = memory
        self._contents: Sequence[bytes | None] | None = None
        """Of device memory, once a worker on another computer has asked for it."""
        self._own: Processes | None = None
        self._found: dict[int, Outcome] = {}
        self._attempts = [0] * len(tasks)
        self._needed = len(tasks)
        """Tasks that matter: up to the first one with an error."""

    def outcomes(self) -> list[Outcome]:
        """What came of the tasks, up to the first one with an error.  Raises LaunchError if the executor fails."""
        pending: dict[_Answer, int] = {}
        try:
            for number in range(len(self._tasks)):
                self._submit(number, pending)
            while any(number < self._needed for number in pending.values()):
                self._tell()
                done, _ = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(future, pending.pop(future), pending)
            self._tell()
        finally:
            for future in pending:
                future.cancel()
            if self._own is not None:
                self._own.stop()
        return [self._found[number] for number in range(self._needed)]

    def _tell(self) -> None:
        if self._launch.progress is not None:
            first, end = self._launch.span
            done = sum(self._blocks(number) for number in self._found)
            self._launch.progress(done, end - first)

    def _blocks(self, number: int) -> int:
        first, end = self._tasks[number].launch.span
        return end - first

    def _submit(self, number: int, pending: dict[_Answer, int]) -> None:
        self._attempts[number] += 1
        try:
            future = self._executor.submit(perform, self._tasks[number])
        except BrokenExecutor:  # a pool that has lost a worker takes nothing any more
            self._executor = self._own = Processes()
            future = self._executor.submit(perform, self._tasks[number])
        except RuntimeError as error:
            raise self._failed(error) from error
        pending[future] = number

    def _take(self, future: _Answer, number: int, pending: dict[_Answer, int]) -> None:
        """Take what came of a task; one whose worker died, or did not find device memory, is repeated."""
        try:
            outcome = future.result()
        except BrokenExecutor as error:
            if self._attempts[number] == ATTEMPTS:
                raise self._failed(error) from error
            self._submit(number, pending)
        except SimtError:
            raise
        except Exception as error:
            raise self._failed(error) from error
        else:
            if isinstance(outcome, NotFound):
                self._contents = self._contents or contents_of(self._memory)
                self._tasks[number] = replace(self._tasks[number], contents=self._contents, results=None)
                self._attempts[number] -= 1
                self._submit(number, pending)
                return
            self._found[number] = outcome
            if outcome.error is not None:
                self._needed = min(self._needed, number + 1)

    def _failed(self, error: Exception) -> LaunchError:
        died = isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # Dask's, if it is there
        return LaunchError(
            "workers of the executor died again and again" if died else "the executor does not run this launch",
            details=[f"{type(error).__name__}: {line}" for line in str(error).splitlines()[:1]],
            help="do they have enough memory? each holds the launch's arrays"
            if died
            else "is it still running? do its workers have the same version of simt?",
        )
