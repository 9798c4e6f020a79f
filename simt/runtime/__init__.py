"""Device memory and the launches in it: the arena with stable addresses, modules, transfers, snapshots.

This room stands between the machine, which executes a launch on device memory, and the views and doors above it, which
give host arrays.  A launch from NumPy arrays is upload, run, download (:func:`run`).  It knows nothing of the calls
of a CUDA program.
"""

from simt.runtime.arena import Arena
from simt.runtime.context import Context, borrowed, run, run_twice
from simt.runtime.modules import LoadedModule, ModuleImage, Pointer, Variables
from simt.runtime.preview import Preview
from simt.runtime.shared import MemoryFile, SharedFile

__all__ = [
    "Arena",
    "Context",
    "LoadedModule",
    "MemoryFile",
    "ModuleImage",
    "Pointer",
    "Preview",
    "SharedFile",
    "Variables",
    "borrowed",
    "run",
    "run_twice",
]
