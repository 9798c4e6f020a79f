"""L1: what shared memory leaves of it, and how long a request keeps it busy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt import devices
from simt.devices import occupancy
from simt.timing.arrays import carve_out
from simt.timing.lines import OF_LANE, coalesce, most_in_bank, most_in_tag_bank
from simt.timing.parameters import parameters
from simt.timing.ways import find, oldest, victim
from tests.machine_view import needs_nvdisasm


@pytest.mark.parametrize(
    ("device", "threads", "shared", "room"),
    [
        ("h200", 32, 36864, 228),  # 6 blocks of 37 KiB
        ("h200", 1024, 36864, 100),  # 2 of them
        ("h200", 128, 49152, 196),  # 4 of 49 KiB, exactly
        ("h200", 256, 3072, 64),  # 8 of 4 KiB, twice
        ("h200", 256, 8192, 132),  # 8 of 9 KiB; the room for twice as many ends here
        ("h200", 256, 16384, 164),  # 8 of 17 KiB, once
        ("h200", 896, 4096, 32),  # 2 of 5 KiB, twice
        ("h200", 960, 4096, 16),  # and once
        ("h200", 32, 0, 32),  # 32 blocks of what the system reserves, and no more blocks
        ("a100", 32, 36864, 164),  # 4 of 37 KiB
        ("rtx_4090", 256, 4096, 32),  # 6 of 5 KiB
        ("rtx_4090", 32, 36864, 100),  # 2 of 37 KiB
    ],
)
def test_shared_memory_has_room_for_the_blocks_that_fit(device: str, threads: int, shared: int, room: int) -> None:
    """Bytes that it takes of L1; those of the H200 as measured."""
    gpu = devices.get(device)
    assert carve_out(parameters(gpu), occupancy(gpu, threads, shared_bytes=shared)) == 1024 * room


@pytest.mark.parametrize(
    ("stride", "size", "first", "lines", "banks", "tags"),
    [
        (0, 4, 0, 1, 1, 1),
        (1, 4, 0, 1, 1, 1),
        (1, 4, 6 * 32 + 1, 2, 1, 1),
        (1, 4, 7 * 32 + 1, 2, 1, 2),
        (2, 8, 0, 2, 2, 1),
        (4, 16, 0, 4, 4, 1),
        (3, 4, 0, 3, 1, 1),
        (8, 4, 0, 8, 8, 2),
        (32, 4, 0, 32, 32, 8),
        (33, 4, 0, 32, 1, 8),
    ],
)
def test_what_a_request_takes_in_l1(stride: int, size: int, first: int, lines: int, banks: int, tags: int) -> None:
    """Lanes of *size* bytes lie *stride* words apart, from word *first*: their lines, words in one bank, look-ups."""
    addresses = 4 * (first + stride * np.arange(32, dtype=np.int64))
    own, masks, words = (np.zeros(32 + OF_LANE, np.int64) for _ in range(3))
    assert coalesce(addresses, size, own, masks, words) == lines
    assert most_in_bank(lines, words) == banks
    assert most_in_tag_bank(lines, own) == tags


@given(
    st.lists(st.integers(0, (1 << 40) - 1), min_size=1, max_size=32), st.integers(0, 40), st.sampled_from([1, 4, 16])
)
def test_lines_of_any_addresses(drawn: list[int], shift: int, size: int) -> None:
    """Each line once, in the order in which lanes come to it, with its sectors and words, and who is in which."""
    addresses = np.resize(np.array(drawn, np.int64) << shift & (1 << 40) - 1, 32) // size * size
    own, masks, words = (np.zeros(32 + OF_LANE, np.int64) for _ in range(3))
    n = coalesce(addresses, size, own, masks, words)
    lines = [int(address) // 128 for address in addresses]
    assert list(own[:n]) == list(dict.fromkeys(lines))
    assert [own[k] for k in words[OF_LANE : OF_LANE + 32]] == lines
    for k in range(n):
        there = [int(address) % 128 for address, line in zip(addresses, lines, strict=True) if line == own[k]]
        assert masks[k] == sum({1 << at // 32 for at in there})
        assert words[k] == sum({1 << word for at in there for word in range(at // 4, (at + size + 3) // 4)})


@given(st.data())
def test_ways_of_a_set(data: st.DataObject) -> None:
    """However many there are, and wherever they begin: an empty way goes first, then the one used longest ago."""
    ways, start = data.draw(st.integers(1, 20)), data.draw(st.integers(0, 9))
    tags = np.array(data.draw(st.lists(st.integers(-1, 12), min_size=40, max_size=40)), np.int64)
    used = np.array(data.draw(st.lists(st.integers(0, 30), min_size=40, max_size=40)), np.int64)
    line = data.draw(st.integers(0, 12))
    here = list(tags[start : start + ways])
    taken = [start + k for k in range(ways) if here[k] >= 0]
    first = min(taken, key=lambda way: used[way], default=-1)
    assert oldest(tags, used, start, ways) == first
    assert victim(tags, used, start, ways) == (start + here.index(-1) if -1 in here else first)
    before = used.copy()
    found = find(tags, used, start, ways, line, 99)
    assert found == (start + here.index(line) if line in here else -1)
    assert [k for k in range(40) if used[k] != before[k]] == [found] * int(found >= 0)


@needs_nvdisasm
@pytest.mark.parametrize("stores", [0, 1])
def test_which_lines_are_found_again(stores: int) -> None:
    """Hits of lines that a warp sweeps over, as an H100 counts them (sets.cu): of all strides that are a power of two
    all; of others up to 22 points off where L1 has not place for all, 8 on average.
    """
    from tests.timing.launches import measured, run

    off = []
    for entry in measured("sets", "h100"):
        lines, apart = entry["lines"], entry["lines_apart"]
        if f"<{stores}>" not in entry["kernel"] or lines not in (256, 1024, 1536) or apart > 64:
            continue
        words = np.zeros((lines * apart + 1) * 32, np.uint32)
        given = [words, np.uint32(lines), np.uint32(apart), np.uint32(16)]
        result = run("sets", f"sweptILb{stores}E", [1, 1, 1], [32, 1, 1], given, device="h100", sms="one")
        counters = entry["counters"]
        hits = result.totals["l1_hits"] / result.totals["l1_sectors"]
        off.append(100 * abs(hits - counters["l1_hit_sectors"] / counters["l1_sectors"]))
        assert off[-1] < (0.1 if apart & (apart - 1) == 0 or lines == 256 else 22), (lines, apart)
    assert len(off) == 30
    assert sum(sorted(off)[-6:]) / 6 < 8
