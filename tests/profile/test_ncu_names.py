"""A metric carries a name of Nsight Compute only where a value recorded under it is there to hold it to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simt
from simt.metrics import METRICS, TIMING
from tests.machine_view import needs_nvdisasm

DATA = Path(__file__).parents[1] / "data"
REDUCTIONS = json.loads((DATA / "hardware" / "reductions.json").read_text(encoding="utf-8"))["reductions"]
"""Values by metric, as gpu.profile read them under ncu's names; tests/gpu/test_evidence.py compares them."""

EFFICIENCY = json.loads((DATA / "sass" / "h200" / "efficiency.json").read_text(encoding="utf-8"))["launches"]
"""What ``ncu --set full`` does not print, of launches of tests/data/sass/efficiency.cu; compared below."""


def recorded() -> set[str]:
    """Metrics of which a value is stored: by their own name, or by ncu's."""
    texts = [file.read_text(encoding="utf-8") for file in sorted((DATA / "timing" / "h200").glob("*.json"))]
    texts.append((DATA / "sass" / "h200" / "counters.json").read_text(encoding="utf-8"))
    found = {name for entry in REDUCTIONS for name, value in entry["metrics"].items() if value is not None}
    timed = [metric for metric in METRICS.values() if metric.group == TIMING]
    found |= {m.name for m in timed if any(f'"{name}"' in text for name in m.ncu for text in texts)}
    return found | {name_of(ncu) for launch in EFFICIENCY for ncu in launch["metrics"]}


def name_of(ncu: str) -> str:
    """The metric that carries a name of Nsight Compute."""
    return next(metric.name for metric in METRICS.values() if ncu in metric.ncu)


@pytest.mark.parametrize("name", [metric.name for metric in METRICS.values() if metric.ncu])
def test_a_metric_with_a_name_of_ncu_has_a_recorded_value(name: str) -> None:
    assert name in recorded()


def value_of(given: dict[str, int] | int) -> Any:
    """An argument as the recording had it: 32-bit words of which all are alike, or scrambled, or a number."""
    if isinstance(given, int):
        return np.int32(given)
    words = np.arange(given["bytes"] // 4, dtype=np.uint64) * np.uint64(2654435761)
    return (words & 0x7FFFFFFF if "iota" in given else np.full(len(words), 0x12345678)).astype(np.int32)


def run(launch: dict[str, Any], **options: Any) -> simt.Profile:
    kernel = simt.load_cubin(DATA / "sass" / "sm_90" / "efficiency.cubin")[launch["kernel"]]
    return simt.launch(kernel, launch["grid"], launch["block"], *map(value_of, launch["arguments"]), **options)


COUNTED = [launch for launch in EFFICIENCY if launch["kernel"] != "stream"]


@needs_nvdisasm
@pytest.mark.parametrize("launch", COUNTED, ids=lambda launch: f"{launch['kernel']}-{launch['arguments'][-2:]}")
def test_ratios_are_those_of_an_h200(launch: dict[str, Any]) -> None:
    """To the two decimals that Nsight Compute prints."""
    metrics = run(launch).metrics
    for ncu, measured in launch["metrics"].items():
        assert metrics[name_of(ncu)] == pytest.approx(measured, abs=0.00501), ncu


@needs_nvdisasm
def test_rates_are_close_to_those_of_an_h200() -> None:
    """A copy of 64 MiB, part of which stays in L2; nothing was fitted to it.  The model takes 10 % too long."""
    launch = next(launch for launch in EFFICIENCY if launch["kernel"] == "stream")
    metrics = run(launch, timing=True, device="h200").metrics
    for ncu, measured in launch["metrics"].items():
        assert metrics[name_of(ncu)] == pytest.approx(measured, rel=0.15), ncu
