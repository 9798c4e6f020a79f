"""The functions that users call: :func:`launch` any kernel, :func:`reduce` an array with the family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simt import machine
from simt.calls.arrays import in_memory
from simt.calls.code import MachineKernel, check_order, code_of
from simt.calls.options import SOURCE, DeviceOptions, Options
from simt.calls.running import gpu_for, run
from simt.check import LaunchError
from simt.check.short import ends_here
from simt.dispatcher import check_launch_bounds
from simt.machine import DEFAULT_ENGINE
from simt.profile import Profile
from simt.runtime.transfers import scratch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from simt.sass import CudaKernels, Kernels

__all__ = ["SOURCE", "MachineKernel", "launch", "load_cubin", "reduce"]


@ends_here
def launch(
    kernel: object,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: object,
    view: str = SOURCE,
    threads: int | None = None,
    trace: bool | tuple[int, int] = False,
    order: str | None = None,
    schedule: str | None = None,
    predicate: int = 0,
    shared_bytes: int = 0,
    cooperative: bool = False,
    max_instructions: int = 2**28,
    check: str | Sequence[str] = (),
    keep_going: bool = False,
    fill: int | str = 0,
    preview: Callable[[Profile], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    device: str | Path | None = None,
    timing: bool = False,
    sms: str | int = "auto",
    max_host_seconds: float | None = None,
    overrides: Mapping[str, float] | None = None,
    window: tuple[int, int] | None = None,
    engine: str = DEFAULT_ENGINE,
    executor: Executor | None = None,
) -> Profile:
    """Run a kernel on the modelled GPU and return what it counted, and with ``timing`` how long it takes there.

    Parameters:
        kernel: a Python function in the Numba CUDA dialect, plain or decorated with ``@cuda.jit``, or a kernel of
            :func:`load_cubin`.
        grid, block: blocks in the grid and threads in a block: an int or up to three (x, y, z).
        args: the kernel's arguments; machine code also takes :func:`simt.texture` and :func:`simt.surface`.  NumPy
            arrays of any layout are changed in place once the whole launch has succeeded;
            after an error or ctrl-C they are as they were.  Scalars are typed as Numba types them; machine code
            takes an int as an integer, also where the parameter is a float, which a cubin does not say: give 2.0.
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
        schedule: which warp of which block runs when; as many blocks as the GPU holds then run together.
            ``round_robin``: an instruction each; ``adversarial``: the last block and warp first, each until it waits;
            ``random:SEED``; ``random:SEED:N``, which lets another warp run at most N times where one could go on.  The
            same text gives the same run.  Default: block after block, warp after warp.
        predicate: if/else bodies of at most so many simple instructions are predicated instead of branching.
        shared_bytes: dynamic shared memory per block.
        cooperative: a cooperative launch: all blocks run together, so that ``grid.sync()`` of CUDA C works (machine
            code of sm_70 to sm_90; without timing and checks).
        max_instructions: warp instructions that one block may execute before BudgetError stops an endless kernel.
        check: what else to look for (slower), names or text with names separated by commas: ``"racecheck"``, data
            races between threads (RaceError); ``"initcheck"``, reads of memory that has not been written
            (UninitializedError); ``"synccheck"``, barriers, masks and shuffles that not all threads reach
            (BarrierError); ``"all"``.  ``"memcheck"``, bounds and alignment, is always on.  In machine code before
            sm_70, where lanes of a warp run in step, racecheck compares them only as ``"racecheck:lanes"``.
        fill: what shared and local memory, and arrays of :func:`simt.uninitialized`, hold before they are written: a
            byte (``0xCD``), or ``"random:SEED"``.
        keep_going: collect what the checks find in ``profile.findings``; else the first finding raises.
        preview: called with a profile of a timed launch whose blocks would take longer than max_host_seconds: by some
            blocks from all over the grid, from which the counts of all are estimated (``profile.result.executed``).
            The launch goes on then.  Not where blocks wait for others, and not with checks.
        progress: called with (blocks done, blocks in all), from this thread, several times a second; with timing
            a second time from the start, for the simulated blocks.
        device: the modelled GPU, a name of ``simt devices`` or a file (``"my.toml"``): its occupancy, and its timing.
            Default: one that runs the machine code, else ``"h200"``.  Counts and results do not depend on it.
        timing: simulate cycle by cycle, too (:mod:`simt.timing`): ``Profile.timing``, its metrics, and how long each
            line waits for what.  Counts and results are those of a launch without.
        sms: which SMs are timed.  ``"one"``: one with its share of the grid and of the chip's bandwidth, as if all did
            the same; ``"all"``: every SM; a number of SMs; ``"auto"``: one if what the blocks execute is alike, else as
            few as do together what all do, and all if no fewer.  ``Profile.timing.sample`` says what was chosen.
        max_host_seconds: how long that may take on this computer, roughly.  ``"auto"`` then takes fewer SMs (default:
            60 s); for ``"all"`` it is estimated first, and a LaunchError says so if it is longer (600 s).
        overrides: timing numbers to replace, by the names of ``simt devices h200``: ``{"l1_latency": 60}``.
        window: first and one past the last cycle to record, for :meth:`Profile.timeline` and
            :func:`simt.timing.write_trace`.
        engine: ``"auto"``: a launch that has turned out long goes on as native code of the kernel, which another
            process compiles meanwhile (kept on disk); ``"compiled"``: so from the start, and the launch waits for it
            (some tenths of a second, for the very first kernels seconds); ``"interpreter"``: never.  Counts and
            results are the same.  Traced and checked launches, and the orders ``interleaved`` and ``random``, are
            always interpreted.
        executor: any :class:`concurrent.futures.Executor`, such as a pool of processes, ``get_executor()`` of a Dask
            client, or one of ``mpi4py.futures``: its workers run the blocks, or the launch as a whole if it is timed.
            Memory, counts, findings and output are those of this process.  A launch whose blocks communicate (one
            writes what another one reads or writes) is refused; see docs/executors.md.

    Raises :class:`simt.KernelError` (with LaunchError and others as subclasses) where the kernel or the launch is
    wrong, :class:`simt.UnsupportedError` where the simulator cannot do it, :class:`simt.devices.DeviceError` for a
    device or a timing number that does not exist or is invalid.
    """
    options = Options(
        view=view,
        threads=threads,
        trace=trace,
        order=order,
        schedule=schedule,
        predicate=predicate,
        shared_bytes=shared_bytes,
        cooperative=cooperative,
        max_instructions=max_instructions,
        check=check,
        keep_going=keep_going,
        fill=fill,
        preview=preview,
        progress=progress,
        timing=timing,
        sms=sms,
        max_host_seconds=max_host_seconds,
        overrides=overrides,
        window=window,
        engine=engine,
        executor=executor,
    )
    options.validate()
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    check_launch_bounds(kernel, shape[1])
    given = [in_memory(value, None) for value in args]
    code = code_of(kernel, view, shape, given, predicate)
    check_order(order, code.program)
    return run(code, shape, options, gpu_for(device, code.program.view, timing))


@ends_here
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


@ends_here
def load_cuda(source: str | Path, architecture: str = "sm_90", options: Sequence[str] = ()) -> CudaKernels:
    """The kernels of a ``.cu`` file, or of a text of CUDA C, by name; ``kernels["reduce<512>"]`` is one of a template.

    NVRTC compiles them (extra ``sass``); :func:`launch` takes them like any other kernel.  See
    :func:`simt.sass.load_cuda` for the parameters and errors.
    """
    from simt import sass

    return sass.load_cuda(source, architecture, options)


@ends_here
def reduce(
    data: npt.ArrayLike,
    kernel: str = "neighbored",
    block: int = 512,
    view: str = SOURCE,
    op: str = "sum",
    **options: Unpack[DeviceOptions],
) -> tuple[np.generic, Profile]:
    """Reduce an array with one kernel of the family; the block results are combined on the host.

    Parameters:
        data: 1-d array of int32, int64, float32 or float64, at least one element; it is not changed.  Of an array that
            is a mapped file (``np.memmap``) only a piece at a time takes memory beside device memory.
        kernel: a name of ``simt kernels``.
        block: threads per block, 1 to 1024.
        op: ``sum``, ``max``, ``min`` or ``product``.
        options: passed on to :func:`launch`.

    Returns the result as a scalar of the array's dtype (integers wrap around as on the GPU) and the profile.

    Raises LaunchError for data, a kernel, a block or an operation that a reduction does not take, and what
    :func:`launch` raises.
    """
    from simt import kernels  # with them comes numba.cuda, for which a launch need not wait

    array = np.asarray(data)
    if array.ndim != 1:
        raise LaunchError(f"the data has {array.ndim} dimensions; a reduction takes one", help="pass data.ravel()")
    if array.size == 0:
        raise LaunchError("the array is empty: there is nothing to reduce")
    machine.dimensions(block, "block")
    plan = kernels.get_reduction(kernel).plan_of(scratch(np.ascontiguousarray(array)), block, op)
    profile = launch(plan.kernel, plan.grid, plan.block, *plan.args, view=view, **options)
    return plan.finish(), profile
