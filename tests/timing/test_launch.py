"""Timing through ``simt.launch``: the same counts and results, what is printed, what goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt import devices, kernels
from simt.check import DeadlockError, LaunchError, OutOfBoundsError, SimtError
from simt.devices import DeviceError
from simt.machine import Launch
from simt.metrics.stalls import STATES
from simt.metrics.timing import TIMING_INPUTS
from simt.profile import METRICS, STALLS, TIMING, UnknownMetricError
from simt.profile.annotate import listing_rows
from simt.timing import Reason, Timeline, trace_events
from tests.machine_view import DATA, needs_numba_cuda, needs_nvdisasm
from tests.timing.simulated import simulate

EVERY_SM = {"device": "h200", "timing": True, "sms": "all"}


def reduced(name: str, n: int = 20_000, **options: Any) -> tuple[int, simt.Profile]:
    total, profile = simt.reduce(kernels.sample(n), name, 128, **options)
    return int(total), profile


@pytest.mark.parametrize("name", ["neighbored", "shuffle", "atomic"])
def test_counts_and_results_are_those_without_timing(name: str) -> None:
    total, plain = reduced(name)
    timed_total, timed = reduced(name, device="h200", timing=True)
    assert timed_total == total
    assert timed.counters == plain.counters
    assert [line.counters for line in timed.lines] == [line.counters for line in plain.lines]
    assert {k: v for k, v in timed.metrics.items() if METRICS[k].group != TIMING} == dict(plain.metrics)
    assert plain.timing is None
    assert timed.timing is not None


def read_twice(data: Any, out: Any) -> None:
    i = cuda.grid(1)
    first = data[i]
    second = data[i]
    out[i] = first + second


def test_lines_say_what_caches_had() -> None:
    """The first load of a word misses both caches, the second hits L1; stores that fill sectors always hit L2."""
    n = 4096
    profile = simt.launch(read_twice, n // 128, 128, np.zeros(n), np.zeros(n), timing=True)
    timing = profile.timing
    assert timing is not None
    loads = {line.text.split()[0]: dict(line.accesses) for line in profile.lines if "data[" in line.text}
    sectors = timing.blocks * 128 * 8 // 32
    assert loads == {
        "first": {"l1_sectors": sectors, "l1_hits": 0, "l2_sectors": sectors, "l2_hits": 0},
        "second": {"l1_sectors": sectors, "l1_hits": sectors, "l2_sectors": 0, "l2_hits": 0},
    }
    for name in timing.ACCESSES:  # of all lines together, what the totals are
        assert sum(line.accesses.get(name, 0) for line in profile.lines) == timing.totals[name]
    assert "L1 hit %" in profile.annotate()
    assert profile.annotate(["l1_hit_rate", "l2_hit_rate"]).count("100.0") == 2
    untimed = simt.launch(read_twice, n // 128, 128, np.zeros(n), np.zeros(n))
    assert not any(line.accesses for line in untimed.lines)
    assert "hit %" not in untimed.annotate()


@needs_nvdisasm
def test_machine_code_is_timed_by_its_control_bits() -> None:
    kernel = simt.load_cubin(DATA / "sm_90" / "kernels_O3.cubin")["reduceInterleaved"]
    data = kernels.sample(1 << 14)

    def run(**options: Any) -> tuple[Any, simt.Profile]:
        sums = np.zeros(32, np.int32)
        return sums, simt.launch(kernel, 32, 512, data.copy(), sums, np.uint32(data.size), **options)

    (sums, plain), (timed_sums, timed) = run(), run(timing=True, sms="one")
    assert np.array_equal(sums, timed_sums)
    assert timed.counters == plain.counters
    assert timed.timing is not None
    assert timed.device.key == "h200"  # it runs sm_90
    # Without control bits a scoreboard by register would decide, and give other times.
    from simt.sass import bank_image

    shape, args = ((32, 1, 1), (512, 1, 1)), [data.copy(), np.zeros(32, np.int32), np.uint32(data.size)]
    launch = Launch(*shape, args, bank_image=lambda at, facts: bank_image(kernel, *shape, args, at, facts))
    without = simulate(kernel.program, launch, devices.get("h200"))
    with_bits = simulate(kernel.program, launch, devices.get("h200"), code=kernel.code.instructions)
    assert timed.timing.cycles == with_bits.cycles != without.cycles


@cuda.jit
def count_down(steps, total):
    i = cuda.grid(1)
    while steps[i] > 0:
        steps[i] -= 1
        total[i] += 1


def test_timing_sees_the_arguments_before_the_launch_changes_them() -> None:
    steps, total = np.arange(64), np.zeros(64, np.int64)
    profile = simt.launch(count_down, 2, 32, steps, total, **EVERY_SM)
    assert total.tolist() == list(range(64))
    assert profile.timing is not None
    assert profile.timing.totals["issued"] == profile.counters["inst_executed"]


def test_a_launch_without_timing_does_not_load_the_model() -> None:
    check = (
        "import sys, numpy as np, simt\n"
        "total, profile = simt.reduce(np.ones(100, np.int32), device='a100')\n"
        "str(profile), profile.annotate(), profile.to_json()\n"
        "assert not [name for name in sys.modules if name.startswith('simt.timing')]\n"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_device_alone_gives_its_occupancy() -> None:
    for device, percent in (("h200", 100.0), ("rtx_4090", 100.0), ("quadro_p2000", 100.0)):
        assert reduced("neighbored", device=device)[1].metrics["theoretical_occupancy"] == percent
    data = np.zeros(1024, np.int32)
    profile = simt.launch(count_down, 1, 1024, data, data.copy(), device="rtx_4090")
    assert profile.device.key == "rtx_4090"
    assert profile.metrics["theoretical_occupancy"] == pytest.approx(100 * 32 / 48)


# What the tables share


def test_every_reason_and_input_is_declared() -> None:
    _, profile = reduced("neighbored", 4096, timing=True)
    assert profile.timing is not None
    assert profile.timing.inputs.keys() == set(TIMING_INPUTS)
    assert list(STATES) == list(Reason)
    assert {state.name for state in STATES.values()} == {"selected", *STALLS}
    assert len({state.letter for state in STATES.values()}) == len(STATES)


def test_metrics_agree_with_the_model() -> None:
    _, profile = reduced("neighbored", 1 << 16, timing=True)
    timing, metrics = profile.timing, profile.metrics
    assert timing is not None
    assert metrics["cycles"] == metrics["sm__cycles_elapsed.max"] == round(timing.cycles)
    assert metrics["gpu__time_duration.sum"] == pytest.approx(1e9 * timing.seconds)
    assert metrics["achieved_occupancy_percent"] == pytest.approx(100 * metrics["achieved_occupancy"])
    assert metrics["issue_slot_utilization"] == pytest.approx(100 * metrics["ipc"] / 4)
    assert metrics["eligible_warps_per_cycle"] == pytest.approx(4 * metrics["eligible_warps_per_scheduler"])
    for reason in STALLS:
        name = f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
        assert metrics[name] == pytest.approx(timing.stall_reasons[reason])
    for name, share in timing.nvprof_stalls.items():
        assert metrics[name] == pytest.approx(share)
    # 512 blocks on 132 SMs: the sectors of one SM stand for those that were counted.
    moved = metrics["gld_throughput"] * timing.seconds
    assert moved == pytest.approx(32 * profile.counters["global_load_sectors"], rel=0.01)
    efficiency = 100 * metrics["gld_requested_throughput"] / metrics["gld_throughput"]
    assert efficiency == pytest.approx(metrics["gld_efficiency"], abs=0.01)


def test_timing_metrics_of_a_launch_without() -> None:
    _, profile = reduced("neighbored", 1000)
    assert "ipc" not in profile.metrics
    with pytest.raises(UnknownMetricError, match="timing=True"):
        profile.metrics["ipc"]
    with pytest.raises(UnknownMetricError, match="timing=True"):
        profile.annotate(["waited"])


def test_lines_add_up_to_the_launch() -> None:
    _, profile = reduced("interleaved", 1 << 16, timing=True)
    assert profile.timing is not None
    for reason, index in ((name, profile.timing.reasons.index(name)) for name in STALLS):
        assert sum(line.stalls[reason] for line in profile.lines) == profile.timing.stalls[:, index].sum()
    longest = max(profile.lines, key=lambda line: line.waited)
    assert longest.waited == sum(longest.stalls.values())
    assert longest.stalls[longest.main_stall] == max(longest.stalls.values())
    marked = [line for line in profile.annotate(color=False).splitlines() if line.startswith(">")]
    (shown,) = [line for line in marked if f" {longest.waited:,} " in line]
    assert longest.main_stall.replace("_", " ") in shown
    assert longest.text in shown


# Renderings


def test_printing_says_what_was_simulated() -> None:
    _, profile = reduced("neighbored", 1 << 16, device="a100", timing=True, overrides={"l1_latency": 40})
    printed = str(profile)
    assert "timed on NVIDIA A100" in printed
    assert "1 of 108 SMs" in printed
    assert "l1_latency = 40" in printed
    assert "timing numbers are estimated (simt devices a100)" in printed
    assert "warp cycles" in printed
    every = str(reduced("neighbored", 4096, **EVERY_SM)[1])
    assert "all 32 SMs with blocks, of 132" in every
    html = profile._repr_html_()
    for part in ("timed on NVIDIA A100", "achieved_occupancy_percent", "waited"):
        assert part in html
    assert "waited" not in reduced("neighbored", 100)[1]._repr_html_()


@needs_numba_cuda
def test_source_lines_wait_as_long_as_their_instructions() -> None:
    _, profile = simt.reduce(kernels.sample(1 << 14), "interleaved", 128, view="sm_90", timing=True)
    rows = listing_rows(profile.lines, profile.kernel, is_source=False, folded=True)
    heads = [row for row in rows if row.folded]
    waited = [sum(row.stalls.values()) for row in rows if not row.folded]
    assert sum(row.cost for row in heads) == sum(waited) == sum(line.waited for line in profile.lines)
    assert max(heads, key=lambda row: row.cost).hot


def test_json() -> None:
    _, profile = reduced("neighbored", 1 << 14, timing=True, overrides={"l1_latency": 40})
    data = json.loads(profile.to_json())
    assert data["metrics"]["cycles"] == profile.metrics["cycles"]
    assert data["timing"]["overridden"] == {"l1_latency": 40.0}
    assert data["timing"]["device"] == "h200"
    assert "l1_latency" not in data["timing"]["estimated"]
    assert "2 of 132 SMs" in data["timing"]["scope"]
    waiting = {line["number"]: line["stalls"] for line in data["lines"] if "stalls" in line}
    assert waiting
    for line in profile.lines:
        assert waiting.get(line.number, {}) == {reason: n for reason, n in line.stalls.items() if n}
    untimed = json.loads(reduced("neighbored", 1000)[1].to_json())
    assert untimed["timing"] is None
    assert "cycles" not in untimed["metrics"]


def test_merged_launches_have_no_time() -> None:
    one, two = (reduced("neighbored", 4096, timing=True)[1] for _ in range(2))
    assert one.merge(two).timing is None


def test_the_recorded_window() -> None:
    _, profile = reduced("interleaved", 4096, timing=True, window=(0, 2000))
    assert profile.timing is not None
    shown = str(profile.timeline(width=40))
    assert shown == str(Timeline(profile.timing, cycles=40))
    assert "scheduler  block  warp" in shown
    panels = profile.timeline(width=100).render(60).splitlines()
    assert max(map(len, panels)) <= 60
    assert sum(line.startswith("SM 0, cycles") for line in panels) > 1
    letters = {row.warp: row.letters for row in profile.timeline(width=100).rows}
    for warp, whole in letters.items():
        parts = [line.split("|")[1] for line in panels if line.partition("|")[0].split()[2:] == [str(warp)]]
        assert "".join(parts).rstrip() == whole.rstrip()
    with pytest.raises(ValueError, match="window="):
        reduced("interleaved", 4096, timing=True)[1].timeline()
    assert "nothing was recorded" in profile.timeline(sm=2).render()
    assert trace_events(profile.timing)["traceEvents"]


# What goes wrong


def forgotten(flags):
    if cuda.threadIdx.x < 16:
        cuda.syncwarp()
    else:
        cuda.syncthreads()
    flags[0] = 1


def test_a_deadlock_is_the_same_finding() -> None:
    found = []
    for timing in (False, True):
        flags = np.zeros(1, np.int32)
        with pytest.raises(DeadlockError) as error:
            simt.launch(forgotten, 4, 32, flags, timing=timing)
        found.append(str(error.value))
        assert flags[0] == 0
    assert found[0] == found[1]


def late_mistake(data):
    i = cuda.grid(1)
    data[i] = 1


def test_an_error_outside_of_the_simulated_sm_is_found_and_changes_nothing() -> None:
    data = np.zeros(32 * 200 - 5, np.int32)
    with pytest.raises(OutOfBoundsError, match="index 6395 is out of bounds"):
        simt.launch(late_mistake, 200, 32, data, timing=True)
    assert not data.any()


def test_ctrl_c_while_the_clock_runs_leaves_the_arrays_alone() -> None:
    totals: list[int] = []

    def stop(done: int, total: int) -> None:
        totals.append(total)
        if total != 200:
            raise KeyboardInterrupt

    data = np.zeros(32 * 200, np.int32)
    with pytest.raises(KeyboardInterrupt):
        simt.launch(late_mistake, 200, 32, data, timing=True, progress=stop)
    assert not data.any()
    assert totals[0] == 200  # first the functional run, then the blocks of one SM
    assert totals[-1] == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"device": "h20"}, DeviceError, "did you mean h200"),
        ({"device": "h20", "timing": True}, DeviceError, "did you mean h200"),
        ({"overrides": {"l1_latncy": 3}, "timing": True}, DeviceError, "did you mean l1_latency"),
        ({"overrides": {"l1_latency": -3}, "timing": True}, DeviceError, "l1_latency = -3 is not between 0 and"),
        ({"overrides": {"dram_latency": 1e300}, "timing": True}, DeviceError, "is not between 0 and"),
        ({"overrides": {"dram_latency": np.inf}, "timing": True}, DeviceError, "is not between 0 and"),
        ({"overrides": {"launch_overhead": np.nan}, "timing": True}, DeviceError, "is not between 0 and"),
        ({"overrides": {"schedulers": 65}, "timing": True}, DeviceError, "more schedulers (65) than warps"),
        ({"overrides": {"l2_ways": 2**20}, "timing": True}, DeviceError, "has no room for l2_ways = 1.04858e+06 lines"),
        ({"overrides": {"l1_latency": 3}}, LaunchError, "add timing=True"),
        ({"sms": "all"}, LaunchError, "add timing=True"),
        ({"window": (0, 5)}, LaunchError, "add timing=True"),
        ({"window": (5, 5), "timing": True}, LaunchError, "one past the last"),
        ({"window": (-1, 5), "timing": True}, LaunchError, "one past the last"),
        ({"window": (0, 2**99), "timing": True}, LaunchError, "one past the last"),
        ({"window": 5, "timing": True}, LaunchError, "one past the last"),
        ({"trace": 3}, LaunchError, "the block and the warp to trace"),
        ({"overrides": {"l1_latency": "x"}, "timing": True}, DeviceError, "l1_latency is 'x'; it must be a number"),
        ({"sms": "none", "timing": True}, LaunchError, "number of SMs"),
        ({"sms": "all", "timing": True, "max_host_seconds": 0}, LaunchError, "must be positive"),
        ({"shared_bytes": 120_000, "device": "quadro_p2000", "timing": True}, LaunchError, "does not fit on any SM"),
    ],
)
def test_wrong_use(options: dict[str, Any], error: type[Exception], message: str) -> None:
    data = np.zeros(64, np.int32)
    with pytest.raises(error) as caught:
        simt.launch(late_mistake, 2, 32, data, **options)
    assert message in str(caught.value)
    assert not data.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overrides": {"schedulers": 0}}, "rejected"),
        ({"sms": 0}, "number of SMs"),
        ({"shared_bytes": 120_000, "device": "quadro_p2000"}, "limited by shared memory"),
    ],
)
def test_what_the_model_cannot_do_is_said_before_anything_runs(options: dict[str, Any], message: str) -> None:
    def never(done: int, total: int) -> None:
        raise AssertionError("it ran")

    with pytest.raises(SimtError, match=message):
        simt.launch(late_mistake, 2, 32, np.zeros(64), progress=never, timing=True, **options)


@needs_nvdisasm
def test_a_device_that_cannot_run_the_code() -> None:
    kernel = simt.load_cubin(DATA / "sm_90" / "kernels_O3.cubin")["reduceNeighbored"]
    args = (np.zeros(512, np.int32), np.zeros(1, np.int32), np.uint32(512))
    with pytest.raises(DeviceError, match="does not run sm_90 code") as caught:
        simt.launch(kernel, 1, 512, *args, device="a100", timing=True)
    assert "h200" in str(caught.value)


def test_too_large_for_all_sms() -> None:
    with pytest.raises(LaunchError, match="would take about") as caught:
        reduced("neighbored", 1 << 16, **EVERY_SM, max_host_seconds=1e-3)
    assert "the limit is 0.001 s" in str(caught.value)
    assert "max_host_seconds" in str(caught.value)
    _, profile = reduced("neighbored", 1 << 16, **EVERY_SM, max_host_seconds=600)
    assert profile.timing is not None
    assert profile.timing.n_sms == 132
