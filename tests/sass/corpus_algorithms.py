"""Launches of tests/data/sass/corpus/algorithms.cu."""

from __future__ import annotations

import hashlib
import itertools
import zlib

import numpy as np

from tests.sass.corpus_data import Launch, N, floats, ints, zeros
from tests.sass.corpus_images import images
from tests.sass.launches import integers


def _scan(launches: list[Launch]) -> None:
    a = ints(1, 1024)
    blocks = a.reshape(4, 256)
    sums = blocks.cumsum(1, dtype="i4")
    launches.append(
        Launch(
            "algorithms", "scan_shuffle", (4,), (256,), [a, zeros(1024), zeros(4)], {1: sums.ravel(), 2: sums[:, -1]}
        )
    )
    f = ints(2, 512, 0, 100).astype("f4")
    exclusive = f.reshape(2, 256).cumsum(1) - f.reshape(2, 256)
    launches.append(
        Launch("algorithms", "scan_blelloch", (2,), (128,), [f, zeros(512, "f4")], {1: exclusive.ravel()}, shared=1024)
    )


def _matrices(launches: list[Launch]) -> None:
    w, h = 70, 45
    for name, dtype in (("u8", "u1"), ("f64", "f8")):
        a = ints(3, w * h).astype(dtype)
        launches.append(
            Launch(
                "algorithms",
                f"transpose_{name}",
                (3, 2),
                (32, 8),
                [a, zeros(w * h, dtype), np.int32(w), np.int32(h)],
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
        a, b = (ints(seed, n * n, -high, high).astype(dtype) for seed in (4, 5))
        product = a.reshape(n, n).astype("i8") @ b.reshape(n, n).astype("i8")
        grid = -(-n // block)
        launches.append(
            Launch(
                "algorithms",
                f"matmul_{name}",
                (grid, grid),
                (block, block),
                [a, b, zeros(n * n, dtype), np.int32(n)],
                {2: product.astype(dtype).ravel()},
            )
        )


def _sorting(launches: list[Launch]) -> None:
    a = ints(6, 512, -1000, 1000)
    launches.append(
        Launch("algorithms", "bitonic_sort", (2,), (256,), [a], {0: np.sort(a.reshape(2, 256)).ravel()}, shared=1024)
    )
    u = integers(7, 512, "i4").view("u4")
    launches.append(Launch("algorithms", "radix_sort", (2,), (256,), [u], {0: np.sort(u.reshape(2, 256)).ravel()}))
    p, q = np.sort(ints(8, 200)), np.sort(ints(9, 200))
    launches.append(
        Launch(
            "algorithms",
            "merge_path",
            (4,),
            (128,),
            [p, q, zeros(400), np.int32(200)],
            {2: np.sort(np.concatenate([p, q]))},
        )
    )
    lists = ints(10, 64 * 20, -50, 50)
    launches.append(
        Launch(
            "algorithms", "quicksort", (2,), (32,), [lists, np.int32(20)], {0: np.sort(lists.reshape(64, 20)).ravel()}
        )
    )
    x = ints(11, 500)
    launches.append(
        Launch(
            "algorithms",
            "compaction",
            (1,),
            (32,),
            [x[:20].copy(), zeros(20), zeros(1), np.int32(20)],
            {
                1: np.resize(np.concatenate([x[:20][x[:20] % 3 == 0], zeros(20)]), 20),
                2: np.array([(x[:20] % 3 == 0).sum()], "i4"),
            },
        )
    )


def _counting(launches: list[Launch]) -> None:
    text = ints(12, 2048, 0, 256, "u1")
    counts = np.bincount(text, minlength=256).astype("u4")
    launches.append(
        Launch("algorithms", "histogram_shared", (2,), (128,), [text, zeros(256, "u4"), np.int32(2048)], {1: counts})
    )
    few = ints(13, 500, 0, 20, "u1")
    launches.append(
        Launch(
            "algorithms",
            "histogram_match",
            (4,),
            (128,),
            [few, zeros(256, "u4"), np.int32(500)],
            {1: np.bincount(few, minlength=256).astype("u4")},
        )
    )
    letters = ints(14, 600, 97, 100, "i1")
    word = letters[100:104].copy()
    found = np.array([letters[i : i + 4].tobytes() == word.tobytes() for i in range(597)])
    launches.append(
        Launch(
            "algorithms",
            "string_search",
            (5,),
            (128,),
            [letters, word, zeros(597), np.int32(600), np.int32(4)],
            {2: found.astype("i4")},
        )
    )
    keys = np.unique(ints(15, 150, 0, 1 << 30, "u4"))
    launches.append(
        Launch(
            "algorithms",
            "hash_insert",
            (3,),
            (64,),
            [keys, np.full(256, 2**32 - 1, "u4"), zeros(len(keys), "u4"), np.int32(len(keys)), np.uint32(255)],
            {2: keys},
        )
    )
    inside = _inside_circle(256, 20)
    launches.append(
        Launch("algorithms", "monte_carlo", (2,), (128,), [zeros(1, "u4"), np.int32(20)], {0: np.array([inside], "u4")})
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


def _numbers(launches: list[Launch]) -> None:
    a, b = ints(22, N, -5000, 5000), ints(23, N, -5000, 5000)
    launches.append(Launch("algorithms", "gcd", (2,), (128,), [a, b, zeros(N)], {2: np.gcd(a, b)}))
    launches.append(Launch("algorithms", "philox", (2,), (128,), [zeros(4 * N, "u4"), np.uint32(7)]))
    start = ints(24, N, 1, 3000, "u4")
    launches.append(
        Launch(
            "algorithms",
            "collatz",
            (2,),
            (128,),
            [start, zeros(N, "u4")],
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
            [base, exponent, zeros(64, "u8"), np.uint64(modulus)],
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
        Launch("algorithms", "big_sum", (2,), (32,), [p, q, zeros(512, "u4")], {2: np.frombuffer(total, "u4")})
    )
    text = ints(29, 32 * 64, 0, 256, "u1")
    digests = b"".join(hashlib.sha256(row.tobytes()).digest() for row in text.reshape(64, 32))
    launches.append(
        Launch(
            "algorithms",
            "sha256",
            (2,),
            (32,),
            [text, zeros(512, "u4")],
            {1: np.frombuffer(digests, ">u4").astype("u4")},
        )
    )
    sums = np.array([zlib.crc32(row.tobytes()) for row in text.reshape(64, 32)], "u4")
    launches.append(Launch("algorithms", "crc32", (2,), (32,), [text, zeros(64, "u4"), np.int32(32)], {1: sums}))
    x, y = ints(30, 64 * 12, 97, 100, "u1"), ints(31, 64 * 12, 97, 100, "u1")
    distances = np.array(
        [_levenshtein(bytes(p), bytes(q)) for p, q in zip(x.reshape(64, 12), y.reshape(64, 12), strict=True)], "i4"
    )
    launches.append(Launch("algorithms", "levenshtein", (2,), (32,), [x, y, zeros(64), np.int32(12)], {2: distances}))
    launches.append(
        Launch(
            "algorithms",
            "queens",
            (2,),
            (32,),
            [zeros(64), np.int32(7)],
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
    bodies = floats(32, 128 * 4)
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
            [bodies, zeros(3 * 128, "f4"), np.int32(128)],
            {1: force.astype("f4").ravel()},
            tolerance=1e-4,
        )
    )
    signal = floats(33, 1024)
    spectrum = np.fft.fft(signal.view("c8").reshape(2, 256)).astype("c8")
    launches.append(
        Launch("algorithms", "fft_256", (2,), (128,), [signal], {0: spectrum.ravel().view("f4")}, tolerance=1e-4)
    )
    rows = np.concatenate([[0], np.cumsum(ints(34, 60, 0, 20))]).astype("i4")
    columns, values, x = ints(35, rows[-1], 0, 60), floats(36, rows[-1], "f8"), floats(37, 60, "f8")
    y = np.array([(values[i:j] * x[columns[i:j]]).sum() for i, j in itertools.pairwise(rows)])
    launches.append(
        Launch(
            "algorithms",
            "spmv_csr",
            (4,),
            (128,),
            [rows, columns, values, x, zeros(60, "f8"), np.int32(60)],
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
    after, following = distance.copy(), zeros(60)
    after[reached], following[reached] = 3, 1
    launches.append(
        Launch(
            "algorithms",
            "bfs_frontier",
            (1,),
            (64,),
            [rows, columns, distance, zeros(60), zeros(1), np.int32(2), np.int32(60)],
            {2: after, 3: following, 4: np.array([len(reached)], "i4")},
        )
    )
    a = (floats(38, 6 * 100) * 8 - 4).astype("f4")
    wide = np.exp(a.reshape(6, 100).astype("f8"))
    launches.append(
        Launch(
            "algorithms",
            "softmax",
            (6,),
            (64,),
            [a, zeros(600, "f4"), np.int32(100)],
            {1: (wide / wide.sum(1, keepdims=True)).astype("f4").ravel()},
            tolerance=1e-5,
        )
    )
    price, strike, years = (
        floats(seed, 128) * scale + low for seed, scale, low in ((39, 50, 10), (40, 50, 10), (41, 3, 0.2))
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
                zeros(128, "f4"),
                zeros(128, "f4"),
                np.float32(0.02),
                np.float32(0.3),
            ],
        )
    )
    d = ints(42, 400, 1, 100).reshape(20, 20)
    shortest = d.copy()
    for k in range(20):
        shortest = np.minimum(shortest, shortest[:, k : k + 1] + shortest[k : k + 1])
    launches.append(
        Launch("algorithms", "floyd_warshall", (1,), (512,), [d.ravel().copy(), np.int32(20)], {0: shortest.ravel()})
    )
    m = floats(43, 256, "f8").reshape(16, 16) + 8 * np.eye(16)
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
    points, centres = floats(44, 256), floats(45, 10)
    near = ((points.reshape(128, 1, 2) - centres.reshape(1, 5, 2)).astype("f8") ** 2).sum(2).argmin(1)
    launches.append(
        Launch(
            "algorithms",
            "kmeans_assign",
            (2,),
            (64,),
            [points, centres, zeros(128), np.int32(5)],
            {2: near.astype("i4")},
        )
    )


GROUPS = (_scan, _matrices, _sorting, _counting, images, _numbers, _physics)
"""Each adds its launches to a list."""
