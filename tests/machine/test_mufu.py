"""MUFU against an H200: digests of all results of whole blocks of operands, and results all over the range."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.ops import mufu
from simt.ops.encoding import MUFU_FUNCTIONS
from simt.ops.jit import jit
from tests.machine.harness import Call, evaluate

DATA = Path(__file__).parent.parent / "data" / "hardware"
MEASURED = np.load(DATA / "mufu.npz")
BLOCK = 23
"""A block is 2**23 operands: one sign and exponent of a float32."""

SEGMENTS = {
    "rcp": [127],
    "rsq": [127, 128],
    "sqrt": [127, 128],
    "ex2": [127, 256 + 127],  # a negative operand takes the complement
    "lg2": [126, 127, 128],  # near 1 the result shows the most bits
    "sin": [*range(119, 127), 256 + 124],
    "cos": [*range(119, 127), 256 + 124],
    "tanh": [*range(118, 131)],
    "rcp64h": [127],
    "rsq64h": [127],
}
"""Blocks whose operands reach every segment of the tables."""


@jit
def digest(function: int, block: int) -> Any:
    """What tests/gpu/mufu.cu computes: a sum over all operands, so that their order is free."""
    total = np.uint64(0)
    for i in range(1 << BLOCK):
        operand = np.uint64(block << BLOCK) | np.uint64(i)
        x = np.uint64(mufu.approximation(function, np.int64(operand))) << np.uint64(32) | operand
        x *= np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(29)
        x *= np.uint64(0x94D049BB133111EB)
        total += x ^ (x >> np.uint64(32))
    return total


def test_the_measured_functions_are_those_of_the_machine() -> None:
    assert json.loads((DATA / "mufu.json").read_text())["functions"] == list(MUFU_FUNCTIONS)


@pytest.mark.parametrize(("name", "block"), [(name, block) for name, blocks in SEGMENTS.items() for block in blocks])
def test_every_result_of_a_block(name: str, block: int) -> None:
    function = MUFU_FUNCTIONS.index(name)
    assert digest(function, block) == MEASURED["digest"][function, block]


@pytest.mark.parametrize("name", MUFU_FUNCTIONS)
def test_the_first_results_of_every_block(name: str) -> None:
    """Through the engine: zeros, denormal numbers, infinities, NaN and every exponent."""
    function = MUFU_FUNCTIONS.index(name)
    expected = MEASURED["results"][function]
    blocks, each = expected.shape
    rows = np.zeros((3, expected.size), np.uint64)
    rows[0] = ((np.arange(blocks) << BLOCK)[:, None] + np.arange(each)).ravel()
    (found,) = evaluate([Call("mufu.b32", function)], rows)
    np.testing.assert_array_equal(found.value, expected.ravel())
