"""simt: a SIMT warp-execution simulator.  See a GPU's lanes, count what its profiler counts, without a GPU.

>>> import numpy as np, simt
>>> total, profile = simt.reduce(np.arange(1000, dtype=np.int32), kernel="interleaved")

Names are imported on first use, so that ``import simt`` (and ``simt --help``) need not load Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simt.api import launch, load_cubin, load_cuda, reduce
    from simt.calls.arrays import DeviceArray
    from simt.calls.device import Device
    from simt.check import KernelError, LaunchError, SimtError, UnsupportedError
    from simt.dispatcher import without_gpu
    from simt.machine.images import surface, texture
    from simt.profile import Profile
    from simt.reasons import Explanation, explain
    from simt.runtime.uninitialized import uninitialized
    from simt.testing import explore

_HOME = {
    "Device": "simt.calls.device",
    "DeviceArray": "simt.calls.arrays",
    "explain": "simt.reasons",
    "explore": "simt.testing.exploring",
    "launch": "simt.api",
    "load_cubin": "simt.api",
    "load_cuda": "simt.api",
    "reduce": "simt.api",
    "surface": "simt.machine.images",
    "texture": "simt.machine.images",
    "Explanation": "simt.reasons",
    "Profile": "simt.profile",
    "SimtError": "simt.check",
    "KernelError": "simt.check",
    "LaunchError": "simt.check",
    "UnsupportedError": "simt.check",
    "uninitialized": "simt.runtime.uninitialized",
    "without_gpu": "simt.dispatcher",
}

__all__ = [
    "Device",
    "DeviceArray",
    "Explanation",
    "KernelError",
    "LaunchError",
    "Profile",
    "SimtError",
    "UnsupportedError",
    "explain",
    "explore",
    "launch",
    "load_cubin",
    "load_cuda",
    "reduce",
    "surface",
    "texture",
    "uninitialized",
    "without_gpu",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'simt' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
