"""What all grids that come from one launch of the host share, and what a kernel must be to be launched by a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from simt.machine import DeviceMemory
from simt.machine.services import Services
from simt.system.heap import Heap


@dataclass(frozen=True)
class Limits:
    """The limits of ``cudaDeviceSetLimit`` that concern what runs on the device, with CUDA's own values.

    ``heap_bytes``: of ``malloc`` (cudaLimitMallocHeapSize); ``pending_launches``: grids that wait or are under way
    (cudaLimitDevRuntimePendingLaunchCount); ``sync_depth``: levels of grids, the host's first, that may wait for their
    children with ``cudaDeviceSynchronize`` (cudaLimitDevRuntimeSyncDepth).
    """

    heap_bytes: int = 8 << 20
    pending_launches: int = 2048
    sync_depth: int = 2


NESTING = 24
"""Levels of grids below the host's that the first device runtime (CDP1) allows; the second has no such limit on an
H200, where only the pending launches end a recursion (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism")."""


class DeviceKernel(Protocol):
    """A kernel that code on the device can launch."""

    @property
    def name(self) -> str:
        """Mangled name."""

    @property
    def parameter_bytes(self) -> int:
        """Bytes of its parameters."""

    @property
    def shared_bytes(self) -> int:
        """Bytes of static shared memory per block."""

    @property
    def required_block(self) -> tuple[int, int, int] | None:
        """The only block that it was compiled for, if there is one."""


Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Request:
    """A launch that code on the device asks for."""

    kernel: DeviceKernel
    grid: Shape
    block: Shape
    shared_bytes: int
    parameters: bytes = b""


Execute = Callable[[Request, Services, DeviceMemory], None]
"""Runs a grid that the device launched on what device memory holds."""


def _nobody(request: Request, services: Services, memory: DeviceMemory) -> None:
    raise AssertionError(f"nobody runs {request.kernel.name}")


@dataclass
class World:
    """What the grids of one launch of the host share.

    ``heap``: of ``malloc``; ``kernel_at``: the kernel that a handle on the device stands for, if it is one;
    ``execute``: runs a grid and keeps its profile, ``repeat`` runs one that leaves none; ``waiting``: tail launches
    that wait for the end of grids under way.
    """

    heap: Heap | None = None
    kernel_at: Callable[[int], DeviceKernel | None] = field(default=lambda _: None)
    execute: Execute = _nobody
    repeat: Execute = _nobody
    limits: Limits = field(default_factory=Limits)
    waiting: int = 0
