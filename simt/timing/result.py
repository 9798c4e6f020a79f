"""What a cycle-level simulation says: cycles, stalls, throughput; for the launch and for each listing line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simt.devices import Occupancy
from simt.machine.launch import Launch
from simt.program import COUNTERS, Program
from simt.timing import layout
from simt.timing.classes import NVPROF, Reason
from simt.timing.parameters import Parameters

SECTOR = 32
WARPS_OF = "warps_per_sm"


@dataclass(frozen=True)
class TimingResult:
    """Times of one launch on one device.  ``totals`` are sums over the simulated SMs and their blocks.

    ``stalls`` is int64 [micro-ops, reasons]: warp-cycles spent before the issue of each instruction (the last
    cycle, of the issue itself, is ``selected``).  ``counters`` are the machine's own, of the simulated blocks.
    """

    program: Program
    launch: Launch
    numbers: Parameters
    occupancy: Occupancy
    totals: Mapping[str, int]
    stalls: npt.NDArray[np.int64]
    counters: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64] = field(repr=False)
    blocks: int = 0
    n_sms: int = 1
    chip: int = 1
    host_seconds: float = 0.0

    @property
    def cycles(self) -> float:
        """SM cycles of the launch, what the driver and the front end need included (``sm__cycles_elapsed.max``)."""
        return self.totals["cycles"] + self.numbers["launch_overhead"]

    @property
    def seconds(self) -> float:
        """Duration at the device's clock (``gpu__time_duration``)."""
        return self.cycles / (self.numbers.device.limit("clock_mhz") * 1e6)

    @property
    def scope(self) -> str:
        """What was simulated, in words."""
        of = self.numbers.device.limit("multiprocessors")
        if self.n_sms == self.chip:
            return f"all {self.n_sms} SMs that have blocks, of {of}"
        blocks = f"{self.blocks} of {self.launch.blocks} blocks"
        return f"{self.n_sms} of {of} SMs with {blocks} and their share of the bandwidth"

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Figures by Nsight Compute's or nvprof's name; rates in bytes/s, shares in percent."""
        t = self.totals
        active = max(t["active_cycles"], 1)
        schedulers = self.numbers["schedulers"]
        scale = self.launch.blocks / self.blocks if self.blocks else 1.0
        seconds = self.seconds

        def share(part: int, whole: int) -> float:
            return 100.0 * part / whole if whole else 0.0

        return {
            "cycles": self.cycles,
            "duration": seconds,
            "ipc": t["issued"] / active,
            "issue_slot_utilization": share(t["issued"], int(active * schedulers)),
            "eligible_warps_per_cycle": t["eligible"] / active / schedulers,
            "achieved_occupancy": t["warp_cycles"] / active / self.numbers.device.limit(WARPS_OF),
            "theoretical_occupancy": self.occupancy.percent / 100.0,
            "l1_hit_rate": share(t["l1_hits"], t["l1_sectors"]),
            "l2_hit_rate": share(t["l2_hits"], t["l2_sectors"]),
            "gld_throughput": scale * SECTOR * t["load_sectors"] / seconds,
            "gst_throughput": scale * SECTOR * t["store_sectors"] / seconds,
            "gld_requested_throughput": scale * t["load_bytes"] / seconds,
            "gst_requested_throughput": scale * t["store_bytes"] / seconds,
            "dram_read_bytes": scale * SECTOR * t["dram_read"],
            "dram_write_bytes": scale * SECTOR * t["dram_write"],
            "dram_read_throughput": scale * SECTOR * t["dram_read"] / seconds,
            "dram_write_throughput": scale * SECTOR * t["dram_write"] / seconds,
            "shared_wavefronts": scale * t["shared_wavefronts"],
        }

    @cached_property
    def stall_reasons(self) -> dict[str, float]:
        """Stalled warp-cycles per issued instruction, by Nsight Compute's name, the largest first."""
        sums = self.stalls.sum(axis=0)
        issued = max(self.totals["issued"], 1)
        found = {reason.name.lower(): float(sums[reason] / issued) for reason in Reason}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def dominant_stall(self) -> str:
        """The reason that most warp-cycles went to (issuing and having been ready do not count)."""
        waits = (name for name in self.stall_reasons if name not in ("selected", "not_selected"))
        return next(waits)

    @cached_property
    def nvprof_stalls(self) -> dict[str, float]:
        """Percent of the stalled warp-cycles, by nvprof's name."""
        sums = self.stalls.sum(axis=0)
        found: dict[str, int] = {}
        for reason in Reason:
            if reason is not Reason.SELECTED:
                found[NVPROF[reason]] = found.get(NVPROF[reason], 0) + int(sums[reason])
        whole = max(sum(found.values()), 1)
        return {name: 100.0 * value / whole for name, value in sorted(found.items(), key=lambda item: -item[1])}

    @cached_property
    def lines(self) -> npt.NDArray[np.int64]:
        """Warp-cycles by listing line and reason, int64 [lines, reasons]."""
        table = np.zeros((len(self.program.listing), len(Reason)), np.int64)
        np.add.at(table, [i.line for i in self.program.instructions], self.stalls)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON: metrics, stalls, and the listing lines that waited."""
        return {
            "kernel": self.program.name,
            "view": self.program.view,
            "device": self.numbers.device.key,
            "overridden": list(self.numbers.overridden),
            "estimated": list(self.numbers.estimated),
            "scope": self.scope,
            "metrics": self.metrics,
            "stalls_per_issue": self.stall_reasons,
            "nvprof_stalls_percent": self.nvprof_stalls,
            "lines": [
                {
                    "number": line.number,
                    "text": line.text.strip(),
                    **{reason.name.lower(): int(row[reason]) for reason in Reason if row[reason]},
                }
                for line, row in zip(self.program.listing, self.lines, strict=True)
                if row.any()
            ],
            "host_seconds": self.host_seconds,
        }


_TOTALS = {
    "issued": layout.N_ISSUED,
    "eligible": layout.N_ELIGIBLE,
    "warp_cycles": layout.N_WARP_CYCLES,
    "l1_sectors": layout.N_L1_SECTORS,
    "l1_hits": layout.N_L1_HITS,
    "l2_sectors": layout.N_L2_SECTORS,
    "l2_hits": layout.N_L2_HITS,
    "load_sectors": layout.N_LOAD_SECTORS,
    "store_sectors": layout.N_STORE_SECTORS,
    "load_bytes": layout.N_LOAD_BYTES,
    "store_bytes": layout.N_STORE_BYTES,
    "dram_read": layout.N_DRAM_READ,
    "dram_write": layout.N_DRAM_WRITE,
    "shared_wavefronts": layout.N_SHARED_WAVEFRONTS,
}


def collect(
    program: Program,
    launch: Launch,
    numbers: Parameters,
    occupancy: Occupancy,
    clock: layout.Clock,
    counters: npt.NDArray[np.int64],
    events: npt.NDArray[np.int64],
    *,
    blocks: int,
    n_sms: int,
    chip: int,
    host_seconds: float,
) -> TimingResult:
    """The result of a finished simulation, from its arrays."""
    totals = {name: int(clock.TOTALS[k]) for name, k in _TOTALS.items()}
    totals["active_cycles"] = int(clock.SMS.reshape(-1, layout.N_SM)[:, layout.M_ACTIVE].sum())
    totals["cycles"] = int(max(clock.CHIP[layout.C_NOW], clock.CHIP[layout.C_DRAINED])) + 1
    return TimingResult(
        program=program,
        launch=launch,
        numbers=numbers,
        occupancy=occupancy,
        totals=totals,
        stalls=clock.STALLS.reshape(-1, layout.N_REASONS)[: len(program.instructions)].copy(),
        counters=counters[: len(program.instructions), : len(COUNTERS)].copy(),
        events=events,
        blocks=blocks,
        n_sms=n_sms,
        chip=chip,
        host_seconds=host_seconds,
    )
