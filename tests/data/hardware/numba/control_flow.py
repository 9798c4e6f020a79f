"""Kernels whose loops end in several ways, written after the rules of the machine view were settled.

``LAUNCHES`` lists them as (kernel, grid, block, what makes the arguments); their machine code and what an H200 computed
and counted are beside this file, as those of ``kernels.py`` are.  Sizes are small, so that files are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, float32, int32, int64, uint64


def julia(out, cr, ci, limit):
    """Escape time in a picture, with a guard."""
    x, y = cuda.grid(2)
    if x >= out.shape[1] or y >= out.shape[0]:
        return
    zr = -1.5 + 3.0 * x / out.shape[1]
    zi = -1.0 + 2.0 * y / out.shape[0]
    n = 0
    while n < limit:
        a = zr * zr
        b = zi * zi
        if a + b > 4.0:
            break
        zi = 2.0 * zr * zi + ci
        zr = a - b + cr
        n += 1
    out[y, x] = n


def newton(out, roots, limit):
    """Newton fractal: three ways to return."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    x = float32(-2.0 + 4.0 * (i % 64) / 64)
    y = float32(-2.0 + 4.0 * (i // 64) / 64)
    for k in range(limit):
        d = float32(3) * ((x * x - y * y) ** 2 + float32(4) * x * x * y * y)
        if d < float32(1e-6):
            out[i] = -k
            return
        t = x
        x = x * float32(2) / float32(3) + (x * x - y * y) / d
        y = y * float32(2) / float32(3) - float32(2) * t * y / d
        near = -1
        for r in range(3):
            dx = x - roots[2 * r]
            dy = y - roots[2 * r + 1]
            if dx * dx + dy * dy < float32(1e-4):
                near = r
                break
        if near >= 0:
            out[i] = near * 100 + k
            return
    out[i] = -1000


def binary_search(table, keys, out):
    """Binary search that stops where it finds the key."""
    i = cuda.grid(1)
    if i < keys.size:
        lo, hi = 0, table.size - 1
        found = -1
        while lo <= hi:
            mid = (lo + hi) // 2
            v = table[mid]
            if v == keys[i]:
                found = mid
                break
            elif v < keys[i]:
                lo = mid + 1
            else:
                hi = mid - 1
        out[i] = found


def kmp(text, pattern, fail, out):
    """Occurrences of a pattern by Knuth, Morris and Pratt."""
    i = cuda.grid(1)
    start = i * 16
    if start >= text.size:
        return
    j = 0
    hits = 0
    k = start
    while k < min(start + 16 + pattern.size - 1, text.size):
        while j > 0 and text[k] != pattern[j]:
            j = fail[j - 1]
        if text[k] == pattern[j]:
            j += 1
        if j == pattern.size:
            hits += 1
            j = fail[j - 1]
        k += 1
    out[i] = hits


def quick(values, out):
    """Quicksort of 16 numbers per thread with a stack in local memory."""
    i = cuda.grid(1)
    a = cuda.local.array(16, int32)
    stack = cuda.local.array(32, int32)
    for k in range(16):
        a[k] = values[i * 16 + k]
    top = 0
    stack[0] = 0
    stack[1] = 15
    while top >= 0:
        lo = stack[2 * top]
        hi = stack[2 * top + 1]
        top -= 1
        if lo >= hi:
            continue
        p = a[(lo + hi) // 2]
        left = lo
        right = hi
        while left <= right:
            while a[left] < p:
                left += 1
            while a[right] > p:
                right -= 1
            if left <= right:
                t = a[left]
                a[left] = a[right]
                a[right] = t
                left += 1
                right -= 1
        if lo < right:
            top += 1
            stack[2 * top] = lo
            stack[2 * top + 1] = right
        if left < hi:
            top += 1
            stack[2 * top] = left
            stack[2 * top + 1] = hi
    for k in range(16):
        out[i * 16 + k] = a[k]


def edit_distance(a, b, out):
    """Levenshtein distance, a row of it in local memory."""
    i = cuda.grid(1)
    row = cuda.local.array(13, int32)
    for k in range(13):
        row[k] = k
    for p in range(12):
        last = row[0]
        row[0] = p + 1
        for q in range(12):
            keep = row[q + 1]
            cost = 0 if a[i, p] == b[i, q] else 1
            row[q + 1] = min(min(row[q + 1] + 1, row[q] + 1), last + cost)
            last = keep
    out[i] = row[12]


def spmv(ptr, col, val, x, y):
    """Sparse matrix times vector; negative elements are skipped."""
    i = cuda.grid(1)
    if i < y.size:
        total = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            if val[k] < 0:
                continue
            total += val[k] * x[col[k]]
        y[i] = total


def walk(seeds, out, limit):
    """Random walk that ends at a distance or after a number of steps."""
    i = cuda.grid(1)
    s = uint64(seeds[i])
    x = 0
    y = 0
    n = 0
    while True:
        s = s * uint64(6364136223846793005) + uint64(1442695040888963407)
        d = int64(s >> uint64(62))
        if d == 0:
            x += 1
        elif d == 1:
            x -= 1
        elif d == 2:
            y += 1
        else:
            y -= 1
        n += 1
        if x * x + y * y > 50:
            break
        if n >= limit:
            n = -n
            break
    out[i] = n


def bisect(targets, out):
    """Root of a cubic by bisection, with an early end."""
    i = cuda.grid(1)
    lo, hi = 0.0, 10.0
    n = 0
    while hi - lo > 1e-9:
        mid = 0.5 * (lo + hi)
        f = mid * mid * mid + mid - targets[i]
        if abs(f) < 1e-6:
            lo = mid
            break
        if f > 0:
            hi = mid
        else:
            lo = mid
        n += 1
        if n > 60:
            break
    out[i] = lo


def machine_state(codes, out):
    """An interpreter of random codes."""
    i = cuda.grid(1)
    state = 0
    acc = 0
    pc = i * 24
    end = pc + 24
    while pc < end:
        c = codes[pc]
        if state == 0:
            if c == 0:
                state = 1
            elif c == 1:
                acc += 3
            elif c == 2:
                state = 2
                acc ^= 5
            else:
                break
        elif state == 1:
            if c < 2:
                acc = acc * 3 + c
                state = 0
            else:
                state = 2
                pc += 1
        else:
            if acc & 1:
                acc >>= 1
                if acc > 40:
                    out[i] = -acc
                    return
            else:
                acc += c
            state = (state + c) % 3
        pc += 1
    out[i] = acc * 4 + state


@cuda.jit(device=True)
def digits(v):
    """Decimal digits of *v*; 99 if there are too many."""
    n = 0
    while v:
        v //= 10
        n += 1
        if n > 9:
            return 99
    return n


@cuda.jit(device=True)
def smallest_factor(v):
    """The smallest prime factor of *v*."""
    if v % 2 == 0:
        return 2
    f = 3
    while f * f <= v:
        if v % f == 0:
            return f
        f += 2
    return v


def factors(values, out):
    """Prime factors by device functions that return from loops."""
    i = cuda.grid(1)
    v = values[i]
    count = 0
    total = 0
    while v > 1:
        f = smallest_factor(v)
        v //= f
        count += 1
        total += digits(f)
        if count > 6:
            break
    out[i] = count * 1000 + total


def odd_even(values):
    """Odd-even transposition sort in shared memory."""
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = values[cuda.grid(1)]
    cuda.syncthreads()
    for k in range(128):
        if t % 2 == k % 2 and t < 127:
            if s[t] > s[t + 1]:
                v = s[t]
                s[t] = s[t + 1]
                s[t + 1] = v
        cuda.syncthreads()
    values[cuda.grid(1)] = s[t]


def rays(spheres, out):
    """Rays against spheres: continue and break."""
    x, y = cuda.grid(2)
    dx = float32(x - 16) / float32(16)
    dy = float32(y - 16) / float32(16)
    n = float32(1) / math.sqrt(dx * dx + dy * dy + float32(1))
    best = float32(1e9)
    who = -1
    for k in range(spheres.shape[0]):
        b = (dx * spheres[k, 0] + dy * spheres[k, 1] + spheres[k, 2]) * n
        c = spheres[k, 0] ** 2 + spheres[k, 1] ** 2 + spheres[k, 2] ** 2 - spheres[k, 3] ** 2
        disc = b * b - c
        if disc < float32(0):
            continue
        t = b - math.sqrt(disc)
        if t > float32(0) and t < best:
            best = t
            who = k
            if t < float32(1.5):
                break
    out[y, x] = best if who >= 0 else float32(-1)


def escape(values, out, limit):
    """Nested loops with break, continue and return."""
    i = cuda.grid(1)
    total = 0
    for a in range(limit):
        if values[(i + a) % values.size] < 0:
            break
        for b in range(limit):
            v = values[(i + a * b) % values.size]
            if v == 0:
                continue
            if v > 90:
                out[i] = -total
                return
            total += v
            if total % 7 == 3:
                break
    out[i] = total


def three_exits(values, out):
    """A loop with three exits and no memory access."""
    i = cuda.grid(1)
    v = values[i]
    k = 0
    while k < 200:
        v = v * 5 + 3 & 1023
        if v == 77:
            break
        if v & 31 == 9:
            v += 1
            break
        if v % 13 == 5 and k > 4:
            break
        k += 1
    out[i] = v * 256 + k


def scan_warp(x, out):
    """Inclusive sum over a warp by shuffles, and lanes that match."""
    i = cuda.grid(1)
    lane = cuda.laneid
    v = x[i]
    d = 1
    while d < 32:
        o = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if lane >= d:
            v += o
        d *= 2
    m = cuda.match_any_sync(0xFFFFFFFF, x[i] & 3)
    out[i] = v + cuda.popc(m)


def cas_max(x, out):
    """Maximum by compare and swap; lanes do not meet."""
    i = cuda.grid(1)
    v = x[i]
    slot = i % 32 * 2
    old = out[slot]
    while v > old:
        seen = cuda.atomic.cas(out, slot, old, v)
        if seen == old:
            break
        old = seen


def poly64(x, out):
    """A float64 series that ends where its terms are small."""
    i = cuda.grid(1)
    v = x[i]
    r = 0.0
    n = 0
    while n < 30:
        t = math.exp(-v * n) * math.cos(v + n)
        r += t
        if abs(t) < 1e-4 and n > 2:
            break
        n += 1
    out[i] = r / (1.0 + n)


def trig32(x, out):
    """float32 functions of the mathematical library."""
    i = cuda.grid(1)
    v = x[i]
    out[i] = (
        math.sin(v) * math.exp(v * float32(0.1))
        + math.log(abs(v) + float32(1)) / (math.sqrt(abs(v)) + float32(2))
        + math.tanh(v)
        + math.pow(abs(v), float32(0.3))
        + math.atan2(v, float32(2))
    )


def _random(seed: int) -> Any:
    return np.random.default_rng(seed)


def _ints(seed: int, low: int, high: int, shape: Any, dtype: Any = np.int32) -> Any:
    return _random(seed).integers(low, high, shape).astype(dtype)


def _pattern() -> tuple[Any, Any]:
    """A pattern of the letters 0 and 1, and how far to fall back in it after a mismatch."""
    pattern = np.array([0, 1, 0, 0, 1], np.uint8)
    fall_back = np.array([0, 0, 1, 1, 2], np.int32)
    return pattern, fall_back


def _sparse() -> tuple[Any, ...]:
    """A sparse matrix of 256 rows of 0 to 19 elements, a vector, and room for their product."""
    random = _random(5)
    lengths = random.integers(0, 20, 256)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    n = int(starts[-1])
    columns = random.integers(0, 256, n).astype(np.int32)
    return starts, columns, random.normal(size=n), random.normal(size=256), np.zeros(256)


def _spheres() -> Any:
    scale, shift = np.array([2, 2, 4, 0.7], np.float32), np.array([1.5, 1.5, 0, 0], np.float32)
    return np.abs(_random(13).normal(size=(12, 4))).astype(np.float32) * scale - shift


_ROOTS = [1, 0, -0.5, 0.8660254, -0.5, -0.8660254]

LAUNCHES: tuple[tuple[Callable[..., None], Any, Any, Callable[[], tuple[Any, ...]]], ...] = (
    (julia, (4, 8), (16, 8), lambda: (np.zeros((60, 60), np.int32), -0.8, 0.156, 200)),
    (newton, 32, 128, lambda: (np.zeros(4096, np.int32), np.array(_ROOTS, np.float32), 40)),
    (
        binary_search, 8, 128,
        lambda: (np.sort(_ints(1, 0, 3000, 1000)), _ints(2, 0, 3000, 1000), np.zeros(1000, np.int32)),
    ),
    (kmp, 4, 64, lambda: (_ints(3, 0, 2, 4000, np.uint8), *_pattern(), np.zeros(256, np.int32))),
    (quick, 4, 64, lambda: (_ints(4, 0, 99, 4096), np.zeros(4096, np.int32))),
    (
        edit_distance, 4, 64,
        lambda: (_ints(6, 0, 4, (256, 12), np.uint8), _ints(7, 0, 4, (256, 12), np.uint8), np.zeros(256, np.int32)),
    ),
    (spmv, 4, 64, _sparse),
    (walk, 4, 96, lambda: (_ints(8, 0, 2**62, 384, np.int64), np.zeros(384, np.int64), 300)),
    (bisect, 4, 64, lambda: (_random(9).uniform(0, 900, 256), np.zeros(256))),
    (machine_state, 4, 64, lambda: (_ints(10, 0, 4, 6200), np.zeros(256, np.int64))),
    (factors, 4, 64, lambda: (_ints(11, 2, 5000, 256), np.zeros(256, np.int64))),
    (odd_even, 2, 128, lambda: (_ints(12, 0, 999, 256),)),
    (rays, (4, 4), (8, 8), lambda: (_spheres(), np.zeros((32, 32), np.float32))),
    (escape, 4, 64, lambda: (_ints(16, -5, 100, 777), np.zeros(256, np.int64), 12)),
    (three_exits, 8, 128, lambda: (_ints(17, 0, 1024, 1024, np.int64), np.zeros(1024, np.int64))),
    (scan_warp, 4, 64, lambda: (_ints(18, 0, 50, 256), np.zeros(256, np.int32))),
    (cas_max, 1, 32, lambda: (_ints(19, 0, 5000, 32), np.zeros(64, np.int32))),
    (poly64, 4, 64, lambda: (_random(20).uniform(0.01, 3, 256), np.zeros(256))),
    (trig32, 4, 64, lambda: (_random(21).normal(size=256).astype(np.float32) * 5, np.zeros(256, np.float32))),
)  # fmt: skip
