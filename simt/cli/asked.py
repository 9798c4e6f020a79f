"""What the command line says about a launch, and the launch that comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Shape = int | tuple[int, ...]
"""Blocks of a grid or threads of a block: a number, or one for each of up to three dimensions."""


@dataclass(frozen=True)
class Asked:
    """What the command line says about a launch.

    ``args``, ``shared`` and ``nvrtc`` are for machine code and CUDA C, ``constants`` (name and value) for CUDA C and
    Python files, ``grid`` for all three.
    """

    size: int | None = None
    block: Shape | None = None
    seed: int = 0
    grid: Shape | None = None
    args: Sequence[str] = ()
    shared: int = 0
    architecture: str | None = None
    nvrtc: Sequence[str] = ()
    constants: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KernelLaunch:
    """All that ``simt.launch`` needs."""

    kernel: Any
    grid: Any
    block: Any
    args: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
