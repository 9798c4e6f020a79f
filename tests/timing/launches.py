"""The measured launches of tests/benchmarks/microbenchmarks, to be simulated from the same machine code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simt import devices, runtime
from simt.machine import Launch
from simt.options import Timing
from simt.sass import Kernels, SassKernel, bank_image, inner_arrays, load_cubin
from simt.timing import TimedRun, TimingResult
from simt.timing.kinds import ANY, COVERED, KINDS
from tests.timing.crowded_launches import crowded_arguments
from tests.timing.naive_launches import naive_arguments
from tests.timing.rowwise_launches import rowwise_arguments
from tests.timing.short_launches import short_arguments
from tests.timing.simulated import simulate

DATA = Path(__file__).parent.parent / "data"
REDUCTIONS = (
    # kernel: chunks that a block sums
    ("reduceNeighbored", 1),
    ("reduceNeighboredLess", 1),
    ("reduceInterleaved", 1),
    ("reduceUnrolling2", 2),
    ("reduceUnrolling4", 4),
    ("reduceUnrolling8", 8),
    ("reduceUnrollWarps8", 8),
    ("reduceCompleteUnrollWarps8", 8),
    ("reduceCompleteUnrollI", 8),
)
CUBINS = {
    name: DATA / "timing" / "cubins" / f"{name}.cubin"
    for name in (
        *("cold", "loops", "stores", "loaded", "shared", "ends", "again", "counted", "reach", "paths", "validation"),
        *("unseen", "short", "sets", "naive", "rowwise", "kept", "crowded", "wraps", "stays", "busy", "same"),
        *("parts", "constants", "across", "starts", "bands", "lanes", "columns", "turns", "bodies", "sent"),
        *("calls", "large", "anywhere", "atoms", "meets", "indexed", "targets", "rounds", "strided"),
        *("locals", "behind"),
    )
}
CUBINS["reductions"] = DATA / "sass" / "sm_90" / "kernels_O3.cubin"
Arguments = Callable[[list[int]], list[Any]]


@cache
def kernels(name: str) -> Kernels:
    """The kernels of one program."""
    return load_cubin(CUBINS[name])


@cache
def measured(name: str, device: str = "h200") -> list[dict[str, Any]]:
    """What Nsight Compute recorded on a device, in launch order."""
    return list(json.loads((DATA / "timing" / device / f"{name}.json").read_text())["launches"])


@cache
def values(n: int) -> npt.NDArray[np.int32]:
    """The data of the launches: (s >> 16) & 255 of s = 1664525 s + 1013904223, s0 = 12345."""
    out = np.zeros(n, np.uint32)
    multiplier, increment = 1664525, 1013904223
    out[0] = (12345 * multiplier + increment) & 0xFFFFFFFF
    done = 1
    while done < n:
        more = min(done, n - done)
        out[done : done + more] = out[:more] * np.uint32(multiplier) + np.uint32(increment)
        increment = (multiplier * increment + increment) & 0xFFFFFFFF
        multiplier = multiplier * multiplier & 0xFFFFFFFF
        done *= 2
    return ((out >> np.uint32(16)) & np.uint32(255)).astype(np.int32)


def timed(
    kernel: SassKernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    args: list[Any],
    *,
    device: str = "h200",
    control_bits: bool = True,
    shared_bytes: int = 0,
    **options: Any,
) -> TimingResult:
    """Simulate one launch of *kernel*, machine view, by its control bits or a scoreboard by register.

    With ``sms="auto"`` a functional run comes first, as in :func:`simt.launch`.
    """
    shape = grid, block
    image = partial(bank_image, kernel, *shape, args)
    launch = Launch(*shape, [*args, *inner_arrays(args)], threads=1, shared_bytes=shared_bytes, bank_image=image)
    code = kernel.code.instructions if control_bits else None
    context, gpu = kernel.module.memory.context, devices.get(device)
    if options.get("sms") == "auto":
        model = TimedRun(kernel.program, launch, gpu, code, Timing(**options))
        runtime.run(kernel.program, launch, context, model)
        return model.result
    return simulate(kernel.program, launch, gpu, context=context, code=code, **options)


def run(program: str, name: str, grid: list[int], block: list[int], args: list[Any], **options: Any) -> TimingResult:
    """Simulate one launch, machine view with its control bits; *options* as for :func:`timed`."""
    names = [full for full in kernels(program) if name in full]
    kernel = kernels(program)[min(names, key=len)]
    return timed(kernel, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), args, **options)


def plain(name: str) -> str:
    """Kernel name without return type, parameters and template arguments."""
    return name.split("(")[0].split("<")[0].removeprefix("void ").strip()


def cold_arguments(entry: Mapping[str, Any]) -> list[Any]:
    """Arguments of a launch of cold.cu."""
    threads = entry["grid"][0] * entry["block"][0]
    loads = int(entry["kernel"].split("<")[1][0]) if "<" in entry["kernel"] else 1
    data = np.zeros(threads * loads, np.int32)
    return {"empty": [], "oneStore": [data]}.get(plain(entry["kernel"]), [data, np.zeros(threads, np.int32)])


def loop_arguments(launch: int) -> list[Any]:
    """Arguments of launch number *launch* of loops.cu."""
    i, u = np.int32, np.uint32
    out = np.zeros(1 << 19, np.uint32)
    data = np.zeros(1 << 23, np.uint32)
    table: list[list[Any]] = [
        [out, i(1024)],
        [out, u(3), i(256)],
        [out, u(3), i(256)],
        [out, u(0), i(512)],
        [out, u(64), i(256)],
        [out, u(0), i(512)],
        [out, u(8), i(256)],
        [out, u(3), i(256)],
        [out, u(3), i(256)],
        [out, u(3), i(256)],
        [out, i(512)],
        [data, i(256)],
        [data, out, u(1), i(256)],
        [data, out, u(8), i(64)],
        [data, u(1), i(64)],
        [data, u(8), i(16)],
        [data, i(256)],
    ]
    return table[launch % len(table)]


def validation_arguments() -> list[list[Any]]:
    """Arguments of the launches of validation.cu, in order."""
    n = 1 << 22
    i = np.int32
    ints = values(n)
    x, y = (ints / 256).astype(np.float32), np.zeros(n, np.float32)
    out = np.zeros(n, np.int32)
    numbers = (1 + np.arange(n) % 65536).astype(np.int32)
    places = np.random.RandomState(1).randint(0, n, n).astype(np.int32)
    return [
        [x, y, np.float32(2), i(n)],
        [x, y, i(2048)],
        [x, y, i(2048)],
        [ints, out, i(n)],
        [ints, out, i(n)],
        [x, y, i(n)],
        [x, x, y, i(512)],
        [y, i(256)],
        [ints, out, i(n)],
        [numbers, out, i(1024 * 256)],
        [places, x, y, i(4096 * 256)],
    ]


def store_arguments() -> list[list[Any]]:
    """Arguments of the launches of stores.cu, in order.  Memory is that of main(), as far as a launch touches it."""
    u, i = np.uint32, np.int32
    n = 1 << 21

    def data(words: int) -> npt.NDArray[np.uint32]:
        return np.zeros(words, np.uint32)

    launches: list[list[Any]] = [[data(n * stride), u(stride), u(0)] for stride in (1, 2, 4, 8, 32)]
    launches += [[data(max(n, 65536 * stride)), u(stride), u(1)] for stride in (8, 32, 2048)]
    launches += [[data(n // 8 * stride), u(stride)] for stride in (8, 32)]
    launches += [[data(n * stride), data(1), u(stride)] for stride in (1, 2, 4, 8, 32)]
    everywhere = u(0xFFFFFFFF)
    launches += [[data(n // 8), u(same), u(1), everywhere] for same in (1, 2, 8, 32)]
    launches += [[data(n // 8 * stride), u(1), u(stride), everywhere] for stride in (8, 32)]
    launches += [[data(n // 8), u(1), u(1), u(mask)] for mask in (255, 4095)]
    launches += [[data(1 << 18), u(mask), i(128)] for mask in (31, 255, 4095)] * 2
    return launches


def shared_arguments() -> list[list[Any]]:
    """Arguments of the launches of shared.cu, in order.  Tables are as long as they are used."""
    u = np.uint32
    out = np.zeros(1 << 20, u)

    def march(apart: int) -> list[Any]:
        return [np.zeros(2048 * 32, u), u(2048), u(apart), out]

    launches = [march(apart) for _ in range(2) for apart in (0, 1, 3, 15, 61)] + [march(0) for _ in range(4)]
    for words in (1 << 20, 1 << 22, 1 << 24, 1 << 28):
        table = np.zeros(words, u)
        launches += [[table, u(words), u(run), u(4), out] for run in (1, 8, 32)]
    return launches + [[np.zeros(1024, u), u(n), u(4)] for n in (1, 2, 4, 8, 16, 26, 32, 64, 256, 1024)]


def ends_arguments() -> list[list[Any]]:
    """Arguments of the launches of ends.cu, in order.  Memory is as long as it is used."""
    u = np.uint32
    launches: list[list[Any]] = []
    for kind in (u, np.float32, np.float64):
        data = np.zeros(1 << 14, kind)
        launches += [[data, data.copy(), u(words), u(2)] for words in (1, 1, 16)]
        launches += [[data, u(mask)] for mask in (0, 31)]
    for blocks in (16384, 131072):
        a, b, c = (np.zeros(256 * blocks, np.float32) for _ in range(3))
        launches += [[b, np.float32(1)], [a, b], [b], [a, c, b], [a, b]]
    shapes = [(threads, blocks) for threads in (32, 256) for blocks in (1056, 4096)]
    launches += [
        [np.zeros(threads * blocks, u), u(work)] for threads, blocks in shapes for work in (0, 256) for _ in range(3)
    ]
    launches += [[np.zeros(132 * 1024, np.float32), np.float32(0.5)]] * 8
    listed, wanted = np.zeros(1024, np.float64), np.ones(132 * 512, np.float64)
    return launches + [[listed, wanted, np.zeros(132 * 512, u), u(1024)]] * 4


def again_arguments() -> list[list[Any]]:
    """Arguments of the launches of again.cu, in order.  Memory is as long as it is used."""
    u = np.uint32

    def data(words: int, kind: type = u) -> npt.NDArray[Any]:
        return np.zeros(words, kind)

    shapes = [(0, 1, 32)] * 4 + [(0, 1, 1)] * 2 + [(1, 1, 1), (8, 1, 8), (32, 1, 32)]
    shapes += [(0, lane, 32) for lane in (2, 8, 32)] + [(0, 1, 32)]
    repeated = [[data(1 << 14), u(block), u(lane), u(lanes), u(512)] for block, lane, lanes in shapes]
    sums = [[data(1 << 20, np.float32), data(1 << 17, np.float32), u(mask), u(32)] for mask in (0, 1, 3, 15, 63, 4095)]
    sums += [[data(1 << 20, np.float32), data(1 << 12, np.float32), u(mask), u(1)] for mask in (31, 4095)]
    turned = [[data(132 * 32 * 32), u(lines), u(gap), u(256)] for gap in (0, 100) for lines in (1, 2, 4, 8, 16, 32)]
    turned += [[data(132 * 8 * 16 * 32), u(lines), u(0), u(256)] for lines in (1, 4, 16)]
    launches = repeated * 3 + sums * 2 + [[data(1 << 20, np.float32)]] * 10 + turned * 3
    for kind in (u, np.float32):
        launches += [[data(1 << 13, kind), u(lines), u(32), u(3)] for lines in (1, 2, 4, 8, 16, 24, 48, 256)]
        launches += [[data(1 << 16, kind), u(lines), u(1024), u(3)] for lines in (2, 8, 48)]
        launches += [[data(1 << 10, kind), u(mask), u(1)] for mask in (0, 1, 3, 15, 31, 255, 1023)]
        launches += [[data(1 << 15, kind), u(mask), u(32)] for mask in (15, 31, 1023)]
    squares = [[data(n * n, np.float32), data(n * n, np.float32), u(n)] for n in (1000, 1024, 2048) for _ in range(3)]
    return launches + squares * 2


def counted_arguments() -> list[list[Any]]:
    """Arguments of the launches of counted.cu, in order.  Memory is as long as it is used."""
    u = np.uint32

    def once(words: int = 1, apart: int = 1, lane: int = 0, lanes: int = 32) -> list[Any]:
        return [np.zeros(1 << 12, u), u(words), u(apart), u(lane), u(lanes)]

    def looped(words: int, apart: int, gap: int) -> list[Any]:
        return [np.zeros(1 << 12, u), u(words), u(apart), u(gap), u(64)]

    launches: list[list[Any]] = [once() for _ in range(16)]
    for _ in range(2):
        launches += [once(words, apart) for words, apart in ((2, 1), (8, 1), (32, 1), (4, 8), (4, 32), (32, 32))]
        launches += [once(lanes=1), once(lane=1, lanes=8), once(lane=1)]
        launches += [[np.zeros(1 << 12, u), u(gap)] for gap in (1, 2, 4, 8, 16, 32)]
    launches += [looped(1, 1, gap) for gap in (0, 32) for _ in range(10)]
    launches += [looped(4, apart, 0) for apart in (1, 8, 32)]
    masks = (0, 1023, 65535, 0xFFFFFFFF)
    launches += [[np.zeros(1 << 12, u), np.zeros(1 << 20, u), u(mask)] for _ in range(2) for mask in masks]
    return launches * 2 + [once() for _ in range(9)]


BOOLEAN = {"around", "dots", "each", "halved", "kept", "line", "march", "passes"}
BOOLEAN |= {"softmax", "summed", "transposed", "wrap"}
"""Templates whose first argument is true or false."""
TEMPLATES = {"unsigned int": "j", "int": "i", "unsigned char": "h"}
TEMPLATES |= {"unsigned long long": "y", "float": "f", "double": "d"}


def mangled(kernel: str, integers: bool = False) -> str:
    """What the mangled name of a template's instance has, of a name as Nsight Compute prints it.

    *integers*: its numbers are, the first or all of them are true or false else.
    """
    name, _, arguments = plain(kernel), *kernel.partition("<")[1:]
    words = arguments.split(">")[0].split(", ")
    letters = ["b" if not integers and (k or name in BOOLEAN) else "i" for k in range(len(words))]
    plain_words = [word.removeprefix("(int)") for word in words]
    codes = [TEMPLATES.get(word, f"L{letter}{word}E") for letter, word in zip(letters, plain_words, strict=True)]
    return f"{name}I{''.join(codes)}" if arguments else name


def loaded_arguments() -> list[list[Any]]:
    """Arguments of the launches of loaded.cu, in order."""
    data, out, trips = np.zeros(1 << 25, np.uint32), np.zeros(32, np.uint32), np.int32(24)
    gaps = (800, 400, 200, 120, 60, 30, 4, 400, 200, 100, 40, 4, 800, 200, 4)
    launches: list[list[Any]] = [[data, out, np.int32(gap), trips] for gap in gaps]
    return launches + [[data, out, np.int32(offset), np.int32(16)] for offset in (0, 1, 4, 8)] * 2


def unseen_arguments() -> list[list[Any]]:
    """Arguments of the launches of unseen.cu, in order."""
    n, i = 1 << 22, np.int32
    ints = values(n)
    x = np.zeros(n + 16384, np.float32)
    x[:n] = ints / 256
    y, out = np.zeros(n + 16384, np.float32), np.zeros(n, np.int32)
    places = (np.arange(n, dtype=np.uint32) * np.uint32(2654435761) % np.uint32(n)).astype(np.int32)
    return [
        [ints, out],
        [ints, out],
        [out, i(512), i(256)],
        [places, x, x, y],
        [x, y, i(1024)],
        [x, x, y, i(n)],
        [x, y, i(2048), i(256)],
        [x, y, i(64)],
        [places, x, y],
        [x, y, i(2048)],
    ]


def simulate_all(
    program: str, most_threads: int = 1 << 23, device: str = "h200", **options: Any
) -> list[tuple[dict[str, Any], TimingResult]]:
    """Every launch of a program measured on a device, of at most so many elements or threads, and its simulation."""
    found = []
    listed = {
        "stores": store_arguments,
        "loaded": loaded_arguments,
        "shared": shared_arguments,
        "ends": ends_arguments,
        "again": again_arguments,
        "counted": counted_arguments,
        "short": short_arguments,
        "naive": naive_arguments,
        "rowwise": rowwise_arguments,
        "crowded": crowded_arguments,
        "validation": validation_arguments,
        "unseen": unseen_arguments,
    }
    arguments = listed[program]() if program in listed else []
    for k, entry in enumerate(measured(program, device)):
        name = plain(entry["kernel"])
        if program == "reductions":
            power, kernel = 20 + 2 * (k // 9), k % 9
            if 1 << power > most_threads:
                continue
            args: list[Any] = [
                values(1 << power),
                np.zeros(entry["grid"][0], np.int32),
                np.uint32(1 << power),
            ]
            name = REDUCTIONS[kernel][0] + ("P" if kernel == 0 else "")
        elif program == "cold":
            args = cold_arguments(entry)
            if args and args[0].size > most_threads:
                continue
            if "<" in entry["kernel"]:
                name = "streamILi" + entry["kernel"].split("<")[1][0]
        else:
            args = loop_arguments(k) if program == "loops" else arguments[k]
            if name == "paced":
                name = "pacedILi" + entry["kernel"].split("<")[1].removeprefix("(int)")[0]
            if program in ("ends", "again", "counted", "short", "naive", "rowwise", "crowded"):
                name = mangled(entry["kernel"], integers=program in ("rowwise", "crowded"))
        found.append((entry, run(program, name, entry["grid"], entry["block"], args, device=device, **options)))
    return found


def stranger_error(entry: Mapping[str, Any]) -> float:
    """The error, in percent, of a launch of somebody else's program, whose code is not here: as it was predicted."""
    return float(100 * (entry["predicted"]["cycles"] / measured_cycles(entry) - 1))


def blind_errors(device: str) -> list[tuple[str, str, float]]:
    """Author, kind and error, in percent, of each launch on a device that error bars are learned from.

    All are of others' programs, as predicted before anybody looked at them: those of ``strangers``, part B of the
    validation set as it was predicted first, and C to R.
    """
    found = measured("strangers", device) if (DATA / "timing" / device / "strangers.json").exists() else []
    first = [{**entry, "predicted": entry.get("first_predicted")} for entry in validation_set(device, "B")]
    found = found + [entry for entry in first if entry["predicted"]]
    for part in "CDEFGHIJKLMNOPQR":
        found = found + validation_set(device, part)
    return [(entry["author"], entry["predicted"]["kind"], stranger_error(entry)) for entry in found]


def covered(found: Sequence[tuple[str, str, float]], known: Sequence[tuple[str, str, float]]) -> float:
    """The share of launches that are off by no more than the bar of their kind, as other authors' launches give it.

    *found* and *known*: author, kind and error of the launches that are held to bars, and of those that give them.
    """
    within = []
    for author, kind, off in found:
        others = bars([each for each in known if each[0] != author])
        within.append(abs(off) <= others.get(kind, others[ANY])[0])
    return float(np.mean(within))


def validation_set(device: str, half: str) -> list[dict[str, Any]]:
    """The launches of others' programs in one part of the validation set that could be predicted, as measured.

    Without those that stand apart: where races decide, or what is not modelled does.
    """
    entries = [entry for entry in measured("programs", device) if entry["half"] == half]
    return [entry for entry in entries if "predicted" in entry and "apart" not in entry]


def bars(found: Sequence[tuple[str, str, float]]) -> dict[str, tuple[float, int]]:
    """The error bar, in percent, and of how many launches, by kind of launch and of ``any``.

    *found*: author, kind and error of each launch.  The bar is the least error that is expected to cover two of three
    further launches of the kind: of n errors in order, number two thirds of n + 1.
    """
    kinds = {kind: sorted(abs(off) for _, own, off in found if own == kind) for kind in KINDS}
    kinds = {kind: off for kind, off in kinds.items() if len(off) >= FEWEST}
    kinds[ANY] = sorted(abs(off) for _, _, off in found)
    return {kind: (off[ceil(COVERED * (len(off) + 1)) - 1], len(off)) for kind, off in kinds.items()}


FEWEST = 4
"""Launches of a kind from which a device file says how far off they are."""


def runs(entry: Mapping[str, Any]) -> list[float]:
    """Cycles of each run on the hardware."""
    return [entry["counters"]["cycles"], *entry.get("repeated_cycles", [])]


def measured_cycles(entry: Mapping[str, Any]) -> float:
    """Cycles on the hardware: the median where the launch was repeated."""
    return float(np.median(runs(entry)))


def error(entry: Mapping[str, Any], result: TimingResult) -> float:
    """Relative error of the cycles, in percent; negative: the model is too fast."""
    cycles = measured_cycles(entry)
    return 100 * (result.cycles - cycles) / cycles
