"""Code that is compiled late: what stands for an :class:`~simt.ops.early.Early` in tests of the first minutes."""

from __future__ import annotations

from typing import Any

from simt.ops.early import Early


class Late:
    """The function of *early*, compiled only when it has been asked for *wait* times."""

    def __init__(self, early: Early, wait: int) -> None:
        self.wait = wait
        self.function, self.plain = early.function, early.plain
        self.loaded = 0

    def ready(self, *_: Any) -> bool:
        self.wait -= 1
        return self.wait < 0

    def load(self, *_: Any) -> None:
        self.loaded += 1
        self.wait = 0
