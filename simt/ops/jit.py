"""The ``jit`` decorator of the engine, and where its compiled code is kept.

Numba's own cache looks only at the file of the function that it stores: a changed helper in another file
would leave stale machine code behind.  The engine therefore keeps its cache in a folder named by a hash of
all of its sources.  The folder is the user's cache folder, so that read-only installations are cached too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config
from platformdirs import user_cache_path

if config.DISABLE_JIT and (np.uint64(1) + 1).dtype != np.uint64:
    # The plain engine adds ints to unsigned indices, which NumPy 1 turns into floats (NEP 50 has the switch).
    raise ImportError("NUMBA_DISABLE_JIT=1 needs NumPy 2, or with NumPy 1 also NPY_PROMOTION_STATE=weak")


def cache_folder(*packages: Path) -> Path:
    """The folder of the engine's compiled code for these very sources, those of *packages*, and this Numba."""
    digest = hashlib.sha256(numba.__version__.encode())
    simt = Path(__file__).parents[1]
    folders = (simt / "ops", simt / "machine", *packages)
    paths = (path for folder in folders for pattern in ("*.py", "*.csv") for path in folder.rglob(pattern))
    for path in sorted([*paths, simt / "program.py"]):
        digest.update(path.read_bytes())
    return user_cache_path("simt") / f"engine-{digest.hexdigest()[:16]}"


_FOLDER = str(cache_folder())


def jit(function: Callable[..., Any], *, inline: bool = False, folder: str = _FOLDER) -> Any:
    """Compile *function* with Numba: no GIL, cached on disk, NumPy's division rules (no exceptions).

    ``inline`` asks LLVM to inline it: for functions with one hot call that take many arrays.  Reference counting is
    off (``_nrt``): the engine only borrows arrays, and counting them cost seven eighths of its time (measured).
    ``folder`` is where the compiled code is kept.
    With ``NUMBA_DISABLE_JIT=1`` the function stays plain Python: the same engine, slow and easy to step through
    (on NumPy 1 with ``NPY_PROMOTION_STATE=weak``, too).
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        return numba.njit(function, nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=inline)
    finally:
        config.CACHE_DIR = before


def jit_inline(function: Callable[..., Any]) -> Any:
    """:func:`jit` with ``inline``, as a decorator."""
    return jit(function, inline=True)


def jit_part(function: Callable[..., Any]) -> Any:
    """A piece of one jitted function: put into it before it is typed, and so never compiled by itself.

    Cheaper to compile than :func:`jit_inline`, but compiled anew with each function that calls it.
    """
    return numba.njit(function, nogil=True, error_model="numpy", _nrt=False, inline="always")


def is_compiled() -> bool:
    """Whether a compiled engine is already in the cache folder (the first launch ever has to wait for it)."""
    folder = Path(_FOLDER)
    return bool(config.DISABLE_JIT) or (folder.is_dir() and any(folder.rglob("engine.run_blocks-*.nbc")))
