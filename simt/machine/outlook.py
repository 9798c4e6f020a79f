"""Whether a launch will end in time, by how fast its blocks have ended so far."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LATEST = 15.0
"""Seconds after which nobody waits any longer for native code, whose making takes 5 to 10."""
WINDOW = 2.0
"""Seconds in which the blocks that end are counted: what ended before may have been interpreted."""


class TooLong(Exception):
    """A launch was stopped because all of its blocks would take longer than they may.

    ``blocks_per_second``: how many ended.  ``work``: int64 [blocks, 3], what those were that ended, zeros elsewhere.
    """

    def __init__(self, blocks_per_second: float, work: npt.NDArray[np.int64]) -> None:
        super().__init__(f"{blocks_per_second:.3g} of {len(work)} blocks a second")
        self.blocks_per_second = blocks_per_second
        self.work = work


class Outlook:
    """Looks again and again at how many of *blocks* have ended; ``most_seconds``: how long all of them may take."""

    def __init__(self, blocks: int, most_seconds: float) -> None:
        self._blocks = blocks
        self._most_seconds = most_seconds
        self._seen: list[tuple[float, float]] = []
        self.blocks_per_second = 0.0

    def is_hopeless(self, seconds: float, ended: float, settled: bool) -> bool:
        """Whether it will take too long.  After *seconds* so many have *ended*; *settled*: they get no faster.

        Blocks under way count as the share of a block that they have done; 0 before any has ended.
        """
        if not ended or (not settled and seconds < LATEST):
            return False
        self._seen.append((seconds, ended))
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - WINDOW:
            del self._seen[0]
        since, before = self._seen[0]
        if seconds - since < WINDOW or ended in (before, self._blocks):
            return False
        self.blocks_per_second = (ended - before) / (seconds - since)
        return seconds + (self._blocks - ended) / self.blocks_per_second > self._most_seconds
