"""How sizes and shapes are written on the command line."""

from __future__ import annotations

import re

import typer

from simt.cli.asked import Shape

MAX_SIZE = 2**30
"""Elements at most: 4 GiB of int32."""

_SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def parse_size(text: str | int) -> int:
    """A number of elements: ``1000``, ``1_000_000``, ``2^24``, ``2**24``, ``16M`` (K, M, G: powers of 1024).

    Raises ``typer.BadParameter`` for anything else, and outside of 1 to 2^30.
    """
    cleaned = str(text).strip().lower().replace("_", "").replace("**", "^")
    match = re.fullmatch(r"(-?\d+)(?:\^(\d+)|([kmg]?))", cleaned)
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a size; write 1000, 1_000_000, 2^24 or 16M (M: 1024 x 1024)")
    base, exponent, suffix = match.groups()
    power = min(int(exponent or 1), 64)  # more is too big in any case, and slow to work out
    value: int = int(base) ** power * _SUFFIXES[suffix or ""]
    if value < 1:
        raise typer.BadParameter(f"{text}: at least 1 element is needed")
    if value > MAX_SIZE:
        raise typer.BadParameter(f"{text} is more than 2^30 elements")
    return value


def parse_shape(text: str | int) -> Shape:
    """Blocks of a grid or threads of a block: ``8192``, ``2^10`` or ``64,64,1``; ``x`` may stand for the comma.

    Raises ``typer.BadParameter`` for anything else.
    """
    parts = re.split(r"\s*[,x]\s*", str(text).strip().lower())
    if len(parts) > 3 or not all(re.fullmatch(r"-?[\d_]+(\^\d\d?)?", part) for part in parts):
        raise typer.BadParameter(f"{text!r} is not of the form 8192 or 64,64")
    numbers = [int(base) ** int(exponent or 1) for base, _, exponent in (part.partition("^") for part in parts)]
    return numbers[0] if len(numbers) == 1 else tuple(numbers)
