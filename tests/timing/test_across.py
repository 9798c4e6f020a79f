"""Lines that blocks complete which do not write side by side in a row of the grid, against an H100 (across.cu)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.ops.jit import plain
from simt.timing import layout, slices
from tests.machine_view import needs_nvdisasm

SOME = 25e6
"""Bytes that may be moved beyond those measured, or not."""


def _off(launch: int) -> tuple[float, float]:
    """Error of the cycles in %, and bytes that DRAM moves beyond those that an H100 moved."""
    from tests.timing.across_launches import across_arguments
    from tests.timing.held import launched, moved
    from tests.timing.launches import error

    entry, timed = launched("across", across_arguments(), launch, integers=False, sms="auto")
    there, here = moved(entry, timed)
    return error(entry, timed), here - there


@needs_nvdisasm
@pytest.mark.parametrize("launch", [0, 2, 3, 11, 12, 14, 17])
def test_threads_go_round_columns(launch: int) -> None:
    """Transposes by a row of blocks: 4 to 33 million words, each stored to a line of its own.

    If one SM has to complete the sectors that blocks a round later write, they take 2.2 to 2.5 times as long, but for
    launch 0, of one block a round.  If L2 takes them as fast as whole sectors, four are 9 to 11 % fast.
    """
    off, more = _off(launch)
    assert abs(off) < (8.5 if launch == 12 else 8)
    assert abs(more) < SOME


@needs_nvdisasm
@pytest.mark.parametrize("launch", [26, 28, 32])
def test_rows_of_blocks_complete_lines(launch: int) -> None:
    """Blocks of a row write lines of their own, those of the next rows the words behind: 32 of them fill a line.

    If nobody completes them, they take twice as long.
    """
    off, more = _off(launch)
    assert abs(off) < 6
    assert abs(more) < SOME / 4


@given(st.integers(1, 8), st.integers(0, 40), st.integers(33, 4096), st.integers(1, 400))
def test_how_often_blocks_have_gone_round(warps: int, more: int, stride: int, blocks: int) -> None:
    """Thread i stores to word i % columns * stride + i // columns; the allocation ends with a part of a line."""
    columns = 32 * warps * 8 + more
    stride = max(stride, 32 * warps * blocks // columns + 2)
    words = columns * stride
    t = SimpleNamespace(CONFIG=np.zeros(layout.N_CONFIG, np.int64), QUOTAS=np.ones(1))
    t.CONFIG[layout.G_WARPS] = warps
    t.EXTENTS = np.array([0, (words + 31) // 32])
    threads = 32 * warps * blocks
    word = threads % columns * stride + threads // columns
    rounds, further = plain(slices._rounds)(blocks, word, word, 32 * warps * stride, t)
    assert rounds == (threads // columns if threads >= columns else 0)
    assert further == rounds
