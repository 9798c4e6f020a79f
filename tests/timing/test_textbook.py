"""What a textbook says about latency and throughput, to the cycle with the numbers of the device file.

Each figure is the difference of two programs, so that the launch, the first instructions and the end cancel out.
"""

from __future__ import annotations

import pytest

from simt.program import Instruction
from tests.timing.programs import (
    AT,
    BASE,
    FIRST,
    ONE,
    X,
    chain,
    cycles,
    end,
    independent,
    lane_address,
    late_warp,
    number,
    program,
    result,
)

NO_FETCH = {"instruction_miss_latency": 0.0}
"""Instructions are there at once: straight code is longer than a prefetch."""


def difference(few: list[Instruction], many: list[Instruction], warps: int = 1, **numbers: float) -> float:
    return cycles(program(many), warps, **NO_FETCH, **numbers) - cycles(program(few), warps, **NO_FETCH, **numbers)


def test_a_chain_of_dependent_adds_takes_the_latency_each() -> None:
    assert difference(chain(10) + end(), chain(110) + end()) == 100 * number("latency_alu")


def test_independent_adds_take_the_interval_of_the_pipe_each() -> None:
    assert difference(independent(10) + end(), independent(110) + end()) == 100 * number("interval_alu")


def test_shifts_have_an_interval_of_their_own_in_the_pipe_of_adds() -> None:
    """On Maxwell and Pascal they take twice as long."""

    def mixed(n: int) -> list[Instruction]:
        return [Instruction("shl.b64" if k % 2 else "add.s64", FIRST + k, ONE, ONE) for k in range(2 * n)]

    assert difference(independent(10, "shl.b64") + end(), independent(110, "shl.b64") + end(), interval_shift=4) == 400
    assert difference(mixed(10) + end(), mixed(60) + end(), interval_shift=4) == 50 * (number("interval_alu") + 4)


def test_alternating_pipes_issue_every_cycle() -> None:
    def alternating(n: int) -> list[Instruction]:
        return [Instruction("add.s64" if k % 2 else "mul.s64", FIRST + k, 1, 1) for k in range(n)]

    assert difference(alternating(10) + end(), alternating(110) + end()) == 100


def test_the_high_half_of_a_product_stops_its_scheduler() -> None:
    """An addition of a chain and a high half take an issue slot each, and the cycles in which nothing issues."""

    def pairs(n: int) -> list[Instruction]:
        return [i for k in range(n) for i in (*chain(1), Instruction("mulhi.s64", FIRST + k, ONE, ONE))]

    found = difference(pairs(10) + end(), pairs(60) + end())
    assert found == 50 * max(2 + number("high_stall"), number("latency_alu"))
    free = difference(pairs(10) + end(), pairs(60) + end(), high_stall=0)
    assert free == 50 * max(number("interval_imad_wide"), number("latency_alu"))


def test_multiplies_share_the_pipe_of_floating_point() -> None:
    """Independent FMAs, one a cycle on two halves; beside as many multiplies they do not need the multipliers' half."""

    def fma(k: int) -> Instruction:
        return Instruction("fma.f32", FIRST + k, ONE, ONE, ONE)

    alone = difference([fma(k) for k in range(10)] + end(), [fma(k) for k in range(110)] + end(), 4)
    assert alone == 100 * number("interval_fma")

    def mixed(n: int) -> list[Instruction]:
        return [i for k in range(n) for i in (fma(k), Instruction("mul.s64", FIRST + 300 + k, ONE, ONE))]

    found = difference(mixed(10) + end(), mixed(110) + end(), 4)
    assert found == 100 * number("interval_imad")


@pytest.mark.parametrize("per_scheduler", [1, 2, 4, 8])
def test_many_warps_hide_the_latency(per_scheduler: int) -> None:
    """A step of the chain takes its latency, or the pipe's time for all warps of a scheduler, whichever is longer."""
    step = max(number("latency_alu"), per_scheduler * number("interval_alu"))
    warps = 4 * per_scheduler
    found = difference(chain(50) + end(), chain(150) + end(), warps, scheduler_policy=0, warp_interval=0)
    assert found == pytest.approx(100 * step, abs=1)


@pytest.mark.parametrize("ways", [1, 2, 4, 8, 16, 32])
def test_bank_conflicts(ways: int) -> None:
    """As many wavefronts as ways: two cycles each for one warp, and for the use of one load; one for four warps."""

    def loads(n: int) -> list[Instruction]:
        return lane_address() + [Instruction("ld.shared", FIRST + k, AT, mod=5) for k in range(n)] + end()

    def time(n: int, warps: int) -> float:
        return cycles(program(loads(n), stride=4 * ways, shared_bytes=4096), warps, **NO_FETCH)

    each = max(ways * number("shared_wavefront_latency"), number("mio_interval"))
    assert time(160, 1) - time(60, 1) == 100 * each  # by then the queue is full
    assert time(160, 4) - time(60, 4) == 100 * 4 * ways * number("shared_wavefront_interval")

    def use(ways: int) -> float:
        code = [*lane_address(), Instruction("ld.shared", X, AT, mod=5), *chain(1), *end()]
        return cycles(program(code, stride=4 * ways, shared_bytes=4096), **NO_FETCH)

    assert use(ways) - use(1) == (ways - 1) * number("shared_wavefront_latency")


@pytest.mark.parametrize("stride", [1, 2, 4, 8, 16, 32])
def test_coalesced_and_strided_loads(stride: int) -> None:
    """Loads that hit in L1: four cycles a line for one warp, one for four; strided takes up to 32 times as long."""

    def loads(n: int) -> list[Instruction]:
        first = [Instruction("ld.global", X, AT, mod=5), *chain(1)]  # brings the lines to L1
        return lane_address(BASE) + first + [Instruction("ld.global", FIRST + k, AT, mod=5) for k in range(n)] + end()

    def time(n: int, warps: int) -> float:
        return cycles(program(loads(n), stride=4 * stride), warps, **NO_FETCH)

    each = max(stride * number("shared_wavefront_latency"), 2 * number("operand_interval"))
    assert time(160, 1) - time(60, 1) == 100 * each  # by then the queue is full
    assert time(160, 4) - time(60, 4) == 100 * 4 * stride * number("l1_line_interval")
    sectors = result(program(loads(1), stride=4 * stride)).totals["load_sectors"]
    assert sectors == 2 * min(4 * stride, 32)


def test_levels_of_the_memory_hierarchy() -> None:
    def use(loads: int, **numbers: float) -> float:
        code = lane_address(BASE)
        for _ in range(loads):
            code += [Instruction("ld.global", X, AT, mod=5), *chain(1)]
        return cycles(program(code + end()), **NO_FETCH, **numbers)

    hit = number("l1_latency") + number("latency_alu")
    assert use(3) - use(2) == pytest.approx(hit, abs=1)
    slower = use(1, dram_latency=number("dram_latency") + 100) - use(1)
    assert slower == 100
    assert use(2, l1_latency=number("l1_latency") + 7) - use(2) == 7


def test_a_barrier_waits_for_the_late_warp() -> None:
    made = {extra: program(late_warp(extra)) for extra in (20, 120)}
    times = {extra: cycles(code, 4, **NO_FETCH) for extra, code in made.items()}
    assert times[120] - times[20] == 100 * number("latency_alu")
    stalls = result(made[120], 4, overrides=NO_FETCH).stall_reasons
    assert stalls["barrier"] > stalls["long_scoreboard"]


def test_a_barrier_costs_its_latency_and_an_interval_per_warp() -> None:
    """On the H200 2 n + 12 cycles for n warps, as measured: back-to-back barriers of 1 to 32 warps."""
    for warps in (1, 2, 4, 8, 16, 32):
        few = [Instruction("bar.sync") for _ in range(10)] + end()
        many = [Instruction("bar.sync") for _ in range(30)] + end()
        each = number("barrier_interval") * warps + number("barrier_latency")
        assert difference(few, many, warps, warp_interval=0) == 20 * each


def test_occupancy_is_the_share_of_resident_warps() -> None:
    """Eight resident warps of 64 for the whole run; the theoretical figure is what fits."""
    timed = result(program(chain(400) + end()), warps=8, overrides={**NO_FETCH, "warp_interval": 0.0})
    assert timed.metrics["achieved_occupancy"] == pytest.approx(8 / 64, rel=0.02)
    assert timed.occupancy.percent == 100.0
    assert timed.metrics["ipc"] <= 4
