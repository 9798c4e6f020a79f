"""A launch that would take too long: what all of its blocks do, by some that are executed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simt.machine import DeviceMemory, Launch, RunResult, TooLong
from simt.program import Program

INSTRUCTIONS, BLOCKS = 1 << 26, 256
"""Blocks are executed until they have come to so many warp instructions (about 3 s on two cores), and to so many of
them.  Neither is a time, so that the same launch is seen by the same blocks on any computer that is fast enough."""
SHARE = 1 / 4
"""They may take this share of the time that the launch may take."""
FEWEST = 8
"""From fewer blocks nothing is concluded."""
LOOKED_AT = 16
"""Of so many of the first blocks we know by how many instructions a block executes."""
LONGER = 64
"""A block that executes so many times as many warp instructions as any before is taken to wait for one left out."""


@dataclass(frozen=True)
class Preview:
    """What is to be done if all blocks of a launch would take more than ``seconds``, as far as can be foreseen.

    ``told`` is called with what some of them did, after the second run has been called with the same; then the launch
    goes on from its beginning, and takes as long as it takes.
    """

    seconds: float
    told: Callable[[RunResult], None]


def in_part(
    program: Program,
    launch: Launch,
    memory: DeviceMemory,
    found: TooLong,
    seconds: float,
    how: Callable[[Program, Launch, DeviceMemory], RunResult],
) -> RunResult | None:
    """What a launch does, by blocks from all over its grid, which leave *memory* as they leave it.

    *found*: how fast its first blocks were, *seconds*: how long all of them might take.  None if there is time for so
    few of them that nothing can be said.
    """
    blocks = launch.blocks
    chosen = _chosen(blocks, found.work, found.blocks_per_second * seconds * SHARE)
    if len(chosen) < FEWEST:
        return None
    halves = [how(program, replace(launch, chosen=chosen[k::2].tolist()), memory) for k in (0, 1)]
    work = [half.work for half in halves if half.work is not None]
    reached = [half.reached for half in halves if half.reached is not None]
    counted = halves[0].counters + halves[1].counters
    executed = work[0] + work[1]
    of_all = _of_all(np.sort(chosen), executed)
    times = of_all[:, 0].sum() / executed[:, 0].sum()
    return replace(
        halves[0],
        counters=np.rint(counted * times).astype(np.int64),
        seconds=sum(half.seconds for half in halves),
        work=of_all,
        reached=reached[0] | np.left_shift(reached[1], 1, dtype=np.uint8),
        executed=len(chosen),
    )


def _chosen(blocks: int, work: npt.NDArray[np.int64], most: float) -> npt.NDArray[np.int64]:
    """Which blocks are executed: an even number of them, no more than *most*, in any order.

    By chance: of blocks that are evenly spread fewer are neighbours, which access something in common, and of how
    much that is follows what all blocks access.
    """
    first = work[work[:, 0] > 0, 0][:LOOKED_AT]
    wanted = max(INSTRUCTIONS / first.mean(), BLOCKS) if len(first) else 0
    number = int(min(wanted, most, blocks)) // 2 * 2
    return np.random.default_rng(blocks).permutation(blocks)[:number]


def _of_all(chosen: npt.NDArray[np.int64], work: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What each block is, if it is as the nearest of those that were *chosen*, in ascending order."""
    middles = (chosen[1:] + chosen[:-1] + 1) // 2
    made: npt.NDArray[np.int64] = work[chosen[np.searchsorted(middles, np.arange(len(work)), side="right")]]
    return made
