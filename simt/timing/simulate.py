"""Running a launch cycle by cycle: :func:`simulate`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simt.check import LaunchError
from simt.devices import Gpu, Occupancy, occupancy
from simt.machine import door
from simt.machine.compiled.code import NativeRuns
from simt.machine.device_memory import DeviceMemory
from simt.machine.early import ENGINE
from simt.machine.findings import deadlock, failure
from simt.machine.launch import Launch, parse_order
from simt.machine.layout import INTERLEAVED, State
from simt.machine.prepare import prepare, state_arrays
from simt.machine.prepared import Prepared
from simt.machine.syscalls import Stopped, serve
from simt.machine.threads import workers_for
from simt.ops.early import Early
from simt.ops.jit import plain
from simt.options import Timing
from simt.program import Program
from simt.timing import layout
from simt.timing.arrays import carve_out, clock_arrays, own_sizes
from simt.timing.calls import Calls
from simt.timing.core import run
from simt.timing.crew import Crew
from simt.timing.extended import affordable, extended, longest
from simt.timing.jit import FOLDER
from simt.timing.parameters import Parameters, parameters
from simt.timing.quicken import Quickening
from simt.timing.races import SUSPECT
from simt.timing.result import TimingResult, collect
from simt.timing.sample import SEVERAL, Sample, choose, fixed, in_part, moved
from simt.timing.schedule import MachineInstruction, Schedule, schedule

STEP = 1 << 18
"""SM cycles between two looks at ctrl-C and the progress callback."""
LOOKING_STEP = 1 << 12
"""The same as long as native code may be found or made."""
PLAIN_STEP = 1 << 8
"""The same for plain Python, which takes some milliseconds for a cycle in which all schedulers issue."""
PLAIN_INSTRUCTIONS = 1 << 13
"""Warp instructions that plain Python issues before it waits for compiled code."""
CLOCK = Early("the timing model", run, "simt.timing.build", FOLDER, after=ENGINE)
"""Its ``function`` is :func:`simt.timing.core.run`."""
LONG = 1 << 17
"""Warp instructions from which on several host threads simulate several SMs, if the launch does not say how many."""
OF_TURN = 32
"""... and so many for each time that an SM has waited for its turn.  One thread takes all turns, and what it needs for
one was another's: a turn costs about what several threads save of so many instructions (a histogram on 8 threads took
1.6 times as long as on one)."""
SMS_OF_THREAD, MOST_THREADS = 4, 8
"""SMs that each of those has at least, and how many they are at most: on a busy host of 20 cores 132 SMs on 16 threads
took as long as on 8, or longer."""
MAX_HOST_BYTES = 4 << 30
MOST_WATCHED = 1 << 18
"""Lines of memory whose bytes are watched for races: a KiB each.  Of more, the first ones are."""
INSTRUCTIONS_PER_SECOND = 500_000
"""Warp instructions a second by which ``sms="auto"`` reckons.  It does not measure: a launch is to take the same time,
whatever the computer, and however busy it is."""


def simulate(
    program: Program,
    launch: Launch,
    device: Gpu,
    memory: DeviceMemory,
    options: Timing,
    code: Sequence[MachineInstruction] | None = None,
    work: npt.NDArray[np.int64] | None = None,
    rewind: Callable[[], None] | None = None,
    reached: npt.NDArray[np.uint8] | None = None,
    executed: int | None = None,
) -> TimingResult:
    """Simulate a launch cycle by cycle on *device*, on what *memory* holds; ``launch.progress`` is called.

    Parameters:
        code: SASS instructions with control bits, one per listing line (machine view).  Without them a scoreboard by
            register decides when operands are ready.
        work: int64 [blocks, 3], what each block was in the functional run (:attr:`simt.machine.RunResult.work`): by it
            ``sms="auto"`` chooses; without it, one SM stands for all.
        rewind: has *memory* as it is now, for a second simulation; without it *memory* is copied.
        reached: what the functional run accessed (:attr:`simt.machine.RunResult.reached`); without it, all of *memory*.
        executed: *work* and *reached* come of so many blocks (:attr:`simt.machine.RunResult.executed`).
    Afterwards *memory* is as the blocks of the simulated SMs left it; results come from the functional run, which
    executes the same instructions.

    Raises DeviceError (numbers), LaunchError (the block does not fit on an SM, too large for ``sms="all"``), and what
    the kernel raises without timing.
    """
    numbers, fit, n_sms = check(program, launch, device, options)
    turns = parse_order(launch.order)[0] >= INTERLEAVED
    setting = _Setting(program, launch, memory, numbers, fit, _table(program, numbers, code, turns), reached, executed)
    sample = fixed(launch.blocks, setting.chip, n_sms)
    if options.sms == "all" and n_sms > 1:
        _refuse_too_long(setting, options.seconds, rewind or memory.snapshot().restore)
    elif options.sms == "auto" and work is not None:
        most_sms = MAX_HOST_BYTES // setting.bytes
        most_instructions = options.seconds * INSTRUCTIONS_PER_SECOND
        least = 1 if executed is None else SEVERAL
        sample = choose(work, setting.chip, setting.at_once, most_instructions, most_sms, setting.table.writes, least)
    shares, all_of_it, limit = None if work is None else moved(work, sample), sample, math.inf
    if work is not None and executed is not None:
        most = options.seconds * INSTRUCTIONS_PER_SECOND
        sample = replace(sample, n_blocks=affordable(work, sample, most, setting.at_once * sample.n_sms))
        limit = longest(sample, most)
        shares = None if shares is None else shares[: sample.n_blocks + 1]
    run_of = _Run(setting, sample, options.window, None, shares)
    if sample.n_sms > 1 and rewind is None:
        rewind = memory.snapshot().restore
    run_of.go(sample.n_blocks, launch.progress, limit)
    suspects = run_of.suspects()
    if rewind is not None and len(suspects):
        rewind()
        seconds = run_of.host_seconds
        run_of = _Run(setting, sample, options.window, suspects, shares)
        run_of.go(sample.n_blocks, launch.progress, limit)
        run_of.host_seconds += seconds
    found = run_of.result(work)
    if work is None or executed is None:
        return found
    if sample.n_blocks < all_of_it.n_blocks or not run_of.ended:
        found = extended(found, all_of_it, work, run_of.looks, run_of.ended)
    return replace(found, sample=in_part(found.sample, work, executed, found.executed), functional=None)


def check(program: Program, launch: Launch, device: Gpu, options: Timing) -> tuple[Parameters, Occupancy, int]:
    """Numbers, blocks per SM and SMs of a simulation.  Raises DeviceError or LaunchError if it is impossible."""
    numbers = check_options(options, device)
    fit = occupancy(device, launch.threads_per_block, program.registers, program.shared_bytes + launch.shared_bytes)
    if fit.blocks_per_sm == 0:
        raise LaunchError(
            f"a block of {launch.threads_per_block} threads does not fit on any SM of {device.name}",
            details=[f"limited by {', '.join(fit.limited_by)}"],
            help="use smaller blocks, less shared memory or fewer registers per thread",
        )
    chip = min(device.limit("multiprocessors"), launch.blocks)
    if isinstance(options.sms, int):
        return numbers, fit, min(options.sms, chip)
    return numbers, fit, chip if options.sms == "all" else 1


def check_options(options: Timing, device: Gpu) -> Parameters:
    """The numbers of a simulation.  Raises DeviceError or LaunchError for what a device cannot have."""
    sms, most = options.sms, device.limit("multiprocessors")
    if sms not in ("auto", "one", "all") and not (isinstance(sms, int) and 1 <= sms <= most):
        raise LaunchError(
            f"sms is {sms!r}; {device.name} has {most} SMs", help='choose "auto", "one", "all" or a number of SMs'
        )
    return parameters(device, options.overrides)


@dataclass(frozen=True)
class _Setting:
    """What is to be timed, and with which numbers."""

    program: Program
    launch: Launch
    memory: DeviceMemory
    numbers: Parameters
    fit: Occupancy
    table: Schedule
    reached: npt.NDArray[np.uint8] | None
    executed: int | None

    @property
    def chip(self) -> int:
        """SMs that get blocks."""
        return min(self.numbers.device.limit("multiprocessors"), self.launch.blocks)

    @property
    def at_once(self) -> int:
        """Blocks that each of them has at a time, as far as some take as long as others."""
        most = self.fit.blocks_per_sm
        if self.numbers["blocks_start_early"]:  # one more, in the room of warps that have gone before their block
            most = min(most + 1, self.fit.limits["blocks"], self.fit.limits.get("shared memory", most + 1))
        return min(most, -(-self.launch.blocks // self.chip))

    @property
    def places(self) -> int:
        """Places for blocks on each of them.

        Twice as many as fit, if their warps have gone all but a few: as far as shared memory goes, which keeps that of
        a block to its end (an H200 has up to 15 blocks of 256 threads of which one warp is left, meets.cu).
        """
        most = self.fit.blocks_per_sm
        if self.numbers["blocks_start_early"]:
            each = self.fit.shared_bytes + self.numbers.device.limit("shared_reserved_per_block")
            room = carve_out(self.numbers, self.fit) // each if each else 2 * most
            most = max(most, min(2 * most, self.fit.limits["blocks"], room))
        return min(most, -(-self.launch.blocks // self.chip))

    @property
    def bytes(self) -> int:
        """Bytes of the host that each SM takes."""
        return self.places * door.place_bytes(self.program, -(-self.launch.threads_per_block // 32))


def _table(program: Program, numbers: Parameters, code: Sequence[MachineInstruction] | None, turns: bool) -> Schedule:
    """:func:`schedule`, kept with the Program for its next launch."""
    kept = program.timed
    if kept is None or kept[0] is not code or kept[1:3] != (turns, numbers.values):
        kept = program.timed = code, turns, dict(numbers.values), schedule(program, numbers, code, turns)
    table: Schedule = kept[3]
    return table


def _refuse_too_long(setting: _Setting, max_host_seconds: float, rewind: Callable[[], None]) -> None:
    """Estimate a simulation of all SMs from a few blocks on one of them.  Raises LaunchError if it takes too long."""
    launch, chip = setting.launch, setting.chip
    blocks = min(setting.fit.blocks_per_sm, -(-launch.blocks // chip))
    room = setting.bytes * chip
    if room > MAX_HOST_BYTES:
        raise LaunchError(
            f'sms="all" needs about {room / 2**30:.1f} GiB of memory for {chip} SMs', help='use sms="one"'
        )
    if math.isinf(max_host_seconds):
        return
    trial = _Run(setting, fixed(launch.blocks, chip, 1), None)
    trial.compile()  # now, not while the clock runs
    start = time.perf_counter()
    trial.go(blocks, None)
    rewind()
    seconds = (time.perf_counter() - start) * launch.blocks / blocks
    if seconds > max_host_seconds:
        raise LaunchError(
            f'sms="all" would take about {seconds:,.1f} s on this computer; the limit is {max_host_seconds:g} s',
            details=[f"{launch.blocks} blocks on {chip} SMs"],
            help='use sms="one" or a smaller grid, or allow more with max_host_seconds (--max-host-seconds)',
        )


class _Run:
    """One simulation: the engine's state of all places for blocks, and the clock's.

    *watched*: lines of memory whose bytes are watched for races, on one thread: so each run of them is the same.
    *shares*: of the sectors of the sample's blocks, those of the first 0, 1, 2, ... of them.
    """

    def __init__(
        self,
        setting: _Setting,
        sample: Sample,
        window: tuple[int, int] | None,
        watched: npt.NDArray[np.int64] | None = None,
        shares: npt.NDArray[np.float64] | None = None,
    ) -> None:
        launch = setting.launch
        if launch.services is not None:
            launch = replace(launch, services=launch.services.rehearsal())
        self.setting, self.launch, self.sample, self.shares = setting, launch, sample, shares
        places = sample.n_sms * setting.places
        self.prepared: Prepared = prepare(setting.program, launch, places, setting.memory)
        self.stop = np.zeros(1, np.int64)
        state = state_arrays(self.prepared, 0, 0, self.stop)
        self.state = door.side_by_side(self.prepared, state, places)
        self.clock = clock_arrays(
            self.prepared,
            setting.numbers,
            setting.table,
            state,
            sample,
            setting.fit,
            setting.places,
            window,
            watched,
            shares,
            setting.reached,
            setting.executed,
        )
        self.calls = Calls(setting.numbers, self.clock, launch.services, self._stand_for())
        self.is_watched = watched is not None
        self.crew = Crew(self.prepared, self.state, self.clock, 1)
        self.events: list[np.ndarray] = []
        self.host_seconds = 0.0
        self.ended = True
        self.looks: list[tuple[int, npt.NDArray[np.int64]]] = []
        self.quickening = Quickening(setting.program, setting.table.runs, launch.engine)
        self.native: NativeRuns | None = None

    def compile(self) -> None:
        """Compile the engine, whose code the timing model calls, and the timing model, or load them from the cache."""
        ENGINE.load(0, 0, self.state)
        CLOCK.load(0, self.sample.n_blocks, self.state, self.clock)

    def _run_some(self, blocks: int) -> int:
        """Simulate some cycles, compiled, or a while as plain Python if it is not compiled yet; the status."""
        step = PLAIN_STEP
        compiled = self.crew.is_many
        if not compiled:
            issued = self.crew.total(layout.N_ISSUED)
            if issued >= PLAIN_INSTRUCTIONS:
                self.compile()
            compiled = ENGINE.ready(0, 0, self.state) and CLOCK.ready(0, self.sample.n_blocks, self.state, self.clock)
        if compiled:
            issued = self.crew.total(layout.N_ISSUED)
            if self.quickening.is_open:
                self._quicken(issued)
            if not self.crew.is_many:
                self._hire(issued)
            step = max(STEP // self.sample.n_sms, 1)
            if self.quickening.is_open and not self.crew.is_many:
                step = min(step, self._until_the_next_look(issued))
        until = int(self.clock.CHIP[layout.C_NOW]) + step
        with np.errstate(all="ignore"):  # plain Python: wrap-around is meant
            return int((CLOCK.function if compiled else CLOCK.plain)(until, blocks, self.state, self.crew.clocks[0]))

    def _until_the_next_look(self, issued: int) -> int:
        """Cycles after which about as much has been issued as the next look for native code waits for."""
        wanted = (self.quickening.next - issued) / issued if issued else 0.0
        return max(int(self.clock.CHIP[layout.C_NOW] * wanted), LOOKING_STEP // self.sample.n_sms, 1)

    @property
    def _is_between(self) -> bool:
        """Whether no thread is at work on an epoch."""
        return bool(self.clock.CHIP[layout.C_PHASE] == layout.BETWEEN)

    def _hire(self, issued: int) -> None:
        """Let several host threads go on if that pays; *issued*: warp instructions so far."""
        asked, sms = self.launch.threads, self.sample.n_sms
        most = sms if asked is not None else max(min(sms // SMS_OF_THREAD, MOST_THREADS), 1)
        threads = 1 if self.is_watched else workers_for(asked, most)
        pays = issued >= max(LONG, OF_TURN * self.crew.total(layout.N_TURNS))
        if threads > 1 and self._is_between and (asked is not None or pays):
            self.crew = Crew(self.prepared, self.state, self.clock, threads)
            if self.native is not None:
                self.crew.equip(self.native, 1)
            self.crew.begin(CLOCK.function)

    def _quicken(self, issued: int) -> None:
        """Go over to native code if it is time; *issued* as above."""
        native = self.quickening.look(issued) if self._is_between else None
        if native is not None:
            self.native = native
            self.crew.equip(native)
            self.state = self.crew.states[0]

    def go(self, blocks: int, progress: Callable[[int, int], None] | None, most: float = math.inf) -> None:
        """Simulate until so many blocks have ended, or *most* warp instructions were issued before they have.

        Raises what the kernel does wrong.
        """
        begin = time.perf_counter()
        status = layout.PAUSED
        try:
            while status in (layout.PAUSED, layout.FULL, layout.CALLED, layout.WAITING):
                status = self._run_some(blocks)
                if status == layout.CALLED:
                    self._serve(int(self.clock.CHIP[layout.C_CALLS]))
                elif status != layout.WAITING:
                    self.events += self.crew.drain()
                    self.looks.append((int(self.clock.CHIP[layout.C_NOW]), self.crew.totals()))
                    if progress:
                        progress(int(self.clock.FRONTS[layout.F_ENDED :: layout.N_FRONT].sum()), blocks)
                    self.ended = status != layout.PAUSED or self.looks[-1][1][layout.N_ISSUED] < most
                    if not self.ended:
                        break
        finally:
            self.crew.end()
        self.crew.add_up()
        self.host_seconds = time.perf_counter() - begin
        if status == layout.FAILED:
            raise failure(self.prepared, self.crew.of_failed())
        if status == layout.STUCK:
            raise self._stuck()

    def _serve(self, place: int) -> None:
        """Serve the call that the block in a place makes."""
        state = self._block(place)
        self.calls.note(Stopped(self.prepared, state), place)
        serve(self.prepared, state)

    def _stand_for(self) -> dict[str, float]:
        """For how many calls of each function one of the simulated SMs stands, by those of the functional run."""
        services = self.launch.services
        if services is None or self.setting.executed is not None:
            return {}
        mine = self.sample.blocks_of(self.launch.blocks)
        found = {}
        for function, by_block in services.called.items():
            own = sum(count for block, count in by_block.items() if mine[block])
            if own:
                found[function] = sum(by_block.values()) / own
        return found

    def suspects(self) -> npt.NDArray[np.int64]:
        """Lines of memory that SMs may have raced for."""
        if not self.clock.TOTALS[layout.N_SUSPECT]:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.clock.WATCHED & SUSPECT)[:MOST_WATCHED]

    def _stuck(self) -> Exception:
        slots = self.clock.SLOTS.reshape(-1, layout.N_SLOT)
        place = int(np.flatnonzero(slots[:, layout.S_BLOCK] >= 0)[0])
        return deadlock(self.prepared, self._block(place), int(slots[place, layout.S_BLOCK]))

    def _block(self, place: int) -> State:
        """The engine's state of the block in a place."""
        state: State = plain(door.block_at)(self.state, place, *own_sizes(self.clock), self.clock.BLOCKS)
        return state

    def result(self, work: npt.NDArray[np.int64] | None) -> TimingResult:
        """What was simulated; *work*: what each block of the launch was in the functional run."""
        events = np.concatenate(self.events) if self.events else np.zeros((0, layout.N_EVENT), np.int64)
        events = events[np.lexsort((events[:, layout.E_SM], events[:, layout.E_CYCLE]))]  # SMs run ahead of each other
        counters = door.counters(self.state)
        started = int(self.clock.CHIP[layout.C_NEXT_BLOCK])
        given = 1.0 if self.shares is None or not len(self.shares) else float(self.shares[started])
        return collect(
            self.setting.program,
            self.launch,
            self.setting.numbers,
            self.setting.fit,
            self.clock,
            counters,
            events,
            self.sample,
            self.host_seconds,
            None if work is None else int(work[self.sample.blocks_of(self.launch.blocks), 0].sum()),
            given,
        )
