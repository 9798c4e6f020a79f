"""A context: one device memory, and the launches in it, one after the other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simt import machine
from simt.check import BudgetError, SimtError
from simt.machine import Allocation, DeviceArray, DeviceMemory, Launch, RunResult, TooLong, Unwritten
from simt.machine.device_memory import ALIGNMENT, Rows
from simt.machine.encode import encode
from simt.machine.images import DeviceImage, Image
from simt.machine.layout import ADDRESS_BASE
from simt.program import Program
from simt.runtime.arena import MAX_BYTES, Arena
from simt.runtime.modules import LoadedModule, ModuleImage
from simt.runtime.preview import LONGER, Preview, in_part
from simt.runtime.shared import MemoryFile, SharedFile
from simt.runtime.transfers import HostArray, Upload
from simt.system import Heap, Limits

Run = Callable[[Program, Launch, DeviceMemory], RunResult]
"""Runs a launch on device memory: :func:`simt.machine.run`, or what has others run it."""

SecondRun = Callable[[Launch, DeviceMemory, RunResult, Callable[[], None]], None]
"""Runs a launch again, on device memory as it was before; it is told what came of the first time, and what to call to
have device memory once more as it was before."""

Explain = Callable[[BudgetError, Launch, DeviceMemory], BudgetError]
"""Finds out why a launch does not end by running it again, on device memory as it was before; the error to raise."""

FEW_BYTES = 1 << 22
"""Lasting device memory of at most so many bytes is copied before each launch, so that the launch can be explained."""


@dataclass(frozen=True)
class Placed:
    """A launch whose arrays are in device memory."""

    launch: Launch
    memory: DeviceMemory
    upload: Upload


class Context:
    """One device memory.  Launches in it run one after the other, from whatever host thread they come.

    ``file`` and ``size`` as for :class:`~simt.runtime.arena.Arena`.  ``limits`` hold for the launches to come, that of
    the heap until code first asks for one.
    """

    def __init__(self, file: int | None = None, size: int = MAX_BYTES) -> None:
        self._arena = Arena(file, size)
        self._lock = threading.Lock()
        self._heap: Heap | None = None
        self.limits = Limits()
        self._unwritten: dict[int, Unwritten] = {}
        self._in: MemoryFile | None = None

    @classmethod
    def mappable(cls) -> Context:
        """A context whose memory other processes of this computer can map, where there are files in memory."""
        file = MemoryFile.create()
        made = cls(file.number if file is not None else None)
        made._in = file
        return made

    @property
    def file(self) -> SharedFile | None:
        """The file that holds device memory, byte for byte; None if there is none for others."""
        return self._in.shared if self._in is not None else None

    @property
    def size(self) -> int:
        """Bytes of addresses of device memory."""
        return self._arena.size

    @property
    def allocated(self) -> int:
        """Bytes that are allocated."""
        with self._lock:
            return self._arena.allocated

    def allocate(self, size: int, name: str, alignment: int = ALIGNMENT, host: bool = False) -> Allocation:
        """Reserve *size* bytes, of the *host* or of the device, until they are freed.

        Raises LaunchError if there is no room.
        """
        with self._lock:
            return self._arena.allocate(size, name, alignment=alignment, host=host)

    def free(self, allocation: Allocation) -> None:
        """Give an allocation back.  Raises ValueError if there is none such."""
        with self._lock:
            self._arena.free(allocation)
        self.written(allocation)

    def forget(self, allocation: Allocation) -> None:
        """Nobody has written an allocation, as far as the check of uninitialised memory is concerned."""
        mask = np.ones(allocation.end - allocation.start, np.uint8)
        self._unwritten[allocation.start] = Unwritten(allocation.start, mask)

    def written(self, allocation: Allocation) -> None:
        """All of an allocation is written."""
        self._unwritten.pop(allocation.start, None)

    def copied(self, to: Rows, source: Rows, width: int, height: int, depth: int) -> None:
        """A copy to *to*, *width* bytes of each row: what it leaves is written, as far as *source* is.

        Memory of the host, and what a fill comes from, is written.  Raises ValueError for rows that reach beyond
        their allocation.
        """
        there = self._mask(to, width, height, depth)
        here = self._mask(source, width, height, depth)
        if there is not None:
            there[:] = 0 if here is None else here

    def _mask(self, rows: Rows, width: int, height: int, depth: int) -> npt.NDArray[np.uint8] | None:
        """The bytes of rows in the mask of what is unwritten, [depth, height, width]; None if all are written."""
        found = self.find(rows.start)
        part = self._unwritten.get(found.start) if found is not None else None
        if part is None:
            return None
        slice_, first = rows.pitch * rows.height, rows.start - part.start
        if min(rows.pitch, rows.height, width, height, depth) < 0:
            raise ValueError(rows)
        if first + (depth - 1) * slice_ + (height - 1) * rows.pitch + width > len(part.mask):
            raise ValueError(rows)
        return np.lib.stride_tricks.as_strided(part.mask[first:], (depth, height, width), (slice_, rows.pitch, 1))

    def find(self, address: int) -> Allocation | None:
        """The allocation that holds the byte at a device address."""
        with self._lock:
            return self._arena.find(address)

    def bytes_of(self, allocation: Allocation) -> npt.NDArray[np.uint8]:
        """The bytes of an allocation, to read and to write."""
        return self._arena.memory().bytes_of(allocation)

    def heap(self) -> Heap:
        """The heap of ``malloc`` in kernels, which lasts as long as the context; ``limits`` say how large it is."""
        with self._lock:
            if self._heap is None:
                made = self._arena.allocate(self.limits.heap_bytes, "device heap")
                self._arena.clear(made)
                self._heap = Heap(made.start, made.end - made.start)
            return self._heap

    def load(self, image: ModuleImage) -> LoadedModule:
        """Place a module's variables for as long as the context lives."""
        with self._lock:
            return LoadedModule(self._arena, image)

    @contextmanager
    def placed(self, program: Program, launch: Launch) -> Iterator[Placed]:
        """Put the launch's NumPy arrays into device memory; they leave it at the end, without being copied back."""
        with self._lock:
            upload = Upload(self._arena, _host_arrays(program, launch))
            try:
                on_device = iter(upload.arguments)
                arguments = [_on_device(value, on_device) for value in launch.arguments]
                unwritten = [*upload.unwritten, *self._unwritten.values()]
                memory = self._arena.memory(unwritten)
                for part in unwritten:
                    _fill(memory, part, launch.fill)
                yield Placed(replace(launch, arguments=arguments), memory, upload)
            finally:
                upload.free()
                self._arena.trim()

    @contextmanager
    def like(self, memory: DeviceMemory, contents: Sequence[npt.NDArray[np.uint8] | None]) -> Iterator[DeviceMemory]:
        """Device memory with the allocations of *memory*, of another context, which hold *contents* (None: zeros).

        This context must hold nothing else.  ``memory.words`` is not read.  Raises LaunchError if there is no room.
        """
        with self._lock:
            made = self._arena.memory_like(memory)
            try:
                for allocation, held in zip(made.allocations, contents, strict=True):
                    made.bytes_of(allocation)[:] = 0 if held is None else held
                yield made
            finally:
                self._arena.trim()

    def run(
        self,
        program: Program,
        launch: Launch,
        second: SecondRun | None = None,
        keep: bool = False,
        how: Run = machine.run,
        explain: Explain | None = None,
        preview: Preview | None = None,
    ) -> RunResult:
        """Upload the launch's arrays, run, and download what the kernel changed.

        After an error or ctrl-C arrays and variables are as they were; with *keep* arrays are, and device memory is as
        the kernel left it.  *second* is called once the launch has succeeded, with device memory as it was before: a
        second run of it leaves no trace.  *explain* is called after a launch that did not end; its run leaves no
        trace, either.  With *keep*, and if more than FEW_BYTES outlive the launch, it finds these as the first run has
        left them.  *preview*: what is done first with a launch that takes long, if there is a second run.

        Raises the errors of :mod:`simt.check`, and KeyboardInterrupt.
        """
        with self.placed(program, launch) as placed:
            lasting = self._lasting(program, placed)
            small = explain is not None and sum(each.end - each.start for each in lasting) <= FEW_BYTES
            before = placed.memory.snapshot(lasting if small or not keep or second is not None else ())
            again = _rehearsed(placed.launch)

            def rewind() -> None:
                placed.upload.repeat()
                before.restore()

            try:
                first = replace(placed.launch, per_block=second is not None)
                if preview is not None and second is not None:
                    result = _previewed(program, first, placed.memory, how, second, rewind, preview)
                else:
                    result = how(program, first, placed.memory)
                if placed.launch.services is not None:
                    placed.launch.services.finish(placed.memory)
            except BudgetError as error:
                if explain is None:
                    raise
                left = placed.memory.snapshot()
                rewind()
                try:
                    raise explain(error, again, placed.memory) from None
                finally:
                    (left if keep else before).restore()
            except BaseException:
                if not keep:
                    before.restore()
                raise
            if second is not None:
                placed.upload.exchange()
                lasts = [each for each in placed.memory.allocations if not placed.upload.holds(each)]
                after = placed.memory.snapshot(lasts)
                before.restore()
                try:
                    second(again, placed.memory, result, rewind)
                except BaseException:
                    (after if keep else before).restore()
                    raise
                after.restore()
            placed.upload.download()
            if launch.watch is None or not launch.watch.sees_writes:
                for part in placed.memory.unwritten:
                    part.mask[:] = 0
        return result

    def _lasting(self, program: Program, placed: Placed) -> Sequence[Allocation]:
        """What outlives the launch, and what it may change: the host has no copy of it."""
        if not encode(program).stores:
            return ()
        return [each for each in placed.memory.allocations if not placed.upload.holds(each)]


def run_twice(program: Program, launch: Launch, memory: DeviceMemory, second: SecondRun) -> RunResult:
    """Run a launch whose arguments are in *memory* already, and then *second* on what it found."""
    before, again = memory.snapshot(), _rehearsed(launch)
    result = machine.run(program, replace(launch, per_block=True), memory)
    after = memory.snapshot()
    before.restore()
    try:
        second(again, memory, result, before.restore)
    finally:
        after.restore()
    return result


def _previewed(
    program: Program,
    launch: Launch,
    memory: DeviceMemory,
    how: Run,
    second: SecondRun,
    rewind: Callable[[], None],
    preview: Preview,
) -> RunResult:
    """Run a launch, but if it takes long, begin with *preview*.  *rewind* has memory as it is now."""
    try:
        return how(program, replace(launch, most_seconds=preview.seconds), memory)
    except TooLong as error:
        found = error
    rewind()
    most = min(launch.max_instructions, LONGER * int(found.work[:, 0].max()))
    patient = replace(launch, max_instructions=most)
    with suppress(SimtError):  # the launch will say it, and of its first block; or blocks wait for those left out
        partial = in_part(program, patient, memory, found, preview.seconds, how)
        if partial is not None:
            rewind()
            second(replace(patient, per_block=False), memory, partial, rewind)
            preview.told(partial)
    rewind()
    return how(program, launch, memory)


def _fill(memory: DeviceMemory, part: Unwritten, fill: tuple[int, bool]) -> None:
    """Fill bytes that have not been written as the launch asks for."""
    pattern, is_seed = fill
    if fill == (0, False):
        return
    at = part.start - int(ADDRESS_BASE)
    held = memory.words.M8[at : at + len(part.mask)]
    size = len(held)
    if is_seed:
        wanted = np.random.default_rng([pattern & (1 << 63) - 1, at]).integers(0, 256, size, np.uint8)
    else:
        wanted = np.resize(np.frombuffer((pattern & (1 << 64) - 1).to_bytes(8, "little"), np.uint8), size)
    held[part.mask != 0] = wanted[part.mask != 0]


def _rehearsed(launch: Launch) -> Launch:
    """The launch for a second run, whose system calls leave no trace."""
    return launch if launch.services is None else replace(launch, services=launch.services.rehearsal())


def _host_arrays(program: Program, launch: Launch) -> list[HostArray]:
    names = program.parameters
    by_axes = {array.argument for array in program.arrays}
    return [
        HostArray(
            names[k] if k < len(names) else f"argument {k}",
            array,
            whole_buffer=launch.whole_buffers and k not in by_axes,
        )
        for k, value in enumerate(launch.arguments)
        if isinstance(array := value.array if isinstance(value, Image) else value, np.ndarray)
    ]


def _on_device(value: object, arrays: Iterator[DeviceArray]) -> object:
    """An argument as the machine takes it; *arrays* are those not yet used."""
    if isinstance(value, Image):
        return DeviceImage(value, next(arrays).address)
    return next(arrays) if isinstance(value, np.ndarray) else value


_idle: list[Context] = []
"""Contexts without modules that no launch uses: a launch takes one and gives it back."""
_idle_mappable: list[Context] = []
"""The same, for launches on other processes.  A forked process would share their memory with this one."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle_mappable.clear)


def run(
    program: Program,
    launch: Launch,
    context: Context | None = None,
    second: SecondRun | None = None,
    keep: bool = False,
    how: Run = machine.run,
    explain: Explain | None = None,
    preview: Preview | None = None,
) -> RunResult:
    """Run a launch in *context*, or in one that holds nothing else; see :meth:`Context.run`."""
    if context is not None:
        return context.run(program, launch, second, keep, how, explain, preview)
    with borrowed() as empty:
        return empty.run(program, launch, second, how=how, explain=explain, preview=preview)


@contextmanager
def borrowed(mappable: bool = False) -> Iterator[Context]:
    """An empty context that is not in use; *mappable*: see :meth:`Context.mappable`."""
    idle = _idle_mappable if mappable else _idle
    try:
        context = idle.pop()
    except IndexError:
        context = Context.mappable() if mappable else Context()
    try:
        yield context
    finally:
        idle.append(context)
