"""Loads of arrays of a thread's own close behind stores to them, against an H200 (locals.cu, behind.cu)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machine_view import needs_nvdisasm

CLOSE = {6: 6, 12: 8, 31: 3, 38: 7}
"""A round of 28 or 32 lanes begins right behind the stores of the one before: -72 to -76 % if L1 loses no lines."""
APART = {1: 3, 7: 3, 13: 3, 30: 3, 37: 2, 41: 3, 43: 2}
"""With more operations between, or fewer lanes; the last two in global memory."""
COUNTED = {40: 9, 41: 8, 47: 4, 49: 6}
"""Histograms of a thread each, where three of four stores have the next load close behind; not the first."""


def _simulated(program: str, launch: int) -> tuple[float, float, float]:
    """By how many percent a launch is off, and how much L1 finds, measured and simulated."""
    from tests.timing.launches import error, measured, plain, run
    from tests.timing.locals_launches import behind_arguments, locals_arguments

    entry: dict[str, Any] = measured(program)[launch]
    words = entry["kernel"].split("<")[1].split(">")[0].split(", ")  # whether, and then how many
    name = plain(entry["kernel"]) + "I" + "".join(f"L{kind}{word}E" for kind, word in zip("bi", words, strict=False))
    arguments = {"locals": locals_arguments, "behind": behind_arguments}[program]()[launch]
    result = run(program, name, entry["grid"], entry["block"], arguments, sms="auto")
    return error(entry, result), entry["counters"]["l1_hit_pct"], float(result.metrics["l1_hit_rate"] or 0)


@needs_nvdisasm
@pytest.mark.parametrize("bounds", [CLOSE, APART], ids=["close", "apart"])
def test_loads_behind_stores_to_many_lines(bounds: dict[int, float]) -> None:
    """Launch of behind.cu, and by how many percent it may be off."""
    found = {k: _simulated("behind", k)[0] for k in bounds}
    assert {k: off for k, off in found.items() if abs(off) >= bounds[k]} == {}


@needs_nvdisasm
@pytest.mark.parametrize("launch", COUNTED)
def test_histograms_of_a_thread_each(launch: int) -> None:
    """Launch of locals.cu, and by how many percent it may be off; L1 finds as much as there."""
    off, hits, found = _simulated("locals", launch)
    assert abs(off) < COUNTED[launch]
    assert found == pytest.approx(hits, abs=0.6)
