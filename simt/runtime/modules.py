"""Modules in device memory: their variables are placed and relocated once, and outlive launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.machine import Allocation
from simt.runtime.arena import Arena


@dataclass(frozen=True)
class Variables:
    """Variables of a module that stand in one piece of memory: their initial contents, and who may write them."""

    name: str
    contents: bytes
    writable: bool


@dataclass(frozen=True)
class Pointer:
    """*size* bytes (4 or 8) at *offset* of piece number *piece* that hold an address.

    It is *value*, counted from the start of piece number *target*; from 0 (a code address) if that is None.
    """

    piece: int
    offset: int
    size: int
    target: int | None
    value: int


@dataclass(frozen=True)
class ModuleImage:
    """What a module needs in device memory."""

    pieces: Sequence[Variables]
    pointers: Sequence[Pointer] = ()


class LoadedModule:
    """A module's variables in an arena, until the arena goes.

    ``addresses``: the device address of each piece.
    """

    def __init__(self, arena: Arena, image: ModuleImage) -> None:
        self._memory = [arena.allocate(len(piece.contents), piece.name, piece.writable) for piece in image.pieces]
        self.addresses = [allocation.start for allocation in self._memory]
        self.bytes = [_bytes(arena, allocation) for allocation in self._memory]
        for piece, contents in zip(image.pieces, self.bytes, strict=True):
            contents[:] = np.frombuffer(piece.contents, np.uint8)
        for pointer in image.pointers:
            base = 0 if pointer.target is None else self.addresses[pointer.target]
            raw = ((base + pointer.value) & (1 << 8 * pointer.size) - 1).to_bytes(pointer.size, "little")
            self.bytes[pointer.piece][pointer.offset : pointer.offset + pointer.size] = np.frombuffer(raw, np.uint8)


def _bytes(arena: Arena, allocation: Allocation) -> npt.NDArray[np.uint8]:
    return arena.memory().bytes_of(allocation)
