"""The same kernels on a real GPU, and the simulator held to what the hardware says.

>>> import gpu
>>> gpu.available()
>>> total, run = gpu.reduce(data, kernel="interleaved")
>>> print(gpu.compare(kernel, grid, block, *args))

Needs the extra ``gpu`` (numba-cuda); importing this package needs no GPU and no NVIDIA package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu.comparison import Comparison, compare
    from gpu.errors import (
        CompilationError,
        DeviceFaultError,
        DeviceMemoryError,
        GpuError,
        NoGpuError,
        ProfilerError,
        UnstableResultError,
    )
    from gpu.hardware import Device, available, devices, why_not
    from gpu.launching import Run, launch
    from gpu.profiling import HardwareProfile, profile
    from gpu.reduction import reduce

_HOME = {
    "available": "gpu.hardware",
    "why_not": "gpu.hardware",
    "devices": "gpu.hardware",
    "Device": "gpu.hardware",
    "launch": "gpu.launching",
    "Run": "gpu.launching",
    "reduce": "gpu.reduction",
    "profile": "gpu.profiling",
    "HardwareProfile": "gpu.profiling",
    "compare": "gpu.comparison",
    "Comparison": "gpu.comparison",
    "GpuError": "gpu.errors",
    "NoGpuError": "gpu.errors",
    "CompilationError": "gpu.errors",
    "DeviceFaultError": "gpu.errors",
    "DeviceMemoryError": "gpu.errors",
    "ProfilerError": "gpu.errors",
    "UnstableResultError": "gpu.errors",
}

__all__ = [
    "Comparison",
    "CompilationError",
    "Device",
    "DeviceFaultError",
    "DeviceMemoryError",
    "GpuError",
    "HardwareProfile",
    "NoGpuError",
    "ProfilerError",
    "Run",
    "UnstableResultError",
    "available",
    "compare",
    "devices",
    "launch",
    "profile",
    "reduce",
    "why_not",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gpu' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
