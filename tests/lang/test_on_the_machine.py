"""The front end on the real machine: random kernels in every split order, and more functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32

from simt.api import launch
from simt.check import LaunchError
from tests.from_text import function_from
from tests.lang.test_random_kernels import blocks, kernel_source, scalar_run, twice

FULL = 0xFFFFFFFF


@settings(max_examples=60, deadline=None)
@given(blocks(3, False), st.integers(0, 1000), st.sampled_from([0, 4]))
def test_random_kernels_in_every_split_order(body: str, seed: int, predicate: int) -> None:
    source = kernel_source(body)
    data = np.random.default_rng(seed).integers(0, 60, 32)
    expected = scalar_run(source, data, 32)
    kernel = function_from(source, {"cuda": cuda, "twice": twice})
    for order in ("then_first", "else_first", "interleaved", f"random:{seed}"):
        seen, out = np.zeros(32, np.int64), np.full(32, -1)
        launch(kernel, 1, 32, data, seen, out, order=order, predicate=predicate)
        np.testing.assert_array_equal(seen, expected[0])
        np.testing.assert_array_equal(out, expected[1])


def either(data, out):
    t = cuda.threadIdx.x
    x = data[t]
    for k in range(4):
        if x < 20 or (t + k) % 2 == 0:
            x += 7
        else:
            x -= 5
    out[t] = x


def both(data, out):
    t = cuda.threadIdx.x
    x = data[t]
    for k in range(4):
        if x < 30 and (t + k) % 2 == 0:
            x += 7
        else:
            x -= 5
    out[t] = x


def between(data, out):
    t = cuda.threadIdx.x
    x = data[t]
    for k in range(4):
        if 10 < x <= 40 + k:
            x += 7
        else:
            x -= 5
    out[t] = x


@pytest.mark.parametrize("kernel", [either, both, between])
def test_an_arm_that_several_branches_lead_to_is_not_predicated_for_one_of_them(kernel: Any) -> None:
    data = np.random.default_rng(1).integers(0, 60, 64)
    expected = np.zeros(64, np.int64)
    launch(kernel, 1, 64, data, expected)
    for predicate in (1, 4, 8):
        out = np.zeros(64, np.int64)
        launch(kernel, 1, 64, data, out, predicate=predicate)
        assert out.tolist() == expected.tolist()


def leaves_early(out):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(48, int32)
    tile[t] = t
    if t % 3 == 0:
        return
    cuda.syncthreads()
    out[t] = 1 + tile[47 - t]


@pytest.mark.parametrize("order", ["then_first", "else_first", "interleaved", "random:7"])
def test_lanes_that_return_before_a_barrier(order: str) -> None:
    out = np.zeros(48, np.int64)
    launch(leaves_early, 1, 48, out, order=order)
    assert out.tolist() == [0 if t % 3 == 0 else 48 - t for t in range(48)]


def test_the_order_of_machine_code_is_not_one_of_the_source_view() -> None:
    with pytest.raises(LaunchError, match="applies to machine code only"):
        launch(leaves_early, 1, 48, np.zeros(48), order="hardware")


def functions(a):
    i = cuda.threadIdx.x
    x = np.sqrt(float32(i)) + np.sin(1.5) + round(2.5) + pow(2, i)
    if math.isnan(x) or math.isinf(x) or not math.isfinite(x):
        a[0] = 9
    fraction, whole = math.modf(-2.25)
    a[1] = fraction + 10 * whole
    a[2] = math.degrees(math.pi) + math.atan2(0.0, 1) + math.ldexp(1.0, 3)
    a[3] = cuda.selp(i >= 0, 1, 2) + cuda.fma(2.0, 3.0, 1.0)


def test_functions() -> None:
    a = np.zeros(4)
    launch(functions, 1, 32, a)
    np.testing.assert_allclose(a, [0, -20.25, 188, 8])


def votes(a):
    i = cuda.threadIdx.x
    a[0] = cuda.syncthreads_count(1 if i < 5 else 0) + 100 * cuda.syncthreads_and(i) + 1000 * cuda.syncthreads_or(i)
    cuda.syncwarp()
    cuda.syncwarp(FULL)
    _, same = cuda.match_all_sync(FULL, 4)
    _, in_range = cuda.shfl_sync_intrinsic(FULL, 2, i, 1, 0x1F)
    ballot, _ = cuda.vote_sync_intrinsic(FULL, 3, i < 2)
    a[1] = cuda.popc(cuda.ballot_sync(FULL, same))
    a[2] = cuda.ballot_sync(FULL, in_range)
    a[3] = ballot


def test_votes() -> None:
    a = np.zeros(4, np.int64)
    launch(votes, 1, 32, a)
    assert a.tolist() == [1005, 32, 2**31 - 1, 3]


def dynamic(a):
    t = cuda.threadIdx.x
    words = cuda.shared.array(0, float32)
    bits = cuda.shared.array(shape=0, dtype=int32)
    words[t] = 1.0
    cuda.syncthreads()
    a[t] = bits[t] + words.size


def test_dynamic_shared_memory_is_one_memory() -> None:
    a = np.zeros(32, np.int64)
    launch(dynamic, 1, 32, a, shared_bytes=256)
    assert set(a.tolist()) == {0x3F800000 + 64}


def signed_zero(a, flag):
    x = 0.0 if flag else -0.0
    a[0] = math.copysign(1.0, x)
    flag = not flag
    a[1] = flag


def test_signed_zero_and_boolean_argument() -> None:
    for flag in (True, False):
        a: Any = np.zeros(2)
        launch(signed_zero, 1, 1, a, flag)
        assert a.tolist() == [1.0 if flag else -1.0, not flag]


OFFSETS = (16, 8, 4, 2, 1)


def iterates(numbers, rows, out):
    t = cuda.threadIdx.x
    total = numbers[t]
    for offset in OFFSETS:
        total += cuda.shfl_xor_sync(FULL, total, offset)
    out[0, t] = total
    total = 0.0
    for number in numbers:
        if number < 0:
            continue
        if number > 90 + t:
            break
        total += number
    else:
        total += 1000
    for row in rows:
        total += row[t % row.size]
    for number in (0.5, 1.5 * t, total):
        total += number
    out[1, t] = total


def test_iteration_over_arrays_and_tuples() -> None:
    numbers = np.random.default_rng(1).integers(-50, 110, 32)
    rows = np.arange(12.0).reshape(4, 3)
    out = np.zeros((2, 32))
    launch(iterates, 1, 32, numbers, rows, out)
    assert (out[0] == numbers.sum()).all()
    for t in range(32):
        stop = next((k for k, number in enumerate(numbers) if number > 90 + t), 32)
        total = sum(number for number in numbers[:stop] if number >= 0) + 1000 * (stop == 32)
        total += rows[:, t % 3].sum()
        assert out[1, t] == 2 * total + 0.5 + 1.5 * t


def uses_tuples(out, pair, nested):
    x, y = pair
    array, (scale, flag) = nested
    out[0] = x + y * 10 + len(pair)
    for i in range(array.size):
        array[i] *= scale
    if flag:
        out[1] = pair[-1]


def test_tuple_arguments() -> None:
    out, array = np.zeros(2), np.arange(3.0)
    launch(uses_tuples, 1, 1, out, (2, np.float32(0.5)), (array, (3, True)))
    assert out.tolist() == [9, 0.5]
    assert array.tolist() == [0, 3, 6]


WIDE = np.dtype("int64")
NARROW = "i2"


def element_types(out):
    tiles = (
        cuda.shared.array(2, WIDE),
        cuda.shared.array(2, "uint8"),
        cuda.local.array(2, NARROW),
        cuda.local.array(2, np.dtype("float32")),
        cuda.local.array(2, out.dtype),
    )
    tiles[0][0] = tiles[1][0] = 300
    tiles[2][0] = 40000
    tiles[3][0] = 0.1
    tiles[4][0] = 0.1
    out[0], out[1], out[2], out[3] = tiles[0][0], tiles[1][0], tiles[2][0], tiles[3][0]
    out[4], out[5] = tiles[4][0], out.dtype.type(2) / WIDE.type(3.9)


def test_element_types_by_dtype_and_name() -> None:
    out = np.zeros(6)
    launch(element_types, 1, 1, out)
    assert out.tolist() == [300, 44, 40000 - 2**16, np.float32(0.1), 0.1, 2 / 3]
