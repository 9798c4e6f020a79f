"""The launches that were recorded on an H200: inputs with special values, made from fixed seeds.

``RandomState`` keeps its sequences for ever, so the same arrays come out here as did beside the GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

N = 1024
Spec = tuple[str, str, tuple[int, int, int], tuple[int, int, int], int, list[Any]]
"""Source file ("opcodes" or "convergence"), kernel, grid, block, dynamic shared bytes, arguments."""


def _random(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed)


def _bits64(random: np.random.RandomState, n: int) -> npt.NDArray[np.uint64]:
    low = random.randint(0, 2**32, n).astype(np.uint64)
    return low | (random.randint(0, 2**32, n).astype(np.uint64) << np.uint64(32))


def integers(seed: int, n: int, dtype: str) -> npt.NDArray[Any]:
    """Integers of all magnitudes and signs, with extremes among them."""
    random = _random(seed)
    bits = 8 * np.dtype(dtype).itemsize
    a = _bits64(random, n)
    shift = random.randint(0, bits, n).astype(np.uint64)
    a = (a & np.uint64(2**bits - 1)) >> shift
    a = np.where(random.rand(n) < 0.4, ~a + np.uint64(1), a)
    extremes = [0, 1, 2, 3, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 7, 31, 32, 33, 63, 64, 2**bits - 2]
    some = random.rand(n) < 0.12
    a[some] = random.choice(np.array(extremes, np.uint64), some.sum())
    return (a & np.uint64(2**bits - 1)).astype(f"u{bits // 8}").view(dtype)


SPECIAL_F32 = [
    0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x3F800000,
    0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x007FFFFF, 0x3F000000, 0x4B000000, 0xCB000001, 0x5F000000,
    0x4F000000, 0xCF000000,
]  # fmt: skip
SPECIAL_F64 = [
    0, 2**63, 1, 2**63 + 1, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0xFFF8 << 48) + 5, (0x7FF << 52) + 1,
    0x3FF << 52, 0xBFF << 52, (0x7FF << 52) - 1, 1 << 52, (1 << 52) - 1, 0x43E << 52, 0xC3E << 52, 0x41F << 52,
    0x3FE << 52,
]  # fmt: skip
SPECIAL_F16 = [
    0, 0x8000, 1, 0x8001, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x3C00, 0xBC00, 0x7BFF, 0x0400, 0x03FF,
]  # fmt: skip


def float32(seed: int, n: int, wild: float = 0.3) -> npt.NDArray[np.float32]:
    """Floats around 1, a share *wild* of any bits, and special values."""
    random = _random(seed)
    a = (random.standard_normal(n) * np.exp(random.uniform(-8, 8, n))).astype(np.float32)
    any_bits = random.randint(0, 2**32, n).astype(np.uint32).view(np.float32)
    some = random.rand(n) < wild
    a[some] = any_bits[some]
    some = random.rand(n) < 0.12
    a.view(np.uint32)[some] = random.choice(np.array(SPECIAL_F32, np.uint32), some.sum())
    return a


def float64(seed: int, n: int, wild: float = 0.3) -> npt.NDArray[np.float64]:
    """The same in float64."""
    random = _random(seed)
    a = random.standard_normal(n) * np.exp(random.uniform(-12, 12, n))
    any_bits = _bits64(random, n).view(np.float64)
    some = random.rand(n) < wild
    a[some] = any_bits[some]
    some = random.rand(n) < 0.12
    a.view(np.uint64)[some] = random.choice(np.array(SPECIAL_F64, np.uint64), some.sum())
    return a


def float16(seed: int, n: int) -> npt.NDArray[np.uint16]:
    """Bits of float16 numbers."""
    random = _random(seed)
    a = random.randint(0, 65536, n).astype(np.uint16)
    near = (random.standard_normal(n) * 2).astype(np.float16).view(np.uint16)
    some = random.rand(n) < 0.6
    a[some] = near[some]
    some = random.rand(n) < 0.1
    a[some] = random.choice(np.array(SPECIAL_F16, np.uint16), some.sum())
    return a


def _small(seed: int, n: int = N) -> npt.NDArray[np.int32]:
    return _random(seed).randint(0, 256, n).astype(np.int32)


def _first(n: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """*values* followed by zeros, *n* elements in all."""
    a = np.zeros(n, values.dtype)
    a[: len(values)] = values
    return a


CONVERGENCE = (
    "c_break_in_if", "c_early_exit", "c_nested", "c_loop_continue", "c_nested_break", "c_return_in_loop",
    "c_syncwarp", "c_shfl_divergent", "c_barrier_div", "c_switch", "c_recursion", "c_call", "c_collatz",
    "c_dowhile", "c_short_circuit",
)  # fmt: skip


def specs() -> dict[str, Spec]:
    """The launches by name, with fresh arguments."""
    found: dict[str, Spec] = {}

    def add(
        kernel: str,
        args: list[Any],
        grid: tuple[int, int, int] = (8, 1, 1),
        block: tuple[int, int, int] = (128, 1, 1),
        shared: int = 0,
        group: str = "opcodes",
        name: str = "",
    ) -> None:
        found[name or kernel] = group, kernel, grid, block, shared, args

    zeros, n = np.zeros, np.int32(N)
    add("i64ops", [integers(1, N, "i8"), integers(2, N, "i8"), zeros(17 * N, "i8"), n])
    add("i32ops", [integers(3, N, "i4"), integers(4, N, "i4"), zeros(37 * N, "i4"), n])
    add("f32ops", [float32(5, N), float32(6, N), zeros(35 * N, "f4"), n])
    add("f32ops", [float32(105, N, 0), float32(106, N, 0), zeros(35 * N, "f4"), n], name="f32ops_tame")
    add("f64ops", [float64(9, N), float64(10, N), zeros(22 * N, "f8"), n])
    add("f64ops", [float64(109, N, 0), float64(110, N, 0), zeros(22 * N, "f8"), n], name="f64ops_tame")
    conversions = [
        _first(12 * N, float32(13, N, 0.2)),
        _first(8 * N, float64(14, N, 0.2)),
        _first(11 * N, integers(15, N, "i4")),
        _first(7 * N, integers(16, N, "i8")),
        _first(5 * N, float16(17, N)),
        _first(2 * N, _random(18).randint(0, 256, N).astype("u1")),
        _first(3 * N, integers(19, N, "i2")),
    ]
    add("cvt", [*conversions, n])
    halves = [float16(20, N), float16(21, N), zeros(15 * N, "u2"), float16(22, 2 * N), float16(23, 2 * N)]
    add("halfk", [*halves, zeros(16 * N, "u2"), n])
    atomics = [zeros(64, "i4"), np.full(64, 3, "u4"), np.full(64, 9, "u8"), zeros(64, "f4"), zeros(64, "f8")]
    add("atom", [*atomics, zeros(26 * 64, "i4"), np.int32(64)], (1, 1, 1), (64, 1, 1))
    add("warpk", [_small(24) % 32 - 8, zeros(31 * N, "i4"), n])
    add("constk", [zeros(N, "f4"), n])
    add("localk", [integers(28, 2 * N, "i4") & 0x3FF, zeros(N, "i4"), np.int32(23)])
    add("callk", [_small(29), zeros(N, "i4"), n])
    add("indirk", [_small(30), zeros(N, "i4")])
    add("switchk", [_small(31) % 13, zeros(4 * N, "i4")])
    add("loopk", [_small(32, 2 * N) % 9 - 1, zeros(N, "i4"), np.int32(40)])
    picture = [zeros(64 * 48, "f4"), np.int32(64), np.int32(48), np.int32(60)]
    add("mandel", picture, (5, 4, 1), (16, 16, 1))
    matrices = [float32(33, 64 * 64, 0), float32(34, 64 * 64, 0), zeros(64 * 64, "f4"), np.int32(64)]
    add("matmul", matrices, (4, 4, 1), (16, 16, 1))
    add("scan", [_small(35), zeros(N, "i4"), n], (4, 1, 1), (256, 1, 1))
    add("bitonic", [_small(36), np.int32(4), np.int32(16)])
    text = _random(37).randint(0, 256, 4096).astype("u1")
    add("hist", [text, zeros(256, "u4"), np.int32(4096)], (4, 1, 1), (256, 1, 1))
    add("transp", [float32(38, 64 * 64, 0), zeros(64 * 64, "f4"), np.int32(64)], (2, 2, 1), (32, 8, 1))
    scalars = [np.int32(7), np.int32(5), np.uint64(11), np.float32(1.25), np.float64(2.5)]
    add("uniformk", [float32(39, 1 << 16, 0), *scalars], (3, 1, 1), (64, 1, 1))
    add("genericp", [_small(40), np.int32(1)], (1, 1, 1), (32, 1, 1))
    add("genericp", [_small(40), np.int32(0)], (1, 1, 1), (32, 1, 1), name="genericp_s")
    add("complexk", [float32(41, 2 * N), float32(42, 2 * N), zeros(2 * N, "f4")])
    add("boolk", [_small(43) % 8, _small(44) % 8, zeros(5 * N, "i4"), np.int32(6)])
    for k, kernel in enumerate(CONVERGENCE):
        full = [_small(50 + k), zeros(4096, "i4"), np.int32(12)]
        add(kernel, full, (2, 1, 1), (96, 1, 1), group="convergence")
        partial = [_small(50 + k), zeros(4096, "i4"), np.int32(9)]
        add(kernel, partial, (3, 1, 1), (40, 1, 1), group="convergence", name=f"{kernel}_40")
    lock = [_small(70), zeros(8192, "i4"), np.int32(1)]
    add("c_atomic_spin", lock, (1, 1, 1), (32, 1, 1), group="convergence")
    add("m_patterns", [_small(71, 8192), zeros(32768, "i4"), np.int32(1)], (2, 1, 1), (256, 1, 1), group="convergence")
    add("m_shared", [_small(72, 4096), zeros(8192, "i4"), np.int32(1)], (2, 1, 1), (1024, 1, 1), group="convergence")
    add("m_local", [_small(73, 4096), zeros(8192, "i4"), np.int32(11)], (2, 1, 1), (128, 1, 1), group="convergence")
    return found
