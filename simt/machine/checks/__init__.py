"""Checks of memory accesses that a launch can ask for; bounds and alignment are always checked (memory.py)."""

from __future__ import annotations

from collections.abc import Sequence

from simt.check import LaunchError, suggestion
from simt.machine import layout as L
from simt.machine.checks.check import Check
from simt.machine.checks.races import RACECHECK, is_race
from simt.ops.jit import jit

CHECKS: tuple[Check, ...] = (RACECHECK,)
"""All checks; the number of each is its place here.  :func:`observe` has a line for each."""

MEMCHECK = "memcheck"
"""Bounds and alignment by compute-sanitizer's name, which asks for what is there anyway."""

_RACES = CHECKS.index(RACECHECK)


@jit
def observe(access, s):
    """Show an access, before it changes anything, to the checks that are on: whether one found something (in ERROR)."""
    on = s.LAUNCH[L.LAUNCH_CHECKS]
    if on & (1 << _RACES) and is_race(access, s.LAUNCH[L.LAUNCH_SHADOW + _RACES], s):
        s.ERROR[L.E_CHECK] = _RACES
        return True
    return False


def names_of(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """The checks of CHECKS among those that a user asks for, by name.  Raises LaunchError for one that there is not."""
    known = [MEMCHECK, *(check.name for check in CHECKS)]
    choices = f"choose {' or '.join(known)}"
    if not isinstance(wanted, str | list | tuple):
        raise LaunchError(f"check is {wanted!r}; it must be a name or several", help=choices)
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for name in names:
        if name not in known:
            raise LaunchError(f"there is no check {name!r}", help=suggestion(str(name), known, choices))
    return tuple(dict.fromkeys(name for name in names if name != MEMCHECK))


def named(name: str) -> Check:
    """The check of a name."""
    return next(check for check in CHECKS if check.name == name)


def bits_of(names: Sequence[str]) -> int:
    """A bit for each check of these names, by its number."""
    return sum(1 << number for number, check in enumerate(CHECKS) if check.name in names)


def shadows(names: Sequence[str], units: int) -> tuple[list[int], int]:
    """Where the shadow of each check (by number) begins, for so many units of memory, and int64 of all together."""
    firsts, end = [0] * L.MOST_CHECKS, 0
    for number, check in enumerate(CHECKS):
        firsts[number] = end
        if check.name in names:
            end += units * check.shadow_words
    return firsts, end


def check_room(names: Sequence[str], given: int) -> None:
    """Raises LaunchError if *given* bytes of arrays are too many for one of the checks."""
    for name in names:
        most = named(name).most_bytes
        if given > most:
            raise LaunchError(
                f"{name} takes at most {most} bytes of arrays, and the launch has {given}",
                help="use a smaller input",
            )
