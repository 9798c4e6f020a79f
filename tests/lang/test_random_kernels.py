"""Random structured kernels equal a scalar run per thread of the same Python, in any split order."""

from __future__ import annotations

import itertools
import random
import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from simt.lang import argument_types, compile
from tests.from_text import function_from
from tests.lang.interp import Block

NAMES = ("x", "y", "z")
_serial = itertools.count()

atoms = st.sampled_from([*NAMES, "t", "0", "1", "2", "7", "x % 3", "y % 4", "(x + z) % 5"])
expressions = st.one_of(
    atoms,
    st.builds("({} {} {}) % 97".format, atoms, st.sampled_from(["+", "-", "*", "//", "%", "^", "&"]), atoms)
    .filter(lambda text: "// 0" not in text and "% 0" not in text)
    .map(lambda text: text.replace("//", "// 3 +").replace("% x)", "% 5)").replace("% y)", "% 6)")),
    st.builds("({} if {} < {} else {})".format, atoms, atoms, atoms, atoms),
    st.builds("abs(max({}, {}) - min({}, 3))".format, atoms, atoms, atoms),
    st.builds("twice({})".format, atoms),
)
comparisons = st.builds("{} {} {}".format, atoms, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), atoms)
conditions = st.one_of(
    comparisons,
    st.builds("{} and {}".format, comparisons, comparisons),
    st.builds("{} or {}".format, comparisons, comparisons),
    st.builds("not ({} and {})".format, comparisons, comparisons),
    st.builds("{} < {} <= {}".format, atoms, atoms, atoms),
    st.builds("{} % 2".format, atoms),
)
assignments = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(NAMES), expressions),
    st.builds("{} = ({} + {}) % 101".format, st.sampled_from(NAMES), atoms, atoms),
    st.just("x, y = y, x"),
    st.just("y, z = z, (x + y) % 89"),
    st.just("seen[t] += 1"),
)


def indent(body: str) -> str:
    return textwrap.indent(body, "    ")


@st.composite
def blocks(draw: Any, depth: int, in_loop: bool, returns: bool = True) -> str:
    statements = [draw(statements_of(depth, in_loop, returns)) for _ in range(draw(st.integers(1, 3)))]
    return "\n".join(statements)


@st.composite
def statements_of(draw: Any, depth: int, in_loop: bool, returns: bool) -> str:
    kinds = ["assign", "assign"]
    if in_loop:
        kinds += ["break", "continue"]
    if returns:
        kinds += ["return"]
    if depth:
        kinds += ["if", "if", "ifelse", "elif", "while", "for", "forever", "fall"]
    kind = draw(st.sampled_from(kinds))
    if kind == "assign":
        return draw(assignments)
    if kind in ("break", "continue", "return"):
        return f"if {draw(conditions)}:\n" + indent(kind)
    fuel = f"f{next(_serial)}"
    inner = draw(blocks(depth - 1, in_loop, returns))
    other = draw(blocks(depth - 1, in_loop, returns))
    body = draw(blocks(depth - 1, True, returns))
    match kind:
        case "if":
            return f"if {draw(conditions)}:\n" + indent(inner)
        case "ifelse":
            return f"if {draw(conditions)}:\n{indent(inner)}\nelse:\n{indent(other)}"
        case "elif":
            return (
                f"if {draw(conditions)}:\n{indent(inner)}\nelif {draw(conditions)}:\n{indent(other)}\n"
                f"else:\n{indent(draw(assignments))}"
            )
        case "while":
            return (
                f"{fuel} = 0\nwhile {fuel} < 4 and ({draw(conditions)}):\n    {fuel} += 1\n{indent(body)}\n"
                f"else:\n{indent(draw(assignments))}"
            )
        case "for":
            bounds = draw(st.sampled_from(["x % 4", "1, 4", "3, 0, -1", "0, 5, 1 + t % 2", "5, y % 3, -1 - t % 3"]))
            return f"for {fuel} in range({bounds}):\n{indent(body)}\n    z = (z + {fuel}) % 83"
        case "fall":
            return f"{fuel} = {draw(atoms)}\nif {draw(conditions)}:\n    {fuel} = {draw(atoms)}\nx = (x + {fuel}) % 79"
    return f"{fuel} = 0\nwhile True:\n    {fuel} += 1\n    if {fuel} > 3:\n        break\n{indent(body)}"


def kernel_source(body: str) -> str:
    return (
        "def kernel(data, seen, out):\n"
        "    t = cuda.threadIdx.x\n"
        "    x = data[t]\n    y = t % 3\n    z = 1\n"
        f"{indent(body)}\n"
        "    out[t] = x + 100 * y + 10000 * z\n"
    )


def twice(value: Any) -> Any:
    if value > 50:
        return 50
    return value * 2


def scalar_run(source: str, data: np.ndarray, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """What each thread does on its own, in plain Python."""
    here = SimpleNamespace(threadIdx=SimpleNamespace(x=0))
    kernel = function_from(source, {"cuda": here, "twice": twice})
    seen, out = [0] * threads, [-1] * threads
    for thread in range(threads):
        here.threadIdx.x = thread
        kernel([int(value) for value in data], seen, out)
    return np.array(seen), np.array(out)


def check(body: str, seed: int, predicate: int = 0) -> None:
    source = kernel_source(body)
    data = np.random.default_rng(seed).integers(0, 60, 32)
    expected = scalar_run(source, data, 32)
    kernel = function_from(source, {"cuda": cuda, "twice": twice})
    seen, out = np.zeros(32, np.int64), np.full(32, -1)
    args = (data, seen, out)
    program = compile(kernel, argument_types(args), predicate=predicate)
    order = random.Random(seed)
    block = Block(program, (32,), args, pick=order.choice).run()
    np.testing.assert_array_equal(seen, expected[0])
    np.testing.assert_array_equal(out, expected[1])
    last_line = len(source.splitlines()) - 1
    stores = [pc for pc, i in enumerate(program.instructions) if i.op == "st.global" and i.line == last_line]
    assert sum(block.executed[pc] for pc in stores) <= 1, "the lanes do not meet again before the last line"


@settings(max_examples=100, deadline=None)
@given(blocks(3, False), st.integers(0, 1000))
def test_random_kernel_equals_scalar_python(body: str, seed: int) -> None:
    check(body, seed)


@settings(max_examples=60, deadline=None)
@given(blocks(2, False), st.integers(0, 1000), st.integers(1, 8))
def test_random_kernel_with_predication(body: str, seed: int, predicate: int) -> None:
    check(body, seed, predicate)


RETURN_IN_ENDLESS_LOOP = """
while True:
    if t % 2:
        if x > 30:
            return
        y = 2
    z += 1
    if z > 4:
        break
"""
BREAK_IN_NESTED_IF = """
for i in range(5):
    if t % 3 == 0:
        if i == t % 5:
            break
        x = (x + i) % 50
    y += 1
"""
CONTINUE_IN_INNER_LOOP = """
for i in range(5):
    for j in range(i):
        if (t + j) % 3 == 0:
            continue
        y = (y + j) % 60
"""
RETURN_IN_BRANCH = """
if t % 2:
    for i in range(t % 5):
        if i == 3:
            return
    x = 1
else:
    y = 5
"""
LOOP_VARIABLE_AFTER_LOOP = """
i = 9
for i in range(t % 3):
    pass
z = i
"""
ASSIGNED_LATE_IN_LOOP = """
for i in range(3):
    if i > 0:
        x = (x + late) % 90
    late = i + t
"""


@pytest.mark.parametrize(
    "body",
    [
        RETURN_IN_ENDLESS_LOOP,
        BREAK_IN_NESTED_IF,
        CONTINUE_IN_INNER_LOOP,
        RETURN_IN_BRANCH,
        LOOP_VARIABLE_AFTER_LOOP,
        ASSIGNED_LATE_IN_LOOP,
    ],
)
def test_chosen_shapes(body: str) -> None:
    for seed in range(4):
        check(body, seed)
        check(body, seed, predicate=4)
