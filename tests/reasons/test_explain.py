"""Explanations add up exactly, whatever was run; and what cannot be explained is refused."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

import simt
from simt import kernels
from simt.metrics import METRICS, UnknownMetricError
from simt.metrics.linear import NotLinearError, ratio_of
from simt.profile import Profile, UnusableProfileError
from simt.profile.recorded import load_recorded
from simt.reasons import Explanation, access_patterns
from simt.reasons.accesses import Request, in_words
from simt.reasons.pairing import pairs_of
from simt.reasons.subject import subject_of
from simt.reasons.terms import RESIDUAL, WHOLE
from tests.from_text import function_from
from tests.lang.test_random_kernels import blocks, kernel_source, twice
from tests.machine_view import needs_numba_cuda
from tests.reasons.questions import entry

RUNNABLE = [*kernels.names("reduction"), *kernels.names("divergence")]
EXPLAINED = ("inst_per_warp", "inst_executed", "gld_efficiency", "gld_transactions_per_request", "gst_efficiency",
             "branch_efficiency", "divergent_branch", "warp_execution_efficiency", "shared_efficiency",
             "warp_nonpred_execution_efficiency", "active_threads_per_instruction",
             "shared_load_transactions_per_request")  # fmt: skip


def check(found: Explanation) -> None:
    """The laws of every explanation."""
    assert sum((term.value for term in found.terms), Fraction(0)) == found.explained
    shares = sum((term.share for term in found.terms), Fraction(0))
    whole = sum(term.value for term in found.terms if term.cause == WHOLE)
    assert shares == (1 if found.explained != whole else 0)
    ranked = [abs(term.value) for term in found.terms if term.cause != WHOLE]
    assert ranked == sorted(ranked, reverse=True)
    saved = json.loads(json.dumps(found.to_dict()))
    assert sum(term["value"] for term in saved["terms"]) == pytest.approx(float(found.explained), abs=1e-9)
    assert all(len(line) <= 80 for line in str(found).splitlines())
    assert "<script" not in found._repr_html_()


def metrics_of(profile: Profile) -> Iterator[str]:
    for metric in EXPLAINED:
        if profile.metrics[metric] is not None:
            yield metric


def check_all(a: Profile, b: Profile | None = None) -> None:
    for metric in metrics_of(a):
        if b is not None and b.metrics[metric] is None:
            continue
        found = simt.explain(a, b, metric)
        check(found)
        assert not any(term.cause == RESIDUAL or term.text.endswith(": %") for term in found.terms)
        assert float(found.a) == pytest.approx(a.metrics[metric])
        assert b is None or (found.b is not None and float(found.b) == pytest.approx(b.metrics[metric]))


@pytest.mark.parametrize("name", RUNNABLE)
def test_every_kernel_of_the_registry_adds_up(name: str) -> None:
    check_all(small(name))


def small(name: str, **options: Any) -> Profile:
    plan = kernels.get(name).plan(300, 16 if name == "picture_guard" else 64)
    return simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, **options)


@pytest.mark.parametrize("pair", list(itertools.pairwise(RUNNABLE)), ids=lambda pair: " ".join(pair))
def test_pairs_of_the_registry_add_up(pair: tuple[str, str]) -> None:
    check_all(*map(small, pair))


@needs_numba_cuda
@pytest.mark.parametrize("pair", list(itertools.pairwise(RUNNABLE)), ids=lambda pair: " ".join(pair))
def test_machine_code_of_the_registry_adds_up(pair: tuple[str, str]) -> None:
    a, b = (small(name, view="sm_90") for name in pair)
    check_all(a)
    check_all(a, b)
    check(simt.explain(a.to_dict(), b))


def random_profile(body: str, threads: int, predicate: int) -> Profile:
    made = kernel_source(body)
    kernel = function_from(made, {"cuda": cuda, "twice": twice})
    data = np.random.default_rng(threads).integers(0, 50, threads)
    seen, out = np.zeros((2, threads), np.int64)
    return simt.launch(kernel, 1, threads, data, seen, out, predicate=predicate)


@settings(max_examples=25, deadline=None)
@given(blocks(2, in_loop=False), blocks(2, in_loop=False), st.integers(1, 96), st.sampled_from([0, 8]))
def test_random_kernels_add_up(ours: str, theirs: str, threads: int, predicate: int) -> None:
    a, b = (random_profile(body, threads, predicate) for body in (ours, theirs))
    check_all(a)
    check_all(a, b)


def test_every_place_is_paired_once() -> None:
    a, b = (subject_of(small(name)).places for name in ("neighbored", "interleaved"))
    pairs = list(pairs_of(a, b))
    assert [ours for ours, _ in pairs if ours] == list(a)
    assert sorted(b.index(theirs) for _, theirs in pairs if theirs) == list(range(len(b)))
    barrier = next((ours, theirs) for ours, theirs in pairs if ours and "syncthreads" in ours.text)
    assert barrier[1] is not None
    assert barrier[1].text == barrier[0].text


def test_a_profile_against_itself_has_nothing_to_explain() -> None:
    found = simt.explain(entry("if_else"), entry("if_else"))
    assert found.terms == ()
    assert "(the same; " in str(found)


def test_predication_takes_the_passes_away() -> None:
    """Even and odd lanes: two branches of which one diverges; predicated, none does."""
    found = simt.explain(entry("even_odd"), metric="branch_efficiency")
    assert found.terms[0].cause == "divergent branches"
    assert float(found.terms[0].value) == -100.0
    assert simt.explain(entry("even_odd", predicate=4), metric="divergent_branch").terms == ()


def test_idle_lanes_are_losses_of_the_whole() -> None:
    found = simt.explain(entry("even_odd"), metric="warp_execution_efficiency")
    assert found.terms[0].cause == "divergence"
    assert "16 of 32 lanes" in found.terms[0].text
    assert [(term.cause, term.value) for term in found.terms if term.value > 0] == [(WHOLE, 100)]


def counts(data: Any, found: Any) -> None:
    """Four counters, which the lanes of a warp share."""
    table = cuda.shared.array(4, np.int32)
    i = cuda.grid(1)
    cuda.atomic.add(table, data[i], 1)
    cuda.syncthreads()
    if i < 4:
        cuda.atomic.add(found, i, table[i])


@pytest.mark.parametrize("view", ["source", pytest.param("sm_90", marks=needs_numba_cuda)])
def test_atomics_have_a_least_possible_and_an_excess(view: str) -> None:
    profile = simt.launch(counts, 1, 64, np.arange(64, dtype=np.int32) % 4, np.zeros(4, np.int32), view=view)
    for metric in ("shared_efficiency", "atomic_transactions"):
        found = simt.explain(profile, metric=metric)
        check(found)
        assert RESIDUAL not in {term.cause for term in found.terms}
    found = simt.explain(profile, metric="shared_efficiency")
    assert found.terms[-1].cause == WHOLE
    assert {"table[i]", "data[i]"} <= set(re.findall(r"\w+\[i\]", " ".join(term.text for term in found.terms)))


def leaves(data, out):
    """Lanes return out of a loop, one after the other."""
    i = cuda.grid(1)
    last = data[i]
    k = 0
    while k < 64:
        if k == last:
            out[i] = k
            return
        k += 1


@needs_numba_cuda
def test_replays_are_a_cause() -> None:
    """The hardware's order issues a BSYNC once more where lanes that it waits for have exited."""
    data = np.random.default_rng(0).integers(0, 64, 64).astype(np.int32)
    rows, totals = (
        simt.launch(leaves, 1, 64, data, np.zeros_like(data), view="sm_90", order=order)
        for order in ("profiler", "hardware")
    )
    check_all(totals)
    check_all(small("even_odd", view="sm_90"), totals)
    for a, b, words in ((rows, totals, "once more → issued"), (totals, rows, "lanes → no instruction")):
        check_all(a, b)
        (term,) = (term for term in simt.explain(a, b).terms if term.cause == "replays")
        assert words in term.text


def test_counts_without_lines_are_a_residual_of_either_side() -> None:
    ncu = Path(__file__).parents[1] / "data" / "hardware" / "ncu"
    both, raw = (
        load_recorded(f"{pages}:reduceNeighbored")
        for pages in (f"{ncu / 'raw.csv'}+{ncu / 'source.csv'}", ncu / "raw.csv")
    )
    for a, b in ((both, raw), (raw, both)):
        found = simt.explain(a, b)
        check(found)
        assert found.terms[0].cause == RESIDUAL


def test_formulas_are_fractions_of_sums() -> None:
    ratio = ratio_of(METRICS["gld_efficiency"].formula)
    assert ratio.numerator == {"global_load_bytes_distinct": Fraction(100, 32)}
    assert ratio.denominators == ({"global_load_sectors": Fraction(1)},)
    for metric in METRICS.values():
        if metric.group != "timing":
            ratio_of(metric.formula)


def test_a_sum_of_fractions_is_none() -> None:
    from simt.metrics import Formula

    for text in ("a / b + c / d", "a * b"):
        with pytest.raises(NotLinearError):
            ratio_of(Formula(text))


def test_what_cannot_be_explained_is_refused() -> None:
    profile = entry("if_else")
    with pytest.raises(UnknownMetricError, match="did you mean gld_efficiency"):
        simt.explain(profile, metric="gld_eficiency")
    with pytest.raises(UnusableProfileError, match="timing=True"):
        simt.explain(profile, metric="duration")
    with pytest.raises(UnusableProfileError, match="no value of shared_efficiency"):
        simt.explain(profile, metric="shared_efficiency")
    with pytest.raises(UnusableProfileError, match="this is not a profile"):
        simt.explain({"kernel": "x"})


def test_names_are_escaped_in_html() -> None:
    saved = entry("if_else").to_dict()
    saved["kernel"] = "<script>alert(1)</script>"
    saved["lines"] = [{**line, "text": "<b>" + line["text"]} for line in saved["lines"]]
    html = simt.explain(saved)._repr_html_()
    assert "<script" not in html
    assert "<b>if" not in html
    assert "&lt;b&gt;" in html


def one_warp(name: str) -> Profile:
    """A timed launch that is short enough for plain Python, where the timing model is not compiled yet."""
    plan = kernels.get(name).plan(32, 32)
    return simt.launch(plan.kernel, plan.grid, plan.block, *plan.args, timing=True, device="h200")


def test_time_is_shared_out_without_rest() -> None:
    """Every warp-cycle belongs to a line and a reason; what remains is the launch itself."""
    ours, theirs = (one_warp(name) for name in ("neighbored", "interleaved"))
    for metric in ("cycles", "duration"):
        alone = simt.explain(ours, metric=metric)
        check(alone)
        assert float(alone.a) == pytest.approx(ours.metrics[metric])
        assert [term.cause for term in alone.terms if not term.places] == ["launch overhead"]
        check(simt.explain(ours, theirs, metric))


def test_occupancy_is_shared_out_among_limits() -> None:
    found = simt.explain(small("shared"), entry("if_else"), "theoretical_occupancy")
    check(found)
    assert {term.cause.partition(":")[0] for term in found.terms} == {"limit"}


@pytest.mark.parametrize(
    ("addresses", "lanes", "size", "space", "words"),
    [
        (range(0, 128, 4), range(32), 4, "global", "neighbouring lanes read neighbouring elements"),
        (range(4, 132, 4), range(32), 4, "global", "misaligned, neighbouring elements begin 4 bytes"),
        (range(124, -4, -4), range(32), 4, "global", "neighbouring lanes"),
        (range(0, 256, 8), range(32), 4, "global", "strided, lanes are 8 bytes apart"),
        ([0, 8, 16], [0, 2, 4], 4, "global", "strided, lanes are 8 bytes apart"),
        ([0, 4, 64], [0, 1, 16], 4, "global", "neighbouring lanes"),
        ([0, 4, 12], [0, 1, 2], 4, "global", "scattered"),
        ([64] * 5, range(5), 4, "global", "broadcast, 5 lanes"),
        ([64, 64, 96], range(3), 4, "global", "3 lanes share 2 addresses"),
        ([64], [7], 4, "global", "one lane"),
        (range(0, 4096, 128), range(32), 4, "shared", "32-way bank conflict, lanes 0, 1, 2, ... use bank 0"),
        ([4, 132, 8], [3, 5, 6], 4, "shared", "2-way bank conflict, lanes 3, 5 use bank 1"),
        (range(0, 128, 4), range(32), 4, "shared", "no conflict"),
    ],
)
def test_patterns_in_words(addresses: Any, lanes: Any, size: int, space: str, words: str) -> None:
    request = Request(0, space, "load", size, np.array([*lanes]), np.array([*addresses]), 0)
    assert in_words(request).startswith(words)


def test_patterns_of_the_source_view_leave_the_arrays_as_they_were() -> None:
    plan = kernels.get("neighbored").plan(128, 64)
    before = plan.args[0].copy()
    found = access_patterns(plan.kernel, plan.grid, plan.block, *plan.args)
    np.testing.assert_array_equal(plan.args[0], before)
    assert found["reduction.py", 43]["global_load"].startswith("strided, lanes are")
    assert found["reduction.py", 47] == {"global_load": "one lane", "global_store": "one lane"}
