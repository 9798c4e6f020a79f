"""A kernel with its loops unrolled computes the same, on the same lines, in Python and in both views."""

from __future__ import annotations

import ast
import gc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt import kernels
from simt.check import LaunchError
from simt.lang import read_source, unrolled
from tests.from_text import function_from
from tests.machine_view import needs_numba_cuda

FACTOR = 3


def sums(a, start, stop, out):
    """Up by one and down by two, with an inner loop that is the one to unroll."""
    total = 0
    for j in range(start, stop):
        total += a[j % a.size] * FACTOR
    last = j if stop > start else -1
    for _ in range(2):
        for k in range(stop, start, -2):
            total -= k
    out[cuda.grid(1)] = 100 * total + last


def run(kernel: Any, start: int, stop: int, **options: Any) -> tuple[np.ndarray, simt.Profile]:
    out = np.zeros(32, np.int64)
    profile = simt.launch(kernel, 1, 32, np.arange(7), start, stop, out, **options)
    return out, profile


@settings(max_examples=40, deadline=None)
@given(st.integers(-9, 9), st.integers(-9, 30), st.integers(2, 9))
def test_the_same_is_computed(start: int, stop: int, times: int) -> None:
    np.testing.assert_array_equal(run(unrolled(sums, times), start, stop)[0], run(sums, start, stop)[0])


@needs_numba_cuda
def test_numba_compiles_it() -> None:
    for stop in (3, 4, 17):
        ours, theirs = (run(each, 0, stop, view="sm_90")[0] for each in (sums, unrolled(cuda.jit(sums), 4)))
        np.testing.assert_array_equal(ours, theirs)


def test_tests_of_the_loop_are_spared_and_lines_stay() -> None:
    """16 rounds: the loop is tested 5 times instead of 17, and once for the rest."""
    a, b = (run(each, 0, 16)[1] for each in (sums, unrolled(sums, 4)))
    assert [line.number for line in a.lines if line.counters["inst_executed"]] == [
        line.number for line in b.lines if line.counters["inst_executed"]
    ]
    found = simt.explain(a, b)
    assert found.explained < 0
    assert sum((term.value for term in found.terms), Fraction(0)) == found.explained
    loop = sums.__code__.co_firstlineno + 3
    branches = {line.number: line.counters["branches"] for line in (*a.lines, *b.lines) if line.number == loop}
    assert branches[loop] == 6
    assert "rounds" in {term.cause for term in found.terms}


def test_what_a_closure_and_a_default_mean() -> None:
    offset = 5

    def kernel(out, scale=2):
        total = 0
        for j in range(6):
            total += j * scale + offset
        out[cuda.grid(1)] = total

    out = np.zeros(32, np.int64)
    simt.launch(unrolled(kernel, 4), 1, 32, out, 2)
    assert out[0] == 60
    plain: Any = unrolled(kernel, 4)
    assert (plain.__defaults__, plain.__name__, plain.__code__.co_filename) == ((2,), "kernel", __file__)


def test_an_equal_function_that_is_gone_takes_nothing_with_it() -> None:
    def kernel(out):
        for j in range(8):
            out[j] = j

    first, second = unrolled(kernel, 3), unrolled(kernel, 3)
    assert first.__code__ == second.__code__
    before = ast.dump(read_source(second).tree)
    assert before != ast.dump(read_source(kernel).tree)
    del first
    gc.collect()
    assert ast.dump(read_source(second).tree) == before


last_0 = 7


def test_names_that_the_kernel_uses_are_left_to_it() -> None:
    def kernel(out):
        total = 0
        for j in range(5):
            total += j + last_0
        out[cuda.grid(1)] = total

    out = np.zeros(32, np.int64)
    simt.launch(unrolled(kernel, 2), 1, 32, out)
    assert out[0] == 10 + 5 * last_0


WITHOUT = """
def kernel(a):
    for i in {loop}:
        {body}
"""


@pytest.mark.parametrize(
    ("loop", "body"),
    [
        ("range(a[0])", "break"),
        ("range(a[0])", "continue"),
        ("range(a[0])", "return"),
        ("range(a[0])", "i = 3"),
        ("range(0, 9, a[0])", "a[i] = 1"),
        ("a", "a[0] = i"),
        ("range(a[0])", "max = a[i]"),
    ],
)
def test_what_cannot_be_unrolled(loop: str, body: str) -> None:
    kernel = function_from(WITHOUT.format(loop=loop, body=body), {})
    with pytest.raises(LaunchError, match="kernel has no loop that could be unrolled"):
        unrolled(kernel, 4)


@pytest.mark.parametrize(
    ("kernel", "times", "message"),
    [(sums, 1, "unrolled 1 times"), (sums, "4", "unrolled '4'"), (sums, 4097, "from 2 to 4,096")],
)
def test_wrong_use(kernel: Any, times: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        unrolled(kernel, times)


def test_while_loops_are_left_alone() -> None:
    with pytest.raises(LaunchError, match="range"):
        unrolled(kernels.get("neighbored").plan(64, 32).kernel, 2)
