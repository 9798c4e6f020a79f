"""The reduction family against NumPy: any size, any block, any data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simt
from simt import kernels
from simt.check import OutOfBoundsError

FAMILY = kernels.names("reduction")
EDGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def numbers(n: int, dtype: str, op: str, seed: int) -> np.ndarray:
    """*n* numbers over the whole range of an integer dtype; floats of both signs, near 1 for products."""
    rng = np.random.default_rng(seed)
    if dtype in EDGES:
        low, high = EDGES[dtype]
        return rng.integers(low, high, n, dtype=dtype, endpoint=True)
    values = rng.uniform(-1, 1, n)
    return (1 + values / 16 if op == "product" else 1000 * values).astype(dtype)


@st.composite
def reductions(draw: st.DrawFn) -> tuple[str, int, int, str, str, int]:
    """(kernel, n, block, op, dtype, seed), at most some thousand elements in some ten blocks."""
    name = draw(st.sampled_from(FAMILY))
    entry = kernels.get_reduction(name)
    usual = st.sampled_from([1, 2, 31, 32, 33, 63, 64, 65, 96, 100, 128, 255, 256, 257, 500, 512, 1000, 1024])
    block = draw(usual | st.integers(1, 1024))
    span = block * entry.elements_per_thread
    whole = st.integers(1, 3).map(lambda blocks: blocks * span)
    n = draw(st.integers(1, min(3 * span, 20_000)) | whole | st.integers(1, 70))
    return (
        name,
        n,
        block,
        draw(st.sampled_from(entry.ops)),
        draw(st.sampled_from(entry.dtypes)),
        draw(st.integers(0, 2**32 - 1)),
    )


@given(reductions())
@settings(max_examples=150)
def test_equals_numpy(case: tuple[str, int, int, str, str, int]) -> None:
    name, n, block, op, dtype, seed = case
    data = numbers(n, dtype, op, seed)
    before = data.copy()
    plan = kernels.get_reduction(name).plan_for(data, block, op)
    simt.launch(plan.kernel, plan.grid, plan.block, *plan.args)
    expected, correct = kernels.agrees(plan.finish(), data, op)
    assert correct, f"{plan.finish()} instead of {expected}"
    np.testing.assert_array_equal(data, before)


@pytest.mark.parametrize("block", [1, 33, 512, 1024])
@pytest.mark.parametrize("name", FAMILY)
def test_wraps_around_like_int32(name: str, block: int) -> None:
    data = np.full(10_001, 2**31 - 1, dtype=np.int32)
    total, _ = simt.reduce(data, kernel=name, block=block)
    assert total == np.int32((10_001 * (2**31 - 1) + 2**31) % 2**32 - 2**31)


@pytest.mark.parametrize("order", ["then_first", "else_first", "interleaved", "random:7"])
@pytest.mark.parametrize("name", FAMILY)
def test_no_order_of_splits_changes_the_result(name: str, order: str) -> None:
    """A race between the lanes of a warp would show in one of the orders."""
    data = numbers(2 * 8 * 128 + 77, "int32", "sum", 5)
    plan = kernels.get_reduction(name).plan_for(data, 128)
    simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, order=order)
    assert plan.finish() == data.sum(dtype=np.int32)


@given(
    st.integers(1, 300),
    st.sampled_from(kernels.DTYPES),
    st.sampled_from(list(kernels.OPERATIONS)),
    st.integers(0, 2**32 - 1),
)
def test_host_reference_equals_numpy(n: int, dtype: str, op: str, seed: int) -> None:
    data = numbers(n, dtype, op, seed)
    assert kernels.agrees(kernels.recursive(data, op), data, op)[1]


def test_host_reference_folds_the_odd_element_into_element_0() -> None:
    """Of 7: element 6 joins element 0, then 3 pairs; of 3: element 2 joins element 0, then 1 pair."""
    data = np.array([1e8, 1, 1, 1, 1, 1, -1e8], dtype=np.float32)
    assert kernels.recursive(data) == 5.0
    assert kernels.recursive(np.array([], dtype=np.int32), "product") == 1


@pytest.mark.parametrize(
    ("op", "dtype", "identity"),
    [("sum", "int32", 0), ("product", "float32", 1), ("max", "int32", -(2**31)), ("min", "float64", np.inf)],
)
def test_identities(op: str, dtype: str, identity: float) -> None:
    value = kernels.operation(op).identity(dtype)
    assert value == identity
    assert value.dtype == dtype


@pytest.mark.parametrize("kernel", ["published_unguarded", "published_off_by_one"])
def test_published_forms_are_right_for_whole_blocks_only(kernel: str) -> None:
    data = numbers(3 * 128, "int32", "sum", 1)
    total, _ = simt.reduce(data, kernel=kernel, block=128)
    assert total == data.sum(dtype=np.int32)
    with pytest.raises(OutOfBoundsError, match="g_idata"):
        simt.reduce(data[:-1].copy(), kernel=kernel, block=128)
