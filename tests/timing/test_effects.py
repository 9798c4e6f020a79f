"""Textbook cases in Python: latency, many warps, bank conflicts, strided loads, a late warp."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, int32

import simt
from simt import kernels
from tests.machine_view import needs_numba_cuda

HARDWARE = Path(__file__).parents[1] / "data" / "hardware"


def add_eight_times(x):
    a = x[cuda.threadIdx.x]
    b = a + a
    b = b + a
    b = b + a
    b = b + a
    b = b + a
    b = b + a
    b = b + a
    b = b + a
    x[cuda.threadIdx.x] = b


def add_once(x):
    a = x[cuda.threadIdx.x]
    x[cuda.threadIdx.x] = a + a


def cycles(profile: simt.Profile) -> float:
    """Without those in which no SM works."""
    assert profile.timing is not None
    return profile.timing.cycles - profile.timing.numbers["launch_overhead"]


@pytest.mark.parametrize(("kernel", "adds"), [(add_once, 1), (add_eight_times, 8)])
def test_each_dependent_add_waits_for_the_latency(kernel: Any, adds: int) -> None:
    def run(latency: float) -> simt.Profile:
        return simt.launch(kernel, 1, 32, np.ones(32, np.float32), timing=True, overrides={"latency_fma": latency})

    assert cycles(run(204)) - cycles(run(104)) == 100 * adds


def walk(data, out, rounds):
    i = cuda.grid(1)
    x = data[i % 32]
    for _ in range(rounds):
        x = x * x + x
    out[i] = x


def test_many_warps_hide_latency_that_one_cannot() -> None:
    """Sixteen times the work in less than twice the time."""

    def run(block: int) -> simt.Profile:
        data, out = np.ones(32, np.float32), np.zeros(block, np.float32)
        return simt.launch(walk, 1, block, data, out, 200, timing=True)

    one, many = run(32), run(512)
    assert many.counters["inst_executed"] == pytest.approx(16 * one.counters["inst_executed"])
    assert cycles(many) < 2 * cycles(one)
    assert many.metrics["ipc"] > 8 * one.metrics["ipc"]


def conflicting(out, stride):
    tile = cuda.shared.array(1024, int32)
    lane = cuda.threadIdx.x % 32
    x = lane
    for _ in range(16):
        x = tile[(x + lane) * stride % 1024]
    out[cuda.threadIdx.x] = x


def test_bank_conflicts_cost_time_on_their_line() -> None:
    def run(stride: int) -> simt.Profile:
        return simt.launch(conflicting, 1, 256, np.zeros(256, np.int32), stride, timing=True)

    none, eight, all_in_one = run(1), run(8), run(32)
    assert cycles(none) < cycles(eight) < cycles(all_in_one)
    load = next(k for k, line in enumerate(none.lines) if "tile[(" in line.text)
    grown = [all_in_one.lines[k].waited - none.lines[k].waited for k in range(len(none.lines))]
    assert max(range(len(grown)), key=grown.__getitem__) == load


def strided(data, out, stride):
    i = cuda.grid(1)
    out[i] = data[i * stride] + 1


@cuda.jit
def halve(start, trips):
    i = cuda.grid(1)
    x = start[i]
    while x > 1.0:
        x /= 2.0
        trips[i] += 1


def test_the_timed_run_computes_in_float64() -> None:
    """It takes as many trips as the functional one, on every multiprocessor."""
    trips = np.zeros(1024, np.int32)
    profile = simt.launch(halve, 8, 128, np.arange(1.0, 1025.0), trips, device="h200", timing=True, sms="all")
    assert trips.tolist() == np.ceil(np.log2(np.arange(1, 1025))).astype(int).tolist()
    assert profile.timing is not None
    assert profile.timing.totals["issued"] == profile.counters["inst_executed"]


def test_a_traced_launch_that_looks_for_races_can_be_timed() -> None:
    kernel, args = strided, (np.zeros(256, np.int32), np.zeros(128, np.int32), 2)
    plain = simt.launch(kernel, 2, 64, *args, trace=(1, 1), check="racecheck")
    timed = simt.launch(kernel, 2, 64, *args, trace=(1, 1), check="racecheck", device="h200", timing=True, sms="all")
    assert timed.trace.to_dict(1, 1) == plain.trace.to_dict(1, 1)
    assert timed.timing.totals["issued"] == plain.counters["inst_executed"]


def test_strided_loads_take_longer_than_coalesced_ones() -> None:
    def run(stride: int) -> simt.Profile:
        data, out = np.zeros(1 << 22, np.int32), np.zeros(1 << 17, np.int32)
        return simt.launch(strided, 512, 256, data, out, stride, timing=True)

    coalesced, apart = run(1), run(32)
    assert cycles(apart) > 2 * cycles(coalesced)
    assert apart.metrics["dram_read_bytes"] > 7 * coalesced.metrics["dram_read_bytes"]
    assert apart.timing.dominant_stall == "long_scoreboard"
    load = next(line for line in apart.lines if "data[" in line.text)
    assert load.main_stall == "long_scoreboard"
    assert load.waited == max(line.waited for line in apart.lines)


def late(out, rounds):
    tid = cuda.threadIdx.x
    x = float32(tid)
    if tid < 32:
        for _ in range(rounds):
            x = x * x + x
    cuda.syncthreads()
    out[tid] = x


def test_a_barrier_with_one_late_warp() -> None:
    profile = simt.launch(late, 1, 256, np.zeros(256, np.float32), 300, timing=True)
    assert profile.timing is not None
    assert profile.timing.dominant_stall == "barrier"
    assert max(profile.lines, key=lambda line: line.stalls["barrier"]).text.strip() == "out[tid] = x"
    marked = [line for line in profile.annotate(color=False).splitlines() if line.startswith(">")]
    assert marked[0].endswith("out[tid] = x")  # few instructions, but most of the waiting


@needs_numba_cuda
def test_the_order_of_numbas_reductions_is_that_of_an_h200() -> None:
    """Its own machine code, which no constant is fitted to: each within 25 %, 15 % on average."""
    stored = json.loads((HARDWARE / "reductions.json").read_text(encoding="utf-8"))["reductions"]
    measured = {entry["kernel"]: 1e3 * entry["milliseconds"] for entry in stored if entry["size"] == 1 << 22}
    data = kernels.sample(1 << 22)
    ours = {name: 1e6 * simt.reduce(data, name, 512, view="sm_90", timing=True)[1].timing.seconds for name in measured}
    apart = ["neighbored", "interleaved", "shared", "neighbored_less", "unrolling2", "unrolling4", "unrolling8"]
    for times in (ours, measured):
        assert sorted(apart, key=times.__getitem__, reverse=True) == apart
    off = [abs(ours[name] / measured[name] - 1) for name in measured]
    assert max(off) < 0.25
    assert sum(off) / len(off) < 0.15
