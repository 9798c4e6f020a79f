"""Options of one launch: :func:`simt.launch` and :meth:`simt.Device.launch` take them as keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from simt.calls.executors.connect import check_executor
from simt.check import LaunchError, suggestion
from simt.machine import DEFAULT_ENGINE, ENGINES
from simt.machine.schedule import parse_schedule
from simt.options import Timing, is_pair, is_whole
from simt.profile import Profile
from simt.sanitizer import names_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

SOURCE = "source"


def filling(fill: int | str) -> tuple[int, bool]:
    """Contents of unwritten memory: 64 bits, and whether they are the seed of random bits.

    *fill*: a byte (``0xCD``, or the text of one), or ``"random:SEED"``.  Raises LaunchError for anything else.
    """
    if isinstance(fill, str):
        name, _, seed = fill.partition(":")
        if name == "random" and (not seed or seed.isdecimal()):
            return int(seed or 0) & 0x7FFFFFFF, True
        if re.fullmatch(r"0[xX][0-9a-fA-F]+|[0-9]+", fill):
            return filling(int(fill, 16 if "x" in fill.lower() else 10))
    elif is_whole(fill) and 0 <= fill < 256:
        return int.from_bytes(bytes([int(fill)]) * 8, "little", signed=True), False
    raise LaunchError(f"fill is {fill!r}; it must be a byte or random:SEED", help="0xCD, or 'random:1'")


class RunOptions(TypedDict, total=False):
    """Keywords of a launch as type checkers know them, without ``view``: the fields of :class:`Options`."""

    threads: int | None
    trace: bool | tuple[int, int]
    order: str | None
    schedule: str | None
    predicate: int
    shared_bytes: int
    cooperative: bool
    max_instructions: int
    check: str | Sequence[str]
    keep_going: bool
    fill: int | str
    preview: Callable[[Profile], None] | None
    progress: Callable[[int, int], None] | None
    timing: bool
    sms: str | int
    max_host_seconds: float | None
    overrides: Mapping[str, float] | None
    window: tuple[int, int] | None
    engine: str
    executor: Executor | None


class LaunchOptions(RunOptions, total=False):
    """Keywords of a launch on a device that is given."""

    view: str


class DeviceOptions(RunOptions, total=False):
    """Keywords of a launch in a view that is given."""

    device: str | Path | None


@dataclass(frozen=True)
class Options:
    """How to run a launch; :func:`simt.launch` explains each."""

    view: str = SOURCE
    threads: int | None = None
    trace: bool | tuple[int, int] = False
    order: str | None = None
    schedule: str | None = None
    predicate: int = 0
    shared_bytes: int = 0
    cooperative: bool = False
    max_instructions: int = 2**28
    check: str | Sequence[str] = ()
    keep_going: bool = False
    fill: int | str = 0
    preview: Callable[[Profile], None] | None = None
    progress: Callable[[int, int], None] | None = None
    timing: bool = False
    sms: str | int = "auto"
    max_host_seconds: float | None = None
    overrides: Mapping[str, float] | None = None
    window: tuple[int, int] | None = None
    engine: str = DEFAULT_ENGINE
    executor: Executor | None = None

    @classmethod
    def of(cls, **given: Unpack[LaunchOptions]) -> Options:
        """Options by name.  Raises LaunchError for a name that does not exist."""
        for name in given:
            if name not in _KNOWN:
                raise LaunchError(
                    f"a launch has no option {name!r}", help=suggestion(name, _KNOWN, f"there are {', '.join(_KNOWN)}")
                )
        return cls(**given)

    @property
    def timed(self) -> Timing:
        """What concerns the timing model."""
        return Timing(self.sms, self.max_host_seconds, self.overrides, self.window)

    def validate(self) -> None:
        """Raises LaunchError for options that are invalid for every kernel."""
        if not self.timing and not self.timed.is_default:
            raise LaunchError("sms, overrides and window apply to the timing model only", help="add timing=True")
        self.timed.check()
        if not isinstance(self.trace, bool) and not is_pair(self.trace):
            raise LaunchError(
                f"trace is {self.trace!r}; it must be True, False, or the block and the warp to trace",
                help="trace=(0, 0)",
            )
        if self.schedule is not None:
            parse_schedule(str(self.schedule))
            if self.timing:
                raise LaunchError("a timed launch has no schedule: the model of the GPU decides what runs when")
        if self.engine not in ENGINES:
            raise LaunchError(f"unknown engine {self.engine!r}", help=f"choose one of {', '.join(ENGINES)}")
        if self.executor is not None:
            check_executor(self.executor)
        names_of(self.check)
        filling(self.fill)
        if self.shared_bytes < 0:
            raise LaunchError(f"shared_bytes is {self.shared_bytes}; it must not be negative")
        if self.max_instructions < 1:
            raise LaunchError(f"max_instructions is {self.max_instructions}; it must be at least 1")


_KNOWN = tuple(field.name for field in fields(Options))
