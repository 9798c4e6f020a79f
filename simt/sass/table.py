"""The table of opcodes: one row each, declared once, in the file of its family.

A row says what the opcode is called, on which architectures, which modifiers it takes, how it lowers to micro-ops,
and where its meaning comes from.  Adding an instruction means adding a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from simt.sass.architectures import FIRST, LAST
from simt.sass.modifiers import Allowed

if TYPE_CHECKING:
    from simt.sass.lowering import Lowering


class Source(Enum):
    """Where the meaning of an opcode comes from."""

    PTX = "PTX ISA: the PTX instruction that compiles to it"
    NAMES = "CUDA Binary Utilities, instruction set reference, and the PTX instruction of the same meaning"
    LISTINGS = "code of nvcc and NVRTC 11.8 to 13.0 whose result is known (64-bit arithmetic, division, conversions)"
    PASCAL = "reproduces the published profile of nine kernels on sm_61"
    H200 = "per-instruction counts of an H200"
    H200_VALUES = "results of an H200"


@dataclass(frozen=True)
class Opcode:
    """One row.  ``since`` and ``until`` are SM numbers, both inclusive."""

    name: str
    lower: Callable[[Lowering], None]
    modifiers: tuple[Allowed, ...]
    source: Source
    since: int
    until: int
    uniform: bool

    def covers(self, architecture: int) -> bool:
        return self.since <= architecture <= self.until


OPCODES: dict[str, list[Opcode]] = {}
"""Rows by name; several rows of one name cover different architectures."""


def opcode(
    *names: str,
    source: Source,
    takes: tuple[Allowed, ...] = (),
    since: int = FIRST,
    until: int = LAST,
    uniform: bool = False,
) -> Callable[[Callable[[Lowering], None]], Callable[[Lowering], None]]:
    """Declare the opcodes *names* with the decorated function as their lowering."""

    def declare(lower: Callable[[Lowering], None]) -> Callable[[Lowering], None]:
        for name in names:
            row = Opcode(name, lower, takes, source, since, until, uniform)
            for other in OPCODES.setdefault(name, []):
                if row.since <= other.until and other.since <= row.until:
                    raise AssertionError(f"{name} is declared twice for one architecture")
            OPCODES[name].append(row)
        return lower

    return declare


def find(name: str, architecture: int) -> Opcode | None:
    """The row of an opcode for an architecture, or None."""
    return next((row for row in OPCODES.get(name, ()) if row.covers(architecture)), None)


def is_known(name: str) -> bool:
    """Whether any architecture has a row for the opcode."""
    return name in OPCODES
