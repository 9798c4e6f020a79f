"""What a kernel calls that is not the kernel's: ``printf``, ``assert``, ``malloc``, launches and copies.

The machine stops at a ``syscall`` micro-op and asks :class:`SystemServices`; nothing here counts as an instruction.
"""

from simt.system.functions import ALLOCATING, FUNCTIONS, GRID_SYNC, serves
from simt.system.heap import Heap
from simt.system.services import SystemServices
from simt.system.world import DeviceKernel, Limits, Request, World

__all__ = [
    "ALLOCATING",
    "FUNCTIONS",
    "GRID_SYNC",
    "DeviceKernel",
    "Heap",
    "Limits",
    "Request",
    "SystemServices",
    "World",
    "serves",
]
