"""What is measured: launches of kernels.cu, the steps between a short and a long one, and the number that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

U32 = np.uint32
MIB = 1 << 20
LINE_WORDS = 32


@dataclass(frozen=True)
class Figure:
    """Time per step: the difference of two launches of *kernel* that differ in their ``steps``, short and long.

    ``parameter``: the timing number that it tells (None: it only bears out those of the SM).  ``blocks``: one, whose
    SM's clock tells the time, or one on each SM, of which the mean counts.  With ``per_block`` there are more blocks
    than places for them, each with so many steps, and the time is that from the first start to the last end: SMs that
    are slower get fewer.  Of one block the time grows with the number by as much; of many it falls in proportion.
    ``cold``: L2 is emptied before.  ``before`` and ``after`` are the arguments around the steps; :func:`arguments` adds
    the array of times.  ``profiled``: no clock in a kernel sees it; Nsight Compute counts the cycles of one launch, of
    one step.
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
        return self.profiled or (self.blocks == 1 and not self.per_block)

    def arguments(self, steps: int) -> tuple[Any, ...]:
        """Of a launch of so many steps."""
        if self.profiled:
            return (*self.before, *self.after)
        return (*self.before, U32(steps), *self.after, np.zeros(4 * self.blocks_of(steps), np.int64))

    def per_step(self, cycles: Sequence[float]) -> float:
        """Time of a step, from those of the launches."""
        return (cycles[-1] - sum(cycles[:-1])) / (self.steps[-1] - sum(self.steps[:-1]))


@cache
def chain(lines: int, stride: int = 1, seed: int = 0) -> npt.NDArray[np.uint32]:
    """Words of a table of so many lines, of which each *stride*-th is followed in a random order, in a circle."""
    order = np.random.default_rng(seed).permutation(lines // stride).astype(np.int64) * stride * LINE_WORDS
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))  # begins at word 0
    table = np.zeros(lines * LINE_WORDS, U32)
    table[order] = np.roll(order, -1)
    return table


@cache
def words(count: int) -> npt.NDArray[np.uint32]:
    """So many zeros."""
    return np.zeros(count, U32)


def figures(multiprocessors: int) -> Sequence[Figure]:
    """All of them, for a GPU with so many SMs."""
    in_shared = (np.arange(1024) * 5 + 33).astype(U32) % U32(1024)
    out = words(1024)
    many = words(192 * MIB // 4)
    chased = ((64, 128), (4096, 4096))
    l1, l2 = ((chain(lines), U32(warm)) for lines, warm in chased)
    far = chain(64 * MIB // 128), U32(0)
    resident = partial(Figure, blocks=multiprocessors, threads=1024)
    streaming = partial(Figure, threads=256, cold=True, per_block=1024)
    vectors = 4 * MIB, 12 * MIB  # of 16 bytes; more than any L2 holds
    return (
        Figure("dependent FFMA", "chain_fma", None, (np.float32(1.5),), (out,), (1024, 5120)),
        Figure("dependent IMAD", "chain_imad", None, (U32(3),), (out,), (1024, 5120)),
        Figure("loads of shared memory", "chase_shared", "shared_latency", (in_shared, U32(64)), (out,), (512, 2560)),
        Figure("loads that hit L1", "chase_l1", "l1_latency", l1, (out,), (512, 2560)),
        Figure("loads that hit L2", "chase_l2", "l2_latency", l2, (out,), (512, 2560)),
        Figure("loads from DRAM", "chase_l2", "dram_latency", far, (out,), (512, 2560), cold=True),
        Figure("atomics with a result", "chase_atomic", "atomic_latency", l2, (out,), (512, 2560), threads=1),
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
        Figure("an empty launch", "nothing", "launch_overhead", (), (), (1,), multiprocessors, profiled=True),
    )  # fmt: skip
