"""Kernels that make the compiler emit many kinds of instructions, each with a seeded launch.

``LAUNCHES`` lists them; the machine code that Numba made of each for sm_90, and what an H200 computed and counted,
are beside this file (see README.md there).  Sizes are small, so that files are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

TILE = 16
PADDED = TILE + 1
BLOCK = 128
FULL = 0xFFFFFFFF


def scan(values, sums, out):
    """Inclusive prefix sum of each block in shared memory (Hillis and Steele, two buffers)."""
    buffer = cuda.shared.array((2, BLOCK), int32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    buffer[0, tid] = values[i] if i < values.size else 0
    cuda.syncthreads()
    current = 0
    offset = 1
    while offset < BLOCK:
        following = 1 - current
        if tid >= offset:
            buffer[following, tid] = buffer[current, tid] + buffer[current, tid - offset]
        else:
            buffer[following, tid] = buffer[current, tid]
        cuda.syncthreads()
        current = following
        offset *= 2
    if i < out.size:
        out[i] = buffer[current, tid]
    if tid == BLOCK - 1:
        sums[cuda.blockIdx.x] = buffer[current, tid]


def transpose(a, b):
    """A tile through shared memory; the extra column avoids bank conflicts."""
    tile = cuda.shared.array((TILE, PADDED), float32)
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    if y < b.shape[0] and x < b.shape[1]:
        b[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def transpose_conflicts(a, b):
    """The same with a square tile: every column access hits one bank."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    b[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def histogram(values, bins):
    """Atomics in shared memory, then one per bin in global memory."""
    local = cuda.shared.array(64, int32)
    tid = cuda.threadIdx.x
    if tid < 64:
        local[tid] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < values.size:
        cuda.atomic.add(local, values[i] & 63, 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if tid < 64:
        cuda.atomic.add(bins, tid, local[tid])


def matmul(a, b, c):
    """Tiled matrix product in float32."""
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for k in range(0, a.shape[1], TILE):
        ta[ty, tx] = a[y, k + tx] if y < a.shape[0] and k + tx < a.shape[1] else 0.0
        tb[ty, tx] = b[k + ty, x] if x < b.shape[1] and k + ty < b.shape[0] else 0.0
        cuda.syncthreads()
        for j in range(TILE):
            total += ta[ty, j] * tb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def mandelbrot(out, limit):
    """Iterations until |z| > 2: lanes leave the loop one by one."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        cr = float32(-2.0) + float32(3.0) * float32(x) / float32(out.shape[1])
        ci = float32(-1.5) + float32(3.0) * float32(y) / float32(out.shape[0])
        zr = float32(0.0)
        zi = float32(0.0)
        count = 0
        while count < limit:
            rr = zr * zr
            ii = zi * zi
            if rr + ii > float32(4.0):
                break
            zi = float32(2.0) * zr * zi + ci
            zr = rr - ii + cr
            count += 1
        out[y, x] = count


def bitonic_sort(values):
    """Each block sorts its part in shared memory."""
    part = cuda.shared.array(BLOCK, int32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    part[tid] = values[i]
    cuda.syncthreads()
    k = 2
    while k <= BLOCK:
        j = k // 2
        while j > 0:
            other = tid ^ j
            if other > tid:
                ascending = (tid & k) == 0
                a = part[tid]
                b = part[other]
                if (a > b) == ascending:
                    part[tid] = b
                    part[other] = a
            cuda.syncthreads()
            j //= 2
        k *= 2
    values[i] = part[tid]


def float64_arithmetic(x, y, out):
    """Sum, product, quotient, square root, comparison in double precision."""
    i = cuda.grid(1)
    if i < out.size:
        a = x[i]
        b = y[i]
        total = a + b
        total -= a * b
        total += a / b
        total += math.sqrt(abs(a))
        if a > b:
            total = total * 0.5
        out[i] = min(total, a) + max(total, b)


def float32_arithmetic(x, y, out):
    """The same in single precision: division and square root have slow paths of their own."""
    i = cuda.grid(1)
    if i < out.size:
        a = x[i]
        b = y[i]
        total = a + b
        total -= a * b
        total += a / b
        total += math.sqrt(abs(a))
        if a > b:
            total = total * float32(0.5)
        out[i] = min(total, a) + max(total, b)


def float16_arithmetic(x, y, out):
    """Half precision."""
    i = cuda.grid(1)
    if i < out.size:
        a = x[i]
        b = y[i]
        out[i] = a * b + a - b


def division64(x, y, quotients, remainders):
    """Signed 64-bit floor division and modulo: subroutines in machine code."""
    i = cuda.grid(1)
    if i < x.size:
        quotients[i] = x[i] // y[i]
        remainders[i] = x[i] % y[i]


def division_unsigned64(x, y, quotients, remainders):
    """Unsigned 64-bit division, and by a constant."""
    i = cuda.grid(1)
    if i < x.size:
        quotients[i] = x[i] // y[i]
        remainders[i] = x[i] % y[i] + x[i] // uint64(1000003)


def division32(x, y, quotients, remainders):
    """True division of int32, floor division through int64."""
    i = cuda.grid(1)
    if i < x.size:
        quotients[i] = x[i] // y[i]
        remainders[i] = x[i] / y[i]


def math_float32(x, out):
    """Single-precision library functions."""
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i, 0] = math.sin(v)
        out[i, 1] = math.cos(v)
        out[i, 2] = math.exp(v)
        out[i, 3] = math.log(abs(v))
        out[i, 4] = math.tanh(v)
        out[i, 5] = math.atan(v)
        out[i, 6] = math.pow(abs(v), float32(1.5))
        out[i, 7] = math.floor(v) + math.ceil(v)


def math_float64(x, out):
    """Double-precision library functions."""
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i, 0] = math.sin(v)
        out[i, 1] = math.exp(v)
        out[i, 2] = math.log(abs(v))
        out[i, 3] = math.tanh(v)
        out[i, 4] = math.sqrt(abs(v))


def local_array(x, out):
    """An array per thread, indexed by data, so that it lives in local memory."""
    i = cuda.grid(1)
    if i < x.size:
        bins = cuda.local.array(16, int32)
        for k in range(16):
            bins[k] = k
        value = x[i]
        for _ in range(8):
            bins[value & 15] += value
            value >>= 3
        total = 0
        for k in range(16):
            total = total * 3 + bins[(k * 7 + x[i]) & 15]
        out[i] = total


@cuda.jit(device=True)
def gcd(a, b):
    """Euclid's algorithm."""
    while b != 0:
        a, b = b, a % b
    return a


@cuda.jit(device=True)
def mix(value, rounds):
    """A few rounds of an integer hash."""
    for _ in range(rounds):
        value ^= value >> uint32(16)
        value = uint32(value * uint32(0x45D9F3B))
    return value


def device_functions(x, y, out):
    """Calls of device functions, with loops of their own."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = gcd(x[i], y[i]) + int64(mix(uint32(x[i]), 1 + (i & 3)))


def switch(x, out):
    """A chain of cases."""
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        case = v & 7
        if case == 0:
            r = v + 1
        elif case == 1:
            r = v * 3
        elif case == 2:
            r = v - 7
        elif case == 3:
            r = v ^ 0x55
        elif case == 4:
            r = v << 2
        elif case == 5:
            r = v >> 1
        elif case == 6:
            r = -v
        else:
            r = 0
        out[i] = r


def votes(x, out):
    """Ballot, any, all, match and population counts."""
    i = cuda.grid(1)
    v = x[i]
    lane = cuda.laneid
    mask = cuda.ballot_sync(FULL, v & 1)
    out[i, 0] = mask
    out[i, 1] = cuda.popc(mask)
    out[i, 2] = cuda.any_sync(FULL, v > 90)
    out[i, 3] = cuda.all_sync(FULL, v > 5)
    out[i, 4] = cuda.eq_sync(FULL, v > 200)
    out[i, 5] = cuda.match_any_sync(FULL, v & 3)
    same, uniform = cuda.match_all_sync(FULL, v >> 20)
    out[i, 6] = same + (1 if uniform else 0)
    out[i, 7] = cuda.ffs(mask) + lane


def shuffles(x, out):
    """Butterfly sum, scan by shuffling up, broadcast, rotation."""
    i = cuda.grid(1)
    lane = cuda.laneid
    total = x[i]
    offset = 16
    while offset > 0:
        total += cuda.shfl_xor_sync(FULL, total, offset)
        offset //= 2
    prefix = x[i]
    offset = 1
    while offset < 32:
        other = cuda.shfl_up_sync(FULL, prefix, offset)
        if lane >= offset:
            prefix += other
        offset *= 2
    out[i, 0] = total
    out[i, 1] = prefix
    out[i, 2] = cuda.shfl_sync(FULL, x[i], 5)
    out[i, 3] = cuda.shfl_sync(FULL, x[i], (lane + 1) & 31)


def shuffle_float64(x, out):
    """A shuffle of doubles takes two of 32 bits."""
    i = cuda.grid(1)
    total = x[i]
    offset = 16
    while offset > 0:
        total = max(total, cuda.shfl_down_sync(FULL, total, offset))
        offset //= 2
    out[i] = total


def nested_loops(x, out):
    """Nested divergent loops with break, continue and an early return."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    v = x[i]
    if v % 11 == 0:
        out[i] = -1
        return
    total = 0
    for a in range(v % 7 + 1):
        if a == 4:
            break
        for b in range(a, v % 13):
            if (a + b) % 3 == 0:
                continue
            if b > 9:
                break
            total += a * b + 1
        else:
            total += 100
    out[i] = total


def early_exit_barrier(x, out):
    """Some threads leave before the barrier that the others pass."""
    buffer = cuda.shared.array(BLOCK, int32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    buffer[tid] = x[i]
    cuda.syncthreads()
    if tid % 3 == 2:
        return
    value = buffer[(tid + 1) % BLOCK]
    cuda.syncthreads()
    buffer[tid] = value * 2
    cuda.syncthreads()
    out[i] = buffer[tid] + buffer[0]


def barrier_votes(x, out):
    """Barriers that count and vote."""
    i = cuda.grid(1)
    v = x[i]
    out[i, 0] = cuda.syncthreads_count(v & 1)
    out[i, 1] = cuda.syncthreads_and(1 if v > 3 else 0)
    out[i, 2] = cuda.syncthreads_or(1 if v > 97 else 0)


def atomics_int(x, a32, a64, u32):
    """Integer atomics on global memory, many lanes on one address."""
    i = cuda.grid(1)
    v = x[i]
    slot = v & 7
    cuda.atomic.add(a32, slot, v)
    cuda.atomic.max(a32, 8 + slot, v)
    cuda.atomic.min(a32, 16 + slot, v)
    cuda.atomic.add(a64, slot, int64(v))
    cuda.atomic.max(a64, 8 + slot, int64(v))
    cuda.atomic.or_(u32, slot, uint32(v))
    cuda.atomic.and_(u32, 8 + slot, uint32(v))
    cuda.atomic.xor(u32, 16 + slot, uint32(v))
    cuda.atomic.inc(u32, 24 + slot, uint32(1000000))


def atomics_shared(x, out):
    """Atomics in shared memory, compare-and-swap and exchange by one lane."""
    cells = cuda.shared.array(8, int32)
    tid = cuda.threadIdx.x
    if tid < 8:
        cells[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(cells, x[cuda.grid(1)] & 3, 1)
    cuda.atomic.max(cells, 4, x[cuda.grid(1)])
    cuda.syncthreads()
    if tid == 0:
        cells[5] = cuda.atomic.cas(cells, 4, cells[4], 7)
        cells[6] = cuda.atomic.exch(cells, 0, 3)
    cuda.syncthreads()
    if tid < 8:
        out[cuda.blockIdx.x, tid] = cells[tid]


def conversions(f, d, i, out_int, out_float):
    """Casts between widths, signs and floats."""
    t = cuda.grid(1)
    if t < f.size:
        out_int[t, 0] = int8(i[t])
        out_int[t, 1] = uint8(i[t])
        out_int[t, 2] = int16(i[t])
        out_int[t, 3] = uint16(i[t])
        out_int[t, 4] = int32(f[t])
        out_int[t, 5] = uint32(abs(f[t]))
        out_int[t, 6] = int64(d[t])
        out_int[t, 7] = round(d[t])
        out_float[t, 0] = float32(i[t])
        out_float[t, 1] = float64(i[t])
        out_float[t, 2] = float32(d[t])
        out_float[t, 3] = float64(f[t])
        out_float[t, 4] = float64(uint64(i[t]))


def small_integers(a, b, out):
    """Arithmetic on 8- and 16-bit elements."""
    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] * b[i]
        out[i, 2] = a[i] >> 2
        out[i, 3] = (a[i] ^ b[i]) & 0x3F


def bits(x, out):
    """Bit counting, reversal, funnel shifts by rotation."""
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i, 0] = cuda.popc(v)
        out[i, 1] = cuda.clz(v)
        out[i, 2] = cuda.brev(v)
        out[i, 3] = cuda.ffs(v)
        out[i, 4] = uint32((v << uint32(7)) | (v >> uint32(25)))


TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3], np.int32)


def constant_table(x, out):
    """A table in constant memory, indexed by data."""
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    if i < x.size:
        out[i] = table[x[i] & 15] * 10 + table[i & 15]


def three_dimensions(out):
    """A 3-d grid of 3-d blocks."""
    x, y, z = cuda.grid(3)
    if x < out.shape[2] and y < out.shape[1] and z < out.shape[0]:
        out[z, y, x] = x + 100 * y + 10000 * z + 1000000 * cuda.blockDim.y + cuda.gridDim.z


def stencil(a, b, rounds):
    """Five-point stencil with guards, several rounds of reads per thread."""
    x, y = cuda.grid(2)
    if 0 < x < a.shape[1] - 1 and 0 < y < a.shape[0] - 1:
        total = float32(0.0)
        for _ in range(rounds):
            total += a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x] - float32(4.0) * a[y, x]
        b[y, x] = total


def xorshift(seeds, out, rounds):
    """A 64-bit random number generator: shifts, and a product's high bits."""
    i = cuda.grid(1)
    if i < seeds.size:
        s = seeds[i]
        for _ in range(rounds):
            s ^= s << uint64(13)
            s ^= s >> uint64(7)
            s ^= s << uint64(17)
        out[i] = s * uint64(0x2545F4914F6CDD1D)


def dynamic_shared(x, out):
    """Reverse a block through dynamic shared memory."""
    buffer = cuda.shared.array(0, int64)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    buffer[tid] = x[i]
    cuda.syncthreads()
    out[i] = buffer[cuda.blockDim.x - 1 - tid]


def strided(x, out, stride):
    """Scattered accesses: one sector per lane at stride 8 and above."""
    i = cuda.grid(1)
    out[(i * stride) % out.size] = x[(i * stride) % x.size] + 1


def while_primes(limit, out):
    """Trial division: deep divergence, uniform bounds."""
    i = cuda.grid(1)
    if i < limit:
        prime = i > 1
        d = 2
        while d * d <= i:
            if i % d == 0:
                prime = False
                break
            d += 1
        out[i] = 1 if prime else 0


def float_special(x, y, out):
    """Minimum, maximum, fused multiply-add and tests on special values."""
    i = cuda.grid(1)
    if i < x.size:
        a = x[i]
        b = y[i]
        out[i, 0] = min(a, b)
        out[i, 1] = max(a, b)
        out[i, 2] = cuda.fma(a, b, a)
        out[i, 3] = 1.0 if math.isnan(a) else 0.0
        out[i, 4] = 1.0 if math.isinf(b) else 0.0
        out[i, 5] = abs(a) + (-b)
        out[i, 6] = 1.0 if a < b else 2.0 if a == b else 3.0


@dataclass(frozen=True)
class Launch:
    """How to launch one kernel: ``args()`` makes the same arguments every time."""

    kernel: Callable[..., None]
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: Callable[[], tuple[Any, ...]]
    shared_bytes: int = 0

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.__name__


def _ints(n: int, low: int = -1000, high: int = 1000, dtype: Any = np.int32, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(low, high, n).astype(dtype)


def _floats(n: int | tuple[int, ...], dtype: Any = np.float32, seed: int = 2, scale: float = 3.0) -> Any:
    return (np.random.default_rng(seed).standard_normal(n) * scale).astype(dtype)


def _special(dtype: Any, n: int, seed: int) -> Any:
    values = _floats(n, dtype, seed)
    info = np.finfo(dtype)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny / 4, -info.tiny, info.max, 1.0, -1.0]
    values[np.random.default_rng(seed).integers(0, n, n // 2)] = np.array(edges, dtype)[np.arange(n // 2) % 10]
    return values


def _zeros(shape: int | tuple[int, ...], dtype: Any = np.int32) -> Any:
    return np.zeros(shape, dtype)


def _nonzero(n: int, dtype: Any, seed: int) -> Any:
    info = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    wide = rng.integers(info.min, info.max, n, dtype=dtype)
    narrow = rng.integers(1, 1000, n).astype(dtype)
    mixed = np.where(rng.random(n) < 0.5, wide, narrow)
    return np.where(mixed == 0, dtype(1), mixed)


N = 1024

LAUNCHES: tuple[Launch, ...] = (
    Launch(scan, 8, BLOCK, lambda: (_ints(1000), _zeros(8), _zeros(1000))),
    Launch(transpose, (3, 4), (TILE, TILE), lambda: (_floats((60, 45)), _zeros((45, 60), np.float32))),
    Launch(transpose_conflicts, (2, 2), (32, 32), lambda: (_floats((64, 64)), _zeros((64, 64), np.float32))),
    Launch(histogram, 4, BLOCK, lambda: (_ints(5000, 0, 256, np.uint8), _zeros(64))),
    Launch(
        matmul,
        (3, 3),
        (TILE, TILE),
        lambda: (_floats((40, 50)), _floats((50, 44), seed=3), _zeros((40, 44), np.float32)),
    ),
    Launch(mandelbrot, (3, 6), (16, 8), lambda: (_zeros((48, 48)), 100)),
    Launch(bitonic_sort, 8, BLOCK, lambda: (_ints(N),)),
    Launch(
        float64_arithmetic, 8, BLOCK,
        lambda: (_special(np.float64, N, 4), _special(np.float64, N, 5), _zeros(N, np.float64)),
    ),
    Launch(
        float32_arithmetic, 8, BLOCK,
        lambda: (_special(np.float32, N, 4), _special(np.float32, N, 5), _zeros(N, np.float32)),
    ),
    Launch(
        float16_arithmetic, 8, BLOCK,
        lambda: (_special(np.float16, N, 4), _special(np.float16, N, 5), _zeros(N, np.float16)),
    ),
    Launch(
        division64, 8, BLOCK,
        lambda: (_nonzero(N, np.int64, 6), _nonzero(N, np.int64, 7), _zeros(N, np.int64), _zeros(N, np.int64)),
    ),
    Launch(
        division_unsigned64, 8, BLOCK,
        lambda: (_nonzero(N, np.uint64, 6), _nonzero(N, np.uint64, 7), _zeros(N, np.uint64), _zeros(N, np.uint64)),
    ),
    Launch(
        division32, 8, BLOCK,
        lambda: (_nonzero(N, np.int32, 6), _nonzero(N, np.int32, 7), _zeros(N, np.int32), _zeros(N, np.float64)),
    ),
    Launch(math_float32, 8, BLOCK, lambda: (_floats(N, scale=8.0), _zeros((N, 8), np.float32))),
    Launch(math_float64, 8, BLOCK, lambda: (_floats(N, np.float64, scale=8.0), _zeros((N, 5), np.float64))),
    Launch(local_array, 8, BLOCK, lambda: (_ints(N, 0, 2**30), _zeros(N))),
    Launch(device_functions, 8, BLOCK, lambda: (_ints(N, 1, 10**6), _ints(N, 1, 10**6, seed=9), _zeros(N, np.int64))),
    Launch(switch, 8, BLOCK, lambda: (_ints(1000), _zeros(1000))),
    Launch(votes, 8, BLOCK, lambda: (_ints(N, 0, 100), _zeros((N, 8)))),
    Launch(shuffles, 8, BLOCK, lambda: (_ints(N), _zeros((N, 4)))),
    Launch(shuffle_float64, 8, BLOCK, lambda: (_floats(N, np.float64), _zeros(N, np.float64))),
    Launch(nested_loops, 8, BLOCK, lambda: (_ints(1000, 0, 10000), _zeros(1000))),
    Launch(early_exit_barrier, 8, BLOCK, lambda: (_ints(N), _zeros(N))),
    Launch(barrier_votes, 8, BLOCK, lambda: (_ints(N, 0, 100), _zeros((N, 3)))),
    Launch(
        atomics_int, 8, BLOCK,
        lambda: (_ints(N), _zeros(24), _zeros(16, np.int64), np.full(32, 0xFF00FF00, np.uint32)),
    ),
    Launch(atomics_shared, 8, BLOCK, lambda: (_ints(N), _zeros((8, 8)))),
    Launch(
        conversions, 8, BLOCK,
        lambda: (
            _floats(N, scale=1e5), _floats(N, np.float64, scale=1e9), _ints(N, -(2**62), 2**62, np.int64),
            _zeros((N, 8), np.int64), _zeros((N, 5), np.float64),
        ),
    ),
    Launch(
        small_integers, 8, BLOCK,
        lambda: (_ints(N, -128, 128, np.int8), _ints(N, 0, 60000, np.uint16), _zeros((N, 4), np.int16)),
    ),
    Launch(bits, 8, BLOCK, lambda: (_ints(N, 0, 2**32, np.uint32), _zeros((N, 5), np.uint32))),
    Launch(constant_table, 8, BLOCK, lambda: (_ints(N), _zeros(N))),
    Launch(three_dimensions, (2, 3, 4), (8, 4, 3), lambda: (_zeros((11, 10, 13), np.int64),)),
    Launch(stencil, (4, 8), (16, 8), lambda: (_floats((60, 61)), _zeros((60, 61), np.float32), 3)),
    Launch(xorshift, 8, BLOCK, lambda: (_nonzero(N, np.uint64, 8), _zeros(N, np.uint64), 20)),
    Launch(dynamic_shared, 8, BLOCK, lambda: (_ints(N, dtype=np.int64), _zeros(N, np.int64)), 8 * BLOCK),
    Launch(strided, 8, BLOCK, lambda: (_ints(16 * N), _zeros(16 * N), 16)),
    Launch(while_primes, 8, BLOCK, lambda: (1000, _zeros(N))),
    Launch(
        float_special, 8, BLOCK,
        lambda: (_special(np.float32, N, 4), _special(np.float32, N, 5), _zeros((N, 7), np.float32)),
    ),
)  # fmt: skip
"""Every launch, in no particular order; names are unique."""
