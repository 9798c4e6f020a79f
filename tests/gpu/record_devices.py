"""Store reductions split over all GPUs of this machine, beside one GPU.

``python -m tests.gpu.record_devices FILE`` needs at least two GPUs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gpu
from simt import kernels
from tests.gpu.provenance import provenance

SIZES = (1_000_003, 2**24, 2**28)
BLOCK = 512


def measure(name: str, size: int) -> dict[str, Any]:
    """One kernel on the first GPU and on all of them."""
    data = kernels.sample(size)
    alone, one = gpu.reduce(data, kernel=name, block=BLOCK, repeats=5)
    together, split = gpu.reduce(data, kernel=name, block=BLOCK, devices="all", repeats=5)
    return {
        "kernel": name,
        "size": size,
        "block": BLOCK,
        "expected": int(kernels.operation("sum").reduce(data)),
        "one_device": {"sum": int(alone), "milliseconds": one.milliseconds},
        "all_devices": {
            "sum": int(together),
            "milliseconds": split.milliseconds,
            "parts": [{"device": part.device.index, "milliseconds": part.milliseconds} for part in split.parts],
        },
    }


def main(file: Path) -> None:
    """Record into *file*."""
    names = ("neighbored", "interleaved", "unrolling8", "complete_unroll", "shared", "shuffle", "atomic")
    found = {
        **provenance("tests.gpu.record_devices"),
        "results": [measure(name, size) for size in SIZES for name in names],
    }
    file.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
