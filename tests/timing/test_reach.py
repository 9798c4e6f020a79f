"""Local memory in L1, L2 and DRAM, and grids whose last wave is not full, against an H200 and an H100 (reach.cu)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from simt.timing import TimingResult
from tests.machine_view import needs_nvdisasm
from tests.slow import slow

U32, F32 = np.uint32, np.float32


def timed(entry: Mapping[str, Any], device: str, shared: int = 0) -> TimingResult:
    """The simulation of a launch of local arrays or of atomics."""
    from tests.timing.launches import run

    name, _, values = entry["kernel"].split("(")[0].removeprefix("void ").partition("<")
    shape = entry["grid"], entry["block"]
    if name == "meet":
        return run("reach", name, *shape, [np.zeros(32, U32), U32(32)], device=device, sms="auto")
    words, mode = (int(value) for value in values.rstrip(">").replace("(int)", "").split(", "))
    arguments = [np.zeros(1 << 20, F32), U32(words), U32(4 if mode else 8), F32(1)]
    kernel = f"localILi{words}ELi{mode}E"
    return run("reach", kernel, *shape, arguments, device=device, shared_bytes=shared, sms="auto")


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", *slow("h100")])
def test_local_memory_passes_the_caches(device: str) -> None:
    """Arrays of 128 bytes to 8 KiB a thread, by few warps and many, beside much shared memory and none.

    Launch of reach.cu, and by how many percent it may be off.
    """
    from tests.timing.held import moved
    from tests.timing.launches import error, measured

    entries = measured("reach", device)
    bounds = {1: 8, 4: 13, 8: 8, 11: 5, 13: 8, 15: 14, 18: 12, 20: 5, 22: 17, 25: 16, 27: 15, 29: 8, 30: 9}
    for k, bound in bounds.items():
        result = timed(entries[k], device, 32 << 10 if k in (4, 11, 18, 25) else 0)
        assert abs(error(entries[k], result)) < bound, (k, error(entries[k], result))
        counters, metrics = entries[k]["counters"], result.metrics
        hits = 100 * counters["l1_hit_sectors"] / counters["l1_sectors"]
        assert metrics["l1_hit_rate"] == pytest.approx(hits, abs=18 if k == 4 else 6), k
        there, here = moved(entries[k], result)
        if there > 1e8:
            assert here == pytest.approx(there, rel=0.07), k


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", "h100"])
def test_atomics_of_blocks_that_do_not_fill_the_last_wave(device: str) -> None:
    """The SM with two of 140, 200 or 300 blocks does not stand for 132 with as many."""
    from tests.timing.launches import error, measured

    for entry in measured("reach", device):
        if entry["kernel"].startswith("meet") and entry["grid"][0] % 132:
            assert abs(error(entry, timed(entry, device))) < 4.5, entry["grid"]
