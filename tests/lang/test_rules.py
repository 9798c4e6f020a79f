"""Numba's arithmetic rules as measured on an H200, at run time and where constants are folded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

from simt.api import launch
from simt.lang import argument_types, compile

INF, NAN = math.inf, math.nan
I64 = np.int64
LOW64, HIGH64 = -(2**63), 2**63 - 1
UNTOUCHED = 77
"""What is in the results before the kernel runs."""


def evaluate(function: Callable[..., Any], *operands: Any, dtype: Any = np.int64) -> Any:
    """What one thread stores for ``function(*operands)``: the same with run-time operands and with constants."""
    first, second = operands[0], operands[-1]

    def at_run_time(out, x, y):
        out[0] = function(x[0], y[0])

    def with_constants(out):
        out[0] = function(first, second)

    found, folded = np.full(1, UNTOUCHED, dtype), np.full(1, UNTOUCHED, dtype)
    launch(at_run_time, 1, 1, found, np.array([first]), np.array([second]))
    launch(with_constants, 1, 1, folded)
    assert same(found[0], folded[0]), (operands, found[0], folded[0])
    return found[0]


def same(found: Any, expected: Any) -> bool:
    """Equal values and signs of zero, or two NaN."""
    if isinstance(found, np.floating):
        if np.isnan(found) or np.isnan(expected):
            return bool(np.isnan(found) and np.isnan(expected))
        return bool(found == expected and np.signbit(found) == np.signbit(expected))
    return int(found) == int(expected)


def to_int8(x, _):
    return int8(x)


def to_int16(x, _):
    return int16(x)


def to_int32(x, _):
    return int32(x)


def to_int64(x, _):
    return int64(x)


def to_uint8(x, _):
    return uint8(x)


def to_uint16(x, _):
    return uint16(x)


def to_uint32(x, _):
    return uint32(x)


def to_uint64(x, _):
    return uint64(x)


CASTS = {
    "int8": (to_int8, {128.9: -128, -129: 127, 32768: -1, INF: -1, -32769: 0, -INF: 0}, 0, 0),
    "int16": (to_int16, {-2.9: -2, 32768: 2**15 - 1, INF: 2**15 - 1, -1e9: -(2**15)}, 0, -(2**15)),
    "int32": (to_int32, {1.9: 1, 2.0**31: 2**31 - 1, INF: 2**31 - 1, -INF: -(2**31)}, 0, -(2**31)),
    "int64": (to_int64, {-1.9: -1, 2.0**63: HIGH64, INF: HIGH64, -INF: LOW64}, LOW64, LOW64),
    "uint8": (to_uint8, {255.9: 255, 256: 0, 65536: 255, INF: 255, -1: 0}, 0, 0),
    "uint16": (to_uint16, {65535.9: 65535, 65536: 65535, -1: 0, -INF: 0}, 0, 2**15),
    "uint32": (to_uint32, {2.0**32: 2**32 - 1, -1: 0, INF: 2**32 - 1}, 0, 2**31),
    "uint64": (to_uint64, {2.0**64: 2**64 - 1, 2.0**63: 2**63, -1: 0}, 2**63, 2**63),
}
"""Target: function, results by value, what a float32 NaN gives, what a float64 NaN gives."""


def store(out, x):
    out[0] = x[0]


@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("target", CASTS)
def test_floats_to_integers(target: str, source: Any) -> None:
    function, results, nan32, nan64 = CASTS[target]
    for value, expected in [*results.items(), (NAN, nan32 if source is np.float32 else nan64)]:
        assert evaluate(function, source(value), dtype=target) == expected, value
        out = np.zeros(1, target)
        launch(store, 1, 1, out, np.array([value], source))
        assert out[0] == expected, value


def negated(x, _):
    return -x


def inverted(x, _):
    return ~x


@pytest.mark.parametrize(
    ("value", "minus", "inverse"),
    [
        (np.int8(-128), -128, 127),
        (np.int32(-(2**31)), -(2**31), 2**31 - 1),
        (np.int32(5), -5, -6),
        (np.uint8(1), 255, 254),
        (np.uint16(0), 0, 65535),
        (np.uint32(1), 2**32 - 1, 2**32 - 2),
        (I64(LOW64), LOW64, HIGH64),
    ],
)
def test_unary_operators_act_at_the_width_of_the_operand(value: Any, minus: int, inverse: int) -> None:
    assert evaluate(negated, value) == minus
    assert evaluate(inverted, value) == inverse


def shifted_left(x, y):
    return x << y


def shifted_right(x, y):
    return x >> y


@pytest.mark.parametrize(
    ("amount", "left", "right"), [(64, 0, -1), (-1, 0, -1), (2**32, -9, -9), (LOW64, -9, -9), (LOW64 + 1, -18, -5)]
)
def test_shifts_take_the_low_32_bits_of_the_amount(amount: int, left: int, right: int) -> None:
    assert evaluate(shifted_left, I64(-9), I64(amount)) == left
    assert evaluate(shifted_right, I64(-9), I64(amount)) == right


def quotient(x, y):
    return x // y


def remainder(x, y):
    return x % y


def test_integer_division_that_overflows() -> None:
    for divisor in (-1, 0):
        assert evaluate(quotient, I64(LOW64), I64(divisor)) == 0
        assert evaluate(remainder, I64(LOW64), I64(divisor)) == 0
    assert evaluate(quotient, np.uint64(2**63), I64(-1)) == 0


@pytest.mark.parametrize(
    ("x", "y", "floor", "modulo"),
    [
        (7.0, -2.0, -4.0, -1.0),
        (1.0, INF, NAN, NAN),
        (1.0, 5e-324, INF, -INF),
        (-9.3e18, 7.0, -1328571428571428608.0, 256.0),
        (0.0, -2.5, -0.0, -0.0),
        (-1.0, 0.0, -INF, NAN),
        (np.float32(2147483648), np.float32(3), 715827904.0, -61.0),
    ],
)
def test_float_division(x: Any, y: Any, floor: float, modulo: float) -> None:
    assert same(evaluate(quotient, type(x)(x), type(x)(y), dtype=np.float64), floor)
    assert same(evaluate(remainder, type(x)(x), type(x)(y), dtype=np.float64), modulo)


def power(x, y):
    return x**y


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (I64(0), I64(-3), LOW64),
        (I64(-1), I64(-3), -1),
        (I64(7), I64(-1), 0),
        (I64(3), I64(41), 3**41 - 2**64 * 2),
        (I64(2), I64(65537), HIGH64),
        (I64(-3), I64(2**63 - 1), HIGH64),
        (np.uint32(2), np.uint32(65537), 2**64 - 1),
        (I64(2), np.uint64(2**64 - 1), HIGH64),
        (I64(-1), np.uint64(2**64 - 1), 1),
        (I64(0), np.uint64(2**64 - 1), 0),
        (I64(1), I64(LOW64), UNTOUCHED),  # the thread ends before it stores
    ],
)
def test_integer_power(base: Any, exponent: Any, expected: int) -> None:
    dtype = np.uint64 if expected >= 2**63 else np.int64
    assert evaluate(power, base, exponent, dtype=dtype) == expected


def ends_in_one_arm(out, exponents):
    t = cuda.threadIdx.x
    x = 5
    if t % 2:
        x = 1 ** exponents[t]
    else:
        x = 7
    cuda.syncthreads()
    out[t] = x + cuda.popc(cuda.activemask())


@pytest.mark.parametrize("order", ["then_first", "else_first", "interleaved"])
@pytest.mark.parametrize("predicate", [0, 8])
def test_the_other_threads_go_on_where_a_power_overflows(order: str, predicate: int) -> None:
    exponents = np.full(32, 3)
    exponents[[3, 4, 9]] = LOW64  # 4 takes the other arm
    out = np.zeros(32, np.int64)
    profile = launch(ends_in_one_arm, 1, 32, out, exponents, order=order, predicate=predicate, trace=True)
    expected = [0 if t in (3, 9) else 30 + (1 if t % 2 else 7) for t in range(32)]
    assert out.tolist() == expected
    assert profile.counters["idle_exited"] > 0


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (np.float32(127.9), I64(3), 2092240.625),
        (np.float32(127.9), np.int8(3), 2092240.625),
        (np.float32(1.8446744e19), I64(-2), 0.0),
        (2.0, np.int32(-(2**31)), UNTOUCHED),
        (2.0, I64(LOW64 + 1), 0.0),
        (1.0000000000000002, np.uint64(2**64 - 1), INF),
        (-1.0, np.uint64(2**64 - 1), 1.0),
        (0.5, np.uint8(3), 0.125),
    ],
)
def test_float_to_an_integer_power(base: Any, exponent: Any, expected: float) -> None:
    assert evaluate(power, base, exponent, dtype=np.float64) == expected


def least(x, y):
    return min(x, y)


def greatest(x, y):
    return max(x, y)


def least_of_three(x, y):
    return min(x, y, 9.0)


def least_of_a_tuple(x, y):
    return min((x, y))


@pytest.mark.parametrize(
    ("x", "y", "smaller", "larger"),
    [
        (NAN, I64(1), NAN, NAN),
        (I64(1), NAN, 1.0, 1.0),
        (I64(0), -0.0, 0.0, 0.0),
        (-0.0, np.int32(0), -0.0, -0.0),
        (I64(3), 2.5, 2.5, 3.0),
        (NAN, 1.0, 1.0, 1.0),
        (1.0, np.float32(NAN), 1.0, 1.0),
        (0.0, -0.0, -0.0, 0.0),
        (-0.0, 0.0, -0.0, 0.0),
        (np.float32(2), 3.0, 2.0, 3.0),
        (I64(-1), np.uint64(2), -1.0, 2.0),
    ],
)
def test_min_and_max(x: Any, y: Any, smaller: float, larger: float) -> None:
    assert same(evaluate(least, x, y, dtype=np.float64), smaller)
    assert same(evaluate(greatest, x, y, dtype=np.float64), larger)


def test_min_of_more_than_two_floats_is_pythons() -> None:
    assert same(evaluate(least_of_three, NAN, 1.0, dtype=np.float64), NAN)
    assert same(evaluate(least_of_three, 12.0, 11.0, dtype=np.float64), 9.0)
    assert same(evaluate(least_of_a_tuple, NAN, 1.0, dtype=np.float64), NAN)
    assert same(evaluate(least_of_a_tuple, 0.0, -0.0, dtype=np.float64), 0.0)


def rounded(x, digits):
    return round(x, digits)


def whole(x, _):
    return round(x)


@pytest.mark.parametrize(
    ("x", "digits", "expected"),
    [
        (2.675, 2, 2.68),
        (-2.5, 0, -2.0),
        (-0.3, 0, 0.0),
        (1234.5, -2, 1200.0),
        (25.0, -1, 20.0),
        (INF, 1, INF),
        (-INF, -1, -INF),
        (NAN, 2, NAN),
        (1e300, 20, 1e300),
        (1e19, 0, float(2**63)),
        (1.5e-24, 24, 2 / 1e22 / 100),
        (np.float32(0.125), 2, float(np.float32(0.12))),
        (I64(1250), -2, 1200.0),
    ],
)
def test_round_to_digits(x: Any, digits: int, expected: float) -> None:
    assert same(evaluate(rounded, x, I64(digits), dtype=np.float64), expected)


def test_round_to_an_integer() -> None:
    for x, expected in [(2.5, 2), (3.5, 4), (-2.5, -2), (1e30, HIGH64), (-INF, LOW64), (NAN, LOW64)]:
        assert evaluate(whole, x) == expected


def half_of_floor(x, _):
    return math.floor(x) / 2 + math.ceil(x) + math.trunc(x)


def test_floor_of_a_float_is_a_float_on_cuda() -> None:
    assert evaluate(half_of_floor, 1e300, dtype=np.float64) == 2.5e300
    assert math.isnan(evaluate(half_of_floor, NAN, dtype=np.float64))


def test_constants_are_rounded_once() -> None:
    def kernel(out):
        out[0] = float32(2**53 + 2**29 + 1)
        out[1] = float64(2**63 - 1)

    out = np.zeros(2)
    launch(kernel, 1, 1, out)
    assert out.tolist() == [2**53 + 2**30, 2**63]


def accumulate(values, shared_result):
    tile = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    cuda.atomic.add(tile, t, float32(1e-45))
    shared_result[t] = tile[t]
    cuda.atomic.add(values, t, float32(1e-45))


def test_float32_additions_in_global_memory_flush_denormals() -> None:
    values = np.array([0.0, -0.0, 1e-40, 1.0], np.float32)
    inside = np.zeros(4, np.float32)
    expected = values + np.float32(1e-45)
    launch(accumulate, 1, 4, values, inside)
    assert values.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert inside.tolist() == expected.tolist()


def fraction(x, _):
    return math.modf(x)[0]


@pytest.mark.parametrize(
    ("function", "operands", "count"),
    [
        (negated, (np.int8(3), I64(0)), 1),
        (to_uint8, (2.5, I64(0)), 1),
        (to_int32, (np.float32(2.5), I64(0)), 1),
        (power, (I64(2), I64(3)), 1),
        (power, (2.0, np.uint64(3)), 1),
        (least, (2.0, 3.0), 1),
        (least, (2.0, I64(3)), 2),  # the conversion of the integer
        (rounded, (2.0, I64(1)), 1),
        (rounded, (np.float32(2.0), I64(1)), 1),
        (fraction, (2.5, I64(0)), 1),
    ],
)
def test_each_counts_one_instruction(function: Any, operands: tuple[Any, Any], count: int) -> None:
    def kernel(x, y):
        function(x, y)

    program = compile(kernel, argument_types(operands))
    assert sum(instruction.retires for instruction in program.instructions) == count + 1  # and the exit
