"""Bytes of a request: each counts once, as in ncu's data_bytes_per_sector and data_bytes_per_wavefront (H200)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import simt
from tests.machine_view import DATA, needs_nvdisasm

pytestmark = needs_nvdisasm

RECORDED = json.loads((DATA.parent / "hardware" / "request_bytes.json").read_text())
COUNTERS = {
    "smsp__sass_data_bytes_mem_global_op_ld.sum": ("global_load_bytes_distinct",),
    "smsp__sass_data_bytes_mem_global_op_st.sum": ("global_store_bytes_distinct",),
    "smsp__sass_data_bytes_mem_shared_op_ld.sum": ("shared_load_bytes_distinct",),
    "smsp__sass_data_bytes_mem_shared_op_st.sum": ("shared_store_bytes_distinct",),
    "smsp__sass_data_bytes_mem_shared_op_atom.sum": ("shared_atomic_bytes_distinct",),
}
EFFICIENCIES = {
    "gld_efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "gst_efficiency": "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "shared_efficiency": "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct",
}


MEETING_STORES = {"sst_8", "sst_16"}
"""Stores of 8 and 16 bytes to one address take more passes than loads from it, which is not modelled; nor are the
passes of atomics that meet at an address of shared memory."""


def open_questions(kernel: str, lanes_meet: bool) -> set[str]:
    """What differs from an H200: it counts a generic load as one of shared memory, too, wherever it goes."""
    if kernel.startswith("gen"):
        return {"smsp__sass_data_bytes_mem_shared_op_ld.sum"}
    return {"shared_efficiency"} if lanes_meet and kernel in MEETING_STORES | {"sat_4"} else set()


@cache
def kernels() -> Any:
    return simt.load_cubin(DATA / "sm_90" / "request_bytes.cubin")


def profile_of(kernel: str, pattern: str) -> Any:
    elements, mask = RECORDED["patterns"][pattern]
    offsets = np.array(elements, np.int32) * np.int32(kernel.rpartition("_")[2])
    out = np.zeros(1 << 12, np.uint8)
    lanes = np.array([mask], np.uint32).view(np.int32)[0]
    return simt.launch(
        kernels()[kernel], 1, 32, np.zeros(1 << 16, np.uint8), out, offsets, lanes, shared_bytes=32768, order="hardware"
    )


@pytest.mark.parametrize("kernel", sorted({case[0] for case in RECORDED["cases"]}))
def test_every_byte_of_a_request_counts_once(kernel: str) -> None:
    for case in RECORDED["cases"]:
        if case[0] != kernel:
            continue
        theirs = dict(zip(RECORDED["columns"], case, strict=True))
        profile = profile_of(kernel, theirs["pattern"])
        elements, mask = RECORDED["patterns"][theirs["pattern"]]
        places = [element for lane, element in enumerate(elements) if mask >> lane & 1]
        left_out = open_questions(kernel, len(set(places)) < len(places))
        ours = {name: sum(line.counters[c] for line in profile.lines for c in cs) for name, cs in COUNTERS.items()}
        for name in COUNTERS.keys() - left_out:
            assert ours[name] == theirs[name], (name, theirs["pattern"])
        for name in EFFICIENCIES.keys() - left_out:
            value = profile.metrics.get(name) or 0.0
            assert value == pytest.approx(theirs[EFFICIENCIES[name]], abs=1e-5), (name, theirs["pattern"])
