"""The two functions that users call: :func:`launch` any kernel, :func:`reduce` an array with the family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simt import kernels, lang, machine
from simt.check import LaunchError, UnsupportedError
from simt.profile import Profile
from simt.program import Program

SOURCE = "source"
VOLTA = 70
"""The first compute capability (times ten) with convergence barriers."""


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
) -> Profile:
    """Run a kernel on the modelled GPU and return what it counted.

    Parameters:
        kernel: a Python function in the Numba CUDA dialect, plain or decorated with ``@cuda.jit``, or a kernel of
            :func:`load_cubin`.
        grid, block: blocks in the grid and threads in a block: an int or up to three (x, y, z).
        args: the kernel's arguments.  NumPy arrays of any layout are changed in place once the whole launch has
            succeeded; after an error or ctrl-C they are as they were.  Scalars are typed as Numba types them.
            Arrays that overlap on the host overlap on the modelled GPU.
        view: ``"source"``, Python's own lines; or an architecture such as ``"sm_90"``, the machine code that Numba
            compiles the kernel to (extra ``sass``).
        threads: host threads (default: one per core); the results do not depend on it.
        trace: True records every executed instruction, ``(block, warp)`` those of one warp (-1: of all).
        order: which lanes go first where a warp diverges: ``then_first``, ``else_first``, ``interleaved`` (splits
            take turns after every instruction), ``random:SEED``, or ``hardware`` (as on an H200 under its
            profiler).  Default: ``hardware`` for machine code of Volta and later, else ``then_first``.
        predicate: if/else bodies of at most so many simple instructions are predicated instead of branching.
        shared_bytes: dynamic shared memory per block.
        max_instructions: warp instructions that one block may execute before BudgetError stops an endless kernel.
        races: look for data races between threads and raise RaceError at the first; slower, for small launches.
        progress: called with (blocks done, blocks in all), from this thread, several times a second.

    Raises :class:`simt.KernelError` (with LaunchError and others as subclasses) where the kernel or the launch is
    wrong, :class:`simt.UnsupportedError` where the simulator cannot do it.
    """
    if shared_bytes < 0:
        raise LaunchError(f"shared_bytes is {shared_bytes}; it must not be negative")
    if max_instructions < 1:
        raise LaunchError(f"max_instructions is {max_instructions}; it must be at least 1")
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    arguments = [_numpy(value) for value in lang.flat_arguments(args)]
    bank_image = None
    if _is_machine_code(kernel) or view != SOURCE:
        if predicate:
            raise LaunchError("predicate concerns the source view; in the machine view the compiler has decided")
        if races:
            raise UnsupportedError(
                "races are looked for in the source view only",
                help="ptxas leaves out warp barriers that it has proved needless, which would look like races",
            )
        program, arguments, bank_image, own_order = _machine_view(kernel, view, *shape, arguments)
    else:
        own_order = "then_first"
        program = lang.compile(kernel, lang.argument_types(args), predicate=predicate)
    result = machine.run(
        program,
        machine.Launch(
            grid=shape[0],
            block=shape[1],
            arguments=arguments,
            shared_bytes=shared_bytes,
            order=own_order if order is None else order,
            threads=threads,
            trace=trace,
            max_instructions=max_instructions,
            races=races,
            bank_image=bank_image,
            progress=progress,
        ),
    )
    return Profile(program, result)


def load_cubin(
    path: str | Path, listing: str | Path | None = None, parameters: Mapping[str, Sequence[int]] | None = None
) -> Mapping[str, Any]:
    """The kernels of a cubin or SASS listing by name (mangled, or readable where that is unambiguous).

    :func:`launch` takes them like any other kernel.  See :func:`simt.sass.load_cubin` for the parameters and errors.
    """
    kernels: Mapping[str, Any] = _sass().load_cubin(path, listing, parameters)
    return kernels


def _sass() -> Any:
    """The machine view's package, whose dependencies are an extra."""
    try:
        from simt import sass
    except ImportError as missing:
        raise UnsupportedError(
            f"the machine view needs the package {(missing.name or '').partition('.')[0]}",
            help="pip install 'simt[sass]'",
        ) from None
    return sass


def _is_machine_code(kernel: Any) -> bool:
    return type(kernel).__module__.startswith("simt.sass.")


def _machine_view(
    kernel: Any, view: str, grid: tuple[int, int, int], block: tuple[int, int, int], args: list[Any]
) -> tuple[Program, list[Any], Callable[[Sequence[int | None]], Mapping[int, bytes]], str]:
    """Program, arguments, constant banks and order of splits of a launch of machine code."""
    sass = _sass()
    if _is_machine_code(kernel):
        if view not in (SOURCE, f"sm_{kernel.architecture}"):
            raise LaunchError(f"the kernel is machine code for sm_{kernel.architecture}, not {view}")
    else:
        kernel = sass.compile_numba(kernel, lang.argument_types(args), view)
        args = sass.flatten(args)
    sass.check_arguments(kernel, block, args)

    def bank_image(addresses: Sequence[int | None]) -> Mapping[int, bytes]:
        image: Mapping[int, bytes] = sass.bank_image(kernel, grid, block, args, addresses)
        return image

    order = "hardware" if kernel.architecture >= VOLTA else "then_first"
    return kernel.program, [*args, *kernel.extra_arguments], bank_image, order


def _numpy(value: Any) -> Any:
    """A scalar as the NumPy scalar of the type that Numba gives it; arrays stay."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return np.int64(value) if value < 2**63 else np.uint64(value)
    return np.asarray(value)[()]


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
    entry = kernels.get(kernel)
    if not isinstance(entry, kernels.ReductionKernel):
        raise LaunchError(f"kernel {kernel!r} is no reduction", help="`simt kernels` lists those that are")
    plan = entry.plan_for(array, block, op)
    profile = launch(plan.kernel, plan.grid, plan.block, *plan.args, view=view, **options)
    return plan.finish(), profile
