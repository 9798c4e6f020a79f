"""Distinct units that a warp's accesses touch, near each other and far apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.machine.coalescing import count_units


@given(
    units=st.lists(st.integers(0, 2**20), min_size=32, max_size=32)
    | st.lists(st.sampled_from([0, 1, 63, 64, 2**12, 2**31, 2**32 - 1, 2**32, 2**33 + 1]), min_size=32, max_size=32),
    shift=st.integers(0, 5),
    start=st.integers(0, 2**36),
)
def test_units_are_counted_once(units: list[int], shift: int, start: int) -> None:
    addresses = np.array([(start + unit) << shift for unit in units], np.int64)
    assert count_units(addresses, shift, addresses.min(), addresses.max()) == len(set(units))


@pytest.mark.parametrize("apart", [64, 2**32])
def test_every_pair_of_lanes_may_meet(apart: int) -> None:
    for low in range(32):
        for high in range(low + 1, 32):
            addresses = np.arange(32, dtype=np.int64) * apart
            addresses[high] = addresses[low]
            assert count_units(addresses, 0, addresses.min(), addresses.max()) == 31
