"""What a decorator says: frozen names, declared signatures, launch bounds, checked divisions."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda, types

import simt
from simt import launch
from simt.check import DivisionError, KernelError, LaunchError
from simt.dispatcher import Options, options_of, signatures_of
from simt.lang import typed_arguments
from simt.lang.frozen import compiled
from simt.lang.source import is_library
from tests.machine_view import needs_numba_cuda

N = 1
TABLE = np.array([1, 2, 3])
settings = ModuleType("settings")
settings.N = 1


def reads_names(out):
    out[0] = N
    out[1] = TABLE[0]
    out[2] = settings.N


@cuda.jit(device=True)
def device_reads_names(x):
    return N + x


def run(kernel: Any, **options: Any) -> list[int]:
    out = np.zeros(3, np.int64)
    launch(kernel, 1, 1, out, **options)
    return out.tolist()


@pytest.fixture
def change() -> Iterator[Callable[[], None]]:
    """Gives what the names of ``reads_names`` lead to other values, the array in place; and back after the test."""

    def to(n: int, first: int, attribute: int) -> None:
        globals()["N"], TABLE[0], settings.N = n, first, attribute

    yield lambda: to(5, 6, 7)
    to(1, 1, 1)


def test_a_dispatcher_reads_names_once_for_each_tuple_of_argument_types(change: Callable[[], None]) -> None:
    kernel = cuda.jit(reads_names)
    assert run(kernel) == run(reads_names) == [1, 1, 1]
    change()
    assert run(kernel) == [1, 1, 1]
    assert run(kernel, predicate=4) == [1, 1, 1]  # the same compilation to Numba
    assert run(reads_names) == [5, 6, 7]
    assert run(cuda.jit(reads_names)) == [5, 6, 7]
    out = np.zeros(3, np.float32)
    launch(kernel, 1, 1, out)
    assert out.tolist() == [5, 6, 7]


def test_a_decorated_device_function_reads_names_once_whoever_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def calls(out):
        out[0] = device_reads_names(out[1]) + 100 * N

    assert run(calls)[0] == 101
    monkeypatch.setitem(globals(), "N", 5)
    assert run(calls)[0] == 501


def test_a_closure_variable_is_frozen_too() -> None:
    def make() -> tuple[Any, Any]:
        n = 1

        def kernel(out):
            out[0] = n

        def set_n(value: int) -> None:
            nonlocal n
            n = value

        return cuda.jit(kernel), set_n

    kernel, set_n = make()
    before = run(kernel)
    set_n(2)
    assert run(kernel) == before
    assert run(kernel.py_func)[0] == 2


def test_a_kernel_that_does_not_compile_freezes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    @cuda.jit
    def kernel(out):
        out[0] = N + nowhere

    with pytest.raises(KernelError, match="nowhere"):
        run(kernel)
    monkeypatch.setitem(globals(), "N", 5)
    monkeypatch.setitem(globals(), "nowhere", 1)
    assert run(kernel)[0] == 6


def test_what_is_frozen_goes_with_its_dispatcher() -> None:
    kernel = cuda.jit(reads_names)
    run(kernel)
    record = weakref.ref(kernel)
    assert compiled(kernel).programs
    del kernel
    gc.collect()
    assert record() is None


@needs_numba_cuda
def test_the_machine_code_of_a_dispatcher_keeps_its_names_too(change: Callable[[], None]) -> None:
    kernel = cuda.jit(reads_names)
    assert run(kernel, view="sm_90") == [1, 1, 1]
    change()
    assert run(kernel, view="sm_90") == [1, 1, 1]
    assert run(reads_names, view="sm_90") == [5, 6, 7]


with simt.without_gpu():

    @cuda.jit("void(float32[:], int32)", launch_bounds=(64, 2))
    def declared(out, n):
        out[0] = n
        out[1] = n / 3

    @cuda.jit(["void(float32[:], float32)", "void(int64[:], int64)"])
    def two_signatures(out, x):
        out[0] = x

    @cuda.jit("void(float64[::1], Tuple((int32, float32)), boolean)")
    def takes_a_tuple(out, pair, flag):
        out[0] = pair[0] if flag else pair[1]

    @cuda.jit("float32(float32)", device=True)
    def doubled(x):
        return x + x


def test_scalars_are_converted_to_the_declared_types() -> None:
    out = np.zeros(2, np.float32)
    launch(declared, 1, 32, out, 2**32 + 10)
    assert out.tolist() == [10, np.float32(10 / 3)]
    launch(two_signatures, 1, 32, out, 0.1)
    assert out[0] == np.float32(0.1)
    whole = np.zeros(2, np.int64)
    launch(two_signatures, 1, 32, whole, np.int16(-3))
    assert whole[0] == -3
    wide = np.zeros(1)
    launch(takes_a_tuple, 1, 1, wide, (2**32 + 1, 0.1), False)
    assert wide[0] == np.float32(0.1)


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_is_cut_to_the_declared_width(n: int) -> None:
    """As ``ctypes.c_int32`` cuts it, which Numba's launcher calls."""
    (_, value), argtypes = typed_arguments(declared, (np.zeros(1, np.float32), n))
    assert argtypes[1] == types.int32
    assert value == np.array(n).astype(np.int32)


READ_ONLY = np.zeros(2, np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (declared, (np.zeros(2), 1)),
        (declared, (np.zeros((2, 2), np.float32), 1)),
        (declared, (READ_ONLY, 1)),
        (declared, (np.zeros(2, np.float32), 1.0)),
        (declared, (np.zeros(2, np.float32),)),
        (two_signatures, (np.zeros(2, np.int32), 1)),
        (takes_a_tuple, (np.zeros(4)[::2], (1, 1.0), True)),
        (takes_a_tuple, (np.zeros(4), (1.0, 1.0), True)),
    ],
)
def test_arguments_that_no_declared_signature_takes(kernel: Any, args: tuple[Any, ...]) -> None:
    for view in ("source", "sm_90"):
        with pytest.raises(LaunchError, match=f"{kernel.py_func.__name__} does not take \\(") as caught:
            launch(kernel, 1, 1, *args, view=view)
        assert "it is declared for (" in str(caught.value)


def test_a_device_function_takes_and_gives_what_it_declares() -> None:
    def kernel(out):
        out[0] = doubled(0.1)

    out = np.zeros(1)
    launch(kernel, 1, 1, out)
    assert out[0] == np.float32(0.1) + np.float32(0.1)

    def wrong(out):
        out[0] = doubled(out)

    with pytest.raises(KernelError, match="doubled does not take"):
        launch(wrong, 1, 1, out)


@needs_numba_cuda
def test_machine_code_has_the_declared_types() -> None:
    out = np.zeros(2, np.float32)
    launch(declared, 1, 32, out, 2**32 + 10, view="sm_90")
    assert out.tolist() == [10, np.float32(10 / 3)]

    def kernel(out):
        out[0] = doubled(0.1)

    wide = np.zeros(1)
    launch(kernel, 1, 1, wide, view="sm_90")
    assert wide[0] == np.float32(0.1) + np.float32(0.1)


@pytest.mark.parametrize("view", ["source", "sm_90"])
def test_launch_bounds_limit_the_block(view: str) -> None:
    with pytest.raises(LaunchError, match="a block of 96 threads; launch_bounds of declared allows 64"):
        launch(declared, 1, (32, 3), np.zeros(2, np.float32), 1, view=view)


def test_what_a_dispatcher_compiled_for_a_gpu_says() -> None:
    """There Numba has compiled the declared signatures; here stand-ins take the place of what it keeps."""
    dispatcher = cuda.jit(reads_names)
    assert signatures_of(dispatcher) == signatures_of(reads_names) == ()
    args = (types.float32[::1], types.int32)
    dispatcher.overloads[args] = SimpleNamespace(signature=types.void(*args))
    assert signatures_of(dispatcher) == ()  # compiled for a launch: it compiles for others, too
    dispatcher._can_compile = False
    (found,) = signatures_of(dispatcher)
    assert found.args == args
    dispatcher.overloads.clear()


@pytest.mark.parametrize(
    ("given_options", "expected"),
    [
        ({}, Options()),
        ({"launch_bounds": 128}, Options(launch_bounds=(128,))),
        ({"launch_bounds": (128, 2), "fastmath": True}, Options(launch_bounds=(128, 2), fastmath=True)),
        ({"debug": True, "opt": False}, Options(debug=True, opt=False)),
    ],
)
def test_options(given_options: dict[str, Any], expected: Options) -> None:
    assert options_of(cuda.jit(**given_options)(reads_names)) == expected
    assert options_of(reads_names) == Options()


def test_without_gpu_leaves_numba_as_it_was() -> None:
    from numba.cuda.dispatcher import CUDADispatcher

    before = dict(vars(CUDADispatcher))
    with pytest.raises(ZeroDivisionError), simt.without_gpu():
        raise ZeroDivisionError
    assert dict(vars(CUDADispatcher)) == before


def divides(out, a, b):
    out[0] = a // b


def remainder(out, a, b):
    out[0] = a % b


def quotient(out, a, b):
    out[0] = a / b


def power(out, a, b):
    out[0] = b ** (-a)


@pytest.mark.parametrize("kernel", [divides, remainder, quotient, power])
@pytest.mark.parametrize("types_of", [(int, int), (np.int32, np.uint8), (float, float), (np.float32, np.float32)])
def test_debug_finds_divisions_by_zero(kernel: Any, types_of: tuple[Any, Any]) -> None:
    """The error model of debug=True is Python's (numba-cuda 0.30.4, compiler.py); without, NumPy's."""
    if kernel is power and types_of != (int, int):
        return
    a, b = types_of[0](1), types_of[1](0)
    launch(kernel, 1, 32, np.zeros(1), a, b)
    checked = cuda.jit(debug=True, opt=False)(kernel)
    with pytest.raises(ZeroDivisionError) as caught:
        launch(checked, 1, 32, np.zeros(1), a, b)
    assert isinstance(caught.value, DivisionError)
    assert caught.value.location is not None
    assert caught.value.location.source() == "    out[0] = " + {
        divides: "a // b", remainder: "a % b", quotient: "a / b", power: "b ** (-a)"
    }[kernel]  # fmt: skip
    out = np.zeros(1)
    launch(checked, 1, 32, out, a, types_of[1](1))
    assert out[0] == (0 if kernel is remainder else 1)


def some_lanes(out, b):
    i = cuda.threadIdx.x
    if i > 3:
        out[i] = 7 // b[i]


def test_only_lanes_that_divide_are_checked_and_nothing_is_counted() -> None:
    checked = cuda.jit(debug=True, opt=False)(some_lanes)
    b = np.array([0, 0, 0, 0] + [1] * 28)
    out = np.zeros(32, np.int64)
    assert launch(checked, 1, 32, out, b).counters == launch(some_lanes, 1, 32, out, b).counters
    b[9] = 0
    with pytest.raises(DivisionError) as caught:
        launch(checked, 1, 32, out, b)
    assert "lane 9 (thread (9, 0, 0))" in str(caught.value)


def test_a_library_is_where_its_package_is_not_what_it_is_called() -> None:
    namespace: dict[str, Any] = {"__name__": "numba.my_kernels"}
    exec(compile("def helper(x):\n    return x + 1\n", "my_kernels.py", "exec"), namespace)
    assert not is_library(namespace["helper"])
    assert is_library(np.sum.__wrapped__ if hasattr(np.sum, "__wrapped__") else np.sum)
    assert is_library(cuda.jit)
    assert not is_library(divides)
