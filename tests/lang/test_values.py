"""What kernels compute, construct by construct: the same as Python (or Numba) says for one thread."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from numba import cuda, float32, int32, njit, uint8

import simt
from simt.check import TrapError
from simt.lang import argument_types, compile
from tests.lang.interp import Block

OFFSET = 3
SIZES = (4, np.int32(2))
TABLE = np.array([[1, 2, 3], [4, 5, 6]], np.int16)


def run(kernel: Any, *args: Any, block: tuple[int, ...] = (32,), predicate: int = 0) -> Block:
    return Block(compile(kernel, argument_types(args), predicate=predicate), block, args).run()


def result(kernel: Any, *args: Any, dtype: Any = np.float64, size: int = 8) -> list[Any]:
    """The list that one thread leaves in the array passed first."""
    out = np.zeros(size, dtype)
    run(kernel, out, *args, block=(1,))
    return out.tolist()


def integers(out, a, b):
    out[0] = a // b
    out[1] = a % b
    out[2] = a << 3
    out[3] = a >> 1
    out[4] = a & b | 8 ^ 3
    out[5] = ~a
    out[6] = -a + +b
    out[7] = a**3 - b**2


@pytest.mark.parametrize(("a", "b"), [(7, 3), (-7, 3), (7, -3), (-9, -4), (np.int8(-100), np.uint8(200))])
def test_integer_operators(a: Any, b: Any) -> None:
    expected = np.zeros(8, np.int64)
    njit(integers)(expected, a, b)
    assert result(integers, a, b, dtype=np.int64) == expected.tolist()


def test_division_by_zero_is_cudas() -> None:
    assert result(integers, 5, 0, dtype=np.int64)[:2] == [0, 0]


def floats(out, a, b):
    out[0] = a / b
    out[1] = a // b
    out[2] = a % b
    out[3] = a * b - a
    out[4] = a**2
    out[5] = 2**b
    out[6] = a < b
    out[7] = math.sqrt(abs(a)) + math.fabs(b)


SCALARS = [np.float32(2.6), np.float64(-1.7), np.int32(-5), np.uint32(9), np.int64(3), np.uint64(11)]


@pytest.mark.parametrize("a", SCALARS, ids=lambda v: v.dtype.name)
@pytest.mark.parametrize("b", SCALARS, ids=lambda v: v.dtype.name)
def test_mixed_types_equal_numba(a: Any, b: Any) -> None:
    expected = np.zeros(8)
    njit(floats)(expected, a, b)
    np.testing.assert_array_equal(result(floats, a, b), expected)


def unsigned_comparison(out, a, b):
    out[0] = a < b
    out[1] = a == b
    out[2] = min(a, b)
    out[3] = max(a, b, 1)


@pytest.mark.parametrize(
    ("a", "b"), [(-1, np.uint64(3)), (2**53 + 1, np.uint64(2**53)), (np.uint32(2**31), np.int32(-1))]
)
def test_mixed_signs_equal_numba(a: Any, b: Any) -> None:
    expected = np.zeros(8)
    njit(unsigned_comparison)(expected, a, b)
    assert result(unsigned_comparison, a, b) == expected.tolist()


def casts(out, x):
    out[0] = int32(x)
    out[1] = uint8(x * x)
    out[2] = np.float32(x)
    out[3] = int(x)
    out[4] = float(x)
    out[5] = bool(x)
    out[6] = np.int16(x) + numba.int8(x)
    out[7] = float32(0.1)


@pytest.mark.parametrize("x", [3.7, -3.7, 300, -1, np.float32(0.1), np.uint32(2**32 - 1)])
def test_casts_equal_numba(x: Any) -> None:
    expected = np.zeros(8)
    njit(casts)(expected, x)
    assert result(casts, x) == expected.tolist()


def joined_types(out, n):
    x = 1
    if n > 2:
        x = 2.5
    out[0] = x
    y = int32(7)
    for i in range(n):
        y = y + i / 2
    out[1] = y
    flag = n > 3
    if n > 4:
        flag = 5
    out[2] = flag
    while n > 0:
        n -= 1
        late = n
    out[3] = late
    pair = (1, 2)
    if n == 0:
        pair = (3.5, n)
    a, (b, c) = pair[0], (pair[1], len(pair))
    out[4] = a + b * 10 + c * 100
    out[5] = OFFSET + SIZES[0] * SIZES[-1] + len(SIZES)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 9])
def test_variables_of_several_types(n: int) -> None:
    expected = np.zeros(8)
    if n:
        njit(joined_types)(expected, n)
    else:
        joined = np.array([1, 7, 0, 0, 203.5, 13])  # 'late' has no value: zero
        expected[:6] = joined
    assert result(joined_types, n) == expected.tolist()


def ranges(out, start, stop, step):
    n = 0
    for i in range(start, stop, step):
        out[n] = i
        n += 1
        if n == 6:
            break
    else:
        out[7] = 99


@pytest.mark.parametrize(
    "bounds", [(0, 5, 1), (5, 0, -1), (5, 0, 2), (-3, 3, 2), (0, 100, 7), (3, 3, 1), (0, 5, 0), (-2, -9, -3)]
)
def test_range_with_run_time_step(bounds: tuple[int, int, int]) -> None:
    expected = [0] * 8
    if bounds[2]:
        ranges(expected, *bounds)
    else:
        expected[7] = 99
    assert result(ranges, *bounds, dtype=np.int64) == expected


def logic(out, a, b):
    out[0] = a and b
    out[1] = a or b
    out[2] = not a
    out[3] = 1 if a < b <= 10 else 2
    out[4] = (a > 1) == (b > 1)
    out[5] = (a > 1) & (b > 1) | (a > 5) ^ (b < 0)
    out[6] = (a > 1) + 1
    out[7] = a < b != 7


@pytest.mark.parametrize(("a", "b"), [(0, 7), (3, 0), (4, 9), (11, 12), (-1, -2), (2, 7)])
def test_logic(a: int, b: int) -> None:
    expected = [0] * 8
    logic(expected, a, b)
    assert result(logic, a, b, dtype=np.int64) == [int(v) for v in expected]


@cuda.jit(device=True)
def divide(a, b=2, *, swap=False):
    if swap:
        return b // a, b % a
    if a < 0:
        return 0, a
    return a // b, a % b


def fold(values, n):
    total = 0
    for i in range(n):
        if values[i] < 0:
            return total
        total += values[i]
    return total


def calls(out, data, n):
    q, r = divide(n, b=3)
    out[0] = q + 10 * r
    out[1] = divide(n, swap=True)[1]
    out[2] = fold(data, n)
    n = fold(data, fold(data, 2))
    out[3] = n
    clear(out, 4)


def clear(out, i):
    out[i] = -1


def test_device_functions() -> None:
    data = np.array([1, 2, 3, -1, 5], np.int32)
    assert result(calls, data, 5, dtype=np.int64)[:5] == [21, 2, 6, 6, -1]


def applied(function, pair, number):
    return function(pair[0]) + number * pair[1]


def square(x):
    return x * x


def functions_and_tuples(out, n):
    out[0] = applied(square, (n, n + 1), 2)
    out[1] = applied(abs, (-n, 1.5), 1)


def test_device_functions_take_functions_and_tuples() -> None:
    assert result(functions_and_tuples, 5)[:2] == [25 + 2 * 6, 5 + 1.5]


def asserted(out, n):
    assert n > 2
    out[0] = n
    assert True
    out[1] = n + 1


def test_code_goes_on_behind_an_assertion_that_holds() -> None:
    assert result(asserted, 5)[:2] == [5, 6]


def test_an_assertion_that_fails_is_named() -> None:
    with pytest.raises(TrapError, match=r"stopped itself \(`assert n > 2`\)"):
        simt.launch(asserted, 1, 1, np.zeros(2), 1)


def arrays(out, grid, vector):
    i = cuda.threadIdx.x
    if i < grid.shape[0]:
        for j in range(grid.shape[1]):
            grid[i, j] += i * 10 + j
            row = grid[i]
            row[-1] *= 2
        out[i] = grid.size + len(grid) * 100 + grid.ndim * 1000 + vector[-1 - i] + TABLE[1, i]


@pytest.mark.parametrize("layout", ["C", "F", "slice"])
def test_arrays_of_any_layout(layout: str) -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    grid = {"C": base[:3, :4].copy(), "F": np.asfortranarray(base[:3, :4]), "slice": base[::2, 1::2][:3]}[layout]
    vector = np.arange(20)[::3]
    expected = grid.copy()
    for i in range(expected.shape[0]):
        for j in range(expected.shape[1]):
            expected[i, j] += i * 10 + j
            expected[i, -1] *= 2
    out = np.zeros(4)
    run(arrays, out, grid, vector)
    np.testing.assert_array_equal(grid, expected)
    for i in range(len(grid)):
        assert out[i] == grid.size + len(grid) * 100 + 2000 + vector[-1 - i] + TABLE[1, i]


def sizes(out, cube):
    rows = cube[1]
    out[0], out[1], out[2] = cube.shape[0], cube.shape[1], cube.shape[2]
    out[3], out[4], out[5] = rows.shape[0], rows.shape[1], rows[2].shape[0]
    out[6], out[7], out[8] = len(cube), len(rows), len(rows[2])


def test_sizes_of_an_array_and_of_its_parts() -> None:
    out = np.zeros(9, np.int64)
    run(sizes, out, np.zeros((2, 3, 5)))
    assert out.tolist() == [2, 3, 5, 3, 5, 5, 2, 3, 5]


def spaces(out, flags):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(64, int32)
    stack = cuda.local.array((2, SIZES[1]), dtype=np.float32)
    constants = cuda.const.array_like(TABLE)
    tile[t] = t
    stack[1, 1] = t / 2
    cuda.syncthreads()
    flags[t] = tile[63 - t] > stack[1, 1]
    if flags[t]:
        out[t] = constants[t % 2, 2]


def test_shared_local_and_constant_memory() -> None:
    out, flags = np.zeros(64), np.zeros(64, np.bool_)
    run(spaces, out, flags, block=(64,))
    t = np.arange(64)
    np.testing.assert_array_equal(flags, 63 - t > t / 2)
    np.testing.assert_array_equal(out, np.where(flags, np.where(t % 2, 6, 3), 0))


def warp(out, data):
    lane = cuda.laneid
    x = data[lane]
    out[0, lane] = cuda.shfl_down_sync(0xFFFFFFFF, x, 4)
    out[1, lane] = cuda.shfl_up_sync(-1, x, 1)
    out[2, lane] = cuda.shfl_xor_sync(0xFFFFFFFF, x, 16)
    out[3, lane] = cuda.shfl_sync(0xFFFFFFFF, x, 5)
    out[4, lane] = cuda.ballot_sync(0xFFFFFFFF, lane < 3)
    out[5, lane] = cuda.all_sync(0xFFFFFFFF, x >= 0) + 2 * cuda.any_sync(0xFFFFFFFF, x > 30)
    out[6, lane] = cuda.popc(cuda.match_any_sync(0xFFFFFFFF, lane % 4))
    if lane < 8:
        out[7, lane] = cuda.popc(cuda.activemask()) + cuda.lanemask_lt()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_warp_operations(dtype: Any) -> None:
    data = np.arange(32).astype(dtype)
    out = np.zeros((8, 32), np.int64)
    run(warp, out, data)
    lane = np.arange(32)
    assert out[0].tolist() == [v + 4 if v < 28 else v for v in range(32)]
    assert out[1].tolist() == [max(v - 1, 0) for v in range(32)]
    assert out[2].tolist() == (lane ^ 16).tolist()
    assert set(out[3]) == {5}
    assert set(out[4]) == {7}
    assert set(out[5]) == {3}
    assert set(out[6]) == {8}
    assert out[7, :8].tolist() == [8 + 2**v - 1 for v in range(8)]


def bits(out, x):
    out[0] = cuda.popc(x)
    out[1] = cuda.clz(x)
    out[2] = cuda.ffs(x)
    out[3] = cuda.brev(np.uint32(x))


def test_bit_functions() -> None:
    assert result(bits, np.int32(-8), dtype=np.int64)[:4] == [29, 0, 4, 0x1FFFFFFF]
    assert result(bits, np.int32(40), dtype=np.int64)[:4] == [2, 26, 4, 0x14000000]


def atomics(counts, top):
    t = cuda.threadIdx.x
    local = cuda.shared.array(2, int32)
    if t < 2:
        local[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, t % 2, t)
    old = cuda.atomic.max(top, (0, 0), t)
    cuda.atomic.cas(counts, 3, 0, 7)
    cuda.atomic.compare_and_swap(counts, 0, 9)
    cuda.syncthreads()
    if t < 2:
        counts[1 + t] = local[t]
    top[0, 1] = old - old


def test_atomics() -> None:
    counts, top = np.zeros(8, np.int32), np.zeros((1, 2), np.int64)
    run(atomics, counts, top, block=(64,))
    assert counts.tolist()[:4] == [9, 992, 1024, 7]
    assert top[0, 0] == 63


def positions(out):
    x, y = cuda.grid(2)
    sx, sy = cuda.gridsize(2)
    out[y, x] = x + 10 * y + 100 * sx + 1000 * sy + cuda.blockDim.y * cuda.warpsize


def test_grid_positions() -> None:
    out = np.zeros((3, 8), np.int64)
    run(positions, out, block=(8, 3))
    y, x = np.mgrid[0:3, 0:8]
    np.testing.assert_array_equal(out, x + 10 * y + 800 + 3000 + 96)


def test_cache_sees_changed_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile(joined_types, argument_types((np.zeros(8), 1)))
    assert compile(joined_types, argument_types((np.zeros(8), 1))) is first
    monkeypatch.setattr(f"{__name__}.OFFSET", 4)
    assert compile(joined_types, argument_types((np.zeros(8), 1))) is not first
    assert result(joined_types, 1)[5] == 14
