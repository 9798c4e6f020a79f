"""What travels to a worker and back, and what the worker does with it: :func:`perform`."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from simt import machine, runtime
from simt.calls.executors.touched import Runs, Touched, runs_of
from simt.check import Finding, LaunchError, SimtError
from simt.devices import Gpu
from simt.machine import DeviceMemory, Launch, RunResult
from simt.machine.device_memory import Words
from simt.machine.images import DeviceImage
from simt.machine.launch import Bank, BankFacts
from simt.machine.layout import ADDRESS_BASE
from simt.machine.prepare import banks
from simt.machine.services import SystemCall
from simt.ops.jit import FOLDER
from simt.options import Timing
from simt.program import Program
from simt.sanitizer.sanitizer import Sanitizer
from simt.system import Limits, SystemServices, World

if TYPE_CHECKING:
    from simt.timing import TimingResult
    from simt.timing.schedule import MachineInstruction

VERSION = FOLDER.name
"""Of what makes results: the engine's sources, Python and Numba."""

_NO_WORDS = Words.of(np.zeros(0, np.uint8))


@dataclass(frozen=True)
class GivenBanks:
    """A launch's ``bank_image`` whose constant banks are known already."""

    banks: Mapping[int, Bank]

    def __call__(self, addresses: Sequence[int | None], facts: BankFacts, /) -> Mapping[int, Bank]:
        """The banks."""
        return self.banks


class _Shown(NamedTuple):
    """What the engine asks of the array of a texture or surface, whose texels are in device memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim: int
    itemsize: int


@dataclass(frozen=True)
class Model:
    """How a launch is to be timed: on what device, with the control bits of what code (None: it has none)."""

    device: Gpu
    code: Sequence[MachineInstruction] | None
    options: Timing


@dataclass(frozen=True)
class Task:
    """A launch, or the blocks ``launch.part`` of one, with the device memory that it finds.

    ``program`` is pickled; ``memory`` has no words: a file of this computer holds them, or ``contents`` stand for the
    allocations (None: zeros).  ``results``: a file that takes what the task writes, at the same places.  ``checks``:
    names of checks; with ``keep_going`` they do not end the launch.  ``limits``: of the system calls.  ``model``: time
    it, too.
    """

    version: str
    program: bytes
    launch: Launch
    memory: DeviceMemory
    contents: runtime.SharedFile | Sequence[bytes | None]
    results: runtime.SharedFile | None
    checks: Sequence[str]
    keep_going: bool
    limits: Limits
    model: Model | None


class NotFound:
    """In the place of an Outcome: the worker is on another computer, and finds no files in memory of this one."""


@dataclass(frozen=True)
class Outcome:
    """What came of a task: the launch's result, or the error that ended it.

    ``written``, ``read``: bytes of the arena that it touched (of a whole launch: that it changed); ``reduced``: those
    of atomics that commute, by kind; ``data``: what the written ones hold now (None: the task's file of results has
    it); ``changed``: what the reduced ones hold; ``unwritten``: the masks of memory that nobody has written,
    if a check looks at them; ``printed``: its output.
    """

    result: RunResult | None
    error: SimtError | None
    written: Runs
    read: Runs
    reduced: Mapping[int, Runs]
    data: npt.NDArray[np.uint8] | None
    changed: Mapping[int, npt.NDArray[np.uint8]]
    unwritten: Sequence[npt.NDArray[np.uint8]]
    printed: bytes
    findings: Sequence[Finding] = ()
    timing: TimingResult | None = None


def contents_of(memory: DeviceMemory) -> Sequence[bytes | None]:
    """What the allocations hold, to travel."""
    held = [memory.bytes_of(allocation) for allocation in memory.allocations]
    return [each.tobytes() if each.any() else None for each in held]


def task_of(
    program: bytes,
    launch: Launch,
    memory: DeviceMemory,
    files: tuple[runtime.SharedFile, runtime.SharedFile] | None,
    checks: Sanitizer | None,
    limits: Limits,
    model: Model | None,
) -> Task:
    """The task for a launch whose arrays are in *memory*; *files*: that which holds it, and one for results."""
    given = {number: Bank(bytes(bank.data), bank.address) for number, bank in banks(launch).items()}
    return Task(
        version=VERSION,
        program=program,
        launch=replace(
            launch,
            arguments=[_portable(value) for value in launch.arguments],
            bank_image=GivenBanks(given) if launch.bank_image is not None else None,
            threads=launch.threads or 1,  # other tasks have the other cores
            watch=None,
            services=None,
            progress=None,
        ),
        memory=replace(memory, words=_NO_WORDS, unwritten=memory.unwritten if checks and checks.sees_writes else ()),
        contents=contents_of(memory) if files is None else files[0],
        results=None if files is None else files[1],
        checks=checks.names if checks is not None else (),
        keep_going=checks is not None and checks.keep_going,
        limits=limits,
        model=model,
    )


def pickled(program: Program) -> bytes:
    """A Program as tasks carry it."""
    return pickle.dumps(program, pickle.HIGHEST_PROTOCOL)


def _portable(value: object) -> object:
    """An argument without the texels of its image: they are in device memory."""
    if not isinstance(value, DeviceImage):
        return value
    array = value.image.array
    shown = _Shown(array.shape, array.strides, array.dtype, array.ndim, array.itemsize)
    return replace(value, image=replace(value.image, array=cast("npt.NDArray[Any]", shown)))


@lru_cache(maxsize=8)
def _program(data: bytes) -> Program:
    """The Program of several tasks, and with it what the machine makes of it, once."""
    found: Program = pickle.loads(data)
    return found


@dataclass(frozen=True)
class _Noted:
    """A system call whose reads of global memory are noted; all else as the call."""

    call: SystemCall
    touched: Touched

    def __getattr__(self, name: str) -> Any:
        return getattr(self.call, name)

    def read(self, lane: int, address: int, size: int) -> bytes | None:
        """The bytes at a generic address, as the call gives them."""
        found = self.call.read(lane, address, size)
        if found is not None:
            self.touched.read(self.call.block, address, size)
        return found

    def text(self, lane: int, address: int) -> bytes | None:
        """The string at a generic address, as the call gives it."""
        found = self.call.text(lane, address)
        if found is not None:
            self.touched.read(self.call.block, address, len(found) + 1)
        return found


class _Services(SystemServices):
    """Services of blocks whose reads of global memory are noted."""

    def __init__(self, world: World, touched: Touched) -> None:
        super().__init__(world)
        self.touched = touched

    def serve(self, call: SystemCall) -> None:
        """Do what the function does."""
        super().serve(cast("SystemCall", _Noted(call, self.touched)))


@contextmanager
def _found(task: Task) -> Iterator[tuple[DeviceMemory, Sequence[npt.NDArray[np.uint8] | None]] | None]:
    """The device memory of a task, and what its allocations held before (None: zeros); None if it is not here."""
    memory = replace(task.memory, unwritten=[each._replace(mask=each.mask.copy()) for each in task.memory.unwritten])
    if isinstance(task.contents, runtime.SharedFile):
        own, before = task.contents.bytes(own=True), task.contents.bytes()
        if own is None or before is None:
            yield None
            return
        first = replace(memory, words=Words.of(before))
        yield replace(memory, words=Words.of(own)), [first.bytes_of(each) for each in memory.allocations]
        return
    held = [None if each is None else np.frombuffer(each, np.uint8) for each in task.contents]
    with runtime.borrowed() as context, context.like(memory, held) as made:
        yield made, held


def perform(task: Task) -> Outcome | NotFound:
    """What a worker does.  Errors of the launch come back in the outcome."""
    if task.version != VERSION:
        raise LaunchError("the worker has another version of simt, Python or Numba", help="install the same ones there")
    with _found(task) as found:
        results = task.results.bytes(write=True) if found is not None and task.results is not None else None
        return NotFound() if found is None else _performed(task, *found, results)


def _performed(
    task: Task,
    memory: DeviceMemory,
    before: Sequence[npt.NDArray[np.uint8] | None],
    results: npt.NDArray[np.uint8] | None,
) -> Outcome:
    """Run a task on *memory*; what it writes goes to *results*, if there is room for it."""
    program = _program(task.program)
    checks = Sanitizer(task.checks, task.keep_going) if task.checks else None
    touched = Touched(checks) if task.launch.part is not None else None
    services: SystemServices | None = None
    if program.syscalls:
        world = World(limits=task.limits)
        services = SystemServices(world) if touched is None else _Services(world, touched)
    launch = replace(task.launch, watch=touched or checks, services=services)
    result, error, timing = None, None, None
    try:
        if task.model is None:
            result = machine.run(program, launch, memory)
        else:
            result, timing = _timed(program, launch, memory, task.model)
    except SimtError as failed:
        error = failed.with_traceback(None)
    launch.watch = None  # the two know each other, which would keep the memory mapped
    written = touched.written if touched is not None else _changed(memory, before)
    reduced = touched.reduced if touched is not None else {}
    if results is not None:
        for first, end in zip(*written, strict=True):
            results[first:end] = memory.words.M8[first:end]
    return Outcome(
        result=result,
        error=error,
        written=written,
        read=touched.read_bytes if touched is not None else Runs.none(),
        reduced=reduced,
        data=held_in(memory, written) if results is None else None,
        changed={kind: held_in(memory, runs) for kind, runs in reduced.items()},
        unwritten=[each.mask for each in memory.unwritten],
        printed=services.text() if services is not None else b"",
        findings=touched.found if touched is not None else (),
        timing=timing,
    )


def held_in(memory: DeviceMemory, runs: Runs) -> npt.NDArray[np.uint8]:
    """What runs of bytes hold, one after the other."""
    parts = [memory.words.M8[first:end] for first, end in zip(*runs, strict=True)]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint8)


def _timed(program: Program, launch: Launch, memory: DeviceMemory, model: Model) -> tuple[RunResult, TimingResult]:
    """Run a launch, and time it.  Its timing comes without what the asker has: program and launch."""
    from simt.timing import TimedRun  # here: other tasks do not load the model

    run = TimedRun(program, launch, model.device, model.code, model.options)
    result = runtime.run_twice(program, launch, memory, run)
    return result, replace(run.result, program=None, launch=None)  # type: ignore[arg-type]  # the asker has them


def _changed(memory: DeviceMemory, contents: Sequence[npt.NDArray[np.uint8] | None]) -> Runs:
    """The bytes that are no longer as they were."""
    changed = [Runs.none()]
    for allocation, before in zip(memory.allocations, contents, strict=True):
        found = runs_of(memory.bytes_of(allocation) != (0 if before is None else before), 0)
        first = allocation.start - int(ADDRESS_BASE)
        changed.append(Runs(found.starts + first, found.ends + first))
    return Runs(*map(np.concatenate, zip(*changed, strict=True)))
