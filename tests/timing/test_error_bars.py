"""Error bars: what the device files say beside what launches of others' programs were off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt import devices
from simt.timing.kinds import COVERED
from tests.timing.launches import bars, blind_errors, covered, stranger_error, validation_set


@pytest.mark.parametrize("device", ["h200", "h100"])
def test_device_files_say_how_far_off_predictions_were(device: str) -> None:
    """The error that two of three launches of others met, of each kind of which there are enough, and of all."""
    found = bars(blind_errors(device))
    own = {kind: number for kind, number in devices.get(device).sections["errors"].items() if not number.estimated}
    assert {kind: (number.value, number.source) for kind, number in own.items()} == {
        kind: (pytest.approx(bar, abs=0.06), f"{count} launches on an {device.upper()}")
        for kind, (bar, count) in found.items()
    }


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=60))
def test_a_bar_covers_two_of_three_launches(off: list[float]) -> None:
    """Also of one more than those it was learned from, which may be anywhere among them."""
    bar, count = bars([("x", "dram", each) for each in off])["dram"]
    assert count == len(off)
    assert sum(abs(each) <= bar for each in off) >= COVERED * (count + 1)
    assert sum(abs(each) < bar for each in off) < COVERED * (count + 1)


def test_how_often_the_stated_error_covers_launches_of_others() -> None:
    """Two of three launches are within bars that other authors' launches give; of D and E by what came before them.

    Of E more are, since it was predicted by a better model than what its bars were learned from.
    """
    found = blind_errors("h200")
    assert covered(found, found) == pytest.approx(float(COVERED), abs=0.04)
    parts = {
        part: [(e["author"], e["predicted"]["kind"], stranger_error(e)) for e in validation_set("h200", part)]
        for part in "DE"
    }
    before_e = [each for each in found if each not in parts["E"]]
    before_d = [each for each in before_e if each not in parts["D"]]
    assert (len(parts["D"]), len(parts["E"]), len(before_d)) == (67, 63, 101)
    assert covered(parts["D"], before_d) == pytest.approx(float(COVERED), abs=0.05)
    assert covered(parts["E"], before_e) > COVERED


def test_the_last_blind_part() -> None:
    """What nobody had looked at, on both devices: mean, median and bias of the cycles' error."""
    for device, how, most in (
        ("h200", "predicted", (5, 3.5, 1.5, 1)),
        ("h100", "predicted", (7, 5, 1.6, 1)),
        ("h100", "by_calibrate", (8, 5, 2, 2)),  # a file that simt calibrate wrote on an H100, and nothing else
    ):
        entries = [entry | {"predicted": entry[how]} for entry in validation_set(device, "E") if how in entry]
        off = np.array([stranger_error(entry) for entry in entries])
        found = (np.abs(off).mean(), np.median(np.abs(off)), abs(off.mean()), (np.abs(off) > 25).sum())
        assert all(value <= limit for value, limit in zip(found, most, strict=True)), (device, how, found)
