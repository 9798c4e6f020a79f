"""Kernels of kinds that users write: scans, sorts, searches, sparse and dense algebra, games, simulations.

Written and recorded as ``control_flow.py`` is: after the rules of the machine view were settled, with ``LAUNCHES`` as
(kernel, grid, block, what makes the arguments).  Sizes are small, so that files are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, float32, int32, int64, uint8, uint32, uint64

FULL = 0xFFFFFFFF
TILE = 16
HALO = TILE + 2
BLOCK = 128
WARPS = BLOCK // 32


def segmented_scan(values, heads, out):
    """Inclusive sums of a warp that start again at every head: a ballot says how far to look."""
    i = cuda.grid(1)
    lane = cuda.laneid
    v = values[i]
    starts = cuda.ballot_sync(FULL, heads[i] != 0) | 1
    below = starts & (uint32(0xFFFFFFFF) >> uint32(31 - lane))
    first = 31 - cuda.clz(int32(below))
    d = 1
    while d < 32:
        other = cuda.shfl_up_sync(FULL, v, d)
        if lane - d >= first:
            v += other
        d *= 2
    out[i] = v


def aggregated(values, counters, places):
    """One atomic per warp and kind of value; lanes of a kind take consecutive places."""
    i = cuda.grid(1)
    warp = i // 32
    if i < values.size and values[i] > 0:
        active = cuda.activemask()
        kind = values[i] % 3
        peers = cuda.match_any_sync(active, kind)
        leader = cuda.ffs(peers) - 1
        start = 0
        if cuda.laneid == leader:
            start = cuda.atomic.add(counters, (warp, kind), cuda.popc(peers))
        start = cuda.shfl_sync(peers, start, leader)
        rank = cuda.popc(peers & ((uint32(1) << uint32(cuda.laneid)) - uint32(1)))
        places[i] = start + rank


def blur_halo(image, weights, out):
    """3 x 3 convolution: a tile with its halo in shared memory, loaded in two rounds."""
    tile = cuda.shared.array((HALO, HALO), float32)
    left = cuda.blockIdx.x * TILE - 1
    top = cuda.blockIdx.y * TILE - 1
    t = cuda.threadIdx.y * TILE + cuda.threadIdx.x
    while t < HALO * HALO:
        y = top + t // HALO
        x = left + t % HALO
        inside = 0 <= y < image.shape[0] and 0 <= x < image.shape[1]
        tile[t // HALO, t % HALO] = image[y, x] if inside else float32(0)
        t += TILE * TILE
    cuda.syncthreads()
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        total = float32(0)
        for dy in range(3):
            for dx in range(3):
                total += weights[dy, dx] * tile[cuda.threadIdx.y + dy, cuda.threadIdx.x + dx]
        out[y, x] = total


def sort_warp(values):
    """Bitonic sort of 32 values by shuffles."""
    i = cuda.grid(1)
    lane = cuda.laneid
    v = values[i]
    size = 2
    while size <= 32:
        stride = size // 2
        while stride > 0:
            other = cuda.shfl_xor_sync(FULL, v, stride)
            ascending = (lane & size) == 0
            lower = (lane & stride) == 0
            v = min(v, other) if ascending == lower else max(v, other)
            stride //= 2
        size *= 2
    values[i] = v


def radix_pass(keys, shift, out):
    """A block's keys ordered by four bits: ranks within warps from matches, a table of counts in shared memory."""
    counts = cuda.shared.array((WARPS, 16), int32)
    tid = cuda.threadIdx.x
    warp = tid // 32
    if tid < 16:
        for w in range(WARPS):
            counts[w, tid] = 0
    cuda.syncthreads()
    key = keys[cuda.grid(1)]
    digit = (key >> shift) & 15
    peers = cuda.match_any_sync(FULL, digit)
    rank = cuda.popc(peers & ((uint32(1) << uint32(cuda.laneid)) - uint32(1)))
    if rank == 0:
        counts[warp, digit] = cuda.popc(peers)
    cuda.syncthreads()
    if tid == 0:
        total = 0
        for d in range(16):
            for w in range(WARPS):
                n = counts[w, d]
                counts[w, d] = total
                total += n
    cuda.syncthreads()
    out[cuda.blockIdx.x * BLOCK + counts[warp, digit] + rank] = key


def spmv_warp(starts, columns, values, x, y):
    """A warp per row of a sparse matrix."""
    row = cuda.grid(1) // 32
    if row >= y.size:
        return
    total = 0.0
    for k in range(starts[row] + cuda.laneid, starts[row + 1], 32):
        total += values[k] * x[columns[k]]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(FULL, total, offset)
        offset >>= 1
    if cuda.laneid == 0:
        y[row] = total


def monte_carlo_pi(hits, trials):
    """Points in a circle by xorshift64*, one atomic per thread that hit."""
    i = cuda.grid(1)
    s = uint64(i + 1) * uint64(0x9E3779B97F4A7C15)
    n = 0
    for _ in range(trials):
        s ^= s >> uint64(12)
        s ^= s << uint64(25)
        s ^= s >> uint64(27)
        r = s * uint64(2685821657736338717)
        x = float32(r >> uint64(40)) * float32(2.0**-24)
        y = float32((r >> uint64(16)) & uint64(0xFFFFFF)) * float32(2.0**-24)
        if x * x + y * y <= float32(1):
            n += 1
    if n > 0:
        cuda.atomic.add(hits, 0, n)


def lu(matrices):
    """LU decomposition of an 8 x 8 matrix per block, with the largest pivot of each column."""
    a = cuda.shared.array((8, 9), float32)
    pivot = cuda.shared.array(1, int32)
    i = cuda.threadIdx.y
    j = cuda.threadIdx.x
    a[i, j] = matrices[cuda.blockIdx.x, i, j]
    cuda.syncthreads()
    for k in range(8):
        if i == 0 and j == 0:
            best = k
            for r in range(k + 1, 8):
                if abs(a[r, k]) > abs(a[best, k]):
                    best = r
            pivot[0] = best
        cuda.syncthreads()
        if i == 0 and pivot[0] != k:
            t = a[k, j]
            a[k, j] = a[pivot[0], j]
            a[pivot[0], j] = t
        cuda.syncthreads()
        if i > k and j == k:
            a[i, k] /= a[k, k]
        cuda.syncthreads()
        if i > k and j > k:
            a[i, j] -= a[i, k] * a[k, j]
        cuda.syncthreads()
    matrices[cuda.blockIdx.x, i, j] = a[i, j]


def prefix_max(values, out):
    """Running maximum of a block: shuffles within warps, the warps' maxima in shared memory."""
    tops = cuda.shared.array(32, int32)
    i = cuda.grid(1)
    lane = cuda.threadIdx.x & 31
    warp = cuda.threadIdx.x >> 5
    v = values[i] if i < values.size else int32(-(2**31))
    for k in range(5):
        other = cuda.shfl_up_sync(FULL, v, 1 << k)
        if lane >= 1 << k and other > v:
            v = other
    if lane == 31:
        tops[warp] = v
    cuda.syncthreads()
    for w in range(warp):
        v = max(v, tops[w])
    if i < out.size:
        out[i] = v


def find_words(text, words, lengths, out):
    """Which of several words starts at each place of a text."""
    i = cuda.grid(1)
    if i >= text.size:
        return
    found = -1
    for w in range(words.shape[0]):
        n = lengths[w]
        if i + n > text.size:
            continue
        k = 0
        while k < n and text[i + k] == words[w, k]:
            k += 1
        if k == n:
            found = w
            break
    out[i] = found


def life_steps(world, out, steps):
    """Conway's game of life on a torus of one block's size, several steps in shared memory."""
    cells = cuda.shared.array((2, TILE, TILE), uint8)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    cells[0, y, x] = world[cuda.blockIdx.x, y, x]
    cuda.syncthreads()
    for s in range(steps):
        n = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    n += cells[s & 1, (y + dy) & 15, (x + dx) & 15]
        alive = cells[s & 1, y, x]
        cells[1 - (s & 1), y, x] = 1 if n == 3 or (n == 2 and alive) else 0
        cuda.syncthreads()
    out[cuda.blockIdx.x, y, x] = cells[steps & 1, y, x]


def walsh(values):
    """Fast Walsh-Hadamard transform of 256 numbers per block."""
    s = cuda.shared.array(256, float32)
    tid = cuda.threadIdx.x
    start = cuda.blockIdx.x * 256
    s[tid] = values[start + tid]
    s[tid + BLOCK] = values[start + tid + BLOCK]
    h = 1
    while h < 256:
        cuda.syncthreads()
        k = 2 * h * (tid // h) + tid % h
        a = s[k]
        b = s[k + h]
        s[k] = a + b
        s[k + h] = a - b
        h *= 2
    cuda.syncthreads()
    values[start + tid] = s[tid]
    values[start + tid + BLOCK] = s[tid + BLOCK]


def kmeans(points, centres, labels, counts, sums):
    """The nearest centre of each point; numbers and coordinates (fixed point) are summed by atomics."""
    i = cuda.grid(1)
    if i >= points.shape[0]:
        return
    best = float32(math.inf)
    label = 0
    for c in range(centres.shape[0]):
        d = float32(0)
        for k in range(centres.shape[1]):
            e = points[i, k] - centres[c, k]
            d += e * e
            if d >= best:
                break
        if d < best:
            best = d
            label = c
    labels[i] = label
    cuda.atomic.add(counts, label, 1)
    for k in range(centres.shape[1]):
        cuda.atomic.add(sums, (label, k), int64(points[i, k] * float32(1024)))


def queens(n, out):
    """Solutions of the queens problem that begin with two given columns, by a stack in local memory."""
    t = cuda.grid(1)
    taken = cuda.local.array(12, int32)
    row = 2
    solutions = 0
    first = t // n
    second = t % n
    if first >= n or abs(first - second) < 2:
        return
    taken[0] = first
    taken[1] = second
    taken[2] = -1
    while row >= 2:
        taken[row] += 1
        if taken[row] >= n:
            row -= 1
            continue
        safe = True
        for r in range(row):
            d = abs(taken[r] - taken[row])
            if d == 0 or d == row - r:
                safe = False
                break
        if not safe:
            continue
        if row == n - 1:
            solutions += 1
        else:
            row += 1
            taken[row] = -1
    out[t] = solutions


def last_block_sum(values, partial, done, total):
    """Sums of blocks; the last block to end adds them up."""
    s = cuda.shared.array(BLOCK, int64)
    last = cuda.shared.array(1, int32)
    tid = cuda.threadIdx.x
    v = int64(0)
    i = cuda.grid(1)
    while i < values.size:
        v += values[i]
        i += cuda.gridsize(1)
    s[tid] = v
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if tid < half:
            s[tid] += s[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = s[0]
        cuda.threadfence()
        last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and tid == 0:
        v = int64(0)
        for b in range(cuda.gridDim.x):
            v += partial[b]
        total[0] = v


def histogram_match(values, bins):
    """Histogram: lanes with the same value elect one that adds for all of them."""
    i = cuda.grid(1)
    if i < values.size:
        mask = cuda.activemask()
        peers = cuda.match_any_sync(mask, values[i])
        if cuda.laneid == cuda.ffs(peers) - 1:
            cuda.atomic.add(bins, values[i], cuda.popc(peers))


def atomics64(x, add, low, high, flags, real):
    """64-bit and floating-point atomics whose lanes share addresses."""
    i = cuda.grid(1)
    v = x[i]
    cuda.atomic.add(add, v & 7, v)
    cuda.atomic.min(low, v & 3, v)
    if v & 1:
        cuda.atomic.max(high, 5, v)
    cuda.atomic.or_(flags, (v >> 3) & 15, uint64(1) << uint64(v & 63))
    cuda.atomic.add(real, i % 5, float32(v & 15))


def collide(seeds, out, cells, limit):
    """Rejection sampling: candidates are drawn until one is accepted or too many were not."""
    i = cuda.grid(1)
    s = uint32(seeds[i])
    x = int64(0)
    tries = 0
    while True:
        s = s * uint32(1664525) + uint32(1013904223)
        x = int64(s >> uint32(24))
        tries += 1
        if tries > limit:
            x = -1
            break
        if x % 3 == 0:
            continue
        near = False
        for k in range(cells.size):
            if abs(cells[k] - x) < 9:
                near = True
                break
        if not near:
            break
    out[i] = x * 1000 + tries


def _random(seed: int) -> Any:
    return np.random.default_rng(seed)


def _ints(seed: int, low: int, high: int, shape: Any, dtype: Any = np.int32) -> Any:
    return _random(seed).integers(low, high, shape).astype(dtype)


def _sparse() -> tuple[Any, ...]:
    """A sparse matrix of 60 rows of 0 to 89 elements, a vector, and room for their product."""
    random = _random(6)
    starts = np.concatenate([[0], np.cumsum(random.integers(0, 90, 60))]).astype(np.int32)
    n = int(starts[-1])
    columns = random.integers(0, 60, n).astype(np.int32)
    return starts, columns, random.normal(size=n), random.normal(size=60), np.zeros(60)


def _words() -> tuple[Any, ...]:
    """A text of three letters, words of two to five, their lengths, and room for what is found."""
    lengths = np.array([5, 4, 3, 2], np.int32)
    return _ints(10, 0, 3, 900, np.uint8), _ints(11, 0, 3, (4, 5), np.uint8), lengths, np.zeros(900, np.int32)


LAUNCHES: tuple[tuple[Callable[..., None], Any, Any, Callable[[], tuple[Any, ...]]], ...] = (
    (segmented_scan, 4, 96, lambda: (_ints(1, 0, 99, 384), _ints(2, 0, 6, 384) == 0, np.zeros(384, np.int32))),
    (aggregated, 4, 96, lambda: (_ints(3, -9, 99, 370), np.zeros((12, 3), np.int32), np.zeros(370, np.int32))),
    (
        blur_halo, (3, 3), (TILE, TILE),
        lambda: (
            _random(4).random((40, 37), np.float32), _random(5).random((3, 3), np.float32),
            np.zeros((40, 37), np.float32),
        ),
    ),
    (sort_warp, 4, 64, lambda: (_ints(7, -999, 999, 256),)),
    (radix_pass, 4, BLOCK, lambda: (_ints(8, 0, 2**30, 512), 4, np.zeros(512, np.int32))),
    (spmv_warp, 16, BLOCK, _sparse),
    (monte_carlo_pi, 4, 96, lambda: (np.zeros(1, np.int64), 50)),
    (lu, 12, (8, 8), lambda: (_random(9).normal(size=(12, 8, 8)).astype(np.float32),)),
    (prefix_max, 3, 160, lambda: (_ints(12, -(2**20), 2**20, 450), np.zeros(450, np.int32))),
    (find_words, 8, BLOCK, _words),
    (life_steps, 4, (TILE, TILE), lambda: (_ints(13, 0, 2, (4, 16, 16), np.uint8), np.zeros((4, 16, 16), np.uint8), 7)),
    (walsh, 4, BLOCK, lambda: (_ints(14, -50, 50, 1024, np.float32),)),
    (
        kmeans, 4, BLOCK,
        lambda: (
            _random(15).random((500, 3), np.float32), _random(16).random((7, 3), np.float32),
            np.zeros(500, np.int32), np.zeros(7, np.int32), np.zeros((7, 3), np.int64),
        ),
    ),
    (queens, 2, 32, lambda: (7, np.zeros(64, np.int32))),
    (
        last_block_sum, 6, BLOCK,
        lambda: (_ints(17, -99, 99, 3000), np.zeros(6, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)),
    ),
    (histogram_match, 4, BLOCK, lambda: (_ints(18, 0, 12, 500), np.zeros(12, np.int32))),
    (
        atomics64, 4, 64,
        lambda: (
            _ints(19, 0, 2**40, 256, np.int64), np.zeros(8, np.int64), np.full(4, 2**60), np.zeros(6, np.int64),
            np.zeros(16, np.uint64), np.zeros(5, np.float32),
        ),
    ),
    (
        collide, 4, 96,
        lambda: (_ints(20, 0, 2**32, 384, np.uint32), np.zeros(384, np.int64), _ints(21, 0, 256, 12), 40),
    ),
)  # fmt: skip
