"""Other ways to memory than LDG: generic addresses, copies to shared memory, textures, and memory of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import simt
from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm
from tests.timing.launches import CUBINS, measured, plain, run
from tests.timing.programs import number

pytestmark = needs_nvdisasm
WARP = [32, 1, 1]
ONE = [1, 1, 1]


def ring(lines: int) -> npt.NDArray[np.uint32]:
    """A chain of indices through so many lines of 128 bytes."""
    data = np.zeros(lines * 32, np.uint32)
    data[::32] = np.arange(1, lines + 1) % lines * 32
    return data


def chase(kind: str, lines: int, hops: int) -> TimingResult:
    args: list[Any] = [ring(lines), np.zeros(1, np.uint32), np.uint32(hops)]
    return run("paths", f"chaseI{kind}", ONE, ONE, args, sms="one")


def per_hop(kind: str, lines: int) -> float:
    """Cycles of a hop when all lines have been touched once."""
    return (chase(kind, lines, 3 * lines).cycles - chase(kind, lines, lines).cycles) / (2 * lines)


@pytest.mark.parametrize("lines", [64, 4096])
def test_a_generic_address_takes_as_long_as_a_global_one(lines: int) -> None:
    """7Generic: LD, 6Global: LDG that reads past L1.  64 lines stay in L1, 4096 in L2."""
    generic = per_hop("7Generic", lines)
    assert generic > number("l1_latency")
    if lines == 64:
        assert generic < number("l2_latency") / 2
    else:
        assert generic == pytest.approx(per_hop("6Global", lines), rel=0.02)
        assert generic > number("l2_latency")


def test_loads_and_stores_by_generic_addresses_move_as_many_bytes() -> None:
    """ILb1: LD and ST, ILb0: LDG and STG."""
    grid, block = [264, 1, 1], [256, 1, 1]
    results = []
    for kernel in ("addedILb0E", "addedILb1E"):
        args: list[Any] = [np.zeros(264 * 256, np.uint32), np.zeros(264 * 256, np.uint32)]
        results.append(run("paths", kernel, grid, block, args, sms="one"))
    by_global, by_generic = results
    assert by_generic.cycles == by_global.cycles
    assert by_generic.totals["l2_sectors"] == by_global.totals["l2_sectors"] > 0
    assert by_generic.stall_reasons == by_global.stall_reasons


def test_a_copy_to_shared_memory_takes_as_long_as_a_load() -> None:
    """And the load of shared memory behind it."""
    assert per_hop("6Copied", 4096) > per_hop("6Global", 4096) + number("shared_latency")


def test_groups_of_copies_overlap() -> None:
    """With DEPTH of them under way a trip takes a DEPTH-th of the time: DEPBAR waits for the oldest group only."""
    trips, cycles = 64, {}
    for depth in (1, 2, 4):
        args: list[Any] = [np.zeros(32 * (trips + 8), np.uint32), np.zeros(32, np.uint32), np.uint32(trips)]
        cycles[depth] = run("paths", f"pipelinedILi{depth}E", ONE, WARP, args, sms="one").cycles
    latency = number("dram_latency") - number("dram_far_latency")
    assert cycles[1] > trips * latency
    assert cycles[2] < 0.65 * cycles[1]
    assert cycles[4] < 0.65 * cycles[2]
    assert cycles[4] > trips / 4 * latency


def test_copies_count_as_loads() -> None:
    args: list[Any] = [np.zeros(264 * 1024, np.uint32), np.zeros(264 * 256, np.uint32)]
    result = run("paths", "stagedILi4E", [264, 1, 1], [256, 1, 1], args, sms="one")
    assert result.totals["load_sectors"] * 32 == result.totals["load_bytes"] == 2 * 4 * 256 * 4


def test_texels_come_from_where_words_do() -> None:
    """A linear texture is read as an array is; what L1 does not have takes longer."""
    n = 264 * 256
    words: list[Any] = [np.zeros(n, np.uint32), np.zeros(n, np.uint32)]
    texels: list[Any] = [simt.texture(np.zeros(n, np.float32)), np.zeros(n, np.float32)]
    loaded = run("paths", "addedILb0E", [264, 1, 1], [256, 1, 1], words, sms="one")
    fetched = run("paths", "fetched", [264, 1, 1], [256, 1, 1], texels, sms="one")
    assert fetched.totals["dram_read"] == loaded.totals["dram_read"] > 0
    assert fetched.dominant_stall == "long_scoreboard"


@pytest.mark.parametrize(("lines", "level"), [(64, "latency_texture"), (4096, "l2_latency")])
def test_a_chain_of_texels_takes_the_latency_of_where_they_are(lines: int, level: str) -> None:
    def cycles(hops: int) -> float:
        args: list[Any] = [simt.texture(ring(lines)), np.zeros(1, np.uint32), np.uint32(hops)]
        return run("paths", "chaseTexture", ONE, ONE, args, sms="one").cycles

    hop = (cycles(3 * lines) - cycles(lines)) / (2 * lines)
    wanted = number(level) + (0 if lines == 64 else number("latency_texture") - number("l1_latency"))
    assert hop == pytest.approx(wanted, abs=40)


def test_the_bus_bounds_what_uses_memory_of_the_host() -> None:
    """To read, to write, and to do both: a million words, held to the H200's launches of paths.cu."""
    blocks = 4096  # the first three launches of so many; behind them the part "ends" has more
    launches = [e for e in measured("paths") if plain(e["kernel"]) == "added" and e["grid"] == [blocks, 1, 1]]
    device = simt.Device("h200", timing=True)
    found = device.load(CUBINS["paths"])
    kernel = found[next(name for name in found if "addedILb0E" in name)]
    words = np.zeros(blocks * 256, np.uint32)
    for entry, reads, writes in zip(launches[:3], (True, False, True), (False, True, True), strict=True):
        arguments = device.array(words, host=reads), device.array(words, host=writes)
        timed = device.launch(kernel, blocks, 256, *arguments).timing
        assert timed is not None
        assert timed.cycles == pytest.approx(entry["counters"]["cycles"], rel=0.08), (reads, writes)
        assert timed.kind == "host"
