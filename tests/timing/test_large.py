"""Rows of blocks that load the same, which L2 cannot hold: DRAM's bytes of an H100 (large.cu, bands.cu)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from simt.ops.jit import plain
from simt.timing import layout, mates
from tests.machine_view import needs_nvdisasm
from tests.slow import few

L2_BYTES = 36 << 20


def _off(program: str, launch: int) -> tuple[float, float]:
    """By which shares DRAM moves more, and the launch takes longer, than on an H100."""
    from tests.timing.bands_launches import bands_launches
    from tests.timing.held import moved
    from tests.timing.large_launches import large_launches
    from tests.timing.launches import error, measured, run

    entry = measured(program, "h100")[launch]
    name, arguments = (bands_launches() if program == "bands" else large_launches())[launch]
    shared = {14: 100000, 15: 50000, 16: 25000}.get(launch, 0) if program == "bands" else 0
    shape = entry["grid"], entry["block"], arguments
    timed = run(program, name, *shape, device="h100", sms="one", shared_bytes=shared)
    there, here = moved(entry, timed)
    return here / there - 1, error(entry, timed)


@needs_nvdisasm
@pytest.mark.parametrize(
    ("launch", "bound"),
    few(
        [(3, 0.15), (5, 0.2), (6, 0.18), (8, 0.08), (9, 0.1), (12, 0.2), (13, 0.06), (15, 0.06), (19, 0.12), (28, 0.1)],
        always=[3, 5, 12],
    ),
)
def test_products_of_which_l2_does_not_hold_a_factor(launch: int, bound: float) -> None:
    """If each line is fetched once, DRAM moves 85 to 96 % less than there, of 3 half, of 5 and 19 three quarters."""
    assert abs(_off("bands", launch)[0]) < bound


@needs_nvdisasm
@pytest.mark.slow
def test_many_waves_of_a_product() -> None:
    """2.1 GB for factors of 38 MB each: a third of the lines are still there when the next row of blocks comes."""
    more, off = _off("large", 20)
    assert abs(more) < 0.16
    assert abs(off) < 4


def test_what_l2_has_lost_of_streams_that_follow_each_other() -> None:
    """Of lines that n streams of SMs load one after the other half are lost if n times what lies between two fills L2.

    So L2 loses the least recently used, and a use by any SM counts.
    """
    from tests.timing.large_launches import PRODUCTS, streams
    from tests.timing.launches import measured

    entries = measured("large", "h100")[PRODUCTS:]
    once = entries[0]["counters"]["dram_read_bytes"]
    off = []
    for entry, (n, mib) in zip(entries[1:], streams(), strict=True):
        lost = (entry["counters"]["dram_read_bytes"] / once - 1) / (n - 1)
        used = n * mib * 2**20 / L2_BYTES
        off.append(1 / (1 + np.exp((mates.HOLDS - used) / mates.SPREAD)) - lost)
    assert np.abs(off).mean() < 0.05
    assert np.abs(off).max() < 0.25


def _clock(x: int, warps: int) -> SimpleNamespace:
    config = np.zeros(layout.N_CONFIG, np.int64)
    config[layout.G_GRID_X], config[layout.G_WARPS] = x, warps
    return SimpleNamespace(
        CONFIG=config,
        WARPS=np.zeros(layout.N_WARP, np.int64),
        SLOTS=np.zeros(layout.N_SLOT, np.int64),
        ALIKE=np.zeros(mates.N_ALIKE, np.int64),
    )


@pytest.mark.parametrize(
    ("words", "alike"),
    [
        (lambda x, y: 64 * x, 1),  # columns of a factor
        (lambda x, y: 16 * 4096 * y, -1),  # rows of the other
        (lambda x, y: 64 * x + 64 * 4096 * y, -1),  # a block's own
        (lambda x, y: 0, -1),  # of all
    ],
)
def test_rows_load_the_same_if_blocks_differ_by_their_columns_alone(words, alike) -> None:  # type: ignore[no-untyped-def]
    """Blocks 0 and 132 of 64 to a row, 256 threads each."""
    clock = _clock(64, 8)
    for number, block in enumerate((0, 132)):
        clock.SLOTS[layout.S_NUMBER] = number
        plain(mates._note_rows)(0, 0, block, words(block % 64, block // 64), 4, clock)
    assert clock.ALIKE[mates.AL_KNOWN] == alike
