"""The ``jit`` decorator of the engine, and where its compiled code is kept.

Numba's own cache looks only at the file of the function that it stores: a changed helper in another file would leave
stale machine code behind.  It trusts its files: one that a full disk or a killed process left behind half written is
an error in every later run.  Where its folder cannot be written it takes ``__pycache__``.  So the engine keeps its code
in a :class:`~simt.disk_cache.DiskCache` (read-only installations are cached, too), in a folder named by a hash of all
sources and settings, one entry per function and types of arguments.
"""

from __future__ import annotations

import functools
import gc
import importlib.resources
import inspect
import pickle
import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from simt.disk_cache import DiskCache, cache_root, digest
from simt.ops.arrays import described
from simt.ops.parts import APART, RARE, SCALAR, SHARED, EntryCompiler, PartCompiler, by_name

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


class Function:
    """A function of the engine.  Compiled functions call it compiled, so does Python; ``plain`` is it as plain Python.

    Numba takes it for one of its dispatchers: it asks for ``_numba_type_`` and, where it inlines, for ``py_func`` and
    ``targetoptions``.
    """

    def __init__(self, function: Callable[..., Any], plain: Callable[..., Any], folder: Path, options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = {**_OPTIONS, **options}
        self._instead = plain
        self._folder = folder
        self._part = numba.njit(
            function, pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **self.targetoptions
        )

    @property
    def _numba_type_(self) -> Any:
        return self._part._numba_type_

    @functools.cached_property
    def entry(self) -> Any:
        """What Python calls: Numba's dispatcher, whose compiled code is kept on disk."""
        dispatcher = numba.njit(_calling(self), pipeline_class=EntryCompiler, no_cfunc_wrapper=True, **_OPTIONS)
        dispatcher._cache = CodeCache(self.py_func, self._folder)  # what njit(cache=True) does, with Numba's own
        return dispatcher

    def __call__(self, *args: Any) -> Any:
        return self.entry(*args)

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The function without Numba: the same code, which calls others of the engine as plain Python, too."""
        function = self._instead
        names = _plain_names(function.__globals__)
        return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def _calling(function: Function) -> Callable[..., Any]:
    """A function that calls *function* with its arguments as the engine has them."""
    name = function.py_func.__name__
    arguments = [f"argument_{k}" for k in range(len(inspect.signature(function.py_func).parameters))]
    given = ", ".join(f"described({argument})" for argument in arguments)
    names = {"described": described, "function": function, "__name__": function.__module__}
    exec(f"def {name}({', '.join(arguments)}):\n    return function({given})", names)
    made: Callable[..., Any] = names[name]
    return made


_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
_plain: dict[int, dict[str, Any]] = {}


def _plain_names(names: dict[str, Any]) -> dict[str, Any]:
    """The names of a module with the engine's functions as plain Python, in modules among them, too."""
    if id(names) not in _plain:
        plain = _plain[id(names)] = dict(names)
        for name, value in names.items():
            if isinstance(value, Function):
                plain[name] = value.plain
            elif isinstance(value, types.ModuleType) and value.__name__.startswith("simt."):
                plain[name] = _Names(_plain_names(vars(value)))
    return _plain[id(names)]


class _Names:
    """What stands for a module."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.__dict__ = names


def jit(
    function: Callable[..., Any],
    *,
    inline: bool = False,
    apart: bool = False,
    rare: bool = False,
    scalar: bool = False,
    folder: Path = FOLDER,
    plain: Callable[..., Any] | None = None,
) -> Any:
    """Compile *function* with Numba: no GIL, cached on disk, NumPy's division rules (no exceptions).

    ``inline`` has LLVM inline it: for what runs often and is small.  ``apart`` keeps it from that: for what is large
    and called in a loop, out of which LLVM would move more addresses and constants than there are registers.  So does
    ``rare``, which also tells LLVM that it seldom runs: what often does then stands together.  ``scalar``: of the loops
    of an entry that takes it in LLVM makes no vectors.  Reference counting is off (``_nrt``): the engine only borrows
    arrays, and counting them cost seven eighths of its time (measured).  ``folder`` is where the compiled code is kept;
    ``plain`` runs instead where the engine runs as plain Python.
    With ``NUMBA_DISABLE_JIT=1`` there is plain Python only: the same engine, slow and easy to step through
    (on NumPy 1 with ``NPY_PROMOTION_STATE=weak``, too).
    """
    if config.DISABLE_JIT:
        return plain or function
    for asked, chosen in ((apart, APART), (rare, RARE), (scalar, SCALAR)):
        if asked:
            chosen.add(function)
    return Function(function, plain or function, folder, {"forceinline": inline})


def jit_inline(function: Callable[..., Any]) -> Any:
    """:func:`jit` with ``inline``, as a decorator."""
    return jit(function, inline=True)


def jit_rare(function: Callable[..., Any]) -> Any:
    """:func:`jit` with ``rare``, as a decorator."""
    return jit(function, rare=True)


def jit_part(function: Callable[..., Any], plain: Callable[..., Any] | None = None) -> Any:
    """A piece of one jitted function: put into it before it is typed, and so never compiled by itself.

    Cheaper to compile than :func:`jit_inline`, but compiled anew with each function that calls it.  ``plain`` is as for
    :func:`jit`.
    """
    plain = plain or function
    return plain if config.DISABLE_JIT else Function(function, plain, FOLDER, {"inline": "always"})


def jit_shared(function: Callable[..., Any]) -> Any:
    """:func:`jit` for a function that returns an int64, and that code of other entries calls (:func:`elsewhere`)."""
    SHARED[function] = numba.int64
    return jit(function)


def elsewhere(function: Any) -> Any:
    """A shared function for code that is compiled apart from it: found by its name, not compiled once more.

    Who loads that code has loaded the function's entry before.  With bounds checks nothing is kept, nor shared.
    """
    if config.DISABLE_JIT or config.BOUNDSCHECK:
        return function
    arguments = ", ".join(inspect.signature(function.py_func).parameters)
    names = {"call": by_name(function.py_func), "__name__": function.__module__}
    exec(f"def {function.__name__}({arguments}):\n    return call(({arguments},))", names)
    return jit_part(names[function.__name__], plain=function.py_func)


def plain(function: Any) -> Callable[..., Any]:
    """A function of the engine as plain Python."""
    found: Callable[..., Any] = function.plain if isinstance(function, Function) else function
    return found


def is_compiled(entry: str, folder: Path = FOLDER) -> bool:
    """Whether the function called *entry* (:func:`name_of`), with all that it calls, is in the cache."""
    return bool(config.DISABLE_JIT) or next(folder.glob(f"{entry}-*.code"), None) is not None


@contextmanager
def compilation(what: str, entry: str, folder: Path = FOLDER) -> Iterator[None]:
    """Around the first call of *entry* in a process: of several processes one compiles it, the others wait.

    ``what`` is said where it takes long.  Python looks for no garbage meanwhile: Numba's trees are large and live long,
    and to go through them again and again takes a tenth of the time.
    """
    cache = DiskCache("compiled functions", folder)
    with cache.making(entry, lambda: is_compiled(entry, folder), f"compiling {what}"):
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()
