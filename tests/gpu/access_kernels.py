"""Kernels whose machine code accesses memory less often than their source says, each in its own way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32, int64

from simt.kernels import LaunchPlan


def forces(x, out):
    """``x[i]`` does not change in the loop: one load instead of one in each trip."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    total = float32(0.0)
    for j in range(x.size):
        d = x[j] - x[i]
        total += d * d * d
    out[i] = total


def powers(base, exponents, modulus, out):
    """``modulus[0]`` twice in each trip, with no store between: loaded once."""
    i = cuda.grid(1)
    if i >= base.size:
        return
    result = int64(1)
    square = base[i]
    exponent = exponents[i]
    while exponent > 0:
        if exponent & 1:
            result = result * square % modulus[0]
        square = square * square % modulus[0]
        exponent >>= 1
    out[i] = result


def distances(a, b, row, out):
    """The diagonal stays in a register, and is loaded again by the source."""
    i = cuda.grid(1)
    if i >= a.size:
        return
    for j in range(1, b.size):
        cost = 0 if a[i] == b[j] else 1
        best = row[i] + cost
        if row[i] + 1 < best:
            best = row[i] + 1
        row[i] = best
    out[i] = row[i]


def counts(data, bins):
    """A private table: a store that the next one overwrites never reaches memory."""
    i = cuda.grid(1)
    if i < bins.size:
        bins[i] = 0
        bins[i] = data[i] + data[i]


def wide_loads(pairs, out):
    """No access is left out: the counts agree."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pairs[i, 0] + pairs[i, 1]


def launches() -> dict[str, LaunchPlan]:
    """A launch for each kernel.  Recordings go by line: add kernels below the others."""
    rng = np.random.default_rng(5)

    def plan(kernel: Any, *args: Any) -> LaunchPlan:
        return LaunchPlan(kernel, 2, 64, args)

    n = 128
    whole = rng.integers(1, 1000, n)
    return {
        "forces": plan(forces, rng.random(n, dtype=np.float32), np.zeros(n, np.float32)),
        "powers": plan(powers, whole, rng.integers(1, 1000, n), np.array([997]), np.zeros(n, np.int64)),
        "distances": plan(distances, whole % 7, whole[:20] % 7, np.zeros(n, np.int64), np.zeros(n, np.int64)),
        "counts": plan(counts, whole, np.zeros(n, np.int64)),
        "wide_loads": plan(wide_loads, rng.random((n, 2)), np.zeros(n)),
    }
