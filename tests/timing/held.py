"""Launches of a microbenchmark that were measured on an H100 or H200, and how far off the model is."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from simt.timing.result import TimingResult
from tests.timing.launches import error, mangled, measured, run


def launched(
    program: str,
    arguments: Sequence[list[Any]],
    launch: int,
    *,
    integers: bool = True,
    device: str = "h100",
    **options: Any,
) -> tuple[dict[str, Any], TimingResult]:
    """A launch as measured, and as simulated; *integers* as for :func:`mangled`, *options* as for :func:`timed`."""
    entry = measured(program, device)[launch]
    name = mangled(entry["kernel"], integers=integers)
    return entry, run(program, name, entry["grid"], entry["block"], arguments[launch], device=device, **options)


def moved(entry: dict[str, Any], timed: TimingResult) -> tuple[float, float]:
    """Bytes that DRAM read and wrote as measured, and as simulated."""
    ways = [f"dram_{way}_bytes" for way in ("read", "write")]
    return sum(entry["counters"][way] for way in ways), sum(float(timed.metrics[way] or 0) for way in ways)


def errors(
    program: str,
    arguments: Sequence[list[Any]],
    launches: Container[int],
    *,
    integers: bool = True,
    device: str = "h100",
) -> dict[int, float]:
    """Relative error of the cycles of these launches, by their numbers, in percent; all with ``sms="auto"``.

    *integers*: what the arguments of its templates are, as :func:`mangled` has it.
    """
    return {
        k: error(*launched(program, arguments, k, integers=integers, device=device, sms="auto"))
        for k in range(len(measured(program, device)))
        if k in launches
    }
