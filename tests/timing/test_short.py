"""Short launches and uneven ones from cold caches, against an H200 and an H100."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import slow


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", *slow("h100")])
def test_short_launches(device: str) -> None:
    """Rows, columns, words that lone lanes use, loads that wait for each other, a small matrix, a transpose.

    Launch of short.cu, and by how many percent it may be off; the hardware's own runs differ by 5 % at the median.
    """
    from tests.timing.launches import error, mangled, measured, run
    from tests.timing.short_launches import short_arguments

    bounds = {
        12: 5,
        16: 10,
        21: 5,
        24: 9,
        28: 10,
        33: 5,
        59: 5,
        64: 21 if device == "h200" else 17,
        68: 6.5,
        74: 13,
        75: 9.5,
        77: 19 if device == "h200" else 17,
        78: 9,
        80: 21.5 if device == "h200" else 19.5,
        83: 9,
    }
    bounds |= {123: 6, 149: 4, 176: 4, 188: 4, 200: 11, 206: 6.5, 210: 4}
    arguments, entries = short_arguments(), measured("short", device)
    off = {}
    for k in bounds:
        launched = mangled(entries[k]["kernel"]), entries[k]["grid"], entries[k]["block"], arguments[k]
        off[k] = error(entries[k], run("short", *launched, device=device, sms="auto"))
    assert {k: e for k, e in off.items() if abs(e) >= bounds[k]} == {}
