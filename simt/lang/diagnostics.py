"""Errors of the front end, with the location of the construct."""

from __future__ import annotations

import linecache
from typing import NoReturn

from simt.check.errors import KernelError, Location, UnsupportedError
from simt.lang.ir import Place


def location(place: Place) -> Location:
    """*place* as the errors' Location, with the text of the line."""
    return Location(place.file, place.line, place.column, place.function, linecache.getline(place.file, place.line))


def unsupported(place: Place, title: str, help: str = "", details: tuple[str, ...] = ()) -> NoReturn:
    """Raise UnsupportedError: the simulator cannot do this, the kernel may be fine."""
    raise UnsupportedError(title, location=location(place), details=details, help=help)


def wrong(place: Place, title: str, help: str = "", details: tuple[str, ...] = ()) -> NoReturn:
    """Raise KernelError: Numba would refuse this too, or it would misbehave on hardware."""
    raise KernelError(title, location=location(place), details=details, help=help)
