"""The metrics, each declared once: name, unit, formula and what it says, with NVIDIA's names for it.

To add one, add a row to the table of its group; a part that brings new counters registers its own rows with
:func:`declare`.  Names, units and meanings are those of nvprof and Nsight Compute (``ncu``); a row
carries an ncu name only if its value is what ncu prints under that name.  nvprof's names follow the CUDA
Profiler User's Guide, the pairing with ncu's names follows the "nvprof Metric Comparison" of the Nsight
Compute CLI manual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from simt.check import SimtError, suggestion
from simt.metrics.formula import Formula, Number

SOURCE = "source"
MACHINE = "machine"
VIEWS = (SOURCE, MACHINE)

_LAUNCH = frozenset({"warps_launched", "blocks_launched"})
_ADDRESSED = ("global_", "shared_")


class UnknownMetricError(SimtError, KeyError):
    """No metric or counter has this name."""

    kind = "unknown name"

    def __init__(self, name: str, known: Iterable[str], what: str = "metric", help: str = "") -> None:
        hint = suggestion(name, known, help or "`simt metrics` lists all of them")
        super().__init__(f"there is no {what} {name!r}", help=hint)


@dataclass(frozen=True)
class Metric:
    """One metric.

    ``formula`` is over the counters of :data:`simt.profile.counters.COUNTER_NAMES`, the launch's facts
    (``warps_launched``, ``blocks_launched``, ``resident_warps``, ``max_warps``) and, for a
    timed launch, :data:`simt.metrics.timing.TIMING_INPUTS`.  ``nvprof`` says whether
    ``name`` is a metric or event of nvprof.  ``ncu`` are the names under which Nsight Compute prints the same
    value. ``views`` are those whose Programs can know it.
    """

    name: str
    unit: str
    formula: Formula
    explanation: str
    ncu: tuple[str, ...] = ()
    nvprof: bool = True
    group: str = ""
    views: tuple[str, ...] = VIEWS

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that finds this metric."""
        return (self.name, *self.ncu)

    @property
    def instrumented(self) -> bool:
        """Whether Nsight Compute counts it with patched code, which runs in the order ``profiler``."""
        return any("__sass_" in name or name.startswith(("memory_", "derived__memory_")) for name in self.ncu)

    @property
    def exact(self) -> bool:
        """Whether hardware counts the same in every run: not times, sectors of stores, nor bank conflicts alone."""
        inexact = ("store_sectors", "_ideal")
        return self.group != "timing" and not any(name.endswith(inexact) for name in self.formula.names)

    @property
    def same_in_every_view(self) -> bool:
        """Whether the views can agree on it: it follows from which addresses lanes access, or from the launch.

        Instructions and branches are counted differently: operations of the source are not instructions of the
        machine.  Local memory and registers are what a compiler makes of variables.
        """
        return all(name in _LAUNCH or name.startswith(_ADDRESSED) for name in self.formula.names)

    def value(self, inputs: Mapping[str, Number]) -> Number | None:
        """The metric over ``inputs``; ``None`` where it is not defined (nothing to divide by)."""
        return self.formula(inputs)


@dataclass
class MetricTable(Mapping[str, Metric]):
    """The metrics in order of declaration; found by nvprof or ncu name."""

    _rows: dict[str, Metric] = field(default_factory=dict)
    _aliases: dict[str, str] = field(default_factory=dict)

    def register(self, *metrics: Metric) -> None:
        """Add rows.  Raises ``ValueError`` if one of their names is taken."""
        for metric in metrics:
            for name in metric.names:
                if name in self._aliases:
                    raise ValueError(f"{name} is declared by {self._aliases[name]} and by {metric.name}")
                self._aliases[name] = metric.name
            self._rows[metric.name] = metric

    def __getitem__(self, name: str) -> Metric:
        if name not in self._aliases:
            raise UnknownMetricError(name, self._aliases)
        return self._rows[self._aliases[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._aliases


METRICS = MetricTable()
"""Every metric."""


def declare(group: str, *metrics: Metric) -> None:
    """Add rows to :data:`METRICS`, all of one group.  Raises ``ValueError`` if a name is taken."""
    METRICS.register(*(replace(metric, group=group) for metric in metrics))


declare(
    "instructions",
    Metric(
        "inst_executed",
        "warp instructions",
        Formula("inst_executed + replays"),
        "Instructions executed, counted once per warp however many of its lanes are active.",
        ncu=("smsp__inst_executed.sum",),
    ),
    Metric(
        "inst_per_warp",
        "warp instructions / warp",
        Formula("(inst_executed + replays) / warps_launched"),
        "Instructions that an average warp executes: the length of its way through the kernel, detours included.",
        ncu=("smsp__average_inst_executed_per_warp.ratio",),
    ),
    Metric(
        "thread_inst_executed",
        "thread instructions",
        Formula("thread_inst_executed + replay_threads"),
        "Instructions executed, counted once per active lane, whether or not its predicate is true.",
        ncu=("smsp__thread_inst_executed.sum",),
    ),
    Metric(
        "not_predicated_off_thread_inst_executed",
        "thread instructions",
        Formula("pred_on_thread_inst_executed + replay_threads"),
        "Instructions executed, counted once per active lane whose predicate is true.",
        ncu=("smsp__thread_inst_executed_pred_on.sum",),
    ),
)

declare(
    "divergence",
    Metric(
        "warp_execution_efficiency",
        "%",
        Formula("100 * (thread_inst_executed + replay_threads) / (32 * (inst_executed + replays))"),
        "Share of the 32 lanes that is active in an average instruction; below 100 % lanes have exited, "
        "never existed, or wait for another path of a divergent branch.",
        ncu=("smsp__thread_inst_executed_per_inst_executed.pct",),
    ),
    Metric(
        "active_threads_per_instruction",
        "threads / warp instruction",
        Formula("(thread_inst_executed + replay_threads) / (inst_executed + replays)"),
        "Active lanes of an average instruction, 32 at most.",
        ncu=("smsp__thread_inst_executed_per_inst_executed.ratio",),
        nvprof=False,
    ),
    Metric(
        "warp_nonpred_execution_efficiency",
        "%",
        Formula("100 * (pred_on_thread_inst_executed + replay_threads) / (32 * (inst_executed + replays))"),
        "Like warp_execution_efficiency, but lanes whose predicate is false count as idle too.",
        ncu=("smsp__thread_inst_executed_pred_on_per_inst_executed.pct",),
    ),
    Metric(
        "pred_on_threads_per_instruction",
        "threads / warp instruction",
        Formula("(pred_on_thread_inst_executed + replay_threads) / (inst_executed + replays)"),
        "Active lanes with a true predicate in an average instruction, 32 at most.",
        ncu=("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",),
        nvprof=False,
    ),
    Metric(
        "branch",
        "warp instructions",
        Formula("branches"),
        "Conditional and indirect branches executed, counted once per warp.",
    ),
    Metric(
        "branch_instructions",
        "warp instructions",
        Formula("branch_instructions"),
        "What Nsight Compute counts as branch instructions: branches, waits at convergence barriers (BSYNC, once "
        "per split) and exits.",
        ncu=("smsp__inst_executed_op_branch.sum",),
        nvprof=False,
        views=(MACHINE,),
    ),
    Metric(
        "divergent_branch",
        "warp instructions",
        Formula("divergent_branches"),
        "Branches whose active lanes went more than one way, so that the warp has to run the ways one by one.",
        ncu=("smsp__sass_branch_targets_threads_divergent.sum",),
    ),
    Metric(
        "branch_efficiency",
        "%",
        Formula("100 * (branches - divergent_branches) / branches"),
        "Share of branches that did not diverge. It does not see how long the divergent ways are: "
        "look at warp_execution_efficiency for that.",
        ncu=("smsp__sass_average_branch_targets_threads_uniform.pct",),
    ),
    Metric(
        "idle_lane_slots_no_thread",
        "lane-slots",
        Formula("idle_no_thread"),
        "Lanes of executed instructions for which no thread exists: the block size is not a multiple of 32.",
        nvprof=False,
    ),
    Metric(
        "idle_lane_slots_exited",
        "lane-slots",
        Formula("idle_exited"),
        "Lanes of executed instructions whose thread has already left the kernel.",
        nvprof=False,
    ),
    Metric(
        "idle_lane_slots_other_path",
        "lane-slots",
        Formula("idle_other_path"),
        "Lanes of executed instructions that were on another path of a divergent branch: the price of divergence.",
        nvprof=False,
    ),
    Metric(
        "idle_lane_slots_predicated_off",
        "lane-slots",
        Formula("idle_predicated_off"),
        "Active lanes of executed instructions whose predicate was false: the price of predication.",
        nvprof=False,
    ),
)


def _memory_metrics(space: str, short: str, direction: str, op: str) -> Iterator[Metric]:
    """Requests and 32-byte sectors of global or local memory in one direction."""
    prefix = f"{space}_{direction}"
    pipe = f"pipe_lsu_mem_{space}_op_{op}"
    yield Metric(
        f"{prefix}_requests",
        "warp instructions",
        Formula(f"{prefix}_requests"),
        f"{space.capitalize()} {direction}s executed with at least one lane enabled, counted once per warp.",
        ncu=(f"l1tex__t_requests_{pipe}.sum",),
    )
    yield Metric(
        f"{short}_transactions",
        "sectors",
        Formula(f"{prefix}_sectors"),
        f"32-byte sectors of {space} memory that {direction}s touch; each request touches at least one.",
        ncu=(f"l1tex__t_sectors_{pipe}.sum",),
    )
    yield Metric(
        f"{short}_transactions_per_request",
        "sectors / request",
        Formula(f"{prefix}_sectors / {prefix}_requests"),
        f"Sectors that an average {space} {direction} touches: 4 for 32 neighbouring 4-byte elements, 32 for "
        "scattered ones.",
        ncu=(f"l1tex__average_t_sectors_per_request_{pipe}.ratio",),
    )


def _efficiency(short: str, direction: str, op: str) -> Metric:
    return Metric(
        f"{short}_efficiency",
        "%",
        Formula(f"100 * global_{direction}_bytes_distinct / (32 * global_{direction}_sectors)"),
        f"Share of the moved global-memory bytes that {direction}s asked for; low if lanes of a warp touch "
        "scattered addresses. Each byte of a request counts once (nvprof counted it for every lane).",
        ncu=(f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.pct",),
    )


declare(
    "global memory",
    *_memory_metrics("global", "gld", "load", "ld"),
    _efficiency("gld", "load", "ld"),
    *_memory_metrics("global", "gst", "store", "st"),
    _efficiency("gst", "store", "st"),
    Metric(
        "global_sectors",
        "sectors",
        Formula("global_sectors"),
        "32-byte sectors of global memory touched by loads, stores and atomics together.",
        ncu=("memory_l2_theoretical_sectors_global",),
        nvprof=False,
    ),
    Metric(
        "global_sectors_ideal",
        "sectors",
        Formula("global_sectors_ideal"),
        "Sectors that the same accesses would touch if the lanes of each request were neighbours.",
        ncu=("memory_l2_theoretical_sectors_global_ideal",),
        nvprof=False,
    ),
)


def _shared_metrics(direction: str, op: str) -> Iterator[Metric]:
    prefix = f"shared_{direction}"
    yield Metric(
        f"{prefix}_requests",
        "warp instructions",
        Formula(f"{prefix}_requests"),
        f"Shared-memory {direction}s executed with at least one lane enabled, counted once per warp.",
        nvprof=False,
    )
    yield Metric(
        f"{prefix}_transactions",
        "wavefronts",
        Formula(f"{prefix}_wavefronts"),
        f"Passes (wavefronts) that shared-memory {direction}s take: a bank delivers one 4-byte word a pass.",
        ncu=(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum",),
    )
    yield Metric(
        f"{prefix}_transactions_per_request",
        "wavefronts / request",
        Formula(f"{prefix}_wavefronts / {prefix}_requests"),
        f"Passes that an average shared-memory {direction} takes: 1 without bank conflicts on 4-byte elements, "
        "32 if all lanes use one bank.",
    )
    yield Metric(
        f"shared_{op}_bank_conflict",
        "wavefronts",
        Formula(f"{prefix}_wavefronts - {prefix}_wavefronts_ideal"),
        f"Passes beyond the least possible that bank conflicts cost shared-memory {direction}s. (Nsight Compute's "
        "l1tex__data_bank_conflicts counters add arbitration noise to this.)",
    )


_SHARED_BYTES = "(shared_load_bytes_distinct + shared_store_bytes_distinct + shared_atomic_bytes_distinct)"
_SHARED_WAVEFRONTS = "(shared_load_wavefronts + shared_store_wavefronts + shared_atomic_wavefronts)"
_SHARED = ("load", "store", "atomic", "copy")
_ALL_WAVEFRONTS = " + ".join(f"shared_{direction}_wavefronts" for direction in _SHARED)
_ALL_IDEAL = " + ".join(f"shared_{direction}_wavefronts_ideal" for direction in _SHARED)

declare(
    "shared memory",
    *_shared_metrics("load", "ld"),
    *_shared_metrics("store", "st"),
    Metric(
        "shared_wavefronts",
        "wavefronts",
        Formula(_ALL_WAVEFRONTS),
        "Passes through shared memory of loads, stores, atomics and copies from global memory together.",
        ncu=("memory_l1_wavefronts_shared",),
        nvprof=False,
    ),
    Metric(
        "shared_wavefronts_excessive",
        "wavefronts",
        Formula(f"{_ALL_WAVEFRONTS} - ({_ALL_IDEAL})"),
        "Passes through shared memory beyond the least possible: what bank conflicts cost.",
        ncu=("derived__memory_l1_wavefronts_shared_excessive",),
        nvprof=False,
    ),
    Metric(
        "shared_efficiency",
        "%",
        Formula(f"100 * {_SHARED_BYTES} / (128 * {_SHARED_WAVEFRONTS})"),
        "Share of the 128 bytes (32 banks x 4) a pass that loads, stores and atomics asked for; each byte of a request "
        "counts once.",
        ncu=("smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct",),
    ),
)

declare(
    "local memory",
    *_memory_metrics("local", "local_load", "load", "ld"),
    *_memory_metrics("local", "local_store", "store", "st"),
)

declare(
    "atomics",
    Metric(
        "global_atomic_requests",
        "warp instructions",
        Formula("global_atomic_requests"),
        "Atomics and reductions on global memory with at least one lane enabled, counted once per warp.",
        ncu=("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum + l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",),
    ),
    Metric(
        "atomic_transactions",
        "sectors",
        Formula("global_atomic_sectors"),
        "32-byte sectors of global memory that atomics and reductions touch, each as often as lanes of a request meet "
        "at one of its addresses: 32 if all lanes of a warp update one counter.",
        ncu=("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum + l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",),
    ),
    Metric(
        "atomic_transactions_per_request",
        "sectors / request",
        Formula("global_atomic_sectors / global_atomic_requests"),
        "Sectors that an average global atomic touches, each as often as lanes meet at one of its addresses.",
    ),
    Metric(
        "shared_atomic_requests",
        "warp instructions",
        Formula("shared_atomic_requests"),
        "Atomics on shared memory with at least one lane enabled, counted once per warp.",
        nvprof=False,
    ),
    Metric(
        "shared_atomic_wavefronts",
        "wavefronts",
        Formula("shared_atomic_wavefronts"),
        "Passes through shared memory that atomics take, not counting the retries of lanes on one address.",
        nvprof=False,
    ),
)

declare(
    "launch",
    Metric(
        "warps_launched",
        "warps",
        Formula("warps_launched"),
        "Warps of the launch: blocks x ceil(threads per block / 32).",
        ncu=("smsp__warps_launched.sum", "sm__warps_launched.sum"),
    ),
    Metric(
        "theoretical_occupancy",
        "%",
        Formula("100 * resident_warps / max_warps"),
        "Warps that fit on a multiprocessor of the profile's device at a time, of the most that it can hold. The "
        "source view does not know the registers a compiler would use, so they do not limit there.",
        ncu=("sm__maximum_warps_per_active_cycle_pct",),
        nvprof=False,
    ),
)
