"""Predicted times of the reductions beside those that an H200 took, as a table for docs/hardware.md.

The hardware's are the medians of tests/data/hardware/reductions.json (CUDA events, 2^24 int32, blocks of 512), the
predictions those of the machine view (extra ``sass``).  No constant of the model is fitted to them.
"""

from __future__ import annotations

import json
from pathlib import Path

import simt
from simt import kernels

STORED = Path(__file__).parents[1] / "data" / "hardware" / "reductions.json"
SIZE = 2**24


def main() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))["reductions"]
    data, errors = kernels.sample(SIZE), []
    print("| kernel | predicted us | H200 us | error % | mainly waits for |\n| --- | --: | --: | --: | --- |")
    for entry in (entry for entry in stored if entry["size"] == SIZE):
        _, profile = simt.reduce(data, entry["kernel"], 512, view="sm_90", device="h200", timing=True)
        assert profile.timing is not None
        predicted, measured = 1e6 * profile.timing.seconds, 1e3 * entry["milliseconds"]
        errors.append(100 * (predicted / measured - 1))
        stall = profile.timing.dominant_stall.replace("_", " ")
        print(f"| {entry['kernel']} | {predicted:.1f} | {measured:.1f} | {errors[-1]:+.1f} | {stall} |")
    print(f"\nmean error {sum(map(abs, errors)) / len(errors):.1f} %, worst {max(errors, key=abs):+.1f} %")


if __name__ == "__main__":
    main()
