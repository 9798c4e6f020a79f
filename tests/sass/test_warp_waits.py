"""Whom lanes wait for at a warp barrier, a shuffle or a vote: which kernels end, and which hang, as on an H100."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simt.check import DeadlockError
from tests.machine_view import needs_nvdisasm
from tests.sass.data import DATA, cubin, launch

pytestmark = needs_nvdisasm

MEASURED = json.loads((DATA / "h100" / "warp_waits.json").read_text())
UNDEFINED = {"loop_end": "lanes read registers of lanes that have exited"}
"""Kernels whose results CUDA does not define."""


def run(name: str, order: str) -> list[int]:
    y = np.array([*range(32), *[1] * 32], np.int32)
    launch(cubin("sm_90/warp_waits")[name], (1, 1, 1), (32, 1, 1), [y], order=order)
    return y[:32].tolist()


@pytest.mark.parametrize("order", ["profiler", "hardware"])
@pytest.mark.parametrize("name", [name for name in MEASURED["ends"] if name != "block_both"])
def test_what_ends(name: str, order: str) -> None:
    left = run(name, order)
    assert left == MEASURED["ends"][name] or name in UNDEFINED


@pytest.mark.parametrize("order", ["profiler", "hardware"])
def test_block_barriers_on_both_sides_of_a_branch_are_a_finding(order: str) -> None:
    """They meet on a GPU; CUDA forbids them, and ptxas makes barriers with guards of them.

    Lanes whose guard is false wait with the others: if they went on, the bug of a lone guarded one would go unseen.
    """
    with pytest.raises(DeadlockError, match="waits at the block barrier at 0x"):
        run("block_both", order)


@pytest.mark.parametrize("order", ["profiler", "hardware"])
@pytest.mark.parametrize("name", MEASURED["hangs"])
def test_what_hangs(name: str, order: str) -> None:
    with pytest.raises(DeadlockError, match="waits for the lanes named in a warp mask"):
        run(name, order)


def test_the_error() -> None:
    with pytest.raises(DeadlockError) as caught:
        run("if_shfl_sync", "profiler")
    assert caught.value.details == (
        "warp 0, lanes 8-31: waits for the lanes named in a warp mask at 0x00b0  WARPSYNC.ALL",
        "warp 0, lanes 0-7: waits for the lanes named in a warp mask at 0x0080  WARPSYNC.ALL",
    )
    assert caught.value.help == (
        "every lane in a warp mask must reach the same operation with that mask: move it out of the branch, or take "
        "the mask before the branch with ballot_sync (0xffffff00 here)"
    )
