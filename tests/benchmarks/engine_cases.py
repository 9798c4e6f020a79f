"""The kernels of engines.py, and how much faster each is to be; older trees import this, too (older.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

from simt import kernels

REDUCED = 2**18
"""Elements that the reductions fold."""


@dataclass(frozen=True)
class Case:
    """A launch, and how many times as fast as at commit 705aa81 it is to be: at least, and at best."""

    goals: tuple[float, float]
    launch: Callable[..., Any]
    """Hands a kernel, grid, block, arguments and options to a function, as :func:`simt.launch` has them."""


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


def floats(out, rounds):
    i = cuda.grid(1)
    x = np.float32(i)
    y = np.float32(1.5)
    for k in range(rounds):
        x = x * np.float32(0.5) + y
        y = y * np.float32(0.75) + x * x * np.float32(1e-9) - np.float32(k)
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


def trips(out, rounds):
    i = cuda.grid(1)
    x = i
    for k in range(rounds + i % 32):
        x = x * 5 + k
    out[i] = x


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


def cases() -> dict[str, Case]:
    """What is measured, in the source view and as machine code."""

    def plain(kernel: Any, grid: Any, block: Any, *make: Callable[[], Any]) -> Callable[..., Any]:
        return lambda to, **options: to(kernel, grid, block, *(one() for one in make), **options)

    def reduction(name: str) -> Callable[..., Any]:
        def case(to: Callable[..., Any], **options: Any) -> Any:
            plan = kernels.get_reduction(name).plan_for(kernels.sample(REDUCED), 512)
            return to(plan.kernel, plan.grid, plan.block, *plan.args, **options)

        return case

    def collatz(to: Callable[..., Any], **options: Any) -> Any:
        plan = kernels.get("collatz").plan(2**14)
        return to(plan.kernel, plan.grid, plan.block, *plan.args, **options)

    def zeros(shape: Any, dtype: Any) -> Callable[[], Any]:
        return lambda: np.zeros(shape, dtype)

    def same(value: Any) -> Callable[[], Any]:
        return lambda: value

    n = 2**17
    ones = np.ones(n, np.float32)
    table = np.arange(2**16, dtype=np.float32)
    bins = np.random.default_rng(0).integers(0, 256, 2**14)
    wanted = np.random.default_rng(0).permutation(table)[: 2**14]
    n_bins = zeros(256, np.int32)
    arithmetic, loops, folds, branches, others = (20, 40), (8, 15), (5, 10), (3.5, 8), (3.5, 8)
    source = {
        "integers": Case(arithmetic, plain(integers, 64, 256, zeros(64 * 256, np.int32), same(200))),
        "floats": Case(arithmetic, plain(floats, 64, 256, zeros(64 * 256, np.float32), same(200))),
        "doubles": Case(arithmetic, plain(doubles, 64, 256, zeros(64 * 256, np.float64), same(200))),
        "mandelbrot": Case(
            loops, plain(mandelbrot, (16, 16), (16, 16), zeros((256, 256), np.int32), same(256), same(256))
        ),
        "trips": Case(loops, plain(trips, 64, 256, zeros(64 * 256, np.int64), same(50))),
        **{name: Case(folds, reduction(name)) for name in ("interleaved", "unrolling8", "shared", "shuffle")},
        "neighbored": Case(branches, reduction("neighbored")),
        "collatz": Case(branches, collatz),
        "binary search": Case(
            branches, plain(binary_search, 64, 256, zeros(2**14, np.int32), same(table), same(wanted))
        ),
        "saxpy": Case(
            others, plain(saxpy, n // 256, 256, zeros(n, np.float32), same(ones), same(ones), same(np.float32(2)))
        ),
        "atomics, 256 bins": Case(others, plain(histogram, 16, 256, n_bins, same(bins))),
        "atomics, 1 bin": Case(others, plain(histogram, 16, 256, n_bins, same(bins // 256))),
        "bank conflicts": Case(others, plain(conflicts, 64, 32, zeros(2048, np.float32))),
    }

    def as_machine_code(case: Case) -> Case:
        return Case(others, lambda to, **options: case.launch(to, view="sm_90", **options))

    return source | {f"{name} sm_90": as_machine_code(case) for name, case in source.items()}
