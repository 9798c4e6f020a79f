"""The kernels of latency.cu, pipes.cu, slots.cu and spread.cu on the model: they read their own clock there, too."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simt import devices
from simt.machine import Launch
from simt.sass import bank_image, load_cubin
from simt.timing import simulate
from tests.benchmarks.microbenchmarks import slots as bodies

DATA = Path(__file__).parent.parent / "data" / "timing"
SOURCES = Path(__file__).parent.parent / "benchmarks" / "microbenchmarks"
TRIPS = 32


def figures(program: str) -> dict[str, float]:
    """What an H200 measured."""
    return dict(json.loads((DATA / f"h200_{program}.json").read_text())["figures"])


class Clocked:
    """Runs kernels of one cubin on the model and returns what they leave in ``cycles``."""

    def __init__(self, program: str) -> None:
        self.kernels = load_cubin(DATA / f"{program}.cubin")

    def cycles(self, name: str, threads: int, *args: Any) -> int:
        """Cycles that the kernel whose mangled name starts so writes, for one block."""
        kernel = self.kernels[next(full for full in self.kernels if full.startswith(name))]
        out, sink = np.zeros(64, np.int64), np.zeros(1 << 12, np.uint32)
        given = [out, sink, *args] if not name.startswith("_Z8barriers") else [out]
        shape = (1, 1, 1), (threads, 1, 1)
        launch = Launch(*shape, given, threads=1, bank_image=lambda at: bank_image(kernel, *shape, given, at))
        h200 = devices.get("h200")
        simulate(kernel.program, launch, h200, code=kernel.code.instructions, sms="all", copy_back=True)
        return int(out[0])

    def slope(self, few: str, many: str, steps: float, threads: int, *args: Any) -> float:
        """Cycles per step: the difference of two kernels."""
        return (self.cycles(many, threads, *args) - self.cycles(few, threads, *args)) / steps


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
            few, many = (f"_Z12chase_globalILi{n}ELb1E" for n in (16, 80))
            args = (itself, u(stride), np.int32(TRIPS))
            yield f"ldg_l1.stride{stride}.{what}", run.slope(few, many, 64 * TRIPS * warps, threads, *args)
        for stride in (0, 1, 8, 32):
            few, many = (f"_Z12chase_globalILi{n}ELb0E" for n in (4, 20))
            args = (itself, u(stride), np.int32(8))
            yield f"ldg_l2.stride{stride}.{what}", run.slope(few, many, 128 * warps, threads, *args)
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
    yield "volatile_step.blocks1", run.slope(few, many, 8 * TRIPS, 32, np.zeros(1 << 12, u))
    for warps in (1, 4, 8, 32):
        for mask in (31, 255, 4095):
            few, many = (f"_Z4binsILi{n}E" for n in (4, 20))
            yield f"bins{mask + 1}.warps{warps}", run.slope(few, many, 16 * TRIPS * warps, 32 * warps, u(mask))


def slots() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of slots.py, for one warp and for eight a scheduler."""
    for name, cubin in bodies.kernels((DATA / "slots.cubin").read_bytes()):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "body.cubin"
            path.write_bytes(cubin)
            kernel = load_cubin(path)["body"]
        for warps in (1, 32):
            spans = []
            for trips in (2, 6):
                out, sink = np.zeros(96, np.uint32), np.zeros(1024, np.uint32)
                given = [out, sink, np.float32(1), np.float32(2), np.int32(trips)]
                shape = (1, 1, 1), (32 * warps, 1, 1)
                launch = Launch(
                    *shape, given, threads=1, bank_image=lambda at, k=kernel, s=shape, g=given: bank_image(k, *s, g, at)
                )
                h200 = devices.get("h200")
                simulate(kernel.program, launch, h200, code=kernel.code.instructions, sms="all", copy_back=True)
                clocks = out.reshape(-1, 3)[:warps].astype(np.int64)
                spans.append(int((clocks[:, 1] - clocks[0, 0]).max()))
            yield f"{name}.warps{warps}", (spans[1] - spans[0]) / 4 / bodies.SLOTS / max(1, warps // 4)


def spread() -> Iterator[tuple[str, float]]:
    """(name, figure of the model) of spread.cu: means, percentiles and deviation of the latency of DRAM."""
    kernel = load_cubin(DATA / "spread.cubin")["spread"]
    data = np.zeros(1 << 23, np.uint32)
    for apart in (32, 64):
        for warps in (1, 4, 8):
            cycles = np.zeros(132 * warps * TRIPS, np.uint32)
            shape, given = ((132, 1, 1), (32 * warps, 1, 1)), [data, cycles, np.uint32(apart)]
            launch = Launch(
                *shape, given, threads=1, bank_image=lambda at, s=shape, g=given: bank_image(kernel, *s, g, at)
            )
            h200 = devices.get("h200")
            simulate(kernel.program, launch, h200, code=kernel.code.instructions, sms="all", copy_back=True)
            name = f"dram.apart{4 * apart}.warps{warps}"
            yield f"{name}.mean", float(cycles.mean())
            for percent in (5, 25, 50, 75, 95):
                yield f"{name}.p{percent}", float(np.sort(cycles)[cycles.size * percent // 100])
            yield f"{name}.deviation_of_warps", float(cycles.reshape(-1, TRIPS).mean(axis=1).std())
