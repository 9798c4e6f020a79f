"""Loads that L1 has beside arithmetic, and what all blocks do to the same words or each to its own, on an H100."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simt.sass import load_cubin
from tests.machine_view import needs_nvdisasm
from tests.slow import slow
from tests.timing.launches import DATA, timed

LOADS = {
    0: 2,
    6: 5.6,
    9: 6,
    18: 6,
    24: 9,
    27: 6,
    33: 4,
    36: 6,
    42: 6,
    45: 3.6,
    46: 2.9,
    48: 2,
    52: 2.4,
    53: 3,
    54: 4,
    55: 3,
    57: 2,
    58: 2,
    60: 3.4,
}
"""Launches of busy.cu; products of 1024 columns by 32 x 32 threads, in no list, are 5 % fast.

Of 24, loads and a wide multiply for two of them by 64 warps, a wide multiply takes 1.2 cycles of the sending, not 1.5
as in sends.cu and in products: those are 3 % fast with one cycle (46, 58), and 8 (59).
"""
SUMS = {43: 8, 46: 2, 47: 5, 48: 4, 51: 5, 52: 4, 55: 3}
"""Sums in global memory of same.cu; 44, 45, 49 and 50, by blocks of 256 threads, are 15 to 31 % slow."""
WHOLE = {1: 2, 5: 2, 7: 3, 14: 2, 29: 6, 37: 2, 60: 2, 65: 5}
MANY = {2: 2, 8: 3, 9: 4, 31: 5, 32: 4, 33: 5}
"""132 to 528 blocks, all of which store to the same words: all SMs are simulated."""


@needs_nvdisasm
@pytest.mark.parametrize(
    ("program", "bounds"),
    [("busy", LOADS), ("same", SUMS), ("same", WHOLE), *slow(("same", MANY))],
    ids=["loads", "sums", "whole", "many"],
)
def test_busy_and_same(program: str, bounds: dict[int, int]) -> None:
    """Launch, and by how many percent it may be off."""
    from tests.timing.busy_launches import busy_arguments, same_arguments
    from tests.timing.held import errors

    arguments = {"busy": busy_arguments, "same": same_arguments}[program]()
    found = errors(program, arguments, bounds, integers=program == "busy")
    assert found.keys() == bounds.keys()
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}


@needs_nvdisasm
@pytest.mark.parametrize(
    ("threads", "tail", "bound"), [(64, 10000, 4), (128, 4000, 17), (256, 4000, 20), (512, 4000, 15)]
)
def test_blocks_start_in_the_room_of_warps_that_have_ended(threads: int, tail: int, bound: int) -> None:
    """Cycles for each block of an SM (tails.cu), of which one warp stays for *tail* cycles and the others for 1000."""
    figures = json.loads((DATA / "timing" / "h100" / "tails.json").read_text())["figures"]
    kernels = load_cubin(DATA / "timing" / "cubins" / "tails.cubin")
    (kernel,) = (kernels[name] for name in kernels)
    blocks = 132 * 2048 // threads * 6
    u = np.uint32
    args = [np.zeros(blocks * threads // 32 * 4, u), u(1000), u(tail), u(0)]
    stays = timed(kernel, (blocks, 1, 1), (threads, 1, 1), args, device="h100", sms="one").stays
    each = (stays[:, 4].max() - stays[:, 3].min()) / len(stays)
    assert each == pytest.approx(figures[f"{threads}.tail{tail}.warp0.block"], rel=bound / 100)
