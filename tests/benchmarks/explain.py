"""How long an explanation takes after its launch: of one kernel, and of two, of straight lines and branches."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda

import simt
from simt.profile import Profile
from tests.from_text import function_from

LINES = 500
"""Lines of a kernel, of two operations each."""
REPEATS = 7


def kernel(lines: int, factor: int) -> Any:
    """A kernel of so many lines, of which every tenth is a branch."""
    body = []
    for k in range(lines):
        condition = f"if i % {k % 7 + 2} < {factor}:\n        " if k % 10 == 0 else ""
        body.append(f"    {condition}v = v * {factor} + {k}\n")
    text = "def kernel(out):\n    i = cuda.grid(1)\n    v = i\n" + "".join(body) + "    out[i] = v\n"
    return function_from(text, {"cuda": cuda})


def profile(lines: int, factor: int, view: str) -> Profile:
    """A launch of it in four blocks."""
    return simt.launch(kernel(lines, factor), 4, 64, np.zeros(256, np.int64), view=view)


def seconds(call: Callable[[], object]) -> float:
    """The median of some calls."""
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> None:
    for view in ("source", "sm_90"):
        for lines in (LINES, 4 * LINES):
            a, b = (profile(lines, factor, view) for factor in (3, 5))
            count = sum(each.retires for each in a.program.instructions)
            for metric in ("inst_per_warp", "warp_execution_efficiency"):
                alone = seconds(lambda a=a, metric=metric: str(simt.explain(a, metric=metric)))
                both = seconds(lambda a=a, b=b, metric=metric: str(simt.explain(a, b, metric)))
                print(f"{view:7} {count:6,} instructions  {metric:26} A {alone:6.3f} s  A and B {both:6.3f} s")


if __name__ == "__main__":
    main()
