"""When a launch goes over to native code: at once, never, or as soon as it has turned out long (``engine="auto"``).

A launch by ``auto`` begins interpreted.  After LOOK micro-ops it takes native code that is in the cache, after MAKE it
has another process make it, and goes on interpreted until that is there: nobody waits for a compiler.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import threading
from dataclasses import replace

from simt.disk_cache import say_once
from simt.machine import layout as L
from simt.machine.compiled.code import STORE, Kept, Native, NotCompiled, native_code
from simt.machine.early import ENGINE
from simt.machine.launch import parse_order
from simt.machine.prepared import Prepared
from simt.ops.early import in_background
from simt.program import Program

LOOK = 1 << 18
"""Micro-ops after which a launch looks for native code in the cache: it takes about as long to load."""

MAKE = 1 << 24
"""Micro-ops after which it has native code made: half a second interpreted, which is less than the making takes."""

BUILDER = "simt.machine.compiled.build"

_making: dict[str, subprocess.Popen[bytes]] = {}
_lock = threading.Lock()


def can_be_native(prepared: Prepared) -> bool:
    """Whether native code can run a launch.

    It tells neither traces nor watches what happens, and runs on where orders of turns have another split go on.
    """
    launch = prepared.launch
    told = launch.trace is not False or launch.watch is not None
    return not told and parse_order(launch.order)[0] <= L.PROFILER


class Choice:
    """The engine of one launch: which state its workers go on with, and how far."""

    def __init__(self, prepared: Prepared) -> None:
        self._program = prepared.program
        self._native: Native | None = None
        self._equipped: dict[int, L.State] = {}
        self._executed = 0
        """Micro-ops that were interpreted; several threads add to it, so it may be a little less."""
        self._next = L.UNLIMITED
        """After how many of them the launch looks for native code."""
        self._kept: Kept | None = None
        self._lock = threading.Lock()
        if not can_be_native(prepared):
            return
        if prepared.launch.engine == "compiled":
            try:
                self._native = native_code(self._program)
            except NotCompiled as error:
                say_once(f"{self._program.name} is interpreted: {error}")
        elif prepared.launch.engine == "auto":
            self._next = LOOK

    def begin(self, state: L.State) -> L.State:
        """The state in which a worker goes on, and in LAUNCH_LEFT how many micro-ops."""
        if self._executed >= self._next:
            with self._lock:
                self._look()
        native = self._native
        if native is None:
            state.LAUNCH[L.LAUNCH_LEFT] = max(1, self._next - self._executed)
            return state
        state.LAUNCH[L.LAUNCH_LEFT] = L.UNLIMITED
        place = id(state.LAUNCH)
        if place not in self._equipped:
            self._equipped[place] = native.equip(state)
        return self._equipped[place]

    def note(self, micro_ops: int) -> None:
        """So many micro-ops have been interpreted."""
        self._executed += micro_ops

    def count(self) -> None:
        """Bring the counters of native code into those of the micro-ops."""
        if self._native is not None:
            for state in self._equipped.values():
                self._native.count(state)

    def _look(self) -> None:
        """Take native code if it is there; have it made if the launch is long enough."""
        if self._native is not None or self._executed < self._next:
            return
        try:
            if self._program.native is None:
                self._kept = self._kept or Kept(self._program)
                if not self._kept.is_there():
                    if self._executed < MAKE:
                        self._next = MAKE
                        return
                    if _is_in_hand(self._program, self._kept):
                        self._next = self._executed + LOOK
                        return
            self._native = native_code(self._program)
        except NotCompiled:  # then it stays interpreted, which nobody asked about
            self._next = L.UNLIMITED


def _is_in_hand(program: Program, kept: Kept) -> bool:
    """Whether another process makes native code of a Program, which is started if need be."""
    if not (ENGINE.can_leave() and STORE.can_keep()):
        return False
    with _lock:
        process = _making.get(kept.name)
        if process is None:
            with tempfile.TemporaryFile() as file:
                pickle.dump(replace(program), file)
                file.seek(0)
                _making[kept.name] = in_background(BUILDER, file)
        elif process.poll() is not None and not kept.is_there():
            raise NotCompiled("another process could not")
    return True
