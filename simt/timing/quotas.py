"""What the simulated SMs fetch of each allocation: their share of what all SMs fetch, see :mod:`simt.timing.others`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simt.machine.layout import ADDRESS_BASE
from simt.machine.prepared import Prepared
from simt.timing.clock import Clock
from simt.timing.parameters import LINE_BYTES, Parameters
from simt.timing.sample import Sample

SECTOR_BYTES = 32


def quotas_of(
    prepared: Prepared, numbers: Parameters, sample: Sample, share: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Lines of each global allocation, and the simulated SMs' share of its sectors; none if all SMs are simulated."""
    if sample.is_whole:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.float64)
    memory = prepared.memory
    starts, ends = memory.starts - int(ADDRESS_BASE), memory.ends - int(ADDRESS_BASE)
    extents = np.stack([starts // LINE_BYTES, -(-ends // LINE_BYTES)], axis=1)
    # The busiest SM has some blocks more than its share: of what L2 does not hold, it fetches all that they ask for.
    own = np.where(_is_larger(extents, numbers), max(share, sample.share), share)
    return extents, np.ceil((ends - starts) / SECTOR_BYTES * own)


def _is_larger(extents: npt.NDArray[np.int64], numbers: Parameters) -> npt.NDArray[np.bool_]:
    """Which allocations, by their first lines and those after the last, L2 does not hold."""
    return (extents[:, 1] - extents[:, 0]) * LINE_BYTES > numbers["l2_bytes"]


def left_to_others(clock: Clock, numbers: Parameters, sample: Sample) -> int:
    """Sectors of the simulated blocks' share that the SMs asked for, but found as fetched by others.

    Either they asked before all of their share was given out, or they have some blocks more than the average SM, but no
    more of DRAM's time.
    """
    more = max(sample.share * sample.chip / sample.n_sms, 1.0)
    share = clock.QUOTAS * np.where(_is_larger(clock.EXTENTS.reshape(-1, 2), numbers), 1.0, more)
    return int(np.minimum(share - clock.FETCHED_OF, clock.DENIED).clip(0).sum())
