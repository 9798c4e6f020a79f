"""What a warp's accesses touch, near each other and far apart: units, updates, passes through shared memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.machine.coalescing import count_units, count_updates
from simt.machine.wavefronts import count_wavefronts
from tests.machine.memory_model import wavefronts

masks = st.integers(1, 2**32 - 1) | st.sampled_from([2**32 - 1, 0xFFFF, 0x55555555, 1 << 31])


def with_idle_lanes(units: list[int], shift: int, mask: int) -> np.ndarray:
    """Addresses as the engine has them: lanes that do not execute have that of the first that does."""
    first = (mask & -mask).bit_length() - 1
    return np.array([units[lane if mask >> lane & 1 else first] << shift for lane in range(32)], np.int64)


@given(
    units=st.lists(st.integers(0, 2**20), min_size=32, max_size=32)
    | st.lists(st.integers(0, 2**33), min_size=32, max_size=32).map(sorted)
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


anywhere = st.lists(st.integers(0, 3000), min_size=32, max_size=32)
few = st.lists(st.sampled_from([0, 1, 8, 16, 32, 64, 96, 97]), min_size=32, max_size=32)


@pytest.mark.parametrize("shift", range(5))
def test_passes_are_those_of_the_words_in_each_bank(shift: int) -> None:
    """Lanes at any distance, in pairs (also of every other lane alone), and anywhere, some of them idle."""
    random = np.random.default_rng(shift)
    lane = np.arange(32)
    patterns = [2000 + step * lane for step in range(-33, 34)]
    patterns += [random.integers(0, most, 32)[lane & ~apart] for apart in range(4) for most in (12, 400)]
    for units in patterns:
        for mask in (0xFFFFFFFF, 0x55555555, 0x33333333, 0xF0F0F00F, *random.integers(1, 1 << 32, 8).tolist()):
            addresses = with_idle_lanes(units.tolist(), shift, mask)
            wanted = wavefronts({one: int(addresses[one]) for one in range(32) if mask >> one & 1}, 1 << shift)
            assert count_wavefronts(addresses, 1 << shift, mask) == wanted


@given(
    units=anywhere | few | st.lists(st.sampled_from([0, 1, 7, 8, 2**32, 2**32 + 1, 2**40]), min_size=32, max_size=32),
    shift=st.integers(2, 4),
    mask=masks,
)
def test_each_sector_is_updated_as_often_as_lanes_meet_there(units: list[int], shift: int, mask: int) -> None:
    addresses = with_idle_lanes(units, shift, mask)
    meeting: dict[int, dict[int, int]] = {}
    for lane in range(32):
        if mask >> lane & 1:
            words = meeting.setdefault(int(addresses[lane]) >> 5, {})
            words[int(addresses[lane])] = words.get(int(addresses[lane]), 0) + 1
    wanted = sum(max(words.values()) for words in meeting.values())
    assert count_updates(addresses, shift, addresses.min(), addresses.max(), mask, len(meeting)) == wanted
