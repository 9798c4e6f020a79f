"""Run a kernel on a GPU: results in place, time from CUDA events."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu import driver
from gpu.errors import UnstableResultError
from gpu.hardware import Device, device, use
from simt import machine
from simt.check import LaunchError, SimtError

REPEATS = 5
"""Timed runs, after one that warms up."""

Dim = int | tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """One launch on a GPU.

    ``times`` are milliseconds by CUDA events, one per timed run, each on the original arguments; copies and the
    host's time to launch are not in them.  They are empty with ``repeats=0``.  ``registers`` per thread,
    ``shared_bytes`` static and dynamic per block, ``local_bytes`` per thread.  ``unstable`` names arguments whose
    contents differed between two runs.  ``parts`` are the runs of the single devices where several worked on one
    problem.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    device: Device
    times: tuple[float, ...]
    registers: int
    shared_bytes: int
    local_bytes: int
    unstable: tuple[str, ...] = ()
    parts: tuple[Run, ...] = field(default=())

    @property
    def milliseconds(self) -> float | None:
        """Median of :attr:`times`; None if nothing was timed."""
        return median(self.times) if self.times else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kernel": self.kernel,
            "grid": list(self.grid),
            "block": list(self.block),
            "device": self.device.to_dict(),
            "milliseconds": self.milliseconds,
            "times": list(self.times),
            "registers": self.registers,
            "shared_bytes": self.shared_bytes,
            "local_bytes": self.local_bytes,
            "unstable": list(self.unstable),
            "parts": [part.to_dict() for part in self.parts],
        }


def launch(
    kernel: Any,
    grid: Dim,
    block: Dim,
    *args: Any,
    device_index: int = 0,
    repeats: int = REPEATS,
    shared_bytes: int = 0,
    allow_unstable: bool = False,
) -> Run:
    """Run *kernel* on a GPU and change the arrays in *args* in place, as :func:`simt.launch` does.

    Parameters:
        kernel: a Python function in the Numba CUDA dialect, or a ``@cuda.jit`` dispatcher.
        grid, block: as for ``simt.launch``.
        args: NumPy arrays of any layout, arrays that are on the device already (anything with
            ``__cuda_array_interface__``, changed where they are), scalars.
        device_index: which GPU.
        repeats: timed runs after the first one; every run starts from the original arguments.
        shared_bytes: dynamic shared memory per block.
        allow_unstable: return a Run that says so, where two runs differ, instead of raising.

    Raises NoGpuError, LaunchError (arguments or limits), CompilationError, DeviceMemoryError,
    DeviceFaultError (the context is lost), UnstableResultError.  After an error host arrays are as they were.
    """
    driver.need()
    driver.ensure_alive()
    chosen = device(device_index)
    shape = _shape(grid, block, shared_bytes, chosen)
    if repeats < 0:
        raise LaunchError(f"repeats is {repeats}; it must not be negative")
    name = kernel_name(kernel)
    try:
        with use(device_index):
            return _launch(kernel, name, shape, args, chosen, repeats, shared_bytes, allow_unstable)
    except SimtError:
        raise
    except Exception as error:
        known = driver.translate(error, name)
        if known is None:
            raise
        raise known from error


def kernel_name(kernel: Any) -> str:
    """The name of a kernel function or dispatcher."""
    return str(getattr(getattr(kernel, "py_func", kernel), "__name__", kernel))


_compiled: dict[Any, Any] = {}
"""Dispatchers stay: a library that ran on two devices must not be unloaded (see gpu.hardware)."""


def dispatcher(kernel: Any) -> Any:
    """*kernel* as a dispatcher; the same one for the same function, so that it compiles once."""
    if hasattr(kernel, "py_func"):
        return kernel
    if kernel not in _compiled:
        _compiled[kernel] = driver.cuda().jit(kernel)
    return _compiled[kernel]


Shape = tuple[tuple[int, int, int], tuple[int, int, int]]


def _shape(grid: Dim, block: Dim, shared_bytes: int, chosen: Device) -> Shape:
    blocks, threads = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
    for what, sizes, limits in (("grid", blocks, chosen.grid_limits), ("block", threads, chosen.block_limits)):
        for size, limit, axis in zip(sizes, limits, "xyz", strict=True):
            if size > limit:
                raise LaunchError(f"{what} dimension {axis} is {size}; {chosen.name} allows {limit}")
    if int(np.prod(threads)) > chosen.threads_per_block:
        raise LaunchError(f"a block of {np.prod(threads)} threads; {chosen.name} allows {chosen.threads_per_block}")
    if not 0 <= shared_bytes <= chosen.shared_bytes:
        raise LaunchError(
            f"{shared_bytes} bytes of dynamic shared memory; {chosen.name} allows 0 to {chosen.shared_bytes}"
        )
    return blocks, threads


class Argument:
    """A kernel argument on the device: the pristine copy, the one that the kernel works on, the way back."""

    def __init__(self, position: int, value: Any) -> None:
        self.name = f"argument {position + 1}"
        self.host = value if isinstance(value, np.ndarray) else None
        self.there = value if self.host is None and hasattr(value, "__cuda_array_interface__") else None
        self.value: Any = value
        if self.host is not None:
            contiguous = self.host.flags.c_contiguous or self.host.flags.f_contiguous
            self.pristine = driver.cuda().to_device(_checked(self.name, self.host, contiguous))
        elif self.there is not None:
            self.there = driver.cuda().as_cuda_array(self.there)
            self.pristine = driver.cuda().device_array_like(self.there)
            self.pristine.copy_to_device(self.there)
        if self.is_array:
            self.value = driver.cuda().device_array_like(self.pristine)

    @property
    def is_array(self) -> bool:
        """Whether it is an array (else a scalar)."""
        return self.host is not None or self.there is not None

    def reset(self) -> None:
        """Give the kernel the original contents again."""
        if self.is_array:
            self.value.copy_to_device(self.pristine)

    def contents(self) -> npt.NDArray[Any] | None:
        """What the kernel left; None for a scalar."""
        return self.value.copy_to_host() if self.is_array else None

    def finish(self, contents: npt.NDArray[Any] | None) -> None:
        """Hand the results to the caller's array."""
        if self.host is not None:
            if self.host.flags.writeable:
                self.host[...] = contents
            elif not _same(self.host, contents):
                raise LaunchError(f"{self.name} is read-only, and the kernel changed it")
        elif self.there is not None:
            self.there.copy_to_device(self.value)


def _checked(name: str, array: npt.NDArray[Any], contiguous: bool) -> npt.NDArray[Any]:
    if array.dtype.hasobject or array.dtype.fields is not None:
        raise LaunchError(f"{name} is an array of {array.dtype}", help="use a numeric dtype")
    if not array.dtype.isnative:
        raise LaunchError(f"{name} is an array of {array.dtype}", help="convert it to native byte order")
    return array if contiguous else np.ascontiguousarray(array)


def _same(a: npt.NDArray[Any] | None, b: npt.NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def _launch(
    kernel: Any,
    name: str,
    shape: Shape,
    args: tuple[Any, ...],
    chosen: Device,
    repeats: int,
    shared_bytes: int,
    allow_unstable: bool,
) -> Run:
    module = driver.cuda()
    function = dispatcher(kernel)
    arguments = [Argument(position, value) for position, value in enumerate(args)]
    values = [argument.value for argument in arguments]
    stream = module.stream()
    configured = function[shape[0], shape[1], stream, shared_bytes]
    start, stop = module.event(), module.event()
    times: list[float] = []
    first: list[npt.NDArray[Any] | None] = []
    wait = _wait_kernel()
    for run in range(repeats + 1):
        for argument in arguments:
            argument.reset()
        module.synchronize()
        if run > 0 and wait is not None:
            wait[1, 1, stream]()
        start.record(stream)
        configured(*values)
        stop.record(stream)
        stop.synchronize()
        module.synchronize()
        if run == 0:
            first = [argument.contents() for argument in arguments]
        else:
            times.append(float(module.event_elapsed_time(start, stop)))
    last = [argument.contents() for argument in arguments] if repeats else first
    unstable = tuple(argument.name for argument, a, b in zip(arguments, first, last, strict=True) if not _same(a, b))
    if unstable and not allow_unstable:
        raise UnstableResultError(
            f"{name}: {', '.join(unstable)}",
            details=("integers: a data race; floats: a race, or atomics that add in another order each time",),
            help="simt.launch(..., check='racecheck') finds data races; "
            "allow_unstable=True takes the last run's result",
        )
    for argument, contents in zip(arguments, last, strict=True):
        argument.finish(contents)
    compiled = _overload(function, values)
    return Run(
        kernel=name,
        grid=shape[0],
        block=shape[1],
        device=chosen,
        times=tuple(times),
        registers=int(compiled.regs_per_thread),
        shared_bytes=int(compiled.shared_mem_per_block) + shared_bytes,
        local_bytes=int(compiled.local_mem_per_thread),
        unstable=unstable,
    )


WAIT_NANOSECONDS = 500_000


@cache
def _wait_kernel() -> Any:
    """A kernel that only waits; None before compute capability 7.0, which has no nanosleep.

    Enqueued before the timed launch, it gives the host time to enqueue that launch too, so that the events around
    it enclose the GPU's time alone and not the tens of microseconds that Python takes to launch.
    """
    module = driver.cuda()
    if module.get_current_device().compute_capability[0] < 7:
        return None

    def wait() -> None:
        module.nanosleep(WAIT_NANOSECONDS)

    return module.jit(wait)


def _overload(function: Any, values: list[Any]) -> Any:
    """The compiled form for these arguments."""
    signature = tuple(function.typeof_pyval(value) for value in values)
    return function.overloads.get(signature) or next(reversed(function.overloads.values()))
