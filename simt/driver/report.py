"""What a program did, for the user: a line per kernel and shape, what failed, and what is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from simt.driver.settings import Finished
from simt.metrics import METRICS, TIMING
from simt.profile import Profile
from simt.profile.activity import Activities, Launched
from simt.text import quantity_texts

METRICS_SHOWN = ("inst_executed", "warp_execution_efficiency", "branch_efficiency", "gld_efficiency", "gst_efficiency")
TIMED_SHOWN = ("duration", "achieved_occupancy_percent")
WIDEST = 40
"""Characters of a kernel's name."""


def needs_timing(metrics: Sequence[str]) -> bool:
    """Whether one of the metrics is known of timed launches only.  Raises UnknownMetricError for one that is none."""
    return any(METRICS[name].group == TIMING for name in metrics)


def report(finished: Finished, metrics: Sequence[str] = ()) -> str:
    """The report of a program: *metrics* of each kernel (default: a choice), and what did not work."""
    found = finished.activities
    if found is None:
        return "the program did not use the GPU: it made no CUDA call that needs a device"
    lines = [_heading(found, len(finished.processes))]
    if found.launched:
        timed = any(each.profile.timing is not None for each in found.launched)
        shown = list(metrics) or [*METRICS_SHOWN, *(TIMED_SHOWN if timed else ())]
        lines += ["", *_table(found.launched, shown)]
        if not timed:
            lines.append("not timed: events measure the time of this computer (--timing models the GPU's)")
    if found.unsupported:
        lines += ["", 'not there, and answered with CUDA\'s "operation not supported":']
        lines += [f"  {name}, {_times(number, 'call')}" for name, number in sorted(found.unsupported.items())]
    if finished.findings:
        lines += ["", f"{_times(len(finished.findings), 'error')}, each told above where it came up"]
    return "\n".join(lines)


def _times(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _heading(found: Activities, processes: int) -> str:
    kernels = len({each.profile.kernel for each in found.launched})
    copied = sum(each.bytes for each in found.copied if each.kind != "memset")
    parts = [f"{_times(len(found.launched), 'launch').replace('launchs', 'launches')} of {_times(kernels, 'kernel')}"]
    parts.append(f"{_times(sum(each.kind != 'memset' for each in found.copied), 'copy').replace('copys', 'copies')}")
    many = f" by {processes} processes" if processes > 1 else ""
    return f"{found.device.name} (modelled): {parts[0]}, {parts[1]} of {copied:,} bytes together{many}"


def _table(launched: Sequence[Launched], shown: Sequence[str]) -> list[str]:
    """A row for each kernel and shape, in the order of their first launches."""
    groups: dict[tuple[str, str], list[Profile]] = {}
    for each in launched:
        profile = each.profile
        shape = f"{_dims(profile.grid)} x {_dims(profile.block)}"
        groups.setdefault((profile.kernel, shape), []).append(profile)
    columns: list[list[str]] = [["kernel"], ["blocks x threads"], ["launches"]]
    for (name, shape), profiles in groups.items():
        for column, text in zip(columns, (_short(name), shape, f"{len(profiles):,}"), strict=True):
            column.append(text)
    for metric in shown:
        *texts, unit = _values(metric, list(groups.values()))
        columns.append([f"{metric} [{unit}]" if unit else metric, *texts])
    widths = [max(map(len, column)) for column in columns]
    left = (0, 1)
    return [
        "  ".join(
            text.ljust(width) if k in left else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in zip(*columns, strict=True)
    ]


def _values(metric: str, groups: Sequence[Sequence[Profile]]) -> list[str]:
    """What each group of launches has for a metric, a range if that differs; last the unit."""
    ends: list[int | float | None] = []
    for profiles in groups:
        known = [value for profile in profiles if (value := profile.metrics.get(metric)) is not None]
        ends += [min(known, default=None), max(known, default=None)]
    *texts, unit = quantity_texts(ends, METRICS[metric].unit)
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return [*(low if low == high else f"{low} to {high}" for low, high in pairs), unit]


def _dims(dims: Sequence[int]) -> str:
    sizes = list(dims)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return str(sizes[0]) if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


def _short(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."


def to_dict(finished: Finished) -> dict[str, Any]:
    """The same and more, for JSON: every launch with all of its metrics, copies, calls, errors."""
    found = finished.activities
    if found is None:
        return {"returncode": finished.returncode, "device": None, "launches": [], "copies": [], "calls": {}}
    calls: Counter[str] = Counter(each.name for each in found.called)
    return {
        "returncode": finished.returncode,
        "device": found.device.key,
        "launches": [
            {"start": each.start, "stream": each.stream, "by_device": each.by_device, **each.profile.to_dict()}
            for each in found.launched
        ],
        "copies": [{"kind": each.kind, "bytes": each.bytes, "stream": each.stream} for each in found.copied],
        "calls": dict(calls),
        "not_supported": dict(found.unsupported),
        "errors": [str(each) for each in finished.findings],
    }
