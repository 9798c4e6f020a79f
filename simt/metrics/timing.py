"""The metrics of a timed launch, declared like the others; the values come from :mod:`simt.timing`.

Nothing here imports the timing model: a launch without timing does not load it.
"""

from __future__ import annotations

from collections.abc import Iterator

from simt.metrics.formula import Formula
from simt.metrics.stalls import STALLS
from simt.metrics.table import Metric, declare

TIMING = "timing"
"""The group of these metrics."""

TIMING_INPUTS = (
    *("cycles", "seconds", "active_cycles", "issued", "eligible", "warp_cycles", "schedulers", "max_warps"),
    *("l1_sectors", "l1_hits", "l2_sectors", "l2_hits", "load_sectors", "store_sectors", "load_bytes", "store_bytes"),
    *(
        "dram_read",
        "dram_write",
        "wavefronts",
        "l1_requests",
        "l1_busiest",
        "grid_share",
        "stalled_selected",
        "busiest",
    ),
    *("sm_cycles", "most_l2_bytes", "most_l2_link_bytes", "most_dram_bytes"),
    *(f"stalled_{reason}" for reason in STALLS),
)
"""What the timing model measures: cycles and seconds of the launch, ``grid_share`` the part of its sectors of memory
that was simulated, ``sm_cycles`` the cycles of the SMs that the simulated ones stand for, from the start of the launch
to its end, ``most_*_bytes`` what the chip moves in a cycle at most, device numbers, and sums over the simulated SMs
(``busiest`` in cycles of a scheduler, ``eligible`` and ``stalled_*`` in warp-cycles, ``l1_requests`` in cycles that L1
sends to L2, ``l1_busiest`` the larger of them and ``wavefronts``, ``dram_*`` in 32-byte sectors)."""

_STALLED = "(" + " + ".join(f"stalled_{reason}" for reason in STALLS) + ")"


def _throughputs(short: str, direction: str, op: str) -> Iterator[Metric]:
    yield Metric(
        f"{short}_throughput",
        "bytes/s",
        Formula(f"32 * {direction}_sectors / grid_share / seconds"),
        f"32-byte sectors that global {direction}s move per second, in bytes; caches included.",
        ncu=(f"l1tex__t_bytes_pipe_lsu_mem_global_op_{op}.sum.per_second",),
    )
    yield Metric(
        f"{short}_requested_throughput",
        "bytes/s",
        Formula(f"{direction}_bytes / grid_share / seconds"),
        f"Bytes that the lanes' global {direction}s ask for per second.",
    )


def _dram(direction: str, what: str) -> Iterator[Metric]:
    yield Metric(
        f"dram_{direction}_bytes",
        "bytes",
        Formula(f"32 * dram_{direction} / grid_share"),
        f"Bytes that {what} device memory.",
        ncu=(f"dram__bytes_{direction}.sum",),
    )
    yield Metric(
        f"dram_{direction}_throughput",
        "bytes/s",
        Formula(f"32 * dram_{direction} / grid_share / seconds"),
        f"Bytes that {what} device memory per second.",
        ncu=(f"dram__bytes_{direction}.sum.per_second",),
    )


def _stalls() -> Iterator[Metric]:
    for reason, row in STALLS.items():
        yield Metric(
            f"issue_stalled_{reason}",
            "warp-cycles / instruction",
            Formula(f"stalled_{reason} / issued"),
            f"Cycles that warps wait per issued instruction for {row.what}.",
            ncu=(f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio",),
            nvprof=False,
        )
    for name in dict.fromkeys(row.nvprof for row in STALLS.values()):
        parts = [reason for reason, row in STALLS.items() if row.nvprof == name]
        yield Metric(
            name,
            "%",
            Formula(f"100 * ({' + '.join(f'stalled_{reason}' for reason in parts)}) / {_STALLED}"),
            f"Share of the cycles in which a warp does not issue that it waits for {', or '.join(parts)} "
            "(Nsight Compute's reasons).",
        )


declare(
    TIMING,
    Metric(
        "cycles",
        "cycles",
        Formula("cycles"),
        "SM cycles from the start of the launch to its end, predicted.",
        ncu=("sm__cycles_elapsed.max",),
        nvprof=False,
    ),
    Metric(
        "duration",
        "ns",
        Formula("1000000000 * seconds"),
        "Time of the launch at the device's clock, predicted.",
        ncu=("gpu__time_duration.sum",),
        nvprof=False,
    ),
    Metric(
        "ipc",
        "warp instructions / cycle",
        Formula("issued / active_cycles"),
        "Instructions that an SM issues per cycle in which it has a warp.",
        ncu=("sm__inst_executed.avg.per_cycle_active",),
    ),
    Metric(
        "issue_slot_utilization",
        "%",
        Formula("100 * issued / (schedulers * active_cycles)"),
        "Share of its schedulers' cycles in which an SM issues an instruction.",
        ncu=("sm__inst_issued.avg.pct_of_peak_sustained_active",),
    ),
    Metric(
        "eligible_warps_per_cycle",
        "warps",
        Formula("eligible / active_cycles"),
        "Warps of an SM that could issue in an average cycle: below the number of its schedulers, slots stay empty.",
    ),
    Metric(
        "eligible_warps_per_scheduler",
        "warps",
        Formula("eligible / (schedulers * active_cycles)"),
        "Warps of a scheduler that could issue in an average cycle.",
        ncu=("smsp__warps_eligible.avg.per_cycle_active",),
        nvprof=False,
    ),
    Metric(
        "achieved_occupancy",
        "warps / warp of room",
        Formula("warp_cycles / (active_cycles * max_warps)"),
        "Resident warps of an average cycle, of the most that an SM can hold; theoretical_occupancy is its bound.",
    ),
    Metric(
        "achieved_occupancy_percent",
        "%",
        Formula("100 * warp_cycles / (active_cycles * max_warps)"),
        "achieved_occupancy in percent.",
        ncu=("sm__warps_active.avg.pct_of_peak_sustained_active",),
        nvprof=False,
    ),
    Metric(
        "l1_hit_rate",
        "%",
        Formula("100 * l1_hits / l1_sectors"),
        "Share of the sectors that loads, stores and atomics touch that L1 has.",
        ncu=("l1tex__t_sector_hit_rate.pct",),
        nvprof=False,
    ),
    Metric(
        "l2_hit_rate",
        "%",
        Formula("100 * l2_hits / l2_sectors"),
        "Share of the sectors that reach L2 that it has; what is written counts as a hit.",
        ncu=("lts__t_sector_hit_rate.pct",),
        nvprof=False,
    ),
    Metric(
        "sm_throughput_percent",
        "%",
        Formula("100 * busiest / (schedulers * sm_cycles)"),
        "Speed of light of the SMs: how busy the busiest of issue slots and pipes is, on average over all SMs.",
        ncu=("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
        nvprof=False,
    ),
    Metric(
        "l1_throughput_percent",
        "%",
        Formula("100 * l1_busiest / active_cycles"),
        "Speed of light of L1 and shared memory: the larger of l1_wavefronts_percent and l1_requests_percent.",
        ncu=("l1tex__throughput.avg.pct_of_peak_sustained_active",),
        nvprof=False,
    ),
    Metric(
        "l1_wavefronts_percent",
        "%",
        Formula("100 * wavefronts / active_cycles"),
        "Wavefronts of the load/store unit per cycle in which an SM has a warp.",
        ncu=("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",),
        nvprof=False,
    ),
    Metric(
        "l1_requests_percent",
        "%",
        Formula("100 * l1_requests / active_cycles"),
        "Share of the cycles in which an SM has a warp that L1 needs to send L2 loads, stores and atomics.",
        ncu=("l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_active",),
        nvprof=False,
    ),
    Metric(
        "l2_throughput_percent",
        "%",
        Formula("100 * 32 * (l2_sectors + dram_read) / grid_share / (cycles * most_l2_bytes)"),
        "Speed of light of L2: bytes that it takes, delivers and fetches, of the most that it delivers.",
        nvprof=False,
    ),
    Metric(
        "l2_link_percent",
        "%",
        Formula("100 * 32 * (dram_read + store_sectors) / grid_share / (cycles * most_l2_link_bytes)"),
        "How busy the link between the halves of L2 is: bytes fetched and stored, of the most that L2 can be sent.",
        ncu=("lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed",),
        nvprof=False,
    ),
    Metric(
        "dram_throughput_percent",
        "%",
        Formula("100 * 32 * (dram_read + dram_write) / grid_share / (cycles * most_dram_bytes)"),
        "Speed of light of device memory: bytes that it moves, of the most that its bus and clock allow.",
        ncu=(
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        ),
        nvprof=False,
    ),
    *_throughputs("gld", "load", "ld"),
    *_throughputs("gst", "store", "st"),
    *_dram("read", "come from"),
    *_dram("write", "go to"),
    *_stalls(),
)
