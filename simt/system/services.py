"""The services of a launch: what the machine asks when a kernel calls a function of the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from simt.machine.services import SystemCall
from simt.system.functions import FUNCTIONS, launches_grids
from simt.system.grid import ROOM, Grid


class SystemServices(Grid):
    """Serves the calls of one grid; a :class:`simt.machine.services.Services`."""

    def serve(self, call: SystemCall) -> None:
        """Do what the function does for each lane, and give each what it returns."""
        function = FUNCTIONS[call.function]
        if not self.repeats:
            self.called.setdefault(call.function, Counter())[call.block] += 1
        results = function.serve(self, call, function.arguments(call))
        if results is not None:
            function.put(call, results)

    def room(self, functions: Sequence[str]) -> int:
        """Bytes that the parameters of launches need."""
        return ROOM if launches_grids(functions) else 0

    def rehearsal(self) -> SystemServices:
        """Services in the same state, whose output is discarded and whose launches leave no profile."""
        world = self.world
        heap = world.heap.copy() if world.heap is not None else None
        made = SystemServices(replace(world, heap=heap, execute=world.repeat), self.depth)
        made.called, made.repeats = self.called, True
        return made
