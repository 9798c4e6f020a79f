"""How a program is run, and what came of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simt.check import Finding as Checked
from simt.check import KernelError, LaunchError, SimtError, render
from simt.options import Timing
from simt.profile import Profile
from simt.profile.activity import Activities
from simt.sanitizer.tools import MEMCHECK


def listed(variable: str) -> tuple[str, ...]:
    """The names in a variable of the environment, with commas between them."""
    return tuple(filter(None, os.environ.get(variable, "").split(",")))


def is_on(variable: str) -> bool:
    """Whether a variable of the environment says yes: it is neither missing, empty nor 0."""
    return os.environ.get(variable, "") not in ("", "0")


def _count(variable: str, otherwise: int) -> int:
    """The whole number in a variable of the environment.  Raises LaunchError for what is none."""
    text = os.environ.get(variable) or str(otherwise)
    if not text.isdecimal():
        raise LaunchError(f"{variable} is {text!r}", help="it is a whole number")
    return int(text)


def checking() -> dict[str, Any]:
    """What the environment says, as options of a launch: the inverse of :attr:`Settings.variables`."""
    return {
        "check": listed("SIMT_CHECK"),
        "keep_going": is_on("SIMT_KEEP_GOING"),
        "schedule": os.environ.get("SIMT_SCHEDULE") or None,
        "fill": os.environ.get("SIMT_FILL") or 0,
        "max_instructions": _count("SIMT_MAX_INSTRUCTIONS", Settings.max_instructions),
    }


def modelling() -> Timing:
    """How launches are timed, as the environment says.  Raises LaunchError for what is no such value."""
    sms = os.environ.get("SIMT_SMS") or "auto"
    seconds = os.environ.get("SIMT_MAX_HOST_SECONDS")
    pairs = [each.partition("=") for each in listed("SIMT_SET")]
    return Timing(
        sms if sms in ("auto", "one", "all") else _count("SIMT_SMS", 1),
        _number("SIMT_MAX_HOST_SECONDS", seconds) if seconds else None,
        {name.strip(): _number("SIMT_SET", value) for name, _, value in pairs},
    )


def _number(variable: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise LaunchError(f"{variable} has {text!r} where a number belongs") from None


def program_name(process: int) -> str:
    """The program that a process runs; of Python the script."""
    place = Path(f"/proc/{process}")
    own = (place / "exe").resolve().name
    words = (place / "cmdline").read_text(errors="replace").split("\0")[1:]
    scripts = (Path(word).name for word in words if word.endswith(".py"))
    return next(scripts, own) if own.startswith("python") else own


@dataclass(frozen=True)
class Settings:
    """How to run a program.

    ``device``: a name of ``simt devices``.  ``architecture``: what a ``.cu`` file is compiled for (default: that of the
    device).  ``timing``: how long each launch takes, too; ``timed``: of each kernel and shape only the first so many
    launches are timed, the others take as long as the last of these; ``model``: how they are timed.  ``order``: as for
    :func:`simt.launch` (default: the kernels' own).  ``kernel``, ``skip``, ``count``: only launches of kernels whose
    names match are profiled, so many of them after the first ones; all are run.  ``check``, ``keep_going``,
    ``schedule``, ``fill``: of every launch, as for :func:`simt.launch`.  ``view``: ``"machine"`` or, for kernels that
    Numba compiled, ``"source"``.  ``quiet``: the program's standard output is dropped.
    ``max_instructions`` as for :func:`simt.launch`.  ``seconds``: after so long on this computer the program is ended.
    ``on_finding`` is called when a kernel fails, ``on_preview`` with what is known of a launch that takes long.
    """

    device: str = "h200"
    architecture: str | None = None
    timing: bool = False
    timed: int | None = None
    model: Timing = field(default_factory=Timing)
    order: str | None = None
    view: str = "machine"
    kernel: str = ""
    skip: int = 0
    count: int | None = None
    check: tuple[str, ...] = ()
    keep_going: bool = False
    schedule: str | None = None
    fill: int | str = 0
    max_instructions: int = 2**28
    seconds: float | None = None
    quiet: bool = False
    on_finding: Callable[[Finding], None] | None = None
    on_preview: Callable[[Profile], None] | None = None

    @property
    def variables(self) -> Mapping[str, str]:
        """Variables of the environment for code that launches kernels in the program itself; see :func:`checking`."""
        return {
            "SIMT_VIEW": self.view,
            "SIMT_CHECK": ",".join(self.check),
            "SIMT_KEEP_GOING": "1" if self.keep_going else "",
            "SIMT_SCHEDULE": self.schedule or "",
            "SIMT_FILL": str(self.fill),
            "SIMT_MAX_INSTRUCTIONS": str(self.max_instructions),
        }

    @property
    def modelled(self) -> Mapping[str, Any]:
        """How launches are timed, as options of a launch; nothing if they are not."""
        return (
            {}
            if not self.timing
            else {
                "sms": self.model.sms,
                "max_host_seconds": self.model.max_host_seconds,
                "overrides": self.model.overrides,
            }
        )

    def matches(self, name: str) -> bool:
        """Whether launches of a kernel of this (readable) name are counted by ``skip`` and ``count``."""
        return re.search(self.kernel, name) is not None

    def times(self, number: int) -> bool:
        """Whether the *number*-th launch of a kernel and shape, from 0, is timed if launches are."""
        return self.timed is None or number < self.timed

    def wants(self, number: int) -> bool:
        """Whether the *number*-th launch that matches, from 0, is profiled."""
        return number >= self.skip and (self.count is None or number < self.skip + self.count)


@dataclass(frozen=True)
class Finding:
    """What went wrong in a program: an error, and what it was about (a kernel).

    ``checked``: what a check has found and went on, in all launches of the kernel together.
    """

    subject: str
    error: SimtError
    checked: Checked | None = None

    def __str__(self) -> str:
        text = render(self.error) if self.checked is None else str(self.checked)
        return f"{self.subject}: {text}" if self.subject else text

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        checked = self.checked or self.error.finding
        if checked is not None:
            return {"kernel": self.subject, **checked.to_dict()}
        tool = MEMCHECK.name if isinstance(self.error, KernelError) else None
        where = self.error.location
        return {
            "kernel": self.subject or None, "tool": tool, "kind": self.error.kind, "text": self.error.title, "count": 1,
            "file": where.file if where else None, "line": where.line or None if where else None,
            "details": list(self.error.details), "help": self.error.help or None,
        }  # fmt: skip


@dataclass(frozen=True)
class Finished:
    """A program that has ended: what each of its processes that used the device did there, and how it ended.

    ``returncode`` as of :class:`subprocess.Popen`: negative for a signal.  ``machine_code``: kernels that the source
    view could not run, and why.  ``ended_after``: the seconds after which it was ended, because no more were allowed.
    """

    returncode: int
    processes: list[Activities] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    machine_code: dict[str, str] = field(default_factory=dict)
    ended_after: float | None = None

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
                [*first.unfinished, *other.unfinished],
            )
        return first
