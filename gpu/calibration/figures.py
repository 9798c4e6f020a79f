"""What is measured: launches of kernels.cu, the steps between a short and a long one, and the number that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

U32 = np.uint32
KIB = 1 << 10
MIB = 1 << 20
LINE_WORDS = 32


@dataclass(frozen=True)
class Figure:
    """Time per step: the difference of two launches of *kernel* that differ in their ``steps``, short and long.

    ``parameter``: the timing number that it tells (None: it only bears out those of the SM).  ``blocks``: one, whose
    SM's clock tells the time, or one on each SM, of which the mean counts.  With ``per_block`` there are more blocks
    than places for them, each with so many steps, and the time is that from the first start to the last end: SMs that
    are slower get fewer.  Of blocks of a warp the time grows with the number by as much; else it falls in proportion.
    ``cold``: L2 is emptied before.  ``before`` and ``after`` are the arguments around the steps; :func:`arguments` adds
    the array of times.  ``profiled``: no clock in a kernel sees it; of one launch Nsight Compute counts the cycles
    without those of the SM that works longest, which are the number.
    """

    name: str
    kernel: str
    parameter: str | None
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    steps: tuple[int, ...]
    blocks: int = 1
    threads: int = 32
    cold: bool = False
    per_block: int = 0
    profiled: bool = False

    def blocks_of(self, steps: int) -> int:
        """Blocks of a launch of so many steps."""
        return steps // self.per_block if self.per_block else self.blocks

    @property
    def is_latency(self) -> bool:
        """Whether the time grows with the number by as much."""
        return self.profiled or self.threads <= 32

    def arguments(self, steps: int) -> tuple[Any, ...]:
        """Of a launch of so many steps."""
        if self.profiled:
            return (*self.before, *self.after)
        return (*self.before, U32(steps), *self.after, np.zeros(4 * self.blocks_of(steps), np.int64))

    def per_step(self, cycles: Sequence[float]) -> float:
        """Time of a step, from those of the launches."""
        return (cycles[-1] - sum(cycles[:-1])) / (self.steps[-1] - sum(self.steps[:-1]))


@cache
def circle(lines: int) -> npt.NDArray[np.uint32]:
    """The first words of so many lines, in a random order that begins with word 0."""
    order = np.random.default_rng(0).permutation(lines).astype(U32) * U32(LINE_WORDS)
    return np.roll(order, -int(np.flatnonzero(order == 0)[0]))


@cache
def chain(lines: int) -> npt.NDArray[np.uint32]:
    """Words of a table of so many lines, each with the place of the next one in the circle."""
    table = np.zeros(lines * LINE_WORDS, U32)
    table[circle(lines)] = np.roll(circle(lines), -1)
    return table


def chased(lines: int, blocks: int, warm: int) -> tuple[Any, ...]:
    """Arguments of blocks that follow the circle, each from elsewhere; so many lines before the clock is read."""
    return chain(lines), circle(lines)[lines * np.arange(blocks) // blocks], U32(warm)


@cache
def words(count: int) -> npt.NDArray[np.uint32]:
    """So many zeros."""
    return np.zeros(count, U32)


def figures(multiprocessors: int) -> Sequence[Figure]:
    """All of them, for a GPU with so many SMs."""
    in_shared = (np.arange(1024) * 5 + 33).astype(U32) % U32(1024)
    out = words(1024)
    many = words(192 * MIB // 4)
    in_l2, in_dram = 256 * KIB // 128, 64 * MIB // 128
    l1, far = chased(64, 1, 128), chased(in_dram, multiprocessors, 0)
    l2 = chased(in_l2, multiprocessors, in_l2)
    everywhere = partial(Figure, blocks=multiprocessors)
    resident = partial(Figure, blocks=multiprocessors, threads=1024)
    streaming = partial(Figure, threads=256, cold=True, per_block=1024)
    vectors = 4 * MIB, 12 * MIB  # of 16 bytes; more than any L2 holds
    return (
        Figure("dependent FFMA", "chain_fma", None, (np.float32(1.5),), (out,), (1024, 5120)),
        Figure("dependent IMAD", "chain_imad", None, (U32(3),), (out,), (1024, 5120)),
        Figure("loads of shared memory", "chase_shared", "shared_latency", (in_shared, U32(64)), (out,), (512, 2560)),
        Figure("loads that hit L1", "chase_l1", "l1_latency", l1, (out,), (512, 2560)),
        everywhere("loads that hit L2, by each SM", "chase_l2", "l2_latency", l2, (out,), (512, 2560)),
        everywhere("loads from DRAM, by each SM", "chase_l2", "dram_latency", far, (out,), (512, 2560), cold=True),
        everywhere(
            "atomics with a result, by each SM", "chase_atomic", "atomic_latency", l2, (out,), (512, 2560), threads=1,
        ),
        resident(
            "reads of L2 by all SMs", "read_l2", "l2_read_bytes_per_cycle",
            (words(4 * 8192 * multiprocessors), U32(8192)), (words(1),), (65536, 196608),
        ),
        resident(
            "writes of L2 by all SMs", "write_l2", "l2_write_bytes_per_cycle",
            (words(4 * 1024 * multiprocessors), U32(1024)), (U32(1),), (65536, 196608),
        ),
        streaming(
            "reads of DRAM by all SMs", "stream_read", "dram_read_bytes_per_cycle",
            (many,), (words(1),), vectors,
        ),
        streaming(
            "copies in DRAM by all SMs", "stream_copy", "dram_write_bytes_per_cycle",
            (many,), (many,), vectors,
        ),
        streaming(
            "writes of DRAM by all SMs", "stream_write", "dram_write_alone_share",
            (many,), (U32(1),), vectors,
        ),
        Figure(
            "launches without their SMs' work", "words", "launch_overhead", (), (), (1,), 2 * multiprocessors, 256,
            profiled=True,
        ),
    )  # fmt: skip
