"""Error bars: what the device files say beside what launches of others' programs were off."""

from __future__ import annotations

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
    """Two of three launches are within bars that other authors' launches give; so are those of D by earlier ones."""
    found = blind_errors("h200")
    assert covered(found, found) == pytest.approx(float(COVERED), abs=0.04)
    last = [(e["author"], e["predicted"]["kind"], stranger_error(e)) for e in validation_set("h200", "D")]
    earlier = [each for each in found if each not in last]
    assert (len(last), len(earlier)) == (67, 101)
    assert covered(last, earlier) == pytest.approx(float(COVERED), abs=0.05)
