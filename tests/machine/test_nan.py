"""Which NaN an operation on float64 leaves, on both engines: tests/data/hardware/nan_float64.json."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba.core import config

from simt.program import pred
from tests.machine.engines import check
from tests.machine.harness import Builder, Call, evaluate

EVIDENCE = json.loads((Path(__file__).parent.parent / "data/hardware/nan_float64.json").read_text())
VALUES = [int(value, 16) for value in EVIDENCE["values"]]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("op", ["add.f64", "sub.f64", "mul.f64", "div.f64", "fma.f64"])
def test_the_nan_that_stays_is_the_one_of_an_h200(op: str, engine: str) -> None:
    operands = 3 if op == "fma.f64" else 2
    places = list(itertools.product(range(len(VALUES)), repeat=operands))
    rows = np.zeros((3, len(places)), np.uint64)
    rows[:operands] = np.array([[VALUES[k] for k in place] for place in places], np.uint64).T
    expected = np.array(EVIDENCE[op]).reshape(-1)
    (found,) = evaluate([Call(op)], rows, engine=engine)
    assert [f"{value:016x}" for value in found.value.tolist()] == expected.tolist()


ROWS = st.integers(0, 20)
STEPS = st.tuples(
    st.sampled_from(["add.f64", "sub.f64", "mul.f64", "div.f64", "fma.f64", "min.f64", "neg.f64", "lt.f64"]),
    ROWS,
    ROWS,
    ROWS,
    st.none() | ROWS,
    st.booleans(),
)
"""An operation, its operands, the row that it overwrites or a new one, whether it has a guard."""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@given(
    steps=st.lists(STEPS, min_size=2, max_size=8),
    lanes=st.integers(0, 31),
    rates=st.tuples(*[st.sampled_from([0, 0.02, 0.5])] * 3),
    seed=st.integers(0, 99),
    index=st.booleans(),
)
@example(
    steps=[("lt.f64", 0, 2, 2, None, True), ("sub.f64", 0, 1, 0, None, False), ("mul.f64", 2, 2, 0, None, False)],
    lanes=31,
    rates=(0.5, 0.5, 0),
    seed=1,
    index=False,
)
@settings(max_examples=60)
def test_lanes_without_nans_are_computed_without_their_rules(
    steps: list[tuple[str, int, int, int, int | None, bool]],
    lanes: int,
    rates: tuple[float, ...],
    seed: int,
    index: bool,
) -> None:
    """With a NaN in some lanes, or in none; under guards, in some lanes only, and beside an index that may be wrong."""
    random = np.random.default_rng(seed)
    given = np.where(
        random.random((3, 32)) < np.array(rates)[:, None],
        random.choice(np.array(VALUES, np.uint64), (3, 32)),
        random.choice([0.0, -1.5, 3.25, 1e308, np.inf], (3, 32)).view(np.uint64),
    )
    b = Builder()
    arrays, lane = [b.array(k) for k in range(6)], b.thread()
    rows = [b.load(array, lane) for array in arrays[:3]]
    low = pred(b.value("lt.s64", lane, b.const(11)))
    b.bra("end", pred(b.value("lt.s64", b.const(lanes), lane)))
    less = [b.predicate()]
    for op, *operands, overwritten, guarded in steps:
        a, c, d = (rows[k % len(rows)] for k in operands)
        guard = {"guard": low} if guarded else {}
        if overwritten is None:
            rows.append(b.reg())
        row = rows[-1 if overwritten is None else overwritten % len(rows)]
        if op == "lt.f64":
            less.append(b.value(op, a, c, **guard))
            b.emit("selp", row, c, d, pred(less[-1]))
        else:
            b.emit(op, row, a, 0 if op == "neg.f64" else c, d if op == "fma.f64" else 0, **guard)
    if index:
        b.store(arrays[3], b.value("add.s64", lane, b.const(seed % 3)), rows[-1])
    b.store(arrays[3], lane, rows[-1])
    b.store(arrays[5], lane, b.number(pred(less[-1])))
    b.store(arrays[4], lane, rows[-2])
    b.label("end")
    check(b.build(), [*given, *np.zeros((3, 32), np.uint64)])
