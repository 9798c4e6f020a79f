"""One grid and what it leaves behind: its output, the grids that it launched, the errors that it can ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from simt.machine import DeviceMemory
from simt.machine.services import Services, SystemCall
from simt.system.heap import Heap
from simt.system.world import Request, World

ROOM = 4 << 20
"""Bytes for the parameters of launches that threads of a block prepare: 4 KiB for each of 1024."""


class HostWork(Protocol):
    """What the host itself does when its turn comes: a copy or a fill that code on the device asked for."""

    def run(self, memory: DeviceMemory) -> None:
        """Do it."""


@dataclass
class Child:
    """What waits to run: a launch or work of the host, of which block, and whether it waits for the end of the grid."""

    work: Request | HostWork
    block: int
    tail: bool


class Grid(ABC):
    """A grid under way.  ``depth`` is 0 for the host's own launch."""

    def __init__(self, world: World, depth: int = 0) -> None:
        self.world = world
        self.depth = depth
        self.errors: dict[tuple[int, int], int] = {}
        """Last error of the device runtime, by block and thread."""
        self.prepared: dict[int, Request] = {}
        """Launches whose parameters are being written, by the address of those."""
        self.called: dict[str, Counter[int]] = {}
        """How often each block has called a function, by the function; of a rehearsal, in the run that it repeats."""
        self.repeats = False
        self._printed: dict[int, list[bytes]] = {}
        self._after: list[bytes] = []
        self._children: list[Child] = []
        self._buffers: Heap | None = None

    @abstractmethod
    def serve(self, call: SystemCall) -> None:
        """Do what a function does, for each lane of the call."""

    @abstractmethod
    def room(self, functions: Sequence[str]) -> int:
        """Bytes of device memory that these functions need."""

    @abstractmethod
    def rehearsal(self) -> Services:
        """The same services for a second run that leaves no trace."""

    def block_bytes(self, address: int) -> int:
        """How large the block is that ``malloc`` gave at an address, 0: it gave none."""
        return self.world.heap.size_of(address) if self.world.heap is not None else 0

    # Output

    def print(self, block: int, text: bytes) -> None:
        """Keep what a block printed."""
        self._printed.setdefault(block, []).append(text)

    def cut(self, block: int) -> None:
        """Forget what blocks after *block*, which went wrong, printed: the host's threads decide whether they ran."""
        for other in [number for number in self._printed if number > block]:
            del self._printed[other]

    def text(self) -> bytes:
        """What the grid printed, in the order of its blocks, then what the grids printed that it launched."""
        return b"".join(b"".join(self._printed[block]) for block in sorted(self._printed)) + b"".join(self._after)

    # Launches

    def buffers(self, call: SystemCall) -> Heap:
        """Where the parameters of launches stand until they are made."""
        if self._buffers is None:
            self._buffers = Heap(call.room, ROOM)
        return self._buffers

    def queue(self, child: Child) -> None:
        """Keep a launch, or work of the host, until it can run."""
        self._children.append(child)
        self.world.waiting += child.tail

    @property
    def is_full(self) -> bool:
        """Whether as many launches as may be are under way, or wait for others.

        Grids that could have run by now do not count: an H200 runs children beside their parents.
        """
        return self.depth + self.world.waiting >= self.world.limits.pending_launches

    def wait(self, call: SystemCall) -> None:
        """Run what the block of *call* has launched, now, while the block waits."""
        mine = [child for child in self._children if child.block == call.block]
        self._children = [child for child in self._children if child.block != call.block]
        self._run(mine, call.memory, lambda text: self.print(call.block, text))

    def finish(self, memory: DeviceMemory) -> None:
        """Run what the grid, which has ended, has launched, and what those have launched.

        In order: each with all that it launches before the next one, tail launches last.
        """
        self._run(self._take(), memory, self._after.append)

    def _take(self) -> deque[Child]:
        """The launches that wait, tail launches last."""
        found, self._children = self._children, []
        return deque(sorted(found, key=lambda child: child.tail))

    def _run(self, children: Iterable[Child], memory: DeviceMemory, keep: Callable[[bytes], None]) -> None:
        """Run *children* with all that they launch; *keep* hears what each printed.

        Not by recursion: there may be thousands of levels.
        """
        stack = [(self.depth, deque(children))]
        while stack:
            depth, waiting = stack[-1]
            if not waiting:
                stack.pop()
                continue
            child = waiting.popleft()
            self.world.waiting -= child.tail
            if not isinstance(child.work, Request):
                child.work.run(memory)
                continue
            made = type(self)(self.world, depth + 1)
            try:
                self.world.execute(child.work, made, memory)
            finally:
                keep(made.text())
            stack.append((made.depth, made._take()))
