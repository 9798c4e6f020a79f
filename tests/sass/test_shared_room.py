"""How much shared memory a block has, against an H200: results, rows, and how many blocks fit on an SM."""

from __future__ import annotations

import json

import numpy as np
import pytest

import simt
from simt.check import LaunchError
from tests.machine_view import needs_nvdisasm
from tests.sass.data import DATA, cubin

RECORDED = json.loads((DATA / "h200" / "shared_room.json").read_text())
ARGUMENTS = {"room": (np.float32, (4096,)), "all_static": (np.int32, ())}

pytestmark = needs_nvdisasm


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_results_rows_and_occupancy(name: str) -> None:
    recorded = RECORDED["launches"][name]
    dtype, numbers = ARGUMENTS[name]
    out = np.zeros(len(recorded["output"]), dtype)
    kernel = cubin("sm_90/shared_room")[name]
    profile = simt.launch(
        kernel, recorded["grid"], recorded["block"], out, *numbers, shared_bytes=recorded["shared_bytes"], device="h200"
    )
    assert out.tolist() == recorded["output"]
    assert (kernel.shared_bytes, kernel.system_shared_bytes) == (recorded["static_bytes"], recorded["system_bytes"])
    assert profile.metrics["theoretical_occupancy"] == pytest.approx(recorded["theoretical_occupancy"], abs=0.005001)
    rows = {
        hex(line.offset): [line.counters[column] for column in RECORDED["columns"]]
        for line in profile.lines
        if line.counters["inst_executed"]
    }
    assert rows == recorded["rows"]


def test_dynamic_memory_up_to_the_limit() -> None:
    """227 KiB are the kernel's; the system's KiB comes on top."""
    kernel, out = cubin("sm_90/shared_room")["room"], np.zeros(64, np.float32)
    most = 227 * 1024 - kernel.shared_bytes
    simt.launch(kernel, 1, 64, out, most // 4, shared_bytes=most)
    with pytest.raises(LaunchError, match="bytes of shared memory per block; the limit is 232448"):
        simt.launch(kernel, 1, 64, out, most // 4, shared_bytes=most + 8)
