"""Native code against the interpreter: in one process, thread CPU time, medians of pairs that run in turn."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import cuda

import simt
from simt import kernels, runtime
from simt.disk_cache import DiskCache
from simt.machine import ENGINES, DeviceMemory, Launch
from simt.machine import layout as L
from simt.machine.compiled import code
from simt.machine.compiled.code import native_code
from simt.machine.engine import run_blocks
from simt.machine.prepare import prepare, state_arrays
from simt.program import Program
from simt.runtime import Context
from tests.benchmarks.family import plain_seconds

PAIRS = 5
REDUCED = 2**18
"""Elements that the reductions fold."""
BESIDE = ("neighbored", "interleaved", "unrolling8")
"""Those that are set beside a plain loop."""
CONTEXT = Context()


@dataclass(frozen=True)
class Row:
    """Of one kernel: seconds to make its native code and to load it, micro-ops, seconds interpreted and compiled."""

    compiling: float
    loading: float
    micro_ops: int
    pairs: list[tuple[float, float]]

    @property
    def ratio(self) -> float:
        """How many times as fast."""
        return statistics.median(interpreted / native for interpreted, native in self.pairs)


class _Measured(Exception):
    """The launch has been measured instead of run."""


def measure(program: Program, launch: Launch, device: DeviceMemory) -> Row:
    """Run a launch in pairs; counters and memory must be equal."""
    seconds_of: list[float] = []
    for _ in range(2):
        program.native = None
        start = time.perf_counter()
        native = native_code(program)
        seconds_of.append(time.perf_counter() - start)
    before = device.words.M8[: device.end].copy()
    found: dict[bool, Any] = {}
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for compiled in (False, True) * (PAIRS + 1):
        prepared = prepare(program, replace(launch, threads=1), 1, device)
        state = state_arrays(prepared, 0, 0, np.zeros(1, np.int64), np.zeros(0, np.int64))
        state = native.equip(state) if compiled else state
        start = time.thread_time()
        assert run_blocks(0, launch.blocks, state)[0] == L.DONE
        seconds[compiled].append(time.thread_time() - start)
        if compiled:
            native.count(state)
        found[compiled] = state.COUNTS.copy(), device.words.M8[: device.end].copy()
        device.words.M8[: device.end] = before
    assert all(np.array_equal(*pair) for pair in zip(*found.values(), strict=True))
    micro_ops = int(found[True][0].reshape(-1, L.N_COUNT)[:, 0].sum())
    return Row(*seconds_of, micro_ops, list(zip(seconds[False][1:], seconds[True][1:], strict=True)))


def row_of(kernel: Any, grid: Any, block: Any, *args: Any, **options: Any) -> Row:
    """Measure what :func:`simt.launch` would run."""
    rows: list[Row] = []

    def instead(program: Program, launch: Launch, *_: Any, **__: Any) -> None:
        with CONTEXT.placed(program, launch) as placed:
            rows.append(measure(program, placed.launch, placed.memory))
        raise _Measured

    run = runtime.run
    runtime.run = instead  # type: ignore[assignment]
    try:
        simt.launch(kernel, grid, block, *args, **options)
    except _Measured:
        pass
    finally:
        runtime.run = run
    return rows[0]


def integers(out, rounds):
    i = cuda.grid(1)
    x = np.int32(i)
    y = np.int32(1)
    for _ in range(rounds):
        x = np.int32(x * 5 + y)
        y = np.int32((y ^ x) + (x >> 3))
        x = np.int32((x & 0xFFFF) | (y << 2))
        y = min(y, x)
    out[i] = x + y


def doubles(out, rounds):
    i = cuda.grid(1)
    x = float(i)
    y = 1.5
    for k in range(rounds):
        x = x * 0.5 + y
        y = y * 0.75 + x * x * 1e-9 - k
    out[i] = x + y


def mandelbrot(out, width, limit):
    x, y = cuda.grid(2)
    a = np.float32(x) * np.float32(3 / width) - np.float32(2)
    b = np.float32(y) * np.float32(2 / width) - np.float32(1)
    u = np.float32(0)
    v = np.float32(0)
    k = 0
    while k < limit and u * u + v * v <= np.float32(4):
        u, v = u * u - v * v + a, np.float32(2) * u * v + b
        k += 1
    out[y, x] = k


def binary_search(out, table, wanted):
    i = cuda.grid(1)
    if i < wanted.size:
        low = 0
        high = table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def saxpy(out, x, y, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def histogram(out, x):
    i = cuda.grid(1)
    for k in range(16):
        cuda.atomic.add(out, x[(16 * i + k) % x.size], 1)


def conflicts(out):
    tile = cuda.shared.array((32, 32), np.float32)
    t = cuda.threadIdx.x
    for k in range(32):
        tile[t, k] = np.float32(k)
    x = np.float32(0)
    for k in range(32):
        x += tile[k, t]
    out[cuda.grid(1)] = x


def cases() -> dict[str, Callable[[], Row]]:
    """What is measured."""

    def reduction(name: str, **options: Any) -> Callable[[], Row]:
        def case() -> Row:
            plan = kernels.get_reduction(name).plan_for(kernels.sample(REDUCED), 512)
            return row_of(plan.kernel, plan.grid, plan.block, *plan.args, **options)

        return case

    def listed(name: str) -> Callable[[], Row]:
        def case() -> Row:
            plan = kernels.get(name).plan(2**14)
            return row_of(plan.kernel, plan.grid, plan.block, *plan.args)

        return case

    n = 2**17
    ones = np.ones(n, np.float32)
    table = np.arange(2**16, dtype=np.float32)
    bins = np.random.default_rng(0).integers(0, 256, 2**14)
    wanted = np.random.default_rng(0).permutation(table)[: 2**14]
    family = ("neighbored", "interleaved", "unrolling8", "shared", "shuffle")
    return {
        "integers": lambda: row_of(integers, 64, 256, np.zeros(64 * 256, np.int32), 200),
        "doubles": lambda: row_of(doubles, 64, 256, np.zeros(64 * 256), 200),
        "mandelbrot": lambda: row_of(mandelbrot, (16, 16), (16, 16), np.zeros((256, 256), np.int32), 256, 256),
        "saxpy": lambda: row_of(saxpy, n // 256, 256, ones.copy(), ones, ones, np.float32(2)),
        "collatz": listed("collatz"),
        "binary search": lambda: row_of(binary_search, 64, 256, np.zeros(2**14, np.int32), table, wanted),
        "atomics, 256 bins": lambda: row_of(histogram, 16, 256, np.zeros(256, np.int32), bins),
        "atomics, 1 bin": lambda: row_of(histogram, 16, 256, np.zeros(256, np.int32), bins // 256),
        "bank conflicts": lambda: row_of(conflicts, 64, 32, np.zeros(2048, np.float32)),
        **{name: reduction(name) for name in family},
        **{f"{name} sm_90": reduction(name, view="sm_90") for name in family},
    }


def beside_a_plain_loop(name: str, row: Row) -> float:
    """How many times as long native code takes as a plain njit loop of the same rounds, both on one thread."""
    numba.set_num_threads(1)
    native = statistics.median(native for _, native in row.pairs)
    return native / plain_seconds(kernels.sample(REDUCED), name, 512)


def small(engine: str) -> float:
    """Milliseconds of a warm launch of two blocks of 32 threads."""
    ones = np.ones(64, np.float32)
    seconds = []
    for _ in range(100):
        start = time.perf_counter()
        simt.launch(saxpy, 2, 32, ones.copy(), ones, ones, np.float32(2), engine=engine)
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds[10:])


def main() -> None:
    print(f"{'kernel':18} {'times':>6}  {'interpreted':>11} {'compiled':>9}  (million micro-ops/s)  made in  loaded in")
    with tempfile.TemporaryDirectory() as folder:
        code.STORE = DiskCache("native code", Path(folder))
        for name, case in cases().items():
            if name in sys.argv[1:] or not sys.argv[1:]:
                row = case()
                speeds = [row.micro_ops / statistics.median(side) / 1e6 for side in zip(*row.pairs, strict=True)]
                made = f"{row.compiling:29.2f} s {row.loading:8.3f} s"
                print(f"{name:18} {row.ratio:6.1f}  {speeds[0]:11.1f} {speeds[1]:9.1f} {made}", flush=True)
                if name in BESIDE:
                    print(f"{name}: {beside_a_plain_loop(name, row):.0f} times as long as a plain njit loop")
    for engine in ENGINES:
        print(f"a warm launch of two small blocks, engine={engine!r}: {small(engine):.3f} ms")


if __name__ == "__main__":
    main()
