"""Functions that kernels define inside themselves: what Python makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt.check import KernelError, UnsupportedError

SCALE = 3


def closures(out, x, y):
    late = y

    def polynomial(a, b, c=late, *rest, d=SCALE):
        total = a * b + c - d
        if a > b:
            total += 1
        for item in rest:
            total += item
        return total

    def compose(f, g):
        return f(g(x))

    def counter():
        def inner():
            return late + x

        return inner()

    late = 7
    out[0] = polynomial(x, y, 1, 4)
    out[1] = polynomial(x, y, 2, 5, 6, d=x)
    out[2] = compose(lambda v: v - late, lambda v: v * v)
    out[3] = counter()
    total = 0
    i = 0

    def shifted(v):
        v += i
        return v

    while i < 3:
        total += shifted(x)
        i += 1
    out[4] = total
    out[5] = apply_to(polynomial, x, 1, 2, 3)


def apply_to(function, *args):
    return function(*args)


@settings(max_examples=15)
@given(st.integers(-9, 9), st.integers(-9, 9))
def test_inner_functions_see_the_variables_around_them(x: int, y: int) -> None:
    expected = np.zeros(6, np.int64)
    closures(expected, x, y)
    found = np.zeros(6, np.int64)
    simt.launch(closures, 1, 1, found, x, y)
    np.testing.assert_array_equal(found, expected)


def names_stay_apart(out):
    v = 1

    def inner():
        v = 5
        return v

    out[0] = inner()
    out[1] = v


def test_what_an_inner_function_assigns_is_its_own() -> None:
    out = np.zeros(2)
    simt.launch(names_stay_apart, 1, 1, out)
    assert out.tolist() == [5, 1]


def recursive(out):
    def down(n):
        return down(n - 1)

    out[0] = down(3)


def decorated(out):
    @cuda.jit
    def inner():
        return 1

    out[0] = inner()


def on_two_paths(out):
    if out[0] > 0:

        def inner():
            return 1

    else:

        def inner():
            return 2

    out[0] = inner()


@pytest.mark.parametrize(
    ("kernel", "kind", "message"),
    [
        (recursive, UnsupportedError, "recursion: down calls itself"),
        (decorated, UnsupportedError, "a decorator inside a kernel"),
        (on_two_paths, KernelError, "variable 'inner' is the function inner on one path"),
    ],
)
def test_what_inner_functions_cannot_do(kernel: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        simt.launch(kernel, 1, 1, np.zeros(1))
