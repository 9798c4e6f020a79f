"""What Numba programs use beside numbers: results by NumPy, and counts by hand."""

from __future__ import annotations

import cmath
import math
import random
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda
from numba.core import types
from numba.cuda import random as cuda_random
from numba.extending import intrinsic

import simt
from simt.check.errors import KernelError, OutOfBoundsError, UnsupportedError
from tests.machine_view import needs_numba_cuda


def counts(kernel: Any, *args: Any) -> dict[str, int]:
    """Warp instructions of one warp per source line of *kernel* (its text before the comment)."""
    profile = simt.launch(kernel, 1, 32, *args)
    first = kernel.__code__.co_firstlineno
    last = first + len(set(kernel.__code__.co_lines())) + 1
    lines = (line for line in profile.lines if line.counters["inst_executed"] and first <= line.number <= last)
    return {line.text.partition("#")[0].strip(): line.counters["inst_executed"] for line in lines}


# Complex numbers


def complex_arithmetic(a, b, out):
    t = cuda.threadIdx.x  # 1
    x = a[t] * b[t]  # 2 addresses, 4 loads, 6 operations
    y = x + a[t]  # 1 address, 2 loads, 2 operations
    z = -y  # 2
    out[t] = z  # 1 address, 2 stores
    if z == x:  # 2 comparisons, what joins them, the branch
        out[t] = z.conjugate()  # 1 negation, 1 address, 2 stores


def test_complex_numbers_count_their_parts() -> None:
    a = np.arange(32) + 1j
    found = counts(complex_arithmetic, a, a, np.zeros(32, complex))
    assert list(found.values())[:6] == [1, 12, 5, 2, 3, 4]


def complex_functions(a, b, out):
    t = cuda.grid(1)
    if t < out.shape[1]:
        out[0, t] = a[t] * b[t] - b[t]
        out[1, t] = a[t] / b[t]
        out[2, t] = cmath.sqrt(a[t]) + cmath.exp(b[t])
        out[3, t] = a[t] ** b[t]
        out[4, t] = complex(a[t].real, abs(b[t]))


numbers = st.floats(-4, 4, allow_subnormal=False, width=32)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=8), st.booleans())
def test_complex_functions(parts: list[tuple[float, ...]], single: bool) -> None:
    dtype = np.complex64 if single else np.complex128
    a = np.array([complex(p[0], p[1]) for p in parts], dtype)
    b = np.array([complex(p[2], p[3]) + 0.5 for p in parts], dtype)
    b[b == 0] = 1
    out = np.zeros((5, len(a)), dtype)
    simt.launch(complex_functions, 1, 8, a, b, out)
    near = {"rtol": 1e-4, "atol": 1e-4} if single else {"rtol": 1e-9, "atol": 1e-9}
    wide = a.astype(complex), b.astype(complex)
    np.testing.assert_allclose(out[0], wide[0] * wide[1] - wide[1], **near)
    np.testing.assert_allclose(out[1], wide[0] / wide[1], **near)
    np.testing.assert_allclose(out[2], np.sqrt(wide[0]) + np.exp(wide[1]), **near)
    powers = [0 if not x and not y.real else x**y for x, y in zip(*wide, strict=True)]
    np.testing.assert_allclose(out[3], powers, **near)
    np.testing.assert_allclose(out[4], wide[0].real + 1j * np.abs(wide[1]), **near)


# Records

INNER = np.dtype([("p", "i2"), ("q", "c8")])
PACKED = np.dtype([("tag", "u1"), ("x", "f4"), ("n", INNER), ("m", "f8", (2, 3))])
ALIGNED = np.dtype([("tag", "u1"), ("x", "f4"), ("n", INNER), ("m", "f8", (2, 3))], align=True)


def records(r, s):
    t = cuda.threadIdx.x
    e = r[t]
    e.x += s.x
    e["n"].q = 1j * e.x
    e.m[1, t % 3] = e.n.p
    r.tag[t] = t
    r[t]["n"]["p"] = r[31 - t].n.p


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])
def test_records(dtype: np.dtype) -> None:
    r, s = np.zeros(32, dtype), np.zeros(1, dtype)[0]
    r["x"], r["n"]["p"], s["x"] = np.arange(32), 7, 0.5
    simt.launch(records, 1, 32, r, s)
    np.testing.assert_array_equal(r["x"], np.arange(32) + 0.5)
    np.testing.assert_array_equal(r["n"]["q"], 1j * r["x"])
    np.testing.assert_array_equal(r["tag"], np.arange(32))
    assert all(r["m"][i, 1, i % 3] == 7 for i in range(32))
    assert r["m"].sum() == 7 * 32


def copies_records(r, scalar):
    t = cuda.threadIdx.x  # 1
    r[t] = r[0]  # 2 addresses, 3 loads, 3 stores: of a packed record, too
    if t == 0:  # 2
        scalar.y = 3  # 1 store; the end


def test_records_count_their_fields() -> None:
    dtype = np.dtype([("tag", "u1"), ("x", "f8"), ("y", "i4")])
    r = np.zeros(32, dtype)
    r[0] = (1, 2.5, -3)
    scalar = r[5]
    assert list(counts(copies_records, r, scalar).values())[:4] == [1, 8, 2, 2]
    assert r[7].item() == (1, 2.5, -3)
    assert scalar["y"] == r[5]["y"] == 3


# float16


def halves(a, b, out):
    t = cuda.grid(1)
    out[0, t] = a[t] + b[t]
    out[1, t] = a[t] * b[t]
    out[2, t] = a[t] / b[t]
    out[3, t] = cuda.fp16.hfma(a[t], b[t], a[t]) if a[t] < b[t] else -a[t]


@needs_numba_cuda  # Numba itself has no fp16.hfma
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_float16_has_the_bits_of_float16(seed: int) -> None:
    bits = np.random.default_rng(seed).integers(0, 2**16, (2, 32), np.uint16)
    a, b = bits.view(np.float16)
    out = np.zeros((4, 32), np.float16)
    simt.launch(halves, 1, 32, a, b, out)
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64) * b + a
        expected = [a + b, a * b, a / b, np.where(a < b, wide.astype(np.float16), -a)]
    for got, want in zip(out, expected, strict=True):
        assert np.array_equal(got, want, equal_nan=True)


def half_to_integer(a, out):
    out[0] = np.int32(a[0])


@pytest.mark.parametrize(("value", "nearest"), [(0.5, 0), (1.5, 2), (2.5, 2), (-1.75, -2), (np.inf, 2**31 - 1)])
def test_float16_to_integer_is_rounded(value: float, nearest: int) -> None:
    out = np.zeros(1, np.int32)
    simt.launch(half_to_integer, 1, 1, np.array([value], np.float16), out)
    assert out[0] == nearest


# Views


@settings(max_examples=30, deadline=None)
@given(
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.sampled_from([-3, -2, -1, 1, 2, 3]),
    st.integers(-4, 3),
)
def test_slices_are_pythons(start: int, stop: int, step: int, at: int) -> None:
    def kernel(a, out, start, stop, at):
        part = a[start:stop:step]
        out[0] = part.size
        if -part.size <= at < part.size:
            out[1] = part[at]

    a, out = np.arange(10), np.full(2, -1)
    simt.launch(kernel, 1, 1, a, out, start, stop, at)
    part = a[start:stop:step]
    inside = -part.size <= at < part.size
    assert out.tolist() == [part.size, part[at] if inside else -1]


def views(a, out):
    i = cuda.threadIdx.x
    block = a[1:, 2:]
    out[0, i] = block[i % 2, -1]
    out[1, i] = a.T[i % 4, 1]
    out[2, i] = a.reshape(2, 6)[1, i % 6]
    out[3, i] = block[:, 0][1]
    out[4, i] = a.reshape(a.shape[1], -1)[i % 4, 2]
    out[5, i] = a[..., 3][2]
    rows = a
    other = out[:3]
    for _ in range(2):
        rows, other = other, rows
    out[6, i] = rows[2, 3]


def test_views() -> None:
    a, out = np.arange(12.0).reshape(3, 4), np.zeros((7, 4))
    simt.launch(views, 1, 4, a, out)
    i = np.arange(4)
    expected = [a[1:, 2:][i % 2, -1], a.T[i % 4, 1], a.reshape(2, 6)[1, i % 6], [a[2, 2]] * 4]
    expected += [a.reshape(4, -1)[i % 4, 2], [a[2, 3]] * 4, [a[2, 3]] * 4]
    np.testing.assert_array_equal(out, np.array(expected))


def slices_count(a, n, out):
    t = cuda.threadIdx.x  # 1
    fixed = a[2:34]  # 1: the array's size is known at run time only
    out[t] = fixed[t]  # 1 address, load, 1 address, store
    moving = a[n:]  # 1
    m = out.reshape(4, 8)  # 0
    m[t // 8, t % 8] += moving[t]  # 2 operators, 2 addresses, load, 1 address, load, addition, store; the end


def test_slices_count() -> None:
    found = counts(slices_count, np.arange(64.0), 3, np.zeros(32))
    assert list(found.values())[:5] == [1, 1, 4, 1, 10]


def leaves_a_slice(a, out):
    part = a[2:4]
    out[0] = part[cuda.threadIdx.x]


def test_an_index_that_leaves_a_slice_is_found() -> None:
    with pytest.raises(OutOfBoundsError, match="index 2 is out of bounds for a part of `a`, whose size is 2"):
        simt.launch(leaves_a_slice, 1, 4, np.arange(8), np.zeros(1, int))


# Loops, tuples and vectors

Point = namedtuple("Point", "x y")


def loops(a, out, p):
    total = 0
    for i, (x, y) in enumerate(zip(a, range(9, 0, -2)), 3):  # noqa: B905  # Numba's zip has no strict
        total += i * x * y
    for x in enumerate((5, 6)):
        total += x[0] * x[1]
    t = (1.5, 2.5, 3.5)
    i = cuda.threadIdx.x
    v = cuda.float32x2(p.x, p.y)
    out[i] = total + t[i % 3] + t[-1 - i % 2] + v.x * v.y


def test_loops_tuples_and_vectors() -> None:
    a, out = np.arange(8), np.zeros(6)
    simt.launch(loops, 1, 6, a, out, Point(2, 3))
    total = sum(i * x * y for i, (x, y) in enumerate(zip(a, range(9, 0, -2), strict=False), 3)) + 6
    t = (1.5, 2.5, 3.5)
    np.testing.assert_array_equal(out, [total + t[i % 3] + t[-1 - i % 2] + 6 for i in range(6)])


# Functions that Numba has in Python


def numba_functions(states, a, out):
    i = cuda.grid(1)
    out[0, i] = cuda_random.xoroshiro128p_uniform_float64(states, i)
    out[1, i] = a.sum() + np.max(a) + a.mean() + a[1:3].prod()
    out[2, i] = twice(i)
    np.sin(a, out[3])


twice = lambda x: x * 2  # noqa: E731  # a device function that is a lambda


def test_functions_that_numba_has_in_python() -> None:
    states = np.zeros(4, cuda_random.xoroshiro128p_dtype)
    cuda_random.init_xoroshiro128p_states_cpu(states, 1, 0)
    again = states.copy()
    a, out = np.array([1.0, 2.0, 5.0, 4.0]), np.zeros((4, 4))
    simt.launch(numba_functions, 1, 4, states, a, out)
    expected = [cuda_random.xoroshiro128p_uniform_float64(again, i) for i in range(4)]
    np.testing.assert_array_equal(out[0], expected)
    assert states.tobytes() == again.tobytes()
    np.testing.assert_allclose(out[1], a.sum() + a.max() + a.mean() + a[1:3].prod())
    np.testing.assert_array_equal(out[2], np.arange(4) * 2)
    np.testing.assert_allclose(out[3], np.sin(a), rtol=1e-15)


def hints(a, out):
    i = cuda.threadIdx.x
    cuda.stcg(out, i, cuda.ldcg(a, i) + cuda.cbrt(27.0) + cuda.libdevice.atan2(1.0, 1.0))


def test_cache_hints_and_libdevice() -> None:
    out = np.zeros(4)
    simt.launch(hints, 1, 4, np.arange(4.0), out)
    np.testing.assert_allclose(out, np.arange(4) + 3 + math.atan2(1, 1))


@cuda.jit
def aligned(out):
    first = cuda.shared.array(3, np.uint8)
    second = cuda.shared.array(2, np.float32, alignment=64)
    first[0] = 1
    second[1] = 2
    out[0] = first[0] + second[1]


def test_alignment_of_shared_arrays() -> None:
    out = np.zeros(1)
    simt.launch(aligned, 1, 1, out)
    assert out[0] == 3


@intrinsic
def seven(context):
    return types.int64(), lambda context, builder, signature, args: context.get_constant(types.int64, 7)


def uses_an_intrinsic(out):
    out[0] = seven()


def wrong_alignment(out):
    cuda.local.array(3, np.uint8, alignment=3)


def test_what_is_refused() -> None:
    with pytest.raises(KernelError, match="an alignment of 3; it has to be a power of two"):
        simt.launch(wrong_alignment, 1, 1, np.zeros(1))
    with pytest.raises(UnsupportedError, match="seven, an @intrinsic"):
        simt.launch(uses_an_intrinsic, 1, 1, np.zeros(1))


def test_a_function_of_exec_has_its_source_once_it_is_kept() -> None:
    simt.lang.remember_executed_code()
    number = random.Random(7).randrange(100)
    names: dict[str, Any] = {}
    exec(f"def made(out):\n    out[0] = {number}\n", names)
    out = np.zeros(1)
    simt.launch(names["made"], 1, 1, out)
    assert out[0] == number


# What Numba's own kernels are made of


@needs_numba_cuda
def test_tuples_from_arrays_as_numba_assigns_to_device_arrays() -> None:
    from numba.cuda.np.unsafe.ndarray import to_fixed_tuple

    def scatter(out, source):
        index = cuda.local.array((2, 2), np.int64)
        for i in range(source.size):
            index[1, 0] = i % 3
            index[1, 1] = i // 3
            out[to_fixed_tuple(index[1], 2)] = source[i]

    out = np.zeros((3, 4))
    simt.launch(scatter, 1, 1, out, np.arange(12.0))
    np.testing.assert_array_equal(out, np.arange(12.0).reshape(4, 3).T)


def addresses(out, a):
    shared = cuda.shared.array(5, np.int8)
    aligned = cuda.shared.array(3, np.float32, alignment=64)
    local = cuda.local.array((2, 3), np.int16, alignment=32)
    out[0] = a[2:].ctypes.data - a.ctypes.data
    out[1] = shared[1:].ctypes.data - shared.ctypes.data
    out[2] = aligned.ctypes.data % 64
    out[3] = local.ctypes.data % 32
    out[4] = local[1].ctypes.data - local.ctypes.data
    out[5] = a.ctypes.data


def test_addresses_of_arrays() -> None:
    out = np.zeros(6, np.uint64)
    simt.launch(addresses, 1, 1, out, np.zeros(8, np.float32))
    assert out[:5].tolist() == [8, 1, 0, 0, 6]
    assert out[5] >= 1 << 40  # an address of the arena


def texts(out):
    out[0] = float("nan")
    out[1] = float("-inf")
    out[2] = float("1e3")


def test_floats_from_texts() -> None:
    out = np.zeros(3)
    simt.launch(texts, 1, 1, out)
    np.testing.assert_array_equal(out, [np.nan, -np.inf, 1000.0])


def run_command(monkeypatch: pytest.MonkeyPatch, program: str, *command: str) -> Any:
    """What the kernel of a program leaves, of which Python runs the text as the main module."""
    monkeypatch.setattr("sys.orig_argv", ["python", *command])
    monkeypatch.setattr("sys.argv", [command[0]])
    monkeypatch.setattr("simt.lang.source._keep", lambda code, text: None)  # else a test before this has it kept
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, "<string>", "exec"), names)
    out = np.zeros(1)
    simt.launch(names["kernel"], 1, 1, out)
    return out[0]


def test_kernels_of_a_program_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "def kernel(a):\n    a[0] = 7\n"
    assert run_command(monkeypatch, program, "-c", program) == 7


def test_lambdas_of_a_program_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "add = lambda x: x + 7\ndef kernel(a):\n    a[0] = add(a[0])\n"
    assert run_command(monkeypatch, program, "-c", program) == 7


def test_an_option_of_a_script_is_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match="the source of kernel is not available"):
        run_command(monkeypatch, "def kernel(a):\n    a[0] = 8\n", "script.py", "-c", "settings")
