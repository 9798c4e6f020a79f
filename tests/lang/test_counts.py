"""The counting contract, by hand: how many warp instructions each source line of a converged warp executes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, int32

from simt.lang import argument_types, compile
from tests.lang.interp import Block

UNIT = 2
FAST = True


def counts(kernel: Any, *args: Any, block: tuple[int, ...] = (32,), predicate: int = 0) -> dict[str, int]:
    """Warp instructions per source line (its text), lines with none left out."""
    program = compile(kernel, argument_types(args), predicate=predicate)
    run = Block(program, block, args).run()
    return {program.listing[line].text.strip(): count for line, count in sorted(run.counts.items())}


def straight(a, out, n, x):
    t = cuda.threadIdx.x  # 1 register
    i = cuda.grid(1)  # 3 registers, 1 multiply-add
    s = cuda.gridsize(1)  # 2 registers, 1 multiplication
    j = i + n * UNIT - (3 + UNIT)  # 3 operators, the constants are one
    k = j  # a name
    f = a[t] * 2  # index, load, int32 * int64
    g = f / 3  # int -> float, division
    h = float32(g) + x  # cast, float32 addition
    out[t] = h  # float32 -> float64, index, store
    a[t] += k + s  # index, load, 2 additions, store
    b = math.sqrt(g) + cuda.popc(t)  # 2 functions, int -> float, addition
    out[t] = -b if False else b  # index, store
    p = not (t < 4)  # comparison, not
    c = p + len(out) + out.shape[0] + cuda.warpsize  # bool -> int, 3 additions
    cuda.atomic.add(a, 0, c)  # index, atomic
    cuda.syncthreads()  # 1
    y = cuda.shfl_down_sync(0xFFFFFFFF, c, 1)  # 1
    u, v = y, c  # names
    out[u - v] = cuda.any_sync(0xFFFFFFFF, p)  # subtraction, vote, bool -> float, index, store
    cuda.threadfence()  # 1


def test_straight_line() -> None:
    a, out = np.zeros(32, np.int32), np.zeros(32)
    expected = [1, 4, 3, 3, 3, 2, 2, 3, 5, 4, 2, 2, 4, 2, 1, 1, 5, 2]
    assert list(counts(straight, a, out, 5, np.float32(1)).values()) == expected  # the end is 1 more


def early(a, n):
    i = cuda.threadIdx.x
    if i >= n:
        return
    a[i] = 1


def test_return_and_end() -> None:
    a = np.zeros(32)
    assert counts(early, a, 32) == {"i = cuda.threadIdx.x": 1, "if i >= n:": 2, "a[i] = 1": 3}
    assert counts(early, a, 3) == {"i = cuda.threadIdx.x": 1, "if i >= n:": 2, "return": 1, "a[i] = 1": 3}


def iterates(a):
    total = 0.0
    for x in a:
        total += x
    for k in (3, 5, 7, 9):
        total += k
    a[0] = total


def test_loops_over_arrays_and_tuples() -> None:
    """A trip takes 3, an array's element 2 more, that of a tuple none; the test that ends the loop 2."""
    found = counts(iterates, np.zeros(6), block=(1,))
    assert found["for x in a:"] == 6 * 5 + 2
    assert found["for k in (3, 5, 7, 9):"] == 4 * 3 + 2


def loops(out, n):
    total = 0
    for i in range(n):
        total += i
    while total > 0:
        total -= 2
    for _ in range(0, n, n - 1):
        pass
    out[0] = total


def test_loops() -> None:
    out = np.zeros(1, np.int32)
    assert counts(loops, out, 4) == {
        "for i in range(n):": 5 * 2 + 4,
        "total += i": 4,
        "while total > 0:": 4 * 2,
        "total -= 2": 3,
        "for _ in range(0, n, n - 1):": 1 + 3 * 2 + 2,
        "out[0] = total": 2 + 1,
    }


def short_circuit(out, a, b):
    x = a > 1 and b > 1
    if a > 1 or b > 1:
        x = not x
    if 0 < a < b:
        out[0] = 1 if x else 2
    if FAST and a:
        out[1] = 1
    if not FAST:
        out[1] = 2


def test_conditions() -> None:
    out = np.zeros(2)
    assert counts(short_circuit, out, 2, 5) == {
        "x = a > 1 and b > 1": 3,
        "if a > 1 or b > 1:": 2,
        "x = not x": 1,
        "if 0 < a < b:": 4,
        "out[0] = 1 if x else 2": 1 + 1 + 2,  # the value is converted to float64
        "if FAST and a:": 2,
        "out[1] = 1": 2,
        "out[1] = 2": 1,  # the end of the kernel
    }


def matrix(m, t):
    x, y = cuda.grid(2)
    m[y, x] = m[y, x] + t[y][x]


def test_n_dimensional_arrays() -> None:
    m, t = np.zeros((4, 8)), np.zeros((4, 8))
    result = counts(matrix, m, t, block=(8, 4))
    assert result == {"x, y = cuda.grid(2)": 8, "m[y, x] = m[y, x] + t[y][x]": 3 + 3 + 1 + 3 + 1}


@cuda.jit(device=True)
def square(x):
    return x * x


def caller(out):
    t = cuda.threadIdx.x
    out[t] = square(t) + square(t + 1)


def test_device_function_lines() -> None:
    result = counts(caller, np.zeros(32, np.int64))
    assert result == {"t = cuda.threadIdx.x": 1, "out[t] = square(t) + square(t + 1)": 5, "return x * x": 2}


def even_odd(out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        x = t + 1
    else:
        x = t * 2 - 1
    out[t] = x


def test_predication_has_no_branch() -> None:
    out = np.zeros(32, np.int64)
    lines = counts(even_odd, out)
    assert lines["if t % 2 == 0:"] == 3
    out[:] = 0
    assert counts(even_odd, out, predicate=2) == {
        "t = cuda.threadIdx.x": 1,
        "if t % 2 == 0:": 2,
        "x = t + 1": 1,
        "x = t * 2 - 1": 2,
        "out[t] = x": 3,
    }
    t = np.arange(32)
    np.testing.assert_array_equal(out, np.where(t % 2 == 0, t + 1, t * 2 - 1))
    assert counts(even_odd, out, predicate=1)["if t % 2 == 0:"] == 3
    program = compile(even_odd, argument_types((out,)), predicate=2)
    assert not any(i.op in ("bra", "bssy", "bsync") for i in program.instructions)
    assert sum(i.guard != 0 for i in program.instructions) == 3


def passes(out, n):
    t = cuda.threadIdx.x
    for _ in range(4 + t % 5):
        out[t] += 1
    if t < n:
        out[t] += 10
    else:
        out[t] += 20
    out[t] += 5


def test_lanes_meet_at_the_post_dominator() -> None:
    out = np.zeros(32, np.int64)
    program = compile(passes, argument_types((out, 24)))
    run = Block(program, (32,), (out, 24)).run()
    by_text = {program.listing[k].text.strip(): (run.counts[k], run.lanes[k]) for k in run.counts}
    t = np.arange(32)
    assert by_text["out[t] += 1"] == (8 * 4, int((4 + t % 5).sum()) * 4)
    assert by_text["out[t] += 10"] == (4, 24 * 4)
    assert by_text["out[t] += 20"] == (4, 8 * 4)
    assert by_text["out[t] += 5"] == (5, 32 * 5)


def assigned(out, n):
    t = cuda.threadIdx.x
    x = t * 2
    y = x > 3 and n > 1
    x, z = int32(x) + 1, x
    w = x if y else z
    out[t] = w


def test_assigned_variables_are_named() -> None:
    program = compile(assigned, argument_types((np.zeros(32), 5)))
    named = [(i.variable, i.dtype, i.op) for i in program.instructions if i.variable and i.retires]
    assert ("t", "int32", "sreg") in named
    assert ("x", "int64", "mul.s64") in named
    assert ("y", "bool", "lt.s64") in named
    assert ("x", "int64", "add.s64") in named


@pytest.mark.parametrize("kernel", [straight, loops, passes, matrix])
def test_programs_are_well_formed(kernel: Any) -> None:
    args = {
        straight: (np.zeros(9, np.int32), np.zeros(9), 1, np.float32(1)),
        loops: (np.zeros(1, np.int32), 1),
        passes: (np.zeros(32), 2),
        matrix: (np.zeros((2, 2)), np.zeros((2, 2))),
    }[kernel]
    program = compile(kernel, argument_types(args))
    assert program.name == kernel.__name__
    assert program.listing[0].text.startswith("def ")
    assert program.listing[0].number == kernel.__code__.co_firstlineno
    rows = [uniform.row for uniform in program.uniforms]
    assert len(set(rows)) == len(rows)
    assert 0 not in rows
    assert max(rows) < program.n_registers
    for instruction in program.instructions:
        assert 0 <= instruction.line < len(program.listing)
        assert str(instruction)


def unified(out, n):
    x = n + 1
    if n > 5:
        x = 0.5
    out[0] = x


def test_the_conversion_to_the_type_of_a_joined_variable_is_free() -> None:
    """``x`` is a float64 behind the branch; Numba converts there, and a compiler keeps both."""
    found = counts(unified, np.zeros(1), 3)
    assert found == {"x = n + 1": 1, "if n > 5:": 2, "out[0] = x": 2 + 1}


def skips(out, n):
    lane = cuda.threadIdx.x
    for i in range(n):
        if (lane + i) % 2:
            continue
        out[lane] += i


def test_lanes_that_continue_wait_for_the_others() -> None:
    """Every trip is made by the whole warp: the head of the loop runs as often as where nobody skips."""
    found = counts(skips, np.zeros(32), 4)
    assert found["for i in range(n):"] == 5 * 2 + 4
    assert found["if (lane + i) % 2:"] == 4 * 4
