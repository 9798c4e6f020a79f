"""Loads of many lines that DRAM sends, by SMs alone and by many that share them, against an H200 (fans.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.sass import SassKernel, load_cubin
from tests.machine_view import needs_nvdisasm

TRIPS = 32


def _measured(lines: int, share: int, warps: int, what: str) -> float:
    """Cycles that a load took, or a step with it, for rows 544 and 1056 words apart, by as many SMs as share lines."""
    from tests.timing.microbenchmarks import figures

    shape = f"blocks{1 if share == 1 else 128}.share{share}.warps{warps}.meet{int(warps > 1)}.{what}"
    return float(np.mean([figures("fans")[f"fan.lines{lines}.pitch{pitch}.{shape}"] for pitch in (544, 1056)]))


def _launch(lines: int, share: int, warps: int) -> tuple[SassKernel, Any, Any, list[Any]]:
    from tests.timing.microbenchmarks import DATA

    kernels = load_cubin(DATA / "cubins" / "fans.cubin")
    u, pitch, blocks = np.uint32, 544, 1 if share == 1 else 128
    data = np.zeros(blocks // share * warps * lines * pitch + 1024, u)
    given = [data, np.zeros(2 * blocks * warps, u), u(pitch), u(TRIPS), u(share), np.int32(warps > 1)]
    kernel = next(kernels[name] for name in kernels if f"fanILi{lines}E" in name)
    return kernel, (blocks, 1, 1), (32 * warps, 1, 1), given


@needs_nvdisasm
@pytest.mark.parametrize(("lines", "share", "bound"), [(32, 16, 3), (16, 128, 3)])
def test_loads_whose_lanes_go_down_rows_wait_for_the_last_line(lines: int, share: int, bound: float) -> None:
    """Also if other SMs want their lines at the same time; eight warps an SM, which meet after each load."""
    from tests.timing.launches import timed

    kernel, grid, block, given = _launch(lines, share, 8)
    timed(kernel, grid, block, given, sms="all", copy_back=True)
    found = given[1][::2].mean() / TRIPS
    assert abs(100 * (found / _measured(lines, share, 8, "load") - 1)) < bound


@needs_nvdisasm
@pytest.mark.parametrize(("lines", "share", "bound"), [(32, 16, 3), (32, 128, 8)])
def test_one_sm_waits_for_lines_that_others_ask_for_too(lines: int, share: int, bound: float) -> None:
    """Two SMs for 128, a warp each: 25 and 22 % fast without that."""
    from tests.timing.launches import timed

    result = timed(*_launch(lines, share, 1), sms="auto")
    found = result.mean_sm_cycles / TRIPS
    assert result.n_sms < 4
    assert abs(100 * (found / _measured(lines, share, 1, "step") - 1)) < bound
