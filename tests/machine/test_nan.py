"""Which NaN an operation on float64 leaves, on both engines: tests/data/hardware/nan_float64.json."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from tests.machine.harness import Call, evaluate

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
