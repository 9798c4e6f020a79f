"""What a kernel of the known-truth suite is: a kernel, its launch, and which check finds something in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import simt

RACE, INIT, SYNC, MEM = "racecheck", "initcheck", "synccheck", "memcheck"


@dataclass(frozen=True)
class Case:
    """A kernel with known truth.  ``bug``: the check that must find one; empty: the kernel is right.

    ``machine``: whether the truth holds in machine code, too.
    """

    kernel: Callable[..., Any]
    bug: str
    grid: int
    block: int
    args: Callable[[], Sequence[Any]]
    machine: bool
    shared: int = 0

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.kernel.__name__

    def launch(self, **options: Any) -> simt.Profile:
        """Run it."""
        return simt.launch(self.kernel, self.grid, self.block, *self.args(), shared_bytes=self.shared, **options)


class Suite:
    """Cases, in the order of their declaration."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def _add(self, bug: str, grid: int, block: int, args: Any, machine: bool, shared: int) -> Any:
        def declare(kernel: Callable[..., Any]) -> Callable[..., Any]:
            self.cases.append(Case(kernel, bug, grid, block, args or (lambda: (ints(grid * block),)), machine, shared))
            return kernel

        return declare

    def right(self, grid: int = 1, block: int = 64, args: Any = None, machine: bool = True, shared: int = 0) -> Any:
        """The decorated kernel has no bug."""
        return self._add("", grid, block, args, machine, shared)

    def wrong(
        self, bug: str, grid: int = 1, block: int = 64, args: Any = None, machine: bool = True, shared: int = 0
    ) -> Any:
        """The decorated kernel has one."""
        return self._add(bug, grid, block, args, machine, shared)


def ints(*sizes: int) -> Any:
    """Whole numbers from 1 on."""
    return np.arange(1, int(np.prod(sizes)) + 1, dtype=np.int32).reshape(sizes)


def zeros(*sizes: int) -> Any:
    """int32 zeros."""
    return np.zeros(sizes, np.int32)


def empty(*sizes: int) -> Any:
    """An output that nobody has written."""
    return simt.uninitialized(sizes, np.int32)


def pair(n: int) -> Callable[[], Sequence[Any]]:
    """An input and an output of n elements."""
    return lambda: (ints(n), empty(n))
