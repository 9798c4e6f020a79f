"""A metric carries a name of Nsight Compute only where a value recorded under it is there to hold it to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simt.metrics import METRICS, TIMING

DATA = Path(__file__).parents[1] / "data"
REDUCTIONS = json.loads((DATA / "hardware" / "reductions.json").read_text(encoding="utf-8"))["reductions"]
"""Values by metric, as gpu.profile read them under ncu's names; tests/gpu/test_evidence.py compares them."""

NOT_RECORDED = {
    "gld_efficiency", "gst_efficiency", "shared_efficiency",
    "local_load_transactions_per_request", "local_store_transactions_per_request",
    "gld_throughput", "gst_throughput", "dram_read_throughput", "dram_write_throughput",
}  # fmt: skip
"""Named by the "nvprof Metric Comparison" of the Nsight Compute CLI manual; ``ncu --set full`` does not print them, and
no other recording has them yet.  Take a name out when you record it; add none."""


def recorded() -> set[str]:
    """Metrics of which a value is stored: by their own name, or (timing) by ncu's."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((DATA / "timing").glob("h200_*.json"))]
    texts.append((DATA / "sass" / "h200" / "counters.json").read_text(encoding="utf-8"))
    found = {name for entry in REDUCTIONS for name, value in entry["metrics"].items() if value is not None}
    timed = [metric for metric in METRICS.values() if metric.group == TIMING]
    return found | {m.name for m in timed if any(f'"{name}"' in text for name in m.ncu for text in texts)}


@pytest.mark.parametrize("name", [metric.name for metric in METRICS.values() if metric.ncu])
def test_a_metric_with_a_name_of_ncu_has_a_recorded_value(name: str) -> None:
    assert (name in recorded()) is (name not in NOT_RECORDED)
