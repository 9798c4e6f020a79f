"""One launch by both engines: memory, counters and errors must be the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from simt.check import SimtError
from simt.machine import Launch
from simt.machine import layout as L
from simt.machine.launch import parse_order
from simt.program import Program
from simt.runtime import run


@contextmanager
def launches_run(engine: str) -> Iterator[None]:
    """All launches are executed by one engine."""
    init = Launch.__init__

    def chosen(self: Launch, *args: Any, **more: Any) -> None:
        init(self, *args, **more | {"engine": engine})

    with patch.object(Launch, "__init__", chosen):
        yield


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
    """Compare the engines; what they leave.  LLVM must take the native code, if the launch can have any."""
    launch = {"grid": (1, 1, 1), "block": (32, 1, 1)} | launch
    interpreted = left_by("interpreter", program, arguments, **launch)
    assert left_by("compiled", program, arguments, **launch) == interpreted
    can_be_native = not launch.get("trace") and parse_order(launch.get("order", "then_first"))[0] <= L.PROFILER
    assert (program.native is not None) == can_be_native
    return interpreted
