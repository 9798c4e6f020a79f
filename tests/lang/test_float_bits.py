"""math.frexp and math.nextafter: those of the host, bit by bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simt
from tests.machine_view import needs_numba_cuda

WIDTHS = ((np.float32, np.int32), (np.float64, np.int64))


def apart(out, exponents, x):
    out[0], exponents[0] = math.frexp(x)


def after(out, x, y):
    out[0] = math.nextafter(x, y)


def floats(dtype: Any) -> Any:
    return st.floats(width=32 if dtype is np.float32 else 64).map(dtype)


@pytest.mark.parametrize(("dtype", "bits"), WIDTHS)
@settings(max_examples=60)
@given(data=st.data())
def test_frexp(dtype: Any, bits: Any, data: Any) -> None:
    x = data.draw(floats(dtype))
    out, exponents = np.zeros(1, dtype), np.zeros(1, np.int32)
    simt.launch(apart, 1, 1, out, exponents, x)
    fraction, exponent = np.frexp(x)
    np.testing.assert_array_equal(out.view(bits), np.array([x if np.isnan(x) else fraction], dtype).view(bits))
    assert exponents[0] == (exponent if np.isfinite(x) else 0)


@pytest.mark.parametrize(("dtype", "bits"), WIDTHS)
@settings(max_examples=60)
@given(data=st.data())
def test_nextafter(dtype: Any, bits: Any, data: Any) -> None:
    x, y = data.draw(floats(dtype)), data.draw(st.one_of(floats(dtype), st.just(dtype(0))))
    out = np.zeros(1, dtype)
    simt.launch(after, 1, 1, out, x, y)
    expected = np.array([np.nextafter(x, y)])
    np.testing.assert_array_equal(out, expected)
    if not np.isnan(expected[0]):
        np.testing.assert_array_equal(out.view(bits), expected.view(bits))


@needs_numba_cuda
def test_those_of_libdevice() -> None:
    from numba.cuda import libdevice

    def kernel(out, x):
        out[0], out[1] = libdevice.sincos(x)
        out[2], out[3] = libdevice.frexp(x)
        out[4] = libdevice.nextafter(x, 0.0)

    out = np.zeros(5)
    simt.launch(kernel, 1, 1, out, 2.75)
    assert out.tolist() == [math.sin(2.75), math.cos(2.75), *math.frexp(2.75), math.nextafter(2.75, 0.0)]
