"""One program's device: what each request of the libraries in the program does."""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from simt.calls import Device, LostDeviceError, Options
from simt.check import AssertError, CopyError, LaunchError, SimtError, gathered
from simt.check import Finding as Checked
from simt.driver import protocol, refusals
from simt.driver.attributes import attributes, product
from simt.driver.codes import Code, CudaError, code_of
from simt.driver.images import link
from simt.driver.loaded import NOTHING, LoadedCode, RefusedKernel, Reply
from simt.driver.settings import Finding, Settings, program_name
from simt.driver.textures import image_of
from simt.machine import Allocation
from simt.machine.device_memory import ALIGNMENT, Rows
from simt.machine.images import HANDLES, handle
from simt.machine.layout import ADDRESS_BASE
from simt.profile import Profile
from simt.profile.activity import Called, Copied, Launched, Unfinished
from simt.runtime import Context
from simt.sanitizer import INITCHECK, names_of

_PAGE = 4096
LARGE_FROM, LARGE_ALIGNMENT = 1 << 20, 1 << 21
"""From so many bytes on, memory begins at a multiple of two MiB, as on an H200: kernels may depend on it."""
_SHARED_WITH_HOST = (protocol.HOST, protocol.MANAGED)
_LIMITS = {2: "heap_bytes", 3: "sync_depth", 4: "pending_launches"}
"""Numbers of ``CUlimit`` that concern kernels: fields of :class:`simt.system.Limits`."""


class Cancelled(Exception):
    """The program is gone, in the middle of a launch."""


class Failed(Exception):
    """A request went wrong: CUDA's code, and a reply all the same."""

    def __init__(self, code: Code, reply: Reply) -> None:
        super().__init__(code.name)
        self.code = code
        self.reply = reply


class Session(LoadedCode):
    """The device of one process of a program.

    ``alive``: whether the process is still there; asked while kernels run.  ``on_end`` is called once, at the end.
    """

    def __init__(
        self,
        settings: Settings,
        memory: Context,
        alive: Callable[[], bool],
        on_end: Callable[[Session], None] = lambda session: None,
    ) -> None:
        self._printed = io.StringIO()
        super().__init__(settings, Device(settings.device, timing=settings.timing, stdout=self._printed, memory=memory))
        self.alive = alive
        self._on_end: Callable[[Session], None] | None = on_end
        self.findings: list[Finding] = []
        self.began = False
        """Whether the process asked for anything."""
        self.machine_code: dict[str, str] = {}
        """Kernels that ran as machine code though the source view was asked for, and why."""
        self._kinds: dict[int, int] = {}  # address of an allocation: its kind
        self._previews: list[Profile] = []  # of the launch that runs
        self._begin: float | None = None
        self._matching = 0
        self._times: dict[Hashable, list[float]] = {}  # by kernel and shape: seconds of the launches that were timed
        self._warned: set[str] = set()
        self._places: dict[Hashable, int] = {}  # of findings of checks: which of self.findings

    def answer(self, message: protocol.Message, payload: bytes) -> tuple[Code, Reply]:
        """Do what a request says; CUDA's code and the reply."""
        form = message.form
        if len(payload) < form.size:
            return Code.INVALID_VALUE, NOTHING
        try:
            return Code.SUCCESS, getattr(self, message.name)(payload[form.size :], *form.unpack_from(payload))
        except Failed as failed:
            return failed.code, failed.reply
        except (SimtError, CudaError, MemoryError) as error:
            self._report("", error)
            return code_of(error), NOTHING

    def _report(self, subject: str, error: BaseException) -> None:
        """Tell the user of an error, unless it follows from one that was told, or a kernel has had it before."""
        if not isinstance(error, SimtError) or isinstance(error, LostDeviceError):
            return
        finding = Finding(subject, error)
        if str(finding) not in self._warned:
            self._warned.add(str(finding))
            self._tell(finding)

    def _tell(self, finding: Finding) -> None:
        self.findings.append(finding)
        if self.settings.on_finding is not None:
            self.settings.on_finding(finding)

    def _checked(self, subject: str, found: Sequence[Checked]) -> None:
        """What the checks of a launch found, and it went on: a place is told once, and counted."""
        for each in found:
            at = self._places.setdefault((subject, each.place), len(self.findings))
            if at == len(self.findings):
                self._tell(Finding(subject, each.error(), each))
                continue
            before = self.findings[at].checked
            assert before is not None  # what _places has comes from here
            self.findings[at] = replace(self.findings[at], checked=gathered((before, each))[0])

    # The device

    def hello(self, _: bytes, process: int) -> Reply:
        """A process begins to use the device."""
        gpu, self.began = self.device.gpu, True
        with contextlib.suppress(OSError):
            self.name = program_name(process)
        name = gpu.name.encode()[:255].ljust(256, b"\0")
        places = int(ADDRESS_BASE), self.device.memory.size, self._total
        return (*places, self.settings.timing, *attributes(gpu), *name), b""

    def goodbye(self, _: bytes) -> Reply:
        """The process is about to end."""
        self.end()
        return NOTHING

    def end(self) -> None:
        """Nothing comes after this."""
        if self._on_end is not None:
            ended, self._on_end = self._on_end, None
            ended(self)

    def reset(self, _: bytes) -> Reply:
        """Forget modules, and the error that nothing goes on after.  Memory of the host stays."""
        for number in list(self._modules):
            self.unload(b"", number)
        for address, kind in list(self._kinds.items()):
            if kind == protocol.DEVICE:
                self.free(b"", address)
        self.device.recover()
        return NOTHING

    def note(self, tail: bytes) -> Reply:
        """What happened in the process meanwhile: calls, copies and those that could not be, stubs."""
        try:
            for line in tail.decode(errors="replace").splitlines():
                self._note(*line.split(" "))
        except (TypeError, ValueError, OverflowError):  # not a library of ours
            raise CudaError(Code.INVALID_VALUE) from None
        return NOTHING

    def _note(self, what: str, name: str, *numbers: str) -> None:
        activities = self.device.activities
        if what == "call":
            start, seconds = (int(number) * 1e-9 for number in numbers)
            self._begin = start if self._begin is None else self._begin
            activities.called.append(Called(name, start - self._begin, seconds))
        elif what == "copy":
            stream, width, height, depth, *rows = map(int, numbers)
            to, source = Rows(*rows[:3]), Rows(*rows[3:])
            activities.copied.append(Copied(name, width * height * depth, self.device.start, stream=stream))
            self.device.memory.copied(to, source, width, height, depth)
        elif what == "beyond":
            self._report("", CopyError.beyond(name, *map(int, numbers)))
        elif what == "refused":
            sizes = list(map(int, numbers))
            self._report(self.loaded(int(name)).demangled, refusals.by_library(sizes[0:3], sizes[3:6], *sizes[6:]))
        else:
            activities.unsupported[" ".join((name, *numbers))] += 1

    # What runs in the process itself, in the source view

    def profile(self, tail: bytes, stream: int) -> Reply:
        """A launch that the process has run."""
        made = pickle.loads(tail)
        if isinstance(made, Profile) and self._is_profiled(made.kernel):
            self.device.activities.launched.append(Launched(made, self.device.start, stream))
        if isinstance(made, Profile):
            self._checked(made.kernel, made.findings)
        return NOTHING

    def refused(self, tail: bytes) -> Reply:
        """A kernel that the source view could not run: it goes on as machine code."""
        name, _, why = tail.decode(errors="replace").partition("\0")
        self.machine_code[name] = why
        return NOTHING

    # Memory

    @property
    def _total(self) -> int:
        """Bytes of the device's memory: what it has, and what this computer has addresses for."""
        size = self.device.memory.size
        return min(product(self.device.gpu, "memory_bytes") or size, size)

    def allocate(self, _: bytes, size: int, kind: int) -> Reply:
        """Memory of the device, or of both: whole pages then, which the process can make its own."""
        small = _PAGE if kind in _SHARED_WITH_HOST else ALIGNMENT
        alignment = small if size < LARGE_FROM else LARGE_ALIGNMENT
        if kind != protocol.HOST and self.device.memory.allocated + size > self._total:
            raise CudaError(Code.OUT_OF_MEMORY)
        try:
            made = self.device.allocate(size, f"allocation of {size} bytes", alignment, kind == protocol.HOST)
        except LaunchError:
            raise CudaError(Code.OUT_OF_MEMORY) from None
        self._kinds[made.start] = kind
        if kind == protocol.DEVICE and INITCHECK.name in names_of(self.settings.check):
            self.device.memory.forget(made)
        return (made.start,), b""

    def free(self, _: bytes, address: int) -> Reply:
        """Give memory back."""
        found = self._allocation(address)
        if address not in self._kinds:
            raise CudaError(Code.INVALID_VALUE)
        del self._kinds[address]
        self.device.memory.free(found)
        return NOTHING

    def range(self, _: bytes, address: int) -> Reply:
        """The allocation or variable that an address is in."""
        found = self._allocation(address)
        return (found.start, found.end - found.start, self._kinds.get(found.start, protocol.MODULE)), b""

    def _allocation(self, address: int) -> Allocation:
        found = self.device.memory.find(address)
        if found is None:
            raise CudaError(Code.INVALID_VALUE)
        return found

    # Code, besides what LoadedCode does

    def link(self, tail: bytes, registers: int, level: int) -> Reply:
        """The program's linker: the cubin, or what is wrong in words."""
        try:
            return (), link(tail, self.device.gpu.architecture, registers, level)
        except SimtError as error:
            self._report("", error)
            raise Failed(code_of(error), ((), str(error).encode())) from None

    # Images

    def image(self, _: bytes, *fields: Any) -> Reply:
        """A texture or surface; the handle is the number of its row in the table of launches."""
        self.device.images.append(image_of(self.device.memory, *fields))
        return (handle(len(self.device.images) - 1),), b""

    def drop(self, _: bytes, number: int) -> Reply:
        """A texture or surface goes; its row stays, since others are numbered after it."""
        if not HANDLES < number <= handle(len(self.device.images) - 1):
            raise CudaError(Code.INVALID_HANDLE)
        return NOTHING

    # Launches

    def launch(self, tail: bytes, function: int, *rest: int) -> Reply:
        """A launch; the reply comes when it is done.  ``sticky`` holds the error of the kernel."""
        kernel, grid, block, (shared, stream, cooperative) = self.loaded(function), rest[0:3], rest[3:6], rest[6:]
        if isinstance(kernel, RefusedKernel):
            raise kernel.error
        refused = refusals.by_device(self.device.gpu, kernel, grid, block, shared, bool(cooperative))
        if refused is not None:
            self._report(kernel.demangled, refused[1])
            raise CudaError(refused[0])
        times = self._times.setdefault((function, grid, block, shared), [])
        timed = self.settings.timing and not cooperative and self.settings.times(len(times))
        options = Options(
            shared_bytes=shared,
            cooperative=bool(cooperative),
            order=self.settings.order,
            timing=timed,
            **(self.settings.modelled if timed else {}),
            max_instructions=self.settings.max_instructions,
            check=self.settings.check,
            keep_going=self.settings.keep_going,
            schedule=self.settings.schedule,
            fill=self.settings.fill,
            progress=self._progress,
            preview=self._previewed,
        )
        before, start = self.device.now, self.device.start
        self._previews.clear()
        try:
            profiled = self._is_profiled(kernel.demangled)
            profile = self.device.launch_raw(kernel, grid, block, tail, options, stream=stream, profiled=profiled)
        except Cancelled:
            self.device.activities.unfinished.append(Unfinished(kernel.demangled, grid, block))
            if profiled:
                self.device.activities.launched.extend(Launched(each, start, stream) for each in self._previews)
            raise
        except SimtError as error:
            if self.settings.keep_going:
                self._checked(kernel.demangled, [each for each in error.findings if isinstance(each, Checked)])
            self._report(kernel.demangled, error)
            printed = self._taken()
            said = error.text.encode() if isinstance(error, AssertError) else b""
            fields = 0.0, error is self.device.lost, len(printed)
            raise Failed(code_of(error), (fields, printed + said)) from None
        if timed:
            times.append(self.device.now - before)
        elif times:
            self.device.now += times[-1]
        self._checked(kernel.demangled, profile.findings)
        printed = self._taken()
        return (self.device.now - before, 0, len(printed)), printed

    def limit(self, _: bytes, which: int, value: int) -> Reply:
        """What kernels may do from now on."""
        if which in _LIMITS:
            memory = self.device.memory
            memory.limits = replace(memory.limits, **{_LIMITS[which]: value})
        return NOTHING

    def _previewed(self, profile: Profile) -> None:
        """A launch takes long: what is known of it meanwhile."""
        self._previews = [profile]
        if self.settings.on_preview is not None:
            self.settings.on_preview(profile)

    def _progress(self, done: int, blocks: int) -> None:
        if not self.alive():
            raise Cancelled

    def _taken(self) -> bytes:
        """What kernels printed since the last time."""
        text = self._printed.getvalue()
        self._printed.seek(0)
        self._printed.truncate()
        return text.encode(errors="surrogateescape")

    def _is_profiled(self, name: str) -> bool:
        """Whether the next launch, of the kernel *name*, is one of those that the user wants to hear of."""
        if not self.settings.matches(name):
            return False
        self._matching += 1
        return self.settings.wants(self._matching - 1)
