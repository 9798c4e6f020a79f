"""A launch made ready for the engine, as records; :mod:`simt.machine.prepare` fills them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simt.machine.device_memory import DeviceMemory, Words
from simt.machine.encode import Encoded
from simt.machine.launch import Launch
from simt.program import Program

BANK = "constant bank"
"""Prefix of the names of allocations that hold constant banks."""


@dataclass(frozen=True)
class Memory:
    """What one launch has: allocations (those of its own, too), and where each worker's shared and local memory is.

    ``room`` is the device address of what the services asked for; ``starts``, ``ends`` are device addresses in
    ascending order, ``hosts`` says which of them are of the host; ``shared_at``, ``local_at`` are positions in the
    arena, which the launch uses up to ``end``.
    """

    words: Words
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    writable: npt.NDArray[np.bool_]
    names: list[str]
    hosts: npt.NDArray[np.bool_]
    shared_at: list[int]
    local_at: list[int]
    room: int
    end: int


@dataclass(frozen=True)
class Prepared:
    """A Program and a Launch as arrays.  ``uniform`` is int64 [n_uniform], the value of each uniform row."""

    program: Program
    launch: Launch
    encoded: Encoded
    device: DeviceMemory
    memory: Memory
    uniform: npt.NDArray[np.int64]
    dims: npt.NDArray[np.int64]
    textures: npt.NDArray[np.int64]
    shared_bytes: int
