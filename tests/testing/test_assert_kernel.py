"""assert_kernel: what it finds, what the smallest launch is, and what it says."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda

import simt
from simt.check import DeadlockError, LaunchError, OutOfBoundsError, UnsupportedError
from simt.testing import (
    Case,
    Extent,
    KernelTestError,
    ReferenceFailedError,
    arrays,
    assert_kernel,
    elements,
    launches,
    length,
    outputs,
    scalars,
    sizes,
)
from simt.testing.snippet import snippet

Array = Any
EXAMPLES = 40


def twice(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + x[i]


def no_guard(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    y[i] = x[i] + x[i]


def wrong_third(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] if i == 2 else x[i] + x[i]


def wrong_second_block(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] if cuda.blockIdx.x > 0 else x[i] + x[i]


def barrier_for_some(x: Array, y: Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + x[i]
        if i != 32:
            cuda.syncthreads()


def last_writer(y: Array) -> None:
    if cuda.threadIdx.x % 2 == 0:
        y[0] = 1
    else:
        y[0] = 2


def last_block(y: Array) -> None:
    if cuda.threadIdx.x == 0:
        y[0] = cuda.blockIdx.x


def cases_of_two_blocks() -> Any:
    return launches(outputs("int32", 1), n=sizes(1), grid=lambda n, block: 2)


def doubled(x: Array, y: Array) -> Array:
    return x + x


ONE_TO_ONE = launches(arrays("int32"), outputs("int32"))


def failure(kernel: Callable[..., None], cases: Any = ONE_TO_ONE, **options: Any) -> KernelTestError:
    with pytest.raises(KernelTestError) as caught:
        assert_kernel(kernel, doubled, cases, examples=EXAMPLES, **options)
    return caught.value


def test_a_right_kernel_passes() -> None:
    assert_kernel(twice, doubled, ONE_TO_ONE, examples=EXAMPLES, schedules=3)


@pytest.mark.parametrize(
    ("kernel", "smallest"),
    [
        (no_guard, "grid 1, block 1, n 0"),
        (wrong_third, "grid 1, block 3, n 3"),
        (wrong_second_block, "grid 2, block 1, n 2"),
        (barrier_for_some, "grid 1, block 34, n 34"),
    ],
)
def test_shrinks_to_the_smallest_launch(kernel: Callable[..., None], smallest: str) -> None:
    found = failure(kernel)
    assert str(found.case) == smallest
    assert smallest in found.title


def test_data_shrinks_to_what_matters() -> None:
    found = failure(wrong_third)
    x = found.case.arguments[0]
    assert isinstance(x, np.ndarray)
    assert set(np.abs(x)) <= {0, 1}
    assert re.search(r"y\[2\] is (\S+) and should be (\S+)", found.title)


@pytest.mark.parametrize("kernel", [no_guard, wrong_third, barrier_for_some])
def test_the_snippet_fails_when_it_is_pasted(kernel: Callable[..., None]) -> None:
    found = failure(kernel)
    names: dict[str, Any] = {kernel.__name__: kernel}
    if isinstance(found.__cause__, simt.KernelError):
        with pytest.raises(type(found.__cause__), match=re.escape(found.__cause__.title)):
            exec(found.snippet, names)  # what the user pastes
    else:
        exec(found.snippet, names)
        assert not np.array_equal(names["y"], doubled(names["x"], names["y"]))


@pytest.mark.parametrize(
    "values",
    [
        np.array([complex(np.nan, -np.inf), 1 - 2j], np.complex64),
        np.array([[np.inf, -np.inf], [np.nan, -0.0]], np.float16),
        np.array([True, False]),
        np.arange(3, dtype=np.uint8),
    ],
    ids=lambda values: str(values.dtype),
)
def test_every_value_can_be_pasted(values: Array) -> None:
    def nothing(x: Array, a: Any) -> None:
        pass

    names: dict[str, Any] = {"nothing": nothing}
    exec(snippet(nothing, Case(Extent((1,), (1,), (1,)), (values, values.flat[0])), {}), names)
    assert names["x"].dtype == values.dtype
    assert names["x"].tobytes() == values.tobytes()


def test_errors_of_the_kernel_are_told_with_their_line() -> None:
    found = failure(no_guard)
    assert isinstance(found.__cause__, OutOfBoundsError)
    assert found.location is not None
    assert "y[i] = x[i] + x[i]" in str(found)
    assert isinstance(failure(barrier_for_some).__cause__, DeadlockError)


def test_a_large_array_is_pasted_compressed() -> None:
    found = failure(wrong_third, launches(arrays("float32"), outputs("float32"), n=sizes(100, 150)))
    names: dict[str, Any] = {"wrong_third": wrong_third}
    exec(found.snippet, names)
    assert names["x"].tobytes() == found.case.arguments[0].tobytes()
    assert len(found.snippet) < 1000


def test_a_reference_may_change_its_arrays() -> None:
    def in_place(x: Array, y: Array) -> None:
        y[:] = x + x

    assert_kernel(twice, in_place, ONE_TO_ONE, examples=EXAMPLES)
    with pytest.raises(KernelTestError, match="n 3"):
        assert_kernel(wrong_third, in_place, ONE_TO_ONE, examples=EXAMPLES)


def test_inputs_are_to_stay_as_they_were() -> None:
    def spoils(x: Array, y: Array) -> None:
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i] + x[i]
            x[i] = 7

    assert "x[0] is 7 and should be 0" in failure(spoils).title


def test_nan_and_infinities_are_tried_and_agree_with_themselves() -> None:
    seen: set[str] = set()

    def watching(x: Array, y: Array) -> Array:
        seen.update(word for word, test in (("nan", np.isnan), ("inf", np.isinf)) if test(x).any())
        return x + x

    assert_kernel(twice, watching, launches(arrays("float64"), outputs("float64")), examples=100)
    assert seen == {"nan", "inf"}


def test_a_reference_that_raises_is_said_as_such() -> None:
    def raises(x: Array, y: Array) -> Array:
        return x // x.max()

    with pytest.raises(
        ReferenceFailedError, match=r"raised ValueError: zero-size.*the kernel was not judged"
    ) as caught:
        assert_kernel(twice, raises, ONE_TO_ONE, examples=EXAMPLES)
    assert "grid 1, block 1, n 0" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda x, y: (x, y), "returned 2 results, and 1 arguments are outputs"),
        (lambda x, y: np.zeros(y.size + 1), r"an array of shape \(1,\) for one of \(0,\)"),
    ],
)
def test_a_reference_that_returns_something_else(returned: Callable[..., Any], message: str) -> None:
    with pytest.raises(ReferenceFailedError, match=message):
        assert_kernel(twice, returned, ONE_TO_ONE, examples=EXAMPLES)


def test_a_reference_that_is_not_the_same_twice() -> None:
    turns = itertools.cycle([0, 1, 1])
    with pytest.raises(LaunchError, match="do not do the same twice"):
        assert_kernel(twice, lambda x, y: x + x + next(turns), ONE_TO_ONE, examples=EXAMPLES)


def test_an_endless_kernel_ends() -> None:
    def endless(x: Array, y: Array) -> None:
        while True:
            pass

    found = failure(endless, max_instructions=1000)
    assert "the launch is endless" in str(found) or "instructions" in found.title


def test_checks_and_schedules_are_used() -> None:
    cases = launches(outputs("int32", 1), n="threads")
    with pytest.raises(KernelTestError, match=r"race") as caught:
        assert_kernel(last_writer, lambda y: np.full(1, 1), cases, check="racecheck", examples=EXAMPLES)
    assert caught.value.case.extent.threads_per_block == 2
    assert_kernel(last_block, lambda y: np.full(1, 1), cases_of_two_blocks(), check=(), examples=5)
    with pytest.raises(KernelTestError, match=r"y\[0\] is 0 and should be 1") as caught:
        assert_kernel(last_block, lambda y: np.full(1, 1), cases_of_two_blocks(), check=(), schedules=3, examples=5)
    assert "schedule='adversarial'" in caught.value.snippet


def test_declared_signatures_need_no_arguments() -> None:
    with simt.without_gpu():

        @cuda.jit("void(float32[:], float32, int32)")
        def scale(x: Array, by: float, n: int) -> None:
            i = cuda.grid(1)
            if i < n:
                x[i] *= by

    def reference(x: Array, by: Any, n: Any) -> None:
        assert type(by) is np.float32
        assert type(n) is np.int32
        assert n == x.size
        x *= by

    assert_kernel(scale, reference, launches(), examples=EXAMPLES)
    with pytest.raises(LaunchError, match="twice declares no signature"):
        assert_kernel(twice, doubled, launches())


def test_two_axes() -> None:
    def transpose(x: Array, y: Array, width: int, height: int) -> None:
        column, row = cuda.grid(2)
        if column < width and row < height:
            y[column, row] = x[row, column]

    cases = launches(arrays("uint8"), outputs("uint8", lambda launch: launch.n), length(0), length(1), axes=2)
    assert_kernel(transpose, lambda x, y, width, height: x.T, cases, examples=EXAMPLES)
    with pytest.raises(KernelTestError, match=r"grid \(1, 1\), block \(1, 1\), n \(1, 1\)"):
        assert_kernel(transpose, lambda x, y, width, height: np.zeros_like(y), cases, examples=EXAMPLES)


def test_what_is_not_supported_is_no_failure_of_the_kernel() -> None:
    def unsupported(x: Array, y: Array) -> None:
        y[0] = max({1: 2})

    with pytest.raises(UnsupportedError):
        assert_kernel(unsupported, doubled, ONE_TO_ONE, examples=EXAMPLES)


def test_scalars_are_of_their_type() -> None:
    def fill(x: Array, value: Any) -> None:
        i = cuda.grid(1)
        if i < x.size:
            x[i] = value

    assert_kernel(
        fill,
        lambda x, value: np.full_like(x, value),
        launches(outputs("uint8"), scalars("uint8"), n=sizes(0, 70)),
        examples=EXAMPLES,
    )


@pytest.mark.parametrize("schedules", [0, -3])
def test_no_schedules(schedules: int) -> None:
    with pytest.raises(LaunchError, match="at least 1"):
        assert_kernel(twice, doubled, ONE_TO_ONE, schedules=schedules)


def test_elements_there_are_none_of() -> None:
    with pytest.raises(LaunchError, match="no elements of"):
        elements("U3")


def test_a_case_says_its_size() -> None:
    found = failure(wrong_second_block)
    assert isinstance(found.case, Case)
    assert found.case.extent.blocks == 2
