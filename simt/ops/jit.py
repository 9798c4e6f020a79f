"""The ``jit`` decorator of the engine, and where its compiled code is kept.

Numba's own cache looks only at the file of the function that it stores: a changed helper in another file would leave
stale machine code behind.  It trusts its files: one that a full disk or a killed process left behind half written is
an error in every later run.  Where its folder cannot be written it takes ``__pycache__``.  So the engine keeps its code
itself: in the user's cache folder (read-only installations are cached, too), in a folder named by a hash of all
sources and settings, one file per function and types of arguments, each with a checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.resources
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from filelock import FileLock, Timeout
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from platformdirs import user_cache_path

if config.DISABLE_JIT and (np.uint64(1) + 1).dtype != np.uint64:
    # The plain engine adds ints to unsigned indices, which NumPy 1 turns into floats (NEP 50 has the switch).
    raise ImportError("NUMBA_DISABLE_JIT=1 needs NumPy 2, or with NumPy 1 also NPY_PROMOTION_STATE=weak")

LONGEST_WAIT = 1200.0
"""Seconds to wait for another process that compiles the engine (it takes minutes on a busy computer)."""

ENGINE = ("simt.ops", "simt.machine", "simt.machine.checks")
"""Packages whose code is compiled into the engine."""
_DIGEST = hashlib.sha256().digest_size
_said: set[str] = set()


def _say(text: str) -> None:
    """A note on standard error, once."""
    if text not in _said:
        _said.add(text)
        print(f"simt: {text}", file=sys.stderr, flush=True)


def cache_folder(*packages: str) -> Path:
    """The folder of compiled code of these very sources: the engine's, those of *packages*, Numba, and its settings."""
    settings = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, config.OPT, config.BOUNDSCHECK)
    digest = hashlib.sha256(repr(settings).encode())
    for package in (*ENGINE, *packages):
        for contents in _sources(package):
            digest.update(contents)
    digest.update(importlib.resources.files("simt").joinpath("program.py").read_bytes())
    return user_cache_path("simt") / f"engine-{digest.hexdigest()[:16]}"


def _sources(package: str) -> list[bytes]:
    """The code and tables of a package of simt, which may stand in a zip archive.  It is not imported."""
    _, *folders = package.split(".")
    place = importlib.resources.files("simt").joinpath(*folders)
    files = {file.name: file for file in place.iterdir()}
    return [files[name].read_bytes() for name in sorted(files) if name.endswith((".py", ".csv"))]


class CodeCache:
    """Compiled code of one function on disk: what a dispatcher of Numba asks to load and to save.

    A file holds a SHA-256 sum and the pickled code.  A file that does not match is deleted and compiled again.  Where
    files cannot be written nothing is kept.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self.cache_path = folder
        self._name = name_of(function)
        self._bytecode = function.__code__.co_code  # of functions that are not among the sources

    def _file(self, signature: Any, codegen: Any) -> Path:
        key = repr((signature, codegen.magic_tuple(), self._bytecode))
        return self.cache_path / f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function, or None."""
        target_context.refresh()  # as Numba's own cache does, before code is rebuilt
        path = self._file(signature, target_context.codegen())
        try:
            data = path.read_bytes()
        except OSError:
            return None  # not there, or not ours to read: compiled anew
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            _say(f"{path} is damaged; it is compiled again")
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data[_DIGEST:]))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled function, whole or not at all."""
        if compiled.library.has_dynamic_globals:  # holds addresses of this process: with bounds checks
            return
        data = dumps(compiled._reduce())
        path = self._file(signature, compiled.codegen)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=path.parent, suffix=".new")
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(hashlib.sha256(data).digest() + data)
                os.replace(name, path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            _say(
                f"compiled code cannot be kept in {path.parent} ({error.strerror}); every run compiles anew, "
                "which takes about a minute"
            )

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


@contextlib.contextmanager
def compilation(what: str, entry: str, folder: Path = FOLDER) -> Iterator[None]:
    """Around the first call of *entry* in a process: of several processes one compiles it, the others wait.

    ``what`` is said where it takes long.
    """
    if is_compiled(entry, folder):
        yield
        return
    with contextlib.ExitStack() as held:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / f"{entry}.lock")
            try:
                held.enter_context(lock.acquire(timeout=0))
            except Timeout:
                _say(f"another process compiles {what}; waiting for it ...")
                held.enter_context(lock.acquire(timeout=LONGEST_WAIT))
        except (OSError, NotImplementedError, Timeout):
            pass  # no folder, no locks on this file system, or the other one hangs: each compiles for itself
        if not is_compiled(entry, folder):
            _say(f"compiling {what} (once; cached for later runs) ...")
        yield
