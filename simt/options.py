"""Options of a launch that travel together, as records; :func:`simt.launch` takes their fields as keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

from simt.check import LaunchError


def is_whole(value: object) -> bool:
    """Whether *value* is a whole number."""
    return isinstance(value, Integral)


def is_pair(value: object) -> bool:
    """Whether *value* is two whole numbers."""
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(part, Integral) for part in value)


ALL_SECONDS, AUTO_SECONDS = 600.0, 60.0
"""How long all SMs, and all others, may take where the launch does not say."""


@dataclass(frozen=True)
class Timing:
    """How a launch is timed.

    ``sms``: ``"auto"``, ``"one"``, ``"all"`` or how many SMs; ``max_host_seconds``: what ``"auto"`` chooses takes
    about so long at most (None: a minute), and ``"all"`` is refused if it would take longer (None: ten);
    ``overrides``: timing numbers to replace; ``window``: first and one past the last cycle to record.
    """

    sms: str | int = "auto"
    max_host_seconds: float | None = None
    overrides: Mapping[str, float] | None = None
    window: tuple[int, int] | None = None

    @property
    def seconds(self) -> float:
        """How long it may take on this computer."""
        if self.max_host_seconds is not None:
            return self.max_host_seconds
        return ALL_SECONDS if self.sms == "all" else AUTO_SECONDS

    @property
    def is_default(self) -> bool:
        """Whether no option asks for timing."""
        return self.sms == "auto" and not self.overrides and self.window is None

    def check(self) -> None:
        """Raises LaunchError for options that are invalid for every kernel."""
        window = self.window
        if window is not None and not (is_pair(window) and 0 <= window[0] < window[1] <= 2**60):
            raise LaunchError(f"window is {window}; it must be the first cycle and one past the last", help="(0, 1000)")
        if self.max_host_seconds is not None and not self.max_host_seconds > 0:
            raise LaunchError(f"max_host_seconds is {self.max_host_seconds}; it must be positive")
