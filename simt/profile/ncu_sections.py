"""The sections of Nsight Compute's page ``details``, and the sets of them that ``ncu --set`` names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from simt.metrics import METRICS


@dataclass(frozen=True)
class Section:
    """``name`` as ``ncu --section`` has it; of each entry the label, the unit, and the metric or fact of the launch."""

    name: str
    title: str
    entries: tuple[tuple[str, str, str], ...]


SECTIONS = (
    Section(
        "SpeedOfLight",
        "GPU Speed Of Light Throughput",
        (("Elapsed Cycles", "cycle", "cycles"), ("Duration", "ns", "duration")),
    ),
    Section(
        "ComputeWorkloadAnalysis",
        "Compute Workload Analysis",
        (("Executed Ipc Active", "inst/cycle", "ipc"), ("Issue Slots Busy", "%", "issue_slot_utilization")),
    ),
    Section(
        "MemoryWorkloadAnalysis",
        "Memory Workload Analysis",
        (("L1/TEX Hit Rate", "%", "l1_hit_rate"), ("L2 Hit Rate", "%", "l2_hit_rate")),
    ),
    Section(
        "SchedulerStats",
        "Scheduler Statistics",
        (("Eligible Warps Per Scheduler", "warp", "eligible_warps_per_scheduler"),),
    ),
    Section(
        "WarpStateStats",
        "Warp State Statistics",
        (
            ("Avg. Active Threads Per Warp", "", "active_threads_per_instruction"),
            ("Avg. Not Predicated Off Threads Per Warp", "", "pred_on_threads_per_instruction"),
        ),
    ),
    Section("InstructionStats", "Instruction Statistics", (("Executed Instructions", "inst", "inst_executed"),)),
    Section(
        "LaunchStats",
        "Launch Statistics",
        (
            ("Block Size", "", "block_size"),
            ("Grid Size", "", "grid_size"),
            ("Registers Per Thread", "register/thread", "registers"),
            ("Dynamic Shared Memory Per Block", "byte/block", "dynamic_shared"),
            ("Static Shared Memory Per Block", "byte/block", "static_shared"),
            ("# SMs", "SM", "multiprocessors"),
            ("Threads", "thread", "threads"),
            ("Waves Per SM", "", "waves"),
        ),
    ),
    Section(
        "Occupancy",
        "Occupancy",
        (
            ("Theoretical Active Warps per SM", "warp", "resident_warps"),
            ("Theoretical Occupancy", "%", "theoretical_occupancy"),
            ("Achieved Occupancy", "%", "achieved_occupancy_percent"),
        ),
    ),
    Section(
        "SourceCounters",
        "Source Counters",
        (
            ("Branch Instructions", "inst", "branch_instructions"),
            ("Branch Efficiency", "%", "branch_efficiency"),
        ),
    ),
)
"""In the order of the page."""

_BASIC = ("SpeedOfLight", "LaunchStats", "Occupancy")
SETS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "basic": _BASIC,
        "default": _BASIC,
        "detailed": (*_BASIC, "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "SourceCounters"),
        "full": tuple(each.name for each in SECTIONS),
    }
)
"""Of each set the sections that there are here (``ncu --list-sets`` of 2025; ``default``: older versions' basic)."""

ELSEWHERE = (
    "C2CLink", "MemoryWorkloadAnalysis_Chart", "MemoryWorkloadAnalysis_Tables", "NumaAffinity", "Nvlink",
    "Nvlink_Tables", "Nvlink_Topology", "PmSampling", "PmSampling_WarpStates",
    "SpeedOfLight_HierarchicalDoubleRooflineChart", "SpeedOfLight_HierarchicalHalfRooflineChart",
    "SpeedOfLight_HierarchicalSingleRooflineChart", "SpeedOfLight_HierarchicalTensorRooflineChart",
    "SpeedOfLight_RooflineChart", "Tile", "WorkloadDistribution",
)  # fmt: skip
"""Sections that Nsight Compute has and simt has not."""


def named(names: Iterable[str]) -> list[Section]:
    """The sections of these names, each once, in the order of the page."""
    wanted = set(names)
    return [each for each in SECTIONS if each.name in wanted]


def metrics_of(sections: Iterable[Section]) -> list[str]:
    """What sections show and simt has as a metric, by ncu's names."""
    return [METRICS[key].ncu[0] for each in sections for _, _, key in each.entries if key in METRICS]
