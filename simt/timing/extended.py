"""Of the blocks of SMs that would take too long, the first are simulated; what all of them come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from simt.timing import layout
from simt.timing.result import TOTALS, TimingResult
from simt.timing.sample import Sample

WAVES = 6
"""Waves of blocks that are simulated at least: the first begins all at once, and the last ends with empty places."""
LONG = 1 << 22
"""Where blocks are so long that these waves are too many: so many warp instructions of each SM are simulated at least,
which takes it over a million cycles.  What of them are beginnings is little then."""
MOST = 0.75
"""If more than this share of the blocks would be simulated, all are."""

Integers = npt.NDArray[np.int64]
Look = tuple[int, Integers]
"""The cycle at which one looked, and the clock's TOTALS."""


def affordable(work: Integers, sample: Sample, most_instructions: float, room: int) -> int:
    """How many of a sample's blocks are to be simulated: of *room* places for them each is taken WAVES times."""
    mine = work[sample.blocks_of(len(work)), 0].cumsum()
    first = max(int(np.searchsorted(mine, most_instructions, side="right")), WAVES * room)
    return first if first <= MOST * sample.n_blocks else sample.n_blocks


def longest(sample: Sample, most_instructions: float) -> float:
    """How many warp instructions are issued at most, even if no block has ended by then."""
    return max(most_instructions, LONG * sample.n_sms)


def extended(
    found: TimingResult, sample: Sample, work: Integers, looks: Sequence[Look], ended: bool = True
) -> TimingResult:
    """What all blocks of *sample* come to, of which *found* has the first; *work*: what each block of the launch is.

    The others are as what was issued between two of the *looks*: in the second half, when what all read has been
    fetched, but before places are empty.  Unless they *ended*, the rest of those that were left is like that, too.
    """
    mine = work[sample.blocks_of(len(work)), 0]
    first = found.blocks if ended else max(int(np.searchsorted(mine.cumsum(), found.executed)), 1)
    done = mine[:first].sum() if ended else found.executed
    more = max(mine.sum() / done - 1, 0.0)
    issued = found.totals["issued"]
    before_the_end = 1 - found.occupancy.blocks_per_sm * sample.n_sms / first if ended else 1.0
    steady = [look for look in looks if 0.5 <= look[1][layout.N_ISSUED] / issued <= before_the_end]
    start = (0, np.zeros(layout.N_TOTAL, np.int64))
    begin, end = (steady[0], steady[-1]) if len(steady) > 1 else (start, looks[-1])
    rate = issued * more / (end[1][layout.N_ISSUED] - begin[1][layout.N_ISSUED])
    rest = (end[0] - begin[0]) * rate
    totals = {
        name: n + round((end[1][k] - begin[1][k]) * rate) for name, k in TOTALS.items() for n in [found.totals[name]]
    }
    totals["cycles"] = found.totals["cycles"] + round(rest)
    if ended:
        totals["active_cycles"] = found.totals["active_cycles"] + round(rest * sample.n_sms)
        longer = totals["warp_cycles"] / found.totals["warp_cycles"]
    else:  # of warps that have not ended neither was counted
        totals["active_cycles"] = totals["cycles"] * sample.n_sms
        longer = totals["cycles"] / found.totals["cycles"]
        totals["warp_cycles"] = round(int(found.stalls.sum()) * longer)
    totals["busiest"] = round(found.totals["busiest"] * (1 + more))
    return replace(
        found,
        totals={**found.totals, **totals},
        ports={name: round(n * (1 + more)) for name, n in found.ports.items()},
        stalls=_times(found.stalls, longer),
        accesses=_times(found.accesses, 1 + more),
        counters=_times(found.counters, 1 + more),
        sample=replace(sample, simulated=first),
    )


def _times(counts: Integers, factor: float) -> Integers:
    made: Integers = np.rint(counts * factor).astype(np.int64)
    return made
