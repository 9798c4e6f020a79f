"""Launches that CUDA refuses before anything runs: why, for the user, since programs forget to ask."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from simt.check import LaunchError
from simt.devices import Gpu, occupancy
from simt.driver.codes import Code
from simt.machine.launch import dimensions
from simt.text import counted

if TYPE_CHECKING:
    from simt.sass import SassKernel

Refusal = tuple[Code, LaunchError]
_UNSEEN = "look at cudaGetLastError() after a launch: it tells what was refused"
_OPT_IN = "ask for it: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"


def by_library(grid: Sequence[int], block: Sequence[int], shared: int, most: int) -> LaunchError:
    """Why the library has refused a launch: its shape, or more than *most* bytes of dynamic shared memory a block."""
    try:
        dimensions(tuple(grid), "grid")
        dimensions(tuple(block), "block")
    except LaunchError as error:
        return _refused(error.title, _UNSEEN)
    what = f"{counted(shared, 'byte')} of dynamic shared memory per block; the limit of this kernel is {most:,}"
    return _refused(what, _OPT_IN)


def by_device(
    gpu: Gpu, kernel: SassKernel, grid: Sequence[int], block: Sequence[int], shared: int, cooperative: bool
) -> Refusal | None:
    """CUDA's code, and why the device refuses a launch; None if it does not."""
    threads, limit = prod(block), gpu.limit("threads_per_block")
    if not 0 < threads <= limit:
        return Code.INVALID_VALUE, _refused(f"a block of {counted(threads, 'thread')}; the limit is {limit:,}", _UNSEEN)
    needed = kernel.shared_bytes + shared
    fit = occupancy(gpu, threads, kernel.registers, needed)
    if not fit.blocks_per_sm:
        what = f"a block of {counted(threads, 'thread')} does not fit on any SM: {', '.join(fit.limited_by)}"
        return Code.LAUNCH_OUT_OF_RESOURCES, _refused(what, "use smaller blocks, or compile with -maxrregcount")
    room = fit.blocks_per_sm * gpu.limit("multiprocessors")
    if cooperative and prod(grid) > room:
        what = f"a cooperative launch of {counted(prod(grid), 'block')}; {room:,} fit on {gpu.name} together"
        return Code.COOPERATIVE_LAUNCH_TOO_LARGE, _refused(what, "use fewer blocks, each of which does more")
    return None


def _refused(title: str, help: str) -> LaunchError:
    return LaunchError(title, details=["CUDA refused it: the kernel did not run"], help=help)
