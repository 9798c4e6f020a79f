"""Both halves of the engine with every index checked: ``NUMBA_BOUNDSCHECK=1 python -m tests.machine.checked_suite``.

Prints one JSON object.  ``armed``: what an array that is too short gives; ``small``: the report of small_programs.py;
``timed``: cycles of timed launches of registry kernels; ``mutants``: outcomes of spoilt programs (tests/fuzz).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import simt
from simt.machine.coalescing import SECTOR_SHIFT, count_units
from tests.fuzz.worker import outcome
from tests.machine.small_programs import report

MUTANTS = [(kind, number) for kind in ("program", "operand", "control") for number in range(12)]
TIMED = ("neighbored", "interleaved", "shuffle", "atomic", "complete_unroll_warps8")


def armed() -> str:
    """The name of the error that an index past the end of an array raises: none without bounds checks."""
    try:
        count_units(np.zeros(1, np.int64), SECTOR_SHIFT, np.int64(0), np.int64(0), np.int64(3))
    except IndexError as error:
        return type(error).__name__
    return ""


def timed() -> dict[str, Any]:
    """Cycles and results of timed launches."""
    data = np.arange(1500, dtype=np.int32)
    found = {}
    for name in TIMED:
        total, profile = simt.reduce(data, name, 128, timing=True)
        found[name] = [int(total), profile.timing.cycles]
    return found


def main() -> None:
    """Print the report."""
    with tempfile.TemporaryDirectory() as folder:
        mutants = {f"{kind} {number}": outcome(kind, number, Path(folder))["outcome"] for kind, number in MUTANTS}
    print(json.dumps({"armed": armed(), "small": report(), "timed": timed(), "mutants": mutants}))


if __name__ == "__main__":
    main()
