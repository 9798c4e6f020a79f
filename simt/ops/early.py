"""The first minutes: the engine as plain Python, at once, while another process compiles it for the cache.

Compiled or plain, a function of the engine finds all state in arrays and leaves it there (see layout.py in
:mod:`simt.machine`), so a launch begins with one and goes on with the other.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numba.core import config

from simt.disk_cache import DiskCache, say_once
from simt.ops.jit import compilation, is_compiled, name_of, plain

POLL = 0.2
"""Seconds between two looks for compiled code."""


@dataclass
class Early:
    """A function of the engine that Python calls, and how to have it compiled.

    ``what`` names it in messages; ``builder`` is a module: run as a program, it compiles the function into ``folder``.
    """

    what: str
    function: Any
    builder: str
    folder: Path
    after: Early | None = None
    """What the builder compiles before."""
    elsewhere: bool = field(default=True, init=False)
    """Whether another process may compile it; a builder sets it to False."""
    compiled: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _looked: float = field(default=-POLL, init=False)

    @property
    def plain(self) -> Callable[..., Any]:
        """The function as plain Python."""
        return plain(self.function)

    def ready(self, *trial: Any) -> bool:
        """Whether the function is compiled; if not, another process is about to.

        *trial*: arguments with which it does nothing.  Where nothing can be left to another process it is compiled now.
        """
        if self.compiled:
            return True
        now = time.monotonic()
        if now - self._looked < POLL:
            return False
        self._looked = now
        if not self.begin():
            self.load(*trial)
        return self.compiled

    def begin(self) -> bool:
        """Have another process compile the function, unless one has; whether one is about it."""
        with self._lock:
            return not is_compiled(name_of(self.function), self.folder) and self._is_in_hand()

    def load(self, *trial: Any) -> None:
        """Have the function compiled: wait for who does it, or else do it now."""
        with self._lock:
            if self.compiled:
                return
            with compilation(self.what, name_of(self.function), self.folder):
                self.function(*trial)
            self.compiled = True

    def can_leave(self) -> bool:
        """Whether work can be left to another process."""
        return bool(self.elsewhere and sys.executable and _can_wait())

    def _is_in_hand(self) -> bool:
        """Whether another process compiles the function; if need be one is started."""
        if self._process is not None:
            return self._process.poll() is None
        if not self.can_leave():
            return False
        cache = DiskCache("compiled functions", self.folder)
        if cache.is_making(name_of(self.function)):
            return True
        if not cache.can_keep():
            return False
        say_once(f"compiling {self.what} in the background (once; until then it runs as plain Python, slowly) ...")
        self._process = in_background(self.builder)
        if self.after is not None and not self.after.compiled:
            self.after._process = self._process
        return True


def in_background(module: str, given: IO[bytes] | int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Run a module of simt as another process, with *given* as its input; it goes on when this one ends."""
    root = str(Path(str(sys.modules["simt"].__file__)).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        env={**os.environ, "PYTHONPATH": path},
        stdin=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # ctrl-C is not for it
    )
    atexit.register(_leave, process)
    return process


def _leave(process: subprocess.Popen[bytes]) -> None:
    """A process that compiles goes on when this one ends."""
    if process.poll() is None:
        process.returncode = 0  # else Python warns of a process that nobody waits for


def _can_wait() -> bool:
    """Whether there is something to run meanwhile, and to find later.

    With NumPy 1 plain Python turns unsigned indices into floats; code with bounds checks is not kept on disk.
    """
    return bool((np.uint64(1) + 1).dtype == np.uint64) and not config.BOUNDSCHECK
