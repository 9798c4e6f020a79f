"""When a simulation goes over to native code for what it executes at once.

The timing model looks at a warp after every instruction, but executes what only computes together with the instruction
before it (:mod:`simt.timing.ahead`): such runs may be native code.  With ``engine="auto"`` it is taken when a
simulation has turned out long, as :mod:`simt.machine.compiled.choice` has it for functional runs.
"""

from __future__ import annotations

from simt.disk_cache import say_once
from simt.machine.compiled.choice import is_in_hand
from simt.machine.compiled.code import NativeRuns, NotCompiled, kept_stretches, stretches_code
from simt.machine.compiled.plan import Runs
from simt.machine.layout import UNLIMITED
from simt.program import Program

LOOK = 1 << 16
"""Warp instructions after which a simulation looks for native code in the cache, and again."""

SOON = 1 << 14
"""The same if this process has it already: to go over to it costs a third of a millisecond, which so many may save."""

MAKE = 1 << 21
"""Warp instructions after which it has native code made: half a second, which is more than the making takes."""


class Quickening:
    """What one simulation of a Program, whose stretches are *runs*, knows of their native code."""

    def __init__(self, program: Program, runs: Runs, engine: str) -> None:
        self._program, self._runs, self._waits = program, runs, engine == "auto"
        first = SOON if program.stretches is not None else LOOK
        self.next = UNLIMITED if engine == "interpreter" or not runs else first if self._waits else 0
        """Warp instructions after which it looks again."""

    @property
    def is_open(self) -> bool:
        """Whether it may still go over to native code."""
        return self.next < UNLIMITED

    def look(self, issued: int) -> NativeRuns | None:
        """After so many warp instructions: native code, if it is to be taken from now on."""
        if issued < self.next:
            return None
        try:
            if self._waits and self._program.stretches is None:
                self.next = self._put_off(issued)
                if self.is_open:
                    return None
            self.next = UNLIMITED
            return stretches_code(self._program, self._runs)
        except NotCompiled as error:
            self.next = UNLIMITED
            if not self._waits:
                say_once(f"{self._program.name} is interpreted: {error}")
            return None

    def _put_off(self, issued: int) -> int:
        """When to look again: UNLIMITED if native code is there, or nobody else can make it."""
        kept = kept_stretches(self._program, self._runs)
        if kept.is_there():
            return UNLIMITED
        if issued < MAKE:
            return MAKE
        return issued + LOOK if is_in_hand(self._program, kept, self._runs) else UNLIMITED
