"""The engine's ``jit`` for the timing model: its compiled code goes by its own sources, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import config

from simt.ops.jit import cache_folder
from simt.ops.jit import jit as engine_jit

_FOLDER = str(cache_folder(Path(__file__).parent))


def jit(function: Callable[..., Any]) -> Any:
    """Compile *function* as the engine's are (see :mod:`simt.machine.jit`)."""
    return engine_jit(function, folder=_FOLDER)


def jit_inline(function: Callable[..., Any]) -> Any:
    """The same, inlined into its callers."""
    return engine_jit(function, inline=True, folder=_FOLDER)


def is_compiled() -> bool:
    """Whether the compiled timing model is already in its cache folder."""
    folder = Path(_FOLDER)
    return bool(config.DISABLE_JIT) or (folder.is_dir() and any(folder.rglob("core.run-*.nbc")))
