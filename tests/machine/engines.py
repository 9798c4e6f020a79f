"""One launch by both engines: memory, counters and errors must be the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.check import SimtError
from simt.machine import Launch
from simt.program import Program
from simt.runtime import run


def left_by(engine: str, program: Program, arguments: Sequence[Any], **launch: Any) -> dict[str, Any]:
    """What a launch leaves: its arrays, its counters, or its error."""
    given = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    try:
        result = run(program, Launch(arguments=given, engine=engine, **launch))
        outcome: Any = result.counters.tolist()
    except SimtError as error:
        outcome = f"{type(error).__name__}: {error}"
    return {"arrays": [value.tobytes() for value in given if isinstance(value, np.ndarray)], "outcome": outcome}


def check(program: Program, arguments: Sequence[Any], **launch: Any) -> dict[str, Any]:
    """Compare the engines; what they leave."""
    launch = {"grid": (1, 1, 1), "block": (32, 1, 1)} | launch
    interpreted = left_by("interpreter", program, arguments, **launch)
    assert left_by("compiled", program, arguments, **launch) == interpreted
    return interpreted
