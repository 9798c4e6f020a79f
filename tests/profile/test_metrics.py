"""The metric table: names, formulas, and values against the definitions of NVIDIA's tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.check import SimtError
from simt.metrics.formula import Formula
from simt.metrics.table import Metric, MetricTable
from simt.metrics.timing import TIMING, TIMING_INPUTS
from simt.profile import COUNTER_NAMES, METRICS, UnknownMetricError
from tests.profile.handmade import guarded, if_else, machine_code, profile, strided_shared

LAUNCH_FACTS = {"warps_launched", "blocks_launched", "resident_warps", "max_warps"}

TIMED = defaultdict(frozenset, {TIMING: frozenset(TIMING_INPUTS)})

PRINTED_BY_NCU = [
    # names under which Nsight Compute 2025.3 printed counters of an H200
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "sm__maximum_warps_per_active_cycle_pct",
    "sm__cycles_elapsed.max",
    "gpu__time_duration.sum",
    "sm__inst_executed.avg.per_cycle_active",
    "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
]

NVPROF = [
    "inst_executed",
    "inst_per_warp",
    "thread_inst_executed",
    "branch",
    "divergent_branch",
    "branch_efficiency",
    "warp_execution_efficiency",
    "warp_nonpred_execution_efficiency",
    "gld_efficiency",
    "gst_efficiency",
    "gld_transactions",
    "gst_transactions",
    "gld_transactions_per_request",
    "gst_transactions_per_request",
    "global_load_requests",
    "global_store_requests",
    "shared_load_transactions",
    "shared_store_transactions",
    "shared_load_transactions_per_request",
    "shared_store_transactions_per_request",
    "shared_ld_bank_conflict",
    "shared_st_bank_conflict",
    "shared_efficiency",
    "local_load_transactions",
    "local_store_transactions",
    "atomic_transactions",
    "warps_launched",
    "ipc",
    "issue_slot_utilization",
    "eligible_warps_per_cycle",
    "achieved_occupancy",
    "gld_throughput",
    "gst_throughput",
    "gld_requested_throughput",
    "gst_requested_throughput",
    "dram_read_bytes",
    "dram_write_bytes",
    "dram_read_throughput",
    "dram_write_throughput",
    "stall_exec_dependency",
    "stall_inst_fetch",
    "stall_memory_dependency",
    "stall_memory_throttle",
    "stall_not_selected",
    "stall_pipe_busy",
    "stall_sync",
]


@pytest.mark.parametrize("name", PRINTED_BY_NCU)
def test_names_that_nsight_compute_prints(name: str) -> None:
    assert name in METRICS[name].ncu


@pytest.mark.parametrize("name", NVPROF)
def test_names_of_nvprof(name: str) -> None:
    assert METRICS[name].name == name
    assert METRICS[name].nvprof


def test_every_row_is_complete() -> None:
    for metric in METRICS.values():
        assert metric.unit
        assert metric.group
        assert metric.explanation.endswith((".", ".)"))
        assert metric.formula.names <= set(COUNTER_NAMES) | LAUNCH_FACTS | TIMED[metric.group], metric.name


def test_unknown_metric_names_close_matches() -> None:
    with pytest.raises(UnknownMetricError, match="gld_efficiency") as caught:
        METRICS["gld_eficiency"]
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, SimtError)
    assert METRICS.get("nothing like it") is None


def test_a_name_is_declared_once() -> None:
    table = MetricTable()
    row = Metric("a", "1", Formula("inst_executed"), "A.", ncu=("b",))
    table.register(row)
    assert table["b"] is row
    for taken in ("a", "b"):
        with pytest.raises(ValueError, match="declared by a"):
            table.register(Metric(taken, "1", Formula("inst_executed"), "Again."))


@pytest.mark.parametrize(
    "text", ["a ** 2", "f(a)", "a if a else b", "a.b", "'x'", "a +", "True", "a // b", "-a", "[a]"]
)
def test_formulas_are_plain_arithmetic(text: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        Formula(text)


@given(a=st.integers(0, 10**12), b=st.integers(0, 10**12), c=st.integers(1, 10**6))
def test_formula_values(a: int, b: int, c: int) -> None:
    assert Formula("100 * (a - b) / c + 2")({"a": a, "b": b, "c": c}) == 100 * (a - b) / c + 2


def issued(c: Mapping[str, int]) -> int:
    """Warp instructions, each as often as it is issued."""
    return c["inst_executed"] + c["replays"]


def threads(c: Mapping[str, int], name: str) -> int:
    """Thread instructions, likewise."""
    return c[name] + c["replay_threads"]


SHARED = ("load", "store", "atomic")
WAVEFRONTS = (*SHARED, "copy")
NVPROF_STALLS = {
    "stall_exec_dependency": ("wait", "short_scoreboard"),
    "stall_memory_dependency": ("long_scoreboard",),
    "stall_sync": ("barrier", "membar"),
    "stall_inst_fetch": ("branch_resolving", "no_instruction"),
    "stall_constant_memory_dependency": ("imc_miss",),
    "stall_pipe_busy": ("math_pipe_throttle",),
    "stall_memory_throttle": ("mio_throttle", "lg_throttle"),
    "stall_other": ("drain",),
    "stall_not_selected": ("not_selected",),
}
"""nvprof's reasons by those of Nsight Compute."""
NCU_STALLS = tuple(reason for reasons in NVPROF_STALLS.values() for reason in reasons)


def total(c: Mapping[str, int], *names: str) -> int:
    """Several counters together."""
    return sum(c[name] for name in names)


def wavefronts(c: Mapping[str, int], end: str = "") -> int:
    """Passes through shared memory."""
    return total(c, *(f"shared_{kind}_wavefronts{end}" for kind in WAVEFRONTS))


def share_of_waiting(reasons: tuple[str, ...]) -> Callable[[Mapping[str, int]], float]:
    """Percent of the warp-cycles without an issue."""
    waiting = [f"stalled_{reason}" for reason in NCU_STALLS]
    return lambda c: 100 * total(c, *(f"stalled_{reason}" for reason in reasons)) / total(c, *waiting)


def per_second(c: Mapping[str, int], of_the_simulated_part: float) -> float:
    """What the whole grid moves in a second."""
    return of_the_simulated_part / c["grid_share"] / c["seconds"]


def share_of(c: Mapping[str, int], of_the_simulated_part: float, most: str) -> float:
    """Percent of the bytes that the chip moves at most in the launch's cycles."""
    return 100 * of_the_simulated_part / c["grid_share"] / c["cycles"] / c[most]


DEFINITIONS: dict[str, Callable[[Mapping[str, int]], float]] = {
    "inst_executed": issued,
    "inst_per_warp": lambda c: issued(c) / c["warps_launched"],
    "branch_efficiency": lambda c: 100 * (c["branches"] - c["divergent_branches"]) / c["branches"],
    "warp_execution_efficiency": lambda c: 100 * threads(c, "thread_inst_executed") / issued(c) / 32,
    "warp_nonpred_execution_efficiency": lambda c: 100 * threads(c, "pred_on_thread_inst_executed") / issued(c) / 32,
    "gld_efficiency": lambda c: 100 * c["global_load_bytes_distinct"] / (32 * c["global_load_sectors"]),
    "gst_efficiency": lambda c: 100 * c["global_store_bytes_distinct"] / (32 * c["global_store_sectors"]),
    "gld_transactions_per_request": lambda c: c["global_load_sectors"] / c["global_load_requests"],
    "gst_transactions_per_request": lambda c: c["global_store_sectors"] / c["global_store_requests"],
    "local_load_transactions_per_request": lambda c: c["local_load_sectors"] / c["local_load_requests"],
    "local_store_transactions_per_request": lambda c: c["local_store_sectors"] / c["local_store_requests"],
    "shared_load_transactions_per_request": lambda c: c["shared_load_wavefronts"] / c["shared_load_requests"],
    "shared_store_transactions_per_request": lambda c: c["shared_store_wavefronts"] / c["shared_store_requests"],
    "atomic_transactions_per_request": lambda c: c["global_atomic_sectors"] / c["global_atomic_requests"],
    "theoretical_occupancy": lambda c: 100 * c["resident_warps"] / c["max_warps"],
    "thread_inst_executed": lambda c: threads(c, "thread_inst_executed"),
    "not_predicated_off_thread_inst_executed": lambda c: threads(c, "pred_on_thread_inst_executed"),
    "active_threads_per_instruction": lambda c: threads(c, "thread_inst_executed") / issued(c),
    "pred_on_threads_per_instruction": lambda c: threads(c, "pred_on_thread_inst_executed") / issued(c),
    "shared_ld_bank_conflict": lambda c: c["shared_load_wavefronts"] - c["shared_load_wavefronts_ideal"],
    "shared_st_bank_conflict": lambda c: c["shared_store_wavefronts"] - c["shared_store_wavefronts_ideal"],
    "shared_wavefronts": wavefronts,
    "shared_wavefronts_excessive": lambda c: wavefronts(c) - wavefronts(c, "_ideal"),
    "shared_efficiency": lambda c: (
        100
        * total(c, *(f"shared_{kind}_bytes_distinct" for kind in SHARED))
        / (128 * total(c, *(f"shared_{kind}_wavefronts" for kind in SHARED)))
    ),
    "duration": lambda c: 1e9 * c["seconds"],
    "ipc": lambda c: c["issued"] / c["active_cycles"],
    "issue_slot_utilization": lambda c: 100 * c["issued"] / c["active_cycles"] / c["schedulers"],
    "eligible_warps_per_cycle": lambda c: c["eligible"] / c["active_cycles"],
    "eligible_warps_per_scheduler": lambda c: c["eligible"] / c["active_cycles"] / c["schedulers"],
    "achieved_occupancy": lambda c: c["warp_cycles"] / c["active_cycles"] / c["max_warps"],
    "achieved_occupancy_percent": lambda c: 100 * c["warp_cycles"] / c["active_cycles"] / c["max_warps"],
    "l1_hit_rate": lambda c: 100 * c["l1_hits"] / c["l1_sectors"],
    "l2_hit_rate": lambda c: 100 * c["l2_hits"] / c["l2_sectors"],
    "sm_throughput_percent": lambda c: 100 * c["busiest"] / c["sm_cycles"] / c["schedulers"],
    "l1_throughput_percent": lambda c: 100 * c["l1_busiest"] / c["active_cycles"],
    "l1_wavefronts_percent": lambda c: 100 * c["wavefronts"] / c["active_cycles"],
    "l1_requests_percent": lambda c: 100 * c["l1_requests"] / c["active_cycles"],
    "l2_throughput_percent": lambda c: share_of(c, 32 * total(c, "l2_sectors", "dram_read"), "most_l2_bytes"),
    "l2_link_percent": lambda c: share_of(c, 32 * total(c, "dram_read", "store_sectors"), "most_l2_link_bytes"),
    "dram_throughput_percent": lambda c: share_of(c, 32 * total(c, "dram_read", "dram_write"), "most_dram_bytes"),
    "gld_throughput": lambda c: per_second(c, 32 * c["load_sectors"]),
    "gld_requested_throughput": lambda c: per_second(c, c["load_bytes"]),
    "gst_throughput": lambda c: per_second(c, 32 * c["store_sectors"]),
    "gst_requested_throughput": lambda c: per_second(c, c["store_bytes"]),
    "dram_read_bytes": lambda c: 32 * c["dram_read"] / c["grid_share"],
    "dram_read_throughput": lambda c: per_second(c, 32 * c["dram_read"]),
    "dram_write_bytes": lambda c: 32 * c["dram_write"] / c["grid_share"],
    "dram_write_throughput": lambda c: per_second(c, 32 * c["dram_write"]),
    **{f"issue_stalled_{reason}": lambda c, r=reason: c[f"stalled_{r}"] / c["issued"] for reason in NCU_STALLS},
    **{name: share_of_waiting(reasons) for name, reasons in NVPROF_STALLS.items()},
}
"""As the guides of nvprof and Nsight Compute define them; totals include replays."""
COUNTED = tuple(dict.fromkeys((*COUNTER_NAMES, *sorted(LAUNCH_FACTS), *TIMING_INPUTS)))


def test_every_formula_has_a_definition() -> None:
    """A metric that is more than one counter is defined here a second time."""
    computed = {metric.name for metric in METRICS.values() if not metric.formula.text.isidentifier()}
    assert computed - DEFINITIONS.keys() == set()


@given(st.lists(st.integers(1, 10**9), min_size=len(COUNTED), max_size=len(COUNTED)))
def test_metrics_are_what_their_names_mean(values: list[int]) -> None:
    counters = dict(zip(COUNTED, values, strict=True))
    found = {name: METRICS[name].value(counters) for name in DEFINITIONS}
    assert found == {name: pytest.approx(definition(counters)) for name, definition in DEFINITIONS.items()}


def test_nothing_to_divide_by_is_not_a_number() -> None:
    assert Formula("a / b")({"a": 1, "b": 0}) is None
    assert Formula("a / b")({"a": 1}) is None
    metrics = profile(machine_code()).metrics
    for name in ("gld_efficiency", "shared_efficiency", "gld_transactions_per_request", "branch_efficiency"):
        assert metrics[name] is None
    assert metrics["gld_transactions"] == 0


def test_values_of_if_else() -> None:
    metrics = profile(if_else()).metrics
    expected = {
        "inst_executed": 8,
        "inst_per_warp": 8.0,
        "branch": 1,
        "divergent_branch": 1,
        "branch_efficiency": 0.0,
        "warp_execution_efficiency": 100 * 224 / 256,
        "warp_nonpred_execution_efficiency": 100 * 224 / 256,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 28.0,
        "gst_transactions": 8,
        "gst_transactions_per_request": 8.0,
        "gst_efficiency": 100.0,
        "idle_lane_slots_other_path": 32,
        "theoretical_occupancy": 50.0,  # one warp a block: 32 blocks of the 64 warps' room
    }
    assert {name: metrics[name] for name in expected} == expected


def test_predicated_off_lanes_count_for_one_efficiency_only() -> None:
    metrics = profile(guarded(), block=32).metrics
    assert metrics["warp_execution_efficiency"] == 100.0
    assert metrics["warp_nonpred_execution_efficiency"] == pytest.approx(100 * (6 * 32 - 62) / (6 * 32))


def test_bank_conflicts() -> None:
    metrics = profile(strided_shared(4)).metrics
    assert metrics["shared_store_transactions_per_request"] == 4.0
    assert metrics["shared_st_bank_conflict"] == 3
    assert metrics["derived__memory_l1_wavefronts_shared_excessive"] == 3
    assert metrics["shared_efficiency"] == 25.0


def test_nvprof_and_ncu_names_agree() -> None:
    metrics = profile(if_else()).metrics
    for name in metrics:
        for alias in METRICS[name].ncu:
            assert metrics[alias] == metrics[name]


def test_a_metric_of_the_other_view_is_refused() -> None:
    source = profile(if_else()).metrics
    assert "branch_instructions" not in source
    assert "branch_instructions" not in list(source)
    with pytest.raises(UnknownMetricError, match="source view"):
        source["branch_instructions"]
    assert profile(machine_code()).metrics["smsp__inst_executed_op_branch.sum"] == 1


def test_occupancy_of_machine_code_uses_its_registers_and_its_architecture() -> None:
    found = profile(machine_code(), block=512)
    assert found.device.key == "h200"
    assert found.occupancy.limited_by == ("registers",)
    assert found.metrics["theoretical_occupancy"] == 75.0
