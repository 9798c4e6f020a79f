"""Native code against the interpreter: in one process, thread CPU time, medians of pairs that run in turn.

With ``--against 705aa81`` against the interpreter of that revision, too, in a process of its own (older.py): goals are
for that ratio.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np

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
from tests.benchmarks.engine_cases import REDUCED, cases, saxpy
from tests.benchmarks.family import plain_seconds
from tests.benchmarks.older import ROOT, OlderTreeError, seconds_of

PAIRS = 5
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
    runtime.run = instead
    try:
        simt.launch(kernel, grid, block, *args, **options)
    except _Measured:
        pass
    finally:
        runtime.run = run
    return rows[0]


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


def first_launches(engine: str) -> list[float]:
    """Milliseconds of the first such launch of a process, without and with what it needs in the cache.

    The compiled engine is in the cache both times.
    """
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            command = [sys.executable, "-m", __spec__.name, "--first", engine, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
            found.append(float(done.stdout))
    return found


def _first(engine: str, folder: str) -> None:
    code.STORE = DiskCache("native code", Path(folder))
    ones = np.ones(64, np.float32)
    start = time.perf_counter()
    simt.launch(saxpy, 2, 32, ones.copy(), ones, ones, np.float32(2), engine=engine)
    print(1e3 * (time.perf_counter() - start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CASE", help=", ".join(cases()))
    parser.add_argument("--against", metavar="TREE", help="a folder with another simt, or a revision such as 705aa81")
    parser.add_argument("--first", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.first:
        return _first(*asked.first)
    names = asked.names or list(cases())
    if unknown := set(names) - cases().keys():
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(cases())}")
    try:
        older = seconds_of(asked.against, names) if asked.against else {}
    except OlderTreeError as error:
        sys.exit(f"engines.py: {error}")
    against = f"{asked.against:>9} {'ratio':>6}  " if older else ""
    print(f"{'kernel':24} {against}interpreted  compiled  ratio  goals      made    loaded   (milliseconds)")
    with tempfile.TemporaryDirectory() as folder:
        code.STORE = DiskCache("native code", Path(folder))
        for name in names:
            case = cases()[name]
            row = case.launch(row_of)
            interpreted, native = (1e3 * statistics.median(side) for side in zip(*row.pairs, strict=True))
            compared = f"{1e3 * older[name]:9.2f} {1e3 * older[name] / native:6.1f}  " if older else ""
            goals = f"{case.goals[0]:4} {case.goals[1]:3}"
            made = f"{1e3 * row.compiling:9.0f} {1e3 * row.loading:9.1f}"
            print(f"{name:24} {compared}{interpreted:11.2f} {native:9.2f} {row.ratio:6.1f} {goals} {made}", flush=True)
            if name in BESIDE:
                print(f"{name}: {beside_a_plain_loop(name, row):.0f} times as long as a plain njit loop")
    for engine in ENGINES:
        first, second = first_launches(engine)
        print(
            f"two small blocks, engine={engine!r}: {small(engine):.3f} ms warm; the first launch of a process "
            f"{first:.0f} ms, {second:.0f} with its code in the cache"
        )


if __name__ == "__main__":
    main()
