"""The ``jit`` decorator of the engine, and where its compiled code is kept.

Numba's own cache looks only at the file of the function that it stores: a changed helper in another file would leave
stale machine code behind.  It trusts its files: one that a full disk or a killed process left behind half written is
an error in every later run.  Where its folder cannot be written it takes ``__pycache__``.  So the engine keeps its code
in a :class:`~simt.disk_cache.DiskCache` (read-only installations are cached, too), in a folder named by a hash of all
sources and settings, one entry per function and types of arguments.
"""

from __future__ import annotations

import importlib.resources
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from simt.disk_cache import DiskCache, cache_root, digest

if TYPE_CHECKING:
    from importlib.abc import Traversable

if config.DISABLE_JIT and (np.uint64(1) + 1).dtype != np.uint64:
    # The plain engine adds ints to unsigned indices, which NumPy 1 turns into floats (NEP 50 has the switch).
    raise ImportError("NUMBA_DISABLE_JIT=1 needs NumPy 2, or with NumPy 1 also NPY_PROMOTION_STATE=weak")

ENGINE = ("simt.ops", "simt.machine")
"""Packages whose code is compiled into the engine."""

_MESSAGES = "simt.check"
"""The package that compiled code takes nothing from, whatever its modules import for the host."""
_DECORATORS = re.compile(rb"^from simt\.\w+\.jit import (\([^)]*\)|.*)", re.MULTILINE)
_IMPORT = re.compile(rb"^(?:from (simt[.\w]*) import (\([^)]*\)|.*)|import (simt[.\w]*))", re.MULTILINE)


def cache_folder(*packages: str) -> Path:
    """The folder of compiled code of these very sources: the engine's, those of *packages*, Numba, and its settings."""
    settings = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, config.OPT, config.BOUNDSCHECK)
    sources = compiled_sources(*ENGINE, *packages)
    return cache_root() / f"engine-{digest(repr(settings), *(sources[name] for name in sorted(sources)))[:16]}"


def compiled_sources(*packages: str) -> dict[str, bytes]:
    """What the compiled code of *packages* depends on: modules that compile functions, what they import, tables.

    A change anywhere else leaves the compiled code alone.  Nothing is imported, and simt may stand in a zip archive.
    """
    files = dict(_files("simt", importlib.resources.files("simt")))
    found: dict[str, bytes] = {}
    waiting = []
    for name in files:
        if any(name.startswith(f"{package}.") or name == package for package in packages):
            contents = files[name].read_bytes()
            if name.endswith(".csv"):
                found[name] = contents
            elif any(b"jit" in names for names in _DECORATORS.findall(contents)):
                waiting.append(name)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = files[name].read_bytes()
        for package, names, module in _IMPORT.findall(found[name]):
            base = (package or module).decode()
            parts = {f"{base}.{part}" for part in re.findall(r"\w+", names.decode())} & files.keys()
            waiting += [part for part in parts or {base} & files.keys() if not part.startswith(_MESSAGES)]
    return found


def _files(package: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """The modules and tables below a package, by their names."""
    for entry in folder.iterdir():
        stem, _, ending = entry.name.rpartition(".")
        if ending == "py":
            yield (package if stem == "__init__" else f"{package}.{stem}"), entry
        elif ending == "csv":
            yield f"{package}.{entry.name}", entry
        elif not ending.startswith("_") and not stem and entry.is_dir():
            yield from _files(f"{package}.{entry.name}", entry)


class CodeCache:
    """Compiled code of one function on disk: what a dispatcher of Numba asks to load and to save."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self.cache_path = folder
        self._cache = DiskCache("compiled functions", folder)
        self._name = name_of(function)
        self._bytecode = function.__code__.co_code  # of functions that are not among the sources

    def _entry(self, signature: Any, codegen: Any) -> str:
        key = digest(repr((signature, codegen.magic_tuple(), self._bytecode)))
        return f"{self._name}-{key[:16]}.code"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function, or None."""
        target_context.refresh()  # as Numba's own cache does, before code is rebuilt
        data = self._cache.get(self._entry(signature, target_context.codegen()))
        return None if data is None else CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled function."""
        if not compiled.library.has_dynamic_globals:  # those hold addresses of this process: with bounds checks
            self._cache.put(self._entry(signature, compiled.codegen), dumps(compiled._reduce()))

    def flush(self) -> None:
        """Delete what is kept of the function."""
        for path in self.cache_path.glob(f"{self._name}-*.code"):
            path.unlink(missing_ok=True)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in the cache: its module's last name and its own."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


FOLDER = cache_folder()


def jit(function: Callable[..., Any], *, inline: bool = False, folder: Path = FOLDER) -> Any:
    """Compile *function* with Numba: no GIL, cached on disk, NumPy's division rules (no exceptions).

    ``inline`` asks LLVM to inline it: for functions with one hot call that take many arrays.  Reference counting is
    off (``_nrt``): the engine only borrows arrays, and counting them cost seven eighths of its time (measured).
    ``folder`` is where the compiled code is kept.
    With ``NUMBA_DISABLE_JIT=1`` the function stays plain Python: the same engine, slow and easy to step through
    (on NumPy 1 with ``NPY_PROMOTION_STATE=weak``, too).
    """
    compiled = numba.njit(function, nogil=True, error_model="numpy", _nrt=False, forceinline=inline)
    if not config.DISABLE_JIT:
        compiled._cache = CodeCache(function, folder)  # what njit(cache=True) does, with Numba's own
    return compiled


def jit_inline(function: Callable[..., Any]) -> Any:
    """:func:`jit` with ``inline``, as a decorator."""
    return jit(function, inline=True)


def jit_part(function: Callable[..., Any]) -> Any:
    """A piece of one jitted function: put into it before it is typed, and so never compiled by itself.

    Cheaper to compile than :func:`jit_inline`, but compiled anew with each function that calls it.
    """
    return numba.njit(function, nogil=True, error_model="numpy", _nrt=False, inline="always")


def is_compiled(entry: str, folder: Path = FOLDER) -> bool:
    """Whether the function called *entry* (:func:`name_of`), with all that it calls, is in the cache."""
    return bool(config.DISABLE_JIT) or next(folder.glob(f"{entry}-*.code"), None) is not None


def compilation(what: str, entry: str, folder: Path = FOLDER) -> AbstractContextManager[None]:
    """Around the first call of *entry* in a process: of several processes one compiles it, the others wait.

    ``what`` is said where it takes long.
    """
    cache = DiskCache("compiled functions", folder)
    return cache.making(entry, lambda: is_compiled(entry, folder), f"compiling {what}")
