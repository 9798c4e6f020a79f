"""The two functions that users call: :func:`launch` any kernel, :func:`reduce` an array with the family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from simt import devices, kernels, lang, machine, runtime
from simt.check import LaunchError, UnsupportedError
from simt.devices import Device, DeviceError
from simt.dispatcher import check_launch_bounds, python_function
from simt.machine.images import Image
from simt.machine.launch import BankImage, parse_order
from simt.machine.layout import HARDWARE, INTERLEAVED, PROFILER, RANDOM
from simt.options import Timing, is_pair
from simt.profile import Profile
from simt.program import Program

if TYPE_CHECKING:
    from simt.sass import Kernels
    from simt.timing import MachineInstruction

SOURCE = "source"


def launch(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    view: str = SOURCE,
    threads: int | None = None,
    trace: bool | tuple[int, int] = False,
    order: str | None = None,
    predicate: int = 0,
    shared_bytes: int = 0,
    max_instructions: int = 2**28,
    races: bool = False,
    progress: Callable[[int, int], None] | None = None,
    device: str | None = None,
    timing: bool = False,
    sms: str | int = "one",
    max_host_seconds: float = 600.0,
    overrides: Mapping[str, float] | None = None,
    window: tuple[int, int] | None = None,
) -> Profile:
    """Run a kernel on the modelled GPU and return what it counted, and with ``timing`` how long it takes there.

    Parameters:
        kernel: a Python function in the Numba CUDA dialect, plain or decorated with ``@cuda.jit``, or a kernel of
            :func:`load_cubin`.
        grid, block: blocks in the grid and threads in a block: an int or up to three (x, y, z).
        args: the kernel's arguments; machine code also takes :func:`simt.texture` and :func:`simt.surface`.  NumPy
            arrays of any layout are changed in place once the whole launch has succeeded;
            after an error or ctrl-C they are as they were.  Scalars are typed as Numba types them.
            Arrays that overlap on the host overlap on the modelled GPU.  Machine code also takes structures by value:
            a tuple or dictionary has C's layout of its members (arrays are pointers), ``(x, np.int32(n), y)`` for
            ``struct { float *x; int n; float *y; }``; a NumPy record its own, with arrays in fields of dtype object.
        view: ``"source"``, Python's own lines; or an architecture such as ``"sm_90"``, the machine code that Numba
            compiles the kernel to (extra ``sass``).
        threads: host threads (default: one per core); the results do not depend on it.
        trace: True records every executed instruction, ``(block, warp)`` those of one warp (-1: of all).
        order: which lanes go first where a warp diverges: ``then_first``, ``else_first``, ``interleaved`` (splits
            take turns after every instruction), ``random:SEED``; for machine code of Volta and later also
            ``profiler``, the default (each line counts what Nsight Compute's source page prints), and ``hardware``
            (the sum is what the hardware's own counters print: the source page's are instrumented, which changes
            the order, and the sum by about 1 % where lanes diverge much); else it is ``then_first``.  Code with
            uniform registers (sm_75 and later) takes no turns.
        predicate: if/else bodies of at most so many simple instructions are predicated instead of branching.
        shared_bytes: dynamic shared memory per block.
        max_instructions: warp instructions that one block may execute before BudgetError stops an endless kernel.
        races: look for data races between threads and raise RaceError at the first; slower, for small launches.
        progress: called with (blocks done, blocks in all), from this thread, several times a second; with timing
            a second time from the start, for the simulated blocks.
        device: the modelled GPU, a name of ``simt devices``: its occupancy, and its timing.  Default: one that runs
            the machine code, else ``"h200"``.  Counts and results do not depend on it.
        timing: simulate cycle by cycle, too (:mod:`simt.timing`): ``Profile.timing``, its metrics, and how long each
            line waits for what.  Counts and results are those of a launch without.
        sms: ``"one"``: time one SM with its share of the grid and of the chip's bandwidth, as if all did the same;
            ``"all"``: every SM (small grids); or a number of SMs.
        max_host_seconds: how long ``sms="all"`` may take on this computer.  It is estimated first, and a LaunchError
            says so if it is longer.
        overrides: timing numbers to replace, by the names of ``simt devices h200``: ``{"l1_latency": 60}``.
        window: first and one past the last cycle to record, for :meth:`Profile.timeline` and
            :func:`simt.timing.write_trace`.

    Raises :class:`simt.KernelError` (with LaunchError and others as subclasses) where the kernel or the launch is
    wrong, :class:`simt.UnsupportedError` where the simulator cannot do it, :class:`simt.devices.DeviceError` for a
    device or a timing number that does not exist or cannot be.
    """
    timed = Timing(sms, max_host_seconds, overrides, window)
    if not timing and not timed.is_default:
        raise LaunchError("sms, overrides and window concern the timing model", help="pass timing=True, too")
    timed.check()
    _check_options(trace, shared_bytes, max_instructions)
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    check_launch_bounds(kernel, shape[1])
    code = _compiled(kernel, view, *shape, args, predicate, races)
    _check_order(order, code.program)
    gpu = _device(device, code.program.view, timing)
    what = machine.Launch(
        grid=shape[0],
        block=shape[1],
        arguments=code.arguments,
        shared_bytes=shared_bytes,
        order=code.own_order if order is None else order,
        threads=threads,
        trace=trace,
        max_instructions=max_instructions,
        races=races,
        whole_buffers=code.whole_buffers,
        bank_image=code.bank_image,
        progress=progress,
    )
    if not timing:
        return Profile(code.program, runtime.run(code.program, what, code.context), device=gpu.key, notes=code.notes)

    from simt.timing import TimedRun  # here: a launch without timing does not load the model

    model = TimedRun(code.program, what, gpu, code.instructions, timed)
    result = runtime.run(code.program, what, code.context, model)
    return Profile(code.program, result, device=gpu.key, timing=model.result, notes=code.notes)


def _check_options(trace: bool | tuple[int, int], shared_bytes: int, max_instructions: int) -> None:
    """Raises LaunchError for options of :func:`launch` that cannot be, whatever the kernel."""
    if not isinstance(trace, bool) and not is_pair(trace):
        raise LaunchError(
            f"trace is {trace!r}; it must be True, False, or the block and the warp to trace", help="trace=(0, 0)"
        )
    if shared_bytes < 0:
        raise LaunchError(f"shared_bytes is {shared_bytes}; it must not be negative")
    if max_instructions < 1:
        raise LaunchError(f"max_instructions is {max_instructions}; it must be at least 1")


def _check_order(order: str | None, program: Program) -> None:
    """Raises LaunchError for an order of splits in which the code could go wrong though it is right."""
    if order is None:
        return
    policy, _ = parse_order(order)
    if HARDWARE <= policy <= PROFILER and program.view == SOURCE:
        raise LaunchError(
            f"the order {order!r} applies to machine code only: it follows a GPU's barrier registers",
            help="choose then_first, else_first, interleaved or random:SEED, or view='sm_90'",
        )
    if policy in (INTERLEAVED, RANDOM) and any(instruction.uniform for instruction in program.instructions):
        raise LaunchError(
            f"in the order {order!r} the lanes of a warp would overwrite each other's uniform registers",
            help="choose profiler, hardware, then_first or else_first; a compiler relies on one of them running on",
        )


@dataclass(frozen=True)
class _Code:
    """What a view makes of a kernel and its arguments."""

    program: Program
    arguments: list[Any]
    own_order: str = "then_first"
    instructions: Sequence[MachineInstruction] | None = None
    """SASS with its control bits, for the timing model; None in the source view."""
    bank_image: BankImage | None = None
    context: runtime.Context | None = None
    """Where the module's variables are."""
    notes: Sequence[str] = ()
    whole_buffers: bool = True
    """False: Numba copies each argument to the GPU for itself, also if it is a view of a larger array."""


def _compiled(
    kernel: Any,
    view: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: Sequence[Any],
    predicate: int,
    races: bool,
) -> _Code:
    """The kernel in the view that was asked for."""
    if not isinstance(kernel, MachineKernel):
        _check_no_images(args)
    if view == SOURCE and not isinstance(kernel, MachineKernel):
        args, argtypes = lang.typed_arguments(kernel, args)
        program = lang.compile(kernel, argtypes, predicate=predicate)
        return _Code(program, [_numpy(value) for value in lang.flat_arguments(args)])
    if predicate:
        raise LaunchError("predicate concerns the source view; in the machine view the compiler has decided")
    if races:
        raise UnsupportedError(
            "races are looked for in the source view only",
            help="ptxas leaves out warp barriers that it has proved needless, which would look like races",
        )
    return _machine_code(kernel, view, grid, block, args)


def _check_no_images(args: Sequence[Any]) -> None:
    """Raises LaunchError for textures and surfaces as arguments of a Python kernel."""
    for position, value in enumerate(args):
        if isinstance(value, Image):
            raise LaunchError(
                f"argument {position + 1} is a {value.word}, which kernels in Python do not take: Numba has none",
                help="textures and surfaces are for the kernels of simt.load_cubin; pass the array itself",
            )


def _device(key: str | None, view: str, timing: bool) -> Device:
    """The modelled GPU.  DeviceError if it is unknown or cannot run the code."""
    device = devices.get(key) if key else devices.default_for(view)
    if not device.runs(view) and (key or timing):
        able = [name for name in devices.names() if devices.get(name).runs(view)]
        raise DeviceError(
            f"{device.name} ({device.architecture}) does not run {view} code",
            help=f"choose {', '.join(able)}" if able else "there is no device file for it; the source view runs on any",
        )
    return device


def load_cubin(
    path: str | Path,
    listing: str | Path | None = None,
    parameters: Mapping[str, Sequence[int]] | None = None,
    architecture: str | None = None,
) -> Kernels:
    """The kernels of a cubin, SASS listing or fat binary by name (mangled, or readable where that is unambiguous).

    :func:`launch` takes them like any other kernel.  See :func:`simt.sass.load_cubin` for the parameters and errors.
    """
    from simt import sass

    return sass.load_cubin(path, listing, parameters, architecture)


@runtime_checkable
class MachineKernel(Protocol):
    """A kernel that is machine code already; Python functions and dispatchers have no view of their own."""

    @property
    def view(self) -> str:
        """Its architecture: ``"sm_90"``."""

    def notes(self) -> list[str]:
        """What a profile of the kernel, launched now, should say of it."""


def _machine_code(
    kernel: Any, view: str, grid: tuple[int, int, int], block: tuple[int, int, int], args: Sequence[Any]
) -> _Code:
    """The SASS of a kernel, with arguments and constant banks as the hardware has them."""
    from simt import sass

    from_numba = not isinstance(kernel, sass.SassKernel)
    if not from_numba:
        if view not in (SOURCE, kernel.view):
            raise LaunchError(f"the kernel is machine code for {kernel.view}, not {view}")
    else:
        args, argtypes = lang.typed_arguments(kernel, args, machine_code=True)
        lang.parameter_names(python_function(kernel), argtypes)
        kernel = sass.compile_numba(kernel, argtypes, view)
        args = sass.flatten([_numpy(value) for value in lang.flat_arguments(args)])
    sass.check_arguments(kernel, block, args)

    def bank_image(addresses: Sequence[int | None]) -> Mapping[int, machine.Bank]:
        return sass.bank_image(kernel, grid, block, args, addresses)

    return _Code(
        program=kernel.program,
        arguments=[*args, *sass.inner_arrays(args)],
        own_order=kernel.order,
        instructions=kernel.code.instructions,
        bank_image=bank_image,
        context=kernel.module.memory.context,
        notes=kernel.notes(),
        whole_buffers=not from_numba,
    )


def _numpy(value: Any) -> Any:
    """A Python number as the NumPy scalar of the type that Numba gives it; NumPy's scalars and arrays stay."""
    if isinstance(value, np.void):
        return np.asarray(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return np.int64(value) if value < 2**63 else np.uint64(value)
    return value if isinstance(value, np.ndarray) else np.asarray(value)[()]


def reduce(
    data: Any, kernel: str = "neighbored", block: int = 512, view: str = SOURCE, op: str = "sum", **options: Any
) -> tuple[np.generic, Profile]:
    """Reduce an array with one kernel of the family; the block results are combined on the host.

    Parameters:
        data: 1-d array of int32, int64, float32 or float64, at least one element; it is not changed.
        kernel: a name of ``simt kernels``.
        block: threads per block, 1 to 1024.
        op: ``sum``, ``max``, ``min`` or ``product``.
        options: passed on to :func:`launch`.

    Returns the result as a scalar of the array's dtype (integers wrap around as on the GPU) and the profile.
    """
    array = np.asarray(data)
    if array.ndim != 1:
        raise LaunchError(f"the data has {array.ndim} dimensions; a reduction takes one", help="pass data.ravel()")
    if array.size == 0:
        raise LaunchError("the array is empty: there is nothing to reduce")
    machine.dimensions(block, "block")
    plan = kernels.get_reduction(kernel).plan_for(array, block, op)
    profile = launch(plan.kernel, plan.grid, plan.block, *plan.args, view=view, **options)
    return plan.finish(), profile
