"""Bodies that all attract each other, wide loads, and what takes the way to the load/store unit, against an H100.

The programs are bodies.cu and sent.cu.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.machine_view import needs_nvdisasm

N = 8192
TABLE = 1 << 18


def _error(program: str, launch: int, kernel: str, args: list[Any]) -> float:
    """Relative error of the cycles of a launch of *kernel*, in percent."""
    from tests.timing.launches import error, measured, run

    entry = measured(program, "h100")[launch]
    timed = run(program, kernel, entry["grid"], entry["block"], args, device="h100", sms="auto")
    return error(entry, timed)


@needs_nvdisasm
@pytest.mark.parametrize(
    ("launch", "kernel", "bound"), [(3, "bodiesILb0", 2.5), (14, "rolled", 2.5), (17, "threes", 5)]
)
def test_bodies_that_others_have_loaded_for_themselves_are_in_l2(launch: int, kernel: str, bound: float) -> None:
    """132 blocks whose threads have all bodies, then each goes through all: 32 % slow (3) if all come from DRAM."""
    bodies, out = np.zeros(4 * N, np.float32), np.zeros(4 * 132 * 256, np.float32)
    more = [np.uint32(1), np.zeros(1, np.uint32)] if launch == 3 else []
    assert abs(_error("bodies", launch, kernel, [bodies, out, np.uint32(N), *more])) < bound


@needs_nvdisasm
def test_bodies_of_which_no_thread_has_half_come_from_dram() -> None:
    """132 blocks of a warp have half of the bodies: 24 % slow if all come from DRAM."""
    args = [np.zeros(4 * N, np.float32), np.zeros(4 * 132 * 32, np.float32), np.uint32(N), np.uint32(1)]
    assert 0 < _error("bodies", 9, "bodiesILb0", [*args, np.zeros(1, np.uint32)]) < 9.5


@needs_nvdisasm
@pytest.mark.parametrize(
    ("launch", "kernel"),
    [(50, "5uint2Lb0"), (51, "5uint4Lb0"), (52, "5uint4Lb1"), (54, "5uint2Lb0"), (55, "5uint4Lb0")],
)
def test_a_wide_load_takes_a_cycle_for_each_word(launch: int, kernel: str) -> None:
    """Also if all lanes load the same: then 48 to 67 % fast, if it took one."""
    args = [np.zeros(TABLE, np.uint32), np.uint32(512), np.zeros(132 * 1024, np.uint32)]
    assert abs(_error("bodies", launch, f"wideI{kernel}", args)) < 3.5


@needs_nvdisasm
def test_a_wide_load_of_one_lane_takes_as_long() -> None:
    args = [np.zeros(TABLE, np.uint32), np.uint32(128), np.uint32(1), np.zeros(132 * 1024, np.uint32)]
    assert abs(_error("sent", 26, "fewILb0", args)) < 3.5


@needs_nvdisasm
@pytest.mark.parametrize(
    ("kind", "launch", "bounds"),
    [(0, 2, (8, 2.5)), (2, 5, (2.5, 2.5)), (3, 8, (2, 2)), (4, 11, (2, 3)), (6, 14, (2, 2)), (8, 20, (2, 2.5))],
    ids=("constants", "MUFU", "POPC", "S2R", "SHFL", "F2I"),
)
def test_what_goes_to_other_pipes_takes_the_way_of_addresses(
    kind: int, launch: int, bounds: tuple[float, float]
) -> None:
    """Beside loads that take a cycle it takes one, beside those that take two nothing; shuffles take one beside both.

    If it took a cycle of the load/store unit, those beside the slow loads would be a quarter slow.
    """
    args = [np.zeros(TABLE, np.uint32), np.uint32(128), np.uint32(1), np.zeros(132 * 1024, np.uint32)]
    for k, bound in enumerate(bounds):
        args[2] = np.uint32(1 + k)
        assert abs(_error("sent", launch + k, f"fedILi16ELi8ELi{kind}E", args)) < bound
