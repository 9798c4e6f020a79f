"""One launch that a strategy has drawn, before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

Size = int | tuple[int, ...]


@dataclass(frozen=True)
class Extent:
    """The size of a launch: what its arguments are made for.

    ``n``, ``grid``, ``block``: elements, blocks and threads of a block along x, or x and y, or x, y and z.
    """

    n: tuple[int, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Elements in all."""
        return prod(self.n)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    def __str__(self) -> str:
        return f"grid {plain(self.grid)}, block {plain(self.block)}, n {plain(self.n)}"


@dataclass(frozen=True)
class Case:
    """A launch to try.  ``outputs``: the positions of the arguments that are there to be written."""

    extent: Extent
    arguments: tuple[object, ...]
    outputs: tuple[int, ...] = ()
    shared_bytes: int = 0

    def copy_of_arguments(self) -> list[object]:
        """The arguments with arrays that a launch may write."""
        return [value.copy() if isinstance(value, np.ndarray) else value for value in self.arguments]

    def __str__(self) -> str:
        return str(self.extent)


def plain(size: Size) -> Size:
    """One number where there is one axis: 3 for (3,)."""
    return size[0] if isinstance(size, tuple) and len(size) == 1 else size
