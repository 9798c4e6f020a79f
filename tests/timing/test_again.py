"""Words that are stored to and added to again and again, against an H200 and an H100."""

from __future__ import annotations

import pytest

from tests.machine_view import needs_nvdisasm
from tests.slow import slow


@needs_nvdisasm
@pytest.mark.parametrize("device", ["h200", *slow("h100")])
def test_the_same_words_written_again_and_again(device: str) -> None:
    """Stores by one warp and by all SMs to one line, split stores, columns and words that all add to, transposes.

    Launch of again.cu, and by how many percent it may be off.
    """
    from tests.timing.launches import again_arguments, error, mangled, measured, run

    bounds = {
        3: 6,
        5: 6,
        6: 6,
        7: 27,
        9: 6,
        16: 6,
        18: 11,
        19: 12,
        20: 10,
        29: 7,
        34: 3,
        44: 4,
        52: 4,
        58: 9,
        61: 9.5,
        63: 26,
        71: 4,
        110: 8,
        113: 5,
    }
    bounds |= {
        115: 16,
        126: 6,
        127: 10,
        128: 10,
        130: 12,
        142: 5,
        146: 17,
        148: 12,
        151: 12,
        154: 15.5,
        156: 12,
        158: 17,
        164: 12,
        169: 16 if device == "h200" else 22,  # one SM writes back lines that others would complete, and waits for it
    }
    arguments = again_arguments()
    for k, entry in enumerate(measured("again", device)):
        if k in bounds:
            name = mangled(entry["kernel"])
            timed = run("again", name, entry["grid"], entry["block"], arguments[k], device=device, sms="auto")
            assert abs(error(entry, timed)) < bounds[k], (k, name, error(entry, timed))
            if k in (3, 16, 29):  # one block an SM: two show that others write to the same line
                assert timed.n_sms == 2
