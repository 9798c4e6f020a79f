"""``simt calibrate`` without a GPU: the timing model, with other numbers, stands in for one."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import simt
from gpu.calibration.command import nearest
from gpu.calibration.figures import Figure, chased, figures
from gpu.calibration.fitting import Fitted, fit
from gpu.calibration.keeping import kept
from gpu.calibration.measuring import ATTEMPTS, Measured, measure, other_processes
from gpu.calibration.native import Native
from gpu.calibration.writing import Product, device_file, most_of
from gpu.errors import GpuError, ProfilerError
from simt import devices
from simt.check import LaunchError
from simt.devices import DeviceError
from tests.machine_view import needs_nvdisasm
from tests.toolkit.needs import needs_nvrtc

H200 = devices.get("h200")
PRODUCT = Product(
    "Somebody's GPU",
    "13.0",
    "9.0",
    (("multiprocessors", 114), ("clock_mhz", 1755)),
    (("memory_bytes", 80e9, "bytes"), ("memory_clock_mhz", 1593.0, "MHz")),
)
FIGURES = {figure.name: figure for figure in figures(132)}


def modelled(kernels: Any, figure: Figure, numbers: dict[str, float]) -> float:
    """A figure of a GPU that is the H200's model with some other numbers."""
    if figure.profiled:
        return numbers[figure.parameter or ""]
    cycles = []
    for steps in figure.steps:
        shape = figure.blocks_of(steps), figure.threads
        profile = simt.launch(
            kernels[figure.kernel], *shape, *figure.arguments(steps), device="h200", timing=True, sms="one",
            overrides=numbers,
        )  # fmt: skip
        assert profile.timing is not None
        cycles.append(profile.timing.mean_sm_cycles)
    return figure.per_step(cycles)


@needs_nvdisasm
@needs_nvrtc
def test_the_numbers_of_a_gpu_are_found_again() -> None:
    numbers = {
        "shared_latency": 30.0, "l1_latency": 44.0, "l2_latency": 262.0, "dram_latency": 802.0, "atomic_latency": 300.0,
        "l2_read_bytes_per_cycle": 3900.0, "l2_write_bytes_per_cycle": 1800.0, "dram_read_bytes_per_cycle": 1300.0,
        "dram_write_bytes_per_cycle": 1100.0, "dram_write_alone_share": 1.1, "launch_overhead": 4000.0,
    }  # fmt: skip
    with resources.as_file(resources.files("gpu.calibration") / "kernels.cu") as source:
        kernels = simt.load_cuda(source, "sm_90")
    wanted = [figure for figure in FIGURES.values() if figure.parameter in numbers]
    measured = [Measured(figure, modelled(kernels, figure, numbers), 0.0, 1980.0) for figure in wanted]
    found = fit(kernels, H200, measured, lambda _: None, {})
    assert {each.measured.figure.parameter: each.value for each in found} == {
        name: pytest.approx(value, rel=0.04) for name, value in numbers.items()
    }
    for each in found:
        assert each.after == pytest.approx(each.measured.cycles, rel=0.015)
        assert not each.is_borne_out
        assert each.uncertainty < 0.03 * numbers[each.measured.figure.parameter or ""]


@pytest.mark.parametrize("memory_mhz", [3201.0, 2000.4])
def test_no_more_than_memory_delivers(memory_mhz: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model needs more than the peak to be as fast as the GPU: that is no number of the GPU's."""
    limits = (("multiprocessors", 132), ("clock_mhz", 1980))
    product = replace(PRODUCT, limits=limits, numbers=(("memory_clock_mhz", memory_mhz, "MHz"),))
    name = "dram_read_bytes_per_cycle"
    peak = most_of(product, H200)[name]
    monkeypatch.setattr("gpu.calibration.fitting._modelled", lambda *args: 1.03 * 16 / args[-1][name])
    measured = Measured(FIGURES["reads of DRAM by all SMs"], 16 / peak, 0.0, 1980.0)
    (found,) = fit({}, H200, [measured], lambda _: None, most_of(product, H200))
    path = tmp_path / "mine.toml"
    path.write_text(device_file(product, H200, [found]))
    number = devices.get(path).sections["timing"][name]
    assert number.value == pytest.approx(peak, rel=1e-3)
    assert not number.estimated


def test_numbers_that_tell_in_each_others_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes alone take as long as two numbers say; that the other one was changed, too, must not lead astray."""
    names = "dram_write_bytes_per_cycle", "dram_write_alone_share"
    copies, writes = FIGURES["copies in DRAM by all SMs"], FIGURES["writes of DRAM by all SMs"]

    def modelled(_: object, __: object, figure: Figure, values: dict[str, float]) -> float:
        rate, share = (values.get(name, math.nan) for name in names)
        return 10 / 1600 + 20 / rate if figure is copies else 16 / (rate * share)

    monkeypatch.setattr("gpu.calibration.fitting._modelled", modelled)
    monkeypatch.setattr("gpu.calibration.fitting.ROUNDS", 2)
    numbers = dict(zip(names, (1400.0, 1.15), strict=True))
    measured = [Measured(each, modelled(0, 0, each, numbers), 0.0, 1980.0) for each in (copies, writes)]
    found = fit({}, H200, measured, lambda _: None, {})
    assert [each.value for each in found] == pytest.approx([1400, 1.15], rel=0.01)


class Array:
    """An array of a GPU that is not there."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.values = values

    def read(self) -> npt.NDArray[Any]:
        return self.values


class Fake:
    """A GPU on which a step takes so many cycles; its clock and its times may be unsteady, or it refuses a kernel."""

    def __init__(self, cycles: float, mhz: Sequence[float] = (1980.0,), noise: float = 0.0, refuses: str = "") -> None:
        self.cycles, self.mhz, self.noise, self.refuses = cycles, mhz, noise, refuses
        self.random = np.random.default_rng(0)
        self.launches = 0

    def array(self, values: npt.NDArray[Any]) -> Array:
        return Array(values.copy())

    def launch(self, kernel: str, blocks: int, threads: int, args: Sequence[Any]) -> None:
        if kernel == self.refuses:
            raise GpuError("no kernel image is available")
        self.launches += 1
        steps = next(arg for arg in args[::-1] if not isinstance(arg, Array))
        spent = 1000 + float(steps) * self.cycles * (1 + self.noise * self.random.random())
        table = args[-1].values.reshape(-1, 4)
        assert len(table) == blocks
        table[:, 1] = table[:, 0] + round(spent)
        table[:, 3] = table[:, 2] + round(1e3 * spent / self.mhz[self.launches % len(self.mhz)])

    def profiled(self, kernel: str, blocks: int, threads: int, times: int) -> list[float]:
        if kernel == self.refuses:
            raise ProfilerError("this user may not read the GPU's performance counters")
        return [self.cycles * (1 + self.noise * self.random.random()) for _ in range(times)]


def one(fake: Fake, name: str = "dependent FFMA") -> Measured:
    """What comes of one figure."""
    (found,) = measure(fake, [FIGURES[name]], lambda _: None)
    return found


@given(st.floats(1, 1000))
def test_a_steady_gpu_is_measured_as_it_is(cycles: float) -> None:
    found = one(Fake(cycles))
    assert found.cycles == pytest.approx(cycles, abs=0.01)
    assert found.spread == 0
    assert found.mhz == pytest.approx(1980, rel=1e-3)
    assert not found.problem


def test_a_clock_that_moves_and_a_busy_gpu_are_said() -> None:
    moving = Fake(4, mhz=(1980, 1500))
    assert one(moving).problem == "the clock moved between 1500 and 1980 MHz"
    assert moving.launches > ATTEMPTS * 20  # measured anew
    assert "is the GPU busy?" in one(Fake(4, noise=0.5)).problem
    assert one(Fake(4, refuses="chain_fma")).problem == "no kernel image is available"


def test_what_only_the_profiler_sees() -> None:
    assert one(Fake(3300), "launches without their SMs' work").cycles == 3300
    assert "is the GPU busy?" in one(Fake(3300, noise=20), "launches without their SMs' work").problem
    refused = one(Fake(3300, refuses="words"), "launches without their SMs' work")
    assert refused.problem == "this user may not read the GPU's performance counters"


def test_a_profiler_that_does_not_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for another one."""
    (tmp_path / "ncu").write_text("#!/bin/sh\nexec sleep 20\n")
    (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr("gpu.calibration.native.WAIT", 0.2)
    native = object.__new__(Native)  # no driver is needed for this
    native._cubin, native._index = b"", 0
    with pytest.raises(ProfilerError, match=r"more than 0\.2 s"):
        native.profiled("nothing", 1, 32, 3)


def test_a_launch_costs_what_no_sm_works_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the time of its SMs, which the model adds."""
    names = '"ID","sm__cycles_elapsed.max","sm__cycles_active.max"'
    rows = '"","cycle","cycle"', '"0","4,340","440"', '"1","4,331","481"'
    said = "\n".join((names, *rows))
    (tmp_path / "ncu").write_text(f"#!/bin/sh\ncat <<END\n{said}\nEND\n")
    (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    native = object.__new__(Native)
    native._cubin, native._index = b"", 0
    assert native.profiled("words", 264, 256, 2) == [3900, 3850]


@pytest.mark.parametrize("name", ["reads of L2 by all SMs", "reads of DRAM by all SMs"])
def test_figures_of_all_sms(name: str) -> None:
    assert one(Fake(0.01, mhz=(1755.0,)), name).cycles == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize(
    ("listed", "others"),
    [
        ("{own}, python\n", ""),
        ("77, python\n", ""),  # its number in the host's count: a container
        ("{own}, python\n77, game\n", "77, game"),
        ("77, python\n78, game\n", "77, python; 78, game"),
        ("", ""),
    ],
)
def test_who_else_uses_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, others: str) -> None:
    text = listed.format(own=os.getpid())
    (tmp_path / "nvidia-smi").write_text(f'#!/bin/sh\n[ "$1" = --id=0000:1b:00.0 ] && printf "%s" "{text}"\n')
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert other_processes("0000:1b:00.0") == others


def fitted(name: str, value: float | None, cycles: float = 300.0, after: float | None = None) -> Fitted:
    measured = Measured(FIGURES[name], cycles, 0.5, 1755.0)
    return Fitted(measured, cycles, cycles if after is None else after, value)


def test_the_device_file(tmp_path: Path) -> None:
    """What was measured with its uncertainty, the rest as the base has it, and the SM's numbers borne out."""
    found = [fitted("loads that hit L2, by each SM", 310.04), fitted("dependent FFMA", None)]
    path = tmp_path / "mine.toml"
    path.write_text(device_file(PRODUCT, H200, found))
    mine = devices.get(path)
    assert (mine.name, mine.compute_capability, mine.limit("multiprocessors")) == ("Somebody's GPU", "9.0", 114)
    numbers = mine.sections["timing"]
    assert numbers["l2_latency"].value == 310
    assert "± 0.5; loads that hit L2, by each SM take 300 cycles a step at 1755 MHz" in numbers["l2_latency"].source
    assert not numbers["l1_latency"].estimated  # borne out by the figures of the SM
    wrong = [fitted("dependent FFMA", None, 300.0)]
    wrong[0] = Fitted(wrong[0].measured, 330.0, 330.0, None)
    path.write_text(device_file(PRODUCT, H200, wrong))
    assert devices.get(path).sections["timing"]["l1_latency"].estimated


def test_nothing_measured_bears_nothing_out(tmp_path: Path) -> None:
    """Not even where nothing contradicts the other device's numbers; what the driver does not know is left out."""
    path = tmp_path / "mine.toml"
    product = replace(PRODUCT, numbers=(*PRODUCT.numbers, ("memory_bus_bits", 0, "bits")))
    path.write_text(device_file(product, H200, []))
    mine = devices.get(path)
    assert all(number.estimated for number in mine.sections["timing"].values())
    assert mine.sections["product"]["memory_bus_bits"].source.startswith("estimated, as h200")


def test_what_the_model_does_not_follow_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    found = [fitted("loads that hit L2, by each SM", 310.0, after=400.0), fitted("dependent FFMA", None)]
    path.write_text(device_file(PRODUCT, H200, found))
    assert not found[0].holds
    assert devices.get(path).sections["timing"]["l2_latency"].value == H200.sections["timing"]["l2_latency"].value


def test_contradictions_are_refused() -> None:
    with pytest.raises(DeviceError, match="are rejected") as caught:
        device_file(PRODUCT, H200, [fitted("loads that hit L2, by each SM", 900.0)])
    assert "l2_latency = 900 exceeds dram_latency = 695" in caught.value.details


@given(st.integers(1, 300), st.integers(1, 20))
def test_a_chain_comes_by_each_of_its_lines_once(lines: int, blocks: int) -> None:
    """And blocks that follow it are as far apart as its lines allow."""
    table, starts, _ = chased(lines, blocks, 0)
    at, seen = 0, []
    for _ in range(lines):
        seen.append(at)
        at = int(table[at])
    assert at == 0
    assert sorted(seen) == [32 * k for k in range(lines)]
    assert [seen.index(start) for start in starts] == [lines * block // blocks for block in range(blocks)]


@pytest.mark.parametrize(("capability", "key"), [("9.0", "h200"), ("8.6", "rtx_3080"), ("10.3", "b200")])
def test_the_nearest_known_device(capability: str, key: str) -> None:
    assert nearest(capability).compute_capability == devices.get(key).compute_capability
    assert nearest("9.0", "NVIDIA H200").key == "h200"
    assert nearest("9.0", "NVIDIA H100").key == "h100"


def test_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    from gpu.calibration import command, native
    from gpu.errors import NoGpuError

    def missing(_: int) -> Any:
        raise NoGpuError("no CUDA driver was found")

    monkeypatch.setattr(native, "Native", missing)
    app = typer.Typer()
    command.register(app)
    result = CliRunner().invoke(app, ["-o", str(tmp_path / "x.toml")])
    assert result.exit_code == 3
    assert "no CUDA driver was found" in result.output
    assert not (tmp_path / "x.toml").exists()


@pytest.fixture
def command() -> Any:
    """``simt calibrate`` alone."""
    import typer

    from gpu.calibration.command import register

    app = typer.Typer()
    register(app)
    return partial(CliRunner().invoke, app)


def test_measurements_are_kept_whatever_becomes_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    """A GPU that contradicts itself: no device file, but what was measured, from which the same is found again."""
    found = [
        Measured(FIGURES["loads that hit L2, by each SM"], 900.25, 0.5, 1755.0),
        Measured(FIGURES["launches without their SMs' work"], float("nan"), float("nan"), float("nan"), "no profiler"),
    ]
    monkeypatch.setattr("gpu.calibration.command._measured", lambda _: (PRODUCT, found))
    monkeypatch.setattr("simt.load_cuda", lambda *_: {})
    monkeypatch.setattr("gpu.calibration.fitting._modelled", lambda _, __, ___, values: values["l2_latency"])
    kept_in, output = tmp_path / "kept.json", tmp_path / "mine.toml"
    first = command(["-o", str(output), "--measurements", str(kept_in)])
    assert isinstance(first.exception, DeviceError)
    assert "900.2" in first.stdout  # the figures are said before
    assert not output.exists()
    product, listed = kept(kept_in)
    again = {each.figure.name: each for each in listed}
    assert product == PRODUCT
    assert again["loads that hit L2, by each SM"].cycles == 900.25
    assert again["launches without their SMs' work"].problem == "no profiler"
    assert math.isnan(again["launches without their SMs' work"].cycles)
    assert again["loads from DRAM, by each SM"].problem == "it was not measured then"  # another version's file
    assert "NaN" not in kept_in.read_text()  # which is no JSON
    monkeypatch.undo()
    monkeypatch.setattr("simt.load_cuda", lambda *_: {})
    monkeypatch.setattr("gpu.calibration.fitting._modelled", lambda _, __, ___, values: values["l2_latency"] + 500)
    second = command(["-o", str(output), "--from", str(kept_in)])
    assert second.exit_code == 1  # one is missing
    assert "launches without their SMs' work" in second.output
    assert devices.get(output).sections["timing"]["l2_latency"].value == 400.2


@pytest.mark.parametrize("text", ["", "[]", '{"product": {}}', '{"product": 1, "figures": {}}', "[" * 100_000, None])
def test_something_else_than_measurements(tmp_path: Path, text: str | None, command: Any) -> None:
    path = tmp_path / "kept.json"
    if text is not None:
        path.write_text(text)
    result = command(["-o", str(tmp_path / "x.toml"), "--from", str(path)])
    assert isinstance(result.exception, LaunchError)
    assert str(path) in result.exception.title


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders")
def test_measurements_in_a_pipe(tmp_path: Path, command: Any) -> None:
    os.mkfifo(tmp_path / "kept.json")
    result = command(["-o", str(tmp_path / "x.toml"), "--from", str(tmp_path / "kept.json")])
    assert "is a device or a pipe" in str(result.exception)


def test_nothing_is_measured_from_a_file(tmp_path: Path, command: Any) -> None:
    files = [str(tmp_path / name) for name in ("x.toml", "a.json", "b.json")]
    result = command(["-o", files[0], "--from", files[1], "--measurements", files[2]])
    assert isinstance(result.exception, LaunchError)
    assert "measures nothing" in result.exception.title
