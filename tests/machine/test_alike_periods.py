"""Large grids whose numbers of 32 bits wrap, and come back in a number of blocks only nearly."""

from __future__ import annotations

import time

import numpy as np
import pytest

import simt
from simt.machine import Launch
from simt.program import Instruction, pred
from simt.runtime import run
from tests.machine.test_alike import CONSTANTS, MOST, R0, R1, Seen, guarded, seen, straight
from tests.machine_view import needs_numba_cuda

__all__ = ["seen"]

_HIGH = [Instruction("mad.s64", 10, R1, CONSTANTS, R0), Instruction("high.b64", 11, 10)]


@pytest.mark.parametrize(
    "code",
    [
        [Instruction("mad.u32", 10, R1, CONSTANTS, R0), Instruction("lt.u64", 1, 10, CONSTANTS + 1)],
        [*_HIGH, Instruction("sub.u32", 12, 11, CONSTANTS + 2), Instruction("lt.u64", 1, 12, 11)],
    ],
    ids=["32 bits", "the high of two words"],
)
@pytest.mark.parametrize("step", [2**32 // 5000 - 70, -(2**32) // 5000 + 50])
def test_numbers_that_nearly_come_back(seen: Seen, code: list[Instruction], step: int) -> None:
    """As in a block of 1,000 threads: what wraps has come back after 5,000 blocks but for some, which drift."""
    made = straight([*code, Instruction("exit", guard=pred(1)), Instruction("nop")], [step, 1 << 29, 5])
    every, some = (
        seen.looking(how, lambda: run(made, Launch((70_000, 1, 1), (50, 1, 1), [])).counters) for how in (False, True)
    )
    np.testing.assert_array_equal(every, some)
    assert len(seen.found) < 16
    assert seen.blocks > 65_000


@needs_numba_cuda
@pytest.mark.parametrize("threads", [999, 1000])
def test_the_largest_grid_of_many_threads(threads: int) -> None:
    """Their numbers wrap 500 times, nowhere quite alike."""
    x = np.zeros(1000)
    begin = time.thread_time()
    many = simt.launch(guarded, MOST, threads, x, 1000, view="sm_90")
    assert (x == 1).all()
    assert many.counters["thread_inst_executed"] >= MOST * threads
    assert time.thread_time() - begin < 20  # 67 s, as long as each time that numbers wrap was looked at by itself
