"""What is measured: launches of kernels.cu, the steps between a short and a long one, and the number that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
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
    SM's clock tells the time, or many, of which the first start and the last end count.  Of one the time grows with
    the number by as much; of many it falls in proportion.  ``cold``: L2 is emptied before.  ``before`` and ``after``
    are the arguments around the steps; :func:`arguments` adds the array of times.
    """

    name: str
    kernel: str
    parameter: str | None
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    steps: tuple[int, int]
    blocks: int = 1
    threads: int = 32
    cold: bool = False

    def arguments(self, steps: int) -> tuple[Any, ...]:
        """Of a launch of so many steps."""
        return (*self.before, U32(steps), *self.after, np.zeros(4 * self.blocks, np.int64))

    def per_step(self, short: float, long: float) -> float:
        """Time of a step, from those of the two launches."""
        return (long - short) / (self.steps[1] - self.steps[0])


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
    out, vectors = words(1024), 2 * MIB  # of 16 bytes
    many = 8 * multiprocessors
    sums = words(2048 * multiprocessors)
    chased = ((64, 128), (4096, 4096))
    l1, l2 = ((chain(lines), U32(warm)) for lines, warm in chased)
    far = chain(64 * MIB // 128), U32(0)
    return (
        Figure("dependent FFMA", "chain_fma", None, (np.float32(1.5),), (out,), (1024, 5120)),
        Figure("dependent IMAD", "chain_imad", None, (U32(3),), (out,), (1024, 5120)),
        Figure("loads of shared memory", "chase_shared", "shared_latency", (in_shared, U32(64)), (out,), (512, 2560)),
        Figure("loads that hit L1", "chase_l1", "l1_latency", l1, (out,), (512, 2560)),
        Figure("loads that hit L2", "chase_l2", "l2_latency", l2, (out,), (512, 2560)),
        Figure("loads from DRAM", "chase_l2", "dram_latency", far, (out,), (512, 2560), cold=True),
        Figure("atomics with a result", "chase_atomic", "atomic_latency", l2, (out,), (512, 2560)),
        Figure(
            "reads of L2 by all SMs", "read_l2", "l2_read_bytes_per_cycle",
            (words(MIB), U32(MIB // 4)), (sums,), (MIB // 16, 3 * MIB // 16), multiprocessors, 1024,
        ),
        Figure(
            "reads of DRAM by all SMs", "stream_read", "dram_read_bytes_per_cycle",
            (words(4 * 2 * vectors),), (sums,), (vectors, 2 * vectors), many, 256, cold=True,
        ),
        Figure(
            "writes to DRAM by all SMs", "stream_write", "dram_write_bytes_per_cycle",
            (words(4 * 3 * vectors),), (U32(1),), (vectors, 3 * vectors), many, 256, cold=True,
        ),
    )  # fmt: skip
