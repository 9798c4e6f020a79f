"""Modules in device memory: their variables are placed and relocated once, and outlive launches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from simt.runtime.arena import Arena


@dataclass(frozen=True)
class Variables:
    """Variables of a module that stand in one piece of memory of *size* bytes.

    ``initial``: offsets and what stands there at first; all else is zero.
    """

    name: str
    size: int
    initial: Iterable[tuple[int, bytes]]
    writable: bool


@dataclass(frozen=True)
class Pointer:
    """*size* bytes at *offset* of piece number *piece* that hold an address, its bytes from number *shift* on.

    It is *value*, counted from the start of piece number *target*; from 0 (a code address) if that is None.
    """

    piece: int
    offset: int
    size: int
    shift: int
    target: int | None
    value: int


@dataclass(frozen=True)
class ModuleImage:
    """What a module needs in device memory."""

    pieces: Sequence[Variables]
    pointers: Sequence[Pointer] = ()


class LoadedModule:
    """A module's variables in an arena, until it is freed or the arena goes.

    ``addresses``: the device address of each piece; ``bytes``: what it holds, to read and to write.
    """

    def __init__(self, arena: Arena, image: ModuleImage) -> None:
        self._arena = arena
        self._memory = [arena.allocate(piece.size, piece.name, piece.writable) for piece in image.pieces]
        self.addresses = [allocation.start for allocation in self._memory]
        self.bytes = [arena.memory().bytes_of(allocation) for allocation in self._memory]
        for allocation, contents, piece in zip(self._memory, self.bytes, image.pieces, strict=True):
            arena.clear(allocation)
            for at, data in piece.initial:
                contents[at : at + len(data)] = np.frombuffer(data, np.uint8)
        for pointer in image.pointers:
            base = 0 if pointer.target is None else self.addresses[pointer.target]
            whole = (base + pointer.value & (1 << 64) - 1).to_bytes(8, "little")
            part = whole[pointer.shift : pointer.shift + pointer.size]
            self.bytes[pointer.piece][pointer.offset : pointer.offset + pointer.size] = np.frombuffer(part, np.uint8)

    def free(self) -> None:
        """Give the memory back."""
        while self._memory:
            self._arena.free(self._memory.pop())
