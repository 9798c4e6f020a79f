"""Initcheck's memory: what counts as written, what ``fill`` puts there, and several launches one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, int32

import simt
from simt.check import UninitializedError


def even(out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        out[t] = t


def double(out):
    t = cuda.threadIdx.x
    out[t] = out[t] * 2


def copy_shared(out):
    s = cuda.shared.array(64, int32)
    out[cuda.threadIdx.x] = s[cuda.threadIdx.x]


def test_what_a_checked_launch_writes_is_written_for_the_next_one():
    out = simt.uninitialized(64, np.int32)
    simt.launch(even, 1, 64, out, check="initcheck")
    with pytest.raises(UninitializedError, match=r"`out\[1\]`, which nobody has written"):
        simt.launch(double, 1, 64, out, check="initcheck")
    out[1::2] = 0
    simt.launch(double, 1, 64, out, check="initcheck")


def test_a_launch_without_the_check_counts_as_writing_everything():
    out = simt.uninitialized(64, np.int32)
    simt.launch(even, 1, 64, out)
    simt.launch(double, 1, 64, out, check="initcheck")


@given(st.integers(0, 63), st.integers(0, 63), st.integers(1, 5))
def test_assignments_through_views_are_writes(first: int, end: int, step: int):
    out = simt.uninitialized((8, 8), np.int16)
    flat = out.reshape(-1)
    flat[first:end:step] = 1
    written = np.zeros(64, bool)
    written[first:end:step] = True
    assert out.unwritten is not None
    np.testing.assert_array_equal(out.unwritten.reshape(64, 2) == 0, np.stack([written, written], 1))


def test_arrays_of_a_device():
    gpu = simt.Device()
    out = gpu.empty(64, np.int32)
    gpu.launch(even, 1, 64, out, check="initcheck")
    with pytest.raises(UninitializedError):
        gpu.launch(double, 1, 64, out, check="initcheck")
    gpu.recover()
    out.write(7)
    gpu.launch(double, 1, 64, out, check="initcheck")
    assert (out.numpy() == 14).all()


def test_fill_is_what_nobody_has_written():
    out = simt.uninitialized(64, np.int32)
    simt.launch(even, 1, 64, out, fill=0xCD)
    assert out[1] == np.frombuffer(b"\xcd" * 4, np.int32)[0]
    assert out[2] == 2
    found = np.zeros(64, np.int32)
    simt.launch(copy_shared, 1, 64, found, fill=0xCD)
    assert (found == np.frombuffer(b"\xcd" * 4, np.int32)[0]).all()
    simt.launch(copy_shared, 1, 64, found, fill="random:1")
    again = found.copy()
    simt.launch(copy_shared, 1, 64, again, fill="random:1")
    np.testing.assert_array_equal(found, again)
    assert len(set(found.tolist())) > 60


def set_on_a_path(out, n, number):
    if n > 5:
        v = number
    out[0] = abs(v)


@pytest.mark.parametrize("number", [1.5, 1.5 + 2j])
def test_variables_that_a_path_does_not_set(number: complex):
    simt.launch(set_on_a_path, 1, 32, np.zeros(1), 6, number, check="initcheck")
    with pytest.raises(UninitializedError, match="`v` is used by lanes whose path has not set it"):
        simt.launch(set_on_a_path, 1, 32, np.zeros(1), 5, number, check="initcheck")


@pytest.mark.parametrize("fill", [256, -1, "random:x", "zeros", 1.5])
def test_fills_that_there_are_not(fill: object):
    with pytest.raises(simt.LaunchError, match="it must be a byte or random:SEED"):
        simt.launch(copy_shared, 1, 64, np.zeros(64, np.int32), fill=fill)
