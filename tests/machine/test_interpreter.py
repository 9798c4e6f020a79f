"""What the interpreter makes of lane functions: loops over 32 lanes that give each lane what the function gives it."""

from __future__ import annotations

import ast
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simt.machine import interpreter
from simt.ops.integer import TABLE as INTEGER
from simt.ops.row import Effect, Family, Kind, MicroOp, Table
from tests.machine import lane_functions as made

ROW = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=32, max_size=32)
FULL = 2**32 - 1


def function_of(table: Table) -> Callable[..., Any]:
    """The function that executes the rows of a table, by the names of its parameters."""
    tree = interpreter.tree(table)
    names = {**vars(made), **interpreter.NAMES}
    return interpreter.made_function(tree, names, str(made.__file__))


def execute(table: Table, name: str, *rows: Any, **more: Any) -> tuple[np.ndarray, int]:
    """Results of a row (int64[32]) for operand rows, and the mask that it returns."""
    number = next(row.number for row in table.rows if row.function == name)
    function = function_of(table)
    registers = np.zeros(32 * 4, np.int64)
    for k, row in enumerate(rows):
        registers[32 * k : 32 * k + 32] = row
    out = np.full(128, -1, np.int64)
    places = {
        "R": registers, "F64": registers.view(np.float64), "F32": registers.view(np.float32),
        "O": out, "O64": out.view(np.float64), "O32": out.view(np.float32),
        "a": np.uint64(0), "b": np.uint64(32), "c": np.uint64(64), **more,
    }  # fmt: skip
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    with np.errstate(all="ignore"):
        mask = function(number, *(places[name] for name in parameters[1:]))
    return out[:32], int(mask)


def wrapped(value: int) -> int:
    """The low 64 bits, signed."""
    return (value + 2**63) % 2**64 - 2**63


def signed32(value: int) -> int:
    """The low 32 bits, signed."""
    return (value + 2**31) % 2**32 - 2**31


@given(ROW, ROW, ROW)
def test_operands_are_read_as_they_are_annotated(a: list[int], b: list[int], c: list[int]) -> None:
    found, mask = execute(made.INTEGERS, "mixed_s64", a, b, c)
    expected = [wrapped(signed32(x) + 2 * (y & FULL) - z) for x, y, z in zip(a, b, c, strict=True)]
    assert found.tolist() == expected
    assert mask == -1


@given(ROW, ROW)
def test_rows_have_names_of_their_own(a: list[int], b: list[int]) -> None:
    """Three rows call something ``x``, each of another type: one function holds them all."""
    squares, _ = execute(made.INTEGERS, "local_s64", a, b)
    assert squares.tolist() == [wrapped((x - y) ** 2) for x, y in zip(map(wrapped, a), map(wrapped, b), strict=True)]
    halves, _ = execute(made.INTEGERS, "local_u64", a)
    assert halves.tolist() == [x % 2**64 >> 1 for x in a]
    names = {node.id for node in ast.walk(interpreter.tree(made.INTEGERS)) if isinstance(node, ast.Name)}
    assert {f"x_{row.number}" for row in made.INTEGERS.rows if row.function.startswith("local")} <= names
    assert "x" not in names


@given(st.lists(st.floats(), min_size=32, max_size=32))
def test_float64_goes_by_its_bits(a: list[float]) -> None:
    found, _ = execute(made.INTEGERS, "local_f64", np.array(a).view(np.int64))
    np.testing.assert_array_equal(found.view(np.float64), np.array(a) / 2)


def test_the_quick_loop_runs_only_where_its_condition_holds_in_all_lanes() -> None:
    few = [k % 16 for k in range(32)]
    assert execute(made.INTEGERS, "square_u32", few)[0].tolist() == [k * k + (1 << 16) for k in few]
    few[17] = 2**32 + 16
    assert execute(made.INTEGERS, "square_u32", few)[0].tolist() == [k * k & FULL for k in few]


def test_float32_has_a_high_half_of_zero_and_one_nan() -> None:
    a = np.full(32, -1, np.int64)
    a.view(np.float32)[::2] = [0.0, 1.0, -3.0, np.nan] * 8
    b = np.zeros(32, np.int64)
    b.view(np.float32)[::2] = [0.0, 0.0, 2.0, 1.0] * 8
    found, _ = execute(made.SINGLES, "divided_f32", a, b)
    assert found[:4].tolist() == [0x7FFFFFFF, 0x7F800000, int(np.float32(-1.5).view(np.uint32)), 0x7FFFFFFF]


@given(ROW, ROW)
def test_predicates_are_a_mask(a: list[int], b: list[int]) -> None:
    _, mask = execute(made.TESTS, "above_s32", a, b)
    assert mask == sum((signed32(x) > signed32(y)) << lane for lane, (x, y) in enumerate(zip(a, b, strict=True)))


@given(st.integers(0, FULL), ROW)
def test_predicate_operands_are_read_from_their_mask(a: int, b: list[int]) -> None:
    _, mask = execute(made.CHOICES, "chosen", [0] * 32, b, lanes_a=np.int64(a))
    assert mask == a & sum((x < 0) << lane for lane, x in enumerate(b))


@given(st.integers(0, FULL), st.integers(0, FULL))
def test_functions_of_masks_are_called_once(a: int, b: int) -> None:
    tree = interpreter.tree(Table("predicate", Family.PREDICATE, Kind.MASK, 0, rows=made.MASKS.rows))
    assert not any(isinstance(node, ast.For) for node in ast.walk(tree))
    function = interpreter.made_function(tree, dict(interpreter.NAMES), str(made.__file__))
    assert function(0, np.int64(a), np.int64(b)) == a & b


def test_an_error_shows_the_lane_function() -> None:
    """A plain-Python engine stops in the file where the lane function stands, at its line."""
    function = function_of(made.SINGLES)
    with pytest.raises(TypeError) as caught:
        function(0, np.zeros(32, np.int64), ["no number"] * 64, np.zeros(64, np.float32), np.uint64(0), np.uint64(1))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename == made.__file__
    assert last.line == "quotient = a / b"


def declared(lane: Callable[..., Any]) -> Table:
    """A table with one row."""
    row = MicroOp(0, "x", Family.INT, "rr--", "", "alu", Effect.NONE, lane)
    return Table("test", Family.INT, Kind.ROW, 0, rows=[row])


def test_a_lane_function_has_no_branches() -> None:
    with pytest.raises(AssertionError, match="assignments and one return"):
        interpreter.tree(declared(branching))


def branching(a: made.S64) -> made.S64:
    """No lane function."""
    if a:
        return a
    return -a


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*made.INTEGERS.rows[:1], *made.SINGLES.rows], "rows with results .* stand apart"),
        ([*made.TESTS.rows, *made.CHOICES.rows], "rows with and without predicate operands stand apart"),
    ],
)
def test_rows_that_cannot_share_a_function_are_refused(rows: list[MicroOp], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        interpreter.tree(Table("test", Family.INT, Kind.ROW, 0, rows=rows))


def test_the_program_prints_the_function_of_a_table() -> None:
    text = subprocess.run(
        [sys.executable, "-m", "simt.machine.interpreter", "integer"], capture_output=True, text=True, check=True
    ).stdout
    printed = ast.parse(text)
    assert [one.name for one in printed.body if isinstance(one, ast.FunctionDef)] == ["integer"]
    tests = {ast.unparse(node.test) for node in ast.walk(printed) if isinstance(node, ast.If)}
    assert {f"number == {row.number}" for row in INTEGER.rows} <= tests
