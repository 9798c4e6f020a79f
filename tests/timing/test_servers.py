"""Servers that SMs share with others that are not simulated."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from simt.ops.jit import plain
from simt.timing import layout as L
from simt.timing.servers import ASKED, serve_others

CHIP = 132


def _chip(sms: int) -> SimpleNamespace:
    """So many simulated SMs of a chip, whose servers are idle."""
    t = SimpleNamespace(CHIP=np.zeros(L.N_CHIP), CONFIG=np.zeros(L.N_CONFIG, np.int64))
    t.CHIP[L.C_DUE] = L.NEVER
    t.CONFIG[[L.G_SMS, L.G_CHIP]] = sms, CHIP
    return t


BURSTS = [(CHIP, 20000, 1000, 1000), (1, 20000, 109, 120), (1, 0, 900, 1000)]


@pytest.mark.parametrize(("sms", "at", "least", "most"), BURSTS)
def test_a_burst_waits_for_itself_where_all_sms_are_in_step(sms: int, at: float, least: float, most: float) -> None:
    """100 transfers of 10 cycles, one a cycle: all wait in turn if the chip is simulated, or as a launch begins."""
    t = _chip(sms)
    through = [plain(serve_others)(L.C_LINK_FREE, at + k, 10.0, t) - at for k in range(100)]
    assert least <= through[-1] <= most


def test_nothing_that_others_ask_for_is_lost() -> None:
    """A server that is asked for 12 cycles of work each 10 cycles is behind by a sixth of all after any time."""
    t = _chip(1)
    for now in range(0, 60000, 10):
        plain(serve_others)(L.C_LINK_FREE, float(now), 12.0, t)
    assert t.CHIP[L.C_LINK_FREE] == pytest.approx(1.2 * 60000, rel=0.002)
    assert t.CHIP[L.C_LINK_FREE + ASKED] == pytest.approx(1.2 * 1500, rel=0.02)
