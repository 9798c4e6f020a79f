"""Timing drives the functional core: equal results and counts; bad input; determinism; timeline; sweep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda
from numba.core import config

from simt import devices, kernels, lang
from simt.check import DeadlockError, LaunchError, OutOfBoundsError
from simt.devices import DeviceError
from simt.machine import Launch
from simt.ops.encoding import MEMORY_TYPES, SPECIAL_REGISTERS
from simt.program import Instruction, Program
from simt.runtime import run as run_functionally
from simt.timing import PARAMETERS, NoSizeRanError, Timeline, TimingResult, layout, sweep, trace_events, write_trace
from simt.timing.clock import Clock
from simt.timing.selection import NOT_YET
from simt.timing.timeline import spans
from tests.machine.late import Late
from tests.timing.programs import AT, BASE, FIRST, LANE, STRIDE, Y, chain, end, number, program, result
from tests.timing.simulated import simulate

H200 = devices.get("h200")
module: Any = import_module("simt.timing.simulate")  # the package has a function of this name


def prepared(name: str, n: int, block: int) -> tuple[Program, Launch, Any]:
    data = np.random.RandomState(0).randint(-1000, 1000, n).astype(np.int32)
    plan = kernels.get(name).plan_for(data, block, "sum")
    made = lang.compile(plan.kernel, lang.argument_types(plan.args))
    args = [a if isinstance(a, np.ndarray) else np.int64(a) for a in plan.args]
    return made, Launch((plan.grid, 1, 1), (block, 1, 1), args, threads=1), args


@pytest.mark.parametrize("name", ["neighbored", "interleaved", "unroll_warps8", "shared", "shuffle", "atomic"])
def test_counters_and_memory_are_those_of_the_functional_run(name: str) -> None:
    made, launch, args = prepared(name, 20_000, 128)
    timed = simulate(made, launch, H200, sms="all", copy_back=True)
    after = [a.copy() for a in args if isinstance(a, np.ndarray)]
    made, launch, args = prepared(name, 20_000, 128)
    plain = run_functionally(made, launch)
    assert np.array_equal(timed.counters, plain.counters)
    for ours, theirs in zip(after, (a for a in args if isinstance(a, np.ndarray)), strict=True):
        assert np.array_equal(ours, theirs)
    retired = [pc for pc, instruction in enumerate(made.instructions) if instruction.retires]
    assert timed.totals["issued"] == plain.counters[retired, 0].sum()


def test_arguments_stay_as_they_are_without_copy_back() -> None:
    made, launch, args = prepared("interleaved", 5000, 128)
    before = [np.copy(a) for a in args]
    simulate(made, launch, H200)
    assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))


def test_the_clock_and_the_sm_number() -> None:
    """%clock around a chain of additions, and %smid of three blocks that run on an SM each."""
    clock, sm, block = (SPECIAL_REGISTERS.index(name) for name in ("clock", "smid", "ctaid.x"))

    def stored(additions: int) -> list[int]:
        code = [
            Instruction("sreg", LANE, imm=block),
            Instruction("mad.s64", AT, LANE, STRIDE, BASE),
            Instruction("sreg", Y, imm=clock),
            *chain(additions),
            Instruction("sreg", FIRST, imm=clock),
            Instruction("sub.s64", FIRST, FIRST, Y),
            Instruction("sreg", FIRST + 1, imm=sm),
            Instruction("st.global", a=AT, b=FIRST, mod=MEMORY_TYPES["s32"][0]),
            Instruction("st.global", a=AT, b=FIRST + 1, mod=MEMORY_TYPES["s32"][0], imm=16),
            *end(),
        ]
        data = np.zeros(1 << 16, np.int32)
        launch = Launch((3, 1, 1), (32, 1, 1), [data], threads=1)
        simulate(program(code), launch, H200, sms="all", copy_back=True, overrides={"instruction_miss_latency": 0})
        return [*map(int, data[:3]), *map(int, data[4:7])]

    few, many = stored(10), stored(30)
    assert [b - a for a, b in zip(few[:3], many[:3], strict=True)] == [20 * number("latency_alu")] * 3
    assert few[3:] == [0, 1, 2]


def test_the_warp_number_of_blocks_side_by_side() -> None:
    """%warpid of the four blocks of one warp that one of 132 SMs gets: the place of each there."""
    warp, block = (SPECIAL_REGISTERS.index(name) for name in ("warpid", "ctaid.x"))
    code = [
        Instruction("sreg", LANE, imm=block),
        Instruction("mad.s64", AT, LANE, STRIDE, BASE),
        Instruction("sreg", Y, imm=warp),
        Instruction("st.global", a=AT, b=Y, mod=MEMORY_TYPES["s32"][0]),
        *end(),
    ]
    data = np.zeros(1 << 16, np.int32)
    launch = Launch((4 * 132, 1, 1), (32, 1, 1), [data], threads=1)
    simulate(program(code), launch, H200, copy_back=True)
    assert data[: 4 * 132 : 132].tolist() == [0, 1, 2, 3]


def test_warp_cycles_add_up() -> None:
    """Each cycle of each resident warp has one reason, except the first ones and the last, after its exit."""
    made, launch, _ = prepared("neighbored", 1 << 16, 256)
    timed = simulate(made, launch, H200)
    ends = sum(int(H200.sections["timing"][name].value) for name in ("exit_latency", "warp_latency"))
    assert timed.stalls.sum() == timed.totals["warp_cycles"] - timed.blocks * 8 * ends
    assert timed.lines.sum() == timed.stalls.sum()
    assert sum(timed.nvprof_stalls.values()) == pytest.approx(100)


def test_the_same_launch_takes_the_same_time() -> None:
    first, second = (simulate(*prepared("unrolling4", 1 << 18, 256)[:2], H200).to_dict() for _ in range(2))
    for found in (first, second):
        del found["host_seconds"]
    assert first == second
    json.dumps(first)


def test_one_sm_stands_for_a_symmetric_grid() -> None:
    """One SM with its share predicts what all SMs together take, for a kernel whose blocks are alike."""
    made, launch, _ = prepared("interleaved", 1 << 17, 128)
    one = simulate(made, launch, H200, sms="one")
    every = simulate(made, launch, H200, sms="all")
    assert (every.n_sms, one.n_sms) == (132, 1)
    assert one.cycles == pytest.approx(every.cycles, rel=0.12)  # the slowest of all SMs is slower than one
    assert "1 of 132 SMs" in one.scope
    assert "all 132 SMs" in every.scope


@pytest.mark.parametrize("key", devices.names())
def test_every_device_simulates(key: str) -> None:
    made, launch, _ = prepared("neighbored_less", 1 << 14, 256)
    timed = simulate(made, launch, devices.get(key))
    assert 0 < timed.metrics["achieved_occupancy"] <= 1
    assert timed.seconds > 0


def test_overrides_change_the_prediction_and_are_named() -> None:
    made, launch, _ = prepared("neighbored", 1 << 16, 256)
    base = simulate(made, launch, H200)
    slow = simulate(made, launch, H200, overrides={"l1_latency": 200})
    assert slow.cycles > 1.2 * base.cycles
    assert slow.to_dict()["overridden"] == {"l1_latency": 200}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"l1_latncy": 4}, "no timing number 'l1_latncy'"),
        ({"l1_latency": -1}, "rejected"),
        ({"l2_latency": 5}, "rejected"),
        ({"schedulers": 0}, "rejected"),
        ({"schedulers": 2.5}, "rejected"),
        ({"l2_dirty_ways": 0.5}, "rejected"),
        ({"l2_partial_ways": 1e-9}, "rejected"),
        ({"instruction_line_bytes": 127.5}, "rejected"),
        ({"blocks_start_early": 0.5}, "rejected"),
        ({"dram_reordering": 1.5}, "rejected"),
        ({"scheduler_policy": 7}, "rejected"),
        ({"l2_fetch_bytes": 48}, "rejected"),
        ({"l2_dirty_ways": 17}, "rejected"),
        ({"l2_partial_ways": 17}, "rejected"),
        ({"l2_spread_latency": 1000}, "rejected"),
    ],
)
def test_overrides_that_cannot_be(overrides: dict[str, float], message: str) -> None:
    made, launch, _ = prepared("neighbored", 1000, 128)
    with pytest.raises(DeviceError, match=message):
        simulate(made, launch, H200, overrides=overrides)


def test_a_device_without_timing_numbers() -> None:
    bare = devices.Gpu("bare", "Bare", "sm_90", "9.0", H200.limits, {})
    made, launch, _ = prepared("neighbored", 1000, 128)
    with pytest.raises(DeviceError, match=r"no section \[timing\]"):
        simulate(made, launch, bare)
    assert set(H200.sections["timing"]) == set(PARAMETERS)


def test_a_block_that_fits_on_no_sm() -> None:
    made, launch, _ = prepared("neighbored", 4096, 1024)
    with pytest.raises(LaunchError, match="does not fit on any SM"):
        simulate(replace(made, registers=255), launch, H200)


def test_sms_that_cannot_be() -> None:
    made, launch, _ = prepared("neighbored", 4096, 128)
    for sms in ("some", 0):
        with pytest.raises(LaunchError, match="sms is"):
            simulate(made, launch, H200, sms=sms)
    with pytest.raises(LaunchError, match="would take about"):
        simulate(made, launch, H200, sms="all", max_host_seconds=0)


@cuda.jit
def warps_wait_for_each_other(flags):
    if cuda.threadIdx.x < 16:
        cuda.syncwarp()
    else:
        cuda.syncthreads()
    flags[0] = 1


def test_a_deadlock_is_the_same_finding_with_timing() -> None:
    """Half of a warp waits for the whole warp, the other half for the whole block."""
    data = np.zeros(8, np.int32)
    made = lang.compile(warps_wait_for_each_other, lang.argument_types([data]))
    launch = Launch((1, 1, 1), (32, 1, 1), [data], threads=1)
    with pytest.raises(DeadlockError) as without:
        run_functionally(made, launch)
    with pytest.raises(DeadlockError) as with_timing:
        simulate(made, launch, H200)
    assert str(with_timing.value) == str(without.value)


@cuda.jit
def past_the_end(data):
    data[cuda.grid(1)] = 1


def test_what_the_kernel_does_wrong_is_raised() -> None:
    data = np.zeros(100, np.int32)
    made = lang.compile(past_the_end, lang.argument_types([data]))
    with pytest.raises(OutOfBoundsError, match="index 100 is out of bounds"):
        simulate(made, Launch((4, 1, 1), (32, 1, 1), [data], threads=1), H200, sms="all")


def test_timeline(tmp_path: Path) -> None:
    made, launch, _ = prepared("interleaved", 4096, 64)
    timed = simulate(made, launch, H200, window=(0, 2000))
    found = list(spans(timed))
    by_place: dict[int, list[Any]] = {}
    for span in found:
        assert span.start < span.end
        by_place.setdefault(span.place, []).append(span)
    for row in by_place.values():
        for before, after in pairwise(row):
            assert before.end == after.start or before.block != after.block
    shown = str(Timeline(timed, cycles=60))
    assert all(part in shown for part in ("scheduler", "#", "short scoreboard"))
    events = trace_events(timed)["traceEvents"]
    assert {event["ph"] for event in events} == {"X", "M"}
    write_trace(timed, tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"] == events
    assert "nothing was recorded" in str(Timeline(simulate(made, launch, H200)))
    assert "nothing was recorded" in str(Timeline(timed, sm=timed.n_sms))


@pytest.mark.parametrize("sms", ["one", 3, "all"])
def test_blocks_of_the_whole_chip(sms: Any) -> None:
    """Each simulated block is somewhere once; in a place they follow each other, and the last ends with the launch."""
    timed = simulate(*prepared("interleaved", 1 << 20, 256)[:2], H200, sms=sms)
    block, sm, place, start, end = timed.stays.T
    assert len(set(block.tolist())) == len(timed.stays) == timed.blocks
    assert sorted(set(sm.tolist())) == list(range(timed.n_sms))
    assert (start < end).all()
    assert end.max() - H200.sections["timing"]["exit_latency"].value <= timed.totals["cycles"] < end.max() + 1000
    places = sm * 64 + place
    for each in set(places.tolist()):
        mine = timed.stays[places == each]
        assert (mine[1:, 3] >= mine[:-1, 4]).all()
    shown = [event for event in trace_events(timed)["traceEvents"] if event.get("cat") == "block"]
    assert {(event["name"], event["pid"], event["ts"], event["dur"]) for event in shown} == {
        (f"block {b}", m, begin, to - begin) for b, m, _, begin, to in timed.stays.tolist()
    }


def test_sweep_over_block_sizes() -> None:
    def run(block: int) -> TimingResult:
        return simulate(*prepared("interleaved", 1 << 17, block)[:2], H200)

    sizes: Sequence[int] = (32, 128, 512, 4096)
    found = sweep(run, sizes)
    assert list(found.results) == [32, 128, 512]
    assert found.best in found.results
    assert "predicted best" in found.text()
    assert "4096" in found.text()


def test_a_sweep_of_which_no_size_runs_says_why_of_each() -> None:
    def run(block: int) -> TimingResult:
        return simulate(*prepared("interleaved", 1 << 12, block)[:2], H200)

    with pytest.raises(NoSizeRanError, match="no launch of the sweep could run: ") as found:
        sweep(run, (2000, 4096))
    assert list(found.value.errors) == [2000, 4096]


def test_a_result_says_what_it_stands_for() -> None:
    timed = result(program(end()))
    assert timed.to_dict()["scope"] == timed.scope
    assert "block_interval" not in timed.numbers.estimated
    assert "latency_divide" in timed.numbers.estimated


@pytest.mark.parametrize(("name", "n", "block", "sms"), [("neighbored", 300, 96, 2), ("shared", 512, 512, 1)])
def test_looks_that_are_spared_would_find_nothing(
    name: str, n: int, block: int, sms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler that looks at its warps in every cycle issues the same in each, and so do SMs looked at in each."""
    monkeypatch.setattr(module, "CLOCK", Late(module.CLOCK, 1 << 30))
    monkeypatch.setattr(module, "PLAIN_INSTRUCTIONS", 1 << 30)
    made, launch, _ = prepared(name, n, block)
    expected = simulate(made, launch, H200, sms=sms, window=(0, 1 << 20))
    names = module.CLOCK.plain.__globals__
    select = names["select"]

    def eager(q: int, sm: int, now: int, in_turn: bool, t: Clock) -> int:
        found: int = select(q, sm, now, in_turn, t)
        if found == NOT_YET:
            return found
        t.SCHEDULERS[q * layout.N_SCHEDULER + layout.Q_OTHERS] = now + 1
        if found < 0:
            t.SCHEDULERS[q * layout.N_SCHEDULER + layout.Q_NEXT] = now + 1
        return found

    monkeypatch.setitem(names, "select", eager)
    found = simulate(made, launch, H200, sms=sms, window=(0, 1 << 20))
    assert np.array_equal(found.events, expected.events)
    assert np.array_equal(found.stalls, expected.stalls)
    assert found.totals == expected.totals


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize(("wait", "issued"), [(1 << 30, 1 << 30), (3, 1 << 30), (1 << 30, 50)])
def test_plain_python_takes_the_same_time(wait: int, issued: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it; until the compiled model is there; until so many instructions have issued."""

    def once() -> dict[str, Any]:
        made, launch, _ = prepared("neighbored", 1000, 96)
        found = simulate(made, launch, H200, window=(0, 500))
        return {**found.to_dict(), "host_seconds": 0, "events": found.events.tolist(), "stalls": found.stalls.tolist()}

    expected = once()
    late = Late(module.CLOCK, wait)
    monkeypatch.setattr(module, "CLOCK", late)
    monkeypatch.setattr(module, "PLAIN_STEP", 40)
    monkeypatch.setattr(module, "PLAIN_INSTRUCTIONS", issued)
    assert once() == expected
    assert late.wait != wait
    assert (late.wait < 0) == (wait == 3 or issued == 50)
