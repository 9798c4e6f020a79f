"""Launches of a microbenchmark that were measured on an H100, and how far off the model is."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from tests.timing.launches import error, mangled, measured, run


def errors(
    program: str, arguments: Sequence[list[Any]], launches: Container[int], *, integers: bool = True
) -> dict[int, float]:
    """Relative error of the cycles of these launches, by their numbers, in percent; all with ``sms="auto"``.

    *integers*: what the arguments of its templates are, as :func:`mangled` has it.
    """
    found = {}
    for k, entry in enumerate(measured(program, "h100")):
        if k in launches:
            name = mangled(entry["kernel"], integers=integers)
            timed = run(program, name, entry["grid"], entry["block"], arguments[k], device="h100", sms="auto")
            found[k] = error(entry, timed)
    return found
