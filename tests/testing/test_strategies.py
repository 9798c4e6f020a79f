"""What launches are drawn: awkward sizes come, bounds hold, and the data is what it is said to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simt.check import LaunchError
from simt.testing import Case, arrays, blocks, elements, launches, length, outputs, sizes


def drawn(strategy: st.SearchStrategy[Any], count: int = 300) -> list[Any]:
    """What Hypothesis draws: always the same, whichever tests ran before."""
    found: list[Any] = []

    @settings(max_examples=count, database=None, derandomize=True)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def test_awkward_sizes_come() -> None:
    assert {0, 1, 31, 32, 33, 255, 256, 257} <= set(drawn(sizes()))
    assert {1, 31, 32, 33, 256} <= set(drawn(blocks()))


@given(st.integers(0, 500), st.integers(0, 500), st.data())
def test_sizes_keep_their_bounds(least: int, more: int, data: st.DataObject) -> None:
    assert least <= data.draw(sizes(least, least + more)) <= least + more


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64"])
def test_integers_reach_both_ends(dtype: str) -> None:
    values = set(drawn(elements(dtype)))
    assert {0, np.iinfo(dtype).min, np.iinfo(dtype).max} <= values
    assert min(drawn(elements(dtype, 3, 9))) >= 3
    assert max(drawn(elements(dtype, 3, 9))) <= 9


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_have_what_is_not_a_number(dtype: str) -> None:
    values = np.array(drawn(elements(dtype)), dtype)
    assert np.isnan(values).any()
    assert np.isposinf(values).any()
    assert np.isneginf(values).any()
    assert np.isfinite(np.array(drawn(elements(dtype, finite=True)), dtype)).all()
    bounded = np.array(drawn(elements(dtype, -1, 1)), dtype)
    assert (np.abs(bounded) <= 1).all()


def test_complex_and_booleans() -> None:
    assert set(drawn(elements("bool"))) == {True, False}
    assert all(isinstance(value, complex) for value in drawn(elements("complex64"), 20))


@given(launches(arrays("float32"), outputs("int8"), length(), length(dtype="int32")))
def test_the_grid_covers_the_elements(case: Case) -> None:
    (n,), (grid,), (block,) = case.extent.n, case.extent.grid, case.extent.block
    x, y, long, short = case.arguments
    assert isinstance(x, np.ndarray)
    assert isinstance(y, np.ndarray)
    assert x.shape == y.shape == (n,)
    assert x.dtype == np.float32
    assert (y == 0x55).all()
    assert long == short == n
    assert type(short) is np.int32
    assert max(n, 1) <= grid * block
    assert (grid - 2) * block < max(n, 1)
    assert case.outputs == (1,)


@given(launches(arrays("int32"), n="threads", axes=2))
def test_as_many_elements_as_threads(case: Case) -> None:
    (width, height), grid, block = case.extent.n, case.extent.grid, case.extent.block
    assert (width, height) == (grid[0] * block[0], grid[1] * block[1])
    (x,) = case.arguments
    assert isinstance(x, np.ndarray)
    assert x.shape == (height, width)


@given(launches(arrays("int32", lambda launch: (launch.blocks, 2)), grid=lambda n, block: 3, block=st.just(64)))
def test_shapes_may_follow_from_the_launch(case: Case) -> None:
    assert case.extent.grid == (3,)
    assert case.extent.block == (64,)
    (x,) = case.arguments
    assert isinstance(x, np.ndarray)
    assert x.shape == (3, 2)


def test_large_arrays_have_different_elements() -> None:
    cases = drawn(launches(arrays("int32"), n=st.just(200)), 100)
    many = [len(np.unique(case.arguments[0])) >= 4 for case in cases]
    assert np.mean(many) >= 0.25  # 0.30 to 0.62 for twelve seeds of Hypothesis


def test_launches_that_cannot_be() -> None:
    with pytest.raises(LaunchError, match="1 to 3 axes, not 4"):
        launches(arrays("int32"), axes=4)
    with pytest.raises(LaunchError, match="cannot follow from n"):
        launches(arrays("int32"), n="threads", grid=lambda n, block: 1)
