"""Run a Program on host threads, deterministically: the same counts and trace for any number of threads."""

from __future__ import annotations

import time

from simt.check import SimtError
from simt.machine import layout, ways
from simt.machine.device_memory import DeviceMemory
from simt.machine.encode import encode
from simt.machine.launch import Launch, parse_order
from simt.machine.prepare import begin_watch, places, prepare
from simt.machine.result import RunResult
from simt.machine.team import Team
from simt.machine.threads import workers_for
from simt.ops.encoding import GRID_BARRIER
from simt.program import COUNTERS, Program


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
        workers = 1 if alone else workers_for(launch.threads, launch.blocks)
    prepared = prepare(program, launch, workers if together else places(program, launch, workers), device)
    if watch is not None:
        prepared = begin_watch(prepared, watch, 1 if together else workers)
    team = Team(prepared, workers, together)
    team.compile()
    start = time.perf_counter()
    try:
        trace = team.run(ways.scheduled if launch.schedule else ways.together if waits else ways.one_after_the_other)
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
        reached=team.reached if launch.per_block else None,
    )
