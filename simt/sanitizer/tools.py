"""The checks by compute-sanitizer's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simt.check import LaunchError, either, suggestion

MEMCHECK, INITCHECK, RACECHECK, SYNCCHECK = TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck")
"""All checks.  ``memcheck`` (bounds, alignment, deadlocks) is always on."""

LANES = "racecheck:lanes"
"""Racecheck that also compares lanes of one warp in machine code."""

ALL = "all"
"""Every check."""


def names_of(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """The checks that a user asks for: names, or text with names separated by commas; without ``memcheck``.

    Raises LaunchError for one that there is not.
    """
    known = [*TOOLS, LANES, ALL]
    choices = f"choose {either(known)}"
    if not isinstance(wanted, str | list | tuple):
        raise LaunchError(f"check is {wanted!r}; it must be a name or several", help=choices)
    texts = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    names = [name for text in texts for name in _parts(text)]
    for name in names:
        if name not in known:
            raise LaunchError(f"there is no check {name!r}", help=suggestion(str(name), known, choices))
    found = [each for name in names for each in (TOOLS if name == ALL else [name])]
    return tuple(dict.fromkeys(name for name in found if name != MEMCHECK))


def _parts(text: Any) -> Sequence[Any]:
    return [part.strip() for part in text.split(",")] if isinstance(text, str) else (text,)
