"""What the checks say of a random kernel, and of one whose barrier, fence or mask is gone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import cuda, int32

import simt
from simt.check import KernelError
from tests.check.random.kernels import Kernel, make
from tests.from_text import function_from

SCHEDULES = (
    "adversarial",
    "random:0:0",
    "random:1:1",
    "random:2:2",
    "random:3:1",
    "random:4",
    "random:5",
    "round_robin",
)
"""Under which a spoilt kernel is run to see whether that does harm."""
BUDGET = 1 << 22
"""Warp instructions of a block: many turns of a warp that spins."""

HARMLESS, FOUND, MISSED = "harmless", "found", "missed"


class Trial:
    """A kernel that can be launched."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        names = {"cuda": cuda, "int32": int32, "THREADS": kernel.block}
        self.function = function_from(kernel.source, names)

    def run(self, **options: Any) -> Sequence[bytes]:
        """What a launch leaves in its arrays.  Raises KernelError."""
        threads = self.kernel.grid * self.kernel.block
        x = (np.arange(threads, dtype=np.int32) * 37 + 11) % 101
        g, y = (simt.uninitialized(threads, np.int32) for _ in range(2))
        acc, flags = np.zeros(4, np.int32), np.zeros(self.kernel.grid, np.int32)
        given = x, g, acc, flags, y
        simt.launch(self.function, self.kernel.grid, self.kernel.block, *given, max_instructions=BUDGET, **options)
        return [array.tobytes() for array in given]

    def outcome(self, schedule: str | None) -> object:
        """The arrays, or what kind of error came."""
        try:
            return self.run(schedule=schedule)
        except KernelError as error:
            return type(error)


def alarm(seed: int, view: str = "source") -> str:
    """What the checks find in a right kernel, without a schedule and under one; empty: nothing."""
    trial = Trial(make(seed))
    if view != "source" and "this_grid" in trial.kernel.source:
        return ""  # numba-cuda does not compile it without a GPU
    usual = SCHEDULES[seed % len(SCHEDULES)] if view == "source" else "adversarial"
    for schedule in (None, usual):
        try:
            trial.run(check="all", view=view, schedule=schedule)
        except KernelError as error:
            return f"{seed}, schedule {schedule}: {error}"
    return ""


def spoilt(seed: int) -> str:
    """Whether the checks find that a line of a kernel is gone, if that does harm; with the line if they miss it.

    It does harm where the kernel, under one of SCHEDULES, ends otherwise than the right one.
    """
    kernel = make(seed)
    lines = kernel.spoilable
    if not lines:
        return HARMLESS
    number = random.Random(seed).choice(lines)
    right = Trial(kernel).outcome(None)
    delayed = Trial(kernel.delayed(number))
    if all(delayed.outcome(schedule) == right for schedule in (None, *SCHEDULES)):
        return HARMLESS
    try:
        Trial(kernel.spoilt(number)).run(check="all")
    except KernelError:
        return FOUND
    return f"{MISSED} {seed}: {kernel.lines[number].text.strip()}"
