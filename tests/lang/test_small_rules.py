"""Rules of Python and Numba that are about one construct each, held to Python."""

from __future__ import annotations

import cmath
from enum import Enum, IntEnum
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda

import simt


class Colour(Enum):
    RED = 1
    GREEN = 2


class Level(IntEnum):
    LOW = 3
    HIGH = 7


def members(out, x):
    out[0] = Colour["RED"] == Colour.RED
    out[1] = Colour["RED"] == Colour.GREEN
    out[2] = x + Level["HIGH"]


def identity(out, p, q):
    out[0] = p is True
    out[1] = p is not q
    out[2] = 2 if q is False else 3


def zero_dimensional(out, a, i):
    out[0] = a[i]
    out[1] = a[i, i] if a.ndim == 2 else a[i] + 1


def complex_tuples(out, z, i):
    items = (z, z * 2, z - 1)
    out[0] = items[i]
    for item in items:
        out[1] += item
    out[2] = cmath.log(z, 2 + 1j)


def expected(kernel: Any, dtype: Any, *args: Any) -> tuple[np.ndarray, np.ndarray]:
    """What a launch leaves in the array passed first, and what Python does."""
    ours, theirs = np.zeros(3, dtype), np.zeros(3, dtype)
    simt.launch(kernel, 1, 1, ours, *args)
    kernel(theirs, *args)
    return ours, theirs


def test_members_by_their_names() -> None:
    np.testing.assert_array_equal(*expected(members, np.int64, 5))


@given(st.booleans(), st.booleans())
def test_is_between_booleans(p: bool, q: bool) -> None:
    np.testing.assert_array_equal(*expected(identity, np.int64, p, q))


def test_an_index_that_is_an_array_without_axes() -> None:
    np.testing.assert_array_equal(*expected(zero_dimensional, np.float64, np.arange(4.0), np.array(2)))


@given(st.complex_numbers(min_magnitude=0.1, max_magnitude=9), st.integers(-3, 2))
def test_tuples_of_complex_numbers(z: complex, i: int) -> None:
    np.testing.assert_allclose(*expected(complex_tuples, np.complex128, z, i), rtol=1e-13)


def half_way(a, out):
    shared = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    shared[t] = a[t]
    cuda.syncwarp()
    if t < 2:
        shared[t] += shared[t + 2]
        cuda.syncwarp()
    if t == 0:
        out[0] = shared[0] + shared[1]


def test_a_syncwarp_in_a_branch_lets_the_others_go_on() -> None:
    """Numba's own reduction does so: the other lanes end, and nobody waits for them."""
    out = np.zeros(1)
    simt.launch(half_way, 1, 32, np.arange(32.0), out)
    assert out[0] == 6


def numbers_only(out, a):
    out[0] = np.nanmin(a)
    out[1] = np.nanmax(a)


@given(st.lists(st.one_of(st.just(float("nan")), st.floats(-9, 9)), min_size=1, max_size=6))
def test_nanmin_and_nanmax(values: list[float]) -> None:
    a, out = np.array(values), np.zeros(2)
    simt.launch(numbers_only, 1, 1, out, a)
    number = np.array([each for each in values if each == each] or [np.nan])
    np.testing.assert_array_equal(out, [number.min(), number.max()])
