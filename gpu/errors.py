"""What can go wrong on real hardware, in the error family of simt: typed, one renderer, cause and remedy."""

from __future__ import annotations

from simt.check import KernelError, SimtError

EXIT_NO_GPU = 3
"""Exit code of a command that finds no GPU."""


class GpuError(SimtError):
    """The GPU, its driver or its tools cannot do what was asked."""

    kind = "the GPU cannot do this"


class NoGpuError(GpuError):
    """There is no usable GPU: no driver, no device, or no Numba CUDA target."""

    kind = "no GPU"


class DeviceMemoryError(GpuError):
    """The device has not enough free memory.  The process can go on."""

    kind = "out of device memory"


class CompilationError(KernelError):
    """Numba or the CUDA compiler cannot compile the kernel.  The process can go on."""

    kind = "Numba cannot compile the kernel"


class DeviceFaultError(KernelError):
    """The kernel faulted on the device.  CUDA's context is lost: this process can no longer use the GPU."""

    kind = "the kernel faulted on the GPU"


class UnstableResultError(KernelError):
    """Two runs on the same input gave different results: a race, or floating-point atomics in changing order."""

    kind = "the results of two runs differ"


class ProfilerError(GpuError):
    """Nsight Compute is missing, forbidden to read counters, or failed."""

    kind = "the profiler cannot run"
