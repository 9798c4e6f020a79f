"""One launch of compiled code on a modelled GPU: functional, and timed if that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import numpy as np
import numpy.typing as npt

from simt import devices, machine, runtime
from simt.calls import session
from simt.calls.code import Code, Shape, raw_code
from simt.calls.options import Options, filling
from simt.check import BudgetError, KernelError, LaunchError, UnsupportedError
from simt.devices import DeviceError, Gpu, occupancy
from simt.machine.launch import Watch
from simt.machine.schedule import Schedule, parse_schedule
from simt.machine.services import Services
from simt.ops.encoding import GRID_BARRIER
from simt.profile import Profile
from simt.program import Program
from simt.sanitizer import names_of
from simt.sanitizer.metadata import compares_lanes
from simt.system import Limits, Request, SystemServices, World

if TYPE_CHECKING:
    from simt.calls.executors.spread import Spread
    from simt.sanitizer.sanitizer import Sanitizer
    from simt.sass import SassKernel
    from simt.timing import TimedRun


NOT_JUDGED = (
    "racecheck did not compare lanes of one warp: they run in step before sm_70; check='racecheck:lanes' compares them"
)


def gpu_for(key: str | Path | None, view: str, timing: bool) -> Gpu:
    """The modelled GPU.  DeviceError if it is unknown or cannot run the code."""
    gpu = devices.get(key) if key else devices.default_for(view)
    if not gpu.runs(view) and (key or timing):
        able = [name for name in devices.names() if devices.get(name).runs(view)]
        raise DeviceError(
            f"{gpu.name} ({gpu.architecture}) does not run {view} code",
            help=f"choose {', '.join(able)}" if able else "there is no device file for it; the source view runs on any",
        )
    return gpu


def run(
    code: Code,
    shape: Shape,
    options: Options,
    gpu: Gpu,
    context: runtime.Context | None = None,
    keep: bool = False,
    stdout: TextIO | None = None,
    watch: Watch | None = None,
) -> Profile:
    """Run a launch in *context* (default: the module's, or one that holds nothing else) and return its profile.

    *keep*: after an error device memory is as the kernel left it (:meth:`simt.runtime.Context.run`).  *stdout*: where
    what the kernel prints goes, after the launch, also after one that went wrong (default: ``sys.stdout``).  *watch*:
    what gets the events of the launch, instead of its checks.
    """
    options = session.completed(options)
    try:
        profile = _HostLaunch(options, gpu, context or code.context, keep, watch).run(code, shape, stdout)
    except LaunchError:
        raise  # nothing has run
    except KernelError as error:
        session.failed(code.program.name, error)
        raise
    session.launched(profile)
    return profile


class _HostLaunch:
    """A launch of the host, with the grids that its kernels launch."""

    def __init__(
        self, options: Options, gpu: Gpu, context: runtime.Context | None, keep: bool, watch: Watch | None
    ) -> None:
        self.options = options
        self.gpu = gpu
        self.context = context
        self.keep = keep
        self.watch = watch
        self.launched: list[Profile] = []
        self._counters: dict[bytes, npt.NDArray[np.int64]] = {}

    def run(self, code: Code, shape: Shape, stdout: TextIO | None) -> Profile:
        """Run it; what it prints goes to *stdout*."""
        services = self._services(code)
        if services is None:
            return self._profile(code, shape, None)
        heap = services.world.heap
        before = heap.copy() if heap is not None else None
        try:
            profile = self._profile(code, shape, services)
        except BaseException:
            if heap is not None and before is not None and not self.keep:
                heap.restore(before)
            raise
        finally:
            text = services.text()
            if text:
                print(text.decode("utf-8", "replace"), end="", file=stdout)
        profile.launched = tuple(self.launched)
        return profile

    def _services(self, code: Code) -> SystemServices | None:
        """Who serves the system calls of the code; None if it makes none."""
        if not code.program.syscalls:
            return None
        kernel = code.kernel
        if kernel is None:
            return SystemServices(World())
        heap = self.context.heap() if kernel.module.allocates and self.context is not None else None
        return SystemServices(World(heap, kernel.launched_by, self._execute, self._repeat, self._limits))

    @property
    def _limits(self) -> Limits:
        """Those of the context that the launch runs in."""
        return self.context.limits if self.context is not None else Limits()

    def _profile(self, code: Code, shape: Shape, services: Services | None) -> Profile:
        if self.options.cooperative or GRID_BARRIER in code.program.syscalls:
            self._check_cooperative(code, shape)
        launch = self._launch(code, shape, self.options.shared_bytes, services, self.options.cooperative)
        if self.watch is not None:
            launch = replace(launch, watch=self.watch)
        explain = partial(_explained, code.program)
        if self.options.executor is None:
            model = self._model(code, launch) if self.options.timing else None
            preview = None if model is None else self._preview(code, launch, model)
            result = runtime.run(code.program, launch, self.context, model, self.keep, explain=explain, preview=preview)
            timing = model.result if model is not None else None
        else:
            with nullcontext(self.context) if self.context is not None else runtime.borrowed(mappable=True) as context:
                spread = self._spread(code, self.options.executor, context)
                result = context.run(code.program, launch, None, self.keep, spread, explain)
            timing = spread.timing
        notes = [*code.notes, *self._found(code, result)]
        return Profile(code.program, result, device=self.gpu.key, timing=timing, notes=notes)

    def _preview(self, code: Code, launch: machine.Launch, model: TimedRun) -> runtime.Preview | None:
        """What is told of a launch that takes long, if somebody asks.

        Not where blocks ask the host for something, which would be done twice, nor with checks or of all SMs.
        """
        told, timed = self.options.preview, self.options.timed
        free = launch.watch is None and launch.trace is False and launch.services is None
        if told is None or not free or timed.sms == "all":
            return None

        def tell(partial: machine.RunResult) -> None:
            told(Profile(code.program, partial, device=self.gpu.key, timing=model.result, notes=code.notes))

        return runtime.Preview(timed.seconds, tell)

    def _found(self, code: Code, result: machine.RunResult) -> Iterator[str]:
        """What a profile says of the checks: those that found nothing, and what they do not judge."""
        names = names_of(self.options.check)
        found = {finding.tool for finding in result.findings}
        yield from (f"{name} found nothing" for name in names if name.partition(":")[0] not in found)
        if "racecheck" in names and not compares_lanes(code.program):
            yield NOT_JUDGED

    def _check_cooperative(self, code: Code, shape: Shape) -> None:
        """Refuse a grid whose blocks wait for each other if they do not fit on the GPU together."""
        if self.options.timing:
            raise UnsupportedError("timing of a kernel whose blocks wait for each other", help="launch without timing")
        x, y, z = shape[0]
        most = self._resident(code, shape, self.options.shared_bytes)
        if x * y * z > most:
            raise LaunchError(
                f"a grid of {x * y * z} blocks waits for all of its blocks, and {self.gpu.name} holds {most} at a time",
                help="launch fewer blocks, and give each more to do",
            )

    def _resident(self, code: Code, shape: Shape, shared_bytes: int) -> int:
        """How many blocks the GPU holds at a time."""
        threads = shape[1][0] * shape[1][1] * shape[1][2]
        shared = code.program.shared_bytes + shared_bytes
        on_sm = occupancy(self.gpu, threads, code.program.registers, shared).blocks_per_sm
        return max(1, int(on_sm * self.gpu.limit("multiprocessors")))

    def _order(self, code: Code, schedule: Schedule | None) -> str:
        """The order of a warp's splits: what is asked for, that of the schedule, or the code's own."""
        if self.options.order is not None:
            return self.options.order
        if schedule is None or any(instruction.uniform for instruction in code.program.instructions):
            return code.own_order
        return schedule.order

    def _launch(
        self, code: Code, shape: Shape, shared_bytes: int, services: Services | None, cooperative: bool = False
    ) -> machine.Launch:
        options = self.options
        names = names_of(options.check)
        schedule = None if options.schedule is None else parse_schedule(options.schedule)
        together = schedule is not None or cooperative or GRID_BARRIER in code.program.syscalls
        together = together or machine.may_wait(code.program)
        return machine.Launch(
            grid=shape[0],
            block=shape[1],
            arguments=code.arguments,
            shared_bytes=shared_bytes,
            order=self._order(code, schedule),
            schedule=schedule,
            resident=self._resident(code, shape, shared_bytes) if together else 1,
            threads=options.threads,
            trace=options.trace,
            max_instructions=options.max_instructions,
            fill=filling(options.fill),
            watch=self._watch(names) if names else None,
            whole_buffers=code.whole_buffers,
            bank_image=code.bank_image,
            services=services,
            clock_mhz=round(self.gpu.limit("clock_mhz")),
            cooperative=cooperative,
            progress=options.progress,
            engine=options.engine,
        )

    def _watch(self, names: Sequence[str]) -> Sanitizer:
        from simt.sanitizer.sanitizer import Sanitizer  # here: a launch without checks does not load the judges

        return Sanitizer(names, self.options.keep_going, self.options.schedule or "")

    def _model(self, code: Code, launch: machine.Launch) -> TimedRun:
        from simt.timing import TimedRun  # here: a launch without timing does not load the model

        return TimedRun(code.program, launch, self.gpu, code.instructions, self.options.timed)

    def _spread(self, code: Code, executor: Executor, context: runtime.Context) -> Spread:
        from simt.calls.executors.spread import Spread  # here: launches in this process do without

        timed = self.options.timed if self.options.timing else None
        return Spread(executor, self._limits, self.gpu, code.instructions, timed, context.file)

    # Grids that the device launches

    def _execute(self, request: Request, services: Services, memory: machine.DeviceMemory) -> None:
        self.launched.append(self._child(request, services, memory))

    def _repeat(self, request: Request, services: Services, memory: machine.DeviceMemory) -> None:
        code, shape = _requested(request)
        machine.run(code.program, self._launch(code, shape, request.shared_bytes, services), memory)

    def _child(self, request: Request, services: Services, memory: machine.DeviceMemory) -> Profile:
        """Run a grid that the device launched; it is counted and timed as a launch of its own."""
        code, shape = _requested(request)
        launch = self._launch(code, shape, request.shared_bytes, services)
        timing = None
        if self.options.timing:
            model = self._model(code, launch)
            result = runtime.run_twice(code.program, launch, memory, model)
            timing = model.result
        else:
            result = machine.run(code.program, launch, memory)
        # Thousands of grids may have counted the same.
        counters = self._counters.setdefault(result.counters.tobytes(), result.counters)
        result = replace(result, counters=counters)
        return Profile(code.program, result, device=self.gpu.key, timing=timing, notes=code.notes)


def _requested(request: Request) -> tuple[Code, Shape]:
    shape = request.grid, request.block
    kernel = cast("SassKernel", request.kernel)  # World.kernel_at is one's launched_by
    return raw_code(kernel, shape, request.parameters), shape


def _explained(
    program: Program, error: BudgetError, launch: machine.Launch, memory: machine.DeviceMemory
) -> BudgetError:
    """The error with who waits for whom, from a shorter second run."""
    from simt.sanitizer.waits import MAX_INSTRUCTIONS, Waits  # here: launches that end do without

    waits, most = Waits(), min(launch.max_instructions, MAX_INSTRUCTIONS)
    try:
        machine.run(program, replace(launch, watch=waits, max_instructions=most, trace=False, progress=None), memory)
    except KernelError:
        found = waits.details()
    else:
        found = []  # it ended: it is not the same run
    if not found:
        return error
    help = error.help
    if launch.resident < launch.blocks:
        help = (
            f"of {launch.blocks} blocks the GPU holds {launch.resident} at a time, and the others begin when these "
            "end: a block must not wait for one of those"
        )
    made = BudgetError(error.title, location=error.location, details=[*error.details, *found], help=help)
    made.findings = error.findings
    return made
