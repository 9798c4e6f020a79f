"""Gpu files and the occupancy calculation."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from simt.check import LaunchError
from simt.devices import DeviceError, Gpu, default_for, get, names, occupancy, parse
from simt.devices import device as device_files
from simt.devices.device import DEFAULTS
from simt.timing import parameters

H200 = resources.files("simt.devices").joinpath("h200.toml").read_text(encoding="utf-8")


def nothing():
    pass


def test_the_devices() -> None:
    assert {name: get(name).architecture for name in names()} == {
        "h100": "sm_90",
        "h200": "sm_90",
        "quadro_p2000": "sm_61",
        "t4": "sm_75",
        "a100": "sm_80",
        "rtx_3060": "sm_86",
        "rtx_3080": "sm_86",
        "rtx_3090": "sm_86",
        "rtx_4060": "sm_89",
        "rtx_4090": "sm_89",
        "l4": "sm_89",
        "l40": "sm_89",
        "b200": "sm_100",
        "rtx_5090": "sm_120",
    }


@pytest.mark.parametrize("name", names())
def test_every_number_has_a_source(name: str) -> None:
    device = get(name)
    for section, numbers in {"limits": device.limits, **device.sections}.items():
        for key, quantity in numbers.items():
            assert len(quantity.source) > len("estimated") or quantity.estimated, (section, key)


def test_unknown_device_names_close_ones() -> None:
    with pytest.raises(DeviceError, match="h200"):
        get("h20")


def test_a_file_of_ones_own_is_a_device(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'like = "h200"\nname = "half an H200"\n[limits]\nmultiprocessors = '
        '{ value = 66, unit = "SMs", source = "estimated" }\n'
    )
    mine = get(str(path))
    assert (mine.key, mine.name, mine.limit("multiprocessors")) == (str(path), "half an H200", 66)
    assert mine.limit("warps_per_sm") == get("h200").limit("warps_per_sm")
    profile = simt.launch(nothing, 1, 32, device=str(path), timing=True, sms=66)
    assert "half an H200" in str(profile)
    with pytest.raises(LaunchError, match="half an H200 has 66 SMs"):
        simt.launch(nothing, 1, 32, device=str(path), timing=True, sms=67)
    assert simt.launch(nothing, 1, 32, device=path).device.key == str(path)
    path.write_text("like = 3")
    with pytest.raises(DeviceError, match=f"device file {re.escape(str(path))} is rejected"):
        get(str(path))
    with pytest.raises(LaunchError, match="there is no file"):
        get(str(tmp_path / "theirs.toml"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("warps_per_sm              = { value = 64", "warps_per_sm = { value = 48", "32 x warps_per_sm"),
        ("shared_per_block          = { value = 49152", "shared_per_block = { value = 999999", "exceeds"),
        (
            "shared_per_block_optin    = { value = 232448",
            "shared_per_block_optin = { value = 233472",
            "together",
        ),
        ("blocks_per_sm             = { value = 32", "blocks_per_sm = { value = 65", "exceeds warps_per_sm"),
        ("blocks_per_sm             = { value = 32", "blocks_per_sm = { value = 0", "not positive"),
        ("blocks_per_sm             = { value = 32", 'blocks_per_sm = { value = "32"', "not a number"),
        ("blocks_per_sm             = { value = 32", "blocks_per_sm = { value = inf", "inf is not a number"),
        ("blocks_per_sm             = { value = 32", "blocks_per_sm = { value = nan", "nan is not a number"),
        ("blocks_per_sm             = { value = 32", "blocks_per_sm = { value = 0.5", "0.5 is not a whole number"),
        ("blocks_per_sm ", "blocks_in_sm ", "blocks_per_sm is missing"),
        ('architecture = "sm_90"', 'architecture = "sm_80"', "sm_80 is not compute capability 9.0"),
        ('compute_capability = "9.0"', 'compute_capability = "nine"', "not of the form"),
        ('name = "NVIDIA H200"', "", "name is missing"),
        ('unit = "SMs", source = "product"', 'unit = "SMs", source = ""', "has no source"),
        ('unit = "SMs"', 'unit = "blocks"', "not in 'SMs'"),
        ('unit = "SMs", ', "", "exactly value, unit and source"),
        ("[limits]", "[limits", "not TOML"),
        ("[sources]", "[[sources]]", "sources is not a section"),
        ("[timing]", "[tming]", "tming is not a section that simt knows: limits, product, timing, errors"),
        ("memory_bus_bits  = { value = 6144", "memory_buss_bits = { value = 6144", "did you mean memory_bus_bits"),
        ("memory_bus_bits  = { value = 6144", "memory_bus_bits = { value = 0", "0 is not positive"),
        ('unit = "bits"', 'unit = "bytes"', "not in 'bits'"),
        ('unit = "bits"', 'unit = ""', "has no unit"),
    ],
)
def test_contradictory_files_are_rejected(old: str, new: str, complaint: str) -> None:
    assert old in H200
    with pytest.raises(DeviceError, match=complaint):
        parse(H200.replace(old, new, 1), "changed")


@pytest.mark.parametrize(
    ("section", "entry", "complaint"),
    [
        ("timing", 'l1_latncy = { value = 3, unit = "cycles", source = "x" }', "did you mean l1_latency"),
        ("timing", 'l1_latency = { value = 3, unit = "ns", source = "x" }', "l1_latency is in 'ns', not in 'cycles"),
        (
            "timing",
            'dram_read_bytes_per_cycle = { value = 3, unit = "bytes", source = "x" }',
            "in 'bytes', not in 'bytes per cycle",
        ),
        ("errors", 'dram = { value = 3, unit = "cycles", source = "x" }', r"errors\.dram is in 'cycles', not in '%'"),
    ],
)
def test_timing_numbers_that_are_wrong(section: str, entry: str, complaint: str) -> None:
    device = parse(f'like = "h200"\nname = "mine"\n[{section}]\n{entry}', "mine")
    with pytest.raises(DeviceError, match=complaint):
        parameters(device)


def test_a_memory_is_no_faster_than_its_clock_and_bus() -> None:
    """By the file's own word; one like another device may have slower memory, and an override need not keep to it."""
    head = 'like = "h200"\nname = "mine"\n[timing]\n'
    mine = head + 'dram_read_bytes_per_cycle = {{ value = {}, unit = "{}", source = "x" }}'
    unit = "bytes per cycle of the chip"
    assert parse(mine.format(2424, unit), "mine").memory_bytes_per_cycle == pytest.approx(2424.2, abs=0.1)
    with pytest.raises(DeviceError, match=r"= 2425 exceeds the 2424\.24 of the memory's clock and bus at 1980 MHz"):
        parse(mine.format(2425, unit), "mine")
    slower = '[product]\nmemory_clock_mhz = { value = 1593, unit = "MHz", source = "x" }'
    assert parameters(parse(f'like = "h200"\nname = "mine"\n{slower}', "mine"))
    assert parameters(get("h200"), {"dram_read_bytes_per_cycle": 5000})["dram_read_bytes_per_cycle"] == 5000


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared", "blocks", "limited_by"),
    [
        # worked out with the rules of NVIDIA's CUDA Occupancy Calculator
        ("h200", 512, 16, 0, 4, ("warps",)),
        ("h200", 64, 17, 0, 32, ("warps", "blocks")),
        ("h200", 32, 16, 0, 32, ("blocks",)),
        ("h200", 512, 33, 0, 3, ("registers",)),  # 33 x 32 registers are rounded up to 1280 a warp: 48 warps
        ("h200", 1024, 64, 0, 1, ("registers",)),  # all registers that a block may have
        ("h200", 1024, 65, 0, 0, ("registers",)),  # 32 warps of 2304 registers: more than a block may have
        ("h200", 128, 255, 0, 2, ("registers",)),
        ("h200", 256, 32, 16 * 1024, 8, ("warps", "registers")),
        ("h200", 64, 32, 16 * 1024, 13, ("shared memory",)),  # 1 KiB is reserved for each block
        ("h200", 64, 32, 227 * 1024, 1, ("shared memory",)),
        ("h200", 64, 32, 227 * 1024 + 1, 0, ("shared memory",)),
        ("quadro_p2000", 128, 32, 48 * 1024, 2, ("shared memory",)),
        ("quadro_p2000", 128, 32, 48 * 1024 + 1, 0, ("shared memory",)),
        ("rtx_4090", 1024, 32, 0, 1, ("warps",)),
        ("rtx_4090", 64, None, 0, 24, ("warps", "blocks")),
        ("a100", 33, 16, 0, 32, ("warps", "blocks")),  # 2 warps a block
    ],
)
def test_occupancy(
    device: str, threads: int, registers: int | None, shared: int, blocks: int, limited_by: tuple[str, ...]
) -> None:
    found = occupancy(get(device), threads, registers, shared)
    assert found.blocks_per_sm == blocks
    assert found.limited_by == limited_by
    assert found.warps_per_sm == blocks * -(-threads // 32)


@given(
    device=st.sampled_from(names()),
    threads=st.integers(1, 1024),
    registers=st.integers(1, 254),
    shared=st.integers(0, 100_000),
)
def test_occupancy_never_grows_with_what_a_block_uses(device: str, threads: int, registers: int, shared: int) -> None:
    gpu = get(device)
    found = occupancy(gpu, threads, registers, shared)
    assert 0 <= found.percent <= 100
    assert occupancy(gpu, threads, registers + 1, shared).blocks_per_sm <= found.blocks_per_sm
    assert occupancy(gpu, threads, registers, shared + 1).blocks_per_sm <= found.blocks_per_sm
    assert occupancy(gpu, threads, None, shared).blocks_per_sm >= found.blocks_per_sm


@pytest.mark.parametrize(("threads", "registers", "shared"), [(0, 1, 0), (1025, 1, 0), (32, 0, 0), (32, 1, -1)])
def test_values_that_no_launch_has(threads: int, registers: int, shared: int) -> None:
    with pytest.raises(DeviceError):
        occupancy(get("h200"), threads, registers, shared)


@pytest.mark.parametrize(
    ("view", "key"),
    [
        ("source", "h200"),
        ("sm_90", "h200"),
        ("sm_80", "a100"),
        ("sm_86", "rtx_3080"),
        ("sm_87", "rtx_4090"),  # binary compatible: same generation, not newer
        ("sm_61", "quadro_p2000"),
        ("sm_75", "t4"),
        ("sm_70", "t4"),
        ("sm_100", "b200"),
        ("sm_120", "rtx_5090"),
        ("sm_110", "h200"),  # none runs it: the default
    ],
)
def test_device_of_a_view(view: str, key: str) -> None:
    assert default_for(view).key == key
    assert get(key).runs(view) == (view != "sm_110")


def test_code_runs_on_its_own_generation_only() -> None:
    assert not get("a100").runs("sm_86")
    assert not get("h200").runs("sm_80")
    assert get("a100").runs("source")


def test_how_many_timing_numbers_are_known() -> None:
    for device in map(get, names()):
        known, numbers = device.measured
        assert numbers == len(device.sections["timing"])
        assert numbers - known == sum(number.estimated for number in device.sections["timing"].values())
    assert Gpu("bare", "Bare", "sm_90", "9.0", {}, {}).measured == (0, 0)


LAPTOP = """
name = "A laptop"
like = "rtx_4090"

[limits]
multiprocessors = { value = 76, unit = "SMs", source = "product page" }

[timing]
latency_alu = { value = 5, unit = "cycles", source = "measured" }
"""


def test_a_device_like_another_gives_only_what_differs() -> None:
    base, laptop = get("rtx_4090"), parse(LAPTOP, "laptop")
    assert (laptop.key, laptop.name, laptop.architecture) == ("laptop", "A laptop", "sm_89")
    assert laptop.limit("multiprocessors") == 76
    assert laptop.limits["multiprocessors"].source == "product page"
    for name, number in base.limits.items():
        if name != "multiprocessors":
            assert laptop.limits[name].value == number.value
            assert laptop.limits[name].source == f"as rtx_4090: {number.source}"
    timing = laptop.sections["timing"]
    assert timing["latency_alu"].value == 5
    assert laptop.measured == (1, len(base.sections["timing"]))  # nobody has measured the others on this one
    assert {name: n.value for name, n in timing.items() if name != "latency_alu"} == {
        name: n.value for name, n in base.sections["timing"].items() if name != "latency_alu"
    }


def test_what_measurements_confirm_counts_as_measured() -> None:
    """What the other device only estimates stays an estimate; without such a device there is nothing to confirm."""
    base = get("rtx_4090")
    confirmed = parse(LAPTOP.replace("like", 'confirmed = "borne out by clocks"\nlike'), "laptop")
    timing = confirmed.sections["timing"]
    assert confirmed.measured == (base.measured[0] + 1, base.measured[1])  # and latency_alu, its own
    assert timing["schedulers"].source == f"borne out by clocks: {base.sections['timing']['schedulers'].source}"
    assert timing["latency_fma"].source == "estimated, as rtx_4090: estimated"
    assert confirmed.sections["product"]["memory_bus_bits"].estimated
    with pytest.raises(DeviceError, match="like says of which"):
        parse(H200.replace("name =", 'confirmed = "so"\nname =', 1), "h200")


def test_limits_of_another_generation_are_estimates() -> None:
    newer = LAPTOP.replace(
        'like = "rtx_4090"', 'like = "rtx_4090"\narchitecture = "sm_120"\ncompute_capability = "12.0"'
    )
    assert parse(newer, "newer").limits["warps_per_sm"].estimated


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("rtx_4090", "rtx_9999"), "there is no device 'rtx_9999'"),
        (('like = "rtx_4090"', "like = 3"), "like is missing or not a text"),
        (('name = "A laptop"', ""), "name is missing"),
        (("value = 76", "value = 0"), "limits.multiprocessors: 0 is not positive"),
        (("[limits]", '[limits]\nthreads_per_sm = { value = 99, unit = "threads", source = "x" }'), "threads_per_sm"),
    ],
)
def test_a_device_like_another_is_checked(change: tuple[str, str], says: str) -> None:
    with pytest.raises(DeviceError) as caught:
        parse(LAPTOP.replace(*change), "laptop")
    assert says in str(caught.value)


def _forget() -> None:
    """Let the folder of the files be read again."""
    names.cache_clear()
    device_files._named.cache_clear()


def test_files_that_are_like_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, like in (("one", "two"), ("two", "one"), ("three", "four")):
        (tmp_path / f"{name}.toml").write_text(LAPTOP.replace("rtx_4090", like), encoding="utf-8")
    monkeypatch.setattr("simt.devices.device.resources.files", lambda package: tmp_path)
    _forget()
    try:
        with pytest.raises(DeviceError, match="refers to itself: one like two like one"):
            get("one")
        with pytest.raises(DeviceError, match="like 'four', for which there is no file"):
            get("three")
    finally:
        _forget()


def test_files_of_ones_own_that_are_like_each_other(tmp_path: Path) -> None:
    """A path after ``like`` counts from the file's own folder."""
    (tmp_path / "whole.toml").write_text(LAPTOP)
    part = tmp_path / "part.toml"
    part.write_text(LAPTOP.replace("rtx_4090", "whole.toml").replace("76", "38"))
    assert (get(part).limit("multiprocessors"), get(part).architecture) == (38, "sm_89")
    assert get(part).limits["warps_per_sm"].source.startswith(f"as {tmp_path / 'whole.toml'}: as rtx_4090: ")
    (tmp_path / "whole.toml").write_text(LAPTOP.replace("rtx_4090", "part.toml"))
    with pytest.raises(DeviceError, match=r"part.toml refers to itself: .*part.toml like .*whole.toml like .*part"):
        get(part)
    part.write_text(LAPTOP.replace("rtx_4090", "nothing.toml"))
    with pytest.raises(LaunchError, match="there is no file"):
        get(part)


@pytest.mark.parametrize("name", names())
def test_the_data_sheet_is_in_the_timing_numbers(name: str) -> None:
    """No device moves more than its memory bus does, at least two thirds of it, and L2 holds no more than there is."""
    gpu = get(name)
    product, timing = ({key: number.value for key, number in gpu.sections[s].items()} for s in ("product", "timing"))
    most = 2 * product["memory_clock_mhz"] * product["memory_bus_bits"] / 8 / gpu.limit("clock_mhz")
    assert 0.66 * most < timing["dram_read_bytes_per_cycle"] < most
    assert timing["l2_bytes"] <= product["l2_cache_bytes"]
    assert timing["dram_write_bytes_per_cycle"] < most


def test_a_new_file_changes_no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    views = ["source", *(f"sm_{number}" for number in (52, 61, 70, 75, 80, 86, 89, 90, 100, 120))]
    known = names()
    before = [default_for(view).key for view in views]
    assert set(before) <= set(DEFAULTS)
    monkeypatch.setattr("simt.devices.device.names", lambda: ("a_new_one", *known))
    default_for.cache_clear()
    assert [default_for(view).key for view in views] == before
