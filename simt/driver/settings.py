"""How a program is run, and what came of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from simt.check import SimtError, render
from simt.profile.activity import Activities


def listed(variable: str) -> tuple[str, ...]:
    """The names in a variable of the environment, with commas between them."""
    return tuple(filter(None, os.environ.get(variable, "").split(",")))


@dataclass(frozen=True)
class Settings:
    """How to run a program.

    ``device``: a name of ``simt devices``.  ``architecture``: what a ``.cu`` file is compiled for (default: that of the
    device).  ``timing``: how long each launch takes, too.  ``order``: as for
    :func:`simt.launch` (default: the kernels' own).  ``kernel``, ``skip``, ``count``: only launches of kernels whose
    names match are profiled, so many of them after the first ones; all are run.  ``check``: what else to look for in
    every launch, as for :func:`simt.launch`.  ``view``: ``"machine"`` or, for kernels that Numba compiled,
    ``"source"``.  ``quiet``: the program's standard output is dropped.
    ``max_instructions`` as for :func:`simt.launch`.  ``on_finding`` is called when a kernel goes wrong.
    """

    device: str = "h200"
    architecture: str | None = None
    timing: bool = False
    order: str | None = None
    view: str = "machine"
    kernel: str = ""
    skip: int = 0
    count: int | None = None
    check: tuple[str, ...] = ()
    max_instructions: int = 2**28
    quiet: bool = False
    on_finding: Callable[[Finding], None] | None = None

    def matches(self, name: str) -> bool:
        """Whether launches of a kernel of this (readable) name are counted by ``skip`` and ``count``."""
        return re.search(self.kernel, name) is not None

    def wants(self, number: int) -> bool:
        """Whether the *number*-th launch that matches, from 0, is profiled."""
        return number >= self.skip and (self.count is None or number < self.skip + self.count)


@dataclass(frozen=True)
class Finding:
    """What went wrong in a program: an error, and what it was about (a kernel)."""

    subject: str
    error: SimtError

    def __str__(self) -> str:
        return f"{self.subject}: {render(self.error)}" if self.subject else render(self.error)


@dataclass(frozen=True)
class Finished:
    """A program that has ended: what each of its processes that used the device did there, and how it ended.

    ``returncode`` as of :class:`subprocess.Popen`: negative for a signal.  ``machine_code``: kernels that the source
    view could not run, and why.
    """

    returncode: int
    processes: list[Activities] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    machine_code: dict[str, str] = field(default_factory=dict)

    @property
    def activities(self) -> Activities | None:
        """What the program did, all processes together; None if it never used the device."""
        if not self.processes:
            return None
        first, *others = self.processes
        for other in others:
            first = Activities(
                first.device,
                [*first.launched, *other.launched],
                [*first.copied, *other.copied],
                [*first.called, *other.called],
                first.unsupported + other.unsupported,
            )
        return first
