"""What to run a Program with, and the limits that hold for every launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from simt.check import Finding, LaunchError
from simt.machine.schedule import Schedule
from simt.machine.services import Services

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 227 * 1024
MAX_STATIC_SHARED_BYTES = 48 * 1024
"""Limits common to all devices since compute capability 5.0 (CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability"); shared memory is the largest opt-in size (9.0)."""

MAX_LOCAL_BYTES = 512 * 1024
"""Local memory per thread, likewise the same on all devices (stack included)."""

ORDERS = {"then_first": 0, "else_first": 1, "hardware": 2, "profiler": 3, "interleaved": 4, "random": 5}

ENGINES = ("auto", "interpreter", "compiled")
"""What executes the micro-ops: the interpreter alone, or also native code of the Program where it can, either from the
start or (auto) once the launch has turned out long."""
DEFAULT_ENGINE = ENGINES[0]

CLOCK_STEP = 41
"""Cycles between two reads of the clock without the timing model.  On an H200 a loop that waits for ``clock64`` takes
this many per round (tests/data/system), so it makes as many rounds here."""


class DeviceArray(NamedTuple):
    """An array argument in device memory: the address of its first element, its shape, its strides in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Bank(NamedTuple):
    """A constant bank: its contents, and its device address if it stands in device memory already."""

    data: bytes | memoryview
    address: int | None = None


class BankFacts(NamedTuple):
    """Facts of a launch that its constant banks hold, besides its shape.

    ``dynamic_shared``: bytes of dynamic shared memory of a block; ``workspace``: device address of the memory in which
    the blocks of a cooperative launch wait for each other (0: the launch is none).
    """

    dynamic_shared: int = 0
    workspace: int = 0


NO_FACTS = BankFacts()

BankImage = Callable[[Sequence[int | None], BankFacts], Mapping[int, Bank]]
"""Makes the constant banks from the device address of each argument (None for scalars) and the other facts."""

WORKSPACE_BYTES = 8
"""Size of that memory: CUDA's ``grid_workspace``, which starts at zero."""


class Watch(Protocol):
    """Looks for errors in the events of a launch (events.py)."""

    @property
    def told(self) -> int:
        """The events that it asks for: bits of LAUNCH_WATCH."""

    @property
    def in_order(self) -> bool:
        """Whether it needs the events of all blocks in one order: the launch then runs on one host thread."""

    @property
    def sees_writes(self) -> bool:
        """Whether it tracks memory that has not been written (DeviceMemory.unwritten)."""

    def begin(self, prepared: Any, workers: int) -> None:
        """The launch, prepared, is about to run.  Raises LaunchError if it is too large to watch."""

    @property
    def variables(self) -> npt.NDArray[np.int64]:
        """The micro-ops whose events it asks for because of the variables that they read or write."""

    @property
    def needless(self) -> npt.NDArray[np.int64]:
        """The micro-ops of which it need not be told anything else."""

    def judge(self, worker: int, events: npt.NDArray[np.int64]) -> tuple[int, Exception] | None:
        """Take the events of a worker up to now; the error that is to end the launch, if any, and its block."""

    def meet_grid(self) -> None:
        """All blocks have met at the barrier of the grid."""

    def finish(self) -> Sequence[Finding]:
        """The launch has ended well: what was found that did not end it."""


@dataclass
class Launch:
    """What to run a Program with.

    ``arguments`` are scalars and arrays, one per kernel parameter.  The machine wants arrays as :class:`DeviceArray`;
    :mod:`simt.runtime` takes NumPy arrays and puts them there.  ``bank_image`` (machine view) makes the constant
    banks.  ``trace`` is False, True, or (linear block index, warp), -1 meaning all.  ``max_instructions`` is per
    block, in warp instructions.  ``watch`` is told what the launch does (slower).  ``fill``: what shared and local
    memory hold at the start (64 bits), and whether that is only the seed of random bits.  ``whole_buffers``: a NumPy
    array that the program does not address by axes may be followed to the ends of the buffer that it is a view
    of.  ``cooperative``: all blocks run together, in turns, so that they can wait for each other.  ``services``
    serve the calls of code that is not the kernel's (``printf``); ``clock_mhz`` is the rate of its clock.
    ``schedule`` decides which warp runs when.  ``resident``: blocks that the GPU holds together, where they are to run
    together: under a schedule, and if one may wait for another (waiting.py).
    ``engine``: see ENGINES.
    ``per_block``: note what each block was, and which memory blocks access (``work`` and ``reached`` of RunResult).
    ``part``: the first block to run and one past the last (None: all), of a launch that several processes share.
    ``chosen``: run these blocks alone, each once.  ``most_seconds``: raise TooLong (outlook.py) as soon as the blocks
    look as if all of them would take longer, by ``work``: of a launch with ``per_block``.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Sequence[object]
    shared_bytes: int = 0
    order: str = "then_first"
    threads: int | None = None
    trace: bool | tuple[int, int] = False
    max_instructions: int = 2**28
    watch: Watch | None = None
    fill: tuple[int, bool] = (0, False)
    whole_buffers: bool = True
    bank_image: BankImage | None = None
    services: Services | None = None
    clock_mhz: int = 1000
    cooperative: bool = False
    progress: Callable[[int, int], None] | None = None
    schedule: Schedule | None = None
    resident: int = 1
    engine: str = DEFAULT_ENGINE
    per_block: bool = False
    part: tuple[int, int] | None = None
    chosen: Sequence[int] | None = None
    most_seconds: float | None = None

    @property
    def span(self) -> tuple[int, int]:
        """The first block to run and one past the last."""
        return (0, self.blocks) if self.part is None else self.part

    def array(self, number: int) -> DeviceArray:
        """The array that is argument *number*, in device memory."""
        found = self.arguments[number]
        assert isinstance(found, DeviceArray), "the runtime puts arrays into device memory"
        return found

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


def dimensions(value: object, what: str) -> tuple[int, int, int]:
    """Normalise a grid or block given as an int or a tuple of up to three ints.  Raises LaunchError."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, (int, np.integer)) for p in parts):
        raise LaunchError(f"{what} must be an int or a tuple of one to three ints, not {value!r}")
    x, y, z = (*(int(p) for p in parts), 1, 1, 1)[:3]
    limits = MAX_BLOCK if what == "block" else MAX_GRID
    for size, limit, axis in zip((x, y, z), limits, "xyz", strict=True):
        if not 1 <= size <= limit:
            raise LaunchError(
                f"{what} dimension {axis} is {size}; it must be between 1 and {limit}",
                help="an empty input needs no launch" if size == 0 and what == "grid" else "",
            )
    if what == "block" and x * y * z > MAX_THREADS_PER_BLOCK:
        raise LaunchError(f"a block of {x * y * z} threads; the limit is {MAX_THREADS_PER_BLOCK} threads per block")
    return x, y, z


def parse_order(order: str) -> tuple[int, int]:
    """Number and seed of an order: ``then_first``, ``else_first``, ``hardware``, ``profiler``, ...; see ORDERS."""
    name, _, seed = order.partition(":")
    if name not in ORDERS or (seed and not (name == "random" and seed.lstrip("-").isdigit())):
        raise LaunchError(
            f"unknown split order {order!r}",
            help="choose then_first, else_first, profiler, hardware, interleaved or random:SEED",
        )
    return ORDERS[name], int(seed or 0) & 0x7FFFFFFF
