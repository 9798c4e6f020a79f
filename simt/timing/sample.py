"""Which blocks and SMs stand for a launch, and how far a sample of them may be from the whole.

The functional run says what each block was.  By that, blocks are given to SMs as the chip gives them, and the load of
the sample is held against that of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

TOLERANCE = 0.02
"""A sample whose load is so near to that of the whole stands for it."""
OTHERS_IDLE = 0.14
"""What it adds to the uncertainty that the SMs with the longest blocks are taken to have others beside them as busy.

Two of three of 12 launches with one or few long blocks, ramps or random lengths, which load a sector in two warp
instructions, came within that of all SMs of the model, at one SM; 6 that only compute within 2 %.
"""
SEVERAL = 8
"""So many SMs stand for blocks that differ if only some of them were executed: what an SM gets is not known then."""
COMPUTES = 0.1
"""Of launches that move so few sectors a warp instruction it does not."""
IN_PART = 0.01
"""What it adds that not all blocks were executed beforehand.

Of 37 launches of others' programs, predicted by 8 % of their blocks (256 at least) and by all, two of three were the
same within 0.1 %, nine of ten within 1.1 %, the worst 5 % off.
"""
END = 2
"""So many of what decides how long SMs take (:func:`_loads`) say when the last of them ends."""


@dataclass(frozen=True)
class Sample:
    """``n_sms`` neighbours of the ``chip`` SMs that get blocks, from number ``first`` on.

    ``n_blocks`` of the launch's run on them: of each ``chip`` that follow each other those at the SMs' places.
    ``uncertainty``: by how much the load of the SMs may differ from that of all, as a share (None: nobody asked what
    each block does).  ``limited``: there was no time or memory for more SMs.  ``share``: of the launch's sectors of
    memory, those of these blocks.  ``paired``: one SM would do, but its only block does not show where others write.
    ``executed``: what all blocks do is known by so many of them (None: all), and ``unknown`` how far that may be off.
    ``simulated``: so many of the ``n_blocks``, the first ones, from which the others follow (None: all).
    """

    n_sms: int
    chip: int
    n_blocks: int
    first: int = 0
    uncertainty: float | None = None
    limited: bool = False
    share: float = 1.0
    paired: bool = False
    executed: int | None = None
    unknown: float = 0.0
    simulated: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all SMs are in it."""
        return self.n_sms == self.chip

    @property
    def is_alike(self) -> bool:
        """Whether nothing is known of differences between the blocks."""
        one = self.n_sms == 1 or self.paired
        return self.uncertainty is None or (one and self.uncertainty <= TOLERANCE and not self.limited)

    def blocks_of(self, blocks: int) -> npt.NDArray[np.bool_]:
        """Which of a launch's *blocks* run on the SMs of the sample."""
        return _blocks_of(blocks, self.chip, self.n_sms, self.first)

    def to_dict(self) -> dict[str, object]:
        """What was simulated, for JSON."""
        return {
            "sms": self.n_sms,
            "first_sm": self.first,
            "blocks": self.n_blocks,
            "uncertainty_percent": None if self.uncertainty is None else 100 * self.uncertainty,
            "blocks_simulated": self.simulated or self.n_blocks,
            "blocks_executed_before": self.executed,
            "unknown_percent": 100 * self.unknown,
            "chosen_because": self.reason,
        }

    @property
    def reason(self) -> str:
        """Why these SMs, in words; nothing where a number was asked for."""
        if self.uncertainty is None or self.chip == 1:
            return ""
        if self.is_alike:
            return "what blocks execute is alike"
        if self.is_whole:
            return "what blocks execute differs"
        if self.limited:
            off = f"{100 * self.uncertainty:.1f} %"
            return (
                f"what blocks execute differs, and no time or memory for more SMs (max_host_seconds): those that end "
                f"as late as all, within {off}"
            )
        return f"what blocks execute differs, by up to {100 * self.uncertainty:.1f} % from the whole"


def fixed(blocks: int, chip: int, n_sms: int) -> Sample:
    """The first *n_sms* SMs with their share of *blocks*; a single one with the blocks of the busiest."""
    taken = -(-blocks // chip) if n_sms == 1 else round(blocks * n_sms / chip)
    return Sample(n_sms, chip, taken, share=taken / blocks)


def in_part(sample: Sample, work: npt.NDArray[np.int64], executed: int, simulated: int) -> Sample:
    """The sample of a launch of which only so many blocks were *executed*; *work*: of all, by those.

    Its SMs may have more or less to do than others, as far as blocks differ; and by how much the warp instructions that
    were *simulated* are not what *work* says, is known.
    """
    mine = sample.blocks_of(len(work))
    each = min(executed, len(work) / sample.chip)
    spread = max(column.std() / column.mean() for column in work.T.astype(np.float64) if column.any()) / each**0.5
    off = abs(simulated / max(work[mine, 0].sum(), 1) - 1)
    return replace(sample, executed=executed, unknown=float(np.hypot(max(spread, off), IN_PART)))


def moved(work: npt.NDArray[np.int64], sample: Sample) -> Floats:
    """Share of the sectors of a sample's blocks that the first 0, 1, 2, ... of them move; empty if none moves any."""
    sectors = work[sample.blocks_of(len(work)), 1].cumsum()
    if not sectors.any():
        return np.zeros(0)
    return np.concatenate([[0.0], sectors / sectors[-1]])


def choose(
    work: npt.NDArray[np.int64],
    chip: int,
    places: int,
    most_instructions: float,
    most_sms: int,
    writes: bool,
    least_sms: int = 1,
) -> Sample:
    """The fewest SMs whose blocks are like the whole launch; two if one block would stand for others that write.

    Parameters:
        work: int64 [blocks, measures], what each block was (:attr:`simt.machine.RunResult.work`), the warp instructions
            first, then the sectors.
        chip, places: SMs that get blocks, and places for blocks on each.
        most_instructions, most_sms: what may be simulated; one SM always may.
        writes: whether blocks write to memory.
        least_sms: how many it should be where blocks differ.
    Without a sample within :data:`TOLERANCE` it is the one, of those allowed, that comes nearest to the end of the
    whole, for a launch ends with its slowest SM; of several the one that is nearest in all.
    """
    found = _fewest(work, chip, places, most_instructions, most_sms, least_sms)
    off = found.uncertainty or 0.0
    lonely = found.n_sms == 1 and found.is_alike and 1 < len(work) == chip
    pair = work[_blocks_of(len(work), chip, 2, found.first), 0].sum()
    if writes and lonely and found.first + 2 <= chip and most_sms >= 2 and pair <= most_instructions:
        return replace(_sample(work, chip, 2, found.first, 0.0 if chip == 2 else off, False), paired=True)
    return found


def _fewest(
    work: npt.NDArray[np.int64], chip: int, places: int, most_instructions: float, most_sms: int, least_sms: int
) -> Sample:
    """:func:`choose`, whether blocks write or not."""
    measures = [column for column in work.T.astype(np.float64) if column.any()]
    if all(column.max() <= column.min() * (1 + TOLERANCE) for column in measures):
        spread = max((column.max() / column.min() - 1 for column in measures), default=0.0)
        return _sample(work, chip, 1, 0, float(spread), False)
    whole = [_loads(column, chip, places) for column in measures]
    best = ((np.inf, np.inf), 1, 0)
    limited = False
    for n_sms in _sizes(chip):
        if n_sms > max(most_sms, 1):
            limited = True
            break
        if 2 * n_sms <= min(least_sms, chip, most_sms):
            continue
        for first in range(0, chip - n_sms + 1, n_sms):
            mine = _blocks_of(len(work), chip, n_sms, first)
            if n_sms > least_sms and work[mine, 0].sum() > most_instructions:
                limited = True
                continue
            off = np.max(
                [
                    np.abs(_loads(column[mine], n_sms, places) / all_of_it - 1)
                    for column, all_of_it in zip(measures, whole, strict=True)
                ],
                axis=0,
            )
            end, every = float(off[:END].max()), float(off.max())
            best = min(best, ((max(end, TOLERANCE), every), n_sms, first))
            if every <= TOLERANCE:
                return _sample(work, chip, n_sms, first, every, False)
    (end, every), n_sms, first = best
    idle = min(every, OTHERS_IDLE) if work[:, 1].sum() > COMPUTES * work[:, 0].sum() else 0.0
    return _sample(work, chip, n_sms, first, max(end, idle), limited)


def _sizes(chip: int) -> Iterator[int]:
    """Numbers of SMs to try: powers of two, and all."""
    n_sms = 1
    while n_sms < chip:
        yield n_sms
        n_sms *= 2
    yield chip


def _blocks_of(blocks: int, chip: int, n_sms: int, first: int) -> npt.NDArray[np.bool_]:
    """Which blocks go to these SMs if each SM gets one in turn."""
    place = np.arange(blocks) % chip
    return (first <= place) & (place < first + n_sms)


def _sample(
    work: npt.NDArray[np.int64], chip: int, n_sms: int, first: int, uncertainty: float, limited: bool
) -> Sample:
    mine = _blocks_of(len(work), chip, n_sms, first)
    moved = work[mine, 1].sum()
    share = moved / work[:, 1].sum() if moved else mine.mean()
    return Sample(n_sms, chip, int(mine.sum()), first, uncertainty, limited, float(share))


def _loads(weights: Floats, n_sms: int, places: int) -> Floats:
    """What decides how long SMs take that run these blocks: float64 [3], of which the first END say when they end.

    When the last block ends if each takes as long as its weight, the weight of the SM with the most, and that of a
    block on average, by which SMs keep each other waiting at L2 and DRAM.  Blocks start in order, each in the place
    that is free first.
    """
    free = [(0.0, place * n_sms + sm) for place in range(places) for sm in range(n_sms)]
    heapify(free)
    total = np.zeros(n_sms)
    last = 0.0
    for weight in weights.tolist():
        start, place = free[0]
        heapreplace(free, (start + weight, place))
        total[place % n_sms] += weight
        last = max(last, start + weight)
    return np.array([last, total.max(), weights.mean()])
