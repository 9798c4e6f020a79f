"""When SMs start their blocks, held to what clocks in the kernels of places.cu read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.machine_view import needs_nvdisasm
from tests.timing.launches import DATA, run


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", "h100"])
def test_in_a_first_wave_all_sms_start_their_blocks_at_once(device: str) -> None:
    """Eight blocks of one warp on each: from the first to the second, and to the last."""
    figures = json.loads((DATA / "timing" / device / "places.json").read_text(encoding="utf-8"))["figures"]
    words = [np.zeros(8 * 132 * 32, np.uint32) for _ in range(2)]
    timed = run("paths", "addedILb0E", [8 * 132, 1, 1], [32, 1, 1], words, sms="all", device=device)
    starts = np.array([np.sort(timed.stays[timed.stays[:, 1] == sm, 3]) for sm in range(132)])
    assert (starts == starts[0]).all()
    assert starts[0, 1] - starts[0, 0] == pytest.approx(figures["1056x32.work0.second"], abs=1)
    assert starts[0, -1] - starts[0, 0] == pytest.approx(figures["1056x32.work0.last"], abs=2)
