"""The two functions that users call: :func:`launch` any kernel, :func:`reduce` an array with the family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simt import kernels, lang, machine
from simt.check import LaunchError, UnsupportedError
from simt.profile import Profile

SOURCE = "source"


def launch(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    view: str = SOURCE,
    threads: int | None = None,
    trace: bool | tuple[int, int] = False,
    order: str = "then_first",
    predicate: int = 0,
    shared_bytes: int = 0,
    max_instructions: int = 2**28,
    races: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Profile:
    """Run a kernel on the modelled GPU and return what it counted.

    Parameters:
        kernel: a Python function in the Numba CUDA dialect, plain or decorated with ``@cuda.jit``.
        grid, block: blocks in the grid and threads in a block: an int or up to three (x, y, z).
        args: the kernel's arguments.  NumPy arrays of any layout are changed in place once the whole launch has
            succeeded; after an error or ctrl-C they are as they were.  Scalars are typed as Numba types them.
            Arrays that overlap on the host overlap on the modelled GPU.
        view: ``"source"``, Python's own lines.
        threads: host threads (default: one per core); the results do not depend on it.
        trace: True records every executed instruction, ``(block, warp)`` those of one warp (-1: of all).
        order: which lanes go first where a warp diverges: ``then_first``, ``else_first``, ``interleaved`` (splits
            take turns after every instruction), ``random:SEED``.
        predicate: if/else bodies of at most so many simple instructions are predicated instead of branching.
        shared_bytes: dynamic shared memory per block.
        max_instructions: warp instructions that one block may execute before BudgetError stops an endless kernel.
        races: look for data races between threads and raise RaceError at the first; slower, for small launches.
        progress: called with (blocks done, blocks in all), from this thread, several times a second.

    Raises :class:`simt.KernelError` (with LaunchError and others as subclasses) where the kernel or the launch is
    wrong, :class:`simt.UnsupportedError` where the simulator cannot do it.
    """
    if view != SOURCE:
        raise UnsupportedError(f"there is no view {view!r}", help="the views are: source")
    if shared_bytes < 0:
        raise LaunchError(f"shared_bytes is {shared_bytes}; it must not be negative")
    if max_instructions < 1:
        raise LaunchError(f"max_instructions is {max_instructions}; it must be at least 1")
    shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    types = lang.argument_types(args)
    program = lang.compile(kernel, types, predicate=predicate)
    result = machine.run(
        program,
        machine.Launch(
            grid=shape[0],
            block=shape[1],
            arguments=[_numpy(value) for value in args],
            shared_bytes=shared_bytes,
            order=order,
            threads=threads,
            trace=trace,
            max_instructions=max_instructions,
            races=races,
            progress=progress,
        ),
    )
    return Profile(program, result)


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
