"""One launch by both engines: memory, counters and errors must be the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from simt.check import SimtError
from simt.machine import DeviceMemory, Launch, RunResult
from simt.machine import layout as L
from simt.machine.launch import parse_order
from simt.program import Program
from simt.runtime import run


@contextmanager
def launches_with(**fields: Any) -> Iterator[None]:
    """All launches have these fields of a Launch."""
    init = Launch.__init__

    def chosen(self: Launch, *args: Any, **more: Any) -> None:
        init(self, *args, **more | fields)

    with patch.object(Launch, "__init__", chosen):
        yield


def left_by(engine: str, program: Program, arguments: Sequence[Any], **launch: Any) -> dict[str, Any]:
    """What a launch leaves: its arrays, its counters and what it accessed, or its error."""
    given = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    accessed: list[int] = []

    def look(_: Launch, __: DeviceMemory, functional: RunResult, *___: Any) -> None:
        assert functional.reached is not None
        accessed.extend(np.flatnonzero(functional.reached).tolist())

    try:
        result = run(program, Launch(arguments=given, engine=engine, **launch), second=look)
        outcome: Any = result.counters.tolist(), accessed
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
