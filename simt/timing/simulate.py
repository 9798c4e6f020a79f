"""Running a launch cycle by cycle: :func:`simulate`."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from simt.check import LaunchError
from simt.devices import Gpu, Occupancy, occupancy
from simt.machine import door
from simt.machine.device_memory import DeviceMemory
from simt.machine.early import ENGINE
from simt.machine.findings import deadlock, failure
from simt.machine.launch import Launch
from simt.machine.layout import State
from simt.machine.prepare import prepare, state_arrays
from simt.machine.prepared import Prepared
from simt.machine.syscalls import serve
from simt.ops.early import Early
from simt.options import Timing
from simt.program import Program
from simt.timing import layout
from simt.timing.arrays import clock_arrays
from simt.timing.core import run
from simt.timing.jit import FOLDER
from simt.timing.parameters import Parameters, parameters
from simt.timing.result import TimingResult, collect
from simt.timing.schedule import MachineInstruction, Schedule, schedule

STEP = 1 << 18
"""SM cycles between two looks at ctrl-C and the progress callback."""
PLAIN_STEP = 1 << 8
"""The same for plain Python, which takes some milliseconds for a cycle in which all schedulers issue."""
PLAIN_INSTRUCTIONS = 1 << 13
"""Warp instructions that plain Python issues before it waits for compiled code."""
CLOCK = Early("the timing model", run, "simt.timing.build", FOLDER, after=ENGINE)
"""Its ``function`` is :func:`simt.timing.core.run`."""
MAX_HOST_BYTES = 4 << 30


def simulate(
    program: Program,
    launch: Launch,
    device: Gpu,
    memory: DeviceMemory,
    options: Timing,
    code: Sequence[MachineInstruction] | None = None,
) -> TimingResult:
    """Simulate a launch cycle by cycle on *device*, on what *memory* holds; ``launch.progress`` is called.

    Parameters:
        code: SASS instructions with control bits, one per listing line (machine view).  Without them a scoreboard by
            register decides when operands are ready.
    Afterwards *memory* is as the blocks of the simulated SMs left it; results come from the functional run, which
    executes the same instructions.

    Raises DeviceError (numbers), LaunchError (the block fits on no SM, too large for ``sms="all"``), and whatever the
    kernel does wrong, as without timing.
    """
    numbers, fit, n_sms = check(program, launch, device, options)
    table = schedule(program, numbers, code)
    if options.sms == "all" and n_sms > 1:
        _refuse_too_long(program, launch, memory, numbers, fit, table, n_sms, options.max_host_seconds)
    run_of = _Run(program, launch, memory, numbers, fit, table, n_sms, options.window)
    run_of.go(run_of.blocks, launch.progress)
    return run_of.result()


def check(program: Program, launch: Launch, device: Gpu, options: Timing) -> tuple[Parameters, Occupancy, int]:
    """Numbers, blocks per SM and SMs of a simulation.  Raises DeviceError or LaunchError if it cannot be."""
    sms = options.sms
    numbers = parameters(device, options.overrides)
    fit = occupancy(device, launch.threads_per_block, program.registers, program.shared_bytes + launch.shared_bytes)
    if fit.blocks_per_sm == 0:
        raise LaunchError(
            f"a block of {launch.threads_per_block} threads does not fit on any SM of {device.name}",
            details=[f"limited by {', '.join(fit.limited_by)}"],
            help="use smaller blocks, less shared memory or fewer registers per thread",
        )
    chip = min(device.limit("multiprocessors"), launch.blocks)
    if sms in ("one", "all"):
        return numbers, fit, 1 if sms == "one" else chip
    if isinstance(sms, int) and 1 <= sms <= device.limit("multiprocessors"):
        return numbers, fit, min(sms, chip)
    raise LaunchError(
        f"sms is {sms!r}; {device.name} has {device.limit('multiprocessors')} SMs",
        help='choose "one", "all" or a number of SMs',
    )


def _refuse_too_long(
    program: Program,
    launch: Launch,
    memory: DeviceMemory,
    numbers: Parameters,
    fit: Occupancy,
    table: Schedule,
    chip: int,
    max_host_seconds: float,
) -> None:
    """Estimate a simulation of all SMs from a few blocks on one of them.  Raises LaunchError if it takes too long."""
    sample = min(fit.blocks_per_sm, -(-launch.blocks // chip))
    need = launch.blocks / sample
    trial = _Run(program, launch, memory, numbers, fit, table, 1, None)
    room = trial.bytes * chip
    if room > MAX_HOST_BYTES:
        raise LaunchError(
            f'sms="all" needs about {room / 2**30:.1f} GiB of memory for {chip} SMs', help='use sms="one"'
        )
    if math.isinf(max_host_seconds):
        return
    trial.compile()  # now, not while the clock runs
    start = time.perf_counter()
    before = memory.snapshot()
    trial.go(sample, None)
    before.restore()
    seconds = (time.perf_counter() - start) * need
    if seconds > max_host_seconds:
        raise LaunchError(
            f'sms="all" would take about {seconds:,.1f} s on this computer; the limit is {max_host_seconds:g} s',
            details=[f"{launch.blocks} blocks on {chip} SMs"],
            help='use sms="one" or a smaller grid, or allow more with max_host_seconds (--max-host-seconds)',
        )


class _Run:
    """One simulation: the engine's state of all places for blocks, and the clock's."""

    def __init__(
        self,
        program: Program,
        launch: Launch,
        memory: DeviceMemory,
        numbers: Parameters,
        fit: Occupancy,
        table: Schedule,
        n_sms: int,
        window: tuple[int, int] | None,
    ) -> None:
        if launch.services is not None:
            launch = replace(launch, services=launch.services.rehearsal())
        self.program, self.launch, self.numbers, self.fit = program, launch, numbers, fit
        self.n_sms = n_sms
        self.chip = min(numbers.device.limit("multiprocessors"), launch.blocks)
        # Of one SM, the blocks of the busiest; of several, their share.
        self.blocks = -(-launch.blocks // self.chip) if n_sms == 1 else round(launch.blocks * n_sms / self.chip)
        most = fit.blocks_per_sm
        if numbers["blocks_start_early"]:  # one more, in the room of warps that have gone before their block
            most = min(most + 1, fit.limits["blocks"], fit.limits.get("shared memory", fit.limits["blocks"]))
        places = min(most, -(-launch.blocks // self.chip))
        self.prepared: Prepared = prepare(program, launch, n_sms * places, memory)
        self.stop = np.zeros(1, np.int64)
        states = [state_arrays(self.prepared, k, 0, self.stop) for k in range(n_sms * places)]
        self.state = door.side_by_side(states)
        self.clock = clock_arrays(
            self.prepared, numbers, table, states[0], n_sms, self.blocks, fit, places, self.chip, window
        )
        self.bytes = sum(array.nbytes for array in (self.state.R, self.state.P, self.state.SPLITS))
        self.events: list[np.ndarray] = []
        self.host_seconds = 0.0

    def compile(self) -> None:
        """Compile the timing model, or load it from the cache."""
        CLOCK.load(0, self.blocks, self.state, self.clock)

    def _run_some(self, blocks: int) -> int:
        """Simulate some cycles, compiled, or a while as plain Python if it is not compiled yet; the status."""
        if self.clock.TOTALS[layout.N_ISSUED] >= PLAIN_INSTRUCTIONS:
            self.compile()
        compiled = CLOCK.ready(0, self.blocks, self.state, self.clock)
        step = max(STEP // self.n_sms, 1) if compiled else PLAIN_STEP
        until = int(self.clock.CHIP[layout.C_NOW]) + step
        with np.errstate(all="ignore"):  # plain Python: wrap-around is meant
            return int((CLOCK.function if compiled else CLOCK.plain)(until, blocks, self.state, self.clock))

    def go(self, blocks: int, progress: Callable[[int, int], None] | None) -> None:
        """Simulate until so many blocks have ended.  Raises what the kernel does wrong."""
        begin = time.perf_counter()
        status = layout.PAUSED
        while status in (layout.PAUSED, layout.FULL, layout.CALLED):
            status = self._run_some(blocks)
            if status == layout.CALLED:
                serve(self.prepared, self._block(int(self.clock.CHIP[layout.C_CALLS])))
                continue
            self._drain()
            if progress:
                progress(int(self.clock.TOTALS[layout.N_BLOCKS]), blocks)
        self.host_seconds = time.perf_counter() - begin
        if status == layout.FAILED:
            raise failure(self.prepared, self.state)
        if status == layout.STUCK:
            raise self._stuck()

    def _stuck(self) -> Exception:
        slots = self.clock.SLOTS.reshape(-1, layout.N_SLOT)
        place = int(np.flatnonzero(slots[:, layout.S_BLOCK] >= 0)[0])
        return deadlock(self.prepared, self._block(place), int(slots[place, layout.S_BLOCK]))

    def _block(self, place: int) -> State:
        """The engine's state of the block in a place."""
        config = self.clock.CONFIG
        sizes = (int(config[column]) for column in (layout.G_R, layout.G_P, layout.G_PARTICIPANTS))
        state: State = inspect.unwrap(door.block_at)(self.state, place, *sizes)
        return state

    def _drain(self) -> None:
        n = int(self.clock.TOTALS[layout.N_EVENTS])
        if n:
            self.events.append(self.clock.EVENTS[: n * layout.N_EVENT].reshape(n, -1).copy())
            self.clock.TOTALS[layout.N_EVENTS] = 0

    def result(self) -> TimingResult:
        """What was simulated."""
        events = np.concatenate(self.events) if self.events else np.zeros((0, layout.N_EVENT), np.int64)
        counters = door.counters(self.state)
        return collect(
            self.program,
            self.launch,
            self.numbers,
            self.fit,
            self.clock,
            counters,
            events,
            blocks=self.blocks,
            n_sms=self.n_sms,
            chip=self.chip,
            host_seconds=self.host_seconds,
        )
