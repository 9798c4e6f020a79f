"""How many accesses the queue before the load/store unit keeps, and what the warps count that wait for a place."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simt.sass import load_cubin
from tests.machine_view import needs_nvdisasm
from tests.timing.launches import DATA, measured, timed

CUBINS = DATA / "timing" / "cubins"
ACCESSES = 20
"""Of each warp, without a wait (queues.cu)."""


@needs_nvdisasm
@pytest.mark.parametrize(("name", "kind"), [("load", 0), ("shared", 2)])
@pytest.mark.parametrize("warps", [4, 16, 32])
def test_when_accesses_that_do_not_wait_are_issued(name: str, kind: int, warps: int) -> None:
    """Loads of 32 lines, or of 32 words of a bank, on an H100: the mean cycle of access 8 and of those after it.

    The GPU keeps one or two more of each scheduler: 260 cycles are eight accesses.
    """
    figures = json.loads((DATA / "timing" / "h100" / "queues.json").read_text())["figures"]
    kernels = load_cubin(CUBINS / "queues.cubin")
    kernel = kernels[next(full for full in kernels if f"queuedILi{kind}ELi{kind}ELi32E" in full)]
    u = np.uint32
    cycles, sink, data = np.zeros(32 * (ACCESSES + 1), u), np.zeros(4096, u), np.zeros(1 << 16, u)
    words = (u(1), u(0), u(32)), (u(32), u(1), u(0))
    args = [cycles, sink, data, *words, u((1 << warps) - 1), u(0)]
    timed(kernel, (1, 1, 1), (1024, 1, 1), args, device="h100", sms="all", copy_back=True)
    found = cycles.reshape(32, ACCESSES + 1)[:warps].astype(np.int64)
    for access in (8, 10, 12, 14, 16, 20):
        theirs = figures[f"{name}.all.warps{warps}.access{access}"]
        assert abs((found[:, access] - found[:, 0].min()).mean() - theirs) < max(0.1 * theirs, 260), access


@needs_nvdisasm
@pytest.mark.parametrize(("at_once", "threads"), [(2, 1024), (4, 1024), (8, 256), (8, 1024)])
def test_a_load_of_shared_memory_that_has_a_place_waits_for_its_data(at_once: int, threads: int) -> None:
    """Words of one bank (throttled.cu): short scoreboard once it is issued, MIO throttle before."""
    shape = [132, 1, 1], [threads, 1, 1]
    entry = [
        e
        for e in measured("throttled", "h100")
        if f"taken<{at_once}>" in e["kernel"] and [e["grid"], e["block"]] == list(shape)
    ][1]
    kernels = load_cubin(CUBINS / "throttled.cubin")
    kernel = kernels[next(full for full in kernels if f"takenILi{at_once}E" in full)]
    u = np.uint32
    args = [np.zeros(1 << 12, u), u(1), u(0), u(32), np.int32(32)]
    stalls = timed(kernel, (132, 1, 1), (threads, 1, 1), args, device="h100", sms="auto").stall_reasons
    for reason in ("short_scoreboard", "mio_throttle"):
        theirs = entry["counters"].get(f"stall_{reason}", 0.0)
        assert abs(stalls[reason] - theirs) < 3.3, reason
