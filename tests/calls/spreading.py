"""Launches here and on an executor, side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

import simt


class Here(Executor):
    """Runs each task when it is submitted, after a trip through *on_the_way*."""

    def __init__(self, on_the_way: Callable[[Any], Any] = lambda task: task) -> None:
        self.on_the_way = on_the_way
        self.count = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.count += 1
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*map(self.on_the_way, args), **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def outcome(launch: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """All that a launch comes to: counts, metrics, findings or the message; and the arrays."""
    try:
        profile = launch(*args, **more)
        told = profile.to_dict()
        told.pop("seconds", None)
        found: Any = profile.result.counters.tolist(), told, [str(each) for each in profile.findings]
    except simt.KernelError as error:
        found = str(error), [each.to_dict() for each in error.findings]
    return found, [value.tobytes() for value in args if isinstance(value, np.ndarray)]


def both(launch: Callable[..., Any], arrays: Callable[[], tuple[Any, ...]], executor: Executor) -> None:
    """Launch with fresh arrays, here and on an executor: the same memory, counts, findings and messages."""
    assert outcome(launch, *arrays()) == outcome(launch, *arrays(), executor=executor)
