"""The short table of ``str(profile)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from simt.metrics.formula import Number
from simt.metrics.stalls import words_of
from simt.metrics.table import METRICS, SOURCE
from simt.profile.lines import Rendered
from simt.text import quantity_texts

if TYPE_CHECKING:
    from simt.timing import TimingResult

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
    "duration",
    "cycles",
    "ipc",
    "issue_slot_utilization",
    "achieved_occupancy_percent",
    "eligible_warps_per_scheduler",
    "gld_throughput",
    "dram_read_throughput",
    "dram_write_throughput",
    "l1_hit_rate",
    "l2_hit_rate",
)
"""Metrics of the summary; those that the kernel gives no value, or no reason to show, are left out."""


class Measured(Protocol):
    """What has metrics: a profile, or one that was saved."""

    @property
    def metrics(self) -> Mapping[str, Number | None]:
        """Metrics by nvprof or ncu name."""


PREDICTED = ("duration", "cycles")
"""Metrics beside which the expected error of the prediction stands."""


def rows(profile: Measured, timing: TimingResult | None = None) -> list[tuple[str, str, str]]:
    """Name, value and unit of each metric of the summary; *timing*: that of a timed launch, for its expected error."""
    found = []
    for name in SUMMARY:
        value = profile.metrics.get(name)
        if value is None or (value == 0 and METRICS[name].group not in ("instructions", "divergence")):
            continue
        shown, unit = quantity_texts([value], METRICS[name].unit)
        off = timing.expected_error.total if timing is not None and name in PREDICTED else None
        found.append((name, shown, unit if off is None else f"{unit} ± {off:.0f} %"))
    return found


def heading(profile: Rendered) -> str:
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


def idle_text(profile: Rendered) -> str:
    """Idle lane-slots by cause, in percent of all lane-slots; the causes that occur."""
    slots = 32 * profile.counters["inst_executed"]
    parts = [f"{cause.replace('_', ' ')} {100 * n / slots:.1f} %" for cause, n in profile.idle.items() if n]
    return ", ".join(parts) or "none"


def stalls_text(profile: Rendered) -> str:
    """What resident warps did in a timed launch, in percent of their cycles, the most first."""
    assert profile.timing is not None  # the caller asks for timed launches only
    stalls = profile.timing.stall_reasons
    whole = sum(stalls.values()) or 1.0
    shares = [(words_of(name), 100 * value / whole) for name, value in stalls.items()]
    return ", ".join(f"{name} {share:.1f} %" for name, share in shares if share >= 0.05)


def facts(profile: Rendered) -> list[tuple[str, str]]:
    """What has no unit: idle lane-slots, and in a timed launch the warps' cycles."""
    found = [("idle lane-slots", idle_text(profile))]
    return found if profile.timing is None else [*found, ("warp cycles", stalls_text(profile))]


def timing_text(timing: TimingResult, *, of_many: bool = False) -> str:
    """What the predicted figures stand for: device, simulated SMs, changed and estimated numbers.

    ``of_many``: for a table of several launches, whose numbers of blocks differ.
    """
    device = timing.numbers.device
    scope = timing.scope
    if of_many and timing.n_sms < timing.chip:
        its = "its" if timing.n_sms == 1 else "their"
        scope = f"{timing.n_sms} of {device.limit('multiprocessors')} SMs with {its} share of blocks and bandwidth"
    parts = [f"timed on {device.name} at {device.limit('clock_mhz')} MHz: {scope}"]
    parts.append(str(timing.error_of_any if of_many else timing.expected_error))
    if not of_many and timing.has_races:
        more = f"{100 * abs(timing.depends_on_order):.1f} % {'more' if timing.depends_on_order > 0 else 'fewer'}"
        parts.append(f"blocks executed {more} instructions than in the functional run")
    if not of_many and timing.racing:
        numbers = [timing.program.listing[line].number for line in timing.racing]
        lines = ", ".join(str(n) if timing.program.view == SOURCE else f"{n:#06x}" for n in numbers)
        parts.append(f"SMs load what others store at the same time (at {lines}): races may decide the time")
    if timing.numbers.overridden:
        parts.append("with " + ", ".join(f"{name} = {timing.numbers[name]:g}" for name in timing.numbers.overridden))
    if timing.numbers.estimated:
        count = f"{len(timing.numbers.estimated)} of {len(timing.numbers.values)}"
        parts.append(f"{count} timing numbers are estimated (simt devices {device.key})")
    if timing.unmeasured_opcodes and not of_many:
        parts.append(f"timed like their nearest relatives: {', '.join(timing.unmeasured_opcodes)}")
    if timing.program.view == SOURCE:
        parts.append("operations of the Python source stand for instructions; a machine view (sm_90) times real ones")
    return "; ".join(parts)


def _findings(profile: Rendered) -> list[str]:
    """What the launch's checks found, a place each."""
    return [f"found: {finding}" for finding in profile.findings]


def summary(profile: Rendered) -> str:
    """The text of ``str(profile)``."""
    metrics = rows(profile, profile.timing)
    table = [*metrics, *((name, text, "") for name, text in facts(profile))]
    widths = [max(len(row[k]) for row in metrics) for k in range(2)]
    lines = [heading(profile), *(f"note: {note}" for note in profile.notes), *_findings(profile)]
    if profile.timing is not None:
        lines.append(timing_text(profile.timing))
    lines += [f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {unit}".rstrip() for name, value, unit in table]
    return "\n".join(lines)
