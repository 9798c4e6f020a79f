"""Launches of the corpus, ordinary CUDA C kernels (tests/data/sass/corpus): arguments and, by NumPy, results.

``launches()`` gives fresh arguments from fixed seeds; ``Launch.expected`` maps argument numbers to what they must
hold afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.sass.corpus_algorithms import GROUPS
from tests.sass.corpus_data import Array, Launch, N, floats, ints, random, zeros
from tests.sass.launches import float16, float32, float64, integers

FILES = ("algorithms", "intrinsics", "cooperation")


def _intrinsics(launches: list[Launch]) -> None:
    def add(kernel: str, *args: Any, since: int = 75) -> None:
        launches.append(Launch("intrinsics", kernel, (2,), (N // 2,), [*args, np.int32(N)], since=since))

    i4, i8 = [integers(seed, N, "i4") for seed in (50, 51)], [integers(seed, N, "i8") for seed in (52, 53)]
    for kernel, sections in (("int32_bits", 60), ("int32_asm", 45), ("int32_packed", 50), ("int32_dpx", 40)):
        add(kernel, *i4, zeros(sections * N, "u4"))
    add("int64_bits", *i8, zeros(40 * N, "u8"))
    add("int128_division", *i8, zeros(4 * N, "u8"))
    add(
        "narrow_integers",
        *(integers(seed, N, "i8").astype(dtype) for seed, dtype in ((54, "i1"), (55, "u1"), (56, "i2"), (57, "u2"))),
        zeros(25 * N, "i8"),
    )
    f4, f8 = [float32(seed, N) for seed in (58, 59)], [float64(seed, N) for seed in (60, 61)]
    add("float_to_integer", f4[0], f8[0], zeros(50 * N, "i8"))
    add("integer_to_float", i4[0], i8[0], zeros(24 * N, "f4"), zeros(16 * N, "f8"))
    add("float32_rounding", *f4, f8[0], zeros(50 * N, "f4"))
    add("float32_parts", *f4, zeros(36 * N, "f4"))
    add("float32_math", *(float32(seed, N, 0.1) for seed in (62, 63)), zeros(52 * N, "f4"))
    add("float64_rounding", *f8, zeros(54 * N, "f8"))
    add("float64_math", *(float64(seed, N, 0.1) for seed in (64, 65)), zeros(34 * N, "f8"))
    halves = [float16(seed, N) for seed in (66, 67)]
    add("half_operations", *halves, zeros(90 * N, "u2"))
    add("half_math", halves[0], zeros(24 * N, "u2"))
    brains = [(float32(seed, N, 0.1).view("u4") >> 16).astype("u2") for seed in (68, 69)]
    add("bfloat16_operations", *brains, zeros(64 * N, "u2"), since=80)


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

    a = ints(70)
    add("warp_votes", a, zeros(24 * N, "u4"))
    add("warp_shuffles", a, zeros(18 * N))
    add("special_registers", zeros(18 * N, "u4"), np.int32(N), grid=(1, 2), block=(8, 4, 4), expected={0: _registers()})
    add("groups", a, zeros(20 * N))
    over = (a > 100).reshape(2, 128)
    counted = np.repeat(over.sum(1), 128)
    produced = np.concatenate([(_producers(a, block) + k)[::-1] for k in range(3) for block in range(2)])
    add(
        "named_barriers",
        a,
        zeros(3 * 2 * 64 + 2 * N),
        expected={1: np.concatenate([produced, counted, np.ones(N)]).astype("i4")},
    )
    add(
        "atomics_global",
        a,
        np.array([0, 0, 50, 50, 255, 0, 0, 0, 0, 0], "i4"),
        zeros(10, "u4"),
        np.array([0, 2**63, 0, 2**64 - 1, 0, 0], "u8"),
        np.array([0, -(2**62)], "i8"),
        zeros(1, "f4"),
        zeros(1, "f8"),
        expected=_atomics(a),
    )
    add(
        "atomics_results",
        a,
        ints(71),
        ints(72).astype("u8") << np.uint64(31),
        floats(73, N),
        floats(74, N, "f8"),
        zeros(41 * N),
    )
    add("atomics_shared", a, zeros(4 * N))
    add("atomics_packed", a, zeros(4, "u4"), zeros(2, "u2"), zeros(12, "f4"))
    add(
        "atomics_standard",
        a,
        zeros(1 + N),
        zeros(1, "u8"),
        zeros(5 * N),
        expected={1: np.concatenate([[a.sum()], np.where(a < 0, a, 11)]), 2: np.array([a.max()], "u8")},
    )
    heads = a.reshape(2, 128)[:, :32].sum(1).astype("i4")
    add("last_block", a, zeros(2), zeros(1), expected={1: heads, 2: np.array([heads.sum()], "i4")})
    add("memory_hints", floats(75, 4 * N), zeros(24 * N, "f4"), ints(76, 5 * N), a, np.int32(N))
    add(
        "structures",
        random(77).randint(0, 256, 24 * N).astype("u1"),
        zeros(24 * N, "u1"),
        random(78).randint(0, 256, 15 * N).astype("u1"),
        zeros(15 * N, "u1"),
        random(79).randint(0, 256, 3 * N).astype("u1"),
        zeros(3 * N, "u1"),
        bytes(range(1, 25)),
    )
    add(
        "vector_types",
        ints(80, 2 * N),
        floats(81, 2 * N, "f8"),
        ints(82, 2 * N, dtype="i8"),
        ints(83, 4 * N, -99, 99, "i2"),
        ints(84, 4 * N, dtype="u1"),
        ints(85, 3 * N),
        zeros(4 * N),
        zeros(2 * N, "f8"),
        zeros(4 * N, "u2"),
    )
    add("local_arrays", a, zeros(N), np.int32(30))
    add("constant_tables", a, zeros(N))
    for which in range(3):
        add("generic_pointers", ints(86, 128), np.int32(which), grid=(1,), block=(64,))
    tiles = ints(87, 4 * 512)
    copied = tiles.reshape(4, 128, 4)[:, ::-1].copy()
    copied[:, :, 0] += np.arange(4, dtype="i4")[:, None]
    lane = np.arange(128)
    filled = np.where(lane & 1, 0, tiles[12 + (lane & 7)])
    tail = np.stack([filled, filled[lane ^ 1], 0 * lane, 0 * lane + 1], 1)
    add(
        "async_copy",
        tiles,
        zeros(4 * 640),
        grid=(1,),
        since=80,
        expected={1: np.concatenate([copied.ravel(), tail.ravel()]).astype("i4")},
    )
    add("switch_table", ints(88) % 13, zeros(N))
    t = np.arange(N)
    add(
        "function_pointers",
        a,
        zeros(N),
        expected={
            1: (np.choose(a % 3, [a + t, a * t, a - t]) + np.choose(t // 32 % 3, [3 + t, 3 * t, 3 - t])).astype("i4")
        },
    )
    add("virtual_functions", a, zeros(N), expected={1: np.where(a & 1, a * a * 10 + 4, a * t * 10).astype("i4")})
    fibonacci = np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    add(
        "recursion",
        a,
        zeros(N),
        expected={1: (fibonacci[a % 11] + 1000 * np.where(a & 1, (t & 3) + 2, (t & 3) + 1)).astype("i4")},
    )
    add("jumps", a, zeros(N), np.int32(9))
    add(
        "uniform_branches",
        floats(89, 256),
        zeros(N, "f4"),
        np.int32(20),
        np.int32(2),
        np.float32(1.5),
        np.float64(0.25),
        np.uint64(0x5A5A5),
    )
    add("checks", a, zeros(N), np.int32(1000), expected={1: a})


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
    for add in (*GROUPS, _intrinsics, _cooperation):
        add(found)
    return found
