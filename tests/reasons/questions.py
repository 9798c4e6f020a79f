"""Questions with known answers, and the launches that they are about.

The figures are those of the articles' own questions and of an H200 (tests/data/sass/h200/counters.json,
tests/data/hardware/accesses.json and shared_wavefronts.json): they were written down before the explanation was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import simt
from simt import kernels
from simt.profile import Profile
from simt.reasons import access_patterns
from simt.reasons.subject import Patterns
from tests.sass.data import cubin

Make = Callable[[], Profile]

BLOCK = 512


@cache
def reduction(name: str, chunks: int = 1, blocks: int = 16) -> Profile:
    """A reduction of kernels.cu, compiled with line information, on blocks of 512 threads."""
    found = cubin("sm_90/kernels_lines")
    (kernel,) = (kernel for kernel in found.values() if kernel.demangled.split("(")[0].split("<")[0].endswith(name))
    n = blocks * BLOCK * chunks
    data, sums = np.ones(n, np.int32), np.zeros(blocks, np.int32)
    return simt.launch(kernel, blocks, BLOCK, data, sums, np.uint32(n))


def _access(name: str, *numbers: int) -> tuple[Any, ...]:
    """What a launch of a kernel of access.cu takes: 8 blocks of 256 threads."""
    (kernel,) = (each for each in cubin("sm_90/access_lines").values() if each.demangled.split("(")[0] == name)
    out, data = np.zeros(8 * 256, np.float32), np.zeros(64 * 8 * 256, np.float32)
    args: list[Any] = {"conflict": [out], "scatter": [_scattered(len(out)), data, out]}.get(name, [data, out])
    return (kernel, 8, 256, *args, *map(np.int32, numbers))


@cache
def access(name: str, *numbers: int) -> Profile:
    """A launch of a kernel of access.cu."""
    return simt.launch(*_access(name, *numbers))


@cache
def pattern(side: str, name: str, *numbers: int) -> Mapping[str, Patterns]:
    """How its lines access memory."""
    return {side: access_patterns(*_access(name, *numbers))}


def _scattered(count: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(64 * count)[:count].astype(np.int32)


@cache
def entry(name: str, **options: Any) -> Profile:
    """A kernel of the registry, in the source view unless said otherwise."""
    plan = kernels.get(name).plan()
    return simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, **options)


@dataclass(frozen=True)
class Question:
    """What is asked, and what the first term has to say: how much, on which lines, why, and words of the sentence."""

    name: str
    metric: str
    a: Make
    b: Make | None
    value: float
    lines: tuple[int, ...]
    cause: str
    words: tuple[str, ...]
    patterns: Callable[[], Mapping[str, Patterns]] = dict


QUESTIONS = (
    # 162 of the 195.75 instructions are the %: 21 instructions a round instead of 3, in 9 rounds.
    Question(
        "neighbored against interleaved", "inst_per_warp",
        lambda: reduction("reduceNeighbored"), lambda: reduction("reduceInterleaved"),
        -162.0, (6, 27), "instructions", ("tid%(2*stride)", "21 → 3 instructions", "9 times a warp"),
    ),
    # 18 instructions less a round for the test, one more for each of the six of the sum.
    Question(
        "neighbored against neighbored_less", "inst_per_warp",
        lambda: reduction("reduceNeighbored"), lambda: reduction("reduceNeighboredLess"),
        -156.0625, (6, 17), "instructions", ("tid%(2*stride)", "21 → 3 instructions", "9 times a warp"),
    ),
    # One more element a thread: an H200 executes 8 instructions more per warp, most of them on the line that adds it.
    Question(
        "unrolling by 2", "inst_per_warp",
        lambda: reduction("reduceInterleaved"), lambda: reduction("reduceUnrolling2", 2),
        7.0, (25, 35), "instructions", ("idx+blockDim.x<n", "3 → 10 instructions"),
    ),
    # Three more elements a thread, in one expression: its loads, 11 of the 15 instructions more.
    Question(
        "unrolling by 4", "inst_per_warp",
        lambda: reduction("reduceInterleaved"), lambda: reduction("reduceUnrolling4", 4),
        11.0, (47,), "only in B", ("int a1=g_idata[idx]", "11 instructions 1 time a warp"),
    ),
    # Six more elements a thread: their loads.
    Question(
        "unrolling by 8", "inst_per_warp",
        lambda: reduction("reduceUnrolling2", 2), lambda: reduction("reduceUnrolling8", 8),
        12.0, (59,), "only in B", ("int a1=g[idx]", "12 instructions 1 time a warp"),
    ),
    # Of the same 16,384 integers: 512 warps make nine rounds of seven instructions, and a part of them where each
    # thread adds several elements first.
    *(
        Question(
            f"unrolling by {times}, the same integers", "inst_executed",
            lambda: reduction("reduceInterleaved", blocks=32),
            lambda times=times: reduction(f"reduceUnrolling{times}", times, 32 // times),
            -7.0 * 9 * (512 - 512 // times), (26, 27, 28, *loop), "times", (f"4,608 → {4608 // times:,} times",),
        )
        for times, loop in ((2, (37, 38, 39)), (4, (51, 52, 53)), (8, (69, 70, 71)))
    ),
    # The rounds stop at stride 32: three of nine are left, of nine instructions each.
    Question(
        "the last warp alone", "inst_per_warp",
        lambda: reduction("reduceUnrolling8", 8), lambda: reduction("reduceUnrollWarps8", 8),
        -54.0, (69, 70, 71, 87, 88, 89), "times", ("9 → 3 times a warp", "9 instructions each"),
    ),
    # Both ways of the branch run, each with half of the lanes; predicated, the branch itself is gone.
    Question(
        "even and odd lanes, predicated", "branch_efficiency",
        lambda: entry("even_odd"), None,
        -100.0, (56,), "divergent branches", ("2 of 2 branches diverge",),
    ),
    # Each of the two ifs diverges (an H200 counts 2 against 1 per warp, -G); here for two warps.
    Question(
        "two ifs instead of if/else", "divergent_branch",
        lambda: entry("even_odd"), lambda: entry("two_ifs"),
        2.0, (81,), "only in B", ("if not even", "2 of 2 branches diverge"),
    ),
    # 32 bytes apart, every lane has a sector of its own, of which it uses an eighth.
    Question(
        "a strided load", "gld_efficiency",
        lambda: access("copy"), lambda: access("strided", 8),
        -87.5, (4, 8), "access pattern", ("4 → 32 sectors a request", "strided, lanes are 32 bytes apart"),
        lambda: pattern("b", "strided", 8),
    ),
    # 128 bytes that begin in the middle of a sector touch five.
    Question(
        "a misaligned load", "gld_transactions_per_request",
        lambda: access("copy"), lambda: access("misaligned", 1),
        1.0, (4, 12), "access pattern", ("4 → 5 sectors a request", "misaligned", "4 bytes after a multiple of 32"),
        lambda: pattern("b", "misaligned", 1),
    ),
    # All lanes ask for the same 4 bytes of one sector, and ncu counts each byte of a request once.
    Question(
        "a broadcast", "gld_efficiency",
        lambda: access("broadcast"), None,
        -87.5, (16,), "unused bytes", ("4 of the 32 bytes",),
        lambda: pattern("a", "broadcast"),
    ),
    *(
        Question(
            f"a {ways}-way bank conflict", "shared_load_transactions_per_request",
            lambda: access("conflict", 1), lambda ways=ways: access("conflict", ways),
            ways - 1.0, (29, 29), "bank conflicts", (f"1 → {ways} wavefronts a request", f"{ways}-way bank conflict"),
            lambda ways=ways: pattern("b", "conflict", ways),
        )
        for ways in (2, 4, 8, 16, 32)
    ),
    # 98 registers a thread: 2 blocks of 8 warps on an SM that holds 64 warps.
    Question(
        "occupancy limited by registers", "theoretical_occupancy",
        lambda: access("many_registers"), None,
        -75.0, (), "limit: registers", ("98 registers a thread", "2 of its blocks"),
    ),
)  # fmt: skip
