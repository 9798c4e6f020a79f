"""Times and sizes as nvprof writes them."""

from __future__ import annotations

from collections.abc import Iterable

NOTHING = "-"
"""What nvprof writes for what does not apply."""
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Seconds of each unit of time, largest first."""
AUTO, COLUMN = "auto", "col"
"""Instead of a unit of ``nvprof -u``: for each time its own, or for each column."""
_DECIMALS = {"s": 9, "ms": 6, "us": 3, "ns": 0}
"""So that a time in a unit that was asked for is told to a nanosecond."""
_SIZES = ("B", "KB", "MB", "GB", "TB")


def _digits(value: float, count: int) -> str:
    """A number with *count* digits, at least one of them before the point."""
    whole = len(str(int(value)))
    return f"{value:.{max(count - whole, 0)}f}"


def unit_for(seconds: float) -> str:
    """The largest unit of which it is at least one."""
    return next((unit for unit, scale in UNITS.items() if seconds >= scale), "ns")


def unit_of_column(unit: str, times: Iterable[float | None]) -> str:
    """The unit of a column with these times: for ``col`` that of the longest, else *unit*."""
    return unit_for(max((time for time in times if time is not None), default=0.0)) if unit == COLUMN else unit


def time_text(seconds: float | None, unit: str = AUTO) -> str:
    """As nvprof writes times: ``640ns``, ``26.194us``, ``1.28975s``; in a *unit* ``0.640us``."""
    if seconds is None:
        return NOTHING
    if unit != AUTO:
        return f"{seconds / UNITS[unit]:.{_DECIMALS[unit]}f}{unit}"
    unit = unit_for(seconds)
    if unit == "ns":
        return f"{seconds / UNITS[unit]:.0f}ns"
    return _digits(seconds / UNITS[unit], 6 if unit == "s" else 5) + unit


def size_text(size: float, whole: bool = True) -> str:
    """As nvprof writes bytes, by powers of 1024: ``4B``, ``97.656MB``; ``0.00000B`` for rates (not *whole*)."""
    step = 0
    while size >= 1024 and step < len(_SIZES) - 1:
        size, step = size / 1024, step + 1
    if step == 0:
        return f"{size:.0f}B" if whole else f"{_digits(size, 6)}B"
    return _digits(size, 5) + _SIZES[step]
