"""Blocks that run in turns because one may wait for another: whose turn is next, and how long it is.

A block that runs on and on may be waiting for one that has not begun.  So the next blocks begin, as many as the GPU
holds together, and all of them get turns until they end.
"""

from __future__ import annotations

import zlib

from simt.machine import layout as L
from simt.machine.device_memory import DeviceMemory

LONG = 1 << 20
"""Micro-ops after which a block gives way: so many that what ordinary blocks pay for that cannot be measured."""
FIRST, SHORT = 1 << 14, 1 << 12
"""Micro-ops of the first turn of a block, and of the others while blocks end."""
PARTS, STRIKES = 4, 4
"""Memory is looked at so many times while blocks that run in turns execute the budget of one; and after so many looks
that found it unchanged the oldest block runs alone, until it ends or is over its budget."""


class Rotation:
    """Blocks with their states, in the order in which they began.

    Turns go up and down the list, so that it does not matter which way blocks wait.  They become longer as long as no
    block ends.
    """

    def __init__(self, device: DeviceMemory, budget: int) -> None:
        self.running: list[tuple[int, L.State]] = []
        self._longest = longest_turn(budget)
        self._device = device
        self._part = max(1, budget // PARTS)
        self._executed = 0  # warp instructions since the last look
        self._digest = -1
        self._strikes = 0
        self._at, self._step, self._length = 0, 1, SHORT
        self._before = 0  # what the block had executed before its turn
        self._ended = self._fresh = False

    def add(self, block: int, state: L.State) -> None:
        """Another block, whose turn is next."""
        self.running.append((block, state))
        self._at, self._fresh = len(self.running) - 1, True

    def next(self) -> tuple[int, L.State, int]:
        """The block whose turn is next, and up to how many of its micro-ops that is."""
        if self._strikes == STRIKES:
            self._at = 0
        elif not 0 <= self._at < len(self.running):
            self._turn_round()
        block, state = self.running[self._at]
        started = int(state.LAUNCH[L.LAUNCH_STARTED])
        self._before = int(state.LAUNCH[L.LAUNCH_EXECUTED]) * started
        length = min(FIRST if self._fresh else self._length, self._longest)
        self._fresh = False
        return block, state, length + int(state.LAUNCH[L.LAUNCH_STEPS]) * started

    def _turn_round(self) -> None:
        self._step = -self._step
        self._at = 0 if self._step > 0 else len(self.running) - 1
        self._length = SHORT if self._ended else min(2 * self._length, self._longest)
        self._ended = False

    def went_on(self) -> None:
        """The turn is over, and the block has not ended."""
        executed = int(self.running[self._at][1].LAUNCH[L.LAUNCH_EXECUTED]) - self._before
        self._at += self._step
        self._executed += executed
        if self._executed >= self._part:
            self._look()

    def ended(self) -> L.State:
        """The block has ended; the state that it leaves."""
        _, state = self.running.pop(self._at)
        self._at -= self._step < 0
        self._ended = True
        self._strikes = 0
        return state

    def _look(self) -> None:
        """Whether what the blocks did since the last look has changed memory."""
        digest = 0
        for allocation in self._device.allocations:
            if allocation.writable:
                digest = zlib.crc32(self._device.bytes_of(allocation).data, digest)
        self._strikes = min(self._strikes + 1, STRIKES) if digest == self._digest else 0
        self._digest = digest
        self._executed = 0


def longest_turn(budget: int) -> int:
    """Micro-ops of a turn at most; of launches with a small budget less than that is."""
    return max(1, min(LONG, budget // PARTS))
