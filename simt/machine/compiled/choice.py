"""When a launch goes over to native code: at once, never, or as soon as it has turned out long (``engine="auto"``).

With ``auto`` a Program begins interpreted.  After LOOK micro-ops, counted over all of its launches, or soon in a
launch of MANY warps, it takes native code that is in the cache.  After MAKE it has another process make it, and goes
on interpreted until that is there: nobody waits for a compiler.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import threading
from dataclasses import dataclass, replace

from simt.disk_cache import say_once
from simt.machine import layout as L
from simt.machine.compiled.code import STORE, Kept, Native, NotCompiled, native_code
from simt.machine.compiled.plan import Runs
from simt.machine.early import ENGINE
from simt.machine.launch import parse_order
from simt.machine.prepared import Prepared
from simt.ops.early import in_background
from simt.program import Program

LOOK = 1 << 18
"""Micro-ops after which a Program looks for native code in the cache: loading it takes about as long."""

MANY = 1 << 15
"""Warps of a launch that need not execute so much first: all together they will."""

SHORT = 1 << 12
"""Micro-ops that each launch interprets first: as long as native code takes to be put into its state (0.1 ms)."""

MAKE = 1 << 24
"""Micro-ops after which it has native code made: half a second interpreted, which is less than the making takes."""

BUILDER = "simt.machine.compiled.build"
"""The module that another process runs to make native code."""

_making: dict[str, subprocess.Popen[bytes]] = {}
"""The processes that were started, by the names of what they make."""
_lock = threading.Lock()


def can_be_native(prepared: Prepared) -> bool:
    """Whether native code can run a launch.

    It reports nothing to traces and watches, and knows no orders in which splits take turns.
    """
    launch = prepared.launch
    told = launch.trace is not False or launch.watch is not None
    return not told and parse_order(launch.order)[0] <= L.PROFILER


@dataclass
class Past:
    """What the launches of a Program with ``auto`` have done.

    ``executed``: the micro-ops that they interpreted, or a few less, since several threads add to it; ``next``: how
    many there are at the next look; ``kept``: its entry in the cache, once it has been looked for.
    """

    next: int
    executed: int = 0
    kept: Kept | None = None


class Choice:
    """What executes one launch: the state that its workers go on with, and how far."""

    def __init__(self, prepared: Prepared) -> None:
        self._program = prepared.program
        self._native: Native | None = None
        self._equipped: dict[int, L.State] = {}
        self._past = Past(L.UNLIMITED)
        self._executed = 0
        """The micro-ops that this launch interpreted."""
        self._lock = threading.Lock()
        launch = prepared.launch
        if not can_be_native(prepared):
            return
        if launch.engine == "compiled":
            try:
                self._native = native_code(self._program)
            except NotCompiled as error:
                say_once(f"{self._program.name} is interpreted: {error}")
        elif launch.engine == "auto":
            self._program.past = self._past = self._program.past or Past(LOOK)
            if self._past.kept is None and launch.blocks * -(-launch.threads_per_block // 32) >= MANY:
                self._past.next = 0

    @property
    def is_settled(self) -> bool:
        """Whether the launch goes on to its end as it is: in native code, or without any."""
        return self._native is not None or self._past.next == L.UNLIMITED

    def begin(self, state: L.State) -> L.State:
        """The state in which a worker goes on, and in LAUNCH_LEFT how many micro-ops."""
        if self._left() <= 0:
            with self._lock:
                self._look()
        native = self._native
        if native is None:
            state.LAUNCH[L.LAUNCH_LEFT] = max(1, self._left())
            return state
        state.LAUNCH[L.LAUNCH_LEFT] = L.UNLIMITED
        place = id(state.LAUNCH)
        if place not in self._equipped:
            self._equipped[place] = native.equip(state)
        return self._equipped[place]

    def _left(self) -> int:
        """Micro-ops to interpret before the next look."""
        return max(self._past.next - self._past.executed, SHORT - self._executed)

    def note(self, micro_ops: int) -> None:
        """So many micro-ops have been executed; those of native code do not matter."""
        if self._native is None:
            self._past.executed += micro_ops
            self._executed += micro_ops

    def count(self) -> None:
        """Bring the counters of native code into those of the micro-ops."""
        if self._native is not None:
            for state in self._equipped.values():
                self._native.count(state)

    def _look(self) -> None:
        """Take native code if it is there; have it made if the launches have been long enough."""
        if self._native is not None or self._left() > 0:
            return
        try:
            if self._program.native is not None or self._is_to_load(self._past):
                self._native = native_code(self._program)
        except NotCompiled:  # then it stays interpreted, which nobody asked about
            self._past.next = L.UNLIMITED

    def _is_to_load(self, past: Past) -> bool:
        """Whether to load native code now, and to make it if nobody else can; if not, the next look is put off."""
        past.kept = past.kept or Kept(self._program)
        if past.kept.is_there():
            return True
        if past.executed < MAKE:
            past.next = MAKE
            return False
        if is_in_hand(self._program, past.kept):
            past.next = past.executed + LOOK
            return False
        return True


def is_in_hand(program: Program, kept: Kept, runs: Runs | None = None) -> bool:
    """Whether another process makes native code of a Program, or of *runs* of it; if need be one is started.

    Raises NotCompiled if that has failed.
    """
    if not (ENGINE.can_leave() and STORE.can_keep()):
        return False
    with _lock:
        process = _making.get(kept.name)
        if process is None:
            with tempfile.TemporaryFile() as file:
                pickle.dump((replace(program), runs), file)
                file.seek(0)
                _making[kept.name] = in_background(BUILDER, file)
        elif process.poll() is not None and not kept.is_there():
            raise NotCompiled("another process could not")
    return True
