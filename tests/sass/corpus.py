"""Launches of the corpus, ordinary CUDA C kernels (tests/data/sass/corpus): arguments and, by NumPy, results.

``launches()`` gives fresh arguments from fixed seeds; ``Launch.expected`` maps argument numbers to what they must
hold afterwards.
"""

from __future__ import annotations

import hashlib
import itertools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.sass.launches import float16, float32, float64, integers

Array = npt.NDArray[Any]
FILES = ("algorithms", "intrinsics", "cooperation")
N = 256


@dataclass
class Launch:
    """One launch.  ``tolerance``: relative error that the compiler's freedom to fuse and reorder allows floats."""

    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: list[Any]
    expected: dict[int, Array] = field(default_factory=dict)
    shared: int = 0
    tolerance: float = 0
    since: int = 75


def _random(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed)


def _ints(seed: int, n: int = N, low: int = 0, high: int = 256, dtype: str = "i4") -> Array:
    return _random(seed).randint(low, high, n).astype(dtype)


def _floats(seed: int, n: int, dtype: str = "f4") -> Array:
    return _random(seed).rand(n).astype(dtype)


def _zeros(n: int, dtype: str = "i4") -> Array:
    return np.zeros(n, dtype)


def _scan(launches: list[Launch]) -> None:
    a = _ints(1, 1024)
    blocks = a.reshape(4, 256)
    sums = blocks.cumsum(1, dtype="i4")
    launches.append(
        Launch(
            "algorithms", "scan_shuffle", (4,), (256,), [a, _zeros(1024), _zeros(4)], {1: sums.ravel(), 2: sums[:, -1]}
        )
    )
    f = _ints(2, 512, 0, 100).astype("f4")
    exclusive = f.reshape(2, 256).cumsum(1) - f.reshape(2, 256)
    launches.append(
        Launch("algorithms", "scan_blelloch", (2,), (128,), [f, _zeros(512, "f4")], {1: exclusive.ravel()}, shared=1024)
    )


def _matrices(launches: list[Launch]) -> None:
    w, h = 70, 45
    for name, dtype in (("u8", "u1"), ("f64", "f8")):
        a = _ints(3, w * h).astype(dtype)
        launches.append(
            Launch(
                "algorithms",
                f"transpose_{name}",
                (3, 2),
                (32, 8),
                [a, _zeros(w * h, dtype), np.int32(w), np.int32(h)],
                {1: a.reshape(h, w).T.ravel()},
            )
        )
    n = 40
    for name, dtype, block in (
        ("i32", "i4", 16),
        ("f32", "f4", 16),
        ("f64", "f8", 8),
        ("f16", "f2", 16),
        ("i64", "i8", 8),
    ):
        high = 4 if dtype == "f2" else 1000
        a, b = (_ints(seed, n * n, -high, high).astype(dtype) for seed in (4, 5))
        product = a.reshape(n, n).astype("i8") @ b.reshape(n, n).astype("i8")
        grid = -(-n // block)
        launches.append(
            Launch(
                "algorithms",
                f"matmul_{name}",
                (grid, grid),
                (block, block),
                [a, b, _zeros(n * n, dtype), np.int32(n)],
                {2: product.astype(dtype).ravel()},
            )
        )


def _sorting(launches: list[Launch]) -> None:
    a = _ints(6, 512, -1000, 1000)
    launches.append(
        Launch("algorithms", "bitonic_sort", (2,), (256,), [a], {0: np.sort(a.reshape(2, 256)).ravel()}, shared=1024)
    )
    u = integers(7, 512, "i4").view("u4")
    launches.append(Launch("algorithms", "radix_sort", (2,), (256,), [u], {0: np.sort(u.reshape(2, 256)).ravel()}))
    p, q = np.sort(_ints(8, 200)), np.sort(_ints(9, 200))
    launches.append(
        Launch(
            "algorithms",
            "merge_path",
            (4,),
            (128,),
            [p, q, _zeros(400), np.int32(200)],
            {2: np.sort(np.concatenate([p, q]))},
        )
    )
    lists = _ints(10, 64 * 20, -50, 50)
    launches.append(
        Launch(
            "algorithms", "quicksort", (2,), (32,), [lists, np.int32(20)], {0: np.sort(lists.reshape(64, 20)).ravel()}
        )
    )
    x = _ints(11, 500)
    launches.append(
        Launch(
            "algorithms",
            "compaction",
            (1,),
            (32,),
            [x[:20].copy(), _zeros(20), _zeros(1), np.int32(20)],
            {
                1: np.resize(np.concatenate([x[:20][x[:20] % 3 == 0], _zeros(20)]), 20),
                2: np.array([(x[:20] % 3 == 0).sum()], "i4"),
            },
        )
    )


def _counting(launches: list[Launch]) -> None:
    text = _ints(12, 2048, 0, 256, "u1")
    counts = np.bincount(text, minlength=256).astype("u4")
    launches.append(
        Launch("algorithms", "histogram_shared", (2,), (128,), [text, _zeros(256, "u4"), np.int32(2048)], {1: counts})
    )
    few = _ints(13, 500, 0, 20, "u1")
    launches.append(
        Launch(
            "algorithms",
            "histogram_match",
            (4,),
            (128,),
            [few, _zeros(256, "u4"), np.int32(500)],
            {1: np.bincount(few, minlength=256).astype("u4")},
        )
    )
    letters = _ints(14, 600, 97, 100, "i1")
    word = letters[100:104].copy()
    found = np.array([letters[i : i + 4].tobytes() == word.tobytes() for i in range(597)])
    launches.append(
        Launch(
            "algorithms",
            "string_search",
            (5,),
            (128,),
            [letters, word, _zeros(597), np.int32(600), np.int32(4)],
            {2: found.astype("i4")},
        )
    )
    keys = np.unique(_ints(15, 150, 0, 1 << 30, "u4"))
    launches.append(
        Launch(
            "algorithms",
            "hash_insert",
            (3,),
            (64,),
            [keys, np.full(256, 2**32 - 1, "u4"), _zeros(len(keys), "u4"), np.int32(len(keys)), np.uint32(255)],
            {2: keys},
        )
    )
    inside = _inside_circle(256, 20)
    launches.append(
        Launch(
            "algorithms", "monte_carlo", (2,), (128,), [_zeros(1, "u4"), np.int32(20)], {0: np.array([inside], "u4")}
        )
    )


def _inside_circle(threads: int, trials: int) -> int:
    s = np.arange(threads, dtype="u8") * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    count = 0
    for _ in range(trials):
        s ^= s << np.uint64(13)
        s ^= s >> np.uint64(7)
        s ^= s << np.uint64(17)
        x, y = (
            (s >> np.uint64(shift)).astype("u4").astype("f4").astype("f8") * np.float32(2.3283064e-10)
            for shift in (0, 32)
        )
        count += int((x * x + y * y <= 1).sum())
    return count


def _images(launches: list[Launch]) -> None:
    launches.append(
        Launch(
            "algorithms",
            "mandelbrot",
            (3, 3),
            (16, 8),
            [_zeros(40 * 20, "u1"), np.int32(40), np.int32(20), np.int32(50)],
        )
    )
    launches.append(
        Launch(
            "algorithms",
            "julia_f64",
            (3, 3),
            (16, 8),
            [_zeros(40 * 20), np.int32(40), np.int32(20), np.float64(-0.8), np.float64(0.156)],
        )
    )
    w, h = 50, 21
    world = _ints(16, w * h, 0, 2, "u1")
    g = world.reshape(h, w)
    around = sum(np.roll(g, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)
    launches.append(
        Launch(
            "algorithms",
            "life",
            (4, 3),
            (16, 8),
            [world, _zeros(w * h, "u1"), np.int32(w), np.int32(h)],
            {1: ((around == 3) | ((around == 2) & (g == 1))).astype("u1").ravel()},
        )
    )
    colours = _ints(17, 3 * 300, 0, 256, "u1")
    launches.append(Launch("algorithms", "rgb_to_gray", (3,), (128,), [colours, _zeros(300, "u1"), np.int32(300)]))
    launches.append(
        Launch(
            "algorithms",
            "bilinear",
            (4, 4),
            (16, 8),
            [
                _ints(18, 20 * 16, 0, 256, "u1"),
                _zeros(50 * 30, "u1"),
                np.int32(20),
                np.int32(16),
                np.int32(50),
                np.int32(30),
            ],
        )
    )
    a = _floats(19, 70 * 20)
    edge = np.pad(a.reshape(20, 70).astype("f8"), 1, mode="edge")
    blurred = 0.5 * edge[1:-1, 1:-1] + 0.125 * (edge[1:-1, :-2] + edge[1:-1, 2:] + edge[:-2, 1:-1] + edge[2:, 1:-1])
    launches.append(
        Launch(
            "algorithms",
            "stencil_2d",
            (3, 3),
            (32, 8),
            [a, _zeros(1400, "f4"), np.int32(70), np.int32(20)],
            {1: blurred.ravel().astype("f4")},
            tolerance=1e-6,
        )
    )
    n = 10
    v = _floats(20, n**3, "f8").reshape(n, n, n)
    inner = (
        v[1:-1, 1:-1, :-2]
        + v[1:-1, 1:-1, 2:]
        + v[1:-1, :-2, 1:-1]
        + v[1:-1, 2:, 1:-1]
        + v[:-2, 1:-1, 1:-1]
        + v[2:, 1:-1, 1:-1]
    ) / 6
    result = np.zeros_like(v)
    result[1:-1, 1:-1, 1:-1] = inner - v[1:-1, 1:-1, 1:-1]
    launches.append(
        Launch(
            "algorithms",
            "stencil_3d",
            (n, n),
            (n,),
            [v.ravel().copy(), _zeros(n**3, "f8"), np.int32(n)],
            {1: result.ravel()},
            tolerance=1e-12,
        )
    )
    f = np.array([0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05], "f4").astype("f8")
    s = _floats(21, 300)
    smooth = np.convolve(s.astype("f8"), f, "same") * f[np.arange(300) % 7]
    launches.append(
        Launch(
            "algorithms",
            "convolution",
            (3,),
            (128,),
            [s, _zeros(300, "f4"), np.int32(300)],
            {1: smooth.astype("f4")},
            tolerance=1e-6,
        )
    )


def _numbers(launches: list[Launch]) -> None:
    a, b = _ints(22, N, -5000, 5000), _ints(23, N, -5000, 5000)
    launches.append(Launch("algorithms", "gcd", (2,), (128,), [a, b, _zeros(N)], {2: np.gcd(a, b)}))
    launches.append(Launch("algorithms", "philox", (2,), (128,), [_zeros(4 * N, "u4"), np.uint32(7)]))
    start = _ints(24, N, 1, 3000, "u4")
    launches.append(
        Launch(
            "algorithms",
            "collatz",
            (2,),
            (128,),
            [start, _zeros(N, "u4")],
            {1: np.array([_collatz(int(v)) for v in start], "u4")},
        )
    )
    base, exponent = integers(25, 64, "i8").view("u8"), integers(26, 64, "i8").view("u8")
    modulus = 4294967291
    powers = np.array([pow(int(p), int(e) & 0xFFFF, modulus) for p, e in zip(base, exponent, strict=True)], "u8")
    launches.append(
        Launch(
            "algorithms",
            "modular_power",
            (2,),
            (32,),
            [base, exponent, _zeros(64, "u8"), np.uint64(modulus)],
            {2: powers},
        )
    )
    p, q = (integers(seed, 8 * 64, "i4").view("u4") for seed in (27, 28))
    total = b"".join(
        ((int.from_bytes(x.tobytes(), "little") + int.from_bytes(y.tobytes(), "little")) % 2**256).to_bytes(
            32, "little"
        )
        for x, y in zip(p.reshape(64, 8), q.reshape(64, 8), strict=True)
    )
    launches.append(
        Launch("algorithms", "big_sum", (2,), (32,), [p, q, _zeros(512, "u4")], {2: np.frombuffer(total, "u4")})
    )
    text = _ints(29, 32 * 64, 0, 256, "u1")
    digests = b"".join(hashlib.sha256(row.tobytes()).digest() for row in text.reshape(64, 32))
    launches.append(
        Launch(
            "algorithms",
            "sha256",
            (2,),
            (32,),
            [text, _zeros(512, "u4")],
            {1: np.frombuffer(digests, ">u4").astype("u4")},
        )
    )
    sums = np.array([zlib.crc32(row.tobytes()) for row in text.reshape(64, 32)], "u4")
    launches.append(Launch("algorithms", "crc32", (2,), (32,), [text, _zeros(64, "u4"), np.int32(32)], {1: sums}))
    x, y = _ints(30, 64 * 12, 97, 100, "u1"), _ints(31, 64 * 12, 97, 100, "u1")
    distances = np.array(
        [_levenshtein(bytes(p), bytes(q)) for p, q in zip(x.reshape(64, 12), y.reshape(64, 12), strict=True)], "i4"
    )
    launches.append(Launch("algorithms", "levenshtein", (2,), (32,), [x, y, _zeros(64), np.int32(12)], {2: distances}))
    launches.append(
        Launch(
            "algorithms",
            "queens",
            (2,),
            (32,),
            [_zeros(64), np.int32(7)],
            {0: np.array([_queens(t // 7, t % 7, 7) for t in range(64)], "i4")},
        )
    )


def _collatz(v: int) -> int:
    steps = 0
    while v > 1:
        v = 3 * v + 1 if v & 1 else v >> 1
        steps += 1
    return steps


def _levenshtein(a: bytes, b: bytes) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        above, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            above, row[j + 1] = row[j + 1], min(row[j] + 1, row[j + 1] + 1, above + (x != y))
    return row[-1]


def _queens(first: int, second: int, n: int) -> int:
    def count(placed: tuple[int, ...]) -> int:
        if len(placed) == n:
            return 1
        row = len(placed)
        fits = [c for c in range(n) if all(c != p and abs(c - p) != row - r for r, p in enumerate(placed))]
        return sum(count((*placed, c)) for c in fits)

    return count((first, second)) if first < n and first != second and abs(first - second) != 1 else 0


def _physics(launches: list[Launch]) -> None:
    bodies = _floats(32, 128 * 4)
    p = bodies.reshape(128, 4).astype("f8")
    delta = p[None, :, :3] - p[:, None, :3]
    r = (delta**2).sum(2) + np.float32(0.01)
    force = (delta * (p[None, :, 3] / (r * np.sqrt(r)))[:, :, None]).sum(1)
    launches.append(
        Launch(
            "algorithms",
            "nbody",
            (2,),
            (64,),
            [bodies, _zeros(3 * 128, "f4"), np.int32(128)],
            {1: force.astype("f4").ravel()},
            tolerance=1e-4,
        )
    )
    signal = _floats(33, 1024)
    spectrum = np.fft.fft(signal.view("c8").reshape(2, 256)).astype("c8")
    launches.append(
        Launch("algorithms", "fft_256", (2,), (128,), [signal], {0: spectrum.ravel().view("f4")}, tolerance=1e-4)
    )
    rows = np.concatenate([[0], np.cumsum(_ints(34, 60, 0, 20))]).astype("i4")
    columns, values, x = _ints(35, rows[-1], 0, 60), _floats(36, rows[-1], "f8"), _floats(37, 60, "f8")
    y = np.array([(values[i:j] * x[columns[i:j]]).sum() for i, j in itertools.pairwise(rows)])
    launches.append(
        Launch(
            "algorithms",
            "spmv_csr",
            (4,),
            (128,),
            [rows, columns, values, x, _zeros(60, "f8"), np.int32(60)],
            {4: y},
            tolerance=1e-12,
        )
    )
    distance = np.full(60, -1, "i4")
    distance[::7] = 2
    reached = np.array(
        sorted(
            {int(w) for v in np.flatnonzero(distance == 2) for w in columns[rows[v] : rows[v + 1]] if distance[w] == -1}
        )
    )
    after, following = distance.copy(), _zeros(60)
    after[reached], following[reached] = 3, 1
    launches.append(
        Launch(
            "algorithms",
            "bfs_frontier",
            (1,),
            (64,),
            [rows, columns, distance, _zeros(60), _zeros(1), np.int32(2), np.int32(60)],
            {2: after, 3: following, 4: np.array([len(reached)], "i4")},
        )
    )
    a = (_floats(38, 6 * 100) * 8 - 4).astype("f4")
    wide = np.exp(a.reshape(6, 100).astype("f8"))
    launches.append(
        Launch(
            "algorithms",
            "softmax",
            (6,),
            (64,),
            [a, _zeros(600, "f4"), np.int32(100)],
            {1: (wide / wide.sum(1, keepdims=True)).astype("f4").ravel()},
            tolerance=1e-5,
        )
    )
    price, strike, years = (
        _floats(seed, 128) * scale + low for seed, scale, low in ((39, 50, 10), (40, 50, 10), (41, 3, 0.2))
    )
    launches.append(
        Launch(
            "algorithms",
            "black_scholes",
            (2,),
            (64,),
            [
                price.astype("f4"),
                strike.astype("f4"),
                years.astype("f4"),
                _zeros(128, "f4"),
                _zeros(128, "f4"),
                np.float32(0.02),
                np.float32(0.3),
            ],
        )
    )
    d = _ints(42, 400, 1, 100).reshape(20, 20)
    shortest = d.copy()
    for k in range(20):
        shortest = np.minimum(shortest, shortest[:, k : k + 1] + shortest[k : k + 1])
    launches.append(
        Launch("algorithms", "floyd_warshall", (1,), (512,), [d.ravel().copy(), np.int32(20)], {0: shortest.ravel()})
    )
    m = _floats(43, 256, "f8").reshape(16, 16) + 8 * np.eye(16)
    lu = m.copy()
    for k in range(15):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    launches.append(
        Launch(
            "algorithms",
            "lu_decomposition",
            (1,),
            (8, 8),
            [m.ravel().copy(), np.int32(16)],
            {0: lu.ravel()},
            tolerance=1e-12,
        )
    )
    points, centres = _floats(44, 256), _floats(45, 10)
    near = ((points.reshape(128, 1, 2) - centres.reshape(1, 5, 2)).astype("f8") ** 2).sum(2).argmin(1)
    launches.append(
        Launch(
            "algorithms",
            "kmeans_assign",
            (2,),
            (64,),
            [points, centres, _zeros(128), np.int32(5)],
            {2: near.astype("i4")},
        )
    )


def _intrinsics(launches: list[Launch]) -> None:
    def add(kernel: str, *args: Any, since: int = 75) -> None:
        launches.append(Launch("intrinsics", kernel, (2,), (N // 2,), [*args, np.int32(N)], since=since))

    i4, i8 = [integers(seed, N, "i4") for seed in (50, 51)], [integers(seed, N, "i8") for seed in (52, 53)]
    for kernel, sections in (("int32_bits", 60), ("int32_asm", 45), ("int32_packed", 50), ("int32_dpx", 40)):
        add(kernel, *i4, _zeros(sections * N, "u4"))
    add("int64_bits", *i8, _zeros(40 * N, "u8"))
    add("int128_division", *i8, _zeros(4 * N, "u8"))
    add(
        "narrow_integers",
        *(integers(seed, N, "i8").astype(dtype) for seed, dtype in ((54, "i1"), (55, "u1"), (56, "i2"), (57, "u2"))),
        _zeros(25 * N, "i8"),
    )
    f4, f8 = [float32(seed, N) for seed in (58, 59)], [float64(seed, N) for seed in (60, 61)]
    add("float_to_integer", f4[0], f8[0], _zeros(50 * N, "i8"))
    add("integer_to_float", i4[0], i8[0], _zeros(24 * N, "f4"), _zeros(16 * N, "f8"))
    add("float32_rounding", *f4, f8[0], _zeros(50 * N, "f4"))
    add("float32_parts", *f4, _zeros(36 * N, "f4"))
    add("float32_math", *(float32(seed, N, 0.1) for seed in (62, 63)), _zeros(52 * N, "f4"))
    add("float64_rounding", *f8, _zeros(54 * N, "f8"))
    add("float64_math", *(float64(seed, N, 0.1) for seed in (64, 65)), _zeros(34 * N, "f8"))
    halves = [float16(seed, N) for seed in (66, 67)]
    add("half_operations", *halves, _zeros(90 * N, "u2"))
    add("half_math", halves[0], _zeros(24 * N, "u2"))
    brains = [(float32(seed, N, 0.1).view("u4") >> 16).astype("u2") for seed in (68, 69)]
    add("bfloat16_operations", *brains, _zeros(64 * N, "u2"), since=80)


def _cooperation(launches: list[Launch]) -> None:
    def add(
        kernel: str,
        *args: Any,
        grid: tuple[int, ...] = (2,),
        block: tuple[int, ...] = (128,),
        since: int = 75,
        **rest: Any,
    ) -> None:
        launches.append(Launch("cooperation", kernel, grid, block, list(args), since=since, **rest))

    a = _ints(70)
    add("warp_votes", a, _zeros(24 * N, "u4"))
    add("warp_shuffles", a, _zeros(18 * N))
    add(
        "special_registers", _zeros(18 * N, "u4"), np.int32(N), grid=(1, 2), block=(8, 4, 4), expected={0: _registers()}
    )
    add("groups", a, _zeros(20 * N))
    over = (a > 100).reshape(2, 128)
    counted = np.repeat(over.sum(1), 128)
    produced = np.concatenate([(_producers(a, block) + k)[::-1] for k in range(3) for block in range(2)])
    add(
        "named_barriers",
        a,
        _zeros(3 * 2 * 64 + 2 * N),
        expected={1: np.concatenate([produced, counted, np.ones(N)]).astype("i4")},
    )
    add(
        "atomics_global",
        a,
        np.array([0, 0, 50, 50, 255, 0, 0, 0, 0, 0], "i4"),
        _zeros(10, "u4"),
        np.array([0, 2**63, 0, 2**64 - 1, 0, 0], "u8"),
        np.array([0, -(2**62)], "i8"),
        _zeros(1, "f4"),
        _zeros(1, "f8"),
        expected=_atomics(a),
    )
    add(
        "atomics_results",
        a,
        _ints(71),
        _ints(72).astype("u8") << np.uint64(31),
        _floats(73, N),
        _floats(74, N, "f8"),
        _zeros(41 * N),
    )
    add("atomics_shared", a, _zeros(4 * N))
    add("atomics_packed", a, _zeros(4, "u4"), _zeros(2, "u2"), _zeros(12, "f4"))
    add(
        "atomics_standard",
        a,
        _zeros(1 + N),
        _zeros(1, "u8"),
        _zeros(5 * N),
        expected={1: np.concatenate([[a.sum()], np.where(a < 0, a, 11)]), 2: np.array([a.max()], "u8")},
    )
    heads = a.reshape(2, 128)[:, :32].sum(1).astype("i4")
    add("last_block", a, _zeros(2), _zeros(1), expected={1: heads, 2: np.array([heads.sum()], "i4")})
    add("memory_hints", _floats(75, 4 * N), _zeros(24 * N, "f4"), _ints(76, 5 * N), a, np.int32(N))
    add(
        "structures",
        _random(77).randint(0, 256, 24 * N).astype("u1"),
        _zeros(24 * N, "u1"),
        _random(78).randint(0, 256, 15 * N).astype("u1"),
        _zeros(15 * N, "u1"),
        _random(79).randint(0, 256, 3 * N).astype("u1"),
        _zeros(3 * N, "u1"),
        bytes(range(1, 25)),
    )
    add(
        "vector_types",
        _ints(80, 2 * N),
        _floats(81, 2 * N, "f8"),
        _ints(82, 2 * N, dtype="i8"),
        _ints(83, 4 * N, -99, 99, "i2"),
        _ints(84, 4 * N, dtype="u1"),
        _ints(85, 3 * N),
        _zeros(4 * N),
        _zeros(2 * N, "f8"),
        _zeros(4 * N, "u2"),
    )
    add("local_arrays", a, _zeros(N), np.int32(30))
    add("constant_tables", a, _zeros(N))
    for which in range(3):
        add("generic_pointers", _ints(86, 128), np.int32(which), grid=(1,), block=(64,))
    tiles = _ints(87, 4 * 512)
    copied = tiles.reshape(4, 128, 4)[:, ::-1].copy()
    copied[:, :, 0] += np.arange(4, dtype="i4")[:, None]
    lane = np.arange(128)
    filled = np.where(lane & 1, 0, tiles[12 + (lane & 7)])
    tail = np.stack([filled, filled[lane ^ 1], 0 * lane, 0 * lane + 1], 1)
    add(
        "async_copy",
        tiles,
        _zeros(4 * 640),
        grid=(1,),
        since=80,
        expected={1: np.concatenate([copied.ravel(), tail.ravel()]).astype("i4")},
    )
    add("switch_table", _ints(88) % 13, _zeros(N))
    t = np.arange(N)
    add(
        "function_pointers",
        a,
        _zeros(N),
        expected={
            1: (np.choose(a % 3, [a + t, a * t, a - t]) + np.choose(t // 32 % 3, [3 + t, 3 * t, 3 - t])).astype("i4")
        },
    )
    add("virtual_functions", a, _zeros(N), expected={1: np.where(a & 1, a * a * 10 + 4, a * t * 10).astype("i4")})
    fibonacci = np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    add(
        "recursion",
        a,
        _zeros(N),
        expected={1: (fibonacci[a % 11] + 1000 * np.where(a & 1, (t & 3) + 2, (t & 3) + 1)).astype("i4")},
    )
    add("jumps", a, _zeros(N), np.int32(9))
    add(
        "uniform_branches",
        _floats(89, 256),
        _zeros(N, "f4"),
        np.int32(20),
        np.int32(2),
        np.float32(1.5),
        np.float64(0.25),
        np.uint64(0x5A5A5),
    )
    add("checks", a, _zeros(N), np.int32(1000), expected={1: a})


def _registers() -> Array:
    """%laneid, the five lane masks, %tid, %ntid, %ctaid, %nctaid of a 1 x 2 grid of 8 x 4 x 4 blocks."""
    t = np.arange(N)
    lane = t % 32
    one = 1 << lane
    masks = [one - 1, 2 * one - 1, one, 2**32 - one, 2**32 - 2 * one]
    rest = [t % 8, t // 8 % 4, t // 32 % 4, 8, 4, 4, 0, t // 128, 0, 1, 2, 1]
    return np.concatenate([np.broadcast_to(row, N) for row in (lane, *masks, *rest)]).astype("u4")


def _producers(a: Array, block: int) -> Array:
    return a[block * 128 : block * 128 + 64]


def _atomics(a: Array) -> dict[int, Array]:
    """What atomics_global leaves; where its result depends on the order, nothing."""
    x = a.astype("i8")
    g = [
        x.sum(),
        -x.sum(),
        min(50, x.min() - 128),
        max(50, x.max()),
        255 & np.bitwise_and.reduce(x | 240),
        np.bitwise_or.reduce(x & 15),
        np.bitwise_xor.reduce(x),
        N,
        2 * N,
        5,
    ]
    low = min(0, (x.min() - 128) << 32)
    return {
        1: np.array(g).astype("i4"),
        4: np.array([low, x.max() << 32]),
        5: np.array([x.sum() * 0.5], "f4"),
        6: np.array([x.sum() * 0.5]),
    }


def launches() -> list[Launch]:
    """Every launch, with fresh arguments."""
    found: list[Launch] = []
    groups: tuple[Callable[[list[Launch]], None], ...] = (
        _scan,
        _matrices,
        _sorting,
        _counting,
        _images,
        _numbers,
        _physics,
        _intrinsics,
        _cooperation,
    )
    for add in groups:
        add(found)
    return found
