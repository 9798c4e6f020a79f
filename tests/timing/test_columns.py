"""Matrices that threads fill, add and transpose by columns, and stores that leave as one, against an H100."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm
from tests.slow import few, slow


@cache
def _timed(launch: int) -> tuple[dict[str, float], TimingResult]:
    """Counters of a launch of columns.cu as measured, and the launch as simulated."""
    from tests.timing.columns_launches import columns_arguments
    from tests.timing.held import launched

    entry, timed = launched("columns", columns_arguments(), launch, sms="auto")
    return entry["counters"], timed


@needs_nvdisasm
@pytest.mark.parametrize(
    ("launch", "bound"),
    few(
        [
            (0, 6),
            (9, 6),
            (11, 6),
            (12, 3),
            (13, 3),
            (15, 7),
            (18, 7),
            (20, 4),
            (21, 4),
            (33, 4),
            (36, 8),
            (39, 4),
            (41, 5),
        ],
        always=[9, 12, 20, 33, 41],
    ),
)
def test_stores_by_columns(launch: int, bound: float) -> None:
    """Blocks of 16 x 16 threads store to 16 lines a warp: of the eight stores to a line an H100 sends five to seven.

    If those that wait join whatever comes between, launches 0 to 21 are 41 to 58 % fast; if stores to 16 lines in turn
    do not join at all, sums (33, 36) are 16 and 17 % slow.
    """
    counters, timed = _timed(launch)
    assert abs(timed.cycles / counters["cycles"] - 1) * 100 < bound


@needs_nvdisasm
@pytest.mark.parametrize("launch", [0, 15, 16, 20, 39])
def test_blocks_below_each_other_fill_lines(launch: int) -> None:
    """What the warps of a block store of a line counts together: 10 to 30 MB of these matrices stay in L2.

    If each warp answers for what it stores itself, 30 MB of launch 0 are written, not 20;
    if as many lines as of whole stores may wait, 17.
    """
    counters, timed = _timed(launch)
    assert abs(float(timed.metrics["dram_write_bytes"] or 0) / counters["dram_write_bytes"] - 1) < 0.1


@needs_nvdisasm
@pytest.mark.parametrize(("launch", "bound"), [*slow((42, 9), (43, 11)), (44, 4), (45, 4), *slow((46, 8))])
def test_transposes_by_tiles(launch: int, bound: float) -> None:
    """Blocks of 1024 threads that load, meet and store: reads wait for what all SMs write, not for their own block's.

    With the load of the last 1024 cycles the doubles of launches 42 and 43 are 13 and 17 % slow.
    """
    counters, timed = _timed(launch)
    assert abs(timed.cycles / counters["cycles"] - 1) * 100 < bound


@needs_nvdisasm
@pytest.mark.parametrize(("lines", "bound"), [(8, 1.8), (16, 1.5), (32, 0.3)])
def test_stores_to_many_lines_in_turn(lines: int, bound: float) -> None:
    """Warps of one block that store once to the same lines: sixteen lines are joined, thirty-two are not.

    *bound*: of the logarithm to base 2 of how much the model sends for what an H100 does.  With no joins for 16 lines
    it sends up to 16 times as much.
    """
    from tests.timing.columns_launches import turns_shapes
    from tests.timing.launches import measured, run

    u = np.uint32
    for launch, (own, times, blocks, _) in enumerate(turns_shapes()):
        if own != lines or times > 1 or blocks != 132:
            continue
        entry = measured("turns", "h100")[launch]
        arguments = [np.zeros(1 << 21, u), u(1056 * 32 + 41 * 32), u(times)]
        timed = run("turns", f"turnsILi{own}E", entry["grid"], entry["block"], arguments, device="h100", sms=1)
        sent = entry["counters"]["sent_cycles"] / blocks
        assert abs(np.log2(timed.totals["sent"] / sent)) < bound, (launch, timed.totals["sent"], sent)
