"""Speed of light, kinds of launches, and how far off a prediction is expected to be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt
from simt import devices
from simt.devices import DeviceError
from simt.timing import TimingResult, sweep
from simt.timing import layout as L
from simt.timing.classes import PIPES
from simt.timing.errors import expected
from simt.timing.kinds import KINDS, LIMITS, RACES
from simt.timing.light import ISSUE, LSU, NEAR, kind_of, most_dram_bytes, ports
from simt.timing.parameters import parameters
from simt.timing.sample import Sample
from tests.machine_view import DATA, needs_nvdisasm

ALIKE = Sample(1, 132, 8, uncertainty=0.0)
DIFFERENT = Sample(32, 132, 256, uncertainty=0.01)


def table(*rows: tuple[str, int]) -> Any:
    """Instructions by pipe and interval."""
    ops = np.zeros((len(rows), L.N_OP), np.int64)
    ops[:, L.O_ISSUES] = 1
    for row, (pipe, interval) in zip(ops, rows, strict=True):
        row[[L.O_PIPE, L.O_INTERVAL]] = PIPES.index(pipe), interval
    return ops


def busiest(ops: Any, executed: Any) -> int:
    """Cycles of the port that is busy longest."""
    return max(ports(ops, executed).values())


def test_the_busiest_port_by_hand() -> None:
    """Ten each: loads; constants, barriers; IADD3, two cycles each; FFMA on either half; IMAD, HFMA2 and MUFU."""

    def ten(n: int) -> npt.NDArray[np.int64]:
        return np.full(n, 10)

    assert busiest(table(("lsu", 9), ("branch", 9)), ten(2)) == 40  # four schedulers share a cycle
    assert busiest(table(("sreg", 8), ("const", 8), ("barrier", 1)), ten(3)) == 160
    assert busiest(table(("alu", 2)), ten(1)) == 20
    assert busiest(table(("fma", 2)), ten(1)) == 10
    assert busiest(table(("fma", 2), ("fma_heavy", 2)), ten(2)) == 20
    assert busiest(table(("fma_heavy", 4)), ten(1)) == 40
    assert busiest(table(("fma_both", 2), ("fma_heavy", 2)), ten(2)) == 40  # of the heavy half
    assert busiest(table(("fma_both", 2), ("fma", 2)), ten(2)) == 30
    assert busiest(table(("xu", 8), ("alu", 2)), np.array([1, 30])) == 60
    free = table(("alu", 2))
    free[0, L.O_ISSUES] = 0
    assert busiest(free, ten(1)) == 0


def test_ports_by_name() -> None:
    found = ports(table(("alu", 2), ("lsu", 9), ("fma", 2), ("fma_heavy", 4)), np.array([1, 2, 3, 4]))
    assert found == {ISSUE: 10, "fma": 16, "alu": 2, LSU: 8}


def test_what_memory_moves_at_most() -> None:
    """The H100's 5120 bits twice a cycle of 2619 MHz, at 1980 MHz; without a product, what the model reads."""
    assert most_dram_bytes(devices.get("h100")) == pytest.approx(2 * 5120 / 8 * 2619 / 1980)
    h200 = devices.get("h200")
    bare = devices.Gpu("bare", "Bare", "sm_90", "9.0", h200.limits, {"timing": h200.sections["timing"]})
    assert most_dram_bytes(bare) == 2400


@given(st.fixed_dictionaries({name: st.none() | st.floats(0, 100) for name in LIMITS.values()}))
def test_the_kind_is_the_nearest_limit(metrics: dict[str, float | None]) -> None:
    assert kind_of(metrics, DIFFERENT) == "imbalance"
    kind = kind_of(metrics, ALIKE)
    most = max(value or 0.0 for value in metrics.values())
    assert kind in KINDS
    assert (kind == "latency") == (most < NEAR)
    assert kind == "latency" or metrics[LIMITS[kind]] == most


def test_the_expected_error() -> None:
    h200, sample = devices.get("h200"), Sample(32, 132, 256, uncertainty=0.04)
    known = h200.sections["errors"]
    compute = expected(h200, True, "compute", ALIKE)
    assert (compute.percent, compute.sampling, compute.total) == (known["compute"].value, 0, known["compute"].value)
    said = f"± {compute.total:.0f} %, met by two of three launches limited by compute ({compute.source})"
    assert str(compute) == said
    unheard = expected(h200, True, "imbalance", sample)  # of a kind of which few were measured: that of any
    assert unheard.percent == known.get("imbalance", known["any"]).value
    assert unheard.total == pytest.approx((unheard.percent**2 + 16) ** 0.5)


def test_the_error_of_a_kind_that_only_the_other_device_knows_is_that_of_any() -> None:
    """A file that is like the H200's has its error of a kind as estimated, which says nothing; its own of all do."""
    h100 = devices.get("h100")
    known = h100.sections["errors"]
    like = {**known, "l2": replace(known["l2"], source="estimated: as an H200")}
    other = replace(h100, sections={**h100.sections, "errors": like})
    assert expected(h100, True, "l2", ALIKE).percent == known["l2"].value
    assert expected(other, True, "l2", ALIKE).percent == known["any"].value


def test_where_races_decide_no_error_is_known() -> None:
    """Not even where that of any kind is."""
    found = expected(devices.get("h200"), True, RACES, ALIKE)
    assert (found.percent, found.total) == (None, None)
    assert str(found) == "no error known, races between threads decide how much is executed"


@pytest.mark.parametrize("device", ["a100", "b200", "rtx_3090"])
def test_nobody_knows_the_error_of_a_device_that_nobody_measured(device: str) -> None:
    """Also of b200, which is like the h200: its errors are another device's.  Nor with other numbers than its own."""
    found = expected(devices.get(device), True, "dram", ALIKE)
    assert (found.percent, found.total) == (None, None)
    assert str(found) == "estimated, no error known"
    assert expected(devices.get("h200"), False, "dram", ALIKE).percent is None


@cuda.jit
def square(x):
    i = cuda.grid(1)
    x[i] = x[i] * x[i]


def timed(block: int = 128, **options: Any) -> simt.Profile:
    """A reduction compiled by nvcc."""
    kernel = simt.load_cubin(DATA / "sm_90" / "kernels_O3.cubin")["reduceInterleaved"]
    data, blocks = np.ones(1 << 15, np.int32), (1 << 15) // block
    return simt.launch(
        kernel, blocks, block, data, np.zeros(blocks, np.int32), np.uint32(1 << 15), timing=True, **options
    )


@needs_nvdisasm
def test_every_prediction_says_how_far_off_it_may_be() -> None:
    profile = timed()
    assert profile.timing is not None
    off = profile.timing.expected_error
    rows = {line.split()[0]: line for line in str(profile).splitlines() if line.startswith("  ")}
    assert rows["cycles"].endswith(f"cycles ± {off.total:.0f} %")
    assert rows["duration"].endswith(f" ± {off.total:.0f} %")
    assert "±" not in rows["ipc"]
    assert str(off) in str(profile)
    saved = profile.to_dict()["timing"]["expected_error"]
    assert saved == {
        "kind": off.kind, "percent": off.total, "model_percent": off.percent, "sampling_percent": 0.0,
        "covered_share": pytest.approx(2 / 3), "source": off.source,
    }  # fmt: skip
    assert f"± {off.total:.0f} %" in profile._repr_html_()
    of_any = str(profile.timing.error_of_any)
    assert of_any.endswith("met by two of three launches of any kind (484 launches on an H200)")
    guessed = simt.launch(square, 1, 32, np.ones(32, np.float32), timing=True)  # the source view
    assert "estimated, no error known" in str(guessed)
    assert "±" not in str(guessed)
    assert guessed.to_dict()["timing"]["expected_error"]["percent"] is None


@needs_nvdisasm
def test_a_sweep_says_which_sizes_its_error_cannot_tell_apart() -> None:
    def run(block: int) -> TimingResult:
        found = timed(block).timing
        assert found is not None
        return found

    found = sweep(run, (32, 64, 128, 256))
    best = found.results[found.best]
    assert best.expected_error.total is not None
    limit = best.cycles * (1 + best.expected_error.total / 100)
    within = [block for block, each in found.results.items() if each.cycles <= limit and block != found.best]
    assert found.within_error == sorted(within, key=lambda block: found.results[block].seconds)
    told = found.text()
    assert f"{best.cycles:.0f} cycles, {1e6 * best.seconds:,.2f} us ({best.expected_error}); next is " in told
    assert ("within that error" in told) == bool(within)
    assert ("more than that error" in told) != bool(within)


@needs_nvdisasm
def test_speed_of_light_is_at_most_all_of_it() -> None:
    found = timed(sms="all").metrics
    for name in LIMITS.values():
        value = found[name]
        assert value is not None
        assert 0 < value < 100
    assert found["sm__throughput.avg.pct_of_peak_sustained_elapsed"] == found["sm_throughput_percent"]
    for name in ("gpu__dram_throughput", "dram__throughput"):
        assert found[f"{name}.avg.pct_of_peak_sustained_elapsed"] == found["dram_throughput_percent"]


def test_errors_of_a_kind_that_there_is_not() -> None:
    text = 'like = "h200"\nname = "x"\n[errors]\nluck = { value = 1, unit = "%", source = "x" }\n'
    with pytest.raises(DeviceError, match=r"errors\.luck is not a kind of launch: compute, l1"):
        parameters(devices.parse(text, "x"))
