"""What a cycle-level simulation says: cycles, stalls, throughput; for the launch and for each listing line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from simt.devices import Occupancy
from simt.machine.launch import Launch
from simt.metrics.formula import Number
from simt.metrics.stalls import STATES, WAITS, Reason
from simt.metrics.table import METRICS, SOURCE
from simt.metrics.timing import TIMING
from simt.program import COUNTERS, Program
from simt.timing import layout
from simt.timing.classes import is_measured
from simt.timing.clock import Clock
from simt.timing.errors import Expected, expected
from simt.timing.kinds import ANY, HOST, RACES
from simt.timing.light import kind_of, most_dram_bytes, ports
from simt.timing.parameters import Parameters
from simt.timing.quotas import left_to_others
from simt.timing.sample import Sample

WARPS_OF = "warps_per_sm"
SECTOR_BYTES = 32
WHOLE_LINE_SAVES = 1 / 3
"""Of the cycle that L1 takes to ask L2 for sectors of a line, if it asks for all four: two lines in a row share a cycle
if they are asked for together, so that it is between nothing and a half (loaded.cu and stores.cu on an H200)."""
RACES_FROM = 0.001
"""Share of the instructions from which on races are taken to decide how many blocks execute."""
_MEMORY = [Reason.LONG_SCOREBOARD, Reason.LG_THROTTLE, Reason.DRAIN]


@dataclass(frozen=True)
class TimingResult:
    """Times of one launch on one device.  ``totals`` are sums over the simulated SMs and their blocks.

    ``ports``: scheduler-cycles that issue slots and pipes were busy (:func:`simt.timing.light.ports`).
    ``stalls`` is int64 [micro-ops, reasons]: warp-cycles spent before the issue of each instruction (the last
    cycle, of the issue itself, is ``selected``).  ``accesses`` is int64 [micro-ops, 4]: sectors of global memory that
    each asked L1 for and found there, and the same of L2 (:attr:`ACCESSES`).  ``counters`` are the machine's own, of
    the simulated blocks; ``stays`` int64 [blocks, 5] (the first 65,536): block, SM, place there, first cycle and one
    past the last; ``functional``: warp instructions of the same blocks in the functional run (None: not known).
    ``racing``: listing lines that load what another SM stores at the same time, or store what another one loads.
    """

    program: Program
    launch: Launch
    numbers: Parameters
    occupancy: Occupancy
    totals: Mapping[str, int]
    ports: Mapping[str, int]
    stalls: npt.NDArray[np.int64]
    accesses: npt.NDArray[np.int64]
    counters: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64] = field(repr=False)
    stays: npt.NDArray[np.int64] = field(repr=False)
    sample: Sample
    host_seconds: float
    functional: int | None = None
    racing: tuple[int, ...] = ()

    ACCESSES: ClassVar = ("l1_sectors", "l1_hits", "l2_sectors", "l2_hits")

    @property
    def blocks(self) -> int:
        """Blocks that were simulated."""
        return self.sample.n_blocks

    @property
    def n_sms(self) -> int:
        """SMs that were simulated."""
        return self.sample.n_sms

    @property
    def chip(self) -> int:
        """SMs that get blocks."""
        return self.sample.chip

    @property
    def cycles(self) -> float:
        """SM cycles of the launch, what the driver and the front end need included (``sm__cycles_elapsed.max``)."""
        return self.mean_sm_cycles + self.last_sm

    @property
    def mean_sm_cycles(self) -> float:
        """The same as if no SM were slower than others."""
        return self.totals["cycles"] + self.numbers["launch_overhead"]

    @property
    def last_sm(self) -> float:
        """Cycles by which the last SM ends after the simulated ones, of which all others are copies.

        SMs differ in how long memory takes them, unless they share all that DRAM delivers.  Blocks that follow each
        other even that out, but for the last wave.  The largest of n such times grows with the root of the logarithm
        of n.  Nothing if all SMs were simulated.
        """
        if self.sample.is_whole:
            return 0.0
        sums = self.stalls.sum(axis=0)
        waiting = float(sums[_MEMORY].sum() / max(sums.sum(), 1))
        of_dram = (self.totals["dram_read"] + self.totals["dram_write"]) * SECTOR_BYTES / self.sample.share
        waiting *= max(1.0 - of_dram / (self.totals["cycles"] * self.numbers["dram_read_bytes_per_cycle"]), 0.0)
        waves = max(self.launch.blocks / (self.chip * self.occupancy.blocks_per_sm), 1.0)
        behind = self.numbers["last_sm_share"] * self.totals["cycles"] / waves
        of = max(self.numbers.device.limit("multiprocessors"), 2)
        return waiting * behind * math.sqrt(math.log(self.chip) / math.log(of))

    @property
    def seconds(self) -> float:
        """Duration at the device's clock (``gpu__time_duration``)."""
        return self.cycles / (self.numbers.device.limit("clock_mhz") * 1e6)

    @property
    def scope(self) -> str:
        """What was simulated, in words."""
        of = self.numbers.device.limit("multiprocessors")
        blocks = f"{self.blocks} of {self.launch.blocks} blocks"
        why = self.sample.reason and f", as {self.sample.reason}"
        if self.sample.simulated is not None:
            blocks = f"the first {self.sample.simulated} of {blocks}"
        if self.sample.executed is not None:
            why += f", by {self.sample.executed} blocks that were executed before"
        if self.sample.is_whole:
            return f"{'the one SM' if self.n_sms == 1 else f'all {self.n_sms} SMs'} with blocks, of {of}{why}"
        return f"{self.n_sms} of {of} SMs with {blocks} and their share of the bandwidth{why}"

    @property
    def executed(self) -> int:
        """Warp instructions of the simulated blocks."""
        retires = [instruction.retires for instruction in self.program.instructions]
        return int(self.counters[retires, COUNTERS.index("inst_executed")].sum())

    @property
    def depends_on_order(self) -> float:
        """By how much the simulated blocks executed more or less than in the functional run, as a share.

        Blocks that read what others write at the same time, without waiting for them, may do more or less, whichever
        comes first: races decide, on the hardware, too.
        """
        if not self.functional:
            return 0.0
        return self.executed / self.functional - 1

    @property
    def has_races(self) -> bool:
        """Whether races decide how much is executed (:attr:`depends_on_order`)."""
        return abs(self.depends_on_order) > RACES_FROM

    @property
    def _mean_blocks(self) -> float:
        """Blocks of the average SM for each of a simulated one, if all run at once: some SMs may have one more.

        Those with fewer are as long at work (kept.cu: with 1024 blocks that wait, room for 8 on each of 132 SMs, an
        H100 is 96.7 to 97.0 % full).  If blocks follow each other, such SMs end sooner.
        """
        if self.launch.blocks > self.chip * self.occupancy.blocks_per_sm:
            return 1.0
        return min(self.launch.blocks * self.n_sms / (self.chip * self.blocks), 1.0)

    @cached_property
    def inputs(self) -> dict[str, Number]:
        """What the formulas of the timing metrics are over: :data:`simt.metrics.timing.TIMING_INPUTS`."""
        of = self.numbers.device.limit("multiprocessors")
        waited = {f"stalled_{name}": int(n) for name, n in zip(self.reasons, self.stalls.sum(axis=0), strict=True)}
        totals = {name: self.totals[name] for name in (*TOTALS, "active_cycles", "busiest")}
        sent, asked, asked_whole = (totals.pop(name) for name in ("sent", "asked", "asked_whole"))
        requests = sent + asked - WHOLE_LINE_SAVES * asked_whole
        return {
            **totals,
            **waited,
            "warp_cycles": totals["warp_cycles"] * self._mean_blocks,
            "l1_requests": requests,
            "l1_busiest": max(totals["wavefronts"], requests),
            "cycles": round(self.cycles),
            "seconds": self.seconds,
            "schedulers": int(self.numbers["schedulers"]),
            "max_warps": self.numbers.device.limit(WARPS_OF),
            "grid_share": self.sample.share,
            "sm_cycles": self.cycles * self.n_sms * of / self.chip,
            "most_l2_bytes": self.numbers["l2_read_bytes_per_cycle"],
            "most_l2_link_bytes": self.numbers["l2_write_bytes_per_cycle"],
            "most_dram_bytes": most_dram_bytes(self.numbers.device),
        }

    @cached_property
    def metrics(self) -> dict[str, Number | None]:
        """The metrics of the group ``timing``, by nvprof's name (simt's own where nvprof has none)."""
        timing = (metric for metric in METRICS.values() if metric.group == TIMING)
        return {metric.name: metric.value(self.inputs) for metric in timing}

    @cached_property
    def kind(self) -> str:
        """What limits the launch: one of :data:`simt.timing.kinds.KINDS`, or that races or the host's bus decide."""
        if self.has_races:
            return RACES
        return HOST if self.totals["host"] else kind_of(self.metrics, self.sample)

    @cached_property
    def expected_error(self) -> Expected:
        """How far off the cycles are expected to be, and of what kind the launch is."""
        return expected(self.numbers.device, self._compared, self.kind, self.sample)

    @property
    def _compared(self) -> bool:
        """Whether such predictions were compared with hardware: of machine code, with the device's own numbers."""
        return self.program.view != SOURCE and not self.numbers.overridden

    @property
    def error_of_any(self) -> Expected:
        """How far off the cycles of a launch of unknown kind are expected to be."""
        return expected(self.numbers.device, self._compared, ANY, self.sample)

    @cached_property
    def stall_reasons(self) -> dict[str, float]:
        """Stalled warp-cycles per issued instruction, by Nsight Compute's name, the largest first."""
        sums = self.stalls.sum(axis=0)
        issued = max(self.totals["issued"], 1)
        found = {state.name: float(sums[reason] / issued) for reason, state in STATES.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def dominant_stall(self) -> str:
        """The reason that most warp-cycles went to (issuing and having been ready do not count)."""
        return next(name for name in self.stall_reasons if name in WAITS)

    @cached_property
    def nvprof_stalls(self) -> dict[str, float]:
        """Percent of the stalled warp-cycles, by nvprof's name."""
        sums = self.stalls.sum(axis=0)
        found: dict[str, int] = {}
        for reason, state in STATES.items():
            if reason is not Reason.SELECTED:
                found[state.nvprof] = found.get(state.nvprof, 0) + int(sums[reason])
        whole = max(sum(found.values()), 1)
        return {name: 100.0 * value / whole for name, value in sorted(found.items(), key=lambda item: -item[1])}

    @cached_property
    def lines(self) -> npt.NDArray[np.int64]:
        """Warp-cycles by listing line and reason, int64 [lines, reasons]."""
        table = np.zeros((len(self.program.listing), len(Reason)), np.int64)
        np.add.at(table, [i.line for i in self.program.instructions], self.stalls)
        return table

    @cached_property
    def line_accesses(self) -> npt.NDArray[np.int64]:
        """:attr:`accesses` by listing line, int64 [lines, 4]."""
        table = np.zeros((len(self.program.listing), len(self.ACCESSES)), np.int64)
        np.add.at(table, [i.line for i in self.program.instructions], self.accesses)
        return table

    @property
    def reasons(self) -> tuple[str, ...]:
        """Names of the columns of :attr:`stalls` and :attr:`lines`."""
        return tuple(state.name for state in STATES.values())

    @cached_property
    def unmeasured_opcodes(self) -> tuple[str, ...]:
        """Opcodes of machine code that were never measured: they are timed like their nearest relative."""
        codes = [self.program.listing[i.line].code for i in self.program.instructions if i.retires]
        return tuple(sorted({code.opcode for code in codes if code and not is_measured(code.opcode, code.modifiers)}))

    @property
    def about(self) -> dict[str, Any]:
        """What the figures stand for, for JSON: device, changed and estimated numbers, what was simulated."""
        return {
            "device": self.numbers.device.key,
            "overridden": {name: self.numbers[name] for name in self.numbers.overridden},
            "estimated": list(self.numbers.estimated),
            "unmeasured_opcodes": list(self.unmeasured_opcodes),
            "scope": self.scope,
            "sample": self.sample.to_dict(),
            "depends_on_order_percent": 100 * self.depends_on_order,
            "racing_lines": [self.program.listing[line].number for line in self.racing],
            "expected_error": self.expected_error.to_dict(),
            "dominant_stall": self.dominant_stall,
            "stalls_per_issue": self.stall_reasons,
            "nvprof_stalls_percent": self.nvprof_stalls,
            "host_seconds": self.host_seconds,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON: metrics, stalls, and the listing lines that waited."""
        return {
            "kernel": self.program.name,
            "view": self.program.view,
            **self.about,
            "metrics": self.metrics,
            "lines": [
                {
                    "number": line.number,
                    "text": line.text.strip(),
                    **{name: int(cycles) for name, cycles in zip(self.reasons, row, strict=True) if cycles},
                    **{name: int(sectors) for name, sectors in zip(self.ACCESSES, asked, strict=True) if sectors},
                }
                for line, row, asked in zip(self.program.listing, self.lines, self.line_accesses, strict=True)
                if row.any()
            ],
        }


TOTALS = {
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
    "wavefronts": layout.N_WAVEFRONTS,
    "sent": layout.N_SENT,
    "asked": layout.N_ASKED,
    "asked_whole": layout.N_ASKED_WHOLE,
}
"""Of the totals of a result those that the clock has, too, and where."""


def collect(
    program: Program,
    launch: Launch,
    numbers: Parameters,
    occupancy: Occupancy,
    clock: Clock,
    counters: npt.NDArray[np.int64],
    events: npt.NDArray[np.int64],
    sample: Sample,
    host_seconds: float,
    functional: int | None,
    given: float = 1.0,
) -> TimingResult:
    """The result of a finished simulation, from its arrays; *given*: the share of *sample* that was simulated."""
    totals = {name: int(clock.TOTALS[k]) for name, k in TOTALS.items()}
    totals["dram_read"] += left_to_others(clock, numbers, sample, given)
    totals["active_cycles"] = int(clock.SMS.reshape(-1, layout.N_SM)[:, layout.M_ACTIVE].sum())
    executed = counters[: len(program.instructions), COUNTERS.index("inst_executed")]
    busy = ports(clock.OPS.reshape(-1, layout.N_OP)[: len(program.instructions)], executed)
    totals["busiest"] = max(busy.values())
    retired = clock.SMS.reshape(-1, layout.N_SM)[:, layout.M_RETIRED].max()
    last = max(clock.CHIP[layout.C_NOW], clock.CHIP[layout.C_DRAINED], retired)
    host = clock.CHIP[layout.C_HOST_DONE]
    totals["host"] = int(host)
    totals["cycles"] = int(max(last, host) + (numbers["host_end_latency"] if host else 0)) + 1
    beside = numbers["dram_background_bytes_per_cycle"] * (totals["cycles"] + numbers["launch_overhead"])
    totals["dram_write"] += round(beside * sample.share / SECTOR_BYTES)
    return TimingResult(
        program=program,
        launch=launch,
        numbers=numbers,
        occupancy=occupancy,
        totals=totals,
        ports=busy,
        stalls=clock.STALLS.reshape(-1, layout.N_REASONS)[: len(program.instructions)].copy(),
        accesses=clock.ACCESSES.reshape(-1, len(TimingResult.ACCESSES))[: len(program.instructions)].copy(),
        counters=counters[: len(program.instructions), : len(COUNTERS)].copy(),
        events=events,
        stays=clock.STAYS.reshape(-1, layout.N_STAY).copy(),
        sample=sample,
        host_seconds=host_seconds,
        functional=functional,
        racing=tuple(sorted({program.instructions[pc].line for pc in np.flatnonzero(clock.RACING).tolist()})),
    )
