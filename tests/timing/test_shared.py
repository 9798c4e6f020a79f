"""Data that several SMs share, by one of them: what the others have brought to L2, and what meets there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from tests.machine_view import needs_nvdisasm
from tests.timing.launches import error, kernels, measured, run, shared_arguments, timed

STEPS = 2048
"""Lines that a launch of ``march`` reads."""


def of(launch: int) -> tuple[float, float]:
    """Error of the cycles, in percent, and bytes read from DRAM, model over H200."""
    entry = measured("shared")[launch]
    name = entry["kernel"].split("(")[0]
    result = run("shared", name, entry["grid"], entry["block"], shared_arguments()[launch])
    moved = result.metrics["dram_read_bytes"] or 0
    return error(entry, result), moved / entry["counters"]["dram_read_bytes"]


@needs_nvdisasm
@pytest.mark.parametrize("launch", [0, 5, 10, 12, 13])
def test_sms_that_read_the_same_lines_in_step_wait_for_dram_together(launch: int) -> None:
    """132 SMs of one warp or eight, and 1, 16 and 64 SMs: a latency of DRAM each line, fetched once."""
    off, moved = of(launch)
    assert abs(off) < 5
    assert 0.85 < moved < 1.1


@needs_nvdisasm
def test_all_sms_find_what_is_on_its_way() -> None:
    """Blocks that begin lines apart: the first waits for each line, the others find it there or on its way."""
    entry = measured("shared")[1]
    short = measured("shared")[3]
    for apart, each in ((1, entry), (15, short)):
        arguments = shared_arguments()[1]
        arguments[2] = np.uint32(apart)
        result = run("shared", "march", each["grid"], each["block"], arguments, sms="all")
        assert abs(error(each, result)) < 8


@needs_nvdisasm
@pytest.mark.parametrize(("launch", "most"), [(14, 18), (17, 21), (20, 11.5), (23, 9)])
def test_words_anywhere(launch: int, most: float) -> None:
    """Tables of 4 MiB to 1 GiB: what others have read is in L2, and DRAM delivers half as much as in order.

    The second is 20.2 % fast and the third 9.4: all SMs begin at once, as on the H200.
    """
    off, moved = of(launch)
    assert abs(off) < most
    assert 0.7 < moved < 1.05


@needs_nvdisasm
@pytest.mark.parametrize("launch", range(26, 36))
def test_global_histograms(launch: int) -> None:
    """Of 1 to 1024 bins: requests to a line follow each other, lanes that meet at a word, too."""
    off, _ = of(launch)
    assert abs(off) < 20


@needs_nvdisasm
@settings(max_examples=15, deadline=None)
@given(st.integers(2, 132), st.integers(64, 512))
def test_what_all_blocks_read_is_fetched_once(blocks: int, lines: int) -> None:
    u = np.uint32
    arguments = [np.zeros(lines * 32, u), u(lines), u(0), np.zeros(1 << 13, u)]
    kernel = next(kernel for name, kernel in kernels("shared").items() if "march" in name)
    result = timed(kernel, (blocks, 1, 1), (32, 1, 1), arguments)
    moved = (result.metrics["dram_read_bytes"] or 0) / 128
    # One SM's share, rounded up to what L2 fetches at once.
    assert lines * 0.9 - blocks <= moved <= lines + blocks


def passes(data: Any, out: Any, times: int, shift: int) -> None:
    i = cuda.grid(1)
    total = 0
    for k in range(times):
        for j in range(0, len(data), cuda.gridsize(1)):
            total += data[(i + j + k * shift) % len(data)]
    out[i] = total


@pytest.mark.parametrize("shift", [0, 256])
def test_l2_has_lost_what_was_fetched_too_long_ago(shift: int) -> None:
    """Each SM reads its part of 64 MiB twice, or then that of the SM beside: DRAM delivers twice what is there."""
    data, out = np.zeros(1 << 24, np.int32), np.zeros(528 * 256, np.int32)
    timed = simt.launch(passes, 528, 256, data, out, 2, shift, device="h200", timing=True)
    assert timed.metrics["dram_read_bytes"] == pytest.approx(2 * data.nbytes, rel=0.05)


def test_l2_still_has_what_fits() -> None:
    data, out = np.zeros(1 << 22, np.int32), np.zeros(528 * 256, np.int32)
    timed = simt.launch(passes, 528, 256, data, out, 2, 256, device="h200", timing=True)
    assert timed.metrics["dram_read_bytes"] == pytest.approx(data.nbytes, rel=0.05)


def product(a: Any, b: Any, c: Any) -> None:
    x, y = cuda.grid(2)
    total = 0.0
    for k in range(b.shape[0]):
        total += a[y, k] * b[k, x]
    c[y, x] = total


@pytest.mark.parametrize("n", [1024, 1040])
def test_matrices_are_fetched_once(n: int) -> None:
    """Blocks of an SM that share columns stop asking for new ones halfway; the busiest SM has more blocks than most."""
    a, b, c = (np.zeros(shape, np.float32) for shape in ((n, 64), (64, n), (n, n)))
    timed = simt.launch(product, (n // 16, n // 16), (16, 16), a, b, c, device="h200", timing=True)
    assert timed.metrics["dram_read_bytes"] == pytest.approx(a.nbytes + b.nbytes, rel=0.02)


def test_what_no_block_reads_is_not_fetched() -> None:
    """Half of each row of a factor is never read: SMs share the rest, as an H100 does (16.8 MB of 25 in a product)."""
    n = 1024
    a, b, c = (np.zeros(shape, np.float32) for shape in ((n, 64), (64, 2 * n), (n, n)))
    timed = simt.launch(product, (n // 16, n // 16), (16, 16), a, b, c, device="h200", timing=True)
    assert timed.metrics["dram_read_bytes"] == pytest.approx(a.nbytes + b.nbytes / 2, rel=0.02)
