"""Counters that all threads store to, or add to without atomics, against an H200 and an H100."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import slow


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", *slow("h100")])
def test_counters_without_atomics(device: str) -> None:
    """Stores that come together, and so are one, and stores that come apart, after loads and without.

    Launch of counted.cu, and by how many percent it may be off.
    """
    from tests.timing.launches import counted_arguments, error, mangled, measured, run

    bounds = {
        8: 15,
        12: 21,
        25: 12,
        28: 8,
        40: 10.6,
        53: 6,
        73: 44.5,
        76: 46,
        85: 10,
        87: 10,
        88: 12,
        89: 34,
        90: 20,
        131: 8,
        132: 18,
        153: 40,
    }
    arguments = counted_arguments()
    for k, entry in enumerate(measured("counted", device)):
        if k in bounds:
            name = mangled(entry["kernel"])
            timed = run("counted", name, entry["grid"], entry["block"], arguments[k], device=device, sms="auto")
            assert abs(error(entry, timed)) < bounds[k], (k, name, error(entry, timed))
