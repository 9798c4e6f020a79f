"""The machine view's times against an H200 (Nsight Compute), and its figures against a published P2000 profile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm
from tests.slow import few, slow

PUBLISHED_OCCUPANCY = (0.952631, 0.928851, 0.916347, 0.928883, 0.931381, 0.933528, 0.643794, 0.631070, 0.632865)

PUBLISHED_THROUGHPUT = (71.861, 120.87, 39.495, 70.189, 92.195, 112.11, 125.17, 123.77, 124.54)
"""gld_throughput; nvprof's GB is 2^30 bytes: next to 5 sectors at 38.610 MB/s it prints 20480 at 154.44 GB/s."""


def errors(found: list[tuple[dict[str, Any], TimingResult]]) -> Any:
    from tests.timing.launches import error

    return np.array([error(entry, timed) for entry, timed in found])


@needs_nvdisasm
@pytest.mark.parametrize(("size", "most", "mean"), [(22, 5.9, 2.9), (24, 6.5, 2.5)])
def test_the_nine_reductions(size: int, most: float, mean: float) -> None:
    """Cycles, occupancy within 3 points, and the order by time of all whose runs on the hardware do not overlap.

    The hardware ran each 46 times: of the three kernels with a warp's tail the runs overlap, medians are 0.6 % apart.

    No constant is fitted to these launches, but their stall samples were read to find mechanisms that the model
    lacked, which were then measured by microbenchmarks: they are no blind test.
    At 2^24 with what was left in L2 they write 5.8 MB, as there (5.3), not 3.6.  The three with a warp's tail had 69 %
    occupancy, there 61, until the chip heard of ended warps as late as there; they were 16 to 19 % slow with that until
    a burst of one SM no longer waited for itself in DRAM.
    """
    from tests.timing.launches import REDUCTIONS, runs, simulate_all

    found = simulate_all("reductions", most_threads=1 << size)[-9:]
    assert len(found) == len(REDUCTIONS)
    off = errors(found)
    assert np.abs(off).max() < most
    assert np.abs(off).mean() < mean
    for entry, timed in found:
        measured = entry["counters"]
        assert abs(100 * timed.metrics["achieved_occupancy"] - measured["achieved_occupancy_pct"]) < 3
        assert timed.totals["issued"] / timed.blocks == pytest.approx(measured["inst_executed"] / entry["grid"][0])
        assert timed.metrics["l1_hit_rate"] == pytest.approx(measured["l1_hit_pct"], abs=4)
    for slower, longer in found:
        for faster, shorter in found:
            if max(runs(faster)) < min(runs(slower)):
                assert shorter.cycles < longer.cycles, (faster["kernel"], slower["kernel"])


@needs_nvdisasm
@pytest.mark.parametrize("size", [22, *slow(24)])
def test_four_sms_order_the_nine_reductions(size: int) -> None:
    """By the medians of the hardware's runs, as far as these differ by 1.5 %: the three with a warp's tail do not."""
    from tests.timing.launches import measured_cycles, simulate_all

    found = simulate_all("reductions", most_threads=1 << size, sms=4)[-9:]
    for slower, longer in found:
        for faster, shorter in found:
            if measured_cycles(slower) > 1.015 * measured_cycles(faster):
                assert shorter.cycles < longer.cycles, (faster["kernel"], slower["kernel"])


@needs_nvdisasm
def test_dominant_stalls_of_the_reductions() -> None:
    """The model's largest is the hardware's, or one within 1 % of that: a tie, which another recording may break."""
    from tests.timing.launches import simulate_all

    same = 0
    found = simulate_all("reductions", most_threads=1 << 22)
    for entry, timed in found:
        waits = {k: v for k, v in entry["counters"].items() if k.startswith("stall_")}
        waits.pop("stall_selected"), waits.pop("stall_not_selected")
        same += waits[f"stall_{timed.dominant_stall}"] > 0.99 * max(waits.values())
    assert same == len(found)


@needs_nvdisasm
def test_launches_and_streams_that_constants_are_fitted_to() -> None:
    from tests.timing.launches import simulate_all

    off = np.abs(errors(simulate_all("cold", most_threads=1 << 22)))
    # A stream of one wave takes 16 % longer here than on an H200.
    assert off.mean() < 5
    assert off.max() < 17


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", "h100"])
def test_how_launches_end(device: str) -> None:
    """Lone atomics, copies larger than L2, brief blocks, code that is fetched for the first time.

    Most constants are of an H200.  Beyond 10 %: floating-point atomics of lone lanes at 16 words (they wait for each
    other at one word only), 64-bit ones of all lanes, and on the H100 copies that stay in L2.
    """
    from tests.timing.launches import simulate_all

    off = np.abs(errors(simulate_all("ends", most_threads=1 << 26, device=device)))
    assert len(off) == 61
    assert np.median(off) < 3.5
    assert np.sum(off > 10) <= 5
    assert np.sort(off)[:-3].max() < 17


@needs_nvdisasm
@pytest.mark.parametrize(
    ("kernel", "most"),
    [
        ("plainLoop", 14),
        ("longLoop", 6),
        ("aluLoop", 2),
        ("uniformBranch", 16),  # the hardware's own runs differ by 14 % in one of the eight launches
        ("divergentBranch", 8),
        ("unevenBarrier", 9.4),
        ("convertLoop", 7.5),
        ("sharedLoop", 6),
        ("treeLoop", 11),
    ],
)
def test_loops_that_constants_are_fitted_to(kernel: str, most: float) -> None:
    from tests.timing.launches import error, loop_arguments, measured, run

    for k, entry in enumerate(measured("loops")):
        if entry["kernel"].startswith(kernel):
            timed = run("loops", kernel, entry["grid"], entry["block"], loop_arguments(k))
            assert abs(error(entry, timed)) < most


@needs_nvdisasm
@pytest.mark.parametrize("kernel", ["unevenBarrier", "treeLoop"])
def test_a_closed_barrier_counts_before_the_stall_counts_that_elapse_meanwhile(kernel: str) -> None:
    from tests.timing.launches import loop_arguments, measured, run

    for k, entry in enumerate(measured("loops")):
        if entry["kernel"].startswith(kernel):
            timed = run("loops", kernel, entry["grid"], entry["block"], loop_arguments(k))
            assert timed.stall_reasons["wait"] == pytest.approx(entry["counters"]["stall_wait"], rel=0.08)


@needs_nvdisasm
def test_kernels_that_nothing_is_fitted_to() -> None:
    """Eleven kernels of other kinds.

    The stencil is 16.1 % slow, by 1.5 more since up to 12 stores of a scheduler wait for the load/store unit.
    """
    from tests.timing.launches import simulate_all

    off = np.abs(errors(simulate_all("validation")))
    assert off.mean() < 7.6
    assert off.max() < 16.5


@needs_nvdisasm
def test_kernels_written_after_the_model() -> None:
    """Ten kernels that nothing is fitted to.  One SM does not stand for all in mandelbrot.

    Words anywhere (sparse) are 24.2 % fast: no first wave of blocks is spread out, and 14 loads of a scheduler are
    before the load/store unit at once.
    """
    from tests.timing.launches import plain, simulate_all

    found = simulate_all("unseen")
    off = {plain(entry["kernel"]): abs(e) for (entry, _), e in zip(found, errors(found), strict=True)}
    bad = {name for name, e in off.items() if e > 17.5}
    assert bad <= {"mandelbrot", "convolve", "sparse"}
    assert off["convolve"] < 22
    assert off["sparse"] < 25
    assert np.mean(list(off.values())) < 12.5


@needs_nvdisasm
def test_an_asymmetric_grid_needs_more_sms() -> None:
    from tests.timing.launches import error, measured, run, unseen_arguments

    entry = measured("unseen")[2]
    timed = run("unseen", "mandelbrot", entry["grid"], entry["block"], unseen_arguments()[2], sms=33)
    assert abs(error(entry, timed)) < 8


@needs_nvdisasm
def test_auto_times_as_many_sms_as_an_asymmetric_grid_needs() -> None:
    from tests.timing.launches import error, measured, run, unseen_arguments

    entry = measured("unseen")[2]
    timed = run("unseen", "mandelbrot", entry["grid"], entry["block"], unseen_arguments()[2], sms="auto")
    assert timed.n_sms > 1
    assert abs(error(entry, timed)) < 9
    assert timed.expected_error.kind == "imbalance"


@needs_nvdisasm
def test_speed_of_light() -> None:
    """As an H100 counts it: DRAM within 12 points where SMs share no data, the SMs within 5.5.

    Saxpy and transposeTiled are beyond 8 of DRAM: what they write stays in L2 here, and the last SM's time is added.
    Of the SMs bitonic is 14.6 too high, convolve 8.7, 15 and 14 % fast, and mandelbrot, whose blocks differ, by one SM.
    """
    from tests.timing.launches import plain, simulate_all

    found = [
        (plain(entry["kernel"]), entry["counters"], timed.metrics)
        for program in ("validation", "unseen")
        for entry, timed in simulate_all(program, device="h100")
    ]
    shared = {"matmul", "gather", "sparse", "scatter", "convolve"}
    for name, counters, metrics in found:
        assert name in shared or abs(metrics["dram_throughput_percent"] - counters["dram_throughput_pct"]) < 12, name
    sm = {name: (metrics["sm_throughput_percent"], c["sm_throughput_pct"]) for name, c, metrics in found}
    assert len(sm) == 21
    for name in sm.keys() - {"mandelbrot"}:
        assert abs(sm[name][0] - sm[name][1]) < {"bitonic": 15, "convolve": 9.6, "matmul": 6.6, "collatz": 7.6}.get(
            name, 5.5
        ), name
    l2 = {name: (max(m["l2_link_percent"], m["l2_throughput_percent"]), c["l2_throughput_pct"]) for name, c, m in found}
    assert np.mean([abs(ours - theirs) for ours, theirs in l2.values()]) < 10  # 14 without the link


@needs_nvdisasm
def test_stores_and_atomics_that_meet_in_l2() -> None:
    """Stores of parts of sectors and lines, loads for comparison, atomics in L2, and histograms in shared memory."""
    from tests.timing.launches import error, measured, run, store_arguments

    for k, (entry, arguments) in enumerate(zip(measured("stores"), store_arguments(), strict=True)):
        name = entry["kernel"].split("(")[0]
        # Lone sectors that L2 reads and writes, or updates, one by one; words that few SMs share with one another.
        most = {4: 27, 7: 13.6, 17: 18, 18: 19, 20: 22, 22: 20}.get(k, 13)
        assert abs(error(entry, run("stores", name, entry["grid"], entry["block"], arguments))) < most, (k, name)


@needs_nvdisasm
@pytest.mark.parametrize("launch", [2, 3, 4])
def test_l2_completes_and_writes_back_what_stores_leave_incomplete(launch: int) -> None:
    """Stores 4, 8 and 32 words apart: few lines of L2 stay dirty, and fewer incomplete."""
    from tests.timing.launches import measured, run, store_arguments

    entry = measured("stores")[launch]
    timed = run("stores", "strided", entry["grid"], entry["block"], store_arguments()[launch])
    for name in ("read", "write"):
        moved = timed.totals[f"dram_{name}"] * 32 * timed.chip / timed.n_sms
        assert moved == pytest.approx(entry["counters"][f"dram_{name}_bytes"], rel=0.2)


@needs_nvdisasm
@pytest.mark.parametrize(
    ("program", "beyond"),
    few(
        [
            (
                "latency",
                {
                    "guarded.cycles_per_warp_per_scheduler": 9,
                    **{f"ldg_l1.stride{stride}.cycles_per_warp_per_sm": 6 for stride in (0, 1)},
                },
            ),
            (
                "pipes",
                {
                    "ffma+hfma2": 7,
                    "ffma+imad_hi": 9,
                    **{f"bins{n}.warps8": 10 for n in (32, 256, 4096)},
                },
            ),
            (
                "memory",
                {
                    "ldg.warps8.stride11.first0": 15,
                    "ldg.warps4.stride8.first0": 24,  # four warps' lines do not interleave as well as those of eight
                    "1_miss+0_hits.stride1.blocks132": 6,
                    "1_miss+0_hits.stride8.blocks132": 60,  # 2 MiB that all SMs read leave L2 faster than more do
                    # 1536 lines where 1248 have room: they are in other sets than on hardware.
                    "hold.shared4096.threads256.lines1536": 6,
                },
            ),
            (
                "mixed",
                {
                    # Stores to more than 16 lines in turn: not all of them are sent to L2 one by one here.
                    "0_loads+2_stores.warps16": 35,
                    "0_loads+2_stores.warps32": 51,
                    "1_loads+2_stores.warps32": 36,
                    "1_loads+1_stores.warps8": 8,
                    "1_loads+1_stores.warps32": 6,
                    **{f"4_loads+1_stores.warps{w}": 9.5 for w in (8, 16, 32)},
                    **{f"update.2_loads+1_stores.warps{w}": 7.5 for w in (8, 32)},
                },
            ),
            ("slots", {}),
        ],
        always=["latency", "pipes", "mixed", "slots"],
    ),
)
def test_microbenchmarks_that_read_their_own_clock(program: str, beyond: dict[str, float]) -> None:
    """Within 5 % of an H200, but for those named with their bound."""
    from tests.timing import microbenchmarks

    measured = microbenchmarks.figures(program)
    found = dict(getattr(microbenchmarks, program)())
    off = {name: 100 * abs(value / measured[name] - 1) for name, value in found.items()}
    assert {name: e for name, e in off.items() if e > beyond.get(name, 5)} == {}
    assert beyond.keys() <= found.keys()


@needs_nvdisasm
def test_the_latency_of_dram_differs_as_on_hardware() -> None:
    """Percentiles of single loads, and how much the means of warps differ: near and far 4-KiB regions, and the rest."""
    from tests.timing import microbenchmarks

    measured = microbenchmarks.figures("spread")
    found = dict(microbenchmarks.spread())
    for name, value in found.items():
        bound = 18 if name.endswith("deviation_of_warps") or name == "dram.apart256.warps4.p95" else 6
        assert abs(100 * (value / measured[name] - 1)) < bound, name
    one_region, two_regions = (found[f"dram.apart{apart}.warps8.deviation_of_warps"] for apart in (128, 256))
    assert one_region > 3 * two_regions


@needs_nvdisasm
@pytest.mark.slow
def test_which_lines_of_dram_come_together() -> None:
    """Lines 256 and 512 bytes apart, warps of a block side by side, and several loads a warp."""
    from tests.timing import microbenchmarks

    names = [f"loads2.apart{apart}.warps1.apart0" for apart in (256, 512)]
    names += [f"loads1.apart0.warps16.apart{apart}" for apart in (128, 256, 512)]
    names += [f"loads{loads}.apart2048.warps16.apart128" for loads in (2, 4)]
    measured = microbenchmarks.figures("together")
    found = dict(microbenchmarks.together(names))
    assert len(found) == 12
    off = {name: abs(value / measured[name] - 1) for name, value in found.items()}
    assert off.pop("loads1.apart0.warps16.apart128.last") < 0.083
    assert max(off.values()) < 0.069


@needs_nvdisasm
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("adds.beside_adds", 2),
        ("adds.beside_tree", 5),
        ("adds.beside_rounds", 16),
        ("adds1.beside_adds", 2),
        ("barriers.beside_tree", 9.5),
        ("tree.beside_barriers", 8),
        ("tree.beside_tree", 9.3),
        ("rounds.beside_barriers", 8),
        ("rounds.beside_rounds", 14),
    ],
)
def test_the_oldest_block_beside_others(name: str, most: float) -> None:
    """Younger warps that have not yielded are ahead of the oldest block's; its barriers are counted before theirs."""
    from tests.timing import microbenchmarks

    found = dict(microbenchmarks.beside([name]))[name]
    assert abs(100 * (found / microbenchmarks.figures("beside")[name] - 1)) < most


@needs_nvdisasm
def test_how_long_blocks_take() -> None:
    """Blocks alone and many, with and without a tail in one warp."""
    from tests.timing import microbenchmarks

    names = [f"tree.chunks{chunks}.n{power}" for chunks in (1, 2, 4, 8) for power in (22, 24)]
    names += [f"tail.chunks8.n{power}" for power in (22, 24)]
    measured = microbenchmarks.figures("phases")
    found = dict(microbenchmarks.phases(names))
    assert len(found) == 42
    for name, value in found.items():
        bound = {"block": 11.5, "step": 13.5, "round": 18}.get(name.rsplit(".", 1)[1])
        assert bound is None or abs(100 * (value / measured[name] - 1)) < bound, name


@needs_nvdisasm
def test_loads_at_a_given_pace() -> None:
    """Latency by the load of DRAM, from the stalls; rows that are not aligned take hardly longer than others."""
    from tests.timing.launches import plain, simulate_all

    for entry, timed in simulate_all("loaded"):
        measured = entry["counters"]
        if plain(entry["kernel"]) == "rows":
            assert abs(errors([(entry, timed)])[0]) < 10
        else:  # warps wait for random times, so that the last of all SMs ends later than those of one
            instructions = measured["inst_executed"] / entry["grid"][0]
            assert timed.totals["issued"] / timed.blocks == pytest.approx(instructions, rel=0.1)
        waited = timed.stall_reasons["long_scoreboard"] * timed.totals["issued"] / timed.blocks
        on_hardware = measured["stall_long_scoreboard"] * measured["inst_executed"] / entry["grid"][0]
        assert waited == pytest.approx(on_hardware, rel=0.12)


def published_profile(control_bits: bool, n: int) -> list[TimingResult]:
    """The nine reductions of the published profile on the model of its Quadro P2000, at *n* elements."""
    from tests.sass.data import cubin
    from tests.timing.launches import REDUCTIONS, timed, values

    found = []
    for name, chunks in REDUCTIONS:
        kernel = cubin("sm_61/kernels")[name.removesuffix("I")]
        blocks = n // 512 // chunks
        args = [values(n), np.zeros(blocks, np.int32), np.uint32(n)]
        found.append(timed(kernel, (blocks, 1, 1), (512, 1, 1), args, device="quadro_p2000", control_bits=control_bits))
    return found


def test_the_published_profile_of_a_quadro_p2000() -> None:
    """At its own size, 2^24: occupancy, times, and their order.

    The fifth is 14 % slow, 3 more than before blocks started as on an H200; the eighth has 0.68 occupancy, not 0.63.
    """
    timed = published_profile(True, 1 << 24)
    occupancies = [found.metrics["achieved_occupancy"] for found in timed]
    assert occupancies == pytest.approx(PUBLISHED_OCCUPANCY, abs=0.055)
    loaded = [found.totals["load_sectors"] * 32 * found.launch.blocks / found.blocks for found in timed]
    published = [size / (rate * 2**30) for size, rate in zip(loaded, PUBLISHED_THROUGHPUT, strict=True)]
    off = [100 * (found.seconds / seconds - 1) for found, seconds in zip(timed, published, strict=True)]
    assert abs(off[0]) < 22
    assert np.abs(off[1:]).max() < 14.7
    assert np.argsort([found.seconds for found in timed]).tolist() == np.argsort(published).tolist()


def test_code_without_control_bits_takes_as_long() -> None:
    """The scoreboard by register that stands in for them does not take temporaries for what instructions hand on."""
    for without, with_bits in zip(published_profile(False, 1 << 18), published_profile(True, 1 << 18), strict=True):
        assert without.cycles == pytest.approx(with_bits.cycles, rel=0.1)
