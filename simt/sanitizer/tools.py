"""The checks by compute-sanitizer's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simt.check import LaunchError, either, suggestion
from simt.machine.events import WATCH_GLOBAL, WATCH_LOCAL, WATCH_STORED
from simt.sanitizer import layout as Z


@dataclass(frozen=True)
class Tool:
    """A check that a user can ask for.

    ``bit``: of H_TOOLS, by which the judges know that it is on.  ``told``: what it wants of the engine beside what
    is always told.  ``in_order``: it compares blocks, so their events are to come in one order.  ``in_all``: ``all``
    stands for it, too.
    """

    name: str
    bit: int = 0
    told: int = 0
    in_order: bool = False
    in_all: bool = True


MEMCHECK = Tool("memcheck")
"""Bounds, alignment, deadlocks: always on."""
INITCHECK = Tool("initcheck", Z.INIT, WATCH_GLOBAL | WATCH_LOCAL)
RACECHECK = Tool("racecheck", Z.RACES, WATCH_GLOBAL | WATCH_STORED, in_order=True)
SYNCCHECK = Tool("synccheck", Z.SYNC)
LANES = Tool("racecheck:lanes", Z.RACES, WATCH_GLOBAL | WATCH_STORED, in_order=True, in_all=False)
"""Racecheck that also compares lanes of one warp in machine code for GPUs on which they run in step."""

TABLE = (MEMCHECK, INITCHECK, RACECHECK, SYNCCHECK, LANES)
TOOLS = tuple(tool.name for tool in TABLE if tool.in_all)
"""Names of what ``all`` stands for."""

ALL = "all"
_NAMES = (*(tool.name for tool in TABLE), ALL)
_CHOICES = f"choose {either(_NAMES)}"


def names_of(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """The checks that a user asks for: names, or text with names separated by commas; without ``memcheck``.

    Raises LaunchError for one that there is not.
    """
    if not isinstance(wanted, str | list | tuple):
        raise LaunchError(f"check is {wanted!r}; it must be a name or several", help=_CHOICES)
    texts = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    names = [name for text in texts for name in _parts(text)]
    for name in names:
        if name not in _NAMES:
            raise LaunchError(f"there is no check {name!r}", help=suggestion(str(name), _NAMES, _CHOICES))
    found = [each for name in names for each in (TOOLS if name == ALL else [name])]
    return tuple(dict.fromkeys(name for name in found if name != MEMCHECK.name))


def _parts(text: Any) -> Sequence[Any]:
    return [part.strip() for part in text.split(",")] if isinstance(text, str) else (text,)


def tools_of(names: Sequence[str]) -> tuple[Tool, ...]:
    """The rows of these names."""
    return tuple(tool for tool in TABLE if tool.name in names)
