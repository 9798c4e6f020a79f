"""The short table of ``str(profile)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.profile.metrics import METRICS
from simt.profile.text import number_text

if TYPE_CHECKING:
    from simt.profile.profile import Profile

SUMMARY = (
    "inst_executed",
    "inst_per_warp",
    "warp_execution_efficiency",
    "warp_nonpred_execution_efficiency",
    "branch",
    "divergent_branch",
    "branch_efficiency",
    "gld_transactions",
    "gld_transactions_per_request",
    "gld_efficiency",
    "gst_transactions",
    "gst_efficiency",
    "shared_load_transactions_per_request",
    "shared_store_transactions_per_request",
    "shared_efficiency",
    "atomic_transactions",
    "theoretical_occupancy",
)
"""Metrics of the summary; those that the kernel gives no value, or no reason to show, are left out."""


def rows(profile: Profile) -> list[tuple[str, str, str]]:
    """Name, value and unit of each metric of the summary."""
    found = []
    for name in SUMMARY:
        value = profile.metrics[name]
        if value is None or (value == 0 and METRICS[name].group not in ("instructions", "divergence")):
            continue
        found.append((name, number_text(value), METRICS[name].unit))
    return found


def heading(profile: Profile) -> str:
    """One line: kernel, launch, what the counts count."""
    more = len(profile.launches) - 1
    many = f" and {more} more launch{'es' if more > 1 else ''}" if more else ""
    warps = profile.counters["warps_launched"]
    launched = f"{warps:,} warp" + ("" if warps == 1 else "s")
    return (
        f"{profile.kernel}, grid {_dims(profile.grid)}{many}, block {_dims(profile.block)}, "
        f"{launched} ({profile.view_text})"
    )


def _dims(dims: tuple[int, int, int]) -> str:
    used = dims if dims[2] > 1 else dims[:2] if dims[1] > 1 else dims[:1]
    return " x ".join(map(str, used))


def idle_text(profile: Profile) -> str:
    """Idle lane-slots by cause, in percent of all lane-slots; the causes that occur."""
    slots = 32 * profile.counters["inst_executed"]
    parts = [f"{cause.replace('_', ' ')} {100 * n / slots:.1f} %" for cause, n in profile.idle.items() if n]
    return ", ".join(parts) or "none"


def summary(profile: Profile) -> str:
    """The text of ``str(profile)``."""
    table = [*rows(profile), ("idle lane-slots", idle_text(profile), "")]
    widths = [max(len(row[k]) for row in table[:-1]) for k in range(2)]
    lines = [heading(profile)]
    lines += [f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {unit}".rstrip() for name, value, unit in table]
    return "\n".join(lines)
