"""The clocked microbenchmarks (CLOCKED) on the model, which has a clock, too."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simt.sass import SassKernel, load_cubin
from simt.toolkit.find import find_program
from simt.toolkit.nvdisasm import disassemble
from tests.benchmarks.microbenchmarks import slots as bodies
from tests.timing.launches import timed

DATA = Path(__file__).parent.parent / "data" / "timing"
SOURCES = Path(__file__).parent.parent / "benchmarks" / "microbenchmarks"
TRIPS = 32


def figures(program: str) -> dict[str, float]:
    """What an H200 measured."""
    return dict(json.loads((DATA / "h200" / f"{program}.json").read_text())["figures"])


class Clocked:
    """Runs kernels of one cubin on the model and returns what they leave in ``cycles``."""

    def __init__(self, program: str) -> None:
        self.kernels = load_cubin(DATA / "cubins" / f"{program}.cubin")

    def cycles(self, name: str, threads: int, *args: Any, place: int = 0, shared_bytes: int = 0) -> int:
        """Cycles that the kernel whose mangled name starts so writes, for one block; *place* moves its arrays."""
        kernel = self.kernels[next(full for full in self.kernels if full.startswith(name))]
        out, sink = np.zeros(256, np.int64), np.zeros((1 << 12) + 1024 * place, np.uint32)
        given = [out, sink, *args] if not name.startswith("_Z8barriers") else [out]
        timed(kernel, (1, 1, 1), (threads, 1, 1), given, shared_bytes=shared_bytes, sms="all", copy_back=True)
        return int(out[0])

    def elapsed(self, name: str, blocks: int, threads: int, trips: int, *args: Any) -> float:
        """Cycles of a launch of a kernel of so many trips, one SM for all; without *args*, over lines of its own."""
        kernel = self.kernels[next(full for full in self.kernels if full.startswith(name))]
        sink = np.zeros(threads if args else blocks * threads * 32, np.uint32)
        given = [np.zeros(blocks, np.int64), sink, *args, np.int32(trips)]
        return timed(kernel, (blocks, 1, 1), (threads, 1, 1), given).mean_sm_cycles

    def slope(self, few: str, many: str, steps: float, threads: int, *args: Any, place: int = 0) -> float:
        """Cycles per step: the difference of two kernels."""
        short, long = (self.cycles(name, threads, *args, place=place) for name in (few, many))
        return (long - short) / steps

    def per_trip(self, name: str, threads: int, *args: Any) -> float:
        """Cycles per trip of a kernel whose last argument is their number."""
        short, long = (self.cycles(name, threads, *args, np.int32(trips)) for trips in (16, 80))
        return (long - short) / 64


def _measured_pairs(source: str) -> list[tuple[str, str]]:
    text = (SOURCES / source).read_text()
    return re.findall(r'measure<(\w+)>\("([^"]+)"', text)


def latency() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of the latencies and throughputs of latency.cu."""
    run = Clocked("latency")
    u = np.uint32
    for op, name in _measured_pairs("latency.cu"):
        kind = f"{len(op)}{op}"
        few, many = (f"_Z5chainI{kind}Li{n}E" for n in (16, 80))
        yield f"{name}.latency", run.slope(few, many, 64 * TRIPS, 32, u(3), u(5))
        few, many = (f"_Z7streamsI{kind}Li{n}E" for n in (4, 20))
        yield f"{name}.cycles_per_warp_per_scheduler", run.slope(few, many, 64 * TRIPS * 8, 1024, u(3), u(5))
    for threads, what in ((32, "latency"), (1024, "cycles_per_warp_per_scheduler")):
        steps = 64 * TRIPS * (1 if threads == 32 else 8)
        for fma, name in ((0, "dadd"), (1, "dfma")):
            few, many = (f"_Z9chain_f64ILi{n}ELb{fma}E" for n in (16, 80))
            yield f"{name}.{what}", run.slope(few, many, steps, threads, 1.5, 2.5)
        few, many = (f"_Z10chain_wideILi{n}E" for n in (16, 80))
        yield f"imad_wide.{what}", run.slope(few, many, steps, threads, u(3), np.int32(0))
    itself = np.arange(65536, dtype=np.uint32)
    for threads, what in ((32, "latency"), (1024, "cycles_per_warp_per_sm")):
        warps = threads // 32
        for stride in (1, 2, 4, 8, 16, 32):
            few, many = (f"_Z12chase_sharedILi{n}E" for n in (16, 80))
            yield f"lds.stride{stride}.{what}", run.slope(few, many, 64 * TRIPS * warps, threads, u(stride))
        for stride in (0, 1, 2, 4, 8, 16, 32):
            few, many = (f"_Z12chase_globalILi{n}E" for n in (16, 80))
            args = (itself, u(stride), np.int32(TRIPS))
            yield f"ldg_l1.stride{stride}.{what}", run.slope(few, many, 64 * TRIPS * warps, threads, *args)
    for warps in (1, 2, 4, 8, 16, 32):
        few, many = (f"_Z8barriersILi{n}E" for n in (16, 80))
        yield f"bar_sync.warps{warps}.cycles", run.slope(few, many, 64 * TRIPS, 32 * warps)
    for threads in (1, 32):
        for stride in (0, 1):
            few, many = (f"_Z14atomics_sharedILi{n}E" for n in (16, 80))
            name = f"lanes{threads}.stride{stride}.latency"
            yield f"atoms.{name}", run.slope(few, many, 64 * TRIPS, threads, u(stride))
            few, many = (f"_Z14atomics_globalILi{n}E" for n in (4, 20))
            yield f"atomg.{name}", run.slope(few, many, 128, threads, itself.copy(), u(stride))
    for lanes in (0, 16):
        trips = [run.cycles("_Z7diverge", 32, u(lanes), np.int32(n)) for n in (64, 576)]
        yield f"if_else.lanes{lanes}.cycles_per_trip", (trips[1] - trips[0]) / 512


def pipes() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of pipes.cu, but for the shares of warps."""
    run = Clocked("pipes")
    u = np.uint32
    for pair, name in _measured_pairs("pipes.cu"):
        few, many = (f"_Z5stepsI{len(pair)}{pair}Li{n}E" for n in (2, 10))
        yield name, run.slope(few, many, 64 * TRIPS * 8, 1024, u(3), u(5))
    for warps in (1, 4, 32):
        few, many = (f"_Z9constantsILi{n}E" for n in (4, 20))
        yield f"ldc.warps{warps}", run.slope(few, many, 16 * TRIPS * warps, 32 * warps)
    for warps in (1, 4, 32):
        for returns, name in ((0, "atoms_add"), (1, "atoms_exch")):
            few, many = (f"_Z7atomicsILi{n}ELb{returns}E" for n in (4, 20))
            for same in (1, 2, 4, 8, 16, 32):
                args = u(same), u(1), u(32)
                label = f"{name}.warps{warps}.apart32.same{same}"
                yield label, run.slope(few, many, 16 * TRIPS * warps, 32 * warps, *args)
        few, many = (f"_Z7atomicsILi{n}ELb0E" for n in (4, 20))
        for stride in (2, 8, 32):
            args = u(1), u(stride), u(32)
            label = f"atoms_add.warps{warps}.apart32.stride{stride}"
            yield label, run.slope(few, many, 16 * TRIPS * warps, 32 * warps, *args)
    few, many = (f"_Z4tailILi{n}E" for n in (2, 10))
    # One line of L2 is up to 29 cycles nearer or farther than another: the mean of eight.
    data = np.zeros(1 << 13, u)
    lines = [run.slope(few, many, 8 * TRIPS, 32, data[32 * k :]) for k in range(8)]
    yield "volatile_step.blocks1", float(np.mean(lines))
    for warps in (1, 4, 8, 32):
        for mask in (31, 255, 4095):
            few, many = (f"_Z4binsILi{n}E" for n in (4, 20))
            yield f"bins{mask + 1}.warps{warps}", run.slope(few, many, 16 * TRIPS * warps, 32 * warps, u(mask))


def _slot_listings(template: bytes) -> Iterator[str]:
    """The listings of all bodies: the template's with other slots, which nvdisasm reads at once: it starts slowly."""
    words = [body[k % len(body)].word(k) for body in bodies.BODIES.values() for k in range(bodies.SLOTS)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.bin"
        path.write_bytes(b"".join(word.to_bytes(16, "little") for word in words))
        command = [find_program("nvdisasm"), "-b", "SM90", "-hex", str(path)]
        read = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    first = next(k for k, line in enumerate(read) if "/*0000*/" in line)
    places = [f"/*{16 * (bodies.FIRST + k):04x}*/" for k in range(bodies.SLOTS)]
    whole = disassemble("slots.cubin", template, 90).splitlines()
    begin = next(k for k, line in enumerate(whole) if places[0] in line)
    for at in range(first, first + 2 * len(words), 2 * bodies.SLOTS):
        slots = read[at : at + 2 * bodies.SLOTS]
        slots[::2] = [_OFFSET.sub(place, line, 1) for line, place in zip(slots[::2], places, strict=True)]
        yield "\n".join([*whole[:begin], *slots, *whole[begin + len(slots) :]])


_OFFSET = re.compile(r"/\*[0-9a-f]{4,}\*/")


def slots() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of slots.py, for one warp and for eight a scheduler."""
    template = (DATA / "cubins" / "slots.cubin").read_bytes()
    for (name, cubin), listing in zip(bodies.kernels(template), _slot_listings(template), strict=True):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "body.cubin"
            path.write_bytes(cubin)
            path.with_suffix(".sass").write_text(listing)
            kernel = load_cubin(path, listing=path.with_suffix(".sass"))["body"]
        for warps in (1, 32):
            spans = []
            for trips in (2, 6):
                out, sink = np.zeros(96, np.uint32), np.zeros(1024, np.uint32)
                given = [out, sink, np.float32(1), np.float32(2), np.int32(trips)]
                timed(kernel, (1, 1, 1), (32 * warps, 1, 1), given, sms="all", copy_back=True)
                clocks = out.reshape(-1, 3)[:warps].astype(np.int64)
                spans.append(int((clocks[:, 1] - clocks[0, 0]).max()))
            yield f"{name}.warps{warps}", (spans[1] - spans[0]) / 4 / bodies.SLOTS / max(1, warps // 4)


def memory() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of memory.cu."""
    run = Clocked("memory")
    source = (SOURCES / "memory.cu").read_text()
    u = np.uint32
    itself, zeros = np.arange(4096, dtype=u), np.zeros(1 << 15, u)
    for warps in (1, 32):
        for stride in (0, 1, 8, 32):
            few, many = (f"_Z5chaseILi{n}E" for n in (4, 20))
            steps, args = 128 * warps, (itself, u(stride))
            found = [run.slope(few, many, steps, 32 * warps, *args, place=k) for k in range(32)]
            yield f"ldg_l2.warps{warps}.stride{stride}", float(np.mean(found))
    for op, name in re.findall(r'measure_chain<(\w+)>\("([^"]+)"', source):
        few, many = (f"_Z5chainI{len(op)}{op}Li{n}E" for n in (16, 80))
        yield f"{name}.latency", run.slope(few, many, 64 * TRIPS, 32)
    for warps in (1, 2, 4, 32):
        for stride in (4, 8, 32):
            for op, name in enumerate(("lds", "sts", "ldg")):
                if name != "ldg" or stride < 32 or warps == 32:
                    found = run.per_trip(f"_Z6streamILi{op}E", 32 * warps, zeros, u(stride), u(0))
                    yield f"{name}.warps{warps}.stride{stride}.first0", found / (8 * warps)
    for line in (0, 6, 7, 8, 23):
        found = run.per_trip("_Z6streamILi2E", 1024, zeros, u(1), u(line * 32 + 1))
        yield f"ldg.warps32.stride1.first{line * 32 + 1}", found / (8 * 32)
    for warps in (1, 32):
        for stride in (3, 5, 9, 17, 20, 33):
            if stride < 11 or warps == 32:
                found = run.per_trip("_Z6streamILi2E", 32 * warps, zeros, u(stride), u(0))
                yield f"ldg.warps{warps}.stride{stride}.first0", found / (8 * warps)
    for stride in (10, 11):
        yield f"ldg.warps8.stride{stride}.first0", run.per_trip("_Z6streamILi2E", 256, zeros, u(stride), u(0)) / 64
    far = np.zeros(1 << 20, u)
    for shared, threads, lines in (map(int, found) for found in re.findall(r"hold\((\d+), (\d+), (\d+)\);", source)):
        cycles = run.cycles("_Z4hold", threads, far, u(lines), shared_bytes=shared)
        yield f"hold.shared{shared}.threads{threads}.lines{lines}", cycles / lines
    for hit in (0, 8, 16, 24, 28, 32):
        yield f"ldg.lines32.hit{hit}", run.per_trip("_Z6partly", 1024, far, u(hit)) / (8 * 32)
    for hits, stride, blocks in re.findall(r"measure_misses<(\d+)>\((\d+), (\w+)\)", source):
        name, many = f"_Z6missesILi{hits}E", 132 if blocks == "SMS" else 1
        # The launches before have brought the data to L2 on the hardware, the first trips here.
        short, long = (run.elapsed(name, many, 1024, trips, far, u(stride)) for trips in (768, 1024))
        yield f"1_miss+{hits}_hits.stride{stride}.blocks{many}", (long - short) / (2 * 256 * 32)
    words = 1 << 22
    all_of_l2 = np.zeros(words + (1 << 18), u)
    for stride in (8, 33):
        given = all_of_l2, u(stride), u(words)
        short, long = (run.elapsed("_Z7from_l2", 132, 1024, trips, *given) for trips in (64, 320))
        yield f"ldg_l2.mib16.stride{stride}.blocks132", (long - short) / (2 * 256 * 32 * 4)
    for op, name in ((0, "0_none"), (0, "8_s2r"), (1, "8_popc"), (2, "8_mufu"), (3, "8_lds")):
        yield f"16_ldg+{name}", run.per_trip(f"_Z6besideILi{op}ELi{name[0]}E", 1024, zeros) / 32
    for red, lanes, words in re.findall(r"measure_send<(\w+), (\d+), (\d+)>", source):
        for blocks in (1, 132):
            name = f"_Z4sendILb{int(red == 'true')}ELi{lanes}ELi{words}E"
            short, long = (run.elapsed(name, blocks, 512, trips) for trips in (16, 80))
            label = f"{'red' if red == 'true' else 'stg'}.lanes{lanes}.words{words}.blocks{blocks}"
            yield label, (long - short) / (64 * 8 * 16 * 32 / int(lanes))


def mixed() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of mixed.cu: cycles of the SM per warp that loads and stores."""
    run = Clocked("mixed")
    for loads, stores, update in re.findall(r"measure<(\d), (\d), (\w+)>", (SOURCES / "mixed.cu").read_text()):
        name = f"_Z5mixedILi{loads}ELi{stores}ELb{int(update == 'true')}E"
        for warps in (8, 16, 32):
            label = f"{'update.' if update == 'true' else ''}{loads}_loads+{stores}_stores.warps{warps}"
            yield label, run.per_trip(name, 32 * warps, np.zeros(1 << 15, np.uint32)) / (8 * warps)


def _everywhere(kernel: SassKernel, threads: int, given: list[Any]) -> None:
    """One block on each of the 132 SMs; changes the arrays of *given*."""
    timed(kernel, (132, 1, 1), (threads, 1, 1), given, sms="all", copy_back=True)


def spread() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of spread.cu: means, percentiles and deviation of the latency of DRAM."""
    kernel = load_cubin(DATA / "cubins" / "spread.cubin")["spread"]
    data = np.zeros(1 << 23, np.uint32)
    for apart in (32, 64):
        for warps in (1, 4, 8):
            cycles = np.zeros(132 * warps * TRIPS, np.uint32)
            _everywhere(kernel, 32 * warps, [data, cycles, np.uint32(apart)])
            name = f"dram.apart{4 * apart}.warps{warps}"
            yield f"{name}.mean", float(cycles.mean())
            for percent in (5, 25, 50, 75, 95):
                yield f"{name}.p{percent}", float(np.sort(cycles)[cycles.size * percent // 100])
            yield f"{name}.deviation_of_warps", float(cycles.reshape(-1, TRIPS).mean(axis=1).std())


def together(names: Iterable[str] = ()) -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of together.cu: until all lines of a warp, and of all warps of a block, are there.

    Launches of the given *names*, such as ``loads2.apart2048.warps16.apart128``, or all (two minutes).
    """
    kernels = load_cubin(DATA / "cubins" / "together.cubin")
    data, trips = np.zeros(1 << 27, np.uint32), 16
    measured = list(figures("together"))
    for name in names or [name.removesuffix(".mean") for name in measured if name.endswith(".mean")]:
        loads, apart, warps, warps_apart = map(int, re.findall(r"\d+", name))
        kernel = next(kernels[full] for full in kernels if f"togetherILi{loads}E" in full)
        cycles = np.zeros(132 * warps * trips, np.uint32)
        _everywhere(kernel, 32 * warps, [data, cycles, np.uint32(apart // 4), np.uint32(warps_apart // 4)])
        yield f"{name}.mean", float(cycles.mean())
        if f"{name}.last" in measured:
            yield f"{name}.last", float(cycles.reshape(132, warps, trips).max(axis=1).mean())


def beside(names: Iterable[str] = ()) -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of beside.cu, of one SM; figures such as ``adds.beside_tree``, or all."""
    kernels = load_cubin(DATA / "cubins" / "beside.cubin")
    source = (SOURCES / "beside.cu").read_text()
    works = re.findall(r'"(\w+)"[,}]', source)
    trips = {work.lower(): int(n) for work, n in re.findall(r"measure_all<(\w+)>\((\d+)\)", source)}
    steps = {"adds": 128, "adds1": 128, "tree": 9}
    for name in names or figures("beside"):
        own, others = name.split(".beside_")
        part = f"besideILi{works.index(own)}ELi{works.index(others)}E"
        kernel = next(kernels[full] for full in kernels if part in full)
        cycles = np.zeros(1024, np.uint32)
        given = [cycles, np.zeros(528 * 512, np.int32), np.uint32(trips[own])]
        timed(kernel, (528, 1, 1), (512, 1, 1), given, copy_back=True)
        yield name, float(cycles[0]) / trips[own] / steps.get(own, 8)


def phases(names: Iterable[str] = ()) -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of phases.cu, of one SM; launches such as ``tail.chunks8.n24``, or all."""
    kernels = load_cubin(DATA / "cubins" / "phases.cubin")
    for name in names or dict.fromkeys(name.rsplit(".", 1)[0] for name in figures("phases")):
        chunks, power = map(int, re.findall(r"\d+", name))
        tail = name.startswith("tail")
        kernel = next(kernels[full] for full in kernels if f"phasesILi{chunks}ELb{int(tail)}E" in full)
        n, shape = 1 << power, ((1 << power) // 512 // chunks, 1, 1)
        stamps = np.zeros((shape[0], 16, 16), np.uint32)
        given = [np.ones(n, np.int32), np.zeros(shape[0], np.int32), stamps.reshape(-1)]
        timed(kernel, shape, (512, 1, 1), given, copy_back=True)
        own = stamps[stamps[:, 0, 1] > 0].astype(np.int64)
        at = (own[:, 0] - own[:, :, 0].min(axis=1)[:, None]).mean(axis=0)
        rounds, steps = (2, 6) if tail else (8, 0)
        yield f"{name}.load", at[1] - at[0]
        yield f"{name}.first_round", at[2] - at[1]
        yield f"{name}.round", (at[2 + rounds] - at[2]) / rounds
        if tail:
            yield f"{name}.step", (at[2 + rounds + steps] - at[2 + rounds]) / steps
        yield f"{name}.block", at[3 + rounds + steps] - at[0]
