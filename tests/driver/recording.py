"""Launches of a program as :func:`simt.launch` can repeat them: kernel, shape, arguments, and what memory held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.calls import Device, Options
from simt.profile import Profile
from simt.sass import SassKernel

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Recorded:
    """A launch by the host.

    ``arguments``: a number, an array, or for a structure a tuple of both, for each parameter; arrays hold what device
    memory held from where the pointer pointed to the end of the allocation.  ``variables``: what the variables of the
    kernel's module held, by the numbers of their symbols.  ``profiles``: its own, then those of the kernels that it
    launched.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int
    arguments: list[object]
    variables: Mapping[int, npt.NDArray[Any]]
    profiles: list[Profile]

    def again(self, file: Path, architecture: str) -> list[Profile]:
        """The profiles of the same launch alone, of the kernel as *file* has it for *architecture*."""
        kernel = simt.load_cubin(file, architecture=architecture)[self.kernel]
        memory = kernel.module.memory
        for number, held in self.variables.items():
            memory.array(memory.named[number])[...] = held
        own = simt.launch(kernel, self.grid, self.block, *self.arguments, shared_bytes=self.shared_bytes, device="h200")
        return [own, *own.launched]


def record(monkeypatch: pytest.MonkeyPatch) -> list[Recorded]:
    """The launches of programs that run from now on, as they come."""
    found: list[Recorded] = []
    launch_raw = Device.launch_raw

    def recording(
        self: Device, kernel: SassKernel, grid: tuple[int, ...], block: tuple[int, ...], parameters: bytes,
        options: Options, **more: Any,
    ) -> Profile:  # fmt: skip
        memory = kernel.module.memory
        variables = {number: memory.array(symbol).copy() for number, symbol in memory.named.items()}
        arguments = _arguments(self, kernel, parameters)
        profile = launch_raw(self, kernel, grid, block, parameters, options, **more)
        found.append(
            Recorded(kernel.name, grid, block, options.shared_bytes, arguments, variables, [profile, *profile.launched])
        )
        return profile

    monkeypatch.setattr(Device, "launch_raw", recording)
    return found


def _arguments(device: Device, kernel: SassKernel, parameters: bytes) -> list[object]:
    """The bytes of parameters as arguments; pointers into one allocation become views of one array."""
    held: dict[int, Bytes] = {}

    def word(raw: bytes) -> object:
        value = np.frombuffer(raw, f"u{len(raw)}")[0]
        allocation = device.memory.find(int(value)) if len(raw) == 8 else None
        if allocation is None:
            return value
        if allocation.start not in held:
            held[allocation.start] = device.memory.bytes_of(allocation).copy()
        return held[allocation.start][int(value) - allocation.start :]

    found: list[object] = []
    for each in kernel.parameters or []:
        raw = parameters[each.offset : each.offset + each.size]
        if each.size in (1, 2, 4, 8):
            found.append(word(raw))
        else:
            words = [word(raw[at : at + 8]) for at in range(0, each.size & ~7, 8)]
            found.append((*words, *(np.uint8(byte) for byte in raw[each.size & ~7 :])))
    return found
