"""Steps, passes, renderings and replayed counters of traced launches."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from numba import cuda

import simt
from simt import kernels
from simt.machine import events, prepare
from simt.profile import Profile
from simt.program import COUNTERS
from simt.trace import Trace, replay_counters
from simt.trace.values import decode


def if_else(out):
    lane = cuda.laneid
    if lane < 24:
        value = 2 * lane
    else:
        value = lane + 100
    out[cuda.grid(1)] = value


def early_exit(out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = 0.5 * i


def nested(out):
    i = cuda.grid(1)
    total = 0
    for k in range(i % 3):
        if k % 2 == 0:
            total += k
        else:
            total -= i
    out[i] = total


def traced(kernel, size: int = 32, block: int = 32, dtype: str = "int64", **options) -> Profile:
    out = np.zeros(size, dtype=dtype)
    return simt.launch(kernel, -(-size // block), block, out, trace=True, **options)


def trace_of(profile: Profile) -> Trace:
    assert profile.trace is not None
    return profile.trace


def line_of(profile: Profile, text: str) -> int:
    (number,) = [line.number for line in profile.lines if line.text.strip() == text]
    return number


def test_if_else_takes_two_passes_and_comes_together_again() -> None:
    profile = traced(if_else)
    passes = trace_of(profile).passes()
    assert [(each.number, each.lanes) for each in passes] == [(0, 32), (1, 24), (2, 8), (0, 32)]
    assert passes[1].active == 0x00FFFFFF
    assert passes[2].active == 0xFF000000
    then = [step.entry.number for step in passes[1].steps]
    assert then == [line_of(profile, "value = 2 * lane")]


def test_the_other_side_may_run_first() -> None:
    passes = trace_of(traced(if_else, order="else_first")).passes()
    assert [(each.number, each.lanes) for each in passes] == [(0, 32), (1, 8), (2, 24), (0, 32)]


def test_the_branch_is_marked() -> None:
    profile = traced(if_else)
    steps = trace_of(profile).steps()
    assert [step.entry.number for step in steps if step.divergent] == [line_of(profile, "if lane < 24:")]


def test_a_loop_of_four_to_eight_trips_runs_its_body_eight_times() -> None:
    plan = kernels.get("loop_trips").plan()
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, trace=True)
    body = trace_of(profile).executions(line_of(profile, "total += trip * i"))
    lanes = [step.active.bit_count() for step in body]
    assert len(lanes) == 8
    assert lanes[:4] == [32] * 4
    assert lanes[4:] == [int((plan.args[0] > trip).sum()) for trip in (4, 5, 6, 7)]


def test_lane_states() -> None:
    profile = traced(early_exit, size=35, block=40, dtype="float64")
    (last,) = [step for step in trace_of(profile).steps(0, 1) if step.values.get("i") is None][-1:]
    states = last.lane_states()
    assert states[:3] == ["active"] * 3
    assert states[3:8] == ["exited"] * 5
    assert states[8:] == ["no_thread"] * 24


def test_a_trace_alone_tells_of_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads them, so a buffer full of them would stop the launch for good."""

    def barriers(out):
        for _ in range(20):
            cuda.syncthreads()
        out[cuda.grid(1)] = cuda.laneid

    monkeypatch.setattr(prepare, "EVENT_WORDS", 5 * events.N_EVENT)
    whole = traced(barriers)
    assert len(trace_of(whole).executions(line_of(whole, "cuda.syncthreads()"))) == 20


def test_predicated_lanes() -> None:
    profile = traced(if_else, predicate=4)
    assert profile.metrics["divergent_branch"] == 0
    number = line_of(profile, "value = 2 * lane")
    (step,) = trace_of(profile).executions(number)
    assert step.active == 0xFFFFFFFF
    assert step.executed == 0x00FFFFFF
    assert step.lane_states()[24:] == ["predicated_off"] * 8


def test_values_of_assigned_variables() -> None:
    profile = traced(if_else)
    trace = trace_of(profile)
    (then,) = trace.executions(line_of(profile, "value = 2 * lane"))
    assert then.values["value"][:24] == [2 * lane for lane in range(24)]
    (other,) = trace.executions(line_of(profile, "value = lane + 100"))
    assert other.values["value"][24:] == [lane + 100 for lane in range(24, 32)]


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("int32", [-1, 0, 2**31 - 1]),
        ("int64", [-(2**63), -1, 2**63 - 1]),
        ("uint64", [0, 2**64 - 1]),
        ("uint8", [0, 255]),
        ("float64", [-0.5, 1e300, float("inf")]),
        ("float32", [-0.5, 3.25e38, 0.1]),
        ("float16", [-0.5, 65504.0]),
    ],
)
def test_decoding_of_registers(dtype: str, values: list[float]) -> None:
    lanes = np.array(values, dtype=dtype)
    unsigned = {"i": np.int64, "u": np.uint64, "f": f"u{lanes.itemsize}"}[lanes.dtype.kind]
    row = lanes.astype(unsigned) if lanes.dtype.kind != "f" else lanes.view(unsigned).astype(np.uint64)
    assert decode(row.astype(np.uint64).view(np.int64), dtype) == lanes.tolist()


def test_decoding_without_a_type_gives_32_bits() -> None:
    assert decode(np.array([-1, 5], dtype=np.int64), None) == [0xFFFFFFFF, 5]


@pytest.mark.parametrize("order", ["then_first", "else_first", "interleaved", "random:3"])
@pytest.mark.parametrize(("kernel", "size"), [(if_else, 80), (early_exit, 75), (nested, 80)])
def test_counters_replayed_from_the_trace(kernel, size: int, order: str) -> None:
    profile = traced(kernel, size=size, block=40, order=order)
    table = trace_of(profile).replay_counters()
    retires = [instruction.retires for instruction in profile.program.instructions]
    assert table.shape == (len(retires), len(COUNTERS))
    np.testing.assert_array_equal(table[retires], profile.result.counters[retires])
    assert not table[[not each for each in retires]].any()


@pytest.mark.parametrize("name", ["neighbored", "unroll_warps4", "shared", "shuffle", "atomic"])
def test_counters_of_reductions_replayed_from_the_trace(name: str) -> None:
    data = kernels.sample(600)
    _, profile = simt.reduce(data, name, 64, trace=True)
    retires = [instruction.retires for instruction in profile.program.instructions]
    table = replay_counters(trace_of(profile).records, profile.program)
    np.testing.assert_array_equal(table[retires], profile.result.counters[retires])


def test_then_and_else_partition_the_active_lanes() -> None:
    profile = traced(nested, size=96, block=96)
    trace = trace_of(profile)
    for block, warp in trace.warps:
        for step in trace.steps(block, warp):
            assert step.executed & ~step.active == 0
            assert step.active & (step.exited | step.absent) == 0


def test_rendering_in_a_pipe() -> None:
    text = trace_of(traced(if_else)).render(values=True, color=False)
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if "value = 2 * lane" in line]
    assert len(rows) == 1
    assert rows[0].endswith("  1  ######## ######## ######## ........      24")
    assert re.search(r"value = \[ 0\] +0 +2 +4 +6 +8 +10 +12 +14\n", text)
    assert "idle: on another path" in text


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (40, "\n   1 ######## ######## ######## ........\n"),
        (48, "\n   1 ######## ######## ######## ........      24\n"),
        (80, "      1  ######## ######## ######## ........\n"),
    ],
)
def test_no_lane_is_cut_in_a_narrow_terminal(width: int, row: str) -> None:
    """They stand below their code where both have no room beside each other."""
    text = trace_of(traced(if_else)).render(color=False, width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert text.count(f"value = 2 * lane{row}") == 1
    assert [line.endswith("  diverges") for line in lines if "if lane < 24:" in line] == [True]


def test_colours_change_nothing_but_the_colours() -> None:
    trace = trace_of(traced(if_else))
    colored = trace.render(values=True, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == trace.render(values=True, color=False)


def test_the_exit_behind_a_guard_is_not_shown_as_its_body() -> None:
    plan = kernels.get("vector_add").plan(40)
    profile = simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, trace=True)
    lines = trace_of(profile).render(0, 1, color=False).splitlines()
    assert "(end of the kernel)" in lines[-1]


def test_device_functions_are_named() -> None:
    _, profile = simt.reduce(kernels.sample(512), "unroll_warps4", 64, trace=(0, 0))
    assert "  in warp_tail:\n" in trace_of(profile).render(color=False)


def test_json() -> None:
    trace = trace_of(traced(if_else))
    data = json.loads(json.dumps(trace.to_dict()))
    assert [(each["pass"], each["active_lanes"]) for each in data["passes"]] == [
        (0, 32),
        (1, 24),
        (2, 8),
        (0, 32),
    ]
    step = data["steps"][2]
    assert step["lanes"].count("other_path") == step["idle_lanes"]["other_path"] == 8
    assert step["values"]["value"][:3] == [0, 2, 4]
    assert "values" not in trace.to_dict(values=False)["steps"][0]


def test_only_one_warp() -> None:
    out = np.zeros(128, dtype=np.int64)
    profile = simt.launch(if_else, 2, 64, out, trace=(1, 0))
    trace = trace_of(profile)
    assert trace.warps == ((1, 0),)
    with pytest.raises(LookupError, match="was not traced"):
        trace.steps(0, 0)


def test_machine_code_has_offsets_and_source_lines() -> None:
    from dataclasses import replace

    from tests.profile.handmade import machine_code, profile

    program = machine_code()
    plain = trace_of(profile(program, trace=True)).render(color=False).splitlines()
    assert plain[2].split() == ["offset", "pass", "lanes", "active"]
    assert [line.split()[0] for line in plain[3:]] == ["0x0000", "0x0010", "0x0020"]
    program.listing = [replace(line, source=("k.py", 40 + k)) for k, line in enumerate(program.listing)]
    found = trace_of(profile(program, trace=True))
    lines = found.render(color=False).splitlines()
    assert lines[2].split()[:2] == ["offset", "line"]
    assert [line.split()[:2] for line in lines[3:]] == [["0x0000", "40"], ["0x0010", "41"], ["0x0020", "42"]]
    assert lines[2].index("lanes") == lines[3].index("#")
    assert found.to_dict()["steps"][1]["source"] == ["k.py", 41]


def test_waiting_for_other_lanes_is_no_divergence() -> None:
    def wait(out):
        if cuda.laneid < 8:
            cuda.syncwarp()
        else:
            cuda.syncwarp()

    steps = trace_of(traced(wait)).steps()
    assert [step.entry.text.strip() for step in steps if step.divergent] == ["if cuda.laneid < 8:"]


def test_machine_code_ends_in_an_instruction() -> None:
    """The end of a kernel is no line of its source, but EXIT may be the last instruction of a listing."""
    last = replace(trace_of(traced(if_else)).steps()[-1], ends_kernel=True)
    assert last.code(in_source=True) == "(end of the kernel)"
    assert last.code(in_source=False) == last.entry.text.rstrip()


def test_a_trace_of_nothing_is_escaped_in_a_notebook() -> None:
    profile = traced(if_else)
    none = replace(profile.result.trace, **dict.fromkeys(("block", "warp", "pc"), np.zeros(0, np.int64)))
    shown = Trace(none, replace(profile.program, name="k<int>"))._repr_html_()
    assert "k&lt;int&gt;" in shown
