"""Rounds of loops are counted warp by warp, limits and what-ifs come from counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt import kernels
from simt.calls.code import code_of
from simt.machine import dimensions
from simt.profile import Profile
from simt.reasons import Explanation, Fact, rounds_of
from simt.reasons.rounds import loops
from tests.from_text import function_from
from tests.lang.test_random_kernels import blocks, kernel_source, twice
from tests.machine_view import needs_numba_cuda, needs_nvdisasm
from tests.reasons.questions import access


def facts(found: Explanation, kind: str) -> list[Fact]:
    return [fact for fact in found.facts if fact.kind == kind]


def check_rounds(kernel: Any, grid: int, block: int, args: tuple[Any, ...], **options: Any) -> None:
    """The rounds of all warps are what an ordinary launch counts where they end."""
    shape = dimensions(grid, "grid"), dimensions(block, "block")
    code = code_of(kernel, options.get("view", "source"), shape, args, options.get("predicate", 0))
    counted = loops(code.program)
    told = rounds_of(kernel, grid, block, *args, **options)
    executed = simt.launch(kernel, grid, block, *args, **options).result.counters[:, 0]
    assert [loop.total for loop in told] == [sum(executed[pcs]) for pcs in counted.values()]
    assert all(sum(loop.rounds.values()) == grid * -(-block // 32) for loop in told)


@pytest.mark.parametrize("view", ["source", pytest.param("sm_90", marks=needs_numba_cuda)])
@pytest.mark.parametrize("name", ["neighbored", "unroll_warps4", "shuffle", "collatz", "loop_trips"])
def test_rounds_add_up_to_the_counts(name: str, view: str) -> None:
    plan = kernels.get(name).plan(300, 64) if name != "loop_trips" else kernels.get(name).plan()
    check_rounds(plan.kernel, plan.grid, plan.block, plan.args, view=view)


@settings(max_examples=15, deadline=None)
@given(blocks(2, in_loop=False), st.integers(1, 96), st.sampled_from([0, 8]))
def test_rounds_of_random_kernels_add_up(body: str, threads: int, predicate: int) -> None:
    kernel = function_from(kernel_source(body), {"cuda": cuda, "twice": twice})
    seen, out = np.zeros((2, threads), np.int64)
    check_rounds(kernel, 1, threads, (np.arange(threads), seen, out), predicate=predicate)


def trips(counts, out):
    w = cuda.threadIdx.x // 32
    total = 0
    for i in range(counts[w]):
        if i % 2 == 1:
            continue
        for j in range(cuda.laneid % 4):
            total += j
    out[cuda.threadIdx.x] = total


def test_how_many_warps_make_how_many() -> None:
    """Warps of 0, 5, 5 and 3 rounds; a lane makes at most 3 of the inner loop, in every other round."""
    counts, out = np.array([0, 5, 5, 3]), np.zeros(128, np.int64)
    outer, inner = rounds_of(trips, 1, 128, counts, out)
    assert (outer.rounds, inner.rounds) == ({0: 1, 3: 1, 5: 2}, {0: 1, 6: 1, 9: 2})
    assert not out.any()  # arguments are left alone
    profile = simt.launch(trips, 1, 128, counts, out)
    found = simt.explain(profile, loops={"a": (outer, inner)})
    assert facts(found, "loop")[0].text.endswith("0 rounds in 1 warp, 3 in 1, 5 in 2")
    assert "loop: line " in str(found)
    assert found.to_dict(facts=True)["facts"][0]["figures"]["rounds"] == [(0, 1), (3, 1), (5, 2)]
    assert "loop in B: " in str(simt.explain(profile, profile, loops={"b": (outer,)}))


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        ({9: 16}, "9 rounds in each of 16 warps"),
        ({1: 1}, "1 round in the one warp"),
        ({2: 1, 3: 1, 4: 1, 9: 5}, "2 to 9 rounds a warp, 6.75 on average; 9 in 5 warps"),
    ],
)
def test_rounds_in_words(rounds: dict[int, int], words: str) -> None:
    loop = simt.reasons.Loop(("nowhere.py", 7), "while true", rounds)
    (found,) = simt.explain(simt.launch(nothing, 1, 32), loops={"a": (loop,)}).facts
    assert found.text == f"0x0007 `while true`: {words}"


def nothing():
    pass


@needs_nvdisasm
@pytest.mark.parametrize(
    ("name", "number", "metric"),
    [("strided", 8, "gld_efficiency"), ("conflict", 4, "shared_load_transactions_per_request")],
)
def test_what_if_is_what_the_better_kernel_counts(name: str, number: int, metric: str) -> None:
    better = access("copy") if name == "strided" else access("conflict", 1)
    (found,) = facts(simt.explain(access(name, number), metric=metric), "what if")
    assert found.figures["value"] == better.metrics[metric]
    assert facts(simt.explain(better, metric=metric), "what if") == []


def timed(name: str, size: int, block: int) -> Profile:
    plan = kernels.get(name).plan(size, block)
    return simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, timing=True, device="h200")


def test_a_timed_launch_says_what_limits_it() -> None:
    profile = timed("neighbored", 32, 32)
    found = simt.explain(profile, metric="cycles")
    (limit,) = facts(found, "limit")
    assert limit.figures["kind"] == "latency"
    assert limit.text.startswith("latency; the busiest is ")
    percent = list(limit.figures["percent"].values())
    assert percent == sorted(percent, reverse=True)
    assert f" with {percent[0]:.0f} % of the most that it can do" in limit.text
    (stalls,) = facts(found, "stalls")
    overhead = next(term.value for term in found.terms if term.cause == "launch overhead")
    assert sum(stalls.figures.values()) == pytest.approx(float(found.a - overhead))
    assert facts(simt.explain(profile), "limit") == []


def test_the_busy_resource_is_named() -> None:
    """A loop of arithmetic alone, in many warps."""
    out = np.zeros(132 * 1024, np.float32)
    profile = simt.launch(arithmetic, 132, 1024, out, timing=True, device="h200")
    (limit,) = facts(simt.explain(profile, metric="duration"), "limit")
    assert limit.figures["kind"] == "compute"
    assert limit.text.split()[0] in ("issue", "FMA", "ALU")
    assert limit.text.endswith("of the most that each can do")


def arithmetic(out):
    value = np.float32(cuda.threadIdx.x)
    for _ in range(64):
        value = value * np.float32(0.5) + np.float32(1.0)
    out[cuda.grid(1)] = value
