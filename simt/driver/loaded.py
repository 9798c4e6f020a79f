"""What a program has loaded: modules, their kernels and variables, by the numbers that the program knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simt.calls import Device
from simt.calls.options import SOURCE
from simt.check import UnsupportedError
from simt.devices import occupancy
from simt.driver.codes import Code, CudaError
from simt.driver.images import kernels_of
from simt.driver.settings import Settings

if TYPE_CHECKING:
    from simt.sass import Kernels, SassKernel

Reply = tuple[Sequence[Any], bytes]
"""Fields, and bytes after them."""
NOTHING: Reply = ((), b"")


@dataclass(frozen=True)
class RefusedKernel:
    """A kernel that cannot run as machine code, in a program whose kernels run in the source view."""

    error: UnsupportedError
    shared_bytes: int = 0
    registers: int | None = None
    demangled: str = ""


class LoadedCode:
    """What the requests about code do.  ``name`` is the program's, for messages."""

    def __init__(self, settings: Settings, device: Device) -> None:
        self.settings = settings
        self.device = device
        self.name = "the program"
        self._modules: dict[int, list[Kernels]] = {}
        self._functions: list[SassKernel | RefusedKernel] = []

    def load(self, tail: bytes) -> Reply:
        """A module."""
        loaded = kernels_of(tail, self.name, self.device.gpu, self.device.memory)
        number = max(self._modules, default=-1) + 1
        self._modules[number] = loaded
        return (number,), b""

    def unload(self, _: bytes, module: int) -> Reply:
        """A module goes, and its variables."""
        for kernels in self._of(module):
            for kernel in kernels.values():
                kernel.module.memory.unload()
        del self._modules[module]
        return NOTHING

    def _of(self, module: int) -> list[Kernels]:
        if module not in self._modules:
            raise CudaError(Code.INVALID_HANDLE)
        return self._modules[module]

    def function(self, tail: bytes, module: int) -> Reply:
        """A kernel by its name, what launches of it need, and its attributes."""
        name = tail.decode(errors="replace")
        holder = next((kernels for kernels in self._of(module) if name in list(kernels)), None)
        if holder is None:
            raise CudaError(Code.NOT_FOUND)
        kernel: SassKernel | RefusedKernel
        try:
            kernel = holder[name]
            fields, places = self._described(kernel)
        except UnsupportedError as error:
            if self.settings.view != SOURCE:
                raise
            kernel = RefusedKernel(error)
            architecture = int(self.device.gpu.architecture.removeprefix("sm_"))
            fields, places = (self.device.gpu.limit("threads_per_block"), 0, 0, 0, 0, architecture, 0), b""
        self._functions.append(kernel)
        return (len(self._functions) - 1, *fields), places

    def _described(self, kernel: SassKernel) -> tuple[tuple[int, ...], bytes]:
        """The attributes of a kernel, and where its parameters are."""
        parameters = kernel.parameters or []
        places = np.array([(each.offset, each.size) for each in parameters], np.uint32)
        constants = kernel.module.memory.constants
        fields = (
            self._threads(kernel),
            kernel.shared_bytes,
            len(constants[0]) if constants else 0,
            kernel.local_bytes,
            kernel.registers or 0,
            kernel.architecture,
            len(parameters),
        )
        return fields, places.tobytes()

    def loaded(self, number: int) -> SassKernel | RefusedKernel:
        """The kernel of a number that :meth:`function` gave."""
        if number >= len(self._functions):
            raise CudaError(Code.INVALID_HANDLE)
        return self._functions[number]

    def _threads(self, kernel: SassKernel) -> int:
        """The largest block that a kernel can have: its registers may allow fewer threads than the device does."""
        if kernel.required_block:
            return int(np.prod(kernel.required_block))
        limit = self.device.gpu.limit("threads_per_block")
        most = min(limit, kernel.max_threads or limit)
        while most > 32 and not occupancy(self.device.gpu, most, kernel.registers, kernel.shared_bytes).blocks_per_sm:
            most -= 32
        return most

    def functions(self, _: bytes, module: int) -> Reply:
        """The names of a module's kernels."""
        names = [name for kernels in self._of(module) for name in kernels]
        return (len(names),), b"".join(name.encode() + b"\0" for name in names)

    def variable(self, tail: bytes, module: int) -> Reply:
        """Where a variable of a module is."""
        name = tail.decode(errors="replace")
        for kernels in self._of(module):
            for each in {kernel.module for kernel in kernels.values()}:
                symbol = next((s for s in each.memory.named.values() if s.name == name), None)
                if symbol is not None:
                    return each.memory.place(symbol), b""
        raise CudaError(Code.NOT_FOUND)

    def occupancy(self, _: bytes, function: int, threads: int, dynamic: int) -> Reply:
        """Blocks of a kernel on a multiprocessor at a time."""
        kernel = self.loaded(function)
        if threads > self.device.gpu.limit("threads_per_block"):
            return (0,), b""
        found = occupancy(self.device.gpu, threads, kernel.registers, kernel.shared_bytes + dynamic)
        return (found.blocks_per_sm,), b""
