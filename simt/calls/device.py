"""A modelled GPU that lives between launches: :class:`Device`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np
import numpy.typing as npt

from simt import devices, machine
from simt.calls.arrays import DeviceArray, in_memory
from simt.calls.code import Code, Shape, check_order, code_of, raw_code
from simt.calls.options import LaunchOptions, Options
from simt.calls.running import gpu_for, run
from simt.check import KernelError, LaunchError, ListingError
from simt.check.short import ends_here
from simt.devices.device import DEFAULT
from simt.dispatcher import check_launch_bounds
from simt.machine import Allocation
from simt.machine.images import DeviceImage
from simt.profile import Profile
from simt.profile.activity import Activities, Copied, Launched
from simt.runtime import Context

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from simt.sass import Kernels, SassKernel

DEFAULT_STREAM = 7
"""What NVIDIA's tools call the default stream."""


class LostDeviceError(LaunchError):
    """A kernel went wrong before: as on hardware, nothing runs on the device any more.

    ``cause`` is the kernel's error.
    """

    kind = "the device is lost"

    def __init__(self, cause: KernelError) -> None:
        super().__init__(
            "an earlier kernel went wrong, and every launch after it fails",
            details=[cause.title],
            help="make a new simt.Device; what the memory of this one holds can still be read",
        )
        self.cause = cause


class Device:
    """A modelled GPU: memory with stable addresses, modules, and launches one after the other.

    >>> gpu = Device("h200")
    >>> x = gpu.array(np.arange(4, dtype=np.float32))
    >>> profile = gpu.launch(kernel, 1, 4, x)
    >>> x.numpy()

    What a kernel writes stays for the next one.  After a kernel's error memory is as the kernel left it, and the
    device is lost (:class:`LostDeviceError`), as on hardware; :func:`simt.launch` instead takes everything back.

    Parameters:
        name: a name of ``simt devices``, or a file (``"my.toml"``).
        stdout: where what kernels print goes (default: ``sys.stdout``).
        memory: an existing device memory that nothing else uses.
        defaults: options of :func:`simt.launch` for every launch that does not say otherwise, such as ``check="all"``.
            With ``timing=True`` activities start at modelled times.
    """

    def __init__(
        self,
        name: str | Path = DEFAULT,
        *,
        stdout: TextIO | None = None,
        memory: Context | None = None,
        **defaults: Unpack[LaunchOptions],
    ) -> None:
        wanted = Options.of(**defaults)
        wanted.validate()
        self.gpu = devices.get(name)
        self.stdout = sys.stdout if stdout is None else stdout
        fresh = Context.mappable if wanted.executor is not None else Context
        self.memory = fresh() if memory is None else memory
        self.activities = Activities(self.gpu)
        self.images: list[DeviceImage] = []
        self.defaults = defaults
        self.timing = wanted.timing
        self.lost: KernelError | None = None
        self.now = 0.0
        """Seconds of modelled time that timed launches have taken."""
        self._closed = False

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{self.gpu.name}, {self.memory.allocated} bytes allocated, {len(self.profiles)} launches>"

    @property
    def profiles(self) -> list[Profile]:
        """The profile of every launch, in order."""
        return [each.profile for each in self.activities.launched]

    def close(self) -> None:
        """End the device: launches are refused from now on.  Its memory goes with the last array that is in it."""
        self._closed = True

    def synchronize(self) -> None:
        """Wait for everything launched; raises LostDeviceError after a kernel's error.  Launches never run on."""
        if self.lost is not None:
            raise LostDeviceError(self.lost)

    def recover(self) -> None:
        """Go on after an error, as after ``cudaDeviceReset``: what memory holds stays."""
        self.lost = None

    # Memory

    def array(self, values: npt.ArrayLike, host: bool = False) -> DeviceArray:
        """Upload *values*; with *host* kernels find them in memory of the host, as with ``cudaHostAlloc``.

        Raises LaunchError if there is no room, or for Python objects.
        """
        found = np.asarray(values, order="C")
        if found.dtype.hasobject:
            raise LaunchError(f"an array of {found.dtype} holds Python objects", help="use a numeric dtype")
        allocation = self.allocate(found.nbytes, f"array of {found.nbytes} bytes", host=host)
        made = DeviceArray(self.memory, allocation, found)
        made.write(found)
        if not host:
            self._copied("HtoD", found.nbytes)
        return made

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> DeviceArray:
        """An array with unwritten elements: the check ``initcheck`` finds reads of them.

        Copies to it, and launches without that check, count as writing all of it.  Raises as :meth:`array`.
        """
        like = np.empty(shape, dtype)
        if like.dtype.hasobject:
            raise LaunchError(f"an array of {like.dtype} holds Python objects", help="use a numeric dtype")
        allocation = self.allocate(like.nbytes, f"array of {like.nbytes} bytes")
        self.memory.forget(allocation)
        return DeviceArray(self.memory, allocation, like)

    def allocate(self, size: int, name: str, alignment: int = 256, host: bool = False) -> Allocation:
        """Reserve *size* bytes, called *name* in messages, of the device or of the *host*; they hold anything.

        Raises LaunchError if there is no room.
        """
        return self.memory.allocate(size, name, alignment, host)

    def _copied(self, kind: str, size: int) -> None:
        self.activities.copied.append(Copied(kind, size, self.start))

    @property
    def start(self) -> float:
        """What an activity that begins now has for its start."""
        activities = self.activities
        return self.now if self.timing else float(len(activities.launched) + len(activities.copied))

    # Kernels

    @ends_here
    def load(self, path: str | Path, architecture: str | None = None) -> Kernels:
        """The kernels of CUDA C, a cubin, fat binary, executable or listing, with variables in this device's memory.

        ``architecture``: what CUDA C is compiled for (default: the device's own), and of several in a file (default:
        the newest that the device runs).  Raises what :func:`simt.load_cubin` and :func:`simt.load_cuda` raise, and
        DeviceError for machine code that the device does not run.
        """
        from simt import sass

        if Path(path).suffix == ".cu":
            return sass.load_cuda(path, architecture or self.gpu.architecture, home=self.memory)
        if architecture is None:
            able = [each for each in sass.architectures(path) if self.gpu.runs(each)]
            architecture = able[-1] if able else None
        kernels = sass.load_cubin(path, architecture=architecture, home=self.memory)
        for kernel in kernels.values():
            gpu_for(self.gpu.key, kernel.view, timing=False)
        return kernels

    @ends_here
    def launch(
        self,
        kernel: object,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        *args: object,
        stream: int = DEFAULT_STREAM,
        **options: Unpack[LaunchOptions],
    ) -> Profile:
        """Run a kernel and return what it counted; the profile joins :attr:`profiles`, too.

        ``args`` are arrays of this device, and what :func:`simt.launch` takes: NumPy arrays are uploaded for the
        launch and downloaded after it.  ``options`` are those of :func:`simt.launch`, except for ``device``.

        Raises what :func:`simt.launch` raises, and LostDeviceError.
        """
        chosen = self.defaults.copy()
        chosen.update(options)
        wanted = Options.of(**chosen)
        wanted.validate()
        shape = machine.dimensions(grid, "grid"), machine.dimensions(block, "block")
        check_launch_bounds(kernel, shape[1])
        given = [in_memory(each, self.memory) for each in args]
        return self._run(code_of(kernel, wanted.view, shape, given, wanted.predicate), shape, wanted, stream)

    def launch_raw(
        self,
        kernel: SassKernel,
        grid: Sequence[int],
        block: Sequence[int],
        parameters: bytes,
        options: Options,
        *,
        stream: int = DEFAULT_STREAM,
        profiled: bool = True,
    ) -> Profile:
        """Run a kernel with the bytes of its parameters, as a CUDA program gives them: with device addresses.

        Without *profiled* the launch does not join :attr:`profiles`.  Raises as :meth:`launch`.
        """
        shape = machine.dimensions(tuple(grid), "grid"), machine.dimensions(tuple(block), "block")
        return self._run(raw_code(kernel, shape, parameters, self.images), shape, options, stream, profiled)

    def _run(self, code: Code, shape: Shape, options: Options, stream: int, profiled: bool = True) -> Profile:
        self.synchronize()
        if self._closed:
            raise LaunchError("the device is closed", help="launch inside the with statement, or make a new device")
        if code.context not in (None, self.memory):
            raise LaunchError(
                "the kernel's module has variables in the memory of another device",
                help="load it with this device's load(), not with simt.load_cubin()",
            )
        check_order(options.order, code.program)
        gpu = gpu_for(self.gpu.key, code.program.view, options.timing)
        start = self.start
        try:
            profile = run(code, shape, options, gpu, self.memory, keep=True, stdout=self.stdout)
        except KernelError as error:
            if not isinstance(error, LaunchError | ListingError):
                self.lost = error
            raise
        if profiled:
            self.activities.launched.append(Launched(profile, start, stream))
        self._took(profile)
        for each in profile.launched:
            if profiled:
                self.activities.launched.append(Launched(each, self.start, stream, by_device=True))
            self._took(each)
        return profile

    def _took(self, profile: Profile) -> None:
        if profile.timing is not None:
            self.now += profile.timing.seconds
