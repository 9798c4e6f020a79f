"""Structures by value that hold pointers, and variables whose initial values are addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simt
from simt.check import LaunchError
from simt.sass.structures import inner_arrays, structure_bytes
from tests.sass.data import cubin, launch

INNER = np.dtype([("k", "i2"), ("v", "O")], align=True)
FIELDS = [("tag", "i1"), ("from", "O"), ("n", "i4"), ("inner", INNER), ("to", "O")]


def as_tuple(tag: int, source: Any, n: int, k: int, values: Any, to: Any) -> Any:
    return (np.int8(tag), source, np.int32(n), (np.int16(k), values), to)


def as_dict(tag: int, source: Any, n: int, k: int, values: Any, to: Any) -> Any:
    return {"tag": np.int8(tag), "from": source, "n": np.int32(n), "inner": {"k": np.int16(k), "v": values}, "to": to}


def as_record(tag: int, source: Any, n: int, k: int, values: Any, to: Any) -> Any:
    return np.array([(tag, source, n, (k, values), to)], np.dtype(FIELDS, align=True))[0]


@pytest.mark.parametrize("make", [as_tuple, as_dict, as_record])
def test_arrays_inside_of_a_structure(make: Callable[..., Any]) -> None:
    source, values, to = np.arange(32, dtype=np.int32), np.zeros(32, np.float32), np.zeros(32, np.int32)
    simt.launch(cubin("sm_90/structures")["copy"], 1, 32, make(5, source, 20, -3, values, to))
    assert to.tolist() == [*range(5, 25), *[0] * 12]
    assert values.tolist() == [-3.0 * i for i in range(20)] + [0.0] * 12


def test_a_null_pointer_inside_of_a_structure() -> None:
    source, to = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    simt.launch(cubin("sm_90/structures")["copy"], 1, 32, as_tuple(0, source, 32, 0, None, to))
    assert to.tolist() == list(range(32))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((np.int8(1), 7), r"argument 0\[1\] is a int, whose size in a structure is unknown"),
        ((np.int8(1), np.zeros(2)), r"argument 0 has 16 bytes \(tuple\); parameter 0 takes 48"),
        ([np.int8(1)], "argument 0 is a list with a int8 at position 0"),
        (7, "argument 0 is 7, but parameter 0 is a structure of 48 bytes"),
        (np.zeros((), [("x", "i4", 12)]), r"(?s)is an array, but parameter 0 has 48 bytes, not 8.*give array\[\(\)\]"),
    ],
)
def test_what_is_no_such_structure(value: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        simt.launch(cubin("sm_90/structures")["copy"], 1, 32, value)


TYPES = {np.int8: ctypes.c_int8, np.int16: ctypes.c_int16, np.float32: ctypes.c_float, np.float64: ctypes.c_double}
SCALARS = st.sampled_from(sorted(TYPES, key=str)).flatmap(lambda kind: st.integers(-99, 99).map(kind))
MEMBERS = st.recursive(
    st.none() | SCALARS, lambda inner: st.lists(inner, min_size=1, max_size=4).map(tuple), max_leaves=12
)


def c_type(value: Any) -> Any:
    if value is None:
        return ctypes.c_uint64
    if not isinstance(value, tuple):
        return TYPES[type(value)]
    return type("S", (ctypes.Structure,), {"_fields_": [(f"m{k}", c_type(member)) for k, member in enumerate(value)]})


def c_value(kind: Any, value: Any) -> Any:
    if value is None:
        return 0
    if not isinstance(value, tuple):
        return value.item()
    return kind(*(c_value(field, member) for (_, field), member in zip(kind._fields_, value, strict=True)))


@given(st.lists(MEMBERS, min_size=1, max_size=6).map(tuple))
def test_the_layout_is_that_of_c(value: tuple[Any, ...]) -> None:
    """ctypes lays structures out as the host's C compiler does; the padding is zero."""
    assert structure_bytes(value, iter(()), "v") == bytes(c_value(c_type(value), value))


def test_the_order_of_the_arrays() -> None:
    a, b, c = (np.zeros(k + 1) for k in range(3))
    arguments = [np.int32(1), (a, {"x": (b, None)}), as_record(0, c, 0, 0, a, b)]
    assert [len(array) for array in inner_arrays(arguments)] == [1, 2, 3, 1, 2]


def test_initial_values_that_are_addresses() -> None:
    """Of a constant, too, and byte by byte in a packed structure (R_CUDA_G64, R_CUDA_G8_0 to 56)."""
    out = np.zeros(4, np.int32)
    launch(cubin("sm_90/structures")["follow"], (1, 1, 1), (4, 1, 1), [out])
    assert out.tolist() == [40702, 80803] * 2
