"""What the simulated SMs fetch of each allocation: their share of what all SMs fetch, see :mod:`simt.timing.others`."""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt

from simt.machine.layout import ADDRESS_BASE, REACH
from simt.machine.prepared import Prepared
from simt.timing.clock import Clock
from simt.timing.parameters import LINE_BYTES, Parameters
from simt.timing.sample import Sample

SECTOR_BYTES = 32
BISECTIONS = 60
"""Of a billion that leaves nothing."""
PER_LINE = LINE_BYTES // REACH
Integers = npt.NDArray[np.int64]


def accessed(
    prepared: Prepared, reached: npt.NDArray[np.uint8] | None, executed: int | None = None
) -> tuple[Integers, Integers, Integers]:
    """Bytes and lines of each global allocation that a launch accesses, by what the functional run *reached*.

    And the lines from the first of them to the last.  All of an allocation if that is not known, or if it is read by
    textures or bulk copies alone, which are not noted.  *executed*: so many blocks were, and *reached* tells two halves
    of them apart.
    """
    memory = prepared.memory
    size = memory.ends - memory.starts
    n_bytes, lines = size.copy(), -(-size // LINE_BYTES)
    spans = lines.copy()
    if reached is not None:
        for k, (start, end) in enumerate(zip(*_places(prepared), strict=True)):
            units = reached[start // REACH : -(-end // REACH)]
            if not units.any():
                continue
            whole = len(units) // PER_LINE * PER_LINE  # slices: reduceat takes 4 ms for 64 MB
            of_lines = reduce(np.bitwise_or, (units[i:whole:PER_LINE] for i in range(PER_LINE)))
            last = np.bitwise_or.reduce(units[whole:], keepdims=True)
            of_lines = np.concatenate([of_lines, last])
            touched = of_lines != 0
            spans[k] = len(touched) - touched.argmax() - touched[::-1].argmax()
            if executed is None:
                n_units = int(np.count_nonzero(units))
                n_lines = int(np.count_nonzero(touched))
            else:
                n_units = _of_all(units, executed, prepared.launch.blocks)
                n_lines = _of_all(of_lines, executed, prepared.launch.blocks)
                n_lines = min(n_lines, int(lines[k]))
            n_bytes[k], lines[k] = min(REACH * n_units, size[k]), n_lines
    return n_bytes, lines, spans


def _of_all(reached: npt.NDArray[np.uint8], executed: int, blocks: int) -> int:
    """How many places all blocks reach if two samples of as many of them reached these (:attr:`RunResult.reached`).

    Both samples are *executed* of all *blocks*, drawn by chance.  As if each place were reached by as many blocks: the
    more they are, the more of the places of one sample are in the other, too.  Those places come of few pairs of blocks
    that have some in common, so their number may be larger by chance: it is taken to be, by a standard deviation, since
    more than there is memory for is no harm.
    """
    half = executed / 2 / blocks
    first, second, both = (int(np.count_nonzero(reached & bits == bits)) for bits in (1, 2, 3))
    each = (first + second) / 2
    if not each:
        return 0
    of_block = each / (executed / 2)
    common = both / each
    common = max(common - (common * (1 - common) * of_block / each) ** 0.5, 0.0)
    low, high = 1.0, 1e9
    for _ in range(BISECTIONS):
        users = (low * high) ** 0.5
        missed = (1 - half) ** users
        met = (1 - 2 * missed + (1 - 2 * half) ** users) / (1 - missed)
        low, high = (users, high) if met < common else (low, users)
    found: int = round(each / (1 - (1 - half) ** low))
    return max(found, first + second - both)


def _places(prepared: Prepared) -> tuple[Integers, Integers]:
    """Where each global allocation begins and ends in the arena."""
    return prepared.memory.starts - int(ADDRESS_BASE), prepared.memory.ends - int(ADDRESS_BASE)


def quotas_of(
    prepared: Prepared, numbers: Parameters, sample: Sample, share: float, n_bytes: Integers, lines: Integers
) -> tuple[Integers, npt.NDArray[np.float64]]:
    """Lines of each global allocation, and the simulated SMs' share of the sectors that the launch accesses there.

    *n_bytes*, *lines*: what it accesses (:func:`accessed`).  None if all SMs are simulated.
    """
    if sample.is_whole:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.float64)
    starts, ends = _places(prepared)
    extents = np.stack([starts // LINE_BYTES, -(-ends // LINE_BYTES)], axis=1)
    # The busiest SM has some blocks more than its share: of what L2 does not hold, it fetches all that they ask for.
    own = np.where(_is_larger(lines, numbers), max(share, sample.share), share)
    return extents, np.ceil(n_bytes / SECTOR_BYTES * own)


def _is_larger(lines: Integers, numbers: Parameters) -> npt.NDArray[np.bool_]:
    """Of which allocations L2 does not hold so many lines."""
    return lines * LINE_BYTES > numbers["l2_bytes"]


def left_to_others(clock: Clock, numbers: Parameters, sample: Sample, given: float) -> int:
    """Sectors of the simulated blocks' share that the SMs asked for, but found as fetched by others.

    *given*: how much of the share they were given, as blocks started.

    Either they asked before all of their share was given out, or they have some blocks more than the average SM, but no
    more of DRAM's time.
    """
    more = max(sample.share * sample.chip / sample.n_sms, 1.0)
    share = given * clock.QUOTAS * np.where(_is_larger(clock.ACCESSED, numbers), 1.0, more)
    return int(np.minimum(share - clock.FETCHED_OF, clock.DENIED).clip(0).sum())
